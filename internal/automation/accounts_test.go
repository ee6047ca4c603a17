package automation_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"onefold/internal/automation"
	"onefold/internal/automation/accounttest"
	"onefold/internal/ledger"
	"onefold/internal/seal"
	"onefold/internal/store"
	"onefold/internal/store/storetest"
	"onefold/internal/work"
)

const answerAddress = "https://onefold.example/systems/login/callback"

// branch is a bureau beside a system whose account is connected in the browser.
type branch struct {
	*bureau
	vault *accounttest.Vault
	given *ledger.Connection // what the adapter was made from last
}

func eachBranch(t *testing.T, test func(t *testing.T, b *branch)) {
	storetest.Each(t, func(t *testing.T, db storetest.DB) {
		b := &branch{bureau: newBureau(t, db), vault: accounttest.New(t)}
		b.con.Adapters = append(b.con.Adapters, b.adapter())
		test(t, b)
	})
}

// adapter notes what it is made from.
func (b *branch) adapter() ledger.Adapter {
	a := b.vault.Adapter()
	connect := a.Connect
	a.Connect = func(c ledger.Connection) (ledger.System, error) {
		b.given = &c
		return connect(c)
	}
	return a
}

// server is one more server on the same database.
func (b *branch) server(over func(automation.ConnectionStore) automation.ConnectionStore) *automation.Connections {
	b.t.Helper()
	c := *b.con
	c.Store = b.db.Open(b.t, store.Config{Clock: b.clock.Now})
	if over != nil {
		c.Store = over(c.Store)
	}
	return &c
}

// tokens is the login of a system as a server's adapter gets it.
func (b *branch) tokens(c *automation.Connections, id string) (ledger.TokenStore, error) {
	b.t.Helper()
	s, err := b.store.System(b.t.Context(), id)
	if err != nil {
		b.t.Fatal(err)
	}
	if _, err := c.Connect(s); err != nil {
		return nil, err
	}
	return b.given.Tokens, nil
}

func (b *branch) mustTokens(c *automation.Connections, id string) ledger.TokenStore {
	b.t.Helper()
	k, err := b.tokens(c, id)
	if err != nil {
		b.t.Fatal(err)
	}
	return k
}

func (b *branch) vaultDraft(name string) automation.Draft {
	return automation.Draft{Adapter: "vault", Name: name, Address: b.vault.URL, Settings: map[string]string{"client_id": accounttest.ClientID},
		Secrets: map[string]string{"client_secret": accounttest.ClientSecret}}
}

// set up a system whose account is not connected yet.
func (b *branch) unconnected(name string) string {
	b.t.Helper()
	id, tried, err := b.con.Add(b.t.Context(), boss, b.vaultDraft(name))
	if err != nil || tried.Problem != automation.TryAccount {
		b.t.Fatalf("%q %+v %v", id, tried, err)
	}
	return id
}

// agree is what the person does at the accounting system; it returns the answer that they come back with.
func (b *branch) agree(id string) url.Values {
	b.t.Helper()
	away, err := b.con.BeginAccount(b.t.Context(), boss, id, answerAddress)
	if err != nil {
		b.t.Fatal(err)
	}
	return visit(b.t, away.URL)
}

func visit(t *testing.T, address string) url.Values {
	t.Helper()
	h := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := h.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	to, err := resp.Location()
	if err != nil {
		body, _ := io.ReadAll(resp.Body)
		t.Fatalf("%d %s", resp.StatusCode, body)
	}
	return to.Query()
}

// connected is a system whose account is connected.
func (b *branch) connected(name string) string {
	b.t.Helper()
	id := b.unconnected(name)
	b.connect(id)
	return id
}

func (b *branch) connect(id string) {
	b.t.Helper()
	if done, err := b.con.FinishAccount(b.t.Context(), boss, b.agree(id)); err != nil || done.SystemID != id || done.Choose != "" {
		b.t.Fatalf("%+v %v", done, err)
	}
}

func (b *branch) system(id string) work.System {
	b.t.Helper()
	s, err := b.store.System(b.t.Context(), id)
	if err != nil {
		b.t.Fatal(err)
	}
	return s
}

