package review_test

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"onefold/internal/review"
	rt "onefold/internal/review/reviewtest"
	"onefold/internal/store/storetest"
	"onefold/internal/work"
)

func refusedAs(err error) work.RefusalCode {
	var r *work.Refusal
	if errors.As(err, &r) {
		return r.Code
	}
	return ""
}

// differing is an item for which a record with another amount was found.
func differing(t *testing.T, w *rt.World) (int64, work.Record) {
	t.Helper()
	id := w.One("K")
	rec := rt.Record(7)
	rec.Total = rt.Money(t, "1000.00", "EUR")
	w.Send(id, rt.NoAnswer)
	w.Find(id, work.Lookup{Finding: work.FoundDifferent, Record: rec, Count: 1})
	return id, rec
}

// A record with another amount is not taken for the invoice unless the person says so.
func TestResolvingWithAnotherAmountMustBeConfirmed(t *testing.T) {
	each(t, func(t *testing.T, w *rt.World, s *review.Service) {
		id, rec := differing(t, w)
		for _, ref := range []string{rec.ID, rec.Number, " " + strings.ToLower(rec.Number)} {
			_, err := s.Act(t.Context(), ada, review.Resolve, seen(w, id), review.Input{Note: "it is there", Reference: ref})
			if refusedAs(err) != review.RefusedDiffers || w.Get(id).Status != work.Review {
				t.Errorf("%q: %v, now %s", ref, err, w.Get(id).Status)
			}
		}
		if _, err := s.Act(t.Context(), ada, review.Resolve, seen(w, id), review.Input{Note: "a credit note follows", Reference: rec.Number, Differs: true}); err != nil {
			t.Fatal(err)
		}
		if it := w.Get(id); it.Status != work.Resolved || it.ExternalID != rec.ID || it.ExternalNumber != rec.Number {
			t.Errorf("%s %s %s", it.Status, it.ExternalID, it.ExternalNumber)
		}
	})
}

// What a lookup took for a match, within the rounding of the system, needs no second word; nor does another record.
func TestResolvingWithWhatMatches(t *testing.T) {
	each(t, func(t *testing.T, w *rt.World, s *review.Service) {
		id := held(w, "K1")
		rec := rt.Record(7)
		rec.Total = rt.Money(t, "1200.01", "EUR")
		w.Happen(id, work.Check{By: ben})
		w.Find(id, work.Lookup{Finding: work.FoundMatching, Record: rec, Count: 1})
		if _, err := s.Act(t.Context(), ada, review.Resolve, seen(w, id), review.Input{Note: "it is there", Reference: rec.Number}); err != nil {
			t.Error(err)
		}
		id = held(w, "K2")
		if _, err := s.Act(t.Context(), ada, review.Resolve, seen(w, id), review.Input{Note: "under another number", Reference: "INV/0815"}); err != nil {
			t.Error(err)
		}
	})
}

// Trial 84: what may be there is not replaced; both are shown; nothing is confirmed by itself.
func TestTrial84_ACorrectionWaitsWhileTheOutcomeIsUnknown(t *testing.T) {
	each(t, func(t *testing.T, w *rt.World, s *review.Service) {
		id := w.Put("Acme", rt.Money(t, "100.00", "EUR"), "K")[0]
		w.Send(id, rt.NoAnswer)
		changed := rt.Invoice("Acme", rt.Money(t, "120.00", "EUR"))
		if _, err := s.Act(t.Context(), ada, review.Correct, seen(w, id), review.Input{Invoice: &changed}); err != nil {
			t.Fatal(err)
		}
		sends := w.Get(id).Sends
		rec := rt.Record(7)
		rec.Total = rt.Money(t, "100.00", "EUR")
		w.Later(time.Hour)
		w.Find(id, work.Lookup{Finding: work.FoundMatching, Record: rec, Count: 1})
		d, err := s.Detail(t.Context(), ada, id, review.Place{})
		if err != nil {
			t.Fatal(err)
		}
		if d.Item.Status != work.Review || d.Item.Sends != sends || d.Item.Invoice.Total.Number() != "100.00" {
			t.Errorf("%s, %d sends, %s", d.Item.Status, d.Item.Sends, d.Item.Invoice.Total)
		}
		if d.Proposal == nil || d.Proposal.Invoice.Total.Number() != "120.00" || d.Seen == nil || d.Seen.Record.Total.Number() != "100.00" {
			t.Errorf("the proposal is %+v, seen was %+v", d.Proposal, d.Seen)
		}
	})
}

