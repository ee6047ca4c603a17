package work

import (
	"errors"
	"slices"
	"strconv"
	"time"
)

// Next returns the item as it is after the event. It is pure, and the only place that assigns a status. It returns a
// *Refusal, and the item unchanged, if the event is not possible: a person asked for something that the gate does not
// allow, or a worker's result belongs to another attempt.
//
// The caller sees what Next decided by comparing: an attempt was opened if OpenAttempt became non-zero, the next step is
// to be recorded if the status became Done and NextStep is not empty; Decide does that.
func Next(it Item, ev Event, r Rules, now time.Time) (Item, error) {
	next := it
	next.Unsettled = slices.Clone(it.Unsettled)
	var err error
	switch ev := ev.(type) {
	case Recorded:
		err = recorded(&next, r, now)
	case Claimed:
		err = claimed(&next, ev, r, now)
	case SendClosed:
		err = sendClosed(&next, ev, r, now)
	case FindClosed:
		err = findClosed(&next, ev, r, now)
	case LeaseExpired:
		err = leaseExpired(&next, r, now)
	case LateAnswer:
		err = lateAnswer(&next, ev, r, now)
	case LateLookup:
		err = lateLookup(&next, ev, r, now)
	case Replanned:
		err = replanned(&next, ev, r, now)
	default:
		err = acted(&next, ev, r, now)
	}
	if err != nil {
		return it, err
	}
	// Also by the clock, so that a database that forgot its last commits never counts the same version twice.
	next.Version = max(it.Version+1, now.UnixMicro())
	next.ChangedAt = now
	return next, nil
}

func recorded(it *Item, r Rules, now time.Time) error {
	if it.Status != "" {
		return refuse(RefusedNewKey)
	}
	it.Revision = 1
	it.SettleBy = now.Add(r.Policy.SettleWithin)
	if limit := r.Policy.ApprovalLimit; limit != nil && it.PreviousID == 0 {
		// Another currency than the limit's cannot be compared, so a person decides.
		if over, err := it.Invoice.Total.Cmp(*limit); err != nil || over > 0 {
			toReview(it, ReasonApprovalRequired)
			return nil
		}
	}
	it.Status, it.DueAt = Queued, now
	return nil
}

// claimed begins the automatic move that fits: a send if the gate is open, else a lookup, else it goes to a person.
func claimed(it *Item, ev Claimed, r Rules, now time.Time) error {
	switch {
	case it.OpenAttempt != 0:
		return refuse(RefusedOpen)
	case it.DueAt.IsZero() || it.DueAt.After(now):
		return refuse(RefusedStatus)
	}
	it.DueAt = time.Time{}
	if it.Status.Settled() || it.Status == Review {
		if it.LookAsked == "" && it.LastLook != LastLookOwed {
			return nil // nothing is owed any more
		}
		return openFind(it, ev, r, now)
	}
	if it.LookAsked != "" && r.Capabilities.Searchable {
		return openFind(it, ev, r, now)
	}
	it.LookAsked = ""
	proof, err := Gate(*it, r, now)
	var refusal *Refusal
	errors.As(err, &refusal)
	switch {
	case err == nil && it.Proposed > 0 && proof != ProofKey:
		correctionWaits(it)
	case err == nil && it.SendsUsed >= r.Policy.Sends && len(it.Unsettled) > 0 && !r.Capabilities.Searchable:
		toReview(it, ReasonCannotLookUp)
	case err == nil && it.SendsUsed >= r.Policy.Sends:
		toReview(it, ReasonAttemptsExhausted)
	case err == nil && it.SendAfter.After(now):
		it.DueAt = it.SendAfter
	case err == nil && r.NoSends:
		return refuse(RefusedPaused)
	case err == nil:
		openSend(it, ev, r, now)
	case refusal == nil:
		return err
	case refusal.Code == RefusedPrevious:
		it.LastError = "the previous step is no longer confirmed"
		toReview(it, ReasonHeld)
	case r.Capabilities.Searchable:
		return openFind(it, ev, r, now)
	case refusal.Code == RefusedSettling:
		it.Status, it.DueAt = Pending, refusal.Until
	default:
		if refusal.Code == RefusedLookFirst {
			it.LastLook = LastLookMissed
		}
		toReview(it, ReasonCannotLookUp)
	}
	return nil
}

func open(it *Item, kind Kind, ev Claimed, r Rules, now time.Time) {
	it.Attempts++
	it.OpenAttempt, it.OpenKind, it.OpenNode = it.Attempts, kind, ev.Node
	it.OpenSince, it.LeaseUntil = now, now.Add(r.Lease())
	it.LastTryAt = now
	it.Before = it.Status
	if it.Identity == "" {
		it.Identity = r.Identity // a later miss counts only in the same books
	}
	if !it.Status.Settled() { // a settled item stays what it is while it is looked at once more
		it.Status = InProgress
	}
}

