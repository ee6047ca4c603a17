package review

import (
	"context"
	"slices"
	"time"

	"onefold/internal/work"
)

// Range is how far back the overview looks.
type Range string

const (
	LastDay   Range = "24h" // the last 24 hours, the present one with them, by hours
	LastWeek  Range = "7d"  // today and the six days before, by days
	LastMonth Range = "30d" // today and the 29 days before, by days
	LastYear  Range = "12m" // this month and the eleven before, by months
)

// Ranges are all of them.
var Ranges = []Range{LastDay, LastWeek, LastMonth, LastYear}

// begins are the beginnings of the range's stretches in the zone, oldest first, and the end of the last one.
func (r Range) begins(now time.Time, zone *time.Location) (g Grain, list []time.Time) {
	at := func(i int) time.Time { return GrainHour.Begin(now, zone).Add(time.Duration(i) * time.Hour) }
	n, in := 24, now.In(zone)
	g = GrainHour
	switch r {
	case LastWeek, LastMonth:
		g, n = GrainDay, 7
		if r == LastMonth {
			n = 30
		}
		at = func(i int) time.Time { return time.Date(in.Year(), in.Month(), in.Day()+i, 0, 0, 0, 0, zone).UTC() }
	case LastYear:
		g, n = GrainMonth, 12
		at = func(i int) time.Time {
			return time.Date(in.Year(), in.Month()+time.Month(i), 1, 0, 0, 0, 0, zone).UTC()
		}
	}
	for i := 1 - n; i <= 1; i++ {
		list = append(list, at(i))
	}
	return g, list
}

// OverviewStore is what the overview needs from the database.
type OverviewStore interface {
	Now(ctx context.Context) (time.Time, error)
	Systems(ctx context.Context) ([]work.System, error)
	// Figures returns the figures of stretches that began in [from, to), summed over the automations. Only Confirmed and the
	// sends are told apart by stretch; all others are summed over them and begin at from. Confirmed is summed over the systems.
	Figures(ctx context.Context, companyID int64, g Grain, from, to time.Time) ([]Figure, error)
	// FiguresTo is how far was counted; zero: it has not begun.
	FiguresTo(ctx context.Context) (time.Time, error)
	// Longest is the item that has been waiting for a person for the longest, and since when; zero: none waits.
	Longest(ctx context.Context, companyID int64) (itemID int64, since time.Time, err error)
	// Item returns one item, or ErrNotFound.
	Item(ctx context.Context, companyID, id int64) (work.Item, error)
}

// Spread is how durations lie; see Bucket for how exact they are.
type Spread struct {
	Count       int64
	Median, P95 time.Duration // zero if nothing was counted
}

// Stretch is one hour, day or month of the overview.
type Stretch struct {
	From, To  time.Time
	Sends     map[work.Outcome]int64
	Confirmed Spread
}

// SettledSends are the unknown outcomes that were settled in one way.
type SettledSends struct {
	How    Settled
	Spread Spread // from the end of the send
}

// SystemFigures are the calls of one accounting system.
type SystemFigures struct {
	work.System
	Calls     int64  // that were made
	Failed    int64  // that brought no answer to rely on: unknown, not sent, could not tell
	Limited   int64  // that the system put off because there were too many
	Barred    int64  // that were put off because our login was refused
	PutOff    int64  // that were put off for any other reason
	Answering Spread // from the start of a call; calls that were not answered are not in it
}

// Overview is how the automations are doing. All but the last group is of the range, as far as was counted.
type Overview struct {
	Range     Range
	Grain     Grain
	Now       time.Time
	CountedTo time.Time // zero: counting has not begun
	Stretches []Stretch // oldest first; none is left out
	Confirmed Spread
	Unknown   int64 // sends that ended with an unknown outcome
	Settled   []SettledSends
	Sends     [mostSends + 1]int64 // items by how many sends they had taken when they were confirmed; the last: so many and more
	Systems   []SystemFigures
	Prevented int64

	PreventedEver int64
	Open          int64 // sends whose outcome is unknown still, as far as was counted
	Longest       work.Item
	Waiting       time.Time // since when Longest waits; zero: nobody is waited for
}

// Overviews answers how the automations are doing.
type Overviews struct {
	store   OverviewStore
	company int64
	zone    *time.Location
	kept    keptSums
}

// NewOverviews returns the service for a company.
func NewOverviews(store OverviewStore, companyID int64, zone *time.Location) *Overviews {
	return &Overviews{store: store, company: companyID, zone: zone}
}

// Overview returns the overview of a range; an unknown range is LastDay. Its cost does not grow with the history.
func (s *Overviews) Overview(ctx context.Context, by work.Actor, r Range) (o Overview, err error) {
	if !MayRead(by) {
		return o, ErrForbidden
	}
	if !slices.Contains(Ranges, r) {
		r = LastDay
	}
	o.Range = r
	if o.Now, err = s.store.Now(ctx); err != nil {
		return o, err
	}
	var begins []time.Time
	o.Grain, begins = r.begins(o.Now, s.zone)
	last := len(begins) - 1
	sums, err := s.kept.of(ctx, s.store, s.company, r, o.Grain, begins[0], begins[last])
	if err != nil {
		return o, err
	}
	o.CountedTo = sums.countedTo
	systems, err := s.store.Systems(ctx)
	if err != nil {
		return o, err
	}
	o.fill(begins, sums.figures, systems)
	for _, f := range sums.ever {
		how, is := f.settles()
		switch {
		case is && how.Prevents():
			o.PreventedEver += f.Count
			o.Open -= f.Count
		case is:
			o.Open -= f.Count
		case f.Measure == SentWith(work.Unknown):
			o.Open += f.Count
		}
	}
	id, since, err := s.store.Longest(ctx, s.company)
	if err != nil || id == 0 {
		return o, err
	}
	o.Waiting = since
	o.Longest, err = s.store.Item(ctx, s.company, id)
	return o, err
}
