package work

import (
	"errors"
	"math/rand/v2"
	"testing"
	"time"
)

// Whatever the last call brought, an item that waits under old limits and is planned anew waits until the same time as if
// the new limits had held when that call ended; the same limits change nothing; and the next claim does the same.
func TestPlannedAnewAsUnderTheNewLimits(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 5))
	start := time.Date(2026, 11, 29, 10, 0, 0, 0, time.UTC)
	checked := map[Status]int{}
	for range 4000 {
		old, r := randomRules(rnd), randomRules(rnd)
		r.Capabilities = old.Capabilities
		now := start
		it := Item{ID: rnd.Int64N(1e6), Reference: "INV", Step: "create", Steps: []string{"create"}, Revision: 1, Status: Queued, DueAt: now, RecordedAt: start,
			SettleBy: start.Add(old.Policy.SettleWithin)}
		var last, send Attempt
		for it.Status != Review {
			if it.Status == Queued && it.Attempts > 0 {
				break
			}
			now = maxTime(now, it.DueAt)
			claimed, err := Next(it, Claimed{Node: "one", SendBy: now.Add(time.Second)}, old, now)
			if err != nil {
				t.Fatal(err)
			}
			it = claimed
			if it.OpenAttempt == 0 {
				continue
			}
			ended := now.Add(time.Second)
			last = Attempt{Number: it.OpenAttempt, Kind: it.OpenKind, EndedAt: ended}
			var ev Event
			if it.OpenKind == Send {
				last.Outcome = []Outcome{Rejected, NotSent, Unknown, Unknown, Deferred, AlreadyExists}[rnd.IntN(6)]
				ev = SendClosed{it.OpenAttempt, ended, Answer{Outcome: last.Outcome, RetryAfter: time.Minute}}
				send = last
			} else {
				last.Finding = []Finding{NotFound, NotFound, CouldNotTell, FindDeferred}[rnd.IntN(4)]
				ev = FindClosed{it.OpenAttempt, now, ended, Lookup{Finding: last.Finding, RetryAfter: time.Minute}}
			}
			under, err := Next(it, ev, old, ended)
			if err != nil {
				t.Fatal(err)
			}
			would, err := Next(it, ev, r, ended)
			if err != nil {
				t.Fatal(err)
			}
			now = ended
			it = under
			replan := Replanned{Attempts: it.Attempts, Last: last, Send: send, Since: start}
			var refusal *Refusal
			if is, err := Next(it, replan, old, now); !errors.As(err, &refusal) || refusal.Code != RefusedUnchanged {
				t.Fatalf("the same limits change what is due %v to %v and sent after %v to %v, after %+v and %+v: %v", it.DueAt, is.DueAt, it.SendAfter, is.SendAfter, last, send, err)
			}
			is, err := Next(it, replan, r, now)
			if err != nil && !errors.As(err, &refusal) {
				t.Fatal(err)
			}
			if is.Status != it.Status {
				t.Fatalf("planning anew made %s of %s", is.Status, it.Status)
			}
			if it.Status == Review || would.Status == Review {
				if would.Status == Review && it.Status != Review && last.Outcome != Deferred && last.Finding != NotFound && it.Sends > 0 && r.Capabilities.Searchable && is.DueAt.After(now) {
					t.Fatalf("it should be handed to a person now, not at %v: %+v", is.DueAt.Sub(now), is)
				}
				continue
			}
			if last.Kind == Find && is.Status == Failed && !is.SendAfter.IsZero() && is.SendsUsed < r.Policy.Sends {
				// The wait began with the send, whose close was under the old limits too.
				if own := send.EndedAt.Add(r.Policy.Delay(is.SendsUsed, is.seed())); !is.SendAfter.Equal(own) && last.Finding != FindDeferred && apart(is.SendAfter, it.SendAfter) >= time.Second {
					t.Fatalf("sent again after %v, not %v", is.SendAfter, own)
				}
				continue
			}
			// A miss that counted under the old limits, or did not, is what it is.
			same := would.Status == it.Status && would.Misses == it.Misses && would.LastMissAt.Equal(it.LastMissAt) && would.AbsentAt.Equal(it.AbsentAt)
			if same && apart(maxTime(would.DueAt, now), maxTime(is.DueAt, now)) > time.Second {
				t.Fatalf("%s after %s%s: planned anew for %v, under the new limits it would be %v (it was %v)", it.Status, last.Outcome, last.Finding,
					is.DueAt.Sub(now), would.DueAt.Sub(now), it.DueAt.Sub(now))
			}
			checked[it.Status]++
		}
	}
	if checked[Failed] < 1000 || checked[Pending] < 1000 {
		t.Errorf("too little was tried: %v", checked)
	}
}
