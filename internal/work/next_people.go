package work

import (
	"errors"
	"strings"
	"time"
	"unicode/utf8"
)

// acted carries out what a person asked for. While an attempt is open nothing but assigning and noting is possible.
func acted(it *Item, ev Event, r Rules, now time.Time) error {
	switch ev := ev.(type) {
	case Assign:
		it.AssignedTo = ev.To
		return nil
	case Note:
		if blank(ev.Text) {
			return refuse(RefusedNote)
		}
		return nil
	}
	if it.OpenAttempt != 0 {
		return &Refusal{Code: RefusedOpen, Until: it.LeaseUntil}
	}
	waiting := it.Status == Queued || it.Status == Failed || it.Status == Pending
	switch ev := ev.(type) {
	case Check:
		if !r.Capabilities.Searchable {
			return refuse(RefusedUnsearched)
		}
		it.LookAsked, it.DueAt = ev.By.Label(), now
		if waiting { // a wish must not fail for want of an allowance
			it.LookupsUsed = min(it.LookupsUsed, r.Policy.Lookups-1)
		}
	case Retry:
		return retry(it, ev, waiting, r, now)
	case Hold:
		if !waiting {
			return refuse(RefusedStatus)
		}
		if blank(ev.Note) {
			return refuse(RefusedNote)
		}
		toReview(it, ReasonHeld)
	case Approve:
		return approve(it, ev, now)
	case Resolve:
		return resolve(it, ev, r, now)
	case Close:
		return closeIt(it, ev, r, now)
	case Reopen:
		switch {
		case it.Status != Resolved && it.Status != Closed:
			return refuse(RefusedStatus)
		case blank(ev.Note):
			return refuse(RefusedNote)
		}
		why := it.Reason
		if why == "" {
			why = ReasonHeld
		}
		if it.LastLook != LastLookMissed { // a look that is missing is missing still
			it.LastLook = NoLastLook
		}
		toReview(it, why)
	case Attest:
		return attest(it, ev, r, now)
	case Correct:
		return correct(it, ev, r, now)
	case Reported:
		return compared(it, ev, r, now)
	default:
		return refuse(RefusedStatus)
	}
	return nil
}

func retry(it *Item, _ Retry, waiting bool, r Rules, now time.Time) error {
	switch {
	case it.Status == Review && it.Reason == ReasonApprovalRequired:
		return refuse(RefusedApproval)
	case it.Status == Review && it.Proposed > 0:
		return refuse(RefusedProposal)
	case it.Status == Review:
		if _, err := Gate(*it, r, now); err != nil {
			return err
		}
		freshAllowance(it, r, now)
	case waiting:
		// Before its time: claimed at once, and the gate decides whether that is a send or a look.
		it.DueAt, it.SendAfter = now, time.Time{}
	default:
		return refuse(RefusedStatus)
	}
	return nil
}

// freshAllowance lets the automation go on from the start.
func freshAllowance(it *Item, r Rules, now time.Time) {
	it.Status, it.Reason, it.DueAt, it.SendAfter, it.LookAsked = Queued, "", now, time.Time{}, ""
	it.SendsUsed, it.LookupsUsed = 0, 0
	it.SettleBy = now.Add(r.Policy.SettleWithin)
}

func approve(it *Item, ev Approve, now time.Time) error {
	switch {
	case it.Status != Review || it.Reason != ReasonApprovalRequired:
		return refuse(RefusedStatus)
	case ev.By.Kind != Person:
		return refuse(RefusedPerson)
	case ev.By.Same(it.RecordedBy):
		return refuse(RefusedOwn)
	case it.Positive == RecordWasFound:
		return refuse(RefusedFound)
	}
	it.Status, it.Reason, it.DueAt = Queued, "", now
	return nil
}

func closeIt(it *Item, ev Close, r Rules, now time.Time) error {
	down := ev.Why == TurnedDown
	switch {
	case it.Status != Review, down && it.Reason != ReasonApprovalRequired:
		return refuse(RefusedStatus)
	case down && ev.By.Kind != Person:
		return refuse(RefusedPerson)
	case down && ev.By.Same(it.RecordedBy):
		return refuse(RefusedOwn)
	case blank(ev.Note):
		return refuse(RefusedNote)
	}
	settleByPerson(it, Closed, r, now)
	return nil
}

