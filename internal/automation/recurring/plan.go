package recurring

import (
	"errors"
	"slices"
	"time"

	"onefold/internal/work"
)

// Automation is the name under which plans record their items.
const Automation = "recurring"

// Term is what a plan says from a day on, until the next term begins. A term begins where a period would begin, so
// periods never overlap and leave no day out.
type Term struct {
	From     time.Time // a day; the first term's is the plan's start
	Schedule Schedule
	Lines    []work.Line // prices as they stand on the invoice; never empty
}

// State says whether a plan runs.
type State string

const (
	Active  State = "active"
	Waiting State = "waiting" // it waits for approval: a twin, or too many periods at once
	Paused  State = "paused"
	Ended   State = "ended" // only as Shown: no more invoices come
)

// Why says what a plan waits for.
type Why string

const (
	Twin    Why = "twin"     // another plan bills the same customer for the same: somebody else must approve
	CatchUp Why = "catch_up" // more than one period is due: a person must agree
)

// Plan is one invoice that comes again.
type Plan struct {
	ID           int64
	CompanyID    int64
	Code         string // unique in the company; begins every business key, for example "PLAN-042"
	SystemID     string
	CustomerID   string
	CustomerName string
	Currency     string
	Terms        []Term    // in order of From; never empty
	End          time.Time // the last day on which a period may begin; zero: none
	PayWithin    int       // days until the invoice is due; 0: no due date
	Prorate      bool      // bill the part before the first regular period
	Note         string    // stands on each invoice
	State        State
	Why          Why       // of Waiting
	CaughtUpTo   time.Time // periods up to this day were agreed to although they are late; zero: none
	CoveredTo    time.Time // every period that begins before this day was taken up; zero: none was
	Next         time.Time // the day on which the first period begins that was not taken up; zero: no more will come
	Version      int64     // grows with every change
	CreatedBy    work.Actor
	CreatedAt    time.Time
	ChangedBy    work.Actor // who set the terms as they are
}

// maxPeriods bounds what one plan may count: weeks of a hundred years.
const maxPeriods = 5300

// Periods returns the plan's periods that begin up to and including the day, in order. They touch and never overlap.
func (p Plan) Periods(last time.Time) ([]Period, error) {
	if !p.End.IsZero() && p.End.Before(last) {
		last = p.End
	}
	var all []Period
	for i, t := range p.Terms {
		ends := time.Time{}
		if i+1 < len(p.Terms) {
			ends = p.Terms[i+1].From
		}
		more, err := t.periods(last, ends)
		if err != nil {
			return nil, err
		}
		if i == 0 && p.Prorate {
			more, err = t.withPart(more, last)
			if err != nil {
				return nil, err
			}
		}
		all = append(all, more...)
	}
	return all, nil
}

// periods are those of the term that begin up to and including last and before ends (zero: the last term).
func (t Term) periods(last, ends time.Time) ([]Period, error) {
	starts, err := t.Schedule.Starts(t.From, last, maxPeriods)
	if err != nil {
		return nil, err
	}
	if !ends.IsZero() {
		starts = slices.DeleteFunc(starts, func(d time.Time) bool { return !d.Before(ends) })
	}
	all := make([]Period, len(starts))
	for i, from := range starts {
		all[i] = Period{From: from}
		if i > 0 {
			all[i-1].Until = from
		}
	}
	if n := len(all); n > 0 {
		next, err := t.Schedule.Starts(t.From, all[n-1].From.AddDate(maxEvery+1, 0, 0), n+1)
		if err != nil || len(next) <= n {
			return nil, errors.Join(err, errors.New("the plan's last period has no end"))
		}
		all[n-1].Until = next[n]
	}
	return all, nil
}

// withPart puts the days before the first regular period before it, if there are any.
func (t Term) withPart(all []Period, last time.Time) ([]Period, error) {
	if t.From.After(last) {
		return all, nil
	}
	next, err := t.Schedule.Starts(t.From, t.From.AddDate(maxEvery+1, 0, 0), 1)
	if err != nil || len(next) == 0 || next[0].Equal(t.From) {
		return all, err
	}
	whole, err := t.Schedule.before(next[0])
	if err != nil {
		return all, err
	}
	part := Period{From: t.From, Until: next[0], Part: true, Days: days(t.From, next[0]), Of: days(whole, next[0])}
	return append([]Period{part}, all...), nil
}

// before is the day on which the period before the one that begins on the day would have begun.
func (s Schedule) before(start time.Time) (time.Time, error) {
	if s.Unit == Weeks {
		return start.AddDate(0, 0, -7*s.Every), nil
	}
	months := s.Every
	if s.Unit == Years {
		months *= 12
	}
	first := time.Date(start.Year(), start.Month()-time.Month(months), 1, 0, 0, 0, 0, time.UTC)
	day := s.Day
	if day == 0 {
		day = start.Day()
	}
	last := first.AddDate(0, 1, -1).Day()
	return first.AddDate(0, 0, min(day, last)-1), nil
}

// Upcoming returns the first n periods that begin on the day or later. Fewer come if the plan ends.
func (p Plan) Upcoming(day time.Time, n int) ([]Period, error) {
	if len(p.Terms) == 0 || n <= 0 {
		return nil, nil
	}
	start := p.Terms[len(p.Terms)-1].From // a later term begins no later than this
	if start.Before(day) {
		start = day
	}
	longest := 0
	for _, t := range p.Terms {
		longest = max(longest, t.Schedule.Every*map[Unit]int{Weeks: 7, Months: 31, Years: 366}[t.Schedule.Unit])
	}
	all, err := p.Periods(start.AddDate(0, 0, longest*(n+1)))
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(of Period) bool { return of.From.Before(day) })
	return all[:min(n, len(all))], nil
}

// NextFrom is the day on which the first period begins, on the day or later; zero if none does.
func (p Plan) NextFrom(day time.Time) (time.Time, error) {
	next, err := p.Upcoming(day, 1)
	if err != nil || len(next) == 0 {
		return time.Time{}, err
	}
	return next[0].From, nil
}

// Due returns the periods that begin up to and including the day and were not taken up, in order.
func (p Plan) Due(today time.Time) ([]Period, error) {
	if len(p.Terms) == 0 {
		return nil, nil
	}
	all, err := p.Periods(today)
	return slices.DeleteFunc(all, func(of Period) bool { return of.From.Before(p.CoveredTo) }), err
}

func days(from, until time.Time) int { return int(until.Sub(from) / (24 * time.Hour)) }
