package proof_test

import (
	"context"
	"io"
	"log/slog"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"onefold/internal/automation"
	"onefold/internal/automation/proof"
	"onefold/internal/ledger"
	"onefold/internal/ledger/sandbox"
	sandboxserver "onefold/internal/ledger/sandbox/server"
	"onefold/internal/store"
	"onefold/internal/store/storetest"
	"onefold/internal/work"
)

var boss = work.Actor{Kind: work.Person, ID: "9", Name: "Boss", Roles: []work.Role{work.Admin}}

// clock moves only when told to.
type clock struct {
	mu sync.Mutex
	t  time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.t
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t = c.t.Add(d)
}

// world is a database with one system, a fake or the sandbox, all under one clock.
type world struct {
	t       *testing.T
	clock   *clock
	store   *store.Store
	con     *automation.Connections
	runner  proof.Runner
	service proof.Service
	fake    *fake
	outside *sandboxserver.Server
	adapter ledger.Adapter
	told    []string
}

func newWorld(t *testing.T) *world {
	w := &world{t: t, clock: &clock{t: time.Date(2026, 11, 29, 9, 0, 0, 0, time.UTC)}}
	w.store = storetest.SQLite(t).Open(t, store.Config{Clock: w.clock.Now})
	w.fake = &fake{clock: w.clock, caps: work.Capabilities{Searchable: true, SearchLag: 2 * time.Second, Linger: 30 * time.Second, Misses: 2}, steps: []string{"create"}}
	w.adapter = ledger.Adapter{Name: "fake", Title: "Fake", TestBooks: func(work.System) bool { return true }, Connect: func(c ledger.Connection) (ledger.System, error) {
		s := session{w.fake, c.Lose, c.DraftsOnly}
		if w.fake.removes {
			return removing{s}, nil
		}
		return s, nil
	}}
	quiet := slog.New(slog.NewTextHandler(io.Discard, nil))
	w.con = &automation.Connections{Store: w.store, Now: w.clock.Now, Log: quiet}
	w.runner = proof.Runner{Store: w.store, Connections: w.con, CompanyID: 1, Node: "a", Now: w.clock.Now, Log: quiet,
		Wait: func(_ context.Context, d time.Duration) { w.clock.advance(d) },
		Told: func(_ proof.Run, s proof.Step) { w.told = append(w.told, s.Name+" "+string(s.State)) },
		Ledger: func(ctx context.Context, now func() time.Time) (proof.Ledger, error) {
			return store.Open(ctx, store.Config{URL: storetest.SQLite(t).URL, Clock: now})
		}}
	w.service = proof.Service{Store: w.store, Connections: w.con, CompanyID: 1}
	return w
}

// declare connects the fake as it is set up now.
func (w *world) declare() {
	w.t.Helper()
	w.con.Adapters = []ledger.Adapter{w.adapter}
	w.must(w.store.DeclareSystem(w.t.Context(), work.System{ID: "books", CompanyID: 1, Name: "Acme's books", Adapter: "fake", Policy: work.DefaultPolicy(),
		Capabilities: w.fake.caps, Steps: w.fake.steps, Typed: w.adapter.Typed, MaxInFlight: 8}))
}

// sandbox connects books of the sandbox.
func (w *world) sandbox(p sandbox.Personality, settings map[string]string) {
	w.t.Helper()
	var err error
	w.outside, err = sandboxserver.New(sandboxserver.Options{Now: w.clock.Now, Books: []sandboxserver.Books{{Name: "books", Personality: p, SearchLag: lagOf(p),
		KeyLifetime: 24 * time.Hour, SingleStep: settings["single_step"] == "true"}}})
	w.must(err)
	h := httptest.NewServer(w.outside)
	w.t.Cleanup(func() { h.Close(); _ = w.outside.Close() })
	set := map[string]string{"personality": string(p), "search_lag": lagOf(p).String()}
	for name, v := range settings {
		set[name] = v
	}
	w.con.Adapters = []ledger.Adapter{sandbox.Adapter}
	sys, err := w.con.Declared(work.System{ID: "books", CompanyID: 1, Name: "Acme's books", Adapter: "sandbox", Address: h.URL + "/books", Policy: work.DefaultPolicy(),
		Settings: set, MaxInFlight: 8})
	w.must(err)
	w.must(w.store.DeclareSystem(w.t.Context(), sys))
}

