package store_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"onefold/internal/review"
	"onefold/internal/store"
	"onefold/internal/store/storetest"
	"onefold/internal/work"
)

func TestAnItemLivesFromRecordedToConfirmed(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store.Store, c *clock) {
		it := record(t, s, "INV-1")
		if it.ID == 0 || it.Status != work.Queued {
			t.Fatalf("recorded: id %d, status %s", it.ID, it.Status)
		}
		if got := read(t, s, it.ID); got.Invoice.Total.Number() != "120.00" || got.BusinessKey != "INV-1" || got.RecordedBy.Name != ada.Name ||
			!got.RecordedAt.Equal(c.Now()) || len(got.Invoice.Lines) != 1 || got.Steps[0] != "create" {
			t.Fatalf("read back: %+v", got)
		}
		claimed := claim(t, s, 10)
		if len(claimed) != 1 {
			t.Fatalf("claimed %d items, want 1", len(claimed))
		}
		rows, err := s.Attempts(t.Context(), it.ID, 0, 10)
		must(t, err)
		if len(rows) != 1 || !rows[0].EndedAt.IsZero() || rows[0].Kind != work.Send || rows[0].Key != it.CurrentKey() {
			t.Fatalf("the attempt before the call: %+v", rows)
		}
		if n, err := s.InFlight(t.Context()); err != nil || n["books"] != 1 {
			t.Fatalf("in flight: %v, %v", n, err)
		}
		c.advance(time.Second)
		closed := closeAll(t, s, claimed)
		if len(closed) != 1 || closed[0].Item.Status != work.Confirmed {
			t.Fatalf("closed: %+v", closed)
		}
		got := read(t, s, it.ID)
		want := closed[0].Item
		if got.Status != want.Status || got.ExternalID != want.ExternalID || got.Version != want.Version || got.Evidence != want.Evidence ||
			!got.LeaseUntil.IsZero() || got.OpenAttempt != 0 || !got.ChangedAt.Equal(c.Now()) {
			t.Fatalf("confirmed: %+v, want %+v", got, want)
		}
		rows, err = s.Attempts(t.Context(), it.ID, 0, 10)
		must(t, err)
		if len(rows) != 1 || rows[0].Outcome != work.Accepted || rows[0].HTTPStatus != 201 || rows[0].Response == "" || !rows[0].EndedAt.Equal(c.Now()) {
			t.Fatalf("the attempt after the call: %+v", rows)
		}
		newest, err := s.NewestConfirmed(t.Context(), "books", "create", c.Now().Add(time.Second), 5)
		if err != nil || len(newest) != 1 || newest[0].ID != it.ID {
			t.Fatalf("newest confirmed: %v, %v", newest, err)
		}
	})
}

// Every column goes out as it came in: a whole item with a value in each field.
func TestEveryFieldIsKept(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store.Store, c *clock) {
		it := record(t, s, "INV-1")
		at := func(n int) time.Time { return c.Now().Add(time.Duration(n) * time.Microsecond) }
		var want work.Item
		_, err := s.Change(t.Context(), work.Pick{IDs: []int64{it.ID}}, func(_ time.Time, p []work.Picked) ([]work.Move, error) {
			want = p[0].Item
			want.Version++
			want.Revision, want.Proposed, want.Status, want.Reason, want.Attempts = 1, 3, work.Review, work.ReasonDuplicates, 9
			want.OpenAttempt, want.OpenKind, want.OpenNode, want.OpenSince, want.LeaseUntil, want.Before = 9, work.Find, "b", at(1), at(2), work.Review
			want.Sends, want.SendsUsed, want.LookupsUsed, want.Unsettled, want.SettleFrom, want.FirstSentAt = 7, 5, 3, []int{3, 7}, at(3), at(4)
			want.Resent, want.Misses, want.LastMissAt, want.AbsentAt, want.AbsentBy, want.Positive = true, 2, at(5), at(6), "lookup", work.ReportedThere
			want.SeenID, want.SeenNumber, want.LateID, want.ExternalID, want.ExternalNumber = "s", "sn", "late", "x", "n"
			want.ExternalURL, want.Evidence, want.Remark, want.Identity, want.DueAt = "u", "answer", "0.01 rounding", "tenant", at(7)
			want.SendAfter, want.SettleBy, want.LookAsked, want.LastLook, want.LastError = at(8), at(9), ada.Label(), work.LastLookOwed, "e"
			want.LastTryAt, want.ChangedAt, want.AssignedTo = at(10), at(11), "Ada"
			return []work.Move{{Seen: p[0].Item.Version, Item: want}}, nil
		})
		must(t, err)
		if got, want := fmt.Sprintf("%+v", read(t, s, it.ID)), fmt.Sprintf("%+v", want); got != want {
			t.Fatalf("got  %s\nwant %s", got, want)
		}
	})
}