// Many servers, one renewal: a second one beside it would kill the login. What was renewed reaches everybody without a restart.
func TestTrial29_OneOfManyServersRenewsTheLogin(t *testing.T) {
	eachBranch(t, func(t *testing.T, b *branch) {
		id := b.connected("Vault")
		spent, err := b.mustTokens(b.con, id).Load(t.Context())
		if err != nil || spent.Refresh == "" {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		var mu sync.Mutex
		got := map[string]int{}
		for range 4 {
			tokens := b.mustTokens(b.server(nil), id)
			for range 4 {
				wg.Go(func() {
					now, err := tokens.Renew(t.Context(), spent, b.vault.Renew)
					mu.Lock()
					defer mu.Unlock()
					if err != nil {
						t.Error(err)
					}
					got[now.Access]++
				})
			}
		}
		wg.Wait()
		if n := b.vault.Counts(); n.Renewals != 1 || n.Dead || len(got) != 1 {
			t.Errorf("%d renewals, login dead: %v, %d logins", n.Renewals, n.Dead, len(got))
		}
		now, err := b.mustTokens(b.con, id).Load(t.Context())
		if err != nil || now.Access == spent.Access || got[now.Access] != 16 {
			t.Errorf("what was renewed is not what is stored: %v", err)
		}
		// A login in use, of a server that renewed nothing, goes on with what another one stored.
		login := &ledger.Login{Tokens: b.mustTokens(b.server(nil), id), Renew: b.vault.Renew}
		first, err := login.Access(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := b.mustTokens(b.con, id).Renew(t.Context(), now, b.vault.Renew); err != nil {
			t.Fatal(err)
		}
		login.Forget(first)
		if second, err := login.Access(t.Context()); err != nil || second == first || b.vault.Counts().Renewals != 2 {
			t.Errorf("another server does not see the new login: %v", err)
		}
	})
}

// faulty is a database that fails when a renewed login is to be stored.
type faulty struct {
	automation.ConnectionStore
	store func() error // nil error: it is stored
}

func (f faulty) StoreRenewal(ctx context.Context, id string, version int64, sealed string, expires time.Time) (bool, error) {
	if err := f.store(); err != nil {
		return false, err
	}
	return f.ConnectionStore.StoreRenewal(ctx, id, version, sealed, expires)
}

// A server that dies between the renewal and the database loses the login: the next one tries, is refused, and people are told.
// While the lease lasts nobody else tries.
func TestAServerDiesBetweenRenewalAndDatabase(t *testing.T) {
	eachBranch(t, func(t *testing.T, b *branch) {
		id := b.connected("Vault")
		dying := b.server(func(s automation.ConnectionStore) automation.ConnectionStore {
			return faulty{s, func() error { runtime.Goexit(); return nil }}
		})
		tokens, other := b.mustTokens(dying, id), b.mustTokens(b.con, id)
		spent, err := other.Load(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		wg.Go(func() { _, _ = tokens.Renew(t.Context(), spent, b.vault.Renew) })
		wg.Wait()
		hurried, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		if _, err := other.Renew(hurried, spent, b.vault.Renew); err == nil || errors.Is(err, ledger.ErrLoginRefused) {
			t.Errorf("it did not wait for the one that renews: %v", err)
		}
		if n := b.vault.Counts(); n.Renewals != 1 || n.Dead {
			t.Fatalf("%+v", n.Renewals)
		}
		b.clock.advance(2 * time.Minute)
		for range 3 {
			if _, err := other.Renew(t.Context(), spent, b.vault.Renew); !errors.Is(err, ledger.ErrLoginRefused) || !strings.Contains(err.Error(), "reconnect the account") {
				t.Fatal(err)
			}
		}
		if n := b.vault.Counts(); n.Renewals != 2 {
			t.Errorf("%d renewals of a login that is over", n.Renewals)
		}
		s := b.system(id)
		if !strings.Contains(s.LoginProblem, "a server stopped or got no answer while it renewed the login") || !s.Rules().NoSends {
			t.Errorf("people are not told: %q", s.LoginProblem)
		}
		if _, err := b.tokens(b.con, id); !errors.Is(err, ledger.ErrLoginRefused) {
			t.Errorf("it is connected with a login that is over: %v", err)
		}
		b.connect(id)
		if s = b.system(id); s.LoginProblem != "" {
			t.Error(s.LoginProblem)
		}
		if now, err := b.mustTokens(b.server(nil), id).Load(t.Context()); err != nil || now.Refresh == spent.Refresh {
			t.Errorf("connected again: %v", err)
		}
	})
}

// A database that is away does not lose what was renewed, and nobody uses it before it is stored.
func TestARenewedLoginWaitsForTheDatabase(t *testing.T) {
	eachBranch(t, func(t *testing.T, b *branch) {
		id := b.connected("Vault")
		tries := 0
		tokens := b.mustTokens(b.server(func(s automation.ConnectionStore) automation.ConnectionStore {
			return faulty{s, func() error {
				if tries++; tries <= 3 {
					return errors.New("the database is away")
				}
				return nil
			}}
		}), id)
		spent, err := tokens.Load(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		gone, giveUp := context.WithCancel(t.Context())
		is, err := tokens.Renew(gone, spent, func(ctx context.Context, was ledger.Token) (ledger.Token, error) {
			giveUp() // whoever asked has given up: the renewal goes on
			if ctx.Err() != nil {
				t.Error("a caller that gives up breaks the renewal off")
			}
			return b.vault.Renew(ctx, was)
		})
		if err != nil || tries != 4 || b.vault.Counts().Renewals != 1 {
			t.Fatalf("after %d tries: %v", tries, err)
		}
		if now, err := b.mustTokens(b.con, id).Load(t.Context()); err != nil || now != is {
			t.Errorf("what is used is not what is stored: %v", err)
		}
		if strings.Count(b.log.String(), "could not be stored") != 3 {
			t.Errorf("it is not told: %s", b.log.String())
		}
	})
}

// Only a definite refusal of the login that is stored ends it: no failure that passes, and no late word about an older one.
func TestOnlyADefiniteRefusalEndsALogin(t *testing.T) {
	eachBranch(t, func(t *testing.T, b *branch) {
		id := b.connected("Vault")
		tokens := b.mustTokens(b.con, id)
		spent, err := tokens.Load(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		away := func(context.Context, ledger.Token) (ledger.Token, error) {
			return ledger.Token{}, errors.New("not reached")
		}
		if _, err := tokens.Renew(t.Context(), spent, away); err == nil || errors.Is(err, ledger.ErrLoginRefused) {
			t.Fatal(err)
		}
		empty := func(context.Context, ledger.Token) (ledger.Token, error) { return ledger.Token{}, nil }
		b.clock.advance(time.Minute)
		if _, err := tokens.Renew(t.Context(), spent, empty); err == nil || errors.Is(err, ledger.ErrLoginRefused) {
			t.Fatal(err)
		}
		b.clock.advance(time.Minute)
		// This renewal is refused so late that a person has connected the account again by then.
		is, err := tokens.Renew(t.Context(), spent, func(context.Context, ledger.Token) (ledger.Token, error) {
			b.connect(id)
			return ledger.Token{}, ledger.ErrLoginRefused
		})
		if err != nil || is.Access == spent.Access || b.system(id).LoginProblem != "" {
			t.Errorf("a late refusal ended the new login: %v %q", err, b.system(id).LoginProblem)
		}
		// And this one brings a login that nobody needs any more.
		newest, err := tokens.Renew(t.Context(), is, func(context.Context, ledger.Token) (ledger.Token, error) {
			b.connect(id)
			return ledger.Token{Access: "old-access", Refresh: "old-refresh"}, nil
		})
		if now, loadErr := tokens.Load(t.Context()); err != nil || loadErr != nil || newest != now || now.Access == "old-access" {
			t.Errorf("a late renewal took the place of the new login: %v %v", err, loadErr)
		}
		// A login that was taken off does not come back.
		if _, err := tokens.Renew(t.Context(), newest, func(context.Context, ledger.Token) (ledger.Token, error) {
			if err := b.con.DisconnectAccount(t.Context(), boss, id); err != nil {
				t.Error(err)
			}
			return ledger.Token{Access: "back", Refresh: "again"}, nil
		}); !errors.Is(err, ledger.ErrLoginRefused) {
			t.Errorf("after disconnecting: %v", err)
		}
		if now, err := tokens.Load(t.Context()); err != nil || now != (ledger.Token{}) {
			t.Errorf("a login that was taken off came back: %v", err)
		}
	})
}

// Nothing is sent before the account is connected, after its login was refused, and after it was disconnected; what waits is
// sent when it is connected again. All servers notice.
func TestNothingIsSentWithoutAnAccount(t *testing.T) {
	eachBranch(t, func(t *testing.T, b *branch) {
		b.clock.advance(time.Since(b.clock.Now())) // the adapter's own clock is the machine's
		id := b.unconnected("Vault")
		engine := b.engine()
		sends := func(want int, when string) {
			t.Helper()
			for range 20 {
				if _, err := engine.RunOnce(t.Context()); err != nil {
					t.Fatal(err)
				}
				b.clock.advance(time.Second)
			}
			if n := b.vault.Counts().Sends; n != want {
				s := b.system(id)
				t.Fatalf("%s: %d sends, want %d; %q %q\n%s", when, n, want, s.LoginProblem, s.BreakerReason, b.log.String())
			}
		}
		record := func(key string) {
			t.Helper()
			if err := b.store.AllowUnproven(t.Context(), 1, "monthly", []string{id}, boss); err != nil {
				t.Fatal(err)
			}
			_, err := automation.Intake{Store: b.store}.Record(t.Context(), []work.New{{Automation: "monthly", BusinessKey: key, SystemID: id, Source: "test",
				By: boss, Invoice: work.Invoice{CustomerID: "C-1", CustomerName: "Acme", Total: euros(t, "10.00")}}})
			if err != nil {
				t.Fatal(err)
			}
		}
		record("INV-1")
		sends(0, "not connected")
		if s := b.system(id); s.LoginProblem == "" || !s.BreakerUntil.IsZero() {
			t.Errorf("it does not say so: %q %q", s.LoginProblem, s.BreakerReason)
		}
		b.connect(id)
		sends(1, "connected")
		b.vault.Set(func(s *accounttest.Behaviour) { s.Dead = true })
		record("INV-2")
		sends(1, "the login is withdrawn")
		if s := b.system(id); !strings.Contains(s.LoginProblem, "reconnect the account") {
			t.Errorf("people are not told: %q", s.LoginProblem)
		}
		renewals := b.vault.Counts().Renewals
		sends(1, "still withdrawn")
		if n := b.vault.Counts().Renewals; n != renewals || n != 1 {
			t.Errorf("%d renewals of a login that is over", n)
		}
		b.clock.advance(10 * time.Minute)
		b.connect(id)
		sends(2, "connected again")
		if err := b.con.DisconnectAccount(t.Context(), boss, id); err != nil {
			t.Fatal(err)
		}
		record("INV-3")
		sends(2, "disconnected")
		b.connect(id)
		sends(3, "connected once more")
	})
}

// A login is sealed, and sealed anew with the keys; it is told nowhere.
func TestALoginIsToldNowhere(t *testing.T) {
	eachBranch(t, func(t *testing.T, b *branch) {
		id := b.connected("Vault")
		var said strings.Builder
		note := func(v any, err error) { fmt.Fprintf(&said, "%+v %v\n", v, err) }
		waits := b.agree(id)
		note(b.con.Setup(t.Context(), boss, id))
		note(b.con.TryStored(t.Context(), boss, id))
		tokens := b.mustTokens(b.con, id)
		spent, err := tokens.Load(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		b.vault.Set(func(s *accounttest.Behaviour) { s.Books[0].ID = "east" })
		careless, err := b.con.TryStored(t.Context(), boss, id) // the adapter says the login back
		if note(careless, err); !strings.Contains(careless.Text, "it answered 403 to [hidden]") {
			t.Errorf("%+v", careless)
		}
		b.vault.Set(func(s *accounttest.Behaviour) { s.Books[0].ID, s.Dead = "north", true })
		_, err = tokens.Renew(t.Context(), spent, b.vault.Renew)
		note(nil, err)
		note(b.con.TryStored(t.Context(), boss, id))
		note(b.con.FinishAccount(t.Context(), boss, waits))
		wrong := b.agree(id)
		wrong.Set("code", waits.Get("code"))
		note(b.con.FinishAccount(t.Context(), boss, wrong))
		b.agree(id) // stays open
		note(b.store.SystemChanges(t.Context(), id, 100))
		note(b.store.Systems(t.Context()))
		said.WriteString(b.log.String())
		said.WriteString(dump(t, b.db))
		for _, secret := range append(b.vault.Counts().Secrets, accounttest.ClientSecret) {
			if i := strings.Index(said.String(), secret); i >= 0 {
				t.Errorf("a secret is told: …%s…", said.String()[max(0, i-300):i])
			}
		}
		if !strings.Contains(said.String(), "account connected") {
			t.Error("nothing is on record")
		}
	})
}

// What an old key sealed is sealed anew, a login too, and nothing about the connection changes by it.
func TestALoginFollowsTheKeys(t *testing.T) {
	eachBranch(t, func(t *testing.T, b *branch) {
		id := b.connected("Vault")
		before, mark := b.mustTokens(b.con, id), b.mark(id)
		was, err := before.Load(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		newer := seal.Random()
		c := *b.con
		if c.Keys = newer; true {
			if _, err := b.tokens(&c, id); err == nil || !strings.Contains(err.Error(), "key is not among this server's keys") {
				t.Errorf("without the key: %v", err)
			}
		}
		c.Keys = append(newer[:1:1], b.keys...)
		for _, want := range []int{2, 0} { // the client's secret and the login
			if n, err := c.Reseal(t.Context()); err != nil || n != want {
				t.Errorf("sealed anew: %d, %v; want %d", n, err, want)
			}
		}
		c.Keys = newer
		if now, err := b.mustTokens(&c, id).Load(t.Context()); err != nil || now != was || b.mark(id) != mark {
			t.Errorf("after the old key is gone: %v", err)
		}
	})
}
