package automation_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"onefold/internal/automation"
	"onefold/internal/automation/accounttest"
	"onefold/internal/ledger"
	"onefold/internal/work"
)

var chief = work.Actor{Kind: work.Person, ID: "10", Name: "Chief", Roles: []work.Role{work.Admin}}

// refused fails unless an account was refused for the reason, and nothing was connected by it.
func (b *branch) refused(name, id string, want automation.AccountCode, err error) {
	b.t.Helper()
	var refusal *automation.AccountRefusal
	if !errors.As(err, &refusal) || refusal.Code != want {
		b.t.Errorf("%s: %v, want %s", name, err, want)
	}
	if l, err := b.store.SystemLogin(b.t.Context(), id); err != nil || l.Sealed != "" {
		b.t.Errorf("%s: something was connected all the same (%v)", name, err)
	}
}

// An answer counts once, for ten minutes, for the person who began and with its own state; anything else connects nothing.
func TestAnAnswerThatIsNotOursConnectsNothing(t *testing.T) {
	eachBranch(t, func(t *testing.T, b *branch) {
		id := b.unconnected("Vault")
		finish := func(by work.Actor, q url.Values) error {
			_, err := b.con.FinishAccount(t.Context(), by, q)
			return err
		}
		with := func(q url.Values, name, value string) url.Values {
			q.Set(name, value)
			return q
		}
		b.refused("nothing", id, automation.AccountState, finish(boss, url.Values{}))
		b.refused("another state", id, automation.AccountState, finish(boss, with(b.agree(id), "state", strings.Repeat("0", 64))))
		q := b.agree(id)
		b.refused("a longer state", id, automation.AccountState, finish(boss, with(q, "state", q.Get("state")+"0")))
		q = b.agree(id)
		b.refused("somebody else", id, automation.AccountPerson, finish(chief, q))
		b.refused("after somebody else had it", id, automation.AccountState, finish(boss, q))
		if err := finish(ada, b.agree(id)); !errors.Is(err, automation.ErrNotAdmin) {
			t.Errorf("no admin: %v", err)
		}
		b.vault.Set(func(s *accounttest.Behaviour) { s.Deny = "access_denied" })
		q = b.agree(id)
		b.refused("denied", id, automation.AccountDenied, finish(boss, q))
		b.refused("denied, once more", id, automation.AccountState, finish(boss, q))
		b.vault.Set(func(s *accounttest.Behaviour) { s.Deny = "" })
		q = b.agree(id)
		b.clock.advance(10*time.Minute + time.Second)
		b.refused("too late", id, automation.AccountState, finish(boss, q))
		b.refused("no code", id, automation.AccountExchange, finish(boss, with(b.agree(id), "code", "")))
		b.refused("another code", id, automation.AccountExchange, finish(boss, with(b.agree(id), "code", "guessed")))
		q = b.agree(id)
		b.refused("another verifier", id, automation.AccountExchange, finish(boss, with(b.agree(id), "code", q.Get("code"))))
		b.vault.Set(func(s *accounttest.Behaviour) { s.Down = true })
		b.refused("it is down", id, automation.AccountExchange, finish(boss, b.agree(id)))
		b.vault.Set(func(s *accounttest.Behaviour) { s.Down = false })
		q = b.agree(id)
		d := b.vaultDraft("Vault")
		d.Settings["client_id"] = "another-client"
		if _, err := b.con.Change(t.Context(), boss, id, d); err != nil {
			t.Fatal(err)
		}
		b.refused("another client by now", id, automation.AccountChanged, finish(boss, q))
		if _, err := b.con.Change(t.Context(), boss, id, b.vaultDraft("Vault")); err != nil {
			t.Fatal(err)
		}
		// And the one that is ours, once.
		q = b.agree(id)
		if err := finish(boss, q); err != nil {
			t.Fatal(err)
		}
		exchanges := b.vault.Counts().Exchanges
		var refusal *automation.AccountRefusal
		if err := finish(boss, q); !errors.As(err, &refusal) || refusal.Code != automation.AccountState || b.vault.Counts().Exchanges != exchanges {
			t.Errorf("twice: %v", err)
		}
		s := b.system(id)
		if s.Settings["book"] != "north" || s.Settings["tenant"] != "t-1" || s.Identity != "north" || s.LoginProblem != "" {
			t.Errorf("%+v", s)
		}
	})
}

