package store_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"onefold/internal/store"
	"onefold/internal/store/storetest"
	"onefold/internal/work"
)

// BenchmarkClaimAndClose moves items from recorded to confirmed in batches of 500: a claim that opens 500 attempts and a
// close that ends them with full rows.
func BenchmarkClaimAndClose(b *testing.B) {
	for name, open := range map[string]func(testing.TB) storetest.DB{"sqlite": storetest.SQLite, "postgres": storetest.Postgres} {
		b.Run(name, func(b *testing.B) {
			s := open(b).Open(b, store.Config{})
			sys := books()
			sys.MaxInFlight = 1000
			must(b, s.DeclareSystem(b.Context(), sys))
			const batch = 500
			n := max(b.N, 1)
			for i := 0; i < n; i += 10 {
				recordMany(b, s, i*batch, min(10, n-i)*batch)
			}
			b.ResetTimer()
			for range n {
				closeAll(b, s, claim(b, s, batch))
			}
			b.ReportMetric(float64(n*batch)/b.Elapsed().Seconds(), "items/s")
		})
	}
}

// recordMany records new items in one change.
func recordMany(t testing.TB, s *store.Store, from, n int) {
	t.Helper()
	must(t, recordUnlessThere(t.Context(), s, from, n))
}

// recordUnlessThere records n items in one change, but for those whose key is taken.
func recordUnlessThere(ctx context.Context, s *store.Store, from, n int) error {
	keys := make([]work.PickKey, n)
	for i := range keys {
		keys[i] = work.PickKey{CompanyID: 1, Automation: "invoices", FoldedKey: work.FoldKey(benchKey(from + i)), Step: "create"}
	}
	_, err := s.Change(ctx, work.Pick{Keys: keys}, func(now time.Time, picked []work.Picked) ([]work.Move, error) {
		there := make(map[string]bool, len(picked))
		for _, p := range picked {
			there[p.Item.BusinessKey] = true
		}
		moves := make([]work.Move, 0, n)
		for i := range n {
			if there[benchKey(from+i)] {
				continue
			}
			m, err := newMove(benchKey(from+i), now)
			if err != nil {
				return nil, err
			}
			moves = append(moves, m)
		}
		return moves, nil
	})
	return err
}

func benchKey(i int) string { return fmt.Sprintf("INV-2026-11-%07d", i) }

func claim(t testing.TB, s *store.Store, limit int) []work.Move {
	t.Helper()
	moves, err := s.Change(t.Context(), work.Pick{Due: &work.PickDue{SystemID: "books", Node: "a", Limit: limit}}, claimAll)
	must(t, err)
	return moves
}

func claimAll(now time.Time, picked []work.Picked) ([]work.Move, error) {
	moves := make([]work.Move, 0, len(picked))
	for _, p := range picked {
		m, err := work.Decide(p.Item, work.Claimed{Node: "a", SendBy: now.Add(5 * time.Second)}, p.Rules, now)
		if err != nil {
			return nil, err
		}
		moves = append(moves, m)
	}
	return moves, nil
}

// closeAll closes the open attempts of claimed moves as accepted.
func closeAll(t testing.TB, s *store.Store, claimed []work.Move) []work.Move {
	t.Helper()
	moves, err := closeWith(t.Context(), s, claimed, accepted)
	must(t, err)
	return moves
}

func accepted(it work.Item) work.Answer {
	return work.Answer{Outcome: work.Accepted, Match: work.MatchSame,
		Record: work.Record{ID: "id-" + it.Reference, Number: "N-" + it.Reference, URL: "https://books.example/" + it.Reference},
		Exchange: work.Exchange{HTTPStatus: 201, Identity: "tenant-1", Request: `POST /invoices {"reference":"` + it.Reference + `","total":"120.00"}`,
			Response: `201 {"id":"id-` + it.Reference + `","number":"N-1","state":"posted"}`}}
}

func closeWith(ctx context.Context, s *store.Store, claimed []work.Move, answer func(work.Item) work.Answer) ([]work.Move, error) {
	inHand := make([]work.Picked, len(claimed))
	rules := books().Rules()
	for i, m := range claimed {
		inHand[i] = work.Picked{Item: m.Item, Rules: rules}
	}
	return s.Change(ctx, work.Pick{InHand: inHand}, func(now time.Time, picked []work.Picked) ([]work.Move, error) {
		moves := make([]work.Move, 0, len(picked))
		for _, p := range picked {
			m, err := work.Decide(p.Item, work.SendClosed{Attempt: p.Item.OpenAttempt, Ended: now, Answer: answer(p.Item)}, p.Rules, now)
			if err != nil {
				return nil, err
			}
			moves = append(moves, m)
		}
		return moves, nil
	})
}
