package automation_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"onefold/internal/automation"
	"onefold/internal/ledger"
	"onefold/internal/store"
	"onefold/internal/work"
)

// claims notes from where each claim looks, and lets some time pass before it.
type claims struct {
	automation.Store
	clock *clock
	mu    sync.Mutex
	froms []time.Time
}

func (c *claims) Change(ctx context.Context, pick work.Pick, f func(time.Time, []work.Picked) ([]work.Move, error)) ([]work.Move, error) {
	if pick.Due != nil {
		c.clock.advance(300 * time.Millisecond)
		c.mu.Lock()
		c.froms = append(c.froms, pick.Due.From)
		c.mu.Unlock()
	}
	return c.Store.Change(ctx, pick, f)
}

// Claims pass over what was claimed before, for a second at most: an item that was due sooner and is recorded late is taken up
// among them, long before all that is due is done, and one that comes last is taken up too.
func TestAnItemThatIsRecordedLateIsTakenUp(t *testing.T) {
	eachWorld(t, searchable(), func(w *world) {
		t := w.t
		sooner := newClock()
		w.clock.advance(time.Hour)
		late := automation.Intake{Store: w.db.Open(t, store.Config{Clock: sooner.Now, Node: "b"})}
		recordLate := func(key string) {
			_, err := late.Record(t.Context(), []work.New{{CompanyID: 1, Automation: "monthly", BusinessKey: key, SystemID: "books", Steps: w.system.Steps,
				Invoice: w.invoice("100.00"), Source: "test", By: work.Actor{Kind: work.Automation, ID: "test"}}})
			if err != nil {
				t.Error(err)
			}
		}
		const all = 30
		for _, key := range keys(all) {
			w.record(key)
			w.clock.advance(time.Millisecond)
		}
		sent := make(chan struct{}, 2*all)
		report := func(s *stub, req ledger.Request, commit func(time.Duration) work.Record) work.Answer {
			sent <- struct{}{}
			return accept(s, req, commit)
		}
		w.stub.then(func(s *stub, req ledger.Request, commit func(time.Duration) work.Record) work.Answer {
			recordLate("LATE-1")
			return report(s, req, commit)
		})
		for range 2 * all {
			w.stub.then(report)
		}
		watched := &claims{Store: w.store, clock: w.clock}
		e := automation.NewEngine(automation.Config{Store: watched, Node: "a", Now: w.clock.Now, Log: quiet, Batch: 1,
			Connect: func(work.System) (ledger.System, error) { return w.stub, nil }})
		ctx, stop := withCancel(t)
		done := make(chan error, 1)
		go func() { done <- e.Run(ctx) }()
		await := func(n int) {
			t.Helper()
			for range n {
				select {
				case <-sent:
				case <-time.After(30 * time.Second):
					t.Fatal("not all was taken up")
				}
			}
		}
		await(all + 1)
		recordLate("LATE-2")
		await(1)
		stop()
		w.must(<-done)
		w.wantStatus("LATE-1", work.Confirmed)
		w.wantStatus("LATE-2", work.Confirmed)
		w.wantWrites(all + 2)

		hinted, inARow := 0, 0
		for _, from := range watched.froms {
			if from.IsZero() {
				inARow = 0
				continue
			}
			hinted++
			if inARow++; inARow > 4 {
				t.Fatalf("more than a second passes before all that is due is looked through: %v", watched.froms)
			}
		}
		if hinted < all/2 {
			t.Errorf("%d of %d claims know where to begin", hinted, len(watched.froms))
		}
	})
}
