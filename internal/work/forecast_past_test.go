package work_test

import (
	"testing"
	"time"

	"onefold/internal/work"
)

func past(total string, calls ...any) work.Past {
	at := time.Date(2026, 11, 1, 9, 0, 0, 0, time.UTC)
	inv := work.Invoice{CustomerID: "C1"}
	if total != "" {
		inv.Total = mustAmount(total, "EUR")
	}
	p := work.Past{ID: 7, Reference: "INV-1", Step: "create", Invoice: inv}
	for i, c := range calls {
		a := work.Attempt{Number: i + 1, StartedAt: at, EndedAt: at.Add(time.Second)}
		switch c := c.(type) {
		case work.Outcome:
			a.Kind, a.Outcome = work.Send, c
		case work.Finding:
			a.Kind, a.Finding = work.Find, c
		}
		p.Calls = append(p.Calls, a)
		at = at.Add(time.Minute)
	}
	return p
}

func TestReplayUnderOtherLimits(t *testing.T) {
	limits := func(sends int, wait time.Duration) work.Rules {
		p := work.DefaultPolicy()
		p.Sends, p.FirstDelay, p.Jitter = sends, wait, 0
		return work.Rules{Policy: p, Capabilities: work.Capabilities{Searchable: true}}
	}
	thrice := past("", work.Rejected, work.Rejected, work.Accepted)
	if r := work.Replay(thrice, limits(3, time.Minute)); r.Reason != "" || r.Open || r.After != time.Minute+150*time.Second+3*time.Second {
		t.Errorf("allowed three sends: %+v", r)
	}
	if r := work.Replay(thrice, limits(2, time.Minute)); r.Reason != work.ReasonRejected || r.After != time.Minute+2*time.Second {
		t.Errorf("allowed two sends: %+v", r)
	}
	twice := past("", work.Rejected, work.Rejected)
	if r := work.Replay(twice, limits(3, time.Minute)); !r.Open || r.Reason != "" {
		t.Errorf("one send more than was made: %+v", r)
	}
	lost := past("", work.Unknown, work.CouldNotTell, work.FoundMatching)
	if r := work.Replay(lost, limits(3, time.Minute)); r.Reason != "" || r.Open {
		t.Errorf("found in the end: %+v", r)
	}
	few := limits(3, time.Minute)
	few.Policy.Lookups, few.Policy.Misses = 1, 0
	if r := work.Replay(lost, few); r.Reason != work.ReasonCouldNotCheck {
		t.Errorf("one lookup: %+v", r)
	}
	dear := limits(3, time.Minute)
	limit := mustAmount("100", "EUR")
	dear.Policy.ApprovalLimit = &limit
	if r := work.Replay(past("100.01", work.Accepted), dear); r.Reason != work.ReasonApprovalRequired || r.After != 0 {
		t.Errorf("above the approval limit: %+v", r)
	}
	if r := work.Replay(past("100.00", work.Accepted), dear); r.Reason != "" {
		t.Errorf("at the approval limit: %+v", r)
	}
}
