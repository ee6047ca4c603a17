package review_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"onefold/internal/review"
	"onefold/internal/store"
	"onefold/internal/store/storetest"
	"onefold/internal/work"
)

// mortal is the database of a server that dies: at its n-th write it is killed, before the write or right after it, and
// from then on nothing of it reaches the database.
type mortal struct {
	*store.Store
	n     int
	after bool
	dead  bool
}

var errKilled = errors.New("killed")

// write reports whether the write happens and whether its answer arrives.
func (m *mortal) write() (happens, answers bool) {
	if m.dead {
		return false, false
	}
	m.n--
	m.dead = m.n == 0
	return !m.dead || m.after, !m.dead
}

func (m *mortal) Change(ctx context.Context, pick work.Pick, decide func(now time.Time, picked []work.Picked) ([]work.Move, error)) ([]work.Move, error) {
	happens, answers := m.write()
	if !happens {
		return nil, errKilled
	}
	moves, err := m.Store.Change(ctx, pick, decide)
	if !answers {
		return nil, errKilled
	}
	return moves, err
}

func (m *mortal) SaveBulk(ctx context.Context, id int64, updates []review.BulkUpdate) error {
	return m.do(func() error { return m.Store.SaveBulk(ctx, id, updates) })
}

func (m *mortal) EndBulk(ctx context.Context, id int64, state review.BulkState) error {
	return m.do(func() error { return m.Store.EndBulk(ctx, id, state) })
}

func (m *mortal) ReleaseBulk(ctx context.Context, id int64, node string) error {
	if m.dead {
		return errKilled
	}
	return m.Store.ReleaseBulk(ctx, id, node)
}

func (m *mortal) Now(ctx context.Context) (time.Time, error) {
	if m.dead {
		return time.Time{}, errKilled
	}
	return m.Store.Now(ctx)
}

func (m *mortal) do(f func() error) error {
	happens, answers := m.write()
	if !happens {
		return errKilled
	}
	if err := f(); err != nil {
		return err
	}
	if !answers {
		return errKilled
	}
	return nil
}

// A server is killed at every point of a run in turn, and another goes on: every item has one result, and nothing is done
// twice.
func TestAKilledServerLeavesNothingTwice(t *testing.T) {
	kills := 0
	for _, after := range []bool{false, true} {
		for n := 1; ; n++ {
			w := newBulkWorld(t, storetest.SQLite(t))
			ids := w.outage(8, func(ref string) bool { return ref < "OUT-00004" })
			run := w.start(w.preview(ids...), review.PlanRepair, review.Input{})
			first := w.runner
			dying := &mortal{Store: w.Store, n: n, after: after}
			w.runner.Store, w.runner.Node = dying, "dying"
			for range 60 {
				if w.run(run.ID).State.Ended() || dying.dead {
					break
				}
				_, _ = w.runner.RunOnce(t.Context())
				if dying.dead {
					break
				}
				w.engineOnly(1)
			}
			died := dying.dead
			w.runner = first
			if died {
				kills++
				w.step() // the other server waits until the lost one's time is over
				w.Later(3 * time.Minute)
			}
			run = w.until(run.ID)
			w.engineOnly(3)
			results := w.results(run)
			if run.Size != 8 || len(results) != 8 || run.Count(review.ClassTodo) != 0 || run.Tally[review.BulkFound] != 4 || run.Tally[review.BulkSent] != 4 || run.Looked != 8 {
				t.Fatalf("killed at write %d (after it: %t): %+v", n, after, run)
			}
			for i, id := range ids {
				acts, it := w.acts(id), w.Get(id)
				want := map[bool][2]int{true: {1, 0}, false: {0, 1}}[i < 4]
				if acts["check"] != 1 || acts["resolve"] != want[0] || acts["retry"] != want[1] || w.books.sends(it.Reference) != 1+want[1] {
					t.Fatalf("killed at write %d (after it: %t): %s has the acts %v and was sent %d times", n, after, it.BusinessKey, acts, w.books.sends(it.Reference))
				}
			}
			if !died {
				break
			}
		}
	}
	if kills < 8 {
		t.Errorf("only %d kills", kills)
	}
}

// A server that was frozen and wakes up beside its successor does nothing twice either.
func TestTwoServersAtOneRun(t *testing.T) {
	eachBulk(t, func(t *testing.T, w *bulkWorld) {
		ids := w.outage(60, func(ref string) bool { return ref < "OUT-00030" })
		run := w.start(w.preview(ids...), review.PlanRepair, review.Input{})
		other := w.runner
		other.Store, other.Node = unheld{w.Store}, "two"
		for range 60 {
			if w.run(run.ID).State.Ended() {
				break
			}
			var wg sync.WaitGroup
			for _, r := range []review.BulkRunner{w.runner, other} {
				wg.Go(func() { _, _ = r.RunOnce(t.Context()) }) // one may be told to try again
			}
			wg.Wait()
			w.engineOnly(1)
		}
		run = w.until(run.ID)
		w.engineOnly(3)
		if run.Tally[review.BulkFound] != 30 || run.Tally[review.BulkSent] != 30 || run.Looked != 60 || len(w.results(run)) != 60 {
			t.Errorf("%+v", run)
		}
		for i, id := range ids {
			acts, it := w.acts(id), w.Get(id)
			wantSends := 1
			if i >= 30 {
				wantSends = 2
			}
			if acts["check"] != 1 || acts["resolve"]+acts["retry"] != 1 || w.books.sends(it.Reference) != wantSends {
				t.Errorf("%s has the acts %v and was sent %d times", it.BusinessKey, acts, w.books.sends(it.Reference))
			}
		}
	})
}

