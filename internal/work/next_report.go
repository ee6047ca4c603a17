package work

import (
	"slices"
	"time"
)

const byReport = "report"

// compared takes in what a report says about the item, as a lookup that began when the report was made. What the report
// holds is evidence like any lookup's. What it does not hold is one only if the report is whole, was made after everything
// that was sent had settled and could be seen, and is not older than a proof may be; otherwise it is refused and nothing
// changes.
func compared(it *Item, ev Reported, r Rules, now time.Time) error {
	l := ev.Lookup
	switch {
	case ev.By.Kind != Person:
		return refuse(RefusedPerson)
	case ev.Exported.IsZero() || ev.Exported.After(now):
		return refuse(RefusedReport)
	case l.Finding == NotFound:
		if err := ReportMisses(*it, ev.Exported, ev.Whole, r, now); err != nil {
			return err
		}
	case !l.Finding.Found() || l.Record.ID == "":
		return refuse(RefusedReport)
	}
	if it.Status.Settled() {
		if err := comparedAtSettled(it, l); err != nil {
			return err
		}
		it.Attempts++
		return nil
	}
	it.Attempts++ // a row of its own
	if !r.Capabilities.Searchable {
		// How often to look is asked of searches that may fail to show what is there. A whole report is the books themselves.
		r.Policy.Misses, r.Capabilities.Misses = 0, 1
	}
	look := FindClosed{Started: ev.Exported, Ended: now, Lookup: l}
	switch {
	case it.Status != Review:
		lookedUnderWay(it, look, l, it.Status, byReport, r, now)
	case l.Finding == FoundMatching && adoptable(*it, l.Record):
		found(it, l, byReport, r, now)
	default:
		again := it.LookAsked
		lookedInReview(it, look, l, r, now)
		if again == "" { // nobody asked for another look
			it.DueAt = time.Time{}
		}
	}
	return nil
}

// ReportMisses returns nil if a report, made at exported, that does not hold the item may count as a miss, else the *Refusal.
func ReportMisses(it Item, exported time.Time, whole bool, r Rules, now time.Time) error {
	visible := visibleFrom(it, r)
	if it.Positive != NoEvidence { // what spoke for it may be younger than the report
		visible = maxTime(visible, it.ChangedAt.Add(max(r.SearchLag(), minApart)))
	}
	switch {
	case it.Status.Settled():
		return refuse(RefusedStatus)
	case it.PreviousID != 0: // a report lists documents, not what was done with them
		return refuse(RefusedReport)
	case !whole:
		return refuse(RefusedReport)
	case exported.Before(visible):
		return &Refusal{Code: RefusedSettling, Until: visible}
	case now.Sub(exported) > ProofLife:
		return refuse(RefusedReportOld)
	}
	return nil
}

// adoptable reports whether an item in review may be confirmed by a matching record in a report: the person saw it in the
// preview and applied it, and the open question was only whether it is there. What a person stopped, must approve or has
// seen to be wrong stays with them.
func adoptable(it Item, rec Record) bool {
	known := it.SeenID == "" && it.SeenNumber == "" || rec.ID == it.SeenID || rec.Number != "" && rec.Number == it.SeenNumber
	return known && slices.Contains([]Reason{ReasonCannotLookUp, ReasonCouldNotCheck, ReasonAttemptsExhausted, ReasonRejected,
		ReasonContradiction}, it.Reason)
}

// comparedAtSettled takes in what speaks against how the item is settled. What a person resolved stays as they said; they
// saw the record.
func comparedAtSettled(it *Item, l Lookup) error {
	contrary := func(why Reason, what string) error {
		it.LastError = what
		it.SeenID, it.SeenNumber, it.Positive = l.Record.ID, l.Record.Number, RecordWasFound
		toReview(it, why)
		return nil
	}
	switch {
	case it.Status == Closed && l.Finding != FoundVoid && l.Record.ID != it.SeenID:
		return contrary(ReasonLateEvidence, "it was closed, but a report shows a record")
	case it.Status != Confirmed:
		return refuse(RefusedUnchanged)
	case l.Finding == FoundSeveral:
		return contrary(ReasonDuplicates, "a report shows more than one record with this reference")
	case l.Finding == FoundVoid:
		return contrary(ReasonFoundVoid, "the record is there, but void or deleted")
	case l.Finding == FoundDifferent:
		return contrary(ReasonMismatch, "the record differs from what was asked for"+colon(l.Remark))
	}
	return refuse(RefusedUnchanged)
}

// FromReport reports whether the attempt is what a report held; see Reported.
func (a Attempt) FromReport() bool {
	return a.Kind == Find && a.LateFor == 0 && a.Node == "" && a.AskedBy != ""
}
