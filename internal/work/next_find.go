package work

import (
	"fmt"
	"time"
)

// findClosed takes in the result of the open lookup.
func findClosed(it *Item, ev FindClosed, r Rules, now time.Time) error {
	if it.OpenAttempt == 0 || it.OpenKind != Find || it.OpenAttempt != ev.Attempt {
		return refuse(RefusedAttempt)
	}
	before := it.Before
	closeAttempt(it)
	l := ev.Lookup
	if l.Finding.Found() && l.Record.ID == "" {
		l.Finding = CouldNotTell // a record without an id is none
	}
	if l.Exchange.Error != "" {
		it.LastError = l.Exchange.Error
	}
	if l.Finding == FindDeferred {
		it.LookupsUsed--
		asBefore(it, before, r)
		it.DueAt = now.Add(wait(*it, l.RetryAfter, r.Policy))
		return nil
	}
	if it.LateID != "" && !l.Finding.Found() {
		return lateWins(it, r, now)
	}
	switch {
	case before.Settled():
		lookedAtSettled(it, ev, l, r, now)
	case before == Review:
		lookedInReview(it, ev, l, r, now)
	default:
		lookedUnderWay(it, ev, l, before, byLookup, r, now)
	}
	return nil
}

// lookedUnderWay decides for an item that the automation is working on; how names the evidence if it is confirmed.
func lookedUnderWay(it *Item, ev FindClosed, l Lookup, before Status, how string, r Rules, now time.Time) {
	it.LookAsked = ""
	switch l.Finding {
	case FoundMatching:
		found(it, l, how, r, now)
	case FoundDifferent, FoundSeveral, FoundVoid:
		seen(it, l.Record)
		it.LastError = "the record differs from what was asked for" + colon(l.Remark)
		switch l.Finding {
		case FoundSeveral:
			it.LastError = fmt.Sprintf("%d records with this reference", l.Count)
			toReview(it, ReasonDuplicates)
		case FoundVoid:
			it.LastError = "the record is there, but void or deleted"
			toReview(it, ReasonFoundVoid)
		default:
			toReview(it, ReasonMismatch)
		}
	case NotFound:
		missed(it, ev, r, now)
		switch {
		case it.Positive != NoEvidence && it.Misses >= r.Misses():
			it.LastError = "the accounting system said that it is there, but does not show it"
			toReview(it, ReasonContradiction)
		case provenAbsent(*it, r, now):
			absent(it, r, now)
		case absentWithoutLook(*it, r):
			it.Status, it.DueAt = before, maxTime(it.SendAfter, now)
		default:
			it.Status = Pending
			it.DueAt = maxTime(nextLook(*it, r), now)
		}
	default: // CouldNotTell
		forgetProof(it)
		switch {
		case absentWithoutLook(*it, r):
			it.Status, it.DueAt = before, maxTime(it.SendAfter, now) // a check that failed changes nothing
		case it.LookupsUsed >= r.Policy.Lookups:
			toReview(it, ReasonCouldNotCheck)
		default:
			it.Status = Pending
			it.DueAt = now.Add(lookupWait(*it, r.Policy))
		}
	}
}

// found adopts the one record that matches.
func found(it *Item, l Lookup, how string, r Rules, now time.Time) {
	switch {
	case it.LateID != "" && it.LateID != l.Record.ID:
		it.LastError = fmt.Sprintf("two records: %s and %s", it.LateID, l.Record.ID)
		seen(it, l.Record)
		toReview(it, ReasonDuplicates)
	case l.Taken:
		it.LastError = fmt.Sprintf("the record %s already belongs to another item", l.Record.ID)
		seen(it, l.Record)
		toReview(it, ReasonMismatch)
	case it.Proposed > 0:
		it.LastError = "the record is there as first sent; a correction was waiting"
		seen(it, l.Record)
		toReview(it, ReasonMismatch)
	default:
		confirm(it, l.Record, how, l.Remark, r, now)
	}
}

