package web

import (
	"testing"

	"github.com/chromedp/chromedp"

	"onefold/internal/ledger"
	"onefold/internal/ledger/rest"
)

// A definition that is wrong, tried out and read back, in every look.
func TestTryOutLooksRight(t *testing.T) {
	t.Parallel()
	ctx := chrome(t)
	e := newEmptySite(t)
	e.con.Adapters = []ledger.Adapter{rest.Adapter}
	b := tab{t, ctx}
	shown := func(name string) {
		t.Helper()
		for _, l := range looks {
			shootThis(t, ctx, name, l)
		}
		run(t, ctx, looks[0].set())
	}
	b.do(signInOn(e.URL, "admin"), goTo(e.URL+"/systems/new?kind=rest", "#connect"), chromedp.SetValue(css("#f-name"), "Own books"), chromedp.SetValue(css("#f-address"), e.url+"/search"),
		chromedp.SetValue(css("[name='set.definition']"), "name: Own books\ncan: {linger: soon}\n"), chromedp.Click(css("#connect button.main")), chromedp.WaitVisible(css(".field .problem")))
	shown("system-definition-problem")
	b.do(chromedp.SetValue(css("[name='set.definition']"), sandboxDefinition(t)), chromedp.SetValue(css("[name='secret.token']"), booksToken), chromedp.SetValue(css("[name='tryout.reference']"), "INV-2026-11-ACME"),
		chromedp.Click(css("#connect button[value=tryout]")), chromedp.WaitVisible(css("#tried-out")), chromedp.Click(css("#tried-out details:last-of-type summary")))
	b.shows("The search was carried out to its end.", "search.records")
	shown("system-tried-out")
}
