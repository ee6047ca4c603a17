package review_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"onefold/internal/review"
	rt "onefold/internal/review/reviewtest"
	"onefold/internal/store/storetest"
	"onefold/internal/work"
)

// outage records items and sends them into an outage; those for which stored reports true are in the books all the same.
// Afterwards all of them need a person: nobody could look.
func (w *bulkWorld) outage(n int, stored func(key string) bool) []int64 {
	w.T.Helper()
	keys := make([]string, n)
	for i := range keys {
		keys[i] = fmt.Sprintf("OUT-%05d", i)
	}
	ids := w.Put("Acme Holdings Ltd", rt.Money(w.T, "12.00", "EUR"), keys...)
	w.books.lost, w.books.blind, w.books.store = true, true, stored
	for range 200 {
		w.engineOnly(1)
		if c, err := w.Counts(w.T.Context(), 1); err == nil && c[review.TabReview] == int64(n) {
			w.books.lost, w.books.blind = false, false
			return ids
		}
	}
	w.T.Fatalf("the outage does not end in review: %+v", w.Get(ids[0]))
	return nil
}

func TestRepairSettlesWhatIsThereAndSendsWhatIsNot(t *testing.T) {
	eachBulk(t, func(t *testing.T, w *bulkWorld) {
		ids := w.outage(30, func(ref string) bool { return ref < "OUT-00017" })
		other := w.Get(ids[3])
		w.books.other[other.Reference] = work.Record{ID: "twin", Number: "TWIN", Reference: other.Reference, Customer: "C-1001", Total: other.Invoice.Total, State: work.StatePosted}
		differs := w.books.holds[w.Get(ids[4]).Reference]
		differs.Total = rt.Money(t, "13.00", "EUR")
		w.books.holds[differs.Reference] = differs
		run := w.until(w.start(w.preview(ids...), review.PlanRepair, review.Input{}).ID)
		if run.State != review.BulkFinished || run.Size != 30 || run.Looked != 30 || run.Count(review.ClassDone) != 28 || run.Count(review.ClassLeft) != 2 ||
			run.Count(review.ClassTodo) != 0 || run.Tally[review.BulkFound] != 15 || run.Tally[review.BulkSent] != 13 {
			t.Fatalf("the run: %+v", run)
		}
		w.engineOnly(3)
		results := w.results(run)
		for i, id := range ids {
			it, r := w.Get(id), results[id]
			wantSends, want, outcome := 1, work.Resolved, review.BulkFound
			switch {
			case i == 3:
				want, outcome = work.Review, review.BulkSeveral
			case i == 4:
				want, outcome = work.Review, review.BulkDiffers
			case i >= 17:
				wantSends, want, outcome = 2, work.Confirmed, review.BulkSent
			}
			if it.Status != want || r.Outcome != outcome || w.books.sends(it.Reference) != wantSends {
				t.Errorf("%s: %s, %q, sent %d times; want %s, %q, %d", it.BusinessKey, it.Status, r.Outcome, w.books.sends(it.Reference), want, outcome, wantSends)
			}
			for _, a := range must(w.Acts(t.Context(), id, 10)) {
				if !a.By.Same(ada) || !strings.HasSuffix(a.Note, fmt.Sprintf("Bulk run %d", run.ID)) {
					t.Errorf("%s: the act %s is on record as by %s: %q", it.BusinessKey, a.What, a.By.Name, a.Note)
				}
			}
		}
	})
}

// trial 9: the run after a break checks first and sends only what is really missing
func TestTrial09_BulkAfterABreakSendsNothingTwice(t *testing.T) {
	eachBulk(t, func(t *testing.T, w *bulkWorld) {
		ids := w.outage(100, nil)
		run := w.until(w.start(w.preview(ids...), review.PlanRepair, review.Input{}).ID)
		w.engineOnly(3)
		if run.Looked != 100 || run.Tally[review.BulkFound] != 100 || run.Tally[review.BulkSent] != 0 || len(w.books.holds) != 100 {
			t.Errorf("%d looked at, %d found, %d sent; %d in the books", run.Looked, run.Tally[review.BulkFound], run.Tally[review.BulkSent], len(w.books.holds))
		}
		for _, id := range ids {
			if n := w.books.sends(w.Get(id).Reference); n != 1 {
				t.Fatalf("item %d was sent %d times", id, n)
			}
		}
	})
}

