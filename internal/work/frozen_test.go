package work_test

import (
	"testing"
	"time"

	"onefold/internal/work"
)

// TestAFrozenWriteIsFoundByTheLastLook is the one honest exception: a machine that freezes inside the write call itself
// has passed every check of send-by, and its request leaves when it thaws, long after everything should have settled.
// No rule can prevent the second record; the last look must find it.
func TestAFrozenWriteIsFoundByTheLastLook(t *testing.T) {
	r := work.Rules{Policy: work.DefaultPolicy(), Capabilities: work.Capabilities{Searchable: true, Linger: time.Minute}}
	now := noon
	it := work.Item{ID: 1, Version: 1, Reference: "INV-1", Step: "create", Steps: []string{"create"}, Status: work.Queued, DueAt: now,
		Invoice: work.Invoice{CustomerID: "C1", Total: mustAmount("1", "EUR")}}
	next := func(ev work.Event) {
		t.Helper()
		m, err := work.Decide(it, ev, r, now)
		if err != nil {
			t.Fatalf("%s on %s: %v", ev.Name(), it.Status, err)
		}
		it = m.Item
	}
	look := func(l work.Lookup) {
		t.Helper()
		now = it.DueAt
		next(work.Claimed{Node: "n2"})
		if it.OpenKind != work.Find {
			t.Fatalf("claimed for %q, not for a lookup; %s", it.OpenKind, it.Status)
		}
		next(work.FindClosed{Attempt: it.OpenAttempt, Started: now, Ended: now, Lookup: l})
	}

	next(work.Claimed{Node: "n1"}) // and here it freezes
	now = it.LeaseUntil
	next(work.LeaseExpired{})
	for it.Status == work.Pending {
		look(work.Lookup{Finding: work.NotFound})
	}
	if it.Status != work.Failed {
		t.Fatalf("proven absent, but %s", it.Status)
	}
	now = it.DueAt
	next(work.Claimed{Node: "n2"})
	next(work.SendClosed{Attempt: it.OpenAttempt, Ended: now, Answer: work.Answer{Outcome: work.Accepted, Match: work.MatchSame, Record: work.Record{ID: "R1"}}})
	if it.Status != work.Confirmed || it.LastLook != work.LastLookOwed {
		t.Fatalf("%s, last look %q", it.Status, it.LastLook)
	}
	if settled := now.Add(r.Settle()); it.DueAt.Before(settled) {
		t.Fatalf("the last look is made at %s, before all has settled at %s", it.DueAt, settled)
	}
	// The machine thaws and its request makes R2; its answer is lost with it.
	look(work.Lookup{Finding: work.FoundSeveral, Count: 2, Record: work.Record{ID: "R1"}})
	if it.Status != work.Review || it.Reason != work.ReasonDuplicates {
		t.Fatalf("two records, but %s (%s)", it.Status, it.Reason)
	}
	if _, err := work.Gate(it, r, now); err == nil {
		t.Fatal("and it would be sent once more")
	}
}
