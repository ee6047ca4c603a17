// Package statedoc derives docs/state-machine.md and its diagram from the code: it runs work.Next over samples of every
// status and event and writes down what happened.
package statedoc

import (
	"errors"
	"slices"
	"time"

	"onefold/internal/work"
)

//go:generate go run ./write ../../../docs

// Now is the moment at which every sample happens.
var Now = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// Sample is one situation: an item in a status, and what happens to it.
type Sample struct {
	From  work.Status // empty: not recorded yet
	Event work.Event
	When  string // what is special about it; empty: nothing
	Item  work.Item
	Rules work.Rules
}

// Derived is what the code does with a sample.
type Derived struct {
	From    work.Status
	Event   string
	When    string
	To      work.Status
	Reason  work.Reason      // in review
	Opens   work.Kind        // the attempt that was opened; empty: none
	Refused work.RefusalCode // then nothing changed
}

// Result is the outcome in one phrase, for example "review (rejected)" or "refused: found".
func (d Derived) Result() string {
	switch {
	case d.Refused != "":
		return "refused: " + string(d.Refused)
	case d.To == work.Review:
		return "review (" + string(d.Reason) + ")"
	case d.Opens != "":
		return string(d.To) + ", " + string(d.Opens)
	}
	return string(d.To)
}

// Derive runs work.Next over all samples.
func Derive() []Derived {
	var out []Derived
	for _, s := range Samples() {
		d := Derived{From: s.From, Event: s.Event.Name(), When: s.When}
		next, err := work.Next(s.Item, s.Event, s.Rules, Now)
		var refusal *work.Refusal
		switch {
		case errors.As(err, &refusal):
			d.Refused = refusal.Code
		case err != nil:
			d.Refused = work.RefusalCode(err.Error())
		default:
			d.To = next.Status
			if next.Status == work.Review {
				d.Reason = next.Reason
			}
			if s.Item.OpenAttempt == 0 {
				d.Opens = next.OpenKind
			}
		}
		out = append(out, d)
	}
	slices.SortStableFunc(out, func(a, b Derived) int { return order(a.From) - order(b.From) })
	return out
}

func order(s work.Status) int { return slices.Index(work.Statuses, s) }
