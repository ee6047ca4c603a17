package web

import (
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"onefold/internal/review"
	rt "onefold/internal/review/reviewtest"
	"onefold/internal/store/storetest"
	"onefold/internal/work"
)

func TestLimitsPagesLookRight(t *testing.T) {
	t.Parallel()
	ctx := chrome(t)
	w := rt.New(t, storetest.SQLite(t), func(s *work.System) {
		s.Capabilities.Linger, s.Capabilities.SearchLag, s.Capabilities.Misses = 30*time.Second, 5*time.Second, 2
	})
	s := newSite(t, Config{Store: w.Store})
	stories(t, w)
	for range 4 {
		id := w.One("INV-" + strings.Repeat("X", w.Clock().Second()%7+1) + w.Clock().Format("150405"))
		w.Until(id, func() { w.Send(id, rt.Refused) })
	}
	run(t, ctx, signInOn(s.URL, "admin"))
	shoot(t, ctx, "limits-first", s.URL+limitsForm1)
	l, admin := review.NewLimits(w.Store, 1), work.Actor{Kind: work.Person, ID: "9", Name: "Anna Admin", Roles: []work.Role{work.Admin}}
	change := func(automation, note string, set work.Limits) {
		sys, err := l.System(t.Context(), admin, rt.SystemID)
		if err != nil {
			t.Fatal(err)
		}
		limits := sys.Limits(automation)
		for name, text := range set {
			limits[name] = text
		}
		if err := l.Change(t.Context(), admin, rt.SystemID, automation, sys.Limits(automation), limits, note); err != nil {
			t.Fatal(err)
		}
		w.Later(37 * time.Minute)
	}
	change("", "The books are slow at month end: give them time, and call a person sooner. "+strings.Repeat("Agreed with finance. ", 6), work.Limits{"sends": "3", "first_delay": "1m30s",
		"request_timeout": "1m0s", "approval_limit": "10000.00 EUR"})
	change("invoices", "", work.Limits{"sends": "2", "settle_within": "24h0m0s"})
	change("", "", work.Limits{"per_second": "2.5", "in_flight": "4"})
	shoot(t, ctx, "limits-list", s.URL+limitsPath)
	shoot(t, ctx, "limits-own", s.URL+limitsOf(rt.SystemID, "invoices"))
	shoot(t, ctx, "limits-saved", s.URL+limitsForm1+"?did=saved")
	b := tab{t, ctx}
	b.do(goTo(s.URL+limitsForm1, "#limit-sends"))
	change("", "", work.Limits{"growth": "2", "sends": "6"})
	b.do(setLimit("sends", "9"), chromedp.Click(css("form.limits-form button.main")), chromedp.WaitVisible(css(".notice")))
	for _, look := range looks {
		shootThis(t, ctx, "limits-stale", look)
	}
	b.do(setLimit("settle", "29 s"), setLimit("first_delay", "30"), setLimit("jitter", "300"), chromedp.Click(css("form.limits-form button.main")), chromedp.WaitVisible(css(".problem")))
	for _, look := range looks {
		shootThis(t, ctx, "limits-refused", look)
	}
}
