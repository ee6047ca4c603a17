package work_test

import (
	"slices"
	"testing"
	"time"

	"onefold/internal/work"
)

func TestNeedlessKeepsWhatTells(t *testing.T) {
	now := time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC)
	at := func(n int) time.Time { return now.Add(time.Duration(n) * time.Minute) }
	send := func(n, revision int, o work.Outcome) work.Attempt {
		return work.Attempt{Number: n, Kind: work.Send, Revision: revision, EndedAt: at(n), Outcome: o}
	}
	find := func(n int, f work.Finding) work.Attempt {
		return work.Attempt{Number: n, Kind: work.Find, Revision: 1, EndedAt: at(n), Finding: f}
	}
	late := send(6, 1, work.Accepted)
	late.LateFor = 2
	history := []work.Attempt{
		send(1, 1, work.Deferred), send(2, 1, work.Unknown), find(3, work.CouldNotTell), find(4, work.FoundVoid), send(5, 1, work.Rejected), late,
		send(7, 2, work.NotSent), send(8, 2, work.Unknown), find(9, work.NotFound), find(10, work.FoundMatching), find(11, work.NotFound),
	}
	it := work.Item{Status: work.Confirmed}
	if got := work.Needless(&it, history, now.Add(time.Hour)); !slices.Equal(got, []int{1, 2, 3, 7, 9, 11}) {
		t.Errorf("needless are %v", got)
	}
	if got := work.Needless(&it, history, at(7)); !slices.Equal(got, []int{1, 2, 3}) {
		t.Errorf("up to the sixth are needless %v", got)
	}
	for _, whole := range []work.Item{{Status: work.Queued}, {Status: work.InProgress}, {Status: work.Pending}, {Status: work.Failed}, {Status: work.Review},
		{Status: work.Confirmed, LastLook: work.LastLookOwed}, {Status: work.Closed, OpenAttempt: 3}} {
		if got := work.Needless(&whole, history, now.Add(time.Hour)); got != nil {
			t.Errorf("of %+v go %v", whole, got)
		}
	}
	open := append(slices.Clone(history), work.Attempt{Number: 12, Kind: work.Find})
	if got := work.Needless(&it, open, now.Add(time.Hour)); slices.Contains(got, 12) {
		t.Errorf("an attempt without an end is needless")
	}
}
