package automation_test

import (
	"context"
	"database/sql"
	"fmt"
	_ "github.com/jackc/pgx/v5/stdlib"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/bojanz/currency"

	"onefold/internal/automation"
	"onefold/internal/ledger"
	"onefold/internal/store"
	"onefold/internal/store/storetest"
	"onefold/internal/work"
)

// world is one engine with its database and a steerable accounting system, all under one clock.
type world struct {
	t       *testing.T
	db      storetest.DB
	clock   *clock
	store   *store.Store
	stub    *stub
	connect ledger.System // nil: the stub
	engine  *automation.Engine
	system  work.System
	intake  automation.Intake
}

var quiet = slog.New(slog.NewTextHandler(io.Discard, nil))

// searchable is what most accounting systems let us rely on.
func searchable() work.Capabilities {
	return work.Capabilities{Searchable: true, Linger: 2 * time.Minute, Misses: 2, SearchLag: 10 * time.Second}
}

// keyed honours keys for a day and cannot be searched.
func keyed() work.Capabilities {
	return work.Capabilities{HonoursKeys: true, KeyLifetime: 24 * time.Hour, Linger: 2 * time.Minute}
}

type setup func(*work.System)

func sends(n int) setup { return func(s *work.System) { s.Policy.Sends = n } }

// eachWorld runs the test on both databases.
func eachWorld(t *testing.T, caps work.Capabilities, test func(*world), set ...setup) {
	t.Helper()
	storetest.Each(t, func(t *testing.T, db storetest.DB) {
		test(newWorld(t, db, caps, set...))
	})
}

func newWorld(t *testing.T, db storetest.DB, caps work.Capabilities, set ...setup) *world {
	t.Helper()
	return newWorldAt(t, db, newClock(), caps, set...)
}

func newWorldAt(t *testing.T, db storetest.DB, c *clock, caps work.Capabilities, set ...setup) *world {
	t.Helper()
	w := &world{t: t, db: db, clock: c, stub: newStub(c, caps)}
	w.store = db.Open(t, store.Config{Clock: c.Now, Node: "a"})
	w.system = work.System{ID: "books", CompanyID: 1, Name: "Books", Adapter: "stub", Policy: work.DefaultPolicy(), Capabilities: caps,
		Steps: w.stub.steps, MaxInFlight: 50}
	w.system.Policy.Settle = 0 // the system's own floor decides
	for _, s := range set {
		s(&w.system)
	}
	w.stub.steps = w.system.Steps
	w.must(w.store.DeclareSystem(t.Context(), w.system))
	for _, name := range []string{"monthly", "by-hand", "invoices"} {
		w.must(w.store.AllowUnproven(t.Context(), 1, name, []string{"books"}, work.Actor{Kind: work.Console, ID: "test"}))
	}
	w.engine = w.newEngine("a")
	w.intake = automation.Intake{Store: w.store}
	return w
}

func (w *world) ledger(work.System) (ledger.System, error) {
	if w.connect != nil {
		return w.connect, nil
	}
	return w.stub, nil
}

func withCancel(t *testing.T) (context.Context, context.CancelFunc) {
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	t.Cleanup(stop)
	return ctx, stop
}

