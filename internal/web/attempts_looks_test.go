package web

import (
	"fmt"
	"strings"
	"testing"
	"time"

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
	_, few, _ := fewAndOld(t)
	run(t, ctx, signInOn(few.URL, "admin"))
	shootFully(t, ctx, "attempts-looked", few.URL+"/attempts?result=rejected")
	shootFully(t, ctx, "attempts-looked-none", few.URL+"/attempts?result=unknown")
	shootFully(t, ctx, "attempts-no-key", few.URL+"/attempts?q=INV-2O26")
	run(t, ctx, signInOn(s.URL, "admin"), chromedp.Navigate(s.URL+"/attempts?kind=send"), chromedp.Evaluate[chromedp.Void](`for (const d of document.querySelectorAll(".list-tools details")) d.open = true`))
	for _, l := range looks {
		shootThisFully(t, ctx, "attempts-form", l)
	}
}

// The first attempt appears by itself where nothing is read yet. Later ones are offered, and no row is moved; what was under
// way says how it ended.
func TestAttemptsKeepUp(t *testing.T) {
	t.Parallel()
	b := tab{t, chrome(t)}
	w := newWorld(t)
	s := newSite(t, Config{Store: w.Store})
	first, second := w.One("INV-1"), w.One("INV-2")
	b.do(signInOn(s.URL, "otto"), goTo(s.URL+"/attempts", ".empty"), chromedp.SendKeys(css("input[type=search]"), "INV"), chromedp.Evaluate[chromedp.Void](`window.same = true`))
	b.js(`document.querySelector(".empty").innerText.includes("appears here by itself")`, "true")
	it := w.Claim(first)
	b.do(says("#newer", "Newer data is there.")) // somebody types
	b.js(`document.querySelectorAll("[id^=row-]").length`, "0")
	b.do(chromedp.Evaluate[chromedp.Void](`document.querySelector("input[type=search]").value = ""`))
	w.Later(time.Second)
	w.Claim(second)
	b.do(chromedp.WaitVisible(css(fmt.Sprintf("#row-%d-1", second))), says(fmt.Sprintf("#row-%d-1", first), "Under way"), until(`document.querySelector("#newer").hidden`))

	const order = `[...document.querySelectorAll("[id^=row-]")].map((r) => r.id).join(" ")`
	was := ask(t, b.ctx, chromedp.Evaluate[string](order))
	w.Later(time.Second)
	w.Happen(first, work.SendClosed{Attempt: it.OpenAttempt, Ended: w.Clock(), Answer: rt.AcceptedAs(7)})
	third := w.One("INV-3")
	w.Send(third, rt.AcceptedAs(8))
	b.do(says(fmt.Sprintf("#row-%d-1", first), "Accepted"), says("#newer", "Newer data is there."))
	b.js(order, was)
	b.do(chromedp.Click(css("#newer button")), chromedp.WaitVisible(css(fmt.Sprintf("#row-%d-1", third))), until(`document.querySelector("#newer").hidden`))
	b.js(`window.same`, "true") // it was not loaded anew
}