// missed counts a miss if it may count: begun after everything had settled and could be seen, and apart from the last.
// Enough of them in a row prove absence, unless there is evidence to the contrary.
func missed(it *Item, ev FindClosed, r Rules, now time.Time) {
	if visible := visibleFrom(*it, r); !visible.IsZero() {
		if ev.Started.Before(visible) {
			return
		}
		if it.LastMissAt.Before(visible) { // the rules were raised meanwhile
			it.Misses = 0
		}
	}
	if it.Misses > 0 && ev.Started.Before(it.LastMissAt.Add(max(r.SearchLag(), minApart))) {
		return
	}
	it.Misses++
	it.LastMissAt = ev.Started
	if it.Misses >= r.Misses() && it.Positive == NoEvidence && it.LateID == "" {
		it.AbsentAt, it.AbsentBy = ev.Started, byLookup
	}
}

// minApart keeps two misses from being one look at the same moment.
const minApart = 50 * time.Millisecond

// visibleFrom is when whatever was sent, and whatever was said to be there, can be seen by the search; zero: at once.
func visibleFrom(it Item, r Rules) time.Time {
	t := it.SettledAt(r)
	if it.Positive != NoEvidence {
		t = maxTime(t, it.SettleFrom)
	}
	if t.IsZero() {
		return t
	}
	return t.Add(r.SearchLag())
}

// nextLook is the earliest time at which a lookup can count as the next miss.
func nextLook(it Item, r Rules) time.Time {
	t := visibleFrom(it, r)
	if it.Misses > 0 {
		t = maxTime(t, it.LastMissAt.Add(max(r.SearchLag(), minApart)))
	}
	// Looks that cannot count yet may still find it; they are few and far between.
	return t
}

// absent moves an item on whose absence is proven.
func absent(it *Item, r Rules, now time.Time) {
	it.LastError = orElse(it.LastError, "not there: searched and not found")
	switch {
	case it.Proposed > 0:
		correctionWaits(it)
	case it.SendsUsed >= r.Policy.Sends:
		toReview(it, ReasonAttemptsExhausted)
	case it.Sends == 0:
		it.Status, it.DueAt = Queued, maxTime(it.SendAfter, now)
	default:
		it.Status, it.DueAt = Failed, maxTime(it.SendAfter, now)
	}
}

// lookedInReview keeps the finding as evidence; the person decides.
func lookedInReview(it *Item, ev FindClosed, l Lookup, r Rules, now time.Time) {
	again := it.LookAsked
	it.Status, it.LookAsked = Review, ""
	switch l.Finding {
	case FoundMatching:
		seen(it, l.Record)
		if l.Taken {
			it.LastError = fmt.Sprintf("the record %s already belongs to another item", l.Record.ID)
			it.Reason = ReasonMismatch
		}
	case FoundDifferent:
		seen(it, l.Record)
		it.Reason = ReasonMismatch
	case FoundSeveral:
		seen(it, l.Record)
		it.Reason = ReasonDuplicates
	case FoundVoid:
		seen(it, l.Record)
		it.Reason = ReasonFoundVoid
	case NotFound:
		missed(it, ev, r, now)
		if it.Positive != NoEvidence && it.Misses >= r.Misses() {
			it.Reason = ReasonContradiction
			return
		}
		// One wish is looked at until it proves something: the system may ask for more than one miss.
		if !provenAbsent(*it, r, now) {
			it.LookAsked, it.DueAt = again, maxTime(nextLook(*it, r), now)
		}
	default:
		forgetProof(it)
	}
}

