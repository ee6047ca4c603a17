package xero_test

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"onefold/internal/ledger"
	"onefold/internal/ledger/ledgertest"
	"onefold/internal/ledger/xero"
	"onefold/internal/ledger/xero/xerotest"
	"onefold/internal/work"
)

// on connects under one clock with the fake.
func on(t *testing.T, set ...setting) (w *world, advance func(time.Duration)) {
	t.Helper()
	var mu sync.Mutex
	now := time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)
	clock := func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		return now
	}
	w = connect(t, xerotest.Options{Now: clock}, ledgertest.Setup{Now: clock}, set...)
	access, refresh := w.fake.Login()
	w.tokens.Connect(ledger.Token{Access: access, Refresh: refresh, Expires: clock().Add(30 * time.Minute)})
	return w, func(d time.Duration) {
		mu.Lock()
		defer mu.Unlock()
		now = now.Add(d)
	}
}

func (w *world) live(reference string) ledger.Request {
	req := w.request(reference)
	req.SendBy = ledger.Deadline{}
	return req
}

// A token lives for half an hour; each refresh token works once. Three servers share one.
func TestTheLoginRenewsItselfOnce(t *testing.T) {
	w, advance := on(t)
	servers := []ledger.System{w.sys}
	for range 2 {
		w.connect()
		servers = append(servers, w.sys)
	}
	for round := range 4 {
		before := w.fake.Logins
		var wg sync.WaitGroup
		for _, sys := range servers {
			wg.Go(func() {
				if _, err := sys.Identity(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if n := w.fake.Logins - before; round > 0 && n != 1 {
			t.Errorf("%d renewals by three servers", n)
		}
		advance(31 * time.Minute)
	}
}

// A person comes back with a code; the login that it brings is used, and renewed, by the adapter.
func TestTheCodeOfTheLoginPageIsExchanged(t *testing.T) {
	w, advance := on(t, setting{"tenant", ""})
	cfg, err := xero.Adapter.OAuth.Config(w.conn)
	if err != nil {
		t.Fatal(err)
	}
	cfg.RedirectURL = "https://onefold.example/accounts/back"
	if _, err := cfg.Exchange(t.Context(), "another code"); err == nil {
		t.Error("a code that Xero never gave was exchanged")
	}
	token, err := cfg.Exchange(t.Context(), xerotest.Code)
	if err != nil {
		t.Fatal(err)
	}
	w.tokens.Connect(ledger.Token{Access: token.AccessToken, Refresh: token.RefreshToken, Expires: time.Date(2026, 11, 30, 9, 30, 0, 0, time.UTC)})
	books, err := xero.Adapter.OAuth.Books(t.Context(), w.conn)
	if err != nil || len(books) != 1 || books[0].ID != xerotest.Tenant {
		t.Fatal(books, err)
	}
	w.wantOutcome(w.send(w.live("INV-1")), work.Accepted)
	advance(time.Hour)
	w.wantFinding(w.find(w.live("INV-1")), work.FoundMatching)
}

// A token that was revoked early is renewed for the next call; the call that met the refusal is deferred, not lost.
func TestARevokedTokenIsRenewed(t *testing.T) {
	w, _ := on(t)
	w.fake.Revoke(false)
	a := w.send(w.live("INV-1"))
	w.wantOutcome(a, work.Deferred)
	w.wantOutcome(w.send(w.live("INV-1")), work.Accepted)
	w.wantRecords("INV-1", 1)
	w.fake.Revoke(false)
	w.wantFinding(w.find(w.live("INV-1")), work.FindDeferred)
	w.wantFinding(w.find(w.live("INV-1")), work.FoundMatching)
	w.fake.Revoke(false)
	if _, err := w.sys.Identity(t.Context()); err == nil {
		t.Error("the refusal was not told")
	}
	if _, err := w.sys.Identity(t.Context()); err != nil {
		t.Error(err)
	}
}

// A login that is over is told as such; nothing is sent, nothing is counted against the item.
func TestALoginThatIsOver(t *testing.T) {
	w, advance := on(t)
	w.fake.Revoke(true)
	advance(time.Hour)
	a := w.send(w.live("INV-1"))
	w.wantOutcome(a, work.Deferred)
	if !a.Login || len(w.front.Writes()) != 0 {
		t.Errorf("%+v, %d writes", a, len(w.front.Writes()))
	}
	l := w.find(w.live("INV-1"))
	w.wantFinding(l, work.FindDeferred)
	if !l.Login {
		t.Errorf("%+v", l)
	}
	_, err := w.sys.Identity(t.Context())
	if !errors.Is(err, ledger.ErrLoginRefused) || !strings.Contains(err.Error(), "invalid_grant") || strings.Contains(err.Error(), ledgertest.Secret) {
		t.Error(err)
	}
}

// The identity server is out of order: that passes, and is no refused login.
func TestALoginThatIsNotReached(t *testing.T) {
	w, advance := on(t)
	advance(time.Hour)
	w.fake.Misbehave("", "login_down")
	a := w.send(w.live("INV-1"))
	w.wantOutcome(a, work.Deferred)
	l := w.find(w.live("INV-1"))
	w.wantFinding(l, work.FindDeferred)
	if a.Login || l.Login || !a.Unreached || !l.Unreached {
		t.Errorf("%+v %+v", a, l)
	}
	w.fake.Misbehave("", ledgertest.NoFault)
	w.wantOutcome(w.send(w.live("INV-1")), work.Accepted)
}

func TestNobodyHasConnectedYet(t *testing.T) {
	w, _ := on(t)
	w.conn.Tokens = nil
	w.connect()
	a := w.send(w.live("INV-1"))
	w.wantOutcome(a, work.Deferred)
	if !a.Login {
		t.Errorf("%+v", a)
	}
	if n := len(w.fake.Requests()); n != 0 {
		t.Errorf("%d requests without a login", n)
	}
}

// The login is kept apart from a proof that loses answers: losing a renewal would end it.
func TestAProofDoesNotLoseTheLogin(t *testing.T) {
	w, advance := on(t)
	advance(time.Hour)
	w.conn.Lose = func() bool { return true }
	w.connect()
	w.wantOutcome(w.send(w.live("INV-1")), work.Unknown)
	w.wantRecords("INV-1", 1)
	w.wantFinding(w.find(w.live("INV-1")), work.FoundMatching)
}

func TestACustomConnection(t *testing.T) {
	custom := []setting{{"login", xero.LoginCustom}, {"tenant", ""}}
	w, advance := on(t, custom...)
	w.conn.Tokens = nil // it needs no person
	w.connect()
	if id, err := w.sys.Identity(t.Context()); err != nil || id != xerotest.Tenant {
		t.Fatal(id, err)
	}
	a := w.send(w.live("INV-1"))
	w.wantOutcome(a, work.Accepted)
	if a.Exchange.Identity != xerotest.Tenant {
		t.Errorf("identity %q", a.Exchange.Identity)
	}
	advance(time.Hour)
	w.wantFinding(w.find(w.live("INV-1")), work.FoundMatching)

	w, _ = on(t, custom...)
	w.conn.Secrets = map[string]string{"client_secret": "wrong"}
	w.connect()
	if _, err := w.sys.Identity(t.Context()); !errors.Is(err, ledger.ErrLoginRefused) {
		t.Error(err)
	}
}

// A login may reach several organisations: which one is for a person to say, and never a guess.
func TestSeveralOrganisations(t *testing.T) {
	w, _ := on(t, setting{"tenant", ""})
	for _, reach := range [][]string{{xerotest.Tenant, xerotest.OtherTenant}, {}} {
		w.fake.Reach(reach...)
		a := w.send(w.live("INV-1"))
		w.wantOutcome(a, work.Deferred)
		if !a.Login || len(w.front.Writes()) != 0 {
			t.Errorf("%v: %+v", reach, a)
		}
	}
	w.fake.Reach(xerotest.Tenant, xerotest.OtherTenant)
	books, err := xero.Adapter.OAuth.Books(t.Context(), w.conn)
	if err != nil || len(books) != 2 || books[0] != (ledger.Book{ID: xerotest.Tenant, Name: "Company 1"}) {
		t.Errorf("%v %v", books, err)
	}
	w.conn.System.Settings["tenant"] = xerotest.OtherTenant
	w.connect()
	w.wantOutcome(w.send(w.live("INV-1")), work.Accepted)
	if all := w.fake.Invoices(); len(all) != 1 || all[0].Tenant != xerotest.OtherTenant {
		t.Errorf("%+v", all)
	}
}

// The organisation was disconnected at Xero, or never belonged to the login: nothing happens, and the owner is told.
func TestAnotherOrganisationIsRefused(t *testing.T) {
	w, _ := on(t, setting{"tenant", xerotest.OtherTenant})
	a := w.send(w.live("INV-1"))
	w.wantOutcome(a, work.Deferred)
	if !a.Login || a.Exchange.Identity != xerotest.OtherTenant {
		t.Errorf("%+v", a)
	}
	w.wantFinding(w.find(w.live("INV-1")), work.FindDeferred)
	if _, err := w.sys.Identity(t.Context()); err == nil {
		t.Error("another organisation answered")
	}
	if n := len(w.fake.Invoices()); n != 0 {
		t.Errorf("%d invoices", n)
	}
}
