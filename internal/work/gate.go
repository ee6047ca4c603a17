package work

import (
	"fmt"
	"time"
)

// ProofLife is how long a proof of absence by lookup or attestation holds.
const ProofLife = 15 * time.Minute

// Proof says why a send is allowed.
type Proof string

const (
	ProofNeverSent Proof = "never_sent" // 1: nothing was ever sent
	ProofSettled   Proof = "settled"    // 2: every earlier send is explicitly refused or never left
	ProofLookup    Proof = "lookup"     // 3: searched and not found, after everything had settled
	ProofKey       Proof = "key"        // 4: not searchable, but the key is honoured and still alive
	ProofAttested  Proof = "attested"   // 5: a person looked and attests
)

// Refusal says why something is not allowed. Code is stable; pages translate it into the user's words.
type Refusal struct {
	Code  RefusalCode
	Until time.Time // when it may be allowed, if time alone changes it
}

// RefusalCode names a refusal.
type RefusalCode string

const (
	RefusedOpen        RefusalCode = "open_attempt"       // a call is on its way
	RefusedPrevious    RefusalCode = "previous_step"      // the previous step is not confirmed or resolved
	RefusedFound       RefusalCode = "found"              // a record was seen; sending again is never offered
	RefusedReported    RefusalCode = "reported"           // the system said that it is there
	RefusedUnknown     RefusalCode = "unknown"            // an earlier send is not settled: look first
	RefusedSettling    RefusalCode = "settling"           // a send may still be at work
	RefusedLookFirst   RefusalCode = "look_first"         // the system is in look-first mode
	RefusedKeyExpired  RefusalCode = "key_expired"        // cannot be searched and the key may be forgotten
	RefusedStatus      RefusalCode = "status"             // not possible in this status
	RefusedNote        RefusalCode = "note"               // a note is needed
	RefusedReference   RefusalCode = "reference"          // a reference is needed
	RefusedOwn         RefusalCode = "own"                // not by the person who recorded it
	RefusedPerson      RefusalCode = "person"             // only a signed-in person may, one item at a time
	RefusedUnsearched  RefusalCode = "cannot_look_up"     // the system cannot be searched
	RefusedAttempt     RefusalCode = "not_this_attempt"   // the result belongs to another attempt
	RefusedApproval    RefusalCode = "approval"           // must be approved, not retried
	RefusedProposal    RefusalCode = "correction_waiting" // a correction waits: put it in place or drop it first
	RefusedUnchanged   RefusalCode = "unchanged"          // nothing would change
	RefusedPaused      RefusalCode = "paused"             // the system takes no sends at the moment
	RefusedNewKey      RefusalCode = "already_recorded"   // the item exists
	RefusedInvalidItem RefusalCode = "invalid"            // the content cannot be issued
	RefusedReport      RefusalCode = "report"             // the report proves nothing about it
	RefusedReportOld   RefusalCode = "report_old"         // the report is too old to prove that it is not there
)

func (r *Refusal) Error() string {
	if r.Until.IsZero() {
		return "refused: " + string(r.Code)
	}
	return fmt.Sprintf("refused: %s until %s", r.Code, r.Until.UTC().Format(time.RFC3339))
}

func refuse(code RefusalCode) error { return &Refusal{Code: code} }

// Gate decides whether a request that could create something outside may be sent for the item at now. It returns the
// proof of absence, or a *Refusal. Every way to a send passes it; there is no override.
func Gate(it Item, r Rules, now time.Time) (Proof, error) {
	switch {
	case it.OpenAttempt != 0:
		return "", refuse(RefusedOpen)
	case it.PreviousID != 0 && !it.PreviousStatus.Done():
		return "", refuse(RefusedPrevious)
	case it.Positive == RecordWasFound || it.LateID != "":
		return "", refuse(RefusedFound)
	}
	settled := it.SettledAt(r)
	if provenAbsent(it, r, now) {
		if it.AbsentBy != byLookup {
			return ProofAttested, nil
		}
		if it.Positive == NoEvidence {
			return ProofLookup, nil
		}
	}
	switch {
	case it.Positive != NoEvidence:
		return "", refuse(RefusedReported)
	case !r.LookFirst.IsZero():
		return "", &Refusal{Code: RefusedLookFirst}
	case it.neverLooked():
		return "", refuse(RefusedUnsearched)
	case it.Sends == 0:
		return ProofNeverSent, nil
	case len(it.Unsettled) == 0:
		return ProofSettled, nil
	}
	if r.Capabilities.Searchable || !r.Capabilities.HonoursKeys {
		return "", refuse(RefusedUnknown)
	}
	if it.FirstSentAt.IsZero() {
		return "", refuse(RefusedUnknown) // what is unknown went under the key of another revision
	}
	if !r.keyLives(it.FirstSentAt, now) {
		return "", refuse(RefusedKeyExpired)
	}
	if now.Before(settled) {
		return "", &Refusal{Code: RefusedSettling, Until: settled}
	}
	return ProofKey, nil
}

// provenAbsent reports whether a lookup or an attestation proves absence and still holds. One that is yet to come is of a
// clock that went back, and proves nothing.
func provenAbsent(it Item, r Rules, now time.Time) bool {
	return !it.AbsentAt.IsZero() && !it.AbsentAt.Before(it.SettledAt(r)) && !it.AbsentAt.After(now) && now.Sub(it.AbsentAt) <= ProofLife
}

// neverLooked reports whether look-first handed the item to a person unseen. What the database says of its sends is not to be
// trusted, also when look-first has ended: only a look, or a person who looked, opens the gate.
func (it Item) neverLooked() bool { return it.LastLook == LastLookMissed && !it.Status.Settled() }

const byLookup = "lookup"

// absentWithoutLook reports whether proof 1 or 2 holds by itself: a check that brings nothing changes nothing then.
func absentWithoutLook(it Item, r Rules) bool {
	return it.Positive == NoEvidence && it.LateID == "" && r.LookFirst.IsZero() && len(it.Unsettled) == 0
}