func TestStaleVersionIsRefused(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store.Store, _ *clock) {
		it := record(t, s, "INV-1")
		_, err := s.Change(t.Context(), work.Pick{IDs: []int64{it.ID}}, func(now time.Time, p []work.Picked) ([]work.Move, error) {
			m, err := work.Decide(p[0].Item, work.Hold{By: ada, Note: "wait for the order"}, p[0].Rules, now)
			m.Seen--
			return []work.Move{m}, err
		})
		if err == nil {
			t.Fatal("a move that was decided on another version was written")
		}
		if got := read(t, s, it.ID); got.Status != work.Queued || got.Version != it.Version {
			t.Fatalf("the item was changed: %s, version %d", got.Status, got.Version)
		}
	})
}

// What is in hand may have changed: it is read and decided again, in the same transaction, and the others are not.
func TestInHandIsDecidedAgainIfItChanged(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store.Store, _ *clock) {
		record(t, s, "INV-1")
		record(t, s, "INV-2")
		claimed := claim(t, s, 10)
		if _, err := apply(t, s, claimed[1].Item.ID, work.Assign{By: ada, To: "Ada"}); err != nil {
			t.Fatal(err)
		}
		closed := closeAll(t, s, claimed)
		if len(closed) != 2 {
			t.Fatalf("%d moves were written, want 2", len(closed))
		}
		got := read(t, s, claimed[1].Item.ID)
		if got.Status != work.Confirmed || got.AssignedTo != "Ada" || got.Version <= claimed[1].Item.Version {
			t.Fatalf("the changed item: %s, assigned to %q, version %d", got.Status, got.AssignedTo, got.Version)
		}
	})
}

func TestRecordTaken(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store.Store, _ *clock) {
		record(t, s, "INV-1")
		record(t, s, "INV-2")
		claimed := claim(t, s, 10)
		same := func(it work.Item) work.Answer {
			a := accepted(it)
			a.Record.ID = "R-1"
			return a
		}
		_, err := closeWith(t.Context(), s, claimed, same)
		var taken *store.RecordTaken
		if !errors.As(err, &taken) || taken.ItemID != claimed[1].Item.ID {
			t.Fatalf("within one batch: %v", err)
		}
		if got := read(t, s, claimed[0].Item.ID); got.Status != work.InProgress {
			t.Fatalf("something was written all the same: %s", got.Status)
		}
		_, err = closeWith(t.Context(), s, claimed[:1], same)
		must(t, err)
		_, err = closeWith(t.Context(), s, claimed[1:], same)
		if taken = nil; !errors.As(err, &taken) || taken.ItemID != claimed[1].Item.ID {
			t.Fatalf("against the database: %v", err)
		}
		moves, err := closeWith(t.Context(), s, claimed[1:], func(it work.Item) work.Answer {
			a := same(it)
			a.Taken = true
			return a
		})
		must(t, err)
		if got := moves[0].Item; got.Status != work.Review || got.Reason != work.ReasonMismatch {
			t.Fatalf("decided again: %s %s", got.Status, got.Reason)
		}
	})
}

func TestReferenceTaken(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store.Store, _ *clock) {
		record(t, s, "INV-1")
		_, err := tryRecord(t, s, "INV-1", func(n *work.New) { n.Automation = "another" })
		var taken *store.ReferenceTaken
		if !errors.As(err, &taken) || taken.Reference != "INV-1" {
			t.Fatalf("two automations claim one record: %v", err)
		}
	})
}

