package work

import "time"

// Item is one side effect to be made outside: exactly one writing request, recorded before anything happens.
// Times are UTC; a zero time means "none".
type Item struct {
	ID          int64
	CompanyID   int64
	Automation  string
	BusinessKey string   // as first spelt, cleaned
	Step        string   // for example "create"
	Steps       []string // the whole chain of the document
	SystemID    string
	Reference   string // travels with every send and lookup; never changes
	Key         string // idempotency key of the first revision
	Revision    int    // from 1
	Proposed    int    // a correction that waits until the outcome is known; 0: none
	Invoice     Invoice
	Source      string // where it came from, for example "import:7" or "api"
	Period      string // the month that it belongs to: "2026-11"
	RecordedBy  Actor
	RecordedAt  time.Time

	PreviousID         int64  // the item of the previous step; 0 for the first step
	PreviousStatus     Status // read with the item from the previous step's row
	PreviousExternalID string // likewise: the previous step's record

	Version  int64 // grows with every change and is never given out twice, also by a restored database
	Status   Status
	Reason   Reason
	Attempts int // number of the last attempt row

	// The open attempt. OpenAttempt is 0 when none is open.
	OpenAttempt int
	OpenKind    Kind
	OpenNode    string
	OpenSince   time.Time
	LeaseUntil  time.Time
	Before      Status // the status before the claim

	// What the gate needs.
	Sends       int       // sends ever opened, over all revisions
	SendsUsed   int       // of the present allowance
	LookupsUsed int       // of the present allowance
	Unsettled   []int     // attempt numbers of sends whose outcome is unknown
	SettleFrom  time.Time // when the last unsettled send ended; settling starts here
	FirstSentAt time.Time // first send of this revision: the age of its key
	Resent      bool      // was sent again after an unknown
	Misses      int       // in a row, counted
	LastMissAt  time.Time // start of the last counted miss
	AbsentAt    time.Time // when absence was proven (start of the lookup, or the attestation)
	AbsentBy    string    // "lookup", or the label of the person who attested
	Positive    Positive
	SeenID      string // id of a record that was seen but not adopted
	SeenNumber  string
	LateID      string // id from a late acceptance that came while another attempt was open

	// The record outside, once known.
	ExternalID     string
	ExternalNumber string
	ExternalURL    string
	Evidence       string // how we know: "answer", "lookup", "late answer", "report", or the label of a person
	Remark         string // for example "0.01 rounding"
	Identity       string // the books that the item was sent to

	DueAt      time.Time // when the automation acts next
	SendAfter  time.Time // not sent before this, whatever lookups say
	SettleBy   time.Time // past it an open item is overdue
	LookAsked  string    // label of the person who asked for a check; empty: nobody
	LastLook   LastLook
	LastError  string
	ErrorKind  string // LastError without what differs from item to item; equal for the same trouble
	LastTryAt  time.Time
	ChangedAt  time.Time
	AssignedTo string
}

// LastLook says whether an item that is settled still owes one look outside, and whether one that is not settled missed the
// look that look-first wants of it.
type LastLook string

const (
	NoLastLook     LastLook = ""
	LastLookOwed   LastLook = "owed"
	LastLookDone   LastLook = "done"
	LastLookMissed LastLook = "missed" // could not be made in the allowed lookups
)

// SettledAt is the time at which the last unsettled send counts as settled, under the rules. It is zero if no send is
// unsettled and the system is not in look-first mode.
func (it Item) SettledAt(r Rules) time.Time {
	var from time.Time
	if len(it.Unsettled) > 0 {
		from = it.SettleFrom
	}
	// What another copy of the database claimed until look-first began is over at the end of its lease.
	if !r.LookFirst.IsZero() {
		from = maxTime(from, r.LookFirst.Add(r.Lease()))
	}
	if from.IsZero() {
		return from
	}
	return from.Add(r.Settle())
}

// CurrentKey is the idempotency key that travels with the present revision.
func (it Item) CurrentKey() string { return RevisionKey(it.Key, it.Revision) }

// NextStep is the name of the step after this one, or empty.
func (it Item) NextStep() string {
	for i, s := range it.Steps {
		if s == it.Step && i+1 < len(it.Steps) {
			return it.Steps[i+1]
		}
	}
	return ""
}

// Overdue reports whether an open item should have been settled by now.
func (it Item) Overdue(now time.Time) bool {
	return it.Status.Open() && !it.SettleBy.IsZero() && now.After(it.SettleBy)
}

// Attempt is one call to the outside: opened before it and closed after it. A late answer is a row of its own, and so is
// what a report held: a lookup without a node, asked for by a person, started when the report was made.
type Attempt struct {
	ItemID     int64
	Number     int
	Kind       Kind
	LateFor    int // the attempt that this late answer belongs to; 0 for an ordinary attempt
	Node       string
	AskedBy    string // label of the person who asked; empty: the automation
	Revision   int
	Reference  string
	Key        string
	StartedAt  time.Time
	SendBy     time.Time
	EndedAt    time.Time // zero while open
	Outcome    Outcome   // of a send
	Finding    Finding   // of a lookup
	HTTPStatus int
	Identity   string
	ExternalID string
	ExternalNo string // the number that the answer carried
	Record     string // what was seen there, as Record.JSON writes it; empty: nothing, or the same as what was asked
	Error      string // short, in plain words
	Request    string // redacted, bounded
	Response   string // redacted, bounded
}

// Act is one decision of a person or a token, append-only.
type Act struct {
	ItemID int64
	At     time.Time
	By     Actor
	What   string // the event's name, for example "resolve"
	Note   string
	From   Status
	To     Status
	Detail string // for example the reference given
}

// Revision is one version of what is to be made outside.
type Revision struct {
	ItemID      int64
	Number      int
	Invoice     Invoice
	Fingerprint string
	By          string
	At          time.Time
}
