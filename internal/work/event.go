package work

import "time"

// Event is something that happened to an item; see Next.
type Event interface{ Name() string }

// The events of the automation.
type (
	// Recorded is the first event of a new item.
	Recorded struct{}

	// Claimed asks for the next automatic move of an item that is due: a send if the gate is open, else a lookup.
	Claimed struct {
		Node   string
		SendBy time.Time // by the database's clock
	}

	// SendClosed is the answer to the open send.
	SendClosed struct {
		Attempt int
		Ended   time.Time
		Answer  Answer
	}

	// FindClosed is the result of the open lookup.
	FindClosed struct {
		Attempt int
		Started time.Time
		Ended   time.Time
		Lookup  Lookup
	}

	// LeaseExpired says that the worker that held the open attempt is lost.
	LeaseExpired struct{}

	// LateAnswer is the answer to a send that was closed without one (its lease expired).
	LateAnswer struct {
		Attempt int
		Ended   time.Time
		Answer  Answer
	}

	// LateLookup is the result of a lookup that was closed without one.
	LateLookup struct {
		Attempt int
		Ended   time.Time
		Lookup  Lookup
	}
)

// Replanned says that the item's limits changed while it waited.
type Replanned struct {
	Attempts int       // the number of the last attempt when this was read
	Last     Attempt   // that attempt; zero: none
	Send     Attempt   // the last send; zero: none
	Since    time.Time // when the time to be settled within began; zero: not known
}

// The events of people.
type (
	// Check asks for a lookup now.
	Check struct{ By Actor }
	// Retry asks for a send now: of an item in review with a fresh allowance, of a waiting one before its time.
	Retry struct{ By Actor }
	// Hold takes a waiting item out of the automation's hands.
	Hold struct {
		By   Actor
		Note string
	}
	// Approve lets an item above the approval limit go.
	Approve struct{ By Actor }
	// Resolve says that the work is done, under a reference of the accounting system.
	Resolve struct {
		By        Actor
		Reference string // external id or number
		Note      string
		StepsDone bool // the following steps are done too
	}
	// Close says that the work will not be done.
	Close struct {
		By   Actor
		Why  string // a code from the list that people choose from, or TurnedDown; empty: none was chosen
		Note string
	}
	// Reopen takes a resolved or closed item back to review.
	Reopen struct {
		By   Actor
		Note string
	}
	// Attest says that a person looked in the accounting system and the record is not there.
	Attest struct {
		By   Actor
		Note string
		Bulk bool
	}
	// Correct replaces what is to be made outside.
	Correct struct {
		By      Actor
		Invoice Invoice
		Note    string
	}
	// Reported is what a report of the accounting system, its own export that a person uploaded, says about the item.
	Reported struct {
		By       Actor
		Report   string    // which report, for the history; for example "report:7"
		Exported time.Time // when the report was made: the start of this look
		Whole    bool      // it lists every document of the item's period, and what we know to be there is in it
		Lookup   Lookup    // what it holds for the item; NotFound: nothing
	}
	// Assign names the colleague who works on the item; an empty name releases it.
	Assign struct {
		By Actor
		To string
	}
	// Note puts a remark on record. Nothing else changes.
	Note struct {
		By   Actor
		Text string
	}
)

// TurnedDown is why an item that waits for approval is closed by a colleague of the one who recorded it.
const TurnedDown = "turned_down"

func (Recorded) Name() string     { return "recorded" }
func (Claimed) Name() string      { return "claimed" }
func (SendClosed) Name() string   { return "send closed" }
func (FindClosed) Name() string   { return "find closed" }
func (LeaseExpired) Name() string { return "lease expired" }
func (LateAnswer) Name() string   { return "late answer" }
func (LateLookup) Name() string   { return "late lookup" }
func (Replanned) Name() string    { return "limits changed" }
func (Check) Name() string        { return "check" }
func (Retry) Name() string        { return "retry" }
func (Hold) Name() string         { return "hold" }
func (Approve) Name() string      { return "approve" }
func (Resolve) Name() string      { return "resolve" }
func (Close) Name() string        { return "close" }
func (Reopen) Name() string       { return "reopen" }
func (Attest) Name() string       { return "attest" }
func (Correct) Name() string      { return "correct" }
func (Reported) Name() string     { return "report" }
func (Assign) Name() string       { return "assign" }
func (Note) Name() string         { return "note" }

// Match says how what an answer carried compares with what was asked.
type Match string

const (
	MatchSame      Match = "same"      // everything that came back agrees
	MatchIDOnly    Match = "id_only"   // only an id came back; nothing contradicts
	MatchDifferent Match = "different" // customer, currency, total or reference differ
)

// Answer is what one send brought back, as judged by the adapter.
type Answer struct {
	Outcome    Outcome
	Record     Record        // of Accepted: ID is never empty; of AlreadyExists: what the system named, may be empty
	Match      Match         // of Accepted
	Remark     string        // for example "0.01 rounding"
	RetryAfter time.Duration // of Deferred: the wait that was asked for; 0: none given
	Final      bool          // of Rejected: no retry can cure it
	Login      bool          // of Deferred: the system refused our login, its owner must act
	Unreached  bool          // the system was not reached or answered 5xx: counts for the breaker
	Positive   bool          // of Unknown: it claimed success but gave no usable id
	Taken      bool          // the record already belongs to another item; set by the store's caller
	Exchange   Exchange
}

// Lookup is what one lookup brought back, as judged against what was asked.
type Lookup struct {
	Finding    Finding
	Record     Record // of FoundMatching, FoundDifferent, FoundVoid; of FoundSeveral the first
	Count      int    // records seen
	Remark     string
	RetryAfter time.Duration // of FindDeferred
	Login      bool
	Unreached  bool
	Taken      bool // the record already belongs to another item; set by the store's caller
	Exchange   Exchange
}

// Exchange is what went over the wire, redacted and bounded, for the history.
type Exchange struct {
	HTTPStatus int    // 0: no answer
	Identity   string // the books that answered, empty if not known
	Error      string // a short sentence for staff; empty: none
	Request    string
	Response   string
}
