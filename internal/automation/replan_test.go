package automation_test

import (
	"sync"
	"testing"
	"time"

	"onefold/internal/ledger"
	"onefold/internal/review"
	"onefold/internal/store/storetest"
	"onefold/internal/work"
)

var tuner = work.Actor{Kind: work.Person, ID: "9", Name: "Anna Admin", Roles: []work.Role{work.Admin}}

// tune changes limits as an admin does on the page.
func (w *world) tune(set work.Limits) {
	w.t.Helper()
	l := review.NewLimits(w.store, 1)
	sys, err := l.System(w.t.Context(), tuner, "books")
	w.must(err)
	limits := sys.Limits("")
	for name, text := range set {
		limits[name] = text
	}
	w.must(l.Change(w.t.Context(), tuner, "books", "", sys.Limits(""), limits, ""))
}

// Changed limits hold for items that wait already: shorter waits begin at once, longer ones too, on whichever server.
func TestChangedLimitsHoldForWaitingItems(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db storetest.DB) {
		w := newWorld(t, db, work.Capabilities{Searchable: true}, func(s *work.System) { s.Policy.FirstDelay, s.Policy.LongestDelay = time.Hour, 24*time.Hour })
		w.stub.onSend = []behaviour{reject, reject}
		w.record("INV-1")
		w.once()
		if it := w.wantStatus("INV-1", work.Failed); it.DueAt.Sub(w.clock.Now()) < 50*time.Minute {
			t.Fatalf("due %v", it.DueAt)
		}
		w.tune(work.Limits{"first_delay": "1m0s"})
		w.engine = w.newEngine("b") // another server than the one that sent
		w.once()
		if it := w.wantStatus("INV-1", work.Failed); it.DueAt.Sub(w.clock.Now()) > 2*time.Minute {
			t.Fatalf("still due %v after the wait was made shorter", it.DueAt.Sub(w.clock.Now()))
		}
		w.clock.advance(2 * time.Minute)
		w.once()
		w.wantWrites(2)
		w.tune(work.Limits{"first_delay": "2h0m0s", "longest_delay": "24h0m0s"})
		w.once()
		if it := w.item("INV-1"); it.DueAt.Sub(w.clock.Now()) < 4*time.Hour {
			t.Fatalf("due %v after the wait was made longer", it.DueAt.Sub(w.clock.Now()))
		}
		w.run(12 * time.Hour)
		w.wantStatus("INV-1", work.Confirmed)
		w.wantHeld(1)
	})
}

// Fewer sends than were made already: a person gets it now, and not after the wait, without another send.
func TestLoweredLimitHandsOverAtOnce(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db storetest.DB) {
		w := newWorld(t, db, work.Capabilities{Searchable: true})
		w.stub.onSend = []behaviour{reject, reject, reject}
		w.record("INV-1")
		w.run(3 * time.Minute)
		writes := w.stub.writes()
		w.wantStatus("INV-1", work.Failed)
		w.tune(work.Limits{"sends": "2"})
		w.once()
		w.wantReview("INV-1", work.ReasonAttemptsExhausted)
		w.wantWrites(writes)
	})
}

// What the accounting system asked for is kept: a deferral is no wait of ours.
func TestChangedLimitsKeepWhatTheSystemAskedFor(t *testing.T) {
	w := newWorld(t, storetest.SQLite(t), work.Capabilities{Searchable: true})
	w.stub.onSend = []behaviour{deferFor(time.Hour)}
	w.record("INV-1")
	w.once()
	was := w.item("INV-1").DueAt
	w.tune(work.Limits{"first_delay": "1s"})
	w.once()
	if is := w.item("INV-1").DueAt; !is.Equal(was) || is.Sub(w.clock.Now()) < 50*time.Minute {
		t.Errorf("due %v, was %v", is, was)
	}
}

