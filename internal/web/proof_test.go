package web

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"onefold/internal/automation"
	"onefold/internal/automation/proof"
	"onefold/internal/store"
	"onefold/internal/store/storetest"
	"onefold/internal/work"
	"onefold/web/templates"
)

// prover carries out the proofs of a site at once: its clock only moves when it waits.
func (e *emptySite) prover(t *testing.T) proof.Runner {
	var mu sync.Mutex
	ahead := time.Duration(0)
	now := func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		return time.Now().Add(ahead)
	}
	return proof.Runner{Store: e.store, Connections: e.con, CompanyID: 1, Node: "a", Now: now,
		Wait: func(_ context.Context, d time.Duration) { mu.Lock(); ahead += d; mu.Unlock() },
		Ledger: func(ctx context.Context, now func() time.Time) (proof.Ledger, error) {
			return store.Open(ctx, store.Config{URL: storetest.SQLite(t).URL, Clock: now})
		}}
}

// books connects books of the sandbox that are declared to be of a kind.
func (e *emptySite) books(t *testing.T, address, kind string) {
	t.Helper()
	d := automation.Draft{Adapter: "sandbox", Name: "Acme's books", Address: e.url + "/" + address, Secrets: map[string]string{"token": booksToken},
		Settings: map[string]string{"personality": kind, "search_lag": "0s", "linger": "1s", "misses": "1"}}
	if _, tried, err := e.con.Add(t.Context(), work.Actor{Kind: work.Person, ID: "9", Name: "Boss", Roles: []work.Role{work.Admin}}, d); err != nil || tried.Problem != "" {
		t.Fatalf("%+v %v", tried, err)
	}
}

const proofsOfBooks = "/systems/acme-s-books/proofs"

// An admin proves a system without any script: what is typed wrong is named and kept, the report tells each step, what it
// left and what is better not relied on, and only that can be taken over.
func TestProvingASystem(t *testing.T) {
	e := newEmptySite(t)
	e.books(t, "blind", "keys") // it declares that it recognises repeats, and does not
	b := e.signIn("admin")
	if page := b.get("/systems/acme-s-books"); !strings.Contains(page.body, `href="`+proofsOfBooks+`"`) || !strings.Contains(page.visible(), "It was never proven against these books.") {
		t.Fatal(page.visible())
	}
	if page := b.get("/systems"); !strings.Contains(page.visible(), "Last provennever") {
		t.Error(page.visible())
	}
	page := b.get(proofsOfBooks)
	for _, want := range []string{"Prove Acme's books", "These are test books", "This system was never proven."} {
		if !strings.Contains(page.visible(), want) {
			t.Errorf("%q is missing: %s", want, page.visible())
		}
	}
	a := b.post(proofsOfBooks, page.filled(proofsOfBooks, "customer", "C-TEST", "amount", "0", "currency", "EUR"))
	if a.status != http.StatusUnprocessableEntity || !strings.Contains(a.visible(), templates.Proofs.Refusal["amount"]) || !strings.Contains(a.body, `value="C-TEST"`) {
		t.Fatalf("%d %s", a.status, a.visible())
	}
	a = b.post(proofsOfBooks, a.filled(proofsOfBooks, "amount", "1.00"))
	address, _, begun := strings.Cut(a.location, "?did=begun")
	if !begun {
		t.Fatalf("%d %s", a.status, a.visible())
	}
	if page := b.get(a.location); !strings.Contains(page.visible(), "The proof has begun.") || !strings.Contains(page.body, `data-live="bulk"`) {
		t.Error(page.visible())
	}
	if page := b.get(proofsOfBooks); !strings.Contains(page.body, `href="`+address+`"`) || page.form(proofsOfBooks) != nil {
		t.Errorf("a second one can be begun: %s", page.visible())
	}
	if err := e.prover(t).RunOnce(t.Context()); err != nil {
		t.Fatal(err)
	}
	page = b.get(address)
	for _, want := range []string{"Not proven: at least one step failed.", "A second invoice was made", "What is left in the books", "ONEFOLD-PROOF-", "repeats will not be relied on", "Be more cautious"} {
		if !strings.Contains(page.visible(), want) {
			t.Errorf("%q is missing: %s", want, page.visible())
		}
	}
	if strings.Contains(page.body, `data-live`) {
		t.Error("it ended, and the page goes on asking")
	}
	a = b.post(address+"/caution", page.form(address+"/caution"))
	if page = b.get(a.location); !strings.Contains(page.visible(), "The more cautious values are in use") || page.form(address+"/caution") != nil {
		t.Fatal(page.visible())
	}
	sys, err := e.store.System(t.Context(), "acme-s-books")
	if err != nil || sys.ReliedOn().HonoursKeys || !sys.Capabilities.HonoursKeys {
		t.Fatalf("%+v %v", sys, err)
	}
	if page := b.get("/systems/acme-s-books"); !strings.Contains(page.visible(), "repeats will not be relied on") || !strings.Contains(page.visible(), "Relies on less in a system after a proof") {
		t.Error(page.visible())
	}
	for _, wrong := range []string{proofsOfBooks + "/99", proofsOfBooks + "/x", "/systems/other/proofs/1", "/systems/other/proofs"} {
		if page := b.get(wrong); page.status != http.StatusNotFound {
			t.Errorf("%s: %d", wrong, page.status)
		}
	}
}