func TestNextStepIsRecordedInTheSameTransaction(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store.Store, c *clock) {
		first := record(t, s, "INV-1", func(n *work.New) { n.Steps = []string{"create", "post"} })
		closeAll(t, s, claim(t, s, 10))
		chain, err := s.Chain(t.Context(), first)
		must(t, err)
		if len(chain) != 2 || chain[1].Step != "post" || chain[1].Status != work.Queued || chain[1].PreviousID != first.ID ||
			chain[1].PreviousStatus != work.Confirmed || chain[1].PreviousExternalID != "id-INV-1" || chain[1].Invoice.CustomerID != "C-1" {
			t.Fatalf("chain: %+v", chain)
		}
		page, err := s.Search(t.Context(), review.Query{CompanyID: 1, Limit: 10})
		must(t, err)
		if len(page.Items) != 1 || page.Items[0].Step != "post" {
			t.Fatalf("one row with the first unfinished step: %+v", page.Items)
		}
		// Confirmed, contradicted, and done once more: the next step is there already.
		if _, err := apply(t, s, first.ID, work.LateAnswer{Attempt: 1, Ended: c.Now(), Answer: work.Answer{Outcome: work.Accepted, Record: work.Record{ID: "other"}}}); err != nil {
			t.Fatal(err)
		}
		page, err = s.Search(t.Context(), review.Query{CompanyID: 1, Limit: 10})
		must(t, err)
		if len(page.Items) != 1 || page.Items[0].Step != "create" {
			t.Fatalf("an unfinished earlier step comes first: %+v", page.Items)
		}
		if _, err := apply(t, s, first.ID, work.Resolve{By: ada, Reference: "id-INV-1", Note: "checked in the books"}); err != nil {
			t.Fatal(err)
		}
		if chain, err = s.Chain(t.Context(), first); err != nil || len(chain) != 2 {
			t.Fatalf("chain: %d steps, %v", len(chain), err)
		}
	})
}

// Ten servers claim at once: no item twice, and never more in flight than the system's free slots.
func TestClaimsKeepToFreeSlots(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db storetest.DB) {
		const servers, slots, all = 6, 7, 120
		var stores []*store.Store
		for range servers {
			stores = append(stores, db.Open(t, store.Config{MaxConns: 3}))
		}
		sys := books()
		sys.MaxInFlight = slots
		must(t, stores[0].DeclareSystem(t.Context(), sys))
		recordMany(t, stores[0], 0, all)
		var mu sync.Mutex
		claims, open, worst := map[int64]int{}, 0, 0
		var wg sync.WaitGroup
		for _, s := range stores {
			wg.Go(func() {
				for t.Context().Err() == nil {
					pick := work.Pick{Due: &work.PickDue{SystemID: "books", Node: "a", Limit: 5}}
					claimed, err := s.Change(t.Context(), pick, claimAll)
					if err != nil {
						t.Error(err)
						return
					}
					mu.Lock()
					for _, m := range claimed {
						claims[m.Item.ID]++
					}
					open += len(claimed)
					worst = max(worst, open)
					done := len(claims) == all
					open -= len(claimed) // before the close, so that the count here is never above the database's
					mu.Unlock()
					if n, err := s.InFlight(t.Context()); err != nil || n["books"] > slots {
						t.Errorf("%v in flight, %d slots, %v", n, slots, err)
					}
					if _, err := closeWith(t.Context(), s, claimed, accepted); err != nil {
						t.Error(err)
						return
					}
					if done {
						return
					}
				}
			})
		}
		wg.Wait()
		for id, n := range claims {
			if n != 1 {
				t.Errorf("item %d was claimed %d times", id, n)
			}
		}
		if len(claims) != all || worst > slots {
			t.Errorf("%d of %d items claimed, at most %d at once", len(claims), all, worst)
		}
	})
}

