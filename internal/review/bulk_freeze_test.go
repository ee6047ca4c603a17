package review_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"onefold/internal/review"
	rt "onefold/internal/review/reviewtest"
	"onefold/internal/store/storetest"
	"onefold/internal/work"
)

func (m *mortal) FillBulk(ctx context.Context, run review.BulkRun, items []review.BulkItem, left *review.Freezing) (after review.BulkRun, err error) {
	err = m.do(func() error { after, err = m.Store.FillBulk(ctx, run, items, left); return err })
	return after, err
}

// large is a list that is not frozen while a form waits.
const large = 4_300

// largeWorld has a large list, and what a person saw of it.
func largeWorld(t *testing.T, db storetest.DB) (w *bulkWorld, ids []int64, n review.NewBulkRun) {
	t.Helper()
	w = newBulkWorld(t, db)
	ids = w.Put("Acme", rt.Money(t, "1", "EUR"), keys("K", large)...)
	q := review.Query{Tab: review.TabWaiting}
	p, err := w.bulk.Preview(t.Context(), ada, review.BulkSet{Query: &q})
	if err != nil || p.Size != large {
		t.Fatalf("preview: %d, %v", p.Size, err)
	}
	w.Later(time.Second)
	return w, ids, review.NewBulkRun{Form: "f", Plan: review.PlanAssign, Input: review.Input{To: "Ada Brown"}, Query: &q, Seen: p.Seen, How: p.How, Previewed: p.Size}
}

// set reads the frozen set of a run, and demands that it has no gap and nothing twice.
func (w *bulkWorld) set(run review.BulkRun) (versions map[int64]int64) {
	w.T.Helper()
	versions = map[int64]int64{}
	for n := 0; ; {
		rows, err := w.BulkItems(w.T.Context(), run.ID, review.BulkRows{After: n, Limit: 500})
		if err != nil {
			w.T.Fatal(err)
		}
		if len(rows) == 0 {
			break
		}
		for _, r := range rows {
			if n++; r.N != n {
				w.T.Fatalf("the %d-th item has the number %d", n, r.N)
			}
			versions[r.ItemID] = r.Version
		}
	}
	if int64(len(versions)) != run.Size {
		w.T.Fatalf("%d items are frozen, the run says %d", len(versions), run.Size)
	}
	return versions
}

// A large set is frozen as it was seen, however long that takes: what changes meanwhile is in it once, and is skipped.
func TestALargeSetIsFrozenInTheBackground(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db storetest.DB) {
		w, ids, n := largeWorld(t, db)
		run, isNew, err := w.bulk.Start(t.Context(), ada, n)
		if err != nil || !isNew || run.State != review.BulkPreparing || run.Size == 0 || run.Size >= large {
			t.Fatalf("start: %+v, %v", run, err)
		}
		again, isNew, err := w.bulk.Start(t.Context(), ada, n) // a double click
		if err != nil || isNew || again.ID != run.ID {
			t.Fatalf("the same form again: %+v, %v", again, err)
		}
		w.Later(time.Second)
		frozen := w.set(run)
		var before, after int64 // an item that is in the set already, and one that is not
		for _, id := range ids {
			if _, in := frozen[id]; in {
				before = id
			} else {
				after = id
			}
		}
		for _, id := range []int64{before, after} {
			w.Happen(id, work.Assign{By: ben, To: "Ben Stone"})
		}
		for range 5 {
			w.step()
			if run = w.run(run.ID); run.State != review.BulkPreparing {
				break
			}
			if run.Tally[review.BulkActed] != 0 {
				t.Fatal("something was done before the set was complete")
			}
		}
		if set := w.set(run); run.Size != large || set[before] == 0 || set[after] != 0 {
			t.Fatalf("%d of %d; the versions of what changed: %d, %d", run.Size, large, set[before], set[after])
		}
		for !w.run(run.ID).State.Ended() {
			w.step() // without the engine, which would send them first
		}
		run = w.run(run.ID)
		if run.Tally[review.BulkActed] != large-2 || run.Tally[review.BulkChanged] != 2 || w.Get(before).AssignedTo != "Ben Stone" || w.Get(after).AssignedTo != "Ben Stone" {
			t.Errorf("%+v", run.Tally)
		}
	})
}

// A server is killed at every write of a preparation in turn; another completes the set.
func TestAPreparationSurvivesTheServer(t *testing.T) {
	w, _, n := largeWorld(t, storetest.SQLite(t))
	kills := 0
	for _, after := range []bool{false, true} {
		for k := 1; ; k++ {
			n.Form = fmt.Sprint(after, k)
			dying := &mortal{Store: w.Store, n: k, after: after}
			run, isNew, err := review.NewBulk(dying, 1).Start(t.Context(), ada, n)
			if err != nil || !isNew { // it goes on, so the person must hear of it, and the audit trail too
				t.Fatalf("killed at write %d (after it: %t): begun %t, %v", k, after, isNew, err)
			}
			runner := w.runner
			runner.Store, runner.Node = dying, "dying"
			for range 8 {
				if dying.dead || w.run(run.ID).State != review.BulkPreparing {
					break
				}
				_, _ = runner.RunOnce(t.Context())
			}
			if dying.dead {
				kills++
				w.Later(3 * time.Minute)
			}
			for range 8 {
				if w.run(run.ID).State != review.BulkPreparing {
					break
				}
				w.step()
			}
			if run = w.run(run.ID); run.State != review.BulkRunning || len(w.set(run)) != large {
				t.Fatalf("killed at write %d (after it: %t): %+v", k, after, run)
			}
			if err := w.EndBulk(t.Context(), run.ID, review.BulkStopped); err != nil {
				t.Fatal(err)
			}
			if !dying.dead {
				break
			}
		}
	}
	if kills < 6 {
		t.Errorf("only %d kills", kills)
	}
}