// What was told on the way back goes to the address that the login came from, and to no other.
func TestTheCodeGoesNowhereElse(t *testing.T) {
	eachBranch(t, func(t *testing.T, b *branch) {
		seen := 0
		thief := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { seen++ }))
		defer thief.Close()
		sends := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, thief.URL, http.StatusTemporaryRedirect)
		}))
		defer sends.Close()
		d := b.vaultDraft("Vault")
		d.Address = sends.URL
		id, _, err := b.con.Add(t.Context(), boss, d)
		if err != nil {
			t.Fatal(err)
		}
		away, err := b.con.BeginAccount(t.Context(), boss, id, answerAddress)
		if err != nil {
			t.Fatal(err)
		}
		u, err := url.Parse(away.URL)
		if err != nil {
			t.Fatal(err)
		}
		_, err = b.con.FinishAccount(t.Context(), boss, url.Values{"state": {u.Query().Get("state")}, "code": {"s3cret-code"}})
		b.refused("a redirect", id, automation.AccountExchange, err)
		if seen != 0 {
			t.Error("the code was sent on")
		}
	})
}

// Other books than before are refused; so are books that are connected already. Of several the person chooses, once.
func TestALoginIsForItsBooks(t *testing.T) {
	eachBranch(t, func(t *testing.T, b *branch) {
		north, south := ledger.Book{ID: "north", Name: "North Ltd"}, ledger.Book{ID: "south", Name: "South Ltd"}
		reaches := func(books ...ledger.Book) {
			b.vault.Set(func(s *accounttest.Behaviour) { s.Books = books })
		}
		reaches(north, south)
		id := b.unconnected("Vault")
		done, err := b.con.FinishAccount(t.Context(), boss, b.agree(id))
		if err != nil || done.Choose == "" {
			t.Fatalf("%+v %v", done.SystemID, err)
		}
		if has, err := b.con.Books(t.Context(), boss, id, done.Choose); err != nil || len(has.Books) != 2 || has.System != "Vault" {
			t.Errorf("%+v %v", has, err)
		}
		_, err = b.con.Books(t.Context(), chief, id, done.Choose)
		b.refused("somebody else looks", id, automation.AccountPerson, err)
		b.refused("somebody else chooses", id, automation.AccountPerson, b.con.ChooseBooks(t.Context(), chief, id, done.Choose, "south"))
		b.refused("what is not there", id, automation.AccountOtherBooks, b.con.ChooseBooks(t.Context(), boss, id, done.Choose, "east"))
		b.refused("a guess", id, automation.AccountState, b.con.ChooseBooks(t.Context(), boss, id, strings.Repeat("0", 64), "south"))
		if err := b.con.ChooseBooks(t.Context(), boss, id, done.Choose, "south"); err != nil {
			t.Fatal(err)
		}
		var refusal *automation.AccountRefusal
		if err := b.con.ChooseBooks(t.Context(), boss, id, done.Choose, "north"); !errors.As(err, &refusal) || refusal.Code != automation.AccountState {
			t.Errorf("chosen twice: %v", err)
		}
		was, err := b.store.SystemLogin(t.Context(), id)
		if err != nil || b.system(id).Identity != "south" {
			t.Fatal(err)
		}
		// Connected again: the same books without asking, others not at all, and what works stays.
		for name, c := range map[string]struct {
			books []ledger.Book
			want  automation.AccountCode
		}{"other books": {[]ledger.Book{north}, automation.AccountOtherBooks}, "no books": {nil, automation.AccountNoBooks}} {
			reaches(c.books...)
			_, err := b.con.FinishAccount(t.Context(), boss, b.agree(id))
			if now, loadErr := b.store.SystemLogin(t.Context(), id); !errors.As(err, &refusal) || refusal.Code != c.want || loadErr != nil || now.Sealed != was.Sealed || now.Version != was.Version {
				t.Errorf("%s: %v %v", name, err, loadErr)
			}
		}
		reaches(north, south)
		b.connect(id)
		if s := b.system(id); s.Settings["book"] != "south" || s.Identity != "south" {
			t.Errorf("%+v", s)
		}
		second := b.unconnected("Second")
		reaches(south)
		_, err = b.con.FinishAccount(t.Context(), boss, b.agree(second))
		if b.refused("connected already", second, automation.AccountTried, err); errors.As(err, &refusal) && (refusal.Tried == nil || refusal.Tried.Problem != automation.TryTwice || refusal.Tried.Same != "Vault") {
			t.Errorf("%+v", refusal.Tried)
		}
	})
}

