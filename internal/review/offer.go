package review

import (
	"errors"
	"strings"
	"time"

	"onefold/internal/work"
)

// Offered is an action as a page shows it: available, or refused with the reason.
type Offered struct {
	Action  Action
	Refusal *work.Refusal // nil: available
	Main    bool          // what fits best; at most one
	Waits   bool          // of Correct: it will wait as a proposal until the outcome is known
}

// Offer says for every action whether the actor may do it with the item now, given that the texts it needs are typed.
// It asks the same judgement that the service asks before it writes.
func Offer(it work.Item, by work.Actor, r work.Rules, now time.Time) []Offered {
	other := it.Invoice
	other.Note += "x"
	in := Input{Note: strings.Repeat("x", work.MinAttestation), Reference: "x", To: it.AssignedTo, Why: CloseReasons[0], Invoice: &other}
	all := make([]Offered, 0, len(Actions))
	for _, a := range Actions {
		o := Offered{Action: a}
		move, err := decide(a, in, by, it, r, now)
		if err != nil && !errors.As(err, &o.Refusal) {
			o.Refusal = &work.Refusal{Code: work.RefusedStatus}
		}
		o.Waits = a == Correct && err == nil && move.Item.Proposed > 0
		all = append(all, o)
	}
	if i := best(all, it); i >= 0 {
		all[i].Main = true
	}
	return all
}

// best picks the action that most likely settles the item: adopt what was seen, send what is proven absent, else look.
func best(all []Offered, it work.Item) int {
	order := []Action{Approve, Resolve, Check, Attest, Close}
	if it.Positive != work.RecordWasFound {
		order = []Action{Approve, Retry, Check, Attest, Resolve, Close}
	}
	if it.Reason == work.ReasonApprovalRequired && it.Sends == 0 { // nothing else fits: it is a colleague's turn
		order = []Action{Approve}
	}
	if it.Proposed > 0 {
		order = append([]Action{Correct}, order...)
	}
	if it.Status != work.Review { // the automation has it in hand: nothing is urgent
		order = []Action{Reopen, Check}
	}
	for _, want := range order {
		for i, o := range all {
			if o.Action == want && o.Refusal == nil && !o.Waits {
				return i
			}
		}
	}
	return -1
}