// Whatever the plan: what may be there is not sent.
func TestNoPlanSendsWithoutProof(t *testing.T) {
	eachBulk(t, func(t *testing.T, w *bulkWorld) {
		ids := w.outage(6, nil) // all are in the books, and nobody has looked
		for _, plan := range []review.Plan{review.PlanRetry, review.PlanHold, review.PlanAssign} {
			run := w.until(w.start(w.preview(ids...), plan, review.Input{Note: "After the outage", To: "Ada Brown"}).ID)
			if plan == review.PlanRetry && run.Tally[review.BulkRefused] != 6 {
				t.Errorf("send again: %+v", run.Tally)
			}
		}
		w.books.blind = true // now nobody can look: the repair leaves all of them
		run := w.until(w.start(w.preview(ids...), review.PlanRepair, review.Input{}).ID)
		if run.Tally[review.BulkUnclear] != 6 {
			t.Errorf("repair without a look: %+v", run.Tally)
		}
		w.books.blind = false
		run = w.until(w.start(w.preview(ids...), review.PlanCheck, review.Input{}).ID)
		if run.Tally[review.BulkSeen] != 6 || run.Count(review.ClassDone) != 6 {
			t.Errorf("check: %+v", run.Tally)
		}
		w.engineOnly(3)
		for _, id := range ids {
			if it := w.Get(id); it.Status != work.Review || w.books.sends(it.Reference) != 1 {
				t.Errorf("%s is %s and was sent %d times", it.BusinessKey, it.Status, w.books.sends(it.Reference))
			}
		}
		run = w.until(w.start(w.preview(ids...), review.PlanClose, review.Input{Why: "twice", Note: "Entered by hand"}).ID)
		if run.Tally[review.BulkActed] != 6 || w.Get(ids[0]).Status != work.Closed {
			t.Errorf("close: %+v", run.Tally)
		}
		for _, id := range ids {
			if w.acts(id)["attest"] != 0 {
				t.Error("a bulk run attested something")
			}
		}
	})
}

// What a colleague stopped and what must be approved stays theirs, also if it is proven absent.
func TestRepairLeavesWhatIsForAPerson(t *testing.T) {
	eachBulk(t, func(t *testing.T, w *bulkWorld) {
		stopped := held(w.World, "STOPPED")
		approve := w.Put("Acme", rt.Money(t, "5000", "EUR"), "LARGE")[0]
		run := w.until(w.start(w.preview(stopped, approve), review.PlanRepair, review.Input{}).ID)
		w.engineOnly(3)
		if run.Tally[review.BulkAbsent] != 2 || run.Count(review.ClassLeft) != 2 {
			t.Errorf("%+v", run.Tally)
		}
		for _, id := range []int64{stopped, approve} {
			if it := w.Get(id); it.Status != work.Review || w.books.sends(it.Reference) != 0 {
				t.Errorf("%s is %s and was sent %d times", it.BusinessKey, it.Status, w.books.sends(it.Reference))
			}
		}
	}, func(s *work.System) {
		limit := rt.Money(t, "4000", "EUR")
		s.Policy.ApprovalLimit = &limit
	})
}

