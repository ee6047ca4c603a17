package review

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"onefold/internal/work"
)

// Action is one thing that staff may do with an item. The values are those of the events' names and are stored with the
// history of decisions, if not said otherwise.
type Action string

const (
	Check   Action = "check"   // look in the accounting system now
	Retry   Action = "retry"   // send now, or again
	Attest  Action = "attest"  // "I have looked, it is not there": and send again
	Resolve Action = "resolve" // it is done, under a reference
	Close   Action = "close"   // it will not be done
	Approve Action = "approve" // let an item above the limit go
	Hold    Action = "hold"    // take it out of the automation's hands
	Reopen  Action = "reopen"  // take it back to the people
	Correct Action = "correct" // replace what is to be made, and send that
	Note    Action = "note"    // put a remark on record
	Assign  Action = "assign"  // name the colleague who works on it

	TurnDown Action = "turn-down" // close what waits for approval; kept as a close
)

// Actions lists every action in the order in which pages offer them.
var Actions = []Action{Approve, TurnDown, Retry, Correct, Check, Attest, Resolve, Close, Hold, Reopen, Note, Assign}

// Event is the name under which the action is kept with the history.
func (a Action) Event() string {
	if a == TurnDown {
		return string(Close)
	}
	return string(a)
}

// CloseReasons are the codes that people choose from when they close an item, in the order of the page.
var CloseReasons = []string{"not_wanted", "mistake", "twice", "other_key", "test", "other"}

// Refusals of this package, beside those of work.
const (
	RefusedRole    work.RefusalCode = "role"     // the actor may read only
	RefusedTooLong work.RefusalCode = "too_long" // the note or the reference is too long
	RefusedTaken   work.RefusalCode = "taken"    // the record already belongs to another item
	RefusedWhy     work.RefusalCode = "why"      // a reason from the list is needed
	RefusedDiffers work.RefusalCode = "differs"  // the record's amount differs: that must be confirmed
)

// The longest texts that people may type, in characters.
const (
	MaxNote      = 2000
	MaxReference = 200
)

// Input is what a person typed for an action. Which fields count depends on the action.
type Input struct {
	Note      string
	Reference string
	To        string // of Assign; empty: nobody
	StepsDone bool   // of Resolve: the following steps are done too
	Differs   bool   // of Resolve: the record counts although its amount differs
	Why       string // of Close: one of CloseReasons

	Invoice *work.Invoice // of Correct: what is to be made instead
}

// clean drops what no database can store and what nobody meant to type.
func (in Input) clean() Input {
	for _, s := range []*string{&in.Note, &in.Reference, &in.To} {
		*s = strings.TrimSpace(strings.ReplaceAll(strings.ToValidUTF8(*s, "\uFFFD"), "\x00", ""))
	}
	return in
}

// MayRead reports whether the actor may see items.
func MayRead(by work.Actor) bool { return by.Can(work.Viewer, work.Operator, work.Ops, work.Admin) }

// mayAct reports whether the actor may do something with items.
func mayAct(by work.Actor) bool { return by.Can(work.Operator, work.Admin) }

// decide is the one judgement of an action: pages ask it what to offer and the service asks it before writing, so they
// cannot differ. It returns a *work.Refusal if the action is not possible.
func decide(a Action, in Input, by work.Actor, it work.Item, r work.Rules, now time.Time) (work.Move, error) {
	switch {
	case !mayAct(by):
		return work.Move{}, &work.Refusal{Code: RefusedRole}
	case utf8.RuneCountInString(in.Note) > MaxNote, utf8.RuneCountInString(in.Reference) > MaxReference, utf8.RuneCountInString(in.To) > MaxReference:
		return work.Move{}, &work.Refusal{Code: RefusedTooLong}
	}
	switch a {
	case Retry:
		// Next lets a waiting item go early and leaves the gate to the claim; a button called "send" must not promise
		// what the gate would turn into a lookup.
		if _, err := work.Gate(it, r, now); err != nil {
			return work.Move{}, err
		}
		return work.Decide(it, work.Retry{By: by}, r, now)
	case Attest:
		return attestAndRetry(in, by, it, r, now)
	case Check:
		return work.Decide(it, work.Check{By: by}, r, now)
	case Hold:
		return work.Decide(it, work.Hold{By: by, Note: in.Note}, r, now)
	case Approve:
		return work.Decide(it, work.Approve{By: by}, r, now)
	case Resolve:
		return work.Decide(it, work.Resolve{By: by, Reference: in.Reference, Note: in.Note, StepsDone: in.StepsDone}, r, now)
	case Close:
		if !slices.Contains(CloseReasons, in.Why) && it.Status == work.Review {
			return work.Move{}, &work.Refusal{Code: RefusedWhy}
		}
		return work.Decide(it, work.Close{By: by, Why: in.Why, Note: in.Note}, r, now)
	case TurnDown:
		return work.Decide(it, work.Close{By: by, Why: work.TurnedDown, Note: in.Note}, r, now)
	case Correct:
		if in.Invoice == nil {
			return work.Move{}, &work.Refusal{Code: work.RefusedInvalidItem}
		}
		return work.Decide(it, work.Correct{By: by, Invoice: *in.Invoice, Note: in.Note}, r, now)
	case Note:
		return work.Decide(it, work.Note{By: by, Text: in.Note}, r, now)
	case Reopen:
		return work.Decide(it, work.Reopen{By: by, Note: in.Note}, r, now)
	case Assign:
		return work.Decide(it, work.Assign{By: by, To: in.To}, r, now)
	}
	return work.Move{}, &work.Refusal{Code: work.RefusedStatus}
}

// attestAndRetry is one decision of a person, "it is not there: send again", and so one move with one act.
func attestAndRetry(in Input, by work.Actor, it work.Item, r work.Rules, now time.Time) (work.Move, error) {
	attested, err := work.Decide(it, work.Attest{By: by, Note: in.Note}, r, now)
	if err != nil {
		return work.Move{}, err
	}
	retried, err := work.Next(attested.Item, work.Retry{By: by}, r, now)
	if err != nil {
		return work.Move{}, err
	}
	retried.Version = attested.Item.Version // one change, one version
	attested.Item, attested.Act.To = retried, retried.Status
	return attested, nil
}

// MayRecord reports whether the actor may bring new items in.
func MayRecord(by work.Actor) bool { return mayAct(by) }
