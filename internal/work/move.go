package work

import "time"

// Move is one decision on one item: the item as it is afterwards and the rows that record how it came there. The store
// writes all of it in one transaction, or nothing.
type Move struct {
	Seen     int64     // the version that was decided on; 0 for a new item
	Item     Item      // as it is afterwards; ID 0: to be inserted
	Op       AttemptOp // what to do with Attempt
	Attempt  Attempt   // meaningful unless Op is NoAttempt
	Then     *Item     // the next step, to be inserted unless it is there already; nil: none
	Act      *Act      // a person's decision; nil: automatic
	Revision *Revision // a new or proposed content; nil: none
}

// AttemptOp says what a Move does to the attempts.
type AttemptOp int

const (
	NoAttempt    AttemptOp = iota
	OpenAttempt            // insert the row before the call
	CloseAttempt           // fill in the end of the open row
	LateAttempt            // insert a closed row: a late answer, or what a report held
)

// Decide applies the event to the item and returns everything that must be written with it. It returns Next's *Refusal.
func Decide(it Item, ev Event, r Rules, now time.Time) (Move, error) {
	next, err := Next(it, ev, r, now)
	if err != nil {
		return Move{}, err
	}
	if next.LastError != it.LastError {
		next.ErrorKind = ErrorKind(next.LastError)
	}
	m := Move{Seen: it.Version, Item: next}
	switch ev := ev.(type) {
	case Claimed:
		if next.OpenAttempt != 0 {
			m.Op, m.Attempt = OpenAttempt, openedAttempt(next, it.LookAsked, ev)
		}
	case SendClosed:
		m.Op, m.Attempt = CloseAttempt, closedSend(it, ev.Answer, ev.Ended)
	case FindClosed:
		m.Op, m.Attempt = CloseAttempt, closedFind(it, ev.Lookup, ev.Ended)
	case LeaseExpired:
		lost := Exchange{Error: "the server that was working on it was lost"}
		if it.OpenKind == Send {
			m.Op, m.Attempt = CloseAttempt, closedSend(it, Answer{Outcome: Unknown, Exchange: lost}, it.LeaseUntil)
		} else {
			m.Op, m.Attempt = CloseAttempt, closedFind(it, Lookup{Finding: CouldNotTell, Exchange: lost}, it.LeaseUntil)
		}
	case LateAnswer:
		m.Op, m.Attempt = LateAttempt, closedSend(it, ev.Answer, ev.Ended)
		m.Attempt.Kind = Send
		lateRow(&m.Attempt, next, ev.Attempt, ev.Ended)
	case LateLookup:
		m.Op, m.Attempt = LateAttempt, closedFind(it, ev.Lookup, ev.Ended)
		m.Attempt.Kind = Find
		lateRow(&m.Attempt, next, ev.Attempt, ev.Ended)
	case Reported:
		m.Op, m.Attempt = LateAttempt, closedFind(it, ev.Lookup, now)
		m.Attempt.Kind, m.Attempt.AskedBy = Find, ev.By.Label()
		lateRow(&m.Attempt, next, 0, ev.Exported)
	case Correct:
		if number := max(next.Revision, next.Proposed); number > it.Revision { // else a proposal was dropped
			m.Revision = &Revision{ItemID: it.ID, Number: number, Invoice: ev.Invoice,
				Fingerprint: ev.Invoice.Fingerprint(), By: ev.By.Label(), At: now}
		}
	case Recorded:
		m.Revision = &Revision{Number: 1, Invoice: next.Invoice, Fingerprint: next.Invoice.Fingerprint(), By: next.RecordedBy.Label(), At: now}
	}
	stepsDone := false
	m.Act, stepsDone = act(it, next, ev, now)
	if next.Status.Done() && !it.Status.Done() && !stepsDone {
		if m.Then, err = thenItem(next, r, now); err != nil {
			return Move{}, err
		}
	}
	return m, nil
}

func openedAttempt(it Item, asked string, ev Claimed) Attempt {
	a := Attempt{ItemID: it.ID, Number: it.OpenAttempt, Kind: it.OpenKind, Node: it.OpenNode, AskedBy: asked,
		Revision: it.Revision, Reference: it.Reference, Identity: it.Identity, StartedAt: it.OpenSince}
	if a.Kind == Send {
		a.Key, a.SendBy = it.CurrentKey(), ev.SendBy
	}
	return a
}

func closedSend(it Item, a Answer, ended time.Time) Attempt {
	row := closedRow(it, a.Exchange, ended)
	row.Outcome = a.Outcome
	if a.Outcome == Accepted && a.Record.ID == "" {
		row.Outcome = Unknown
	}
	row.ExternalID, row.ExternalNo = a.Record.ID, a.Record.Number
	if a.Match != MatchSame {
		row.Record = a.Record.JSON()
	}
	return row
}

func closedFind(it Item, l Lookup, ended time.Time) Attempt {
	row := closedRow(it, l.Exchange, ended)
	row.Finding = l.Finding
	row.ExternalID, row.ExternalNo, row.Record = l.Record.ID, l.Record.Number, l.Record.JSON()
	return row
}

func closedRow(it Item, x Exchange, ended time.Time) Attempt {
	return Attempt{ItemID: it.ID, Number: it.OpenAttempt, Kind: it.OpenKind, Node: it.OpenNode, Revision: it.Revision,
		Reference: it.Reference, StartedAt: it.OpenSince, EndedAt: ended, HTTPStatus: x.HTTPStatus, Identity: x.Identity,
		Error: x.Error, Request: x.Request, Response: x.Response}
}

