package web

import (
	"context"
	"fmt"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"onefold/internal/automation"
	"onefold/internal/ledger"
	"onefold/internal/ledger/sandbox"
	sandboxserver "onefold/internal/ledger/sandbox/server"
	"onefold/internal/review"
	rt "onefold/internal/review/reviewtest"
	"onefold/internal/store/storetest"
	"onefold/internal/work"
	"onefold/web/templates"
)

// founding is the story for which this product exists: an invoice that timed out, was retried, and now needs a person.
type founding struct {
	*rt.World
	outside *sandboxserver.Server
	journal string
	engine  *automation.Engine
	id      int64
}

const (
	storyKey   = "INV-2026-11-ACME"
	storyBooks = "books"
	storySends = 3
)

// newFounding tells the story up to the person: the real engine, adapter, transport and database against the sandbox
// accounting system over HTTP. Only the clock is the test's. The first two sends time out and nothing comes of them, which
// lookups prove, so each is retried. The third times out too, but is carried out after we hung up. Then the search is down
// until the lookups are used up: nobody knows, and nothing is sent.
func newFounding(t *testing.T, db storetest.DB) *founding {
	t.Helper()
	f := &founding{journal: filepath.Join(t.TempDir(), "journal")}
	var err error
	f.outside, err = sandboxserver.New(sandboxserver.Options{File: f.journal, Now: func() time.Time { return f.Clock() }, Plan: sandboxserver.Plan{Rules: []sandboxserver.Rule{
		{Fault: sandboxserver.DripHeaders, Kind: sandboxserver.Create, Times: storySends - 1},
		{Fault: sandboxserver.CommitLate, Kind: sandboxserver.Create, Times: 1, DelayMS: 2500},
	}}, Books: []sandboxserver.Books{{Name: storyBooks, Identity: "Acme's books", Personality: sandbox.Search, SearchLag: 10 * time.Second, SingleStep: true}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.outside.Close() })
	h := httptest.NewUnstartedServer(f.outside)
	h.Config.ConnContext = sandboxserver.ConnContext
	h.Start()
	t.Cleanup(h.Close)

	cfg := f.outside.Connect(h.URL, storyBooks)
	cfg.Linger, cfg.Misses, cfg.Timeout = 2*time.Minute, 2, 2*time.Second
	cfg.Now = func() time.Time { return f.Clock() }
	client, err := sandbox.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	f.World = rt.New(t, db, func(s *work.System) {
		s.Address, s.Capabilities, s.Steps = cfg.BaseURL, client.Capabilities(), client.Steps()
		s.Policy.RequestTimeout = cfg.Timeout
	})
	f.engine = automation.NewEngine(automation.Config{Store: f.Store, Node: "story", Now: f.Clock,
		Connect: func(work.System) (ledger.System, error) { return client, nil }})

	invoice := rt.Invoice("Acme Holdings Ltd", rt.Money(t, "1200.00", "EUR"))
	got, err := f.Proven().Record(t.Context(), []work.New{{Automation: "monthly", BusinessKey: storyKey, SystemID: rt.SystemID,
		Source: "plan:1", Period: "2026-11", By: work.Actor{Kind: work.Automation, ID: "monthly", Name: "monthly"}, Invoice: invoice}})
	if err != nil || got[0].Result != automation.IntakeNew {
		t.Fatalf("%+v %v", got, err)
	}
	f.id = got[0].Item.ID
	f.Put("Globex Corporation", rt.Money(t, "99.00", "EUR"), "INV-2026-11-ACME-HOSTING") // a similar key; the story is not about it
	f.Happen(got[0].Item.ID+1, work.Hold{By: ada, Note: "Waits for the customer's order number"})
	f.untilReview(t)
	return f
}

// untilReview lets the engine work and time pass until a person is needed.
func (f *founding) untilReview(t *testing.T) {
	t.Helper()
	searchIsDown := false
	for range 100 {
		it := f.Get(f.id)
		if it.Status == work.Review {
			return
		}
		if wait := it.DueAt.Sub(f.Clock()); wait > 0 {
			f.Later(wait)
		}
		if _, err := f.engine.RunOnce(t.Context()); err != nil {
			t.Fatal(err)
		}
		f.outside.Wait() // whoever still carries something out does it now
		if sent := f.outside.Requests(storyBooks, sandboxserver.Create); sent == storySends && !searchIsDown {
			searchIsDown = true
			if err := f.outside.SetPlan(sandboxserver.Plan{Rules: []sandboxserver.Rule{{Fault: sandboxserver.SearchError, Kind: sandboxserver.Find}}}); err != nil {
				t.Fatal(err)
			}
		}
	}
	t.Fatalf("it never needs a person: %+v", f.Get(f.id))
}

// interactions are what a person does on the pages after signing in.
type interactions struct {
	clicks []string // every click and every form that is sent
	typed  []string // every field that is filled in
}

func (i *interactions) click(what, selector string) step {
	i.clicks = append(i.clicks, what)
	return chromedp.Steps(chromedp.WaitVisible(chromedp.CSS(selector)), chromedp.Click(chromedp.CSS(selector)))
}

func (i *interactions) fill(what, selector, text string) step {
	i.typed = append(i.typed, what)
	return chromedp.SetValue(chromedp.CSS(selector), text)
}

// The founding story, on the real product: the monthly invoice times out, is retried twice and lands with a person, who
// finds it by its key, checks, sees that the invoice is there already, and marks it as resolved. No second invoice, and no
// more than five clicks.
func TestFoundingStory(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db storetest.DB) {
		ctx := chrome(t)
		f := newFounding(t, db)
		it := f.Get(f.id)
		if it.Reason != work.ReasonCouldNotCheck || it.Sends != storySends || f.outside.Requests(storyBooks, sandboxserver.Create) != storySends {
			t.Fatalf("the story is another one: %s after %d sends", it.Reason, it.Sends)
		}
		records := f.outside.Records(storyBooks, it.Reference)
		if len(records) != 1 {
			t.Fatalf("the accounting system holds %d records", len(records))
		}
		if err := f.outside.SetPlan(sandboxserver.Plan{}); err != nil { // its search works again
			t.Fatal(err)
		}
		f.Later(time.Hour)
		running, stop := context.WithCancel(context.WithoutCancel(t.Context()))
		ended := make(chan error, 1)
		go func() { ended <- f.engine.Run(running) }()
		defer func() {
			stop()
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}()

		s := newSite(t, Config{Store: f.Store})
		run(t, ctx, signInOn(s.URL, "ada"))
		did := &interactions{}
		row := fmt.Sprintf("#row-%d .key a", f.id)
		run(t, ctx, did.fill("the key", "input[name=q]", storyKey), did.click("search", "form.search button"), chromedp.WaitVisible(chromedp.CSS("p.understood")), did.click("open", row), chromedp.WaitVisible(chromedp.CSS("#do-check button")))
		page := func() string {
			return ask(t, ctx, chromedp.Evaluate[string](`document.querySelector("main").innerText.replaceAll("\u00a0", " ")`))
		}
		if strings.Contains(page(), records[0].Number) {
			t.Error("the page knows the number before anybody looked")
		}
		if ask(t, ctx, chromedp.Evaluate[bool](`document.querySelector("#do-retry") !== null`)) {
			t.Error("sending again is offered though nobody knows whether it is there")
		}
		run(t, ctx, did.click("check now", "#do-check button"), chromedp.WaitVisible(chromedp.CSS(".notice.good")))
		// The engine looks, and the page brings itself up to date.
		run(t, ctx, chromedp.Poll[chromedp.Void](fmt.Sprintf(`document.querySelector("main").innerText.includes(%q) && (document.querySelector("#do-resolve [name=reference]")?.value ?? "") !== ""`, records[0].Number)))
		if ask(t, ctx, chromedp.Evaluate[bool](`document.querySelector("#do-retry") !== null`)) {
			t.Error("sending again is offered though it was found")
		}
		if got := ask(t, ctx, chromedp.Evaluate[string](`document.querySelector("#do-resolve [name=reference]").value`)); got != records[0].Number && got != records[0].ID {
			t.Errorf("the reference that is offered is %q, the record is %s %s", got, records[0].Number, records[0].ID)
		}
		run(t, ctx, did.fill("a note", "#do-resolve [name=note]", "It is in the books, checked from here."), did.click("mark as resolved", "#do-resolve button"),
			chromedp.WaitReady(chromedp.CSS("#do-reopen")))
		if want := templates.Pick(templates.Words.StatusName, "resolved/by"); !strings.Contains(page(), say(want, "who", "Ada Brown")) {
			t.Errorf("the page does not say who resolved it: %s", page())
		}

		t.Logf("%d clicks: %s; %d fields typed: %s", len(did.clicks), strings.Join(did.clicks, ", "), len(did.typed), strings.Join(did.typed, ", "))
		if len(did.clicks) > 5 {
			t.Errorf("%d clicks, at most 5", len(did.clicks))
		}
		f.isTheOnlyOne(t, it.Reference)
	})
}

