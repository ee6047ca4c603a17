package work

import (
	"fmt"
	"slices"
	"time"
)

// sendClosed takes in the answer to the open send. It settles this attempt only: what is unknown about earlier sends
// stays unknown.
func sendClosed(it *Item, ev SendClosed, r Rules, now time.Time) error {
	if it.OpenAttempt == 0 || it.OpenKind != Send || it.OpenAttempt != ev.Attempt {
		return refuse(RefusedAttempt)
	}
	before, number := it.Before, it.OpenAttempt
	closeAttempt(it)
	a := ev.Answer
	if a.Exchange.Identity != "" {
		it.Identity = a.Exchange.Identity
	}
	if a.Outcome == Accepted && a.Record.ID == "" {
		a.Outcome, a.Positive = Unknown, true // the adapter should have said so
	}
	if a.Outcome != Accepted {
		it.LastError = a.Exchange.Error
	}
	if it.LateID != "" && a.Outcome != Accepted && a.Outcome != Unknown {
		return lateWins(it, r, now)
	}
	switch a.Outcome {
	case Accepted:
		accepted(it, a, "answer", r, now)
	case Rejected, NotSent:
		forgetProof(it)
		refused(it, a, r, ev.Ended, now)
	case Deferred:
		it.SendsUsed--
		asBefore(it, before, r)
		it.DueAt = now.Add(wait(*it, a.RetryAfter, r.Policy))
		it.SendAfter = it.DueAt
	case AlreadyExists:
		forgetProof(it)
		it.SettleFrom = maxTime(it.SettleFrom, ev.Ended) // the search may need its time to see it
		reported(it, a.Record, r, now)
	default:
		forgetProof(it)
		unknown(it, number, a.Positive, r, ev.Ended, now)
	}
	return nil
}

// asBefore puts an item back where it was before a call that brought nothing. A late answer may have taken the proof away
// meanwhile: then its outcome is unknown.
func asBefore(it *Item, before Status, r Rules) {
	it.Status = before
	if before != Queued && before != Failed {
		return
	}
	unproven := !absentWithoutLook(*it, r) && it.AbsentAt.IsZero() && r.LookFirst.IsZero()
	if unproven || it.Positive != NoEvidence { // a late result may have spoken for it meanwhile
		it.Status = Pending
	}
}

func accepted(it *Item, a Answer, how string, r Rules, now time.Time) {
	switch {
	case it.LateID != "" && it.LateID != a.Record.ID:
		it.LastError = fmt.Sprintf("two records: %s and %s", it.LateID, a.Record.ID)
		seen(it, a.Record)
		toReview(it, ReasonDuplicates)
	case a.Taken:
		it.LastError = fmt.Sprintf("the record %s already belongs to another item", a.Record.ID)
		seen(it, a.Record)
		toReview(it, ReasonMismatch)
	case it.Proposed > 0:
		it.LastError = "the record is there as first sent; a correction was waiting"
		seen(it, a.Record)
		toReview(it, ReasonMismatch)
	case a.Match == MatchDifferent:
		it.LastError = "the record differs from what was asked for" + colon(a.Remark)
		seen(it, a.Record)
		toReview(it, ReasonMismatch)
	default:
		confirm(it, a.Record, how, a.Remark, r, now)
	}
}

// refused decides after a send that provably created nothing.
func refused(it *Item, a Answer, r Rules, ended, now time.Time) {
	it.SendAfter = ended.Add(r.Policy.Delay(max(it.SendsUsed, 1), it.seed()))
	reason := ReasonRejected
	if a.Outcome == NotSent {
		reason = ReasonAttemptsExhausted
	}
	switch {
	case !absentWithoutLook(*it, r):
		// An earlier send is still unknown: this refusal says nothing about it.
		it.Status, it.DueAt = Pending, now
		if !r.Capabilities.Searchable {
			it.DueAt = maxTime(it.SendAfter, it.SettledAt(r))
			if a.Final {
				toReview(it, ReasonCannotLookUp)
			}
		}
	case it.Proposed > 0:
		correctionWaits(it)
	case a.Final || it.SendsUsed >= r.Policy.Sends:
		toReview(it, reason)
	default:
		it.Status, it.DueAt = Failed, it.SendAfter
	}
}

// reported takes in that the system says it already has the record.
func reported(it *Item, rec Record, r Rules, now time.Time) {
	if it.Positive == NoEvidence {
		it.Positive = ReportedThere
	}
	if rec.ID != "" || rec.Number != "" {
		it.SeenID, it.SeenNumber = rec.ID, rec.Number
	}
	if !r.Capabilities.Searchable {
		toReview(it, ReasonCannotLookUp)
		return
	}
	it.Status, it.DueAt = Pending, now
}

func unknown(it *Item, number int, positive bool, r Rules, ended, now time.Time) {
	if !slices.Contains(it.Unsettled, number) {
		it.Unsettled = append(it.Unsettled, number)
	}
	it.SettleFrom = maxTime(it.SettleFrom, ended)
	it.SendAfter = ended.Add(r.Policy.Delay(max(it.SendsUsed, 1), it.seed()))
	if positive && it.Positive == NoEvidence {
		it.Positive = ReportedThere
	}
	settled := it.SettledAt(r)
	if r.Capabilities.Searchable {
		it.Status = Pending
		it.DueAt = maxTime(settled, now).Add(lookSpread(*it, number, r.Policy))
		return
	}
	again := maxTime(settled, it.SendAfter)
	if !r.Capabilities.HonoursKeys || !r.keyLives(it.FirstSentAt, again) || it.Positive != NoEvidence || !r.LookFirst.IsZero() ||
		it.SendsUsed >= r.Policy.Sends {
		it.Status = Pending // known before it is handed over: the outcome is unknown
		toReview(it, ReasonCannotLookUp)
		return
	}
	it.Status, it.DueAt = Pending, again
}

// lookSpread is a little spread before a look: what timed out together must not come back together.
func lookSpread(it Item, number int, p Policy) time.Duration {
	return time.Duration(spread(it.seed(), number) * p.Jitter * float64(p.FirstDelay))
}

// leaseExpired closes the open attempt of a lost worker. A send that was never closed counts as sent at the end of its
// lease, a lookup as one that could not tell.
func leaseExpired(it *Item, r Rules, now time.Time) error {
	if it.OpenAttempt == 0 || it.LeaseUntil.After(now) {
		return refuse(RefusedStatus)
	}
	lost := Exchange{Error: "the server that was working on it was lost"}
	if it.OpenKind == Send {
		return sendClosed(it, SendClosed{it.OpenAttempt, it.LeaseUntil, Answer{Outcome: Unknown, Exchange: lost}}, r, now)
	}
	return findClosed(it, FindClosed{it.OpenAttempt, it.OpenSince, it.LeaseUntil, Lookup{Finding: CouldNotTell, Exchange: lost}}, r, now)
}

func maxTime(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

func colon(s string) string {
	if s == "" {
		return ""
	}
	return ": " + s
}
