package review_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strconv"
	"sync"
	"testing"
	"time"

	"onefold/internal/automation"
	"onefold/internal/ledger"
	"onefold/internal/review"
	rt "onefold/internal/review/reviewtest"
	"onefold/internal/store/storetest"
	"onefold/internal/work"
)

// books is an accounting system that can be steered. It lists what it was sent.
type books struct {
	mu    sync.Mutex
	holds map[string]work.Record // by reference
	sent  map[string]int
	blind bool                   // it cannot be searched at the moment
	lost  bool                   // it takes what is sent, and its answers are lost
	store func(key string) bool  // of what is sent while answers are lost: whether it is stored; nil: all
	other map[string]work.Record // a second record of a reference
}

func newBooks() *books {
	return &books{holds: map[string]work.Record{}, sent: map[string]int{}, other: map[string]work.Record{}}
}

func (b *books) Capabilities() work.Capabilities { return work.Capabilities{Searchable: true} }
func (b *books) Steps() []string                 { return []string{"create"} }

func (b *books) Identity(context.Context) (string, error) { return "Books of Acme", nil }

func (b *books) Send(_ context.Context, req ledger.Request) work.Answer {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sent[req.Reference]++
	rec := recordOf(req.Reference, req.Invoice)
	rec.ID += "-" + strconv.Itoa(b.sent[req.Reference])
	if !b.lost || b.store == nil || b.store(req.Reference) {
		b.holds[req.Reference] = rec
	}
	if b.lost {
		return rt.NoAnswer
	}
	return work.Answer{Outcome: work.Accepted, Record: rec, Exchange: work.Exchange{HTTPStatus: 201, Identity: "Books of Acme"}}
}

func recordOf(reference string, v work.Invoice) work.Record {
	return work.Record{ID: "id-" + reference, Number: "NO-" + reference, Reference: reference, Customer: v.CustomerID, Total: v.Total, State: work.StatePosted}
}

func (b *books) Find(_ context.Context, q ledger.Query) ledger.Found {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.blind {
		return ledger.Found{Exchange: work.Exchange{HTTPStatus: 503, Error: "could not check"}}
	}
	f := ledger.Found{Searched: true, Exchange: work.Exchange{HTTPStatus: 200, Identity: "Books of Acme"}}
	for _, m := range []map[string]work.Record{b.holds, b.other} {
		if r, ok := m[q.Reference]; ok {
			f.Records = append(f.Records, r)
		}
	}
	return f
}

// sends is how often something was sent under the reference.
func (b *books) sends(reference string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.sent[reference]
}

// bulkWorld is a world with an accounting system, the engine and the bulk runs of one server.
type bulkWorld struct {
	*rt.World
	books  *books
	engine *automation.Engine
	bulk   *review.Bulk
	runner review.BulkRunner
	forms  int
}

func newBulkWorld(t *testing.T, db storetest.DB, set ...func(*work.System)) *bulkWorld {
	t.Helper()
	w := &bulkWorld{World: rt.New(t, db, append([]func(*work.System){func(s *work.System) {
		s.Policy.Misses, s.Policy.Lookups, s.Policy.Sends, s.MaxInFlight = 1, 2, 1, 500
	}}, set...)...), books: newBooks()}
	quiet := slog.New(slog.NewTextHandler(io.Discard, nil))
	w.engine = automation.NewEngine(automation.Config{Store: w.Store, Node: "one", Now: w.Clock, Log: quiet,
		Connect: func(work.System) (ledger.System, error) { return w.books, nil }})
	w.bulk = review.NewBulk(w.Store, 1)
	w.runner = review.BulkRunner{Store: w.Store, Node: "one", Log: quiet}
	return w
}

// eachBulk runs the test on both databases.
func eachBulk(t *testing.T, test func(t *testing.T, w *bulkWorld), set ...func(*work.System)) {
	t.Helper()
	storetest.Each(t, func(t *testing.T, db storetest.DB) { test(t, newBulkWorld(t, db, set...)) })
}

// work lets the engine and the bulk runs take turns for a time.
func (w *bulkWorld) work(rounds int) {
	w.T.Helper()
	for range rounds {
		w.step()
		if _, err := w.engine.RunOnce(w.T.Context()); err != nil {
			w.T.Fatal(err)
		}
		w.Later(5 * time.Second)
	}
}

func (w *bulkWorld) step() {
	w.T.Helper()
	if _, err := w.runner.RunOnce(w.T.Context()); err != nil {
		w.T.Fatal(err)
	}
}

// engineOnly lets the engine work alone.
func (w *bulkWorld) engineOnly(rounds int) {
	w.T.Helper()
	for range rounds {
		if _, err := w.engine.RunOnce(w.T.Context()); err != nil {
			w.T.Fatal(err)
		}
		w.Later(10 * time.Minute)
	}
}

// preview looks at ticked items.
func (w *bulkWorld) preview(ids ...int64) review.BulkPreview {
	w.T.Helper()
	p, err := w.bulk.Preview(w.T.Context(), ada, review.BulkSet{IDs: ids})
	if err != nil {
		w.T.Fatal(err)
	}
	return p
}

// start confirms what was previewed.
func (w *bulkWorld) start(p review.BulkPreview, plan review.Plan, in review.Input) review.BulkRun {
	w.T.Helper()
	w.forms++
	run, _, err := w.bulk.Start(w.T.Context(), ada, review.NewBulkRun{Form: fmt.Sprint("form ", w.forms), Plan: plan, Input: in, Items: p.Items, Seen: p.Seen, Previewed: p.Size})
	if err != nil {
		w.T.Fatal(err)
	}
	return run
}

func (w *bulkWorld) run(id int64) review.BulkRun {
	w.T.Helper()
	run, err := w.bulk.Run(w.T.Context(), ada, id)
	if err != nil {
		w.T.Fatal(err)
	}
	return run
}

// until lets all work until the run has ended.
func (w *bulkWorld) until(id int64) review.BulkRun {
	w.T.Helper()
	for range 200 {
		if run := w.run(id); run.State.Ended() {
			return run
		}
		w.work(1)
	}
	w.T.Fatalf("run %d does not end: %+v", id, w.run(id))
	return review.BulkRun{}
}

// results are the results of a run by item, in order.
func (w *bulkWorld) results(run review.BulkRun) map[int64]review.BulkResult {
	w.T.Helper()
	out := map[int64]review.BulkResult{}
	for after := 0; ; {
		lines, err := w.bulk.Results(w.T.Context(), ada, run, "", after, 200)
		if err != nil {
			w.T.Fatal(err)
		}
		if len(lines) == 0 {
			return out
		}
		for _, l := range lines {
			if _, twice := out[l.ItemID]; twice {
				w.T.Fatalf("item %d has two results", l.ItemID)
			}
			out[l.ItemID], after = l.BulkResult, l.N
		}
	}
}

// acts counts the acts of an item by what was done.
func (w *bulkWorld) acts(id int64) map[string]int {
	w.T.Helper()
	acts, err := w.Acts(w.T.Context(), id, 100)
	if err != nil {
		w.T.Fatal(err)
	}
	n := map[string]int{}
	for _, a := range acts {
		n[a.What]++
	}
	return n
}

// must is for what cannot fail.
func must[V any](v V, err error) V {
	if err != nil {
		panic(err)
	}
	return v
}