// newEngine is one more server on the same database.
func (w *world) newEngine(node string) *automation.Engine {
	return automation.NewEngine(automation.Config{Store: w.store, Node: node, Now: w.clock.Now, Log: quiet,
		Connect: w.ledger})
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func euros(t *testing.T, amount string) currency.Amount {
	t.Helper()
	a, err := currency.NewAmount(amount, "EUR")
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func (w *world) invoice(amount string) work.Invoice {
	return work.Invoice{CustomerID: "C-1", CustomerName: "Acme GmbH", Total: euros(w.t, amount)}
}

// record records items with these keys.
func (w *world) record(keys ...string) {
	w.t.Helper()
	var batch []work.New
	for _, k := range keys {
		batch = append(batch, work.New{CompanyID: 1, Automation: "monthly", BusinessKey: k, SystemID: "books", Steps: w.system.Steps,
			Invoice: w.invoice("100.00"), Source: "test", By: work.Actor{Kind: work.Automation, ID: "test"}})
	}
	_, err := w.intake.Record(w.t.Context(), batch)
	w.must(err)
}

func keys(n int) (out []string) {
	for i := range n {
		out = append(out, fmt.Sprintf("INV-2026-11-%04d", i+1))
	}
	return out
}

// once lets the engine do what is due at this moment.
func (w *world) once() automation.Stats {
	w.t.Helper()
	s, err := w.engine.RunOnce(w.t.Context())
	w.must(err)
	return s
}

// run lets time pass in small steps with the engine at work; they grow while it finds nothing that it may do.
func (w *world) run(d time.Duration) {
	w.t.Helper()
	const shortest, longest = time.Second, 8 * time.Second
	tick := shortest
	for end := w.clock.Now().Add(d); ; {
		tick = min(2*tick, longest)
		for w.once().Claimed > 0 {
			tick = shortest
		}
		now := w.clock.Now()
		if !now.Before(end) {
			return
		}
		next := now.Add(tick)
		if due, err := w.store.NextDue(w.t.Context(), "books"); err != nil {
			w.t.Fatal(err)
		} else if open, err := w.store.InFlight(w.t.Context()); err != nil {
			w.t.Fatal(err)
		} else if open["books"] == 0 && (due.IsZero() || due.After(next)) {
			next = minTime(end, orTime(due, end)) // nothing happens until then
		}
		w.clock.advance(next.Sub(now))
	}
}

func minTime(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

func orTime(t, other time.Time) time.Time {
	if t.IsZero() {
		return other
	}
	return t
}

// item reads the item of the first step.
func (w *world) item(key string) work.Item { return w.step(key, w.system.Steps[0]) }

func (w *world) step(key, step string) work.Item {
	w.t.Helper()
	it, ok := w.find(key, step)
	if !ok {
		w.t.Fatalf("no item %s step %s", key, step)
	}
	return it
}

func (w *world) find(key, step string) (it work.Item, ok bool) {
	w.t.Helper()
	pick := work.Pick{Keys: []work.PickKey{{CompanyID: 1, Automation: "monthly", FoldedKey: work.FoldKey(key), Step: step}}}
	_, err := w.store.Change(w.t.Context(), pick, func(_ time.Time, picked []work.Picked) ([]work.Move, error) {
		if len(picked) == 1 {
			it, ok = picked[0].Item, true
		}
		return nil, nil
	})
	w.must(err)
	return it, ok
}

// act applies a person's event through the write door.
func (w *world) act(key string, ev work.Event) error {
	w.t.Helper()
	it := w.item(key)
	var refused error
	_, err := w.store.Change(w.t.Context(), work.Pick{IDs: []int64{it.ID}}, func(now time.Time, picked []work.Picked) ([]work.Move, error) {
		m, err := work.Decide(picked[0].Item, ev, picked[0].Rules, now)
		if refused = err; err != nil {
			return nil, nil
		}
		return []work.Move{m}, nil
	})
	w.must(err)
	return refused
}

func (w *world) attempts(key string) []work.Attempt {
	w.t.Helper()
	rows, err := w.store.Attempts(w.t.Context(), w.item(key).ID, 0, 200)
	w.must(err)
	return rows // newest first
}

func (w *world) wantStatus(key string, want work.Status) work.Item {
	w.t.Helper()
	it := w.item(key)
	if it.Status != want {
		w.t.Fatalf("%s is %s (%s, %q), want %s", key, it.Status, it.Reason, it.LastError, want)
	}
	return it
}

func (w *world) wantReview(key string, why work.Reason) work.Item {
	w.t.Helper()
	it := w.wantStatus(key, work.Review)
	if it.Reason != why {
		w.t.Fatalf("%s needs a person because of %s (%q), want %s", key, it.Reason, it.LastError, why)
	}
	return it
}

// wantHeld asserts how many effects the accounting system holds, none twice.
func (w *world) wantHeld(n int) {
	w.t.Helper()
	most, all := w.stub.count()
	if most > 1 || all != n {
		w.t.Fatalf("the accounting system holds %d, %d for one key; want %d, at most one each", all, most, n)
	}
}

func (w *world) wantWrites(n int) {
	w.t.Helper()
	if got := w.stub.writes(); got != n {
		w.t.Fatalf("%d writes, want %d", got, n)
	}
}

var ada = work.Actor{Kind: work.Person, ID: "1", Name: "Ada", Roles: []work.Role{work.Operator}}

func background() context.Context { return context.Background() }

// newEngineOn is an engine on another view of the database.
func (w *world) newEngineOn(node string, s automation.Store) *automation.Engine {
	return automation.NewEngine(automation.Config{Store: s, Node: node, Now: w.clock.Now, Log: quiet,
		Connect: w.ledger})
}

// jumpingStore lets time jump after each claim, as it does for a process that is stopped and continued.
type jumpingStore struct {
	*store.Store
	after func()
}

func (s *jumpingStore) Change(ctx context.Context, pick work.Pick, decide func(time.Time, []work.Picked) ([]work.Move, error)) ([]work.Move, error) {
	moves, err := s.Store.Change(ctx, pick, decide)
	if pick.Due != nil {
		s.after()
	}
	return moves, err
}

// slowStore lets time pass while a claim waits for its turn.
type slowStore struct {
	*store.Store
	before func()
}

func (s *slowStore) Change(ctx context.Context, pick work.Pick, decide func(time.Time, []work.Picked) ([]work.Move, error)) ([]work.Move, error) {
	if pick.Due == nil {
		return s.Store.Change(ctx, pick, decide)
	}
	return s.Store.Change(ctx, pick, func(now time.Time, picked []work.Picked) ([]work.Move, error) {
		s.before()
		return decide(now, picked)
	})
}

// forget puts the item back as it was when it was recorded, as a database does that lost its last commits.
func (w *world) forget(it work.Item) {
	w.t.Helper()
	driver, url := "pgx", w.db.URL
	if w.db.Name == "sqlite" {
		driver, url = "sqlite", strings.TrimPrefix(w.db.URL, "sqlite:")
	}
	db, err := sql.Open(driver, url)
	w.must(err)
	defer db.Close()
	_, err = db.ExecContext(w.t.Context(), `UPDATE items SET version = 1, status = 'queued', attempts = 0, open_attempt = 0, open_kind = '', open_node = '',
		open_since = NULL, lease_until = NULL, before = '', sends = 0, sends_used = 0, first_sent_at = NULL, last_try_at = NULL, due_at = changed_at WHERE id = $1`, it.ID)
	w.must(err)
	_, err = db.ExecContext(w.t.Context(), `DELETE FROM attempts WHERE item_id = $1`, it.ID)
	w.must(err)
}
