package automation_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"onefold/internal/automation"
	"onefold/internal/ledger"
	"onefold/internal/work"
)

// awayStore is a database that cannot take closes while away counts down.
type awayStore struct {
	automation.Store
	away int
	err  error
	done func() // after a close was taken; may be nil
}

type awayError struct{}

func (awayError) Error() string      { return "the database is away" }
func (awayError) DatabaseAway() bool { return true }

func (s *awayStore) Change(ctx context.Context, pick work.Pick, decide func(time.Time, []work.Picked) ([]work.Move, error)) ([]work.Move, error) {
	if pick.InHand != nil && s.away > 0 {
		s.away--
		return nil, fmt.Errorf("close: %w", s.err)
	}
	moves, err := s.Store.Change(ctx, pick, decide)
	if pick.InHand != nil && s.done != nil {
		s.done()
	}
	return moves, err
}

// The database is away for longer than any number of tries; what the call brought back is written when it is there again.
func TestAnswerOutlastsAnyTimeAway(t *testing.T) {
	eachWorld(t, searchable(), func(w *world) {
		w.record("INV-1")
		ctx, stop := withCancel(w.t)
		e := automation.NewEngine(automation.Config{Store: &awayStore{w.store, 500, awayError{}, stop}, Node: "a", Now: w.clock.Now, Log: quiet, Connect: w.ledger,
			Sleep: func(time.Duration) {}})
		w.must(e.Run(ctx))
		if got := w.item("INV-1"); got.Status != work.Confirmed || got.Attempts != 1 {
			t.Fatalf("%s after %d attempts", got.Status, got.Attempts)
		}
	})
}

// Other errors do not hold a server for ever, and a server that is to stop ends before it is killed.
func TestAnswersAreGivenUpAtLast(t *testing.T) {
	for _, c := range []struct {
		name      string
		err       error
		stopAfter int // waits
		from, to  time.Duration
	}{
		{"another error", errors.New("no such column"), 38, 2 * time.Minute, 4 * time.Minute},
		{"away while it stops", awayError{}, 0, 30 * time.Second, 50 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			eachWorld(t, searchable(), func(w *world) {
				w.record("INV-1")
				ctx, stop := withCancel(w.t)
				w.stub.then(func(s *stub, req ledger.Request, commit func(time.Duration) work.Record) work.Answer {
					if c.stopAfter == 0 {
						stop()
					}
					return accept(s, req, commit)
				})
				var waited time.Duration
				waits := 0
				e := automation.NewEngine(automation.Config{Store: &awayStore{w.store, 1000, c.err, nil}, Node: "a", Now: w.clock.Now, Log: quiet, Connect: w.ledger,
					Sleep: func(d time.Duration) {
						waited += d
						if waits++; waits == c.stopAfter {
							stop()
						}
					}})
				w.must(e.Run(ctx))
				if waited < c.from || waited > c.to {
					t.Errorf("it waited %s", waited)
				}
				w.run(time.Hour)
				w.wantStatus("INV-1", work.Confirmed)
				w.wantWrites(1)
			})
		})
	}
}

// A server that is told to stop while the database is away still writes down what its last call brought back.
func TestAnswerIsKeptWhileTheDatabaseIsAway(t *testing.T) {
	eachWorld(t, searchable(), func(w *world) {
		w.record("INV-1")
		ctx, stop := withCancel(w.t)
		w.stub.onSend = []behaviour{func(s *stub, req ledger.Request, commit func(time.Duration) work.Record) work.Answer {
			stop()
			return accept(s, req, commit)
		}}
		var waits []time.Duration
		e := automation.NewEngine(automation.Config{Store: &awayStore{w.store, 5, errors.New("the database is away"), nil}, Node: "a", Now: w.clock.Now, Log: quiet, Connect: w.ledger,
			Sleep: func(d time.Duration) { waits = append(waits, d) }})
		w.must(e.Run(ctx))
		if got := w.item("INV-1"); got.Status != work.Confirmed || got.Attempts != 1 {
			t.Fatalf("%s after %d attempts", got.Status, got.Attempts)
		}
		if len(waits) != 5 {
			t.Fatalf("waited %v", waits)
		}
		for i := 1; i < len(waits); i++ {
			if waits[i] <= waits[i-1] {
				t.Fatalf("each wait is longer than the last: %v", waits)
			}
		}
	})
}
