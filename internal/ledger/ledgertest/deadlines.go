package ledgertest

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"onefold/internal/ledger"
	"onefold/internal/work"
)

func testDeadlines(t *testing.T, target Target) {
	t.Run("SendByInThePast", func(t *testing.T) { testPast(t, target) })
	t.Run("FrozenBeforeTheWrite", func(t *testing.T) { testFrozen(t, target) })
	t.Run("ContextEndedBefore", func(t *testing.T) { testEnded(t, target) })
}

func testPast(t *testing.T, target Target) {
	b := newBench(t, target, Setup{})
	for _, step := range b.steps {
		b.reach(step, "INV-1")
		received, _ := b.out.Traffic()
		writes := len(b.out.Writes())
		req := b.request(step, "INV-1")
		req.SendBy = ledger.NewDeadline(time.Now().Add(-time.Hour), time.Minute)
		a := b.sys.Send(t.Context(), req) // the adapter itself, without the engine's guard
		b.out.Wait()
		checkOutcome(t, a, work.NotSent)
		if now, _ := b.out.Traffic(); now != received || len(b.out.Writes()) != writes {
			t.Errorf("%s: the server received %d bytes", step, now-received)
		}
		if n := b.out.Effects(step, "INV-1"); n != 0 {
			t.Errorf("%s took effect", step)
		}
	}
}

// testFrozen lets the adapter's clock jump past send-by at its n-th reading, as it does in a process that was stopped
// there and went on later. Whatever the reading, no request may be called "not sent" of which a byte arrived, and the
// last reading before the hand-over must stop it.
func testFrozen(t *testing.T, target Target) {
	for _, step := range newBench(t, target, Setup{}).steps {
		t.Run(step, func(t *testing.T) {
			stopped := 0
			for n := int64(1); n <= 4; n++ {
				if frozenAt(t, target, step, n) == work.NotSent {
					stopped++
				} else if n == 1 {
					t.Error("sent although the clock was past send-by from the first reading on")
				}
			}
			if stopped < 2 {
				t.Error("send-by is checked before the connection is made, but not before the bytes are handed over")
			}
		})
	}
}

func frozenAt(t *testing.T, target Target, step string, n int64) work.Outcome {
	t.Helper()
	var readings atomic.Int64
	var armed atomic.Bool
	start := time.Now()
	b := newBench(t, target, Setup{Now: func() time.Time {
		if armed.Load() && readings.Add(1) >= n {
			return start.Add(time.Hour)
		}
		return start
	}})
	b.reach(step, "INV-1")
	received, _ := b.out.Traffic()
	writes := len(b.out.Writes())
	req := b.request(step, "INV-1")
	req.SendBy = ledger.NewDeadline(start, time.Minute)
	armed.Store(true)
	a := b.sys.Send(t.Context(), req)
	b.out.Wait()
	now, _ := b.out.Traffic()
	checkAnswer(t, a, b.out.Effects(step, "INV-1"), len(b.out.Writes())-writes)
	if a.Outcome == work.NotSent && now != received && !target.ReadsFirst { // else checkAnswer has held it against the writes
		t.Errorf("reading %d: not sent, but %d bytes arrived", n, now-received)
	}
	return a.Outcome
}

func testEnded(t *testing.T, target Target) {
	b := newBench(t, target, Setup{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	a := b.sys.Send(ctx, b.request(b.steps[0], "INV-1"))
	b.out.Wait()
	checkAnswer(t, a, b.out.Effects(b.steps[0], "INV-1"), len(b.out.Writes()))
	checkOutcome(t, a, work.NotSent, work.Unknown)
}