func lateRow(a *Attempt, next Item, belongsTo int, at time.Time) {
	a.Number, a.LateFor, a.StartedAt, a.Node = next.Attempts, belongsTo, at, ""
}

// act is the record of a person's decision; the second result says that the following steps are done too.
func act(before, after Item, ev Event, now time.Time) (*Act, bool) {
	a := Act{ItemID: before.ID, At: now, What: ev.Name(), From: before.Status, To: after.Status}
	switch ev := ev.(type) {
	case Check:
		a.By = ev.By
	case Retry:
		a.By = ev.By
	case Hold:
		a.By, a.Note = ev.By, ev.Note
	case Approve:
		a.By = ev.By
	case Resolve:
		a.By, a.Note, a.Detail = ev.By, ev.Note, ev.Reference
		return &a, ev.StepsDone
	case Close:
		a.By, a.Note, a.Detail = ev.By, ev.Note, ev.Why
	case Reopen:
		a.By, a.Note = ev.By, ev.Note
	case Attest:
		a.By, a.Note = ev.By, ev.Note
	case Correct:
		a.By, a.Note, a.Detail = ev.By, ev.Note, ev.Invoice.Fingerprint()
	case Assign:
		a.By, a.Detail = ev.By, ev.To
	case Note:
		a.By, a.Note = ev.By, ev.Text
	case Reported:
		a.By, a.Detail = ev.By, ev.Report
	default:
		return nil, false
	}
	return &a, false
}

func thenItem(it Item, r Rules, now time.Time) (*Item, error) {
	step := it.NextStep()
	if step == "" {
		return nil, nil
	}
	key, err := Key(it.CompanyID, it.Automation, it.BusinessKey, step, r.Capabilities)
	if err != nil {
		return nil, err
	}
	then := Item{CompanyID: it.CompanyID, Automation: it.Automation, BusinessKey: it.BusinessKey, Step: step, Steps: it.Steps,
		SystemID: it.SystemID, Reference: it.Reference, Key: key, Invoice: it.Invoice, Source: it.Source, Period: it.Period, RecordedBy: it.RecordedBy,
		RecordedAt: now, PreviousID: it.ID, PreviousStatus: it.Status, PreviousExternalID: it.ExternalID, Identity: it.Identity}
	then, err = Next(then, Recorded{}, r, now)
	return &then, err
}

// New is what intake knows of a new item.
type New struct {
	CompanyID   int64
	Automation  string
	BusinessKey string
	SystemID    string
	Steps       []string // the chain of the document; never empty
	Prefix      string   // keeps installations apart; may be empty
	Invoice     Invoice
	Source      string
	Period      string // the month that it belongs to, "2026-11"; empty: that of the issue date, else that of the recording
	By          Actor
}

// NewItem makes the first step's item, before it is recorded. A zero now is not known yet: the month of an item without an
// issue date is then left empty for intake to fill in. Errors are in the user's words.
func NewItem(n New, c Capabilities, now time.Time) (Item, error) {
	key, err := CleanKey(n.BusinessKey)
	if err != nil {
		return Item{}, err
	}
	if err := n.Invoice.Validate(); err != nil {
		return Item{}, err
	}
	ref, err := Reference(n.Prefix, key, c)
	if err != nil {
		return Item{}, err
	}
	idem, err := Key(n.CompanyID, n.Automation, key, n.Steps[0], c)
	if err != nil {
		return Item{}, err
	}
	period, err := period(n, now)
	if err != nil {
		return Item{}, err
	}
	return Item{CompanyID: n.CompanyID, Automation: n.Automation, BusinessKey: key, Step: n.Steps[0], Steps: n.Steps,
		SystemID: n.SystemID, Reference: ref, Key: idem, Invoice: n.Invoice, Source: n.Source, Period: period, RecordedBy: n.By, RecordedAt: now}, nil
}

// Picked is one item under the lock of a change, with the rules of its system at that moment.
type Picked struct {
	Item  Item
	Rules Rules
}

// Pick says which items a change is about. Exactly one field is set.
type Pick struct {
	Due     *PickDue
	Expired int          // at most so many items whose lease has expired
	IDs     []int64      // these; unknown ids are left out
	Keys    []PickKey    // the items that hold these keys, if there are any
	InHand  []Picked     // these as they are in memory; if any changed meanwhile, all are read and decided again
	System  *PickWaiting // waiting items of a system, an import or a run
}

// Locked picks the items in hand afresh.
func (p Pick) Locked() Pick {
	ids := make([]int64, len(p.InHand))
	for i := range p.InHand {
		ids[i] = p.InHand[i].Item.ID
	}
	return Pick{IDs: ids}
}

// PickDue picks the items of one system that are due and that nobody holds, oldest first, no more than the system's
// free slots and its rate allow. Nothing is picked for a send while the system is paused.
type PickDue struct {
	SystemID string
	Node     string
	Limit    int         // most items in one claim
	From     time.Time   // a hint: what was due before it is claimed already, and need not be looked through; zero: nothing is known
	Ended    []EndedCall // calls of this node that are over, whose close may not be written yet; their slots are free
}

// EndedCall names an attempt whose call to the outside is over.
type EndedCall struct {
	ItemID  int64
	Attempt int
}

// PickKey names an item by its key; FoldedKey as FoldKey returns it.
type PickKey struct {
	CompanyID  int64
	Automation string
	FoldedKey  string
	Step       string
}

// PickWaiting picks waiting items by where they came from, after the id After, in bites.
type PickWaiting struct {
	SystemID string // empty: any
	Source   string // empty: any
	After    int64
	Limit    int
}