// isTheOnlyOne lets days pass: whatever the automation still has to do, the accounting system holds one record.
func (f *founding) isTheOnlyOne(t *testing.T, reference string) {
	t.Helper()
	for range 20 {
		f.Later(3 * time.Hour)
		if _, err := f.engine.RunOnce(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	f.outside.Wait()
	it := f.Get(f.id)
	if it.Status != work.Resolved || it.Sends != storySends {
		t.Errorf("it is %s (%s) after %d sends", it.Status, it.Reason, it.Sends)
	}
	if n := f.outside.Requests(storyBooks, sandboxserver.Create); n != storySends {
		t.Errorf("%d sends arrived", n)
	}
	if records := f.outside.Records(storyBooks, ""); len(records) != 1 || records[0].Reference != reference {
		t.Errorf("the accounting system holds %+v", records)
	}
	audit, err := sandboxserver.Audit(f.journal)
	if err != nil || len(audit.Duplicates) > 0 || audit.Records != 1 {
		t.Errorf("its journal: %+v %v", audit, err)
	}
	month, err := review.NewPeriods(f.Store, 1).Month(t.Context(), ada, "2026-11")
	if err != nil || month.All.Tabs[review.TabFinished].Count != 1 {
		t.Errorf("the month does not count it: %+v %v", month.All, err)
	}
}
