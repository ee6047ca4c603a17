package work_test

import (
	"testing"
	"time"

	"onefold/internal/work"
)

// A late "already there" comes while a send is open that was allowed by a proof of absence; then the send is put off. The
// proof is gone and another send is still unknown, so the item must not go back to "failed".
func TestDeferredAfterTheProofIsGoneIsUnknown(t *testing.T) {
	now := time.Date(2026, 11, 29, 9, 0, 0, 0, time.UTC)
	rules := work.Rules{Policy: work.DefaultPolicy(), Capabilities: work.Capabilities{Searchable: true}}
	rules.Policy.Settle = 0
	it := work.Item{ID: 1, Version: 1, Reference: "INV-1", Step: "create", Steps: []string{"create"}, Status: work.Failed, DueAt: now, Attempts: 4,
		Sends: 2, SendsUsed: 2, Unsettled: []int{1, 2}, SettleFrom: now.Add(-time.Hour), AbsentAt: now.Add(-time.Minute), AbsentBy: "lookup", Misses: 2}
	for _, ev := range []work.Event{
		work.Claimed{Node: "a", SendBy: now.Add(time.Second)},
		work.LateAnswer{Attempt: 1, Ended: now, Answer: work.Answer{Outcome: work.AlreadyExists}},
		work.SendClosed{Attempt: 5, Ended: now, Answer: work.Answer{Outcome: work.Deferred, RetryAfter: time.Minute}},
	} {
		next, err := work.Next(it, ev, rules, now)
		if err != nil {
			t.Fatalf("%s: %v", ev.Name(), err)
		}
		it = next
	}
	if it.Status != work.Pending || it.DueAt.IsZero() {
		t.Errorf("the item is %s, unsettled %v, proof %v", it.Status, it.Unsettled, it.AbsentAt)
	}
}

// Found by a random run: under look-first a late lookup found the record while the next look was open; that one was put
// off by the system, and the item went back to waiting to be sent.
func TestDeferredLookKeepsWhatALateOneFound(t *testing.T) {
	now := time.Date(2026, 11, 29, 9, 0, 0, 0, time.UTC)
	r := work.Rules{Policy: work.DefaultPolicy(), Capabilities: work.Capabilities{Searchable: true, Misses: 1}, LookFirst: now.Add(-time.Hour)}
	it := work.Item{ID: 1, CompanyID: 1, Status: work.InProgress, Before: work.Queued, Attempts: 2, OpenAttempt: 2, OpenKind: work.Find, OpenSince: now,
		LeaseUntil: now.Add(time.Minute), SettleBy: now.Add(time.Hour), Steps: []string{"create"}, Step: "create", Version: 1}
	late := work.Lookup{Finding: work.FoundMatching, Record: work.Record{ID: "R-1", State: work.StatePosted}}
	for _, ev := range []work.Event{
		work.LateLookup{Attempt: 1, Ended: now, Lookup: late},
		work.FindClosed{Attempt: 2, Started: now, Ended: now, Lookup: work.Lookup{Finding: work.FindDeferred, RetryAfter: time.Minute}},
	} {
		m, err := work.Decide(it, ev, r, now)
		if err != nil {
			t.Fatal(err)
		}
		it = m.Item
	}
	if it.Status != work.Pending || it.DueAt.IsZero() {
		t.Fatalf("%s, due %s: the record was seen", it.Status, it.DueAt)
	}
}

// A system that refuses for days without saying for how long is not asked every minute, and each wait is longer than the last.
func TestDeferralsWithoutATimeWaitLonger(t *testing.T) {
	r := work.Rules{Policy: work.DefaultPolicy(), Capabilities: work.Capabilities{Searchable: true}}
	now := time.Date(2026, 11, 1, 9, 0, 0, 0, time.UTC)
	it := work.Item{ID: 7, Reference: "INV-7", Step: "create", Steps: []string{"create"}, Status: work.Queued, DueAt: now, Revision: 1, SettleBy: now.Add(time.Hour), Version: 1}
	asked, end := 0, now.Add(24*time.Hour)
	var last time.Duration
	for ; now.Before(end); asked++ {
		for _, ev := range []work.Event{work.Claimed{Node: "a", SendBy: now.Add(time.Second)},
			work.SendClosed{Attempt: asked + 1, Ended: now, Answer: work.Answer{Outcome: work.Deferred}}} {
			next, err := work.Next(it, ev, r, now)
			if err != nil {
				t.Fatal(err)
			}
			it = next
		}
		wait := it.DueAt.Sub(now)
		if wait < time.Minute || wait < last && wait < r.Policy.LongestDelay || wait > r.Policy.LongestDelay+5*time.Second {
			t.Fatalf("the wait after %s is %s", last, wait)
		}
		last, now = wait, it.DueAt
	}
	if asked > 40 {
		t.Errorf("asked %d times in a day", asked)
	}
}