func resolve(it *Item, ev Resolve, r Rules, now time.Time) error {
	switch ref := strings.TrimSpace(ev.Reference); {
	case it.Status != Review:
		return refuse(RefusedStatus)
	case ref == "":
		return refuse(RefusedReference)
	case blank(ev.Note):
		return refuse(RefusedNote)
	case it.SeenID != "" && (ref == it.SeenID || ref == it.SeenNumber):
		it.ExternalID, it.ExternalNumber = it.SeenID, it.SeenNumber
	default:
		it.ExternalID, it.ExternalNumber = ref, ref
	}
	it.Evidence = ev.By.Label()
	if it.Positive == NoEvidence {
		it.Positive = ReportedThere // reopening it must not open the gate by itself
	}
	settleByPerson(it, Resolved, r, now)
	return nil
}

// settleByPerson settles the item; if a send is unsettled, or may be known to another copy only, it owes a last look.
func settleByPerson(it *Item, to Status, r Rules, now time.Time) {
	if !it.neverLooked() {
		it.LastLook = NoLastLook
	}
	it.Status, it.DueAt, it.LookAsked = to, time.Time{}, ""
	forgetProof(it)
	if !it.SettledAt(r).IsZero() {
		oweLastLook(it, r, now)
	}
}

func attest(it *Item, ev Attest, r Rules, now time.Time) error {
	settled := it.SettledAt(r)
	switch {
	case it.Status != Review:
		return refuse(RefusedStatus)
	case ev.By.Kind != Person || ev.Bulk:
		return refuse(RefusedPerson)
	case it.Positive == RecordWasFound:
		return refuse(RefusedFound)
	case utf8.RuneCountInString(strings.TrimSpace(ev.Note)) < MinAttestation:
		return refuse(RefusedNote)
	case now.Before(settled):
		return &Refusal{Code: RefusedSettling, Until: settled}
	}
	it.AbsentAt, it.AbsentBy = now, ev.By.Label()
	return nil
}

// MinAttestation is the shortest note of an attestation, in characters: a sentence.
const MinAttestation = 15

// correct replaces the content. Without proof of absence it waits as a proposal until the outcome is known.
func correct(it *Item, ev Correct, r Rules, now time.Time) error {
	waiting := it.Status == Queued || it.Status == Failed || it.Status == Pending
	switch {
	case !waiting && it.Status != Review:
		return refuse(RefusedStatus)
	case ev.Invoice.Validate() != nil:
		return refuse(RefusedInvalidItem)
	case ev.Invoice.Fingerprint() == it.Invoice.Fingerprint() && it.Proposed > 0:
		it.Proposed = 0 // as it was: drops the correction that waits
		return nil
	case ev.Invoice.Fingerprint() == it.Invoice.Fingerprint():
		return refuse(RefusedUnchanged)
	case it.PreviousID != 0:
		return refuse(RefusedStatus) // a later step has no content of its own
	}
	proof, err := Gate(*it, r, now)
	if err != nil || proof == ProofKey {
		var refusal *Refusal
		if errors.As(err, &refusal) && (refusal.Code == RefusedFound || refusal.Code == RefusedPrevious) {
			return err
		}
		it.Proposed = it.Revision + 1
		if r.Capabilities.Searchable && !it.DueAt.IsZero() {
			it.LookAsked, it.DueAt = ev.By.Label(), now
		}
		return nil
	}
	it.Revision, it.Proposed, it.Invoice = it.Revision+1, 0, ev.Invoice
	it.FirstSentAt = time.Time{}
	if it.Reason == ReasonApprovalRequired {
		it.RecordedBy = ev.By
		return nil // a corrected invoice still needs its approval
	}
	freshAllowance(it, r, now)
	if limit := r.Policy.ApprovalLimit; limit != nil {
		if over, err := ev.Invoice.Total.Cmp(*limit); err != nil || over > 0 {
			it.RecordedBy = ev.By
			toReview(it, ReasonApprovalRequired)
		}
	}
	return nil
}

func blank(s string) bool { return strings.TrimSpace(s) == "" }