func TestEndedCallsFreeTheirSlots(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store.Store, _ *clock) {
		sys, err := s.System(t.Context(), "books")
		must(t, err)
		sys.MaxInFlight, sys.PerSecond = 2, 0
		retune(t, s, sys)
		for i := range 5 {
			record(t, s, fmt.Sprintf("INV-%d", i))
		}
		first := claim(t, s, 10)
		if len(first) != 2 {
			t.Fatalf("claimed %d with two slots", len(first))
		}
		if got := len(claim(t, s, 10)); got != 0 {
			t.Fatalf("claimed %d with no slot", got)
		}
		moves, err := s.Change(t.Context(), work.Pick{Due: &work.PickDue{SystemID: "books", Node: "a", Limit: 10,
			Ended: []work.EndedCall{{ItemID: first[0].Item.ID, Attempt: 1}, {ItemID: first[1].Item.ID, Attempt: 7}, {ItemID: 99, Attempt: 1}}}}, claimAll)
		if err != nil || len(moves) != 1 {
			t.Fatalf("claimed %d with one ended call: %v", len(moves), err)
		}
	})
}

func TestPaceHoldsOverServers(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store.Store, c *clock) {
		sys, err := s.System(t.Context(), "books")
		must(t, err)
		sys.MaxInFlight, sys.PerSecond = 100, 8
		retune(t, s, sys)
		for i := range 40 {
			record(t, s, fmt.Sprintf("INV-%d", i))
		}
		begun := 0
		for range 21 { // two seconds, looked at ten times a second
			begun += len(claim(t, s, 10))
			c.advance(100 * time.Millisecond)
		}
		if begun < 16 || begun > 18 { // the rate, and a quarter of a second's worth at once
			t.Fatalf("%d calls began in two seconds at 8 a second", begun)
		}
	})
}

func TestExpiredAndWaitingPicks(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store.Store, c *clock) {
		record(t, s, "INV-1")
		claim(t, s, 1)
		record(t, s, "INV-2", func(n *work.New) { n.Source = "import:7" })
		none := func(time.Time, []work.Picked) ([]work.Move, error) { return nil, nil }
		count := func(pick work.Pick) (n int) {
			_, err := s.Change(t.Context(), pick, func(now time.Time, p []work.Picked) ([]work.Move, error) {
				n = len(p)
				return none(now, p)
			})
			must(t, err)
			return n
		}
		if n := count(work.Pick{Expired: 10}); n != 0 {
			t.Fatalf("%d expired before the lease ended", n)
		}
		c.advance(books().Rules().Lease())
		if n := count(work.Pick{Expired: 10}); n != 1 {
			t.Fatalf("%d expired, want 1", n)
		}
		for _, w := range []struct {
			pick work.PickWaiting
			want int
		}{{work.PickWaiting{SystemID: "books", Limit: 10}, 1}, {work.PickWaiting{Source: "import:7", Limit: 10}, 1},
			{work.PickWaiting{Source: "import:8", Limit: 10}, 0}, {work.PickWaiting{SystemID: "books", After: 1 << 40, Limit: 10}, 0}} {
			if n := count(work.Pick{System: &w.pick}); n != w.want {
				t.Errorf("%+v picked %d, want %d", w.pick, n, w.want)
			}
		}
	})
}

// A paused system claims only what is to be looked up.
func TestOnlyLookupsOfAPausedSystem(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store.Store, c *clock) {
		sent := record(t, s, "INV-1")
		_, err := closeWith(t.Context(), s, claim(t, s, 1), func(work.Item) work.Answer { return work.Answer{Outcome: work.Unknown} })
		must(t, err)
		record(t, s, "INV-2")
		must(t, s.Pause(t.Context(), "books", ada, "month end"))
		c.advance(time.Hour)
		claimed := claim(t, s, 10)
		if len(claimed) != 1 || claimed[0].Item.ID != sent.ID || claimed[0].Attempt.Kind != work.Find {
			t.Fatalf("claimed: %+v", claimed)
		}
	})
}

func TestDatabaseErrorIsNotNotFound(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store.Store, _ *clock) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := s.Item(ctx, 1, 1); err == nil || errors.Is(err, review.ErrNotFound) {
			t.Errorf("item: %v", err)
		}
		if _, err := s.System(ctx, "books"); err == nil || errors.Is(err, store.ErrSystemUnknown) {
			t.Errorf("system: %v", err)
		}
		if _, err := s.Item(t.Context(), 1, 1); !errors.Is(err, review.ErrNotFound) {
			t.Errorf("an item that is not there: %v", err)
		}
		if _, err := s.System(t.Context(), "none"); !errors.Is(err, store.ErrSystemUnknown) {
			t.Errorf("a system that is not there: %v", err)
		}
	})
}
