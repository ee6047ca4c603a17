package statedoc

import (
	"strings"
	"time"

	"onefold/internal/work"
)

func look(f work.Finding, id string) work.Lookup {
	return work.Lookup{Finding: f, Record: work.Record{ID: id}, Count: 1}
}

func findClosed(attempt int, lo work.Lookup) work.Event {
	return work.FindClosed{Attempt: attempt, Started: Now.Add(-time.Second), Ended: Now, Lookup: lo}
}

func (l *list) finds(status work.Status) {
	switch status {
	case work.InProgress:
		l.findsUnderWay()
	case work.Confirmed, work.Resolved, work.Closed:
		l.findsAtSettled(status)
	default:
		l.add(status, findClosed(1, look(work.FoundMatching, "R1")), "")
	}
}

func (l *list) findsUnderWay() {
	add := func(before work.Status, lo work.Lookup, when string, changes ...change) {
		all := append([]change{opened(work.Find, before)}, changes...)
		l.add(work.InProgress, work.FindClosed{Attempt: 2, Started: Now.Add(-time.Second), Ended: Now, Lookup: lo}, when, all...)
	}
	matching, missing := look(work.FoundMatching, "R1"), look(work.NotFound, "")
	taken := matching
	taken.Taken = true
	add(work.Pending, matching, "found_matching")
	add(work.Pending, look(work.FoundMatching, ""), "found without an id")
	add(work.Pending, taken, "found_matching, the record belongs to another item")
	add(work.Pending, matching, "found_matching, a correction waits", proposed)
	add(work.Pending, look(work.FoundMatching, "R2"), "found_matching, a late answer named another record", lateRecord)
	add(work.Pending, look(work.FoundDifferent, "R1"), "found_different")
	add(work.Pending, look(work.FoundSeveral, "R1"), "found_several")
	add(work.Pending, look(work.FoundVoid, "R1"), "found_void")
	add(work.Pending, missing, "not_found, proof")
	add(work.Pending, missing, "not_found, proof, send limit reached", sendLimit)
	add(work.Pending, missing, "not_found, proof, a correction waits", proposed)
	add(work.Pending, missing, "not_found, another miss is asked for", askMisses)
	add(work.Pending, missing, "not_found, still settling", justSent)
	add(work.Pending, missing, "not_found, but it was reported", reported)
	add(work.Pending, missing, "not_found, a late answer named a record", lateRecord)
	add(work.Pending, look(work.CouldNotTell, ""), "could_not_tell")
	add(work.Pending, look(work.CouldNotTell, ""), "could_not_tell, lookup limit reached", lookLimit)
	add(work.Pending, look(work.FindDeferred, ""), "deferred")
	never := []change{neverSent, lookFirst}
	add(work.Queued, missing, "never sent, look first: not_found", append(never, func(it *work.Item, _ *work.Rules) { it.OpenAttempt = 2; it.Attempts = 2 })...)
	add(work.Failed, missing, "a check of a failed item: not_found")
	add(work.Failed, look(work.CouldNotTell, ""), "a check of a failed item: could_not_tell")
	for _, lo := range []work.Lookup{matching, look(work.FoundDifferent, "R1"), look(work.FoundSeveral, "R1"), look(work.FoundVoid, "R1"),
		missing, look(work.CouldNotTell, ""), look(work.FindDeferred, "")} {
		add(work.Review, lo, "a check in review: "+string(lo.Finding))
	}
	add(work.Review, missing, "a check in review: not_found, but it was reported", reported)
	l.add(work.InProgress, findClosed(1, matching), "a send is open")
}

func (l *list) findsAtSettled(status work.Status) {
	add := func(lo work.Lookup, when string, changes ...change) {
		all := append([]change{lookOwed, opened(work.Find, status)}, changes...)
		l.add(status, findClosed(1, lo), when, all...)
	}
	l.add(status, findClosed(1, look(work.FoundMatching, "R1")), "nothing open")
	add(look(work.FoundMatching, "R1"), "last look: found_matching, R1")
	add(look(work.FoundMatching, "R2"), "last look: found_matching, R2")
	add(look(work.FoundDifferent, "R1"), "last look: found_different")
	add(look(work.FoundSeveral, "R1"), "last look: found_several")
	add(look(work.FoundVoid, "R1"), "last look: found_void")
	add(look(work.NotFound, ""), "last look: not_found")
	add(look(work.NotFound, ""), "last look: not_found again", missedOnce)
	add(look(work.CouldNotTell, ""), "last look: could_not_tell")
	add(look(work.FindDeferred, ""), "last look: deferred")
	add(look(work.NotFound, ""), "last look: not_found, a late answer named R2", func(it *work.Item, _ *work.Rules) { it.LateID = "R2" })
}

func (l *list) lateAnswers(status work.Status) {
	add := func(a work.Answer, when string, changes ...change) {
		l.add(status, work.LateAnswer{Attempt: 1, Ended: Now, Answer: a}, when, changes...)
	}
	once := func(it *work.Item, r *work.Rules) { // another attempt came after the one that was given up
		it.Attempts = 2
		if it.OpenAttempt != 0 {
			it.OpenAttempt = 2
		}
	}
	add(accepted("R1", work.MatchSame), "accepted, R1", once)
	add(accepted("R2", work.MatchSame), "accepted, R2", once)
	add(accepted("R1", work.MatchDifferent), "accepted, different", once)
	add(accepted("", work.MatchSame), "accepted without an id", once)
	for _, o := range []work.Outcome{work.Rejected, work.NotSent, work.Deferred, work.AlreadyExists, work.Unknown} {
		add(work.Answer{Outcome: o}, string(o), once)
	}
	add(work.Answer{Outcome: work.AlreadyExists}, "already_exists, cannot be searched", once, unsearchable)
	if status == work.Pending {
		add(work.Answer{Outcome: work.Rejected}, "rejected, another send is unknown", twoUnsettled)
		add(work.Answer{Outcome: work.Rejected}, "rejected, send limit reached", sendLimit)
	}
	l.add(status, work.LateAnswer{Attempt: 9, Ended: Now, Answer: accepted("R1", work.MatchSame)}, "of an attempt that was never made")
}

func (l *list) lateLookups(status work.Status) {
	for _, lo := range []work.Lookup{look(work.FoundMatching, "R1"), look(work.FoundMatching, "R2"), look(work.FoundSeveral, "R1"), look(work.FoundVoid, "R1"), look(work.NotFound, ""), look(work.CouldNotTell, "")} {
		l.add(status, work.LateLookup{Attempt: 1, Ended: Now, Lookup: lo}, strings.TrimSuffix(string(lo.Finding)+", "+lo.Record.ID, ", "), func(it *work.Item, _ *work.Rules) {
			it.Attempts = 2
			if it.OpenAttempt != 0 {
				it.OpenAttempt = 2
			}
		})
	}
	l.add(status, work.LateLookup{Attempt: 9, Ended: Now, Lookup: look(work.NotFound, "")}, "of an attempt that was never made")
}
