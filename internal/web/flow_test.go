package web

import (
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"onefold/internal/automation"
	"onefold/internal/ledger"
	"onefold/internal/ledger/sandbox"
	books "onefold/internal/ledger/sandbox/server"
	rt "onefold/internal/review/reviewtest"
	"onefold/internal/work"
)

// A colleague's morning in a real browser, on the real product: database, engine and an accounting system that loses an
// answer and refuses an invoice.
func TestBrowserFlow(t *testing.T) {
	t.Parallel()
	ctx := chrome(t)
	const lost, no, odd = "INV-2026-11-LOST", "INV-2026-11-NO", "INV-2026-11-ODD"
	ledgerBooks, err := books.New(books.Options{Books: []books.Books{{Name: "books", Personality: sandbox.Search, SingleStep: true}},
		Plan: books.Plan{Rules: []books.Rule{{Fault: books.DropAfter, Reference: lost, Times: 1}, {Fault: books.Reject, Reference: no, Reason: "The customer is blocked"}}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ledgerBooks.Close() })
	outside := httptest.NewServer(ledgerBooks)
	t.Cleanup(outside.Close)
	config := sandbox.Config{BaseURL: outside.URL + "/books", Personality: sandbox.Search, SingleStep: true, Linger: time.Minute}
	w := newWorld(t, func(s *work.System) {
		s.Capabilities, s.Steps, s.Policy.Sends, s.Policy.Misses = config.Capabilities(), []string{sandbox.StepCreate}, 1, 1
	})
	config.Now = w.Clock // the time to send is measured on it
	adapter, err := sandbox.New(config)
	if err != nil {
		t.Fatal(err)
	}
	engine := automation.NewEngine(automation.Config{Store: w.Store, Node: "one", Now: w.Clock,
		Connect: func(work.System) (ledger.System, error) { return adapter, nil }})
	work1 := func() {
		t.Helper()
		if _, err := engine.RunOnce(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	w.Put("Acme Holdings Ltd", rt.Money(t, "1200.00", "EUR"), lost, no)
	w.Put(evil, rt.Money(t, "7.00", "EUR"), odd)
	work1()
	s := newSite(t, Config{Store: w.Store})

	text := func() string {
		t.Helper()
		return strings.ReplaceAll(ask(t, ctx, chromedp.Text(chromedp.CSS("main"))), "\u00a0", " ")
	}
	shows := func(want ...string) {
		t.Helper()
		got := text()
		for _, s := range want {
			if !strings.Contains(got, s) {
				t.Fatalf("%q is not on the page:\n%s", s, got)
			}
		}
	}
	open := func(key string) step {
		return chromedp.Steps(chromedp.SetValue(chromedp.CSS("input[name=q]"), "  "+strings.ToLower(key)+" "), chromedp.SendKeys(chromedp.CSS("input[name=q]"), kb.Enter),
			chromedp.WaitVisible(chromedp.CSS(".understood")), chromedp.Click(chromedp.CSS("table.items .key a")), chromedp.WaitVisible(chromedp.CSS(".known-now")))
	}

	// The lost answer: nobody may send it again before somebody looked; looking finds it.
	run(t, ctx, signInOn(s.URL, "ada"), open(lost))
	shows(lost, "Acme Holdings Ltd", "EUR 1,200.00", "Outcome unknown", "Sent 10:00, no answer came.", "Send invoice again",
		"Something was sent and we do not know whether it arrived: check in Books first.")
	if n := ask(t, ctx, chromedp.Evaluate[int](`document.querySelectorAll("form[action$='/retry']").length`)); n != 0 {
		t.Fatal("sending again is offered")
	}
	run(t, ctx, chromedp.Click(chromedp.CSS("form[action$='/check'] button")), chromedp.WaitVisible(chromedp.CSS(".notice.good")))
	shows("Done 10:00: we look in Books now.", "Ada Brown asked us to look")
	work1()
	run(t, ctx, chromedp.Reload(), chromedp.WaitVisible(chromedp.CSS(".known-now")))
	shows("Confirmed", "It is in Books as", "we looked and found it", "Asked by Ada Brown.", "A record was seen in Books: sending again would make a second one.")

	// The refused one: marked as done by hand, with its number.
	run(t, ctx, chromedp.Navigate(s.URL+"/"), chromedp.WaitVisible(chromedp.CSS("table.items")))
	shows(no, "Needs a person", "Refused")
	run(t, ctx, open(no))
	shows("Books refused it. It is not there.", "The customer is blocked")
	run(t, ctx, chromedp.Click(chromedp.CSS("details:has(#do-resolve) summary")), chromedp.WaitVisible(chromedp.CSS("#do-resolve textarea")),
		chromedp.SendKeys(chromedp.CSS("#do-resolve input[name=reference]"), "INV/2026/90001"),
		chromedp.SendKeys(chromedp.CSS("#do-resolve textarea"), "Keyed in by hand under the parent company."),
		chromedp.Click(chromedp.CSS("#do-resolve button")), chromedp.WaitVisible(chromedp.CSS(".notice.good")))
	shows("Resolved by Ada Brown", "Ada Brown says that it is done, under INV/2026/90001.", "Keyed in by hand under the parent company.")

	// Going back shows how it stands now; the old form itself is trial 105.
	run(t, ctx, chromedp.NavigateBack(), chromedp.WaitVisible(chromedp.CSS(".known-now")))
	shows("Resolved by Ada Brown", "INV/2026/90001")

	// A name that is markup is only a name, also to a real browser (trial 121).
	run(t, ctx, chromedp.Navigate(s.URL+"/?tab=all"), chromedp.WaitVisible(chromedp.CSS("table.items")), open(odd))
	shows(`<img src=x onerror="document.title='ran'">`)
	if title := ask(t, ctx, chromedp.Title()); strings.Contains(title, "ran") || !strings.Contains(title, odd) {
		t.Errorf("the title is %q", title)
	}

	list, err := w.Search(t.Context(), reviewQuery(no))
	if err != nil || len(list.Items) != 1 {
		t.Fatal(err)
	}
	acts, err := w.Acts(t.Context(), list.Items[0].ID, 10)
	if err != nil || len(acts) != 1 {
		t.Errorf("%d decisions, %v", len(acts), err)
	}
	if n := ledgerBooks.Requests("books", books.Create); n != 3 {
		t.Errorf("%d invoices were sent, not 3", n)
	}
}