func TestWhatChangedSinceThePreviewIsSkipped(t *testing.T) {
	eachBulk(t, func(t *testing.T, w *bulkWorld) {
		ids := w.outage(4, nil)
		p := w.preview(ids...)
		w.Later(time.Second)
		w.Happen(ids[0], work.Close{By: ben, Why: "twice", Note: "done by hand"}) // between preview and confirmation
		run := w.start(p, review.PlanRepair, review.Input{})
		w.Happen(ids[1], work.Assign{By: ben, To: "Ben Stone"}) // before the run comes to it
		w.step()                                                // asks for the looks
		w.Later(time.Second)
		w.Happen(ids[2], work.Assign{By: ben, To: "Ben Stone"}) // while the look is awaited
		run = w.until(run.ID)
		results := w.results(run)
		for i, what := range []string{"close", "assign", "assign"} {
			if r := results[ids[i]]; r.Outcome != review.BulkChanged || r.Who != "Ben Stone" || r.Detail != what || r.At.IsZero() {
				t.Errorf("item %d: %+v", i, r)
			}
		}
		if run.Count(review.ClassSkipped) != 3 || results[ids[3]].Outcome != review.BulkFound || w.Get(ids[0]).Status != work.Closed {
			t.Errorf("%+v", run.Tally)
		}
		for _, id := range ids[:2] {
			if w.acts(id)["check"] != 0 {
				t.Error("an item was touched that somebody had changed")
			}
		}
	})
}

// The set is the list as the person saw it: what has come since is not in it, what changed since is skipped.
func TestAllOfAListIsFrozenAsSeen(t *testing.T) {
	eachBulk(t, func(t *testing.T, w *bulkWorld) {
		ids := w.outage(450, nil)
		q := review.Query{Tab: review.TabReview}
		p, err := w.bulk.Preview(t.Context(), ada, review.BulkSet{Query: &q})
		if err != nil || p.Size != 450 || p.Plans[review.PlanRepair].Can != 450 || p.Plans[review.PlanRetry].Refused[work.RefusedUnknown] != 450 {
			t.Fatalf("preview: %+v, %v", p, err)
		}
		w.Later(time.Second)
		w.Happen(ids[7], work.Assign{By: ben, To: "Ben Stone"})
		held(w.World, "NEW")
		n := review.NewBulkRun{Form: "f", Plan: review.PlanAssign, Input: review.Input{To: "Ada Brown"}, Query: &q, Seen: p.Seen, How: p.How, Previewed: p.Size}
		run, _, err := w.bulk.Start(t.Context(), ada, n)
		if err != nil || run.Size != 451 {
			t.Fatalf("start: %+v, %v", run, err)
		}
		again, isNew, err := w.bulk.Start(t.Context(), ada, n) // a double click
		if err != nil || isNew || again.ID != run.ID {
			t.Fatalf("the same form again: %+v, %v", again, err)
		}
		run = w.until(run.ID)
		if run.Tally[review.BulkActed] != 449 || run.Tally[review.BulkChanged] != 2 || w.Get(ids[7]).AssignedTo != "Ben Stone" {
			t.Errorf("%+v", run.Tally)
		}
	})
}

func TestASearchThatFindsOthersNowIsRefused(t *testing.T) {
	w := newBulkWorld(t, storetest.SQLite(t))
	w.Put("Acme", rt.Money(t, "1", "EUR"), "INV-1", "INV-10", "INV-11")
	q := review.Query{Text: "INV-1", Tab: review.TabWaiting}
	p, err := w.bulk.Preview(t.Context(), ada, review.BulkSet{Query: &q})
	if err != nil || p.Size != 1 {
		t.Fatalf("preview: %+v, %v", p, err)
	}
	w.Later(time.Second)
	id := must(w.Search(t.Context(), review.Query{CompanyID: 1, Text: "INV-1", Limit: 1})).Items[0].ID
	w.Happen(id, work.Hold{By: ben, Note: "wait"}) // now the search falls back to what begins with it
	_, _, err = w.bulk.Start(t.Context(), ada, review.NewBulkRun{Form: "f", Plan: review.PlanHold, Input: review.Input{Note: "x"}, Query: &q, Seen: p.Seen, How: p.How, Previewed: p.Size})
	if !errors.Is(err, review.ErrBulkMoved) {
		t.Errorf("start: %v", err)
	}
	w.work(2)
	if n := must(w.Counts(t.Context(), 1))[review.TabReview]; n != 1 {
		t.Errorf("%d are stopped", n)
	}
}

