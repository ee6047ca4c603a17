package automation_test

import (
	"context"
	"errors"
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
}

func (s *awayStore) Change(ctx context.Context, pick work.Pick, decide func(time.Time, []work.Picked) ([]work.Move, error)) ([]work.Move, error) {
	if pick.InHand != nil && s.away > 0 {
		s.away--
		return nil, errors.New("the database is away")
	}
	return s.Store.Change(ctx, pick, decide)
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
		e := automation.NewEngine(automation.Config{Store: &awayStore{w.store, 5}, Node: "a", Now: w.clock.Now, Log: quiet, Connect: w.ledger,
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