// A call that is on its way when limits change ends under the old ones; its item is planned anew when such calls are over.
func TestChangedLimitsReachWhatWasOnItsWay(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db storetest.DB) {
		w := newWorld(t, db, work.Capabilities{Searchable: true}, func(s *work.System) { s.Policy.FirstDelay, s.Policy.LongestDelay = time.Hour, 24*time.Hour })
		w.stub.onSend = []behaviour{func(*stub, ledger.Request, func(time.Duration) work.Record) work.Answer {
			w.tune(work.Limits{"first_delay": "1m0s"})
			other := w.newEngine("b")
			if _, err := other.Replan(t.Context()); err != nil { // the first time finds it on its way
				t.Error(err)
			}
			return work.Answer{Outcome: work.Rejected, Exchange: work.Exchange{HTTPStatus: 400}}
		}}
		w.record("INV-1")
		w.once()
		if it := w.wantStatus("INV-1", work.Failed); it.DueAt.Sub(w.clock.Now()) < 50*time.Minute {
			t.Fatalf("it was closed under the new limits already: due %v", it.DueAt)
		}
		w.clock.advance(40 * time.Second)
		w.once()
		if it := w.item("INV-1"); it.DueAt.Sub(w.clock.Now()) > time.Minute {
			t.Errorf("due %v", it.DueAt.Sub(w.clock.Now()))
		}
		if left, err := w.store.Replans(t.Context()); err != nil || len(left) != 0 {
			t.Errorf("left to plan: %+v %v", left, err)
		}
	})
}

// Several servers at once, thousands of items: each is planned once, and nothing is sent twice.
func TestManyServersPlanAnewAtOnce(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db storetest.DB) {
		w := newWorld(t, db, work.Capabilities{Searchable: true}, func(s *work.System) { s.Policy.FirstDelay, s.MaxInFlight = time.Hour, 5000 })
		const n = 1200
		for range n {
			w.stub.onSend = append(w.stub.onSend, reject)
		}
		w.record(keys(n)...)
		for w.stub.writes() < n {
			w.once()
		}
		w.tune(work.Limits{"first_delay": "1m0s"})
		var servers sync.WaitGroup
		counts := make([]int, 3)
		for i := range counts {
			e := w.newEngine(string(rune('b' + i)))
			servers.Go(func() {
				var err error
				if counts[i], err = e.Replan(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		servers.Wait()
		if counts[0]+counts[1]+counts[2] != n {
			t.Errorf("planned anew: %v, together not %d", counts, n)
		}
		w.clock.advance(2 * time.Minute)
		for w.once().Claimed > 0 {
			continue
		}
		w.wantHeld(n)
	})
}

// The breaker goes by the settings of the moment, also when they are lowered while calls fail.
func TestTheBreakersLimitsAreSettings(t *testing.T) {
	w := newWorld(t, storetest.SQLite(t), work.Capabilities{Searchable: true})
	w.record(keys(3)...)
	w.stub.onSend = []behaviour{notSent, notSent, notSent}
	w.once()
	open := func() time.Duration {
		sys, err := w.store.System(t.Context(), "books")
		w.must(err)
		if sys.BreakerUntil.IsZero() {
			return 0
		}
		return sys.BreakerUntil.Sub(w.clock.Now())
	}
	if d := open(); d != 0 {
		t.Fatalf("open for %v after three calls of five", d)
	}
	w.tune(work.Limits{"breaker_after": "2", "breaker_pause": "45s", "breaker_longest": "1m0s"})
	w.stub.onSend = []behaviour{notSent, notSent, notSent}
	w.clock.advance(time.Minute)
	w.once()
	if d := open(); d != 45*time.Second {
		t.Fatalf("open for %v", d)
	}
	w.stub.mu.Lock()
	w.stub.down = errDown
	w.stub.mu.Unlock()
	w.clock.advance(45 * time.Second)
	w.once()
	if d := open(); d != time.Minute {
		t.Errorf("open for %v the next time", d)
	}
}
