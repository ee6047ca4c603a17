package web

import (
	"context"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"onefold/internal/automation"
	"onefold/internal/automation/recurring"
	"onefold/internal/ledger"
	"onefold/internal/ledger/sandbox"
	sandboxserver "onefold/internal/ledger/sandbox/server"
	rt "onefold/internal/review/reviewtest"
	"onefold/internal/store/storetest"
	"onefold/internal/work"
	"onefold/web/templates"
)

// newPlanStory is a world whose system is a sandbox that behaves, with an engine that sends to it.
func newPlanStory(t *testing.T, db storetest.DB) (*rt.World, *sandboxserver.Server, *automation.Engine) {
	t.Helper()
	var w *rt.World
	now := func() time.Time { return w.Clock() }
	outside, err := sandboxserver.New(sandboxserver.Options{File: filepath.Join(t.TempDir(), "journal"), Now: now,
		Books: []sandboxserver.Books{{Name: storyBooks, Identity: "Acme's books", Personality: sandbox.Search, SingleStep: true}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = outside.Close() })
	h := httptest.NewUnstartedServer(outside)
	h.Config.ConnContext = sandboxserver.ConnContext
	h.Start()
	t.Cleanup(h.Close)
	cfg := outside.Connect(h.URL, storyBooks)
	cfg.Now = now
	client, err := sandbox.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	w = rt.New(t, db, func(s *work.System) {
		s.Address, s.Capabilities, s.Steps = cfg.BaseURL, client.Capabilities(), client.Steps()
	})
	w.LetBegin(recurring.Automation)
	return w, outside, automation.NewEngine(automation.Config{Store: w.Store, Node: "story", Now: w.Clock,
		Connect: func(work.System) (ledger.System, error) { return client, nil }})
}

// An admin who never saw the page makes a monthly plan, sees what it means while typing, saves it, runs it and sees its
// invoice confirmed in the accounting system, which holds it once, however often the button is pressed.
func TestAnAdminMakesAPlanInTheBrowser(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db storetest.DB) {
		ctx := chrome(t)
		w, outside, engine := newPlanStory(t, db)
		running, stop := context.WithCancel(context.WithoutCancel(t.Context()))
		ended := make(chan error, 1)
		go func() { ended <- engine.Run(running) }()
		defer func() {
			stop()
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}()
		s := newSite(t, Config{Store: w.Store, Intake: automation.Intake{Store: w.Store}})
		b := tab{t, ctx}
		begun := time.Now()
		b.do(signInOn(s.URL, "admin"), chromedp.Click(css(`.top nav a[href="/plans"]`)), chromedp.WaitVisible(css(".empty")), chromedp.Click(css(`.empty a[href="/plans/new"]`)), chromedp.WaitVisible(css("#f-code")))
		typeIn := func(selector, text string) step {
			return chromedp.Steps(chromedp.Focus(css(selector)), chromedp.SendKeys(css(selector), text))
		}
		b.do(typeIn("#f-code", "HOSTING-ACME"), typeIn("#f-customer", "C-1001"), typeIn("#f-name", "Acme Holdings Ltd"), typeIn("#f-currency", "eur"), typeIn("#description-0", "Hosting {period}"), typeIn("#price-0", "99.50"))
		put := func(selector, text string) step { // as a date's own picker does
			return chromedp.Evaluate[chromedp.Void](`{ const e = document.querySelector(` + jsText(selector) + `); e.value = ` + jsText(text) + `; e.dispatchEvent(new Event("input", { bubbles: true })); }`)
		}
		says := func(want string) step {
			return chromedp.Poll[chromedp.Void](`document.querySelector("#plan-preview").innerText.replaceAll("\u00a0", " ").includes(` + jsText(want) + `)`)
		}
		b.do(says("Acme Holdings Ltd gets an invoice of EUR 99.50 every month on the 1st. The first is for the period that begins on 1 December 2026."))
		// A second line: what was typed stays, and the cursor is in the new line.
		b.do(chromedp.Click(css(`button[value=add]`)), chromedp.Poll[chromedp.Void](`document.activeElement.id === "description-1"`), typeIn("#description-1", "Domain"), typeIn("#price-1", "0.50"), says("EUR 100.00"))
		if got := ask(t, ctx, chromedp.Evaluate[string](`document.querySelector("#description-0").value`)); got != "Hosting {period}" {
			t.Errorf("adding a line lost %q", got)
		}
		// It begins today, on the 29th.
		b.do(put("#f-start", "2026-11-29"), put("#f-day", "29"), says("every month on the 29th (last day in shorter months)"))
		if n := ask(t, ctx, chromedp.Evaluate[int](`document.querySelectorAll("#plan-preview .run").length`)); n != 12 {
			t.Errorf("%d runs are drawn", n)
		}
		if page, err := w.PlanCounts(t.Context(), 1); err != nil || len(page) > 0 {
			t.Errorf("typing saved something: %v %v", page, err)
		}
		b.do(chromedp.Click(css(".plan-do .main")), chromedp.WaitVisible(css(".notice.good")), chromedp.WaitVisible(css("#run button")))
		b.shows("The plan is saved", "Today it records an invoice of EUR 100.00 for Acme Holdings Ltd, as HOSTING-ACME-2026-11")
		b.do(chromedp.Click(css("#run button")), chromedp.WaitVisible(css(".plan-periods a")))
		b.shows("One invoice was recorded", "HOSTING-ACME-2026-11", "On 29 December 2026 it records")
		b.do(chromedp.Evaluate[chromedp.Void](`document.querySelector(".notice").remove()`), chromedp.Click(css("#run button")), chromedp.WaitVisible(css(".notice.good")))
		b.shows(templates.Plans.Did["run/0"])
		b.do(chromedp.Click(css(".plan-periods a")), chromedp.WaitVisible(css("#content .badge")),
			chromedp.Poll[chromedp.Void](`document.querySelector("#content .badge").innerText.includes(`+jsText(templates.Words.StatusName["confirmed"])+`)`))
		t.Logf("from signing in to confirmed: %s", time.Since(begun).Round(time.Millisecond))
		if records := outside.Records(storyBooks, ""); len(records) != 1 {
			t.Errorf("the accounting system holds %d records", len(records))
		}
	})
}

func jsText(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}