// A login stays with the client and the place that it was given for: a change of them takes it off, and it is never sent there.
func TestALoginDoesNotFollowAChangedConnection(t *testing.T) {
	eachBranch(t, func(t *testing.T, b *branch) {
		id := b.connected("Vault")
		seen := ""
		evil := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { seen += r.Header.Get("Authorization") + r.URL.Path }))
		defer evil.Close()
		d := b.vaultDraft("Vault")
		d.Settings["book"] = "north"
		d.Secrets = map[string]string{}
		d.Name = "Vault UK" // a name, and a replaced secret, change nothing about the login
		if tried, err := b.con.Change(t.Context(), boss, id, d); err != nil || tried.Problem != automation.TryWorks || b.system(id).LoginProblem != "" {
			t.Fatalf("%+v %v", tried, err)
		}
		d.Address, d.Secrets["client_secret"] = evil.URL, accounttest.ClientSecret
		if tried, err := b.con.Try(t.Context(), boss, id, d); err != nil || tried.Problem != automation.TryAccount || seen != "" {
			t.Errorf("a test: %+v %v; seen there: %q", tried, err, seen)
		}
		if l, err := b.store.SystemLogin(t.Context(), id); err != nil || l.Sealed == "" {
			t.Errorf("a test took the login off: %v", err)
		}
		if tried, err := b.con.Change(t.Context(), boss, id, d); err != nil || tried.Problem != automation.TryAccount || seen != "" {
			t.Errorf("a change: %+v %v; seen there: %q", tried, err, seen)
		}
		s := b.system(id)
		if l, err := b.store.SystemLogin(t.Context(), id); err != nil || l.Sealed != "" || !automation.AwaitsAccount(s.LoginProblem) || !s.Rules().NoSends {
			t.Errorf("the login stayed: %q %v", s.LoginProblem, err)
		}
		if _, err := b.con.Connect(s); !errors.Is(err, ledger.ErrLoginRefused) || seen != "" {
			t.Errorf("%v; seen there: %q", err, seen)
		}
	})
}

// Only admins connect and disconnect, and only what logs in so; a form that cannot be used says which field is wrong.
func TestWhoConnectsAnAccount(t *testing.T) {
	eachBranch(t, func(t *testing.T, b *branch) {
		id, plain := b.connected("Vault"), b.add("Books", "search")
		for _, by := range []work.Actor{{}, ada, {Kind: work.Person, ID: "3", Roles: []work.Role{work.Viewer, work.Ops, work.Operator}}} {
			_, beginErr := b.con.BeginAccount(t.Context(), by, id, answerAddress)
			_, finishErr := b.con.FinishAccount(t.Context(), by, b.agree(id))
			_, booksErr := b.con.Books(t.Context(), by, id, "x")
			for _, err := range []error{beginErr, finishErr, booksErr, b.con.ChooseBooks(t.Context(), by, id, "x", "y"), b.con.DisconnectAccount(t.Context(), by, id)} {
				if !errors.Is(err, automation.ErrNotAdmin) {
					t.Errorf("%+v may: %v", by, err)
				}
			}
		}
		if _, err := b.con.BeginAccount(t.Context(), boss, plain, answerAddress); !errors.Is(err, automation.ErrNoAccount) {
			t.Error(err)
		}
		if err := b.con.DisconnectAccount(t.Context(), boss, "nothing"); !errors.Is(err, automation.ErrUnknownSystem) {
			t.Error(err)
		}
		d := b.vaultDraft("Third")
		d.Settings["client_id"] = "broken"
		var bad automation.BadFields
		if _, _, err := b.con.Add(t.Context(), boss, d); !errors.As(err, &bad) || bad["client_id"] != "this client ID cannot be used" {
			t.Error(err)
		}
		if err := b.con.DisconnectAccount(t.Context(), boss, id); err != nil {
			t.Fatal(err)
		}
		b.connect(id)
		changes, err := b.store.SystemChanges(t.Context(), id, 100)
		if err != nil {
			t.Fatal(err)
		}
		var what []string
		for _, ch := range changes {
			what = append(what, ch.What+" by "+ch.By.Name)
		}
		if got := strings.Join(what, ", "); got != "account reconnected by Boss, account disconnected by Boss, account connected by Boss, system added by Boss" {
			t.Errorf("on record: %s", got)
		}
	})
}
