package work

// Status says what is known about an item. The values are stored and shown; see docs/state-machine.md.
type Status string

const (
	Queued     Status = "queued"      // absent outside; waiting to be sent
	InProgress Status = "in_progress" // a call is on its way; unknown until it answers
	Pending    Status = "pending"     // outcome unknown: may or may not be there
	Failed     Status = "failed"      // absent: every send is settled so; sent again when due
	Confirmed  Status = "confirmed"   // there; external id stored
	Review     Status = "review"      // needs a person; always with a Reason
	Resolved   Status = "resolved"    // a person says it is done
	Closed     Status = "closed"      // a person says it will not be done
)

// Statuses lists every status in the order in which pages and docs show them.
var Statuses = []Status{Queued, InProgress, Pending, Failed, Confirmed, Review, Resolved, Closed}

// Open reports whether the automation or a person still has something to do for an item in this status.
func (s Status) Open() bool { return !s.Settled() }

// Settled reports whether nothing more is to be done for an item in this status.
func (s Status) Settled() bool { return s == Confirmed || s == Resolved || s == Closed }

// Done reports whether the effect is known or declared to be there, so that the next step may begin.
func (s Status) Done() bool { return s == Confirmed || s == Resolved }

// Reason says why an item needs a person. It is set in Review and kept on Resolved and Closed so that reopening
// returns to it.
type Reason string

const (
	ReasonRejected          Reason = "rejected"           // the accounting system refused it, as often as allowed or for good
	ReasonAttemptsExhausted Reason = "attempts_exhausted" // proven absent, but the allowed sends are used up
	ReasonCouldNotCheck     Reason = "could_not_check"    // the allowed lookups are used up without an answer
	ReasonCannotLookUp      Reason = "cannot_look_up"     // outcome unknown and the system cannot be searched
	ReasonMismatch          Reason = "mismatch"           // a record is there but differs from what was asked
	ReasonDuplicates        Reason = "duplicates"         // more than one record is there
	ReasonFoundVoid         Reason = "found_void"         // the record is there but void or deleted
	ReasonContradiction     Reason = "contradiction"      // the system said it is there, and then did not show it
	ReasonLateEvidence      Reason = "late_evidence"      // an answer came after a person had decided
	ReasonApprovalRequired  Reason = "approval_required"  // above the approval limit
	ReasonHeld              Reason = "held"               // a person stopped it
)

// Reasons lists every review reason.
var Reasons = []Reason{ReasonRejected, ReasonAttemptsExhausted, ReasonCouldNotCheck, ReasonCannotLookUp, ReasonMismatch,
	ReasonDuplicates, ReasonFoundVoid, ReasonContradiction, ReasonLateEvidence, ReasonApprovalRequired, ReasonHeld}

// Kind is what an attempt does: Send may create something outside, Find only reads.
type Kind string

const (
	Send Kind = "send"
	Find Kind = "find"
)

// Outcome is what one send is known to have done.
type Outcome string

const (
	Accepted      Outcome = "accepted"       // it is there, with a usable id
	Rejected      Outcome = "rejected"       // explicitly refused: nothing was created
	NotSent       Outcome = "not_sent"       // provably never left this process
	AlreadyExists Outcome = "already_exists" // the system says that it has it; this request created nothing
	Deferred      Outcome = "deferred"       // provably not executed and asked to come back later
	Unknown       Outcome = "unknown"        // anything else
)

// Outcomes lists every outcome of a send.
var Outcomes = []Outcome{Accepted, Rejected, NotSent, AlreadyExists, Deferred, Unknown}

// SettlesAbsent reports whether the outcome proves that this one send created nothing.
func (o Outcome) SettlesAbsent() bool {
	return o == Rejected || o == NotSent || o == Deferred || o == AlreadyExists
}

// Finding is what one lookup showed.
type Finding string

const (
	FoundMatching  Finding = "found_matching"  // exactly one, and it is what was asked for
	FoundDifferent Finding = "found_different" // exactly one, but customer, currency, total or reference differ
	FoundSeveral   Finding = "found_several"   // more than one live record
	FoundVoid      Finding = "found_void"      // only void, deleted or aborted records
	NotFound       Finding = "not_found"       // searched, in the right books, and nothing is there
	CouldNotTell   Finding = "could_not_tell"  // the search could not be carried out or cannot be trusted
	FindDeferred   Finding = "deferred"        // asked to come back later
)

// Findings lists every finding of a lookup.
var Findings = []Finding{FoundMatching, FoundDifferent, FoundSeveral, FoundVoid, NotFound, CouldNotTell, FindDeferred}

// Found reports whether the lookup saw at least one record.
func (f Finding) Found() bool {
	return f == FoundMatching || f == FoundDifferent || f == FoundSeveral || f == FoundVoid
}

// Positive is evidence that the record is or was there. It outranks a miss: a miss after it is a contradiction.
type Positive string

const (
	NoEvidence     Positive = ""
	ReportedThere  Positive = "reported" // a duplicate was reported, or success without a usable id
	RecordWasFound Positive = "found"    // a lookup or a late answer showed a record; never sent again
)
