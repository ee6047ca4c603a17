package review

import (
	"context"
	"slices"
	"time"

	"onefold/internal/work"
)

// PastItems are the newest items of a system or automation, for what limits would have meant. Those that were confirmed at
// the first call are without it.
type PastItems struct {
	Items []work.Past
	Since time.Time // from when on they are all there
	Cut   bool      // that is later than was asked for
}

// Meant is what limits would have meant for the past, beside those that hold. Each item's answers are gone through again
// in their order, under both.
type Meant struct {
	Count   int
	Since   time.Time
	Cut     bool
	Several int // went through more than one call

	PersonNow, PersonThen     int           // reach a person
	ApprovalNow, ApprovalThen int           // of these: for approval
	More                      int           // reach a person only under the new limits
	Fewer                     int           // only under the present ones, and are settled under the new
	Again                     int           // only under the present ones; under the new ones another call is made, nobody knows with what result
	Both                      int           // under both, but for approval
	Shift                     time.Duration // of those in Both: how much later a person gets them, the median; negative: earlier
}

// Bounds of what is read for the past.
const (
	pastDays = 30
	pastMost = 5_000 // of all items: more would make the page slow while one types
)

// Meaning is what limits mean: the courses that things may take, and the past.
type Meaning struct {
	System    work.System // with the limits as they were asked for
	Forecasts []work.Forecast
	Before    []work.Forecast // under the present limits
	Past      Meant
}

// Foresee says what these limits would mean. It changes nothing, and returns the errors of Change.
func (l *Limits) Foresee(ctx context.Context, by work.Actor, id, automation string, limits work.Limits) (Meaning, error) {
	if !MayTune(by) {
		return Meaning{}, ErrForbidden
	}
	sys, err := l.system(ctx, id)
	if err != nil {
		return Meaning{}, err
	}
	then, err := sys.WithLimits(automation, limits)
	if err != nil {
		return Meaning{}, err
	}
	m := Meaning{System: then}
	for _, c := range work.Courses(then.Capabilities) {
		m.Forecasts = append(m.Forecasts, work.Foresee(c, then.RulesFor(automation)))
		m.Before = append(m.Before, work.Foresee(c, sys.RulesFor(automation)))
	}
	now, err := l.store.Now(ctx)
	if err != nil {
		return m, err
	}
	past, err := l.store.PastItems(ctx, l.company, id, automation, now.Add(-pastDays*24*time.Hour), pastMost)
	if err != nil {
		return m, err
	}
	m.Past = meant(past, sys, then)
	return m, nil
}

func meant(p PastItems, now, then work.System) Meant {
	m := Meant{Count: len(p.Items), Since: p.Since, Cut: p.Cut}
	var shifts []time.Duration
	for _, it := range p.Items {
		count(&m.Several, len(it.Calls) > 1)
		a, b := work.Replay(it, now.RulesFor(it.Automation)), work.Replay(it, then.RulesFor(it.Automation))
		count(&m.PersonNow, a.Reason != "")
		count(&m.PersonThen, b.Reason != "")
		count(&m.ApprovalNow, a.Reason == work.ReasonApprovalRequired)
		count(&m.ApprovalThen, b.Reason == work.ReasonApprovalRequired)
		approval := a.Reason == work.ReasonApprovalRequired || b.Reason == work.ReasonApprovalRequired
		switch {
		case a.Reason == "" && b.Reason != "":
			m.More++
		case a.Reason != "" && b.Reason == "" && b.Open:
			m.Again++
		case a.Reason != "" && b.Reason == "":
			m.Fewer++
		case a.Reason != "" && !approval:
			m.Both++
			shifts = append(shifts, b.After-a.After)
		}
	}
	if len(shifts) > 0 {
		slices.Sort(shifts)
		m.Shift = shifts[len(shifts)/2]
	}
	return m
}

func count(n *int, is bool) {
	if is {
		*n++
	}
}
