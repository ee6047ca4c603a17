package web

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"onefold/internal/review"
	rt "onefold/internal/review/reviewtest"
	"onefold/internal/store"
	"onefold/internal/work"
)

// fleet is a database on which many servers work.
type fleet struct {
	*store.Store
	servers []work.Server
	calls   []review.HeldCalls
	runs    []review.HeldRun
}

func (f *fleet) Servers(context.Context) ([]work.Server, error)        { return f.servers, nil }
func (f *fleet) HeldCalls(context.Context) ([]review.HeldCalls, error) { return f.calls, nil }
func (f *fleet) HeldRuns(context.Context) ([]review.HeldRun, error)    { return f.runs, nil }

// aFleet has one server of each kind.
func aFleet(w *rt.World) *fleet {
	now := w.Clock()
	ago := func(d time.Duration) time.Time { return now.Add(-d) }
	one := func(name string, seen time.Duration, more func(*work.Server)) work.Server {
		s := work.Server{Name: name, Life: name, Version: "v1.4.0 63dc5d4a1b2c", Schema: 20, Started: ago(72 * time.Hour), Seen: ago(seen)}
		if more != nil {
			more(&s)
		}
		return s
	}
	return &fleet{Store: w.Store,
		servers: []work.Server{
			one("billing-1", 4*time.Second, nil),
			one("billing-2", 7*time.Second, func(s *work.Server) { s.Stopping, s.Schema, s.Version = true, 19, "v1.3.2 55868a4c0ffe" }),
			one("billing-3", 3*time.Second, func(s *work.Server) { s.Ahead = -95 * time.Second }),
			one("billing-4", 2*time.Second, func(s *work.Server) { s.Jumped, s.JumpedAt = time.Hour, ago(5*time.Minute) }),
			one("gone-still-holding", 3*time.Minute, nil),
			one("gone-"+strings.Repeat("long", 20), 26*time.Hour, nil),
			one("twin", time.Second, func(s *work.Server) { s.TwinAt = ago(time.Minute) }),
		},
		calls: []review.HeldCalls{{Server: "billing-1", SystemID: rt.SystemID, Count: 12, Until: now.Add(time.Minute)},
			{Server: "gone-still-holding", SystemID: rt.SystemID, Count: 3, Until: now.Add(40 * time.Second)},
			{Server: "never-told", SystemID: "other", Count: 1, Until: ago(time.Second)}},
		runs: []review.HeldRun{{Server: "billing-1", Kind: "bulk", ID: 5, Until: now.Add(time.Minute)}, {Server: "billing-1", Kind: "proof", ID: 2, Until: now.Add(time.Minute)},
			{Server: "billing-4", Kind: "import", ID: 9, Until: now.Add(time.Minute)}},
	}
}

// The page says of each server what somebody must know: that what a lost one held goes on elsewhere, and that a wrong clock
// puts no invoice at risk.
func TestServersPage(t *testing.T) {
	w := newWorld(t)
	s := newSite(t, Config{Store: aFleet(w)})
	a := s.signIn("otto").get(serversPath)
	a.shows(t, "billing-1", "Work on many invoices, no. 5", "Its clock is 1 min 35 s slow. No invoice is at risk", "Its clock was moved by 1 h at 09:55",
		"What it had on its way goes on at the other servers, by looking it up first, from", "It holds nothing, so nothing waits for it", "never-told",
		"another server used the same name", "It is of an older version than others here", "It never told that it lives")
	if strings.Contains(a.visible(), "lease") || strings.Contains(a.visible(), "worker") {
		t.Error("words that staff should not have to know")
	}
	if a := s.signIn("vera").get(serversPath); a.status != http.StatusForbidden {
		t.Errorf("a viewer: %d", a.status)
	}
	if a := newSite(t, Config{Store: w.Store}).signIn("ada").get(serversPath); a.status != http.StatusOK || !strings.Contains(a.visible(), "No server has told of itself yet") {
		t.Errorf("%d %s", a.status, a.visible())
	}
}

// A wrong clock is told on every page to those who can do something about it, and to nobody else.
func TestAWrongClockIsToldOnPages(t *testing.T) {
	w := newWorld(t)
	if _, err := w.RaiseAlert(t.Context(), "", "clock", "Servers: the clock of billing-3 is 1m35s slow"); err != nil {
		t.Fatal(err)
	}
	s := newSite(t, Config{Store: w.Store})
	if a := s.signIn("otto").get("/"); !strings.Contains(a.visible(), "the clock of billing-3") || !strings.Contains(a.body, `href="/servers"`) {
		t.Errorf("operations: %s", a.visible())
	}
	if a := s.signIn("vera").get("/"); strings.Contains(a.visible(), "billing-3") {
		t.Error("a viewer is told")
	}
}

func TestServersPageLooksRight(t *testing.T) {
	t.Parallel()
	ctx := chrome(t)
	w := newWorld(t)
	s := newSite(t, Config{Store: aFleet(w)})
	run(t, ctx, signInOn(s.URL, "admin"))
	shoot(t, ctx, "servers-full", s.URL+serversPath)
	s = newSite(t, Config{Store: w.Store})
	run(t, ctx, signInOn(s.URL, "admin"))
	shoot(t, ctx, "servers-empty", s.URL+serversPath)
}

func TestDatabaseAwayPageLooksRight(t *testing.T) {
	t.Parallel()
	ctx := chrome(t)
	w := newWorld(t)
	id := refused(w, "INV-AWAY")
	items := &itemsDown{Store: w.Store}
	s := newSite(t, Config{Store: items})
	run(t, ctx, signInOn(s.URL, "ada"))
	b := tab{t, ctx}
	b.do(goTo(s.URL+itemPath(id), "main"))
	items.down.Store(true)
	b.do(chromedp.Evaluate[chromedp.Void](`{
		const form = document.querySelector('form[action$="/note"]');
		form.querySelector("textarea").value = "Rang Acme: they want the invoice in December. " + "They asked twice. ".repeat(20);
		form.submit();
	}`), chromedp.WaitVisible(css("textarea[readonly]")))
	for _, look := range looks {
		shootThis(t, ctx, "away-typed", look)
	}
}
