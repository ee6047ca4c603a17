package web

import (
	"bytes"
	"fmt"
	"html"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"onefold/internal/auth"
	"onefold/internal/automation"
	"onefold/internal/automation/accounttest"
	"onefold/internal/ledger"
	"onefold/internal/seal"
	"onefold/internal/store"
	"onefold/internal/store/storetest"
)

// accountSite is a site that knows its public address, beside a system whose account is connected in the browser.
type accountSite struct {
	*site
	store *store.Store
	con   *automation.Connections
	vault *accounttest.Vault
	log   *bytes.Buffer
}

func newAccountSite(t *testing.T) *accountSite {
	t.Helper()
	e := &accountSite{store: storetest.SQLite(t).Open(t, store.Config{}), vault: accounttest.New(t), log: &bytes.Buffer{}}
	var pages http.Handler
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { pages.ServeHTTP(w, r) }))
	t.Cleanup(front.Close)
	t.Cleanup(front.CloseClientConnections)
	log := slog.New(slog.NewTextHandler(e.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	e.con = &automation.Connections{Store: e.store, Adapters: []ledger.Adapter{e.vault.Adapter()}, Keys: seal.Random(), Log: log}
	var err error
	if pages, err = New(Config{Store: e.store, Connections: e.con, Log: log, Auth: accounts(t, func(c *auth.Config) { c.Store = e.store }),
		Intake: noIntake{}, Importer: noImporter{}, PublicURL: front.URL + "/"}); err != nil {
		t.Fatal(err)
	}
	e.site = &site{front, t}
	return e
}

// add sets the system up on the form; its account is not connected yet.
func (e *accountSite) add(b *browser, name string) answer {
	e.t.Helper()
	f := b.get("/systems/new").filled("/systems/new", "name", name, "address", e.vault.URL, "set.client_id", accounttest.ClientID, "secret.client_secret", accounttest.ClientSecret, "do", "save")
	a := b.post("/systems/new", f)
	if a.status != http.StatusSeeOther {
		e.t.Fatalf("%d %s", a.status, a.visible())
	}
	return b.get(a.location)
}

var goLink = regexp.MustCompile(`id="go"[^>]*href="([^"]*)"`)

// away presses the button on the system's page and returns where the page leads.
func (e *accountSite) away(b *browser, id string) string {
	e.t.Helper()
	path := "/systems/" + id + "/login"
	a := b.post(path, b.get("/systems/"+id).form(path))
	m := goLink.FindStringSubmatch(a.body)
	if a.status != http.StatusOK || m == nil {
		e.t.Fatalf("%d %s", a.status, a.visible())
	}
	return html.UnescapeString(m[1])
}

// agree is what the person does there; it returns the path that they come back to.
func (e *accountSite) agree(address string) string {
	e.t.Helper()
	h := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := h.Get(address)
	if err != nil {
		e.t.Fatal(err)
	}
	defer resp.Body.Close()
	back, found := strings.CutPrefix(resp.Header.Get("Location"), e.URL)
	if !found {
		e.t.Fatalf("%d leads to %s", resp.StatusCode, resp.Header.Get("Location"))
	}
	return back
}

// An admin sets a system up, connects its account, connects it again and disconnects it, and every page says where it stands. No
// page and no log tells a secret.
func TestConnectingAnAccountOnThePages(t *testing.T) {
	e := newAccountSite(t)
	b := e.signIn("admin")
	all := &strings.Builder{}
	shows := func(a answer, want ...string) answer {
		t.Helper()
		all.WriteString(a.body)
		for _, w := range want {
			if !strings.Contains(a.visible(), w) {
				t.Errorf("%q is missing: %s", w, a.visible())
			}
		}
		return a
	}
	shows(b.get("/systems/new"), "Redirect address "+e.URL+"/systems/login/callback", "Then connect the account on the next page", "Save and go on")
	page := shows(e.add(b, "Vault"), "Saved. Now connect the account: until then nothing is sent.", "Not connected", "Vault cannot be used: its account is not connected yet.", "Connect the account")
	if page.form("/systems/vault/login/remove") != nil {
		t.Error("an account that is not connected can be disconnected")
	}
	shows(b.get("/systems"), "Not connected")
	to, err := url.Parse(e.away(b, "vault"))
	if err != nil || to.Query().Get("redirect_uri") != e.URL+"/systems/login/callback" || to.Query().Get("code_challenge") == "" || to.Query().Get("state") == "" {
		t.Fatalf("%s %v", to, err)
	}
	a := b.post("/systems/vault/login", b.get("/systems/vault").form("/systems/vault/login"))
	shows(a, "Connect the account of Vault", "You leave these pages for "+to.Host)
	back := e.agree(to.String())
	a = b.get(back)
	if a.location != "/systems/vault?did=account" {
		t.Fatalf("%d %s %s", a.status, a.location, a.visible())
	}
	page = shows(b.get(a.location), "The account is connected. From now on invoices can be sent.", "Connected by Admin", "Grantedinvoices books", "Working", "north")
	if a = shows(b.get(back), "This answer belongs to nothing that was begun here: it was used already"); a.status != http.StatusGone {
		t.Errorf("replayed: %d", a.status)
	}
	shows(b.post("/systems/vault/test", page.form("/systems/vault/test")), "It works: north answers")
	if a = b.get(e.agree(e.away(b, "vault"))); a.location != "/systems/vault?did=account" {
		t.Fatalf("again: %d %s", a.status, a.visible())
	}
	e.vault.Set(func(s *accounttest.Behaviour) { s.Dead = true })
	shows(b.post("/systems/vault/test", page.form("/systems/vault/test")), "the accounting system refused to renew the login (invalid_grant): reconnect the account", "Login refused", "Ended: it must be connected again", "Connect the account again")
	a = b.post("/systems/vault/login/remove", b.get("/systems/vault").form("/systems/vault/login/remove"))
	shows(b.get(a.location), "The account is disconnected. Nothing is sent until it is connected again.", "Not connected", "its account was disconnected")
	shows(b.get("/audit?what=group:systems"), "Connected an account", "Reconnected an account", "Disconnected an account")
	viewer := e.signIn("vera").get("/systems/vault")
	if strings.Contains(viewer.body, `id="account"`) || viewer.form("/systems/vault/login") != nil {
		t.Error("a viewer is offered the account")
	}
	said := fmt.Sprint(all.String(), e.log.String(), viewer.body)
	for _, secret := range append(e.vault.Counts().Secrets, accounttest.ClientSecret) {
		if strings.Contains(said, secret) {
			t.Errorf("%s is told", secret)
		}
	}
}

// Whatever goes wrong on the way has a page that says what to do, and connects nothing.
func TestRefusedAccountsSayWhatToDo(t *testing.T) {
	e := newAccountSite(t)
	b := e.signIn("admin")
	e.add(b, "Vault")
	change := func(path, name, value string) string {
		u, err := url.Parse(path)
		if err != nil {
			t.Fatal(err)
		}
		q := u.Query()
		q.Set(name, value)
		u.RawQuery = q.Encode()
		return u.String()
	}
	deny := func(code string) { e.vault.Set(func(s *accounttest.Behaviour) { s.Deny = code }) }
	refused := func(name, path string, status int, want string) {
		t.Helper()
		a := b.get(path)
		if a.status != status || !strings.Contains(a.visible(), "The account was not connected") || !strings.Contains(a.visible(), want) {
			t.Errorf("%s: %d %s", name, a.status, a.visible())
		}
		if l, err := e.store.SystemLogin(t.Context(), "vault"); err != nil || l.Sealed != "" {
			t.Errorf("%s: it was connected (%v)", name, err)
		}
	}
	refused("nothing", "/systems/login/callback", http.StatusGone, "This answer belongs to nothing")
	refused("another state", change(e.agree(e.away(b, "vault")), "state", "guessed"), http.StatusGone, "This answer belongs to nothing")
	deny("access_denied")
	refused("denied", e.agree(e.away(b, "vault")), http.StatusForbidden, "access was not granted (access_denied)")
	deny("<script>alert(1)</script>")
	refused("denied in odd words", e.agree(e.away(b, "vault")), http.StatusForbidden, "access was not granted. Begin again")
	deny("")
	refused("another code", change(e.agree(e.away(b, "vault")), "code", "guessed"), http.StatusBadGateway, "did not honour its own answer (invalid_grant)")
	e.vault.Set(func(s *accounttest.Behaviour) { s.Books = nil })
	refused("no books", e.agree(e.away(b, "vault")), http.StatusConflict, "The login reaches no books")
	// A session that ended meanwhile: after signing in again the answer counts all the same.
	e.vault.Set(func(s *accounttest.Behaviour) {
		s.Books = []ledger.Book{{ID: "north", Name: "North"}, {ID: "south", Name: "South"}}
	})
	back := e.agree(e.away(b, "vault"))
	if a := e.browser().get(back); a.status != http.StatusSeeOther || !strings.HasPrefix(a.location, "/login?next=") {
		t.Errorf("signed out: %d %s", a.status, a.location)
	}
	if a := e.signIn("ada").get(back); a.status != http.StatusForbidden {
		t.Errorf("no admin: %d", a.status)
	}
	a := b.get(back)
	if !strings.HasPrefix(a.location, "/systems/vault/login/books?choice=") {
		t.Fatalf("%d %s", a.status, a.visible())
	}
	page := b.get(a.location)
	f := page.form("/systems/vault/login/books")
	if a = b.post("/systems/vault/login/books", f); a.status != http.StatusUnprocessableEntity || !strings.Contains(a.visible(), "Choose one of the list.") {
		t.Errorf("%d %s", a.status, a.visible())
	}
	f.Set("book", "south")
	if a = b.post("/systems/vault/login/books", f); a.location != "/systems/vault?did=account" {
		t.Fatalf("%d %s", a.status, a.visible())
	}
	if sys, err := e.store.System(t.Context(), "vault"); err != nil || sys.Identity != "south" {
		t.Errorf("%q %v", sys.Identity, err)
	}
}

// A server that does not know its own address connects no account, and says who can change that.
func TestAnAccountNeedsAPublicAddress(t *testing.T) {
	st := storetest.SQLite(t).Open(t, store.Config{})
	v := accounttest.New(t)
	con := &automation.Connections{Store: st, Adapters: []ledger.Adapter{v.Adapter()}, Keys: seal.Random()}
	e := &accountSite{site: newSite(t, Config{Store: st, Connections: con, Auth: accounts(t, func(c *auth.Config) { c.Store = st })}), store: st, con: con, vault: v}
	b := e.signIn("admin")
	if form := b.get("/systems/new"); !strings.Contains(form.visible(), "this server’s operator must set its public address first") {
		t.Error(form.visible())
	}
	page := e.add(b, "Vault")
	f := page.form("/systems/vault/test")
	if page.form("/systems/vault/login") != nil || !strings.Contains(page.visible(), "An account cannot be connected yet") {
		t.Error(page.visible())
	}
	if a := b.post("/systems/vault/login", f); a.status != http.StatusConflict || !strings.Contains(a.visible(), "this server does not know its own public address") {
		t.Errorf("%d %s", a.status, a.visible())
	}
}