// Notes never meet a conflict, are kept once, and leave the item's state alone.
func TestNotesAreKeptOnce(t *testing.T) {
	each(t, func(t *testing.T, w *rt.World, s *review.Service) {
		id := w.One("K")
		form := seen(w, id)
		w.Later(time.Second)
		w.Claim(id) // it is being sent
		w.Happen(id, work.Note{By: ben, Text: "asked the customer"})
		var wg sync.WaitGroup
		errs := make([]error, 5)
		for i := range errs {
			wg.Go(func() {
				_, errs[i] = s.Act(context.Background(), ada, review.Note, form, review.Input{Note: "She calls back."})
			})
		}
		wg.Wait()
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
		acts, err := w.Acts(t.Context(), id, 10)
		if err != nil || len(acts) != 2 || acts[0].Note != "She calls back." || acts[0].From != acts[0].To {
			t.Errorf("%v %+v", err, acts)
		}
		if it := w.Get(id); it.Status != work.InProgress || it.OpenAttempt == 0 {
			t.Errorf("now %s", it.Status)
		}
	})
}

func TestTurningDownIsAClose(t *testing.T) {
	w := rt.New(t, storetest.SQLite(t), func(s *work.System) { limit := rt.Money(t, "10", "EUR"); s.Policy.ApprovalLimit = &limit })
	s := review.New(w.Store, 1)
	id := w.One("K")
	form := seen(w, id)
	for range 2 {
		if _, err := s.Act(t.Context(), ada, review.TurnDown, form, review.Input{Note: "Too much."}); err != nil {
			t.Fatal(err)
		}
	}
	acts, err := w.Acts(t.Context(), id, 10)
	if err != nil || len(acts) != 1 || acts[0].What != "close" || acts[0].Detail != work.TurnedDown || w.Get(id).Status != work.Closed {
		t.Errorf("%v %+v", err, acts)
	}
}

func TestHoldSource(t *testing.T) {
	each(t, func(t *testing.T, w *rt.World, s *review.Service) {
		keys := make([]string, 450)
		for i := range keys {
			keys[i] = "K-" + strconv.Itoa(i)
		}
		ids := w.Put("Acme", rt.Money(t, "1", "EUR"), keys...)
		w.Claim(ids[0])
		w.Send(ids[1], rt.AcceptedAs(1))
		w.Send(ids[2], rt.NoAnswer)
		if _, err := s.HoldSource(t.Context(), viewer, "import:7", "wrong file"); !errors.Is(err, review.ErrForbidden) {
			t.Fatal(err)
		}
		if _, err := s.HoldSource(t.Context(), ada, "import:7", "  "); refusedAs(err) != work.RefusedNote {
			t.Fatal(err)
		}
		if n, err := s.HoldSource(t.Context(), ada, "import:8", "wrong file"); err != nil || n != 0 {
			t.Fatal(n, err)
		}
		if n, err := review.New(w.Store, 2).HoldSource(t.Context(), ada, "import:7", "wrong file"); err != nil || n != 0 {
			t.Fatal("of another company:", n, err)
		}
		n, err := s.HoldSource(t.Context(), ada, "import:7", "wrong file")
		if err != nil || n != 448 {
			t.Fatal(n, err)
		}
		if again, err := s.HoldSource(t.Context(), ada, "import:7", "wrong file"); err != nil || again != 0 {
			t.Error(again, err)
		}
		for i, want := range map[int]work.Status{0: work.InProgress, 1: work.Confirmed, 2: work.Review, 3: work.Review, 449: work.Review} {
			if got := w.Get(ids[i]).Status; got != want {
				t.Errorf("item %d is %s, not %s", i, got, want)
			}
		}
	})
}

// A colleague who acted within the last minutes is seen; oneself and the automation are not.
func TestTheColleagueWhoIsAtIt(t *testing.T) {
	w := rt.New(t, storetest.SQLite(t))
	s := review.New(w.Store, 1)
	id := w.One("K")
	w.Happen(id, work.Note{By: ben, Text: "asked the customer"})
	w.Later(9 * time.Minute)
	d, err := s.Detail(t.Context(), ada, id, review.Place{})
	if a := d.Colleague(ada); err != nil || a == nil || !a.By.Same(ben) || d.Colleague(ben) != nil {
		t.Errorf("%v %+v", err, a)
	}
	w.Later(2 * time.Minute)
	d, err = s.Detail(t.Context(), ada, id, review.Place{})
	if a := d.Colleague(ada); err != nil || a != nil {
		t.Errorf("%v %+v", err, a)
	}
}