// unheld is the database of a server that believes that it still holds every run.
type unheld struct{ *store.Store }

func (u unheld) HoldBulk(ctx context.Context, id int64, _ string, _ time.Duration) (review.BulkRun, bool, error) {
	run, err := u.Bulk(ctx, 1, id)
	return run, err == nil && !run.State.Ended(), err
}

func (u unheld) ReleaseBulk(context.Context, int64, string) error { return nil }

// The version before this one prepares a run while its form waits: one that was cut off never begins, and is on no list.
func TestAnOlderVersionsPreparationIsNotTakenOn(t *testing.T) {
	w := newBulkWorld(t, storetest.SQLite(t))
	id := w.One("K")
	run, _, err := w.AddBulk(t.Context(), review.BulkRun{CompanyID: 1, Form: "f", Plan: review.PlanHold, Input: review.Input{Note: "x"}, By: ada, BeganAt: w.Clock()})
	if err != nil {
		t.Fatal(err)
	}
	w.step()
	if got := w.run(run.ID); got.State != review.BulkPreparing {
		t.Errorf("it was touched while its server may be at it: %+v", got)
	}
	w.Later(time.Hour)
	w.step()
	if runs := must(w.bulk.Runs(t.Context(), ada, 0, 10)); len(runs) != 0 || w.Get(id).Status != work.Queued || w.run(run.ID).State != review.BulkAbandoned {
		t.Errorf("%d runs; the item is %s", len(runs), w.Get(id).Status)
	}
}

// trial 103: ten thousand items after an outage are worked off in small bites by servers that come and go, with little
// memory, while the pages stay quick; each is in the books once at the end.
func TestTrial103_TenThousandAfterAnOutage(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a while")
	}
	eachBulk(t, func(t *testing.T, w *bulkWorld) {
		const n = 10_000
		w.outage(n, func(ref string) bool { return ref < "OUT-05000" })
		q := review.Query{Tab: review.TabReview}
		began := time.Now()
		p, err := w.bulk.Preview(t.Context(), ada, review.BulkSet{Query: &q})
		if err != nil || p.Size != n {
			t.Fatalf("preview: %d, %v", p.Size, err)
		}
		previewed := time.Since(began)
		began = time.Now()
		run, _, err := w.bulk.Start(t.Context(), ada, review.NewBulkRun{Form: "f", Plan: review.PlanRepair, Query: &q, Seen: p.Seen, How: p.How, Previewed: p.Size})
		if err != nil {
			t.Fatal(err)
		}
		asked := time.Since(began)
		for w.run(run.ID).State == review.BulkPreparing {
			w.step()
		}
		if run = w.run(run.ID); run.Size != n {
			t.Fatalf("start: %+v", run)
		}
		frozen := time.Since(began)
		before, most := heap(), uint64(0)
		began = time.Now()
		steps, page := 0, time.Duration(0)
		for left := int64(n); !w.run(run.ID).State.Ended(); steps++ {
			w.runner.Node = fmt.Sprint("server ", steps/7) // as if it were restarted again and again
			w.work(1)
			if steps%10 != 0 {
				continue
			}
			most = max(most, heap())
			asked := time.Now()
			must(w.Search(t.Context(), review.Query{CompanyID: 1, Tab: review.TabReview, Limit: 50}))
			must(w.Counts(t.Context(), 1))
			page = max(page, time.Since(asked))
			now := w.run(run.ID).Count(review.ClassTodo)
			if steps > 10 && now >= left {
				t.Fatalf("nothing got on in ten steps: %d are left", now)
			}
			left = now
		}
		took := time.Since(began)
		w.engineOnly(3)
		run = w.run(run.ID)
		if run.Tally[review.BulkFound] != n/2 || run.Tally[review.BulkSent] != n/2 || run.Looked != n || len(w.books.holds) != n {
			t.Errorf("%+v; %d in the books", run, len(w.books.holds))
		}
		for ref, sent := range w.books.sent {
			if want := map[bool]int{true: 1, false: 2}[ref < "OUT-05000"]; sent != want {
				t.Fatalf("%s was sent %d times, not %d", ref, sent, want)
			}
		}
		grown := int64(most) - int64(before)
		if grown > 30<<20 || page > 2*time.Second {
			t.Errorf("the run holds %d MB, a page took %v", grown>>20, page)
		}
		t.Logf("%d items: preview %v, form %v, freezing %v, run %v in %d steps, slowest page %v, heap grew by at most %d kB", n, previewed, asked, frozen, took, steps, page, grown>>10)
	})
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