// lookedAtSettled takes in a last look, or a check of an item that is settled.
func lookedAtSettled(it *Item, ev FindClosed, l Lookup, r Rules, now time.Time) {
	contrary := func(why Reason, what string) {
		it.LastError = what
		it.SeenID, it.SeenNumber, it.LastLook = l.Record.ID, l.Record.Number, LastLookDone
		it.Positive = RecordWasFound
		toReview(it, why)
	}
	early := it.LookAsked != "" // a check may come before everything has settled: the last look stays owed
	it.LookAsked = ""
	if early {
		it.LookupsUsed--
	}
	switch {
	case it.LateID != "" && l.Finding.Found() && it.LateID != l.Record.ID:
		contrary(ReasonDuplicates, fmt.Sprintf("two records: %s and %s", it.LateID, l.Record.ID))
	case l.Finding == FoundSeveral:
		contrary(ReasonDuplicates, fmt.Sprintf("%d records with this reference", l.Count))
	case l.Finding == CouldNotTell:
		lookAgain(it, r, now.Add(lookupWait(*it, r.Policy)), early, now)
	case it.Status == Confirmed && l.Finding == NotFound:
		// One miss is never enough here: the record may be too new for the search.
		if countMiss(it, ev.Started, r); it.Misses >= max(2, r.Misses()) {
			contrary(ReasonContradiction, "it was there, but the accounting system does not show it any more")
			it.SeenID, it.SeenNumber = it.ExternalID, it.ExternalNumber
			return
		}
		it.LastLook = LastLookOwed
		lookAgain(it, r, now.Add(max(r.SearchLag(), lookupWait(*it, r.Policy))), early, now)
	case l.Finding == NotFound: // as the person said, if it is missed as often as the system asks
		countMiss(it, ev.Started, r)
		if !early && it.LastLook == LastLookOwed && it.Misses < r.Misses() {
			lookAgain(it, r, now.Add(max(r.SearchLag(), minApart)), early, now)
			return
		}
		lookedAtLast(it, r, early, now)
	case it.Status == Closed && l.Finding == FoundVoid:
		lookedAtLast(it, r, early, now)
	case it.Status == Closed:
		contrary(ReasonLateEvidence, "it was closed, but a record is there")
	case l.Finding == FoundVoid:
		contrary(ReasonFoundVoid, "the record is there, but void or deleted")
	case it.Status == Resolved && !it.isKnownAs(l.Record):
		contrary(ReasonLateEvidence, "it was resolved under another record than the one that is there")
	case it.Status == Confirmed && l.Record.ID != it.ExternalID:
		contrary(ReasonDuplicates, fmt.Sprintf("two records: %s and %s", it.ExternalID, l.Record.ID))
	case it.Status == Confirmed && l.Finding == FoundDifferent:
		contrary(ReasonMismatch, "the record differs from what was asked for"+colon(l.Remark))
	default:
		it.Misses = 0
		lookedAtLast(it, r, early, now)
	}
}

// countMiss counts a miss at a settled item if it is apart from the one before.
func countMiss(it *Item, started time.Time, r Rules) {
	if it.Misses == 0 || !started.Before(it.LastMissAt.Add(max(r.SearchLag(), minApart))) {
		it.Misses++
		it.LastMissAt = started
	}
}

// lookedAtLast ends the last look, unless the look came early.
func lookedAtLast(it *Item, r Rules, early bool, now time.Time) {
	if early && it.LastLook == LastLookOwed {
		it.Misses = 0
		it.DueAt = lastLookAt(*it, r, now)
		return
	}
	it.LastLook = LastLookDone
}

// lookAgain plans the next try of a last look, as long as lookups are left; after an early look not before all settles.
func lookAgain(it *Item, r Rules, when time.Time, early bool, now time.Time) {
	switch {
	case it.LastLook != LastLookOwed:
	case it.LookupsUsed >= r.Policy.Lookups:
		it.LastLook = LastLookMissed
	case early:
		it.DueAt = maxTime(when, lastLookAt(*it, r, now))
	default:
		it.DueAt = when
	}
}

// isKnownAs reports whether rec is the record under which the item is settled, by id or number.
func (it Item) isKnownAs(rec Record) bool {
	return rec.ID == it.ExternalID || rec.Number != "" && rec.Number == it.ExternalNumber ||
		FoldKey(rec.Number) == FoldKey(it.ExternalID) && rec.Number != ""
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}