func openSend(it *Item, ev Claimed, r Rules, now time.Time) {
	open(it, Send, ev, r, now)
	it.Resent = it.Resent || len(it.Unsettled) > 0
	it.LastLook = NoLastLook
	it.Sends++
	it.SendsUsed++
	if it.FirstSentAt.IsZero() {
		it.FirstSentAt = now
	}
}

func openFind(it *Item, ev Claimed, r Rules, now time.Time) error {
	switch {
	case it.Status.Settled() && it.LookupsUsed >= r.Policy.Lookups && it.LookAsked == "":
		it.LastLook = LastLookMissed
	case it.Status != Review && !it.Status.Settled() && it.LookupsUsed >= r.Policy.Lookups:
		toReview(it, ReasonCouldNotCheck)
	default:
		open(it, Find, ev, r, now)
		it.LookupsUsed++
	}
	return nil
}

// closeAttempt takes the item out of the open attempt and back to where it was before the claim.
func closeAttempt(it *Item) {
	if it.Status == InProgress {
		it.Status = it.Before
	}
	it.OpenAttempt, it.OpenKind, it.OpenNode, it.Before = 0, "", "", ""
	it.OpenSince, it.LeaseUntil = time.Time{}, time.Time{}
}

// correctionWaits hands an item that is not there to the person who can now put the correction in its place.
func correctionWaits(it *Item) {
	it.LastError = "not there; a correction is waiting"
	toReview(it, ReasonHeld)
}

func toReview(it *Item, why Reason) {
	it.Status, it.Reason, it.DueAt, it.LookAsked = Review, why, time.Time{}, ""
	if it.LastLook == LastLookOwed {
		it.LastLook = NoLastLook // settling it again plans a new one
	}
}

// confirm makes the item confirmed by the record and plans the last look if one is owed.
func confirm(it *Item, rec Record, how, remark string, r Rules, now time.Time) {
	it.Status, it.Reason, it.LookAsked, it.DueAt = Confirmed, "", "", time.Time{}
	it.ExternalID, it.ExternalNumber, it.ExternalURL = rec.ID, rec.Number, rec.URL
	it.Evidence, it.Remark, it.LastError = how, remark, ""
	it.Positive, it.SeenID, it.SeenNumber, it.LateID = RecordWasFound, "", "", ""
	forgetProof(it)
	if it.Resent {
		oweLastLook(it, r, now)
	}
}

// oweLastLook plans one look after everything that may still be at work has settled.
func oweLastLook(it *Item, r Rules, now time.Time) {
	if !r.Capabilities.Searchable {
		return
	}
	it.LastLook, it.LookupsUsed, it.Misses = LastLookOwed, 0, 0
	it.DueAt = lastLookAt(*it, r, now)
}

// lastLookAt is when everything that may still be at work at now has settled and can be seen.
func lastLookAt(it Item, r Rules, now time.Time) time.Time {
	return maxTime(it.SettledAt(r), now.Add(r.Settle())).Add(r.SearchLag())
}

func forgetProof(it *Item) {
	it.AbsentAt, it.AbsentBy, it.Misses, it.LastMissAt = time.Time{}, "", 0, time.Time{}
}

// seen keeps a record that was seen but is not adopted.
func seen(it *Item, rec Record) {
	it.Positive, it.SeenID, it.SeenNumber = RecordWasFound, rec.ID, rec.Number
	forgetProof(it)
}

func (it Item) seed() string {
	return it.Reference + "/" + it.Step + "/" + strconv.FormatInt(it.ID, 10)
}

const (
	defaultWait = time.Minute    // at least, after a deferral that names no usable time
	longestWait = 24 * time.Hour // longer deferrals are cut to it
)

// wait turns the wait that a system asked for into one that we keep: bounded and with a little spread, never shorter. Where
// none was asked for it grows with the attempts: a system that refuses for days is not asked every minute.
func wait(it Item, asked time.Duration, p Policy) time.Duration {
	switch {
	case asked <= 0:
		asked = min(max(defaultWait, p.Delay(it.Attempts, it.seed()+"/wait")), p.LongestDelay)
	case asked > longestWait:
		asked = longestWait
	}
	return asked + time.Duration(spread(it.seed(), it.Attempts)*float64(min(asked/10, 5*time.Second)))
}

// lookupWait is the time until the next lookup after one that brought nothing.
func lookupWait(it Item, p Policy) time.Duration { return p.Delay(it.LookupsUsed, it.seed()+"/look") }
