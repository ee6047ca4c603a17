package store_test

import (
	"errors"
	"testing"
	"time"

	"onefold/internal/automation/proof"
	"onefold/internal/store"
	"onefold/internal/work"
)

func TestAProofBelongsToOneServerAndOneSystem(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store.Store, c *clock) {
		ctx := t.Context()
		sys, err := s.System(ctx, "books")
		must(t, err)
		add := func() proof.Run {
			t.Helper()
			r, err := s.AddProof(ctx, proof.Run{CompanyID: 1, SystemID: "books", State: proof.Waiting, By: ada, At: c.Now(), Live: true, Reached: sys.Reached(),
				Body: proof.Body{System: "Books", Wish: proof.Wish{Customer: "C", Amount: "1.00", Currency: "EUR"}, References: []string{"ONEFOLD-PROOF-1"},
					Seen: work.Seen{Keys: true}, Offer: work.Caution{SearchLag: time.Minute}, Steps: []proof.Step{{Name: proof.Books, State: proof.StepRunning}}}})
			must(t, err)
			return r
		}
		r := add()
		if _, err := s.AddProof(ctx, r); !errors.Is(err, proof.ErrRunning) {
			t.Errorf("two at once: %v", err)
		}
		if ids, err := s.WaitingProofs(ctx); err != nil || len(ids) != 1 || ids[0] != r.ID {
			t.Fatalf("%v %v", ids, err)
		}
		taken, ok, err := s.TakeProof(ctx, r.ID, "a", time.Minute)
		if must(t, err); !ok || taken.State != proof.Running || !taken.Live || taken.By.ID != ada.ID {
			t.Fatalf("%+v", taken)
		}
		if other, ok, err := s.TakeProof(ctx, r.ID, "b", time.Minute); err != nil || ok || other.ID != r.ID {
			t.Errorf("two servers have it: %v %v", ok, err)
		}
		if err := s.SaveProof(ctx, &taken, "b", time.Minute); !errors.Is(err, proof.ErrLost) {
			t.Errorf("another server writes: %v", err)
		}
		c.advance(50 * time.Second)
		must(t, s.SaveProof(ctx, &taken, "a", time.Minute))
		c.advance(50 * time.Second)
		if n, err := s.InterruptProofs(ctx); err != nil || n != 0 {
			t.Errorf("taken away while it is held: %d %v", n, err)
		}
		taken.State = proof.Proven
		if err := s.EndProof(ctx, &taken, "b"); !errors.Is(err, proof.ErrLost) {
			t.Errorf("another server ends it: %v", err)
		}
		must(t, s.EndProof(ctx, &taken, "a"))
		if sys, err = s.System(ctx, "books"); err != nil || sys.Seen != (work.Seen{On: sys.Reached(), Keys: true}) {
			t.Errorf("%+v %v", sys.Seen, err)
		}
		if last, err := s.LastProofs(ctx, 1); err != nil || last["books"].ID != r.ID || last["books"].EndedAt.IsZero() {
			t.Errorf("%+v %v", last, err)
		}

		// One whose server is lost ends by itself, and takes what was seen with it.
		r = add()
		taken, _, err = s.TakeProof(ctx, r.ID, "a", time.Minute)
		must(t, err)
		c.advance(2 * time.Minute)
		if n, err := s.InterruptProofs(ctx); err != nil || n != 1 {
			t.Fatalf("%d %v", n, err)
		}
		if err := s.EndProof(ctx, &taken, "a"); !errors.Is(err, proof.ErrLost) {
			t.Errorf("it ends twice: %v", err)
		}
		got, err := s.Proof(ctx, 1, r.ID)
		if err != nil || got.State != proof.Interrupted || got.Steps[0].State != proof.StepNotPossible || len(got.References) != 1 {
			t.Errorf("%+v %v", got, err)
		}
		if sys, err = s.System(ctx, "books"); err != nil || sys.Seen != (work.Seen{}) {
			t.Errorf("%+v %v", sys.Seen, err)
		}
		if _, err := s.Proof(ctx, 2, r.ID); !errors.Is(err, proof.ErrUnknown) {
			t.Errorf("another company sees it: %v", err)
		}
		if list, err := s.Proofs(ctx, 1, "books", 10); err != nil || len(list) != 2 || list[0].ID != r.ID {
			t.Errorf("%+v %v", list, err)
		}

		// What is adopted is added to what was adopted before, once, and on record.
		must(t, s.AdoptCaution(ctx, got, ada))
		must(t, s.AdoptCaution(ctx, got, ada))
		if sys, err = s.System(ctx, "books"); err != nil || sys.Caution != (work.Caution{SearchLag: time.Minute}) || sys.Rules().SearchLag() < time.Minute {
			t.Errorf("%+v %v", sys.Caution, err)
		}
		changes, err := s.SystemChanges(ctx, "books", 10)
		if must(t, err); len(changes) != 1 || changes[0].What != "caution" || changes[0].By.ID != ada.ID {
			t.Errorf("on record: %+v", changes)
		}
	})
}

// A change of the connection between the beginning and the end of a run leaves what the new connection has.
func TestAProofOfAnotherConnectionIsNotKept(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store.Store, c *clock) {
		ctx := t.Context()
		sys, err := s.System(ctx, "books")
		must(t, err)
		r, err := s.AddProof(ctx, proof.Run{CompanyID: 1, SystemID: "books", State: proof.Waiting, By: ada, At: c.Now(), Reached: sys.Reached(), Body: proof.Body{Seen: work.Seen{Search: true}}})
		must(t, err)
		r, _, err = s.TakeProof(ctx, r.ID, "a", time.Minute)
		must(t, err)
		sys.Address = "https://elsewhere.example.com"
		must(t, s.DeclareSystem(ctx, sys))
		r.State = proof.Proven
		must(t, s.EndProof(ctx, &r, "a"))
		if sys, err = s.System(ctx, "books"); err != nil || sys.Seen != (work.Seen{}) {
			t.Errorf("%+v %v", sys.Seen, err)
		}
	})
}
