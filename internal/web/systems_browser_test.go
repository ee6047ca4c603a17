package web

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"onefold/internal/work"
)

// An admin who never saw the product connects the sandbox, sees that it works, and pauses it: what the pages say is enough.
func TestBrowserConnectsAndPausesASystem(t *testing.T) {
	t.Parallel()
	e := newEmptySite(t)
	b := tab{t, chrome(t)}
	b.do(signInOn(e.URL, "admin"), chromedp.Click(css("nav a[href='/systems']")), chromedp.WaitVisible(css(".empty")), chromedp.Click(css(".empty a.button")), chromedp.WaitVisible(css("#connect")))
	b.do(chromedp.SendKeys(css("#f-name"), "Sandbox"), chromedp.SendKeys(css("#f-address"), e.url+"/search"), chromedp.SendKeys(css("[name='secret.token']"), "wrong"),
		chromedp.Click(css("#connect button.main")), chromedp.WaitVisible(css("#tried")))
	b.shows("It did not say whose books it keeps: the accounting system refused our login (401).", "Nothing was sent.")
	if got := ask(t, b.ctx, chromedp.Value(css("#f-name"))); got != "Sandbox" {
		t.Errorf("the name is lost: %q", got)
	}
	b.do(chromedp.SendKeys(css("[name='secret.token']"), booksToken), chromedp.Click(css("#connect button[value=test]")), chromedp.WaitVisible(css("#tried.good")))
	b.shows("It works: books-search answers")
	if page := ask(t, b.ctx, chromedp.Evaluate[string]("document.documentElement.outerHTML")); strings.Contains(page, booksToken) {
		t.Error("the page holds the secret")
	}
	b.do(chromedp.Click(css("#connect button.main")), chromedp.WaitVisible(css(".abilities")))
	b.shows("Connected. From now on invoices can be sent to it.", "Working", "API token: stored encrypted")
	b.do(chromedp.Click(css("#do-pause summary")), chromedp.WaitVisible(css("#do-pause input[name=note]")), chromedp.SendKeys(css("#do-pause input[name=note]"), "Month end: the books are closed until noon"), chromedp.Click(css("#do-pause button")),
		chromedp.WaitVisible(css("#do-resume summary")))
	b.shows("Paused", "Sandbox has been paused since", "Reason: Month end: the books are closed until noon")
	sys, err := e.store.System(t.Context(), "sandbox")
	if err != nil || sys.PausedAt.IsZero() || sys.Identity != "books-search" {
		t.Fatalf("%+v %v", sys, err)
	}
}

// The pages in every look, from nothing to a system with trouble.
func TestSystemPagesLookRight(t *testing.T) {
	t.Parallel()
	ctx := chrome(t)
	e := newEmptySite(t)
	b := tab{t, ctx}
	shown := func(name string) {
		t.Helper()
		for _, l := range looks {
			shootThis(t, ctx, name, l)
		}
		run(t, ctx, looks[0].set())
	}
	b.do(signInOn(e.URL, "admin"))
	shoot(t, ctx, "systems-none", e.URL+"/systems")
	shoot(t, ctx, "system-new", e.URL+"/systems/new")
	run(t, ctx, looks[0].set())
	b.do(goTo(e.URL+"/systems/new", "#connect"), chromedp.SetValue(css("#f-name"), "Acme’s books"), chromedp.SetValue(css("#f-address"), "books.example.com"),
		chromedp.Evaluate[chromedp.Void](`document.querySelector("#connect details").open = true; document.querySelector("[name='set.search_lag']").value = "soon"`),
		chromedp.Click(css("#connect button.main")), chromedp.WaitVisible(css(".field .problem")))
	shown("system-new-problem")
	b.do(chromedp.SetValue(css("#f-address"), e.url+"/search"), chromedp.SetValue(css("[name='set.search_lag']"), "2s"), chromedp.SetValue(css("[name='secret.token']"), booksToken),
		chromedp.Click(css("#connect button[value=test]")), chromedp.WaitVisible(css("#tried")))
	shown("system-new-tested")
	b.do(chromedp.Click(css("#connect button.main")), chromedp.WaitVisible(css(".abilities")))
	shown("system")
	b.do(chromedp.Click(css("form[action$='/test'] button")), chromedp.WaitVisible(css("#tried")))
	shown("system-tested")
	shoot(t, ctx, "system-edit", e.URL+"/systems/acme-s-books/edit")
	for _, trouble := range []func() error{
		func() error {
			return e.store.Pause(t.Context(), "acme-s-books", ada, "Month end: the books are closed until noon.")
		},
		func() error {
			return e.store.SetLogin(t.Context(), "acme-s-books", "the accounting system refused our login (401)")
		},
		func() error {
			return e.store.StartLookFirst(t.Context(), "acme-s-books", "The database was restored from a backup.")
		},
	} {
		if err := trouble(); err != nil {
			t.Fatal(err)
		}
	}
	if err := e.store.AddCalls(t.Context(), "acme-s-books", work.Calls{All: 12400, Unanswered: 124, Refused: 30}); err != nil {
		t.Fatal(err)
	}
	shoot(t, ctx, "system-trouble", e.URL+"/systems/acme-s-books")
	run(t, ctx, looks[0].set())
	b.do(chromedp.Click(css("#do-resume summary")), chromedp.WaitVisible(css("#do-resume input[name=note]")))
	shown("system-trouble-open")
	shoot(t, ctx, "systems-trouble", e.URL+"/systems")
}