func TestStopLeavesTheRestUntouched(t *testing.T) {
	eachBulk(t, func(t *testing.T, w *bulkWorld) {
		ids := w.Put("Acme", rt.Money(t, "1", "EUR"), keys("K", 500)...)
		run := w.start(w.preview(ids...), review.PlanHold, review.Input{Note: "wait"})
		w.step()
		if err := w.bulk.Stop(t.Context(), ben, run.ID); err != nil {
			t.Fatal(err)
		}
		before := map[int64]int64{}
		for _, id := range ids {
			before[id] = w.Get(id).Version
		}
		for range 3 {
			w.step()
		}
		run = w.run(run.ID)
		if run.State != review.BulkStopped || run.StoppedBy != "Ben Stone" || run.Count(review.ClassDone) != 200 || run.Count(review.ClassTodo) != 300 {
			t.Fatalf("%+v", run)
		}
		for _, id := range ids {
			if it := w.Get(id); it.Version != before[id] {
				t.Fatalf("%s was touched after the stop", it.BusinessKey)
			}
		}
		if err := w.bulk.Stop(t.Context(), ben, run.ID); err != nil {
			t.Errorf("stopping again: %v", err)
		}
	})
}

func keys(prefix string, n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf("%s-%05d", prefix, i)
	}
	return list
}

func TestOnlyThoseWhoMayActRunBulks(t *testing.T) {
	w := newBulkWorld(t, storetest.SQLite(t))
	id := w.One("K")
	p := w.preview(id)
	run := w.start(p, review.PlanAssign, review.Input{To: "Ada Brown"})
	for _, by := range []work.Actor{viewer, ops, {}} {
		_, err1 := w.bulk.Preview(t.Context(), by, review.BulkSet{IDs: []int64{id}})
		_, _, err2 := w.bulk.Start(t.Context(), by, review.NewBulkRun{Form: "f", Plan: review.PlanCheck, Items: p.Items, Seen: p.Seen})
		_, err3 := w.bulk.Run(t.Context(), by, run.ID)
		_, err4 := w.bulk.Runs(t.Context(), by, 0, 10)
		_, err5 := w.bulk.Results(t.Context(), by, run, "", 0, 10)
		for i, err := range []error{err1, err2, err3, err4, err5, w.bulk.Stop(t.Context(), by, run.ID)} {
			if !errors.Is(err, review.ErrForbidden) {
				t.Errorf("%s, call %d: %v", by.Name, i, err)
			}
		}
	}
	if got := w.run(run.ID); got.State != review.BulkRunning {
		t.Errorf("the run is %s", got.State)
	}
}

func TestWhatMustBeTypedIsAskedForBeforeARunBegins(t *testing.T) {
	w := newBulkWorld(t, storetest.SQLite(t))
	p := w.preview(w.One("K"))
	for _, c := range []struct {
		plan review.Plan
		in   review.Input
		want work.RefusalCode
	}{
		{review.PlanHold, review.Input{}, work.RefusedNote},
		{review.PlanClose, review.Input{Why: "twice"}, work.RefusedNote},
		{review.PlanClose, review.Input{Note: "x"}, review.RefusedWhy},
		{review.PlanHold, review.Input{Note: strings.Repeat("x", review.MaxNote+1)}, review.RefusedTooLong},
	} {
		_, _, err := w.bulk.Start(t.Context(), ada, review.NewBulkRun{Form: "f", Plan: c.plan, Input: c.in, Items: p.Items, Seen: p.Seen})
		var refusal *work.Refusal
		if !errors.As(err, &refusal) || refusal.Code != c.want {
			t.Errorf("%s with %+v: %v, not %s", c.plan, c.in, err, c.want)
		}
	}
	if _, _, err := w.bulk.Start(t.Context(), ada, review.NewBulkRun{Form: "f", Plan: "attest", Items: p.Items, Seen: p.Seen}); !errors.Is(err, review.ErrBulkPlan) {
		t.Errorf("attest in bulk: %v", err)
	}
	if runs := must(w.bulk.Runs(t.Context(), ada, 0, 10)); len(runs) != 0 {
		t.Errorf("%d runs began", len(runs))
	}
}
