package statedoc

import (
	"time"

	"onefold/internal/work"
)

// reports are what a report of the accounting system may say, of systems that cannot be searched but for the last.
func (l *list) reports(status work.Status) {
	report := func(lo work.Lookup, whole bool, age time.Duration) work.Event {
		return work.Reported{By: anna, Report: "report:7", Exported: Now.Add(-age), Whole: whole, Lookup: lo}
	}
	add := func(lo work.Lookup, when string, changes ...change) {
		l.add(status, report(lo, true, time.Minute), when, append([]change{unsearchable}, changes...)...)
	}
	matching, missing := look(work.FoundMatching, "R1"), look(work.NotFound, "")
	add(matching, "found_matching")
	add(look(work.FoundDifferent, "R1"), "found_different")
	add(look(work.FoundSeveral, "R1"), "found_several")
	add(look(work.FoundVoid, "R1"), "found_void")
	add(missing, "not_found")
	switch status {
	case work.Pending, work.Review:
		add(missing, "not_found, outcome unknown", unsettled)
		add(missing, "not_found, but it was reported", reported)
		add(missing, "not_found, still settling", justSent)
		add(missing, "not_found, a later step", laterStep)
		add(missing, "not_found, send limit reached", unsettled, sendLimit)
		add(look(work.CouldNotTell, ""), "could_not_tell")
		l.add(status, report(missing, false, time.Minute), "not_found, the report is not whole", unsearchable)
		l.add(status, report(missing, true, work.ProofLife+time.Minute), "not_found, the report is too old", unsearchable)
		l.add(status, report(missing, true, -time.Minute), "not_found, made in the future", unsearchable)
		l.add(status, report(missing, true, time.Minute), "not_found, searchable, another miss is asked for", unsettled, askMisses)
		l.add(status, work.Reported{By: robot, Report: "report:7", Exported: Now, Whole: true, Lookup: matching}, "by a token", unsearchable)
		taken := matching
		taken.Taken = true
		add(taken, "found_matching, the record belongs to another item", unknownInReview)
		add(matching, "found_matching, outcome unknown", unknownInReview)
		add(matching, "found_matching, a correction waits", unknownInReview, proposed)
		add(look(work.FoundMatching, "R2"), "found_matching, another record was seen", unknownInReview, found)
	case work.Closed:
		add(matching, "found_matching, it was seen when it was closed", found)
	}
	if status == work.Review {
		for _, why := range []work.Reason{work.ReasonHeld, work.ReasonApprovalRequired, work.ReasonMismatch, work.ReasonDuplicates, work.ReasonContradiction} {
			add(matching, "found_matching, in review as "+string(why), func(it *work.Item, _ *work.Rules) { it.Reason = why })
		}
	}
}

func unknownInReview(it *work.Item, r *work.Rules) {
	unsettled(it, r)
	if it.Status == work.Review {
		it.Reason = work.ReasonCannotLookUp
	}
}
