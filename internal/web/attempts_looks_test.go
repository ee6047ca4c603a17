package web

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	rt "onefold/internal/review/reviewtest"
	"onefold/internal/work"
)

// The pages of attempts: empty, full, filtered, with extreme texts; and one attempt of each kind.
func TestAttemptsLookRight(t *testing.T) {
	t.Parallel()
	ctx := chrome(t)
	w := newWorld(t)
	s := newSite(t, Config{Store: w.Store})
	run(t, ctx, signInOn(s.URL, "admin"))
	shootFully(t, ctx, "attempts-empty", s.URL+"/attempts")
	ids := stories(t, w)
	limitFrom(t, w, "99999999999999")
	ugly := w.Put("Umlaut AG", rt.Money(t, "99999.39", "EUR"), "INV-"+strings.Repeat("W", 190))[0]
	w.Send(ugly, work.Answer{Outcome: work.Rejected, Exchange: work.Exchange{HTTPStatus: 400, Error: strings.Repeat("averyveryverylongword", 20), Response: strings.Repeat("x", 3000)}})
	for _, id := range w.Put("Acme Holdings Ltd", rt.Money(t, "1234.50", "EUR"), numbered("INV-2026-12-", 60)...) {
		w.Send(id, rt.AcceptedAs(int(id)+1000))
	}
	asked := w.One("INV-ASKED")
	w.Send(asked, rt.NoAnswer)
	w.Happen(asked, work.Check{By: ada})
	w.Claim(asked)
	for name, path := range map[string]string{"full": "/attempts", "filtered": everyAttemptCondition, "kind": "/attempts?kind=find&result=could_not_tell", "bad": "/attempts?status=6xx&longer=soon&from=x",
		"found": "/attempts?q=INV-2026-11", "one": fmt.Sprintf("/attempts/%d/1", ids["rejected"]), "ugly": fmt.Sprintf("/attempts/%d/1", ugly), "open": fmt.Sprintf("/attempts/%d/2", asked),
		"stories": "/attempts?to=2026-11-29+23:00&q=INV-2026-11"} {
		shootFully(t, ctx, "attempts-"+name, s.URL+path)
	}
	run(t, ctx, chromedp.Navigate(s.URL+"/attempts?kind=send"), chromedp.Evaluate[chromedp.Void](`for (const d of document.querySelectorAll(".list-tools details")) d.open = true`))
	for _, l := range looks {
		shootThisFully(t, ctx, "attempts-form", l)
	}
}
