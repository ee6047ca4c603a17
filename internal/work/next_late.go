package work

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// lateAnswer takes in the answer to a send that had been given up. While another attempt is open it is only kept as
// evidence; that attempt's close decides on all evidence.
func lateAnswer(it *Item, ev LateAnswer, r Rules, now time.Time) error {
	if ev.Attempt <= 0 || ev.Attempt > it.Attempts || ev.Attempt == it.OpenAttempt {
		return refuse(RefusedAttempt)
	}
	it.Attempts++ // a row of its own
	a := ev.Answer
	if a.Outcome == Accepted && a.Record.ID == "" {
		a.Outcome, a.Positive = Unknown, true
	}
	if a.Outcome.SettlesAbsent() || a.Outcome == Accepted {
		it.Unsettled = slices.DeleteFunc(it.Unsettled, func(n int) bool { return n == ev.Attempt })
	}
	if a.Outcome == Accepted || a.Outcome == AlreadyExists || a.Positive {
		it.SettleFrom = maxTime(it.SettleFrom, ev.Ended) // the search may need its time to see it
	}
	switch {
	case a.Outcome == Accepted:
		return lateAccepted(it, a, r, now)
	case a.Outcome == AlreadyExists || a.Outcome == Unknown && a.Positive:
		lateReported(it, a, r, now)
	case a.Outcome.SettlesAbsent() && it.Status == Pending && it.OpenAttempt == 0 && absentWithoutLook(*it, r):
		it.LastError = orElse(a.Exchange.Error, it.LastError)
		if a.Outcome == Deferred { // its try is not given back: it may be of an earlier allowance
			it.SendAfter = now.Add(wait(*it, a.RetryAfter, r.Policy))
			absent(it, r, now)
			return nil
		}
		refused(it, a, r, ev.Ended, now)
	}
	return nil
}

// lateReported takes in that the system says it has the record, without showing it.
func lateReported(it *Item, a Answer, r Rules, now time.Time) {
	if it.Status.Done() || it.Positive == RecordWasFound {
		return
	}
	forgetProof(it)
	waiting := it.OpenAttempt == 0 && (it.Status == Queued || it.Status == Failed || it.Status == Pending)
	switch {
	case waiting:
		reported(it, a.Record, r, now)
	case it.Status == Closed && it.OpenAttempt == 0:
		it.Positive, it.LastError = ReportedThere, "it was closed, but the accounting system says that it is there"
		toReview(it, ReasonLateEvidence)
	default:
		it.Positive = ReportedThere
		it.SeenID, it.SeenNumber = orElse(a.Record.ID, it.SeenID), orElse(a.Record.Number, it.SeenNumber)
	}
}

func lateAccepted(it *Item, a Answer, r Rules, now time.Time) error {
	switch {
	case it.Status == Confirmed && it.isKnownAs(a.Record) && a.Match == MatchDifferent && it.OpenAttempt == 0:
		it.LastError = "the record differs from what was asked for" + colon(a.Remark)
		it.SeenID, it.SeenNumber = a.Record.ID, a.Record.Number
		toReview(it, ReasonMismatch)
	case it.Status.Done() && it.isKnownAs(a.Record):
		return nil
	case it.Status.Settled():
		why, what := ReasonLateEvidence, "an answer came late: record "+a.Record.ID+" is there"
		if it.Status == Confirmed {
			why, what = ReasonDuplicates, fmt.Sprintf("two records: %s and %s", it.ExternalID, a.Record.ID)
		}
		it.SeenID, it.SeenNumber, it.LastError, it.Positive = a.Record.ID, a.Record.Number, what, RecordWasFound
		if it.OpenAttempt != 0 { // a last look is open: its close decides
			it.LateID = a.Record.ID
			return nil
		}
		toReview(it, why)
	case it.OpenAttempt != 0:
		seen(it, a.Record)
		if it.LateID != "" && it.LateID != a.Record.ID {
			it.LateID += "," + a.Record.ID // two late records: no single id can match them any more
			return nil
		}
		it.LateID = a.Record.ID
	case it.Status == Review:
		seen(it, a.Record)
		it.Reason, it.LastError = ReasonLateEvidence, "an answer came late: record "+a.Record.ID+" is there"
	default:
		accepted(it, a, "late answer", r, now)
	}
	return nil
}

// lateWins decides at the close of an attempt that brought no record itself, while a late answer had: the record is
// there.
func lateWins(it *Item, r Rules, now time.Time) error {
	rec := Record{ID: it.LateID, Number: it.SeenNumber}
	several := strings.Contains(it.LateID, ",")
	it.LateID = ""
	if it.Status.Settled() {
		why := ReasonLateEvidence
		if it.Status == Confirmed {
			why = ReasonDuplicates
		}
		it.SeenID = rec.ID
		toReview(it, why)
		return nil
	}
	seen(it, rec)
	if several {
		it.LastError = "two records: " + rec.ID
		toReview(it, ReasonDuplicates)
		return nil
	}
	if it.Status == Review {
		it.Reason = ReasonLateEvidence
		return nil
	}
	if r.Capabilities.Searchable { // adopt it only after it was compared with what was asked
		it.Status, it.DueAt = Pending, now
		return nil
	}
	toReview(it, ReasonLateEvidence)
	return nil
}

// lateLookup takes in the result of a lookup that had been given up: a record that was seen is evidence, anything else
// says nothing.
func lateLookup(it *Item, ev LateLookup, r Rules, now time.Time) error {
	if ev.Attempt <= 0 || ev.Attempt > it.Attempts || ev.Attempt == it.OpenAttempt {
		return refuse(RefusedAttempt)
	}
	it.Attempts++
	l := ev.Lookup
	switch {
	case !l.Finding.Found() || l.Record.ID == "":
		return nil
	case it.Status.Settled():
		lateLookupAtSettled(it, l)
		return nil
	}
	seen(it, l.Record)
	if it.OpenAttempt == 0 && (it.Status == Queued || it.Status == Failed || it.Status == Pending) {
		it.Status, it.DueAt = Pending, now
	}
	return nil
}

// lateLookupAtSettled takes in a record that was seen late, if it speaks against what the item was settled as. While a
// look is open it is only kept: that look's close decides on all evidence.
func lateLookupAtSettled(it *Item, l Lookup) {
	why := ReasonLateEvidence
	switch {
	case l.Finding == FoundVoid:
		return
	case l.Finding == FoundSeveral:
		why = ReasonDuplicates
	case it.Status.Done() && it.isKnownAs(l.Record):
		return
	case it.Status == Confirmed:
		why = ReasonDuplicates
	}
	if it.OpenAttempt != 0 {
		it.LateID, it.SeenNumber, it.Positive = l.Record.ID, l.Record.Number, RecordWasFound
		return
	}
	seen(it, l.Record)
	it.LastError = fmt.Sprintf("seen late: record %s is there", l.Record.ID)
	toReview(it, why)
}