// Every step and everything that a step may say has words.
func TestProofsHaveWords(t *testing.T) {
	w := templates.Proofs
	for _, name := range proof.StepNames {
		if w.Steps[name] == "" {
			t.Errorf("the step %s has no words", name)
		}
	}
	for _, code := range proof.Codes {
		if w.Says[code] == "" {
			t.Errorf("%s has no words", code)
		}
	}
	for _, state := range []proof.State{proof.Waiting, proof.Running, proof.Proven, proof.Failed, proof.NotPossible, proof.Interrupted} {
		if w.Result[string(state)] == "" || w.Badge[string(state)] == "" || w.Sign[string(state)] == "" {
			t.Errorf("%s has no words", state)
		}
	}
	for _, code := range []string{proof.WhyCustomer, proof.WhyAmount, proof.WhyConsent, proof.WhyNoDrafts, proof.WhyPaused, proof.WhyAdapter} {
		if w.Refusal[code] == "" {
			t.Errorf("%s has no words", code)
		}
	}
}

// An admin proves a system in the browser: the report grows by itself until it says that the system is proven.
func TestBrowserProvesASystem(t *testing.T) {
	t.Parallel()
	e := newEmptySite(t)
	e.books(t, "unique", "unique")
	ctx := chrome(t)
	b := tab{t, ctx}
	shown := func(name string) {
		t.Helper()
		for _, l := range looks {
			shootThis(t, ctx, name, l)
		}
		run(t, ctx, looks[0].set())
	}
	b.do(signInOn(e.URL, "admin"), goTo(e.URL+"/systems/acme-s-books", ".abilities"), chromedp.Click(css(".abilities ~ p a.button")), chromedp.WaitVisible(css("#prove")))
	shown("proof-new")
	b.do(chromedp.SendKeys(css("#f-customer"), "C-TEST"), chromedp.SendKeys(css("#f-currency"), "EUR"), chromedp.Click(css("#prove button.main")), chromedp.WaitVisible(css("[data-live]")))
	b.shows("The proof has begun.", "Waiting")
	shown("proof-waiting")
	if err := e.prover(t).RunOnce(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.do(chromedp.WaitNotPresent(css("[data-live]"))) // nobody pressed anything
	b.shows("Proven: a lost answer leaves exactly one invoice, and a refusal creates nothing.", "and the search shows exactly one", "What is left in the books")
	shown("proof-proven")
	b.do(goTo(e.URL+"/systems/acme-s-books", ".abilities"))
	b.shows("Proven ", "Prove it again")
	shoot(t, ctx, "proof-earlier", e.URL+proofsOfBooks)
	run(t, ctx, looks[0].set())
	e.liar(t, b)
	shown("proof-failed")
}

// liar connects books that are not what they declare, proves them, and opens the report.
func (e *emptySite) liar(t *testing.T, b tab) {
	t.Helper()
	d := automation.Draft{Adapter: "sandbox", Name: "Liar", Address: e.url + "/blind", Secrets: map[string]string{"token": booksToken}, Settings: map[string]string{"personality": "keys", "linger": "1s"}}
	boss := work.Actor{Kind: work.Person, ID: "9", Name: "Boss", Roles: []work.Role{work.Admin}}
	if _, tried, err := e.con.Add(t.Context(), boss, d); err != nil || tried.Problem != "" {
		t.Fatalf("%+v %v", tried, err)
	}
	r, err := proof.Service{Store: e.store, Connections: e.con, CompanyID: 1}.Begin(t.Context(), boss, "liar", proof.Wish{Customer: "C-TEST", Currency: "EUR"})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.prover(t).RunOnce(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.do(goTo(e.URL+proofPath(r), "#adopt"))
}