func lagOf(p sandbox.Personality) time.Duration {
	if p == sandbox.Search {
		return 2 * time.Second
	}
	return 0
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func wish() proof.Wish { return proof.Wish{Customer: "C-TEST", Currency: "EUR"} }

// prove begins a run and carries it out.
func (w *world) prove(wish proof.Wish) proof.Run {
	w.t.Helper()
	r, err := w.service.Begin(w.t.Context(), boss, "books", wish)
	w.must(err)
	w.must(w.runner.RunOnce(w.t.Context()))
	r, err = w.service.One(w.t.Context(), boss, r.ID)
	w.must(err)
	return r
}

func (w *world) system() work.System {
	w.t.Helper()
	s, err := w.store.System(w.t.Context(), "books")
	w.must(err)
	return s
}

// step is how a step ended, as "state code".
func step(r proof.Run, name string) string {
	for _, s := range r.Steps {
		if s.Name == name {
			return string(s.State) + " " + s.Says
		}
	}
	return "none"
}

// wants checks how steps ended.
func wants(t *testing.T, r proof.Run, state proof.State, want map[string]string) {
	t.Helper()
	if r.State != state {
		t.Errorf("it ended as %s, not %s", r.State, state)
	}
	for name, says := range want {
		if got := step(r, name); got != says {
			t.Errorf("%s: %q, not %q", name, got, says)
		}
	}
	for _, s := range r.Steps {
		if !slices.Contains(proof.Codes, s.Says) {
			t.Errorf("%s says %q, for which there are no words", s.Name, s.Says)
		}
	}
	if t.Failed() {
		for _, s := range r.Steps {
			t.Logf("%-9s %-12s %-24s %v", s.Name, s.State, s.Says, s.Vals)
		}
	}
}

// fake is an accounting system that does what its fields say, whatever its capabilities declare.
type fake struct {
	clock *clock
	caps  work.Capabilities
	steps []string

	lag         time.Duration // how long a record really stays invisible
	upper       bool          // references come back in capitals
	hidesDrafts bool          // the search leaves drafts out
	honours     bool          // keys
	unique      bool          // references
	refuses     bool          // an unknown customer
	finds       bool          // what never existed
	deaf        bool          // it does not let its answers be lost
	removes     bool
	stop        func() // called before each send; may be nil

	mu   sync.Mutex
	held []record
	keys map[string]int
}

type record struct {
	work.Record
	from time.Time
}

// session is one connection to it.
type session struct {
	*fake
	lose   func() bool
	drafts bool
}

func (f session) Capabilities() work.Capabilities { return f.caps }

func (f session) Steps() []string {
	if f.drafts {
		return f.steps[:1]
	}
	return f.steps
}

func (session) Identity(context.Context) (string, error) { return "acme", nil }

func (f session) Send(_ context.Context, req ledger.Request) work.Answer {
	b := f.fake
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.stop != nil {
		b.stop()
	}
	a := b.answer(req, f.drafts)
	if !b.deaf && f.lose != nil && f.lose() {
		return work.Answer{Outcome: work.Unknown, Exchange: work.Exchange{Error: "the answer was lost"}}
	}
	return a
}

func (f *fake) answer(req ledger.Request, draft bool) work.Answer {
	if req.Step == "post" {
		for i := range f.held {
			if f.held[i].ID == req.PreviousRecordID {
				f.held[i].State = work.StatePosted
				return work.Answer{Outcome: work.Accepted, Record: f.held[i].Record}
			}
		}
		return work.Answer{Outcome: work.Rejected, Exchange: work.Exchange{Error: "refused: no such record"}}
	}
	if f.refuses && strings.Contains(req.Invoice.CustomerID, "NO-SUCH") {
		return work.Answer{Outcome: work.Rejected, Exchange: work.Exchange{HTTPStatus: 422, Error: "refused: no such customer"}}
	}
	if i, known := f.keys[req.Key]; f.honours && known {
		return work.Answer{Outcome: work.Accepted, Record: f.held[i].Record}
	}
	if f.unique {
		for _, h := range f.held {
			if h.Reference == req.Reference {
				return work.Answer{Outcome: work.AlreadyExists, Record: work.Record{ID: h.ID}}
			}
		}
	}
	r := work.Record{ID: "rec-" + time.Duration(len(f.held)+1).String(), Reference: req.Reference, Customer: req.Invoice.CustomerID, Total: req.Invoice.Total, State: work.StatePosted}
	if f.upper {
		r.Reference = strings.ToUpper(r.Reference)
	}
	if draft || len(f.steps) > 1 {
		r.State = work.StateDraft
	}
	if f.keys == nil {
		f.keys = map[string]int{}
	}
	f.keys[req.Key] = len(f.held)
	f.held = append(f.held, record{r, f.clock.Now().Add(f.lag)})
	return work.Answer{Outcome: work.Accepted, Record: r}
}

func (f session) Find(_ context.Context, q ledger.Query) (found ledger.Found) {
	b := f.fake
	b.mu.Lock()
	defer b.mu.Unlock()
	found.Searched = true
	if b.finds {
		found.Records = []work.Record{{ID: "rec-0", Reference: q.Reference, State: work.StatePosted}}
	}
	for _, h := range b.held {
		if !strings.EqualFold(h.Reference, q.Reference) || b.clock.Now().Before(h.from) || h.State == work.StateDraft && (b.hidesDrafts || q.Step == "post") {
			continue
		}
		found.Records = append(found.Records, h.Record)
	}
	return found
}

// count is how many records there are under references that hold the mark.
func (f *fake) count(mark string) (n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, h := range f.held {
		if strings.Contains(strings.ToUpper(h.Reference), mark) {
			n++
		}
	}
	return n
}

// removing takes back what it made.
type removing struct{ session }

func (r removing) Remove(_ context.Context, id string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, h := range r.held {
		if h.ID == id {
			r.held[i].State = work.StateVoid
		}
	}
	return nil
}
