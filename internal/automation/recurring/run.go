package recurring

import (
	"context"
	"errors"
	"fmt"
	"time"

	"onefold/internal/automation"
	"onefold/internal/work"
)

// Store is what the loop needs from the database.
type Store interface {
	// Now is the database's clock.
	Now(ctx context.Context) (time.Time, error)
	// ActivePlans returns the active plans after an id, by id, at most limit.
	ActivePlans(ctx context.Context, after int64, limit int) ([]Plan, error)
	// Covered returns the periods of a plan that were taken up, in order of From, with the items that they became.
	Covered(ctx context.Context, planID int64) ([]Covered, error)
	// Cover takes up a period: it returns ErrCovered if it, or a part of it, was taken up before.
	Cover(ctx context.Context, planID int64, of Period, key string, late bool) error
	// CoveredBy notes the item that a period became.
	CoveredBy(ctx context.Context, planID int64, from time.Time, itemID int64) error
	// AskCatchUp lets the plan wait until a person agrees to all its late periods. It does nothing if the plan changed meanwhile.
	AskCatchUp(ctx context.Context, p Plan) error
}

// ErrCovered says that a period, or a part of it, was taken up before.
var ErrCovered = errors.New("the period was taken up before")

// Covered is a period that was taken up.
type Covered struct {
	Period
	Key    string
	Late   bool  // it was due before the day on which it was taken up
	ItemID int64 // 0: not recorded yet
}

// Runner records the invoices of plans that are due.
type Runner struct {
	Store  Store
	Intake interface {
		Record(ctx context.Context, items []work.New) ([]automation.Recorded, error)
	}
	Zone *time.Location // the firm's: a period is due from the beginning of its first day there
}

// Stats counts what one RunOnce did.
type Stats struct {
	Recorded int // invoices that are new
	Asked    int // plans that now wait for a person, because more than one period is due
	Problems []error
}

const plansAtOnce = 200

// RunOnce records what is due. It may run at any time, as often as you like, on any number of servers: nothing is made
// twice and nothing is skipped. A plan that cannot be run is reported and does not hold up the others.
func (r Runner) RunOnce(ctx context.Context) (Stats, error) {
	var s Stats
	now, err := r.Store.Now(ctx)
	if err != nil {
		return s, err
	}
	today := Day(now, r.Zone)
	for after := int64(0); ; {
		plans, err := r.Store.ActivePlans(ctx, after, plansAtOnce)
		if err != nil || len(plans) == 0 {
			return s, err
		}
		for _, p := range plans {
			if err := r.run(ctx, p, today, &s); err != nil {
				if ctx.Err() != nil {
					return s, ctx.Err()
				}
				s.Problems = append(s.Problems, fmt.Errorf("plan %s: %w", p.Code, err))
			}
			after = p.ID
		}
	}
}

func (r Runner) run(ctx context.Context, p Plan, today time.Time, s *Stats) error {
	open, due, err := r.Due(ctx, p, today)
	if err != nil {
		return err
	}
	if late := len(due); late > 1 && due[late-2].From.After(p.CaughtUpTo) {
		s.Asked++
		return r.Store.AskCatchUp(ctx, p)
	}
	for _, of := range due {
		key := p.Key(of)
		switch err := r.Store.Cover(ctx, p.ID, of, key, of.From.Before(today)); {
		case errors.Is(err, ErrCovered): // another server is at it
		case err != nil:
			return err
		default:
			open = append(open, Covered{Period: of, Key: key})
		}
	}
	for _, of := range open {
		if err := r.record(ctx, p, of, s); err != nil {
			return err
		}
	}
	return nil
}

// Due returns the periods of a plan that were taken up but not recorded, and those that are due and not taken up.
func (r Runner) Due(ctx context.Context, p Plan, today time.Time) (open []Covered, due []Period, err error) {
	covered, err := r.Store.Covered(ctx, p.ID)
	if err != nil {
		return nil, nil, err
	}
	taken := map[time.Time]bool{}
	for _, c := range covered {
		taken[c.From] = true
		if c.ItemID == 0 {
			open = append(open, c)
		}
	}
	periods, err := p.Periods(today)
	if err != nil {
		return nil, nil, err
	}
	for _, of := range periods {
		if !taken[of.From] {
			due = append(due, of)
		}
	}
	return open, due, nil
}

func (r Runner) record(ctx context.Context, p Plan, of Covered, s *Stats) error {
	n, err := p.New(of.Period)
	if err != nil {
		return err
	}
	results, err := r.Intake.Record(ctx, []work.New{n})
	if err != nil {
		return err
	}
	switch got := results[0]; got.Result {
	case automation.IntakeNew, automation.IntakeKnown:
		if got.Result == automation.IntakeNew {
			s.Recorded++
		}
		return r.Store.CoveredBy(ctx, p.ID, of.From, got.Item.ID)
	case automation.IntakeConflict: // it was recorded, and the plan has changed since: the invoice stays as it was
		return r.Store.CoveredBy(ctx, p.ID, of.From, got.Item.ID)
	default:
		return got.Err
	}
}