func TestAPreparationCanBeStopped(t *testing.T) {
	w, ids, n := largeWorld(t, storetest.SQLite(t))
	run := firstOf(t, w, n)
	if err := w.bulk.Stop(t.Context(), ben, run.ID); err != nil {
		t.Fatal(err)
	}
	w.work(3)
	run = w.run(run.ID)
	if run.State != review.BulkStopped || run.Count(review.ClassTodo) != run.Size || w.Get(ids[0]).AssignedTo != "" || w.Get(ids[large-1]).AssignedTo != "" {
		t.Errorf("%+v", run)
	}
}

func firstOf(t *testing.T, w *bulkWorld, n review.NewBulkRun) review.BulkRun {
	t.Helper()
	run, _, err := w.bulk.Start(t.Context(), ada, n)
	if err != nil || run.State != review.BulkPreparing {
		t.Fatalf("start: %+v, %v", run, err)
	}
	return run
}

// A search that finds others by the time that half of its list is written down is not acted on, and the run stays where
// the person looks for it.
func TestAListThatBecomesAnotherOneIsNotActedOn(t *testing.T) {
	w := newBulkWorld(t, storetest.SQLite(t))
	ids := w.Put("Acme", rt.Money(t, "1", "EUR"), "INV-1", "INV-10")
	w.Later(time.Second)
	left := &review.Freezing{Query: &review.Query{CompanyID: 1, Text: "INV-", Tab: review.TabWaiting}, How: review.HowExact, Seen: w.Clock()}
	run, _, err := w.AddBulk(t.Context(), review.BulkRun{CompanyID: 1, Form: "f", Plan: review.PlanHold, Input: review.Input{Note: "x"}, By: ada, BeganAt: w.Clock(), Freezing: left})
	if err == nil {
		_, err = w.FillBulk(t.Context(), run, []review.BulkItem{{ItemID: ids[0], Version: w.Get(ids[0]).Version}}, left)
	}
	if err != nil {
		t.Fatal(err)
	}
	w.work(3)
	runs := must(w.bulk.Runs(t.Context(), ada, 0, 10))
	if len(runs) != 1 || runs[0].State != review.BulkAbandoned || w.Get(ids[0]).Reason != "" || w.Get(ids[1]).Reason != "" {
		t.Errorf("%+v", runs)
	}
}

// Two servers at one preparation: one of them writes, the other sees that it was not first.
func TestOnlyOneServerFreezes(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db storetest.DB) {
		w := newBulkWorld(t, db)
		ids := w.Put("Acme", rt.Money(t, "1", "EUR"), keys("K", 3)...)
		left := &review.Freezing{Items: []review.Seen{{ID: ids[1], Version: 1}}, Seen: w.Clock()}
		run, _, err := w.AddBulk(t.Context(), review.BulkRun{CompanyID: 1, Form: "f", Plan: review.PlanHold, By: ada, BeganAt: w.Clock(), Freezing: left})
		if err != nil {
			t.Fatal(err)
		}
		first, err := w.FillBulk(t.Context(), run, []review.BulkItem{{ItemID: ids[0], Version: 1}}, left)
		if err != nil || first.Size != 1 || first.State != review.BulkPreparing {
			t.Fatalf("%+v, %v", first, err)
		}
		if _, err := w.FillBulk(t.Context(), run, []review.BulkItem{{ItemID: ids[0], Version: 1}}, nil); !errors.Is(err, review.ErrBulkTaken) {
			t.Errorf("the second server: %v", err)
		}
		huge := first
		huge.Size = review.MaxBulk
		if _, err := w.FillBulk(t.Context(), huge, []review.BulkItem{{ItemID: ids[1], Version: 1}}, nil); !errors.Is(err, review.ErrBulkLarge) {
			t.Errorf("one too many: %v", err)
		}
		last, err := w.FillBulk(t.Context(), first, []review.BulkItem{{ItemID: ids[0], Version: 1}, {ItemID: ids[2], Version: 1}}, nil)
		if err != nil || last.Size != 2 || last.State != review.BulkRunning || len(w.set(last)) != 2 {
			t.Errorf("%+v, %v", last, err)
		}
		if got := w.run(run.ID); got.Freezing != nil || got.State != review.BulkRunning || got.Version != last.Version {
			t.Errorf("%+v", got)
		}
	})
}
