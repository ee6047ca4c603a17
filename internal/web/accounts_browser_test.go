package web

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"onefold/internal/automation/accounttest"
	"onefold/internal/ledger"
)

// In a real browser, under the pages' own rules for content: an admin goes to the pages of another site and comes back.
func TestBrowserConnectsAnAccount(t *testing.T) {
	t.Parallel()
	e := newAccountSite(t)
	e.vault.URL = strings.Replace(e.vault.URL, "127.0.0.1", "localhost", 1) // another site than ours
	e.vault.Set(func(s *accounttest.Behaviour) {
		s.Books = []ledger.Book{{ID: "north", Name: "North Ltd"}, {ID: "south", Name: "South Ltd"}}
	})
	b := tab{t, chrome(t)}
	shown := func(name string) {
		t.Helper()
		for _, l := range looks {
			shootThis(t, b.ctx, name, l)
		}
		run(t, b.ctx, looks[0].set())
	}
	b.do(signInOn(e.URL, "admin"), goTo(e.URL+"/systems/new", "#connect"))
	shown("account-new")
	b.do(chromedp.SendKeys(css("#f-name"), "Vault"), chromedp.SendKeys(css("#f-address"), e.vault.URL), chromedp.SendKeys(css("[name='set.client_id']"), accounttest.ClientID),
		chromedp.SendKeys(css("[name='secret.client_secret']"), accounttest.ClientSecret), chromedp.Click(css("#connect button.main")), chromedp.WaitVisible(css("#account")))
	b.shows("Saved. Now connect the account", "Not connected")
	shown("account-not-connected")
	away := func() { b.do(chromedp.Click(css("#account form button")), chromedp.WaitVisible(css("#go"))) }
	e.vault.Set(func(s *accounttest.Behaviour) { s.Deny = "access_denied" })
	away()
	shown("account-away")
	b.do(chromedp.Click(css("#go")), chromedp.WaitVisible(css("#refused")))
	b.shows("The account was not connected", "access was not granted", "Nothing was changed and nothing was sent.")
	shown("account-denied")
	e.vault.Set(func(s *accounttest.Behaviour) { s.Deny = "" })
	b.do(chromedp.Click(css("#refused a.button")), chromedp.WaitVisible(css("#account")))
	away()
	b.do(chromedp.Click(css("#go")), chromedp.WaitVisible(css("#books")))
	shown("account-books")
	b.do(chromedp.SetValue(css("#f-book"), "south"), chromedp.Click(css("#books button.main")), chromedp.WaitVisible(css("#account details")))
	b.shows("The account is connected. From now on invoices can be sent.", "Connected by Admin", "Working")
	shown("account-connected")
	sys, err := e.store.System(t.Context(), "vault")
	if err != nil || sys.Identity != "south" || sys.LoginProblem != "" {
		t.Fatalf("%q %q %v", sys.Identity, sys.LoginProblem, err)
	}
	// Back, and the answer once more: it is used.
	away()
	e.vault.Set(func(s *accounttest.Behaviour) { s.Books = s.Books[:1] })
	b.do(chromedp.Click(css("#go")), chromedp.WaitVisible(css("#refused")))
	b.shows("The login does not reach the books that Vault is connected to")
	b.do(chromedp.Reload(), chromedp.WaitVisible(css("#refused")))
	b.shows("it was used already")
	b.do(chromedp.Click(css("#refused a.button")))
}
