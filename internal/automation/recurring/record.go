package recurring

import (
	"context"
	"errors"
	"fmt"
	"time"

	"onefold/internal/automation"
	"onefold/internal/work"
)

// opened is a period of ours that waits to be recorded.
type opened struct {
	plan Plan
	of   Covered
}

func (r Runner) run(ctx context.Context, plans []DuePlan, today time.Time, s *Stats) error {
	var open []opened
	var wanted []Taking
	for _, p := range plans {
		for _, of := range p.Open {
			open = append(open, opened{p.Plan, of})
		}
		take, ask, err := p.take(today)
		if err != nil {
			s.problem(p.Plan, err)
			continue
		}
		wanted = append(wanted, take...)
		if !ask {
			continue
		}
		asked, err := r.Store.AskCatchUp(ctx, p.Plan)
		if err != nil {
			return err
		}
		if asked {
			s.Asked++
		}
	}
	if len(wanted) > 0 {
		refused, err := r.Store.Cover(ctx, wanted)
		if err != nil {
			return err
		}
		for i, t := range wanted {
			switch {
			case refused[i] == nil:
				open = append(open, opened{t.Plan, Covered{Period: t.Period, Key: t.Key, Late: t.Late}})
			case !errors.Is(refused[i], ErrMoved):
				s.problem(t.Plan, fmt.Errorf("%s: %w", t.Key, refused[i]))
			}
		}
	}
	return r.record(ctx, open, s)
}

// take says which periods are to be taken up today: what was agreed to, and one more. If more than one is late, the plan
// asks first; what was agreed to comes in the run before.
func (p DuePlan) take(today time.Time) (take []Taking, ask bool, err error) {
	due, err := p.Due(today)
	if err != nil {
		return nil, false, err
	}
	agreed := 0
	for agreed < len(due) && !due[agreed].From.After(p.CaughtUpTo) {
		agreed++
	}
	if len(due)-agreed > 1 {
		if agreed == 0 {
			return nil, true, nil
		}
		due = due[:agreed] // the next run finds the others and asks
	}
	for _, of := range due {
		take = append(take, Taking{Plan: p.Plan, Period: of, Key: p.Key(of), Late: of.From.Before(today)})
	}
	return take, false, nil
}

// record records what was taken up, in batches, and notes what each became.
func (r Runner) record(ctx context.Context, open []opened, s *Stats) error {
	items := make([]work.New, 0, len(open))
	of := make([]opened, 0, len(open))
	var became []Became
	for _, o := range open {
		n, err := o.plan.newOf(o.of)
		if err != nil {
			became = append(became, o.refused(s, err))
			continue
		}
		items, of = append(items, n), append(of, o)
	}
	results, err := r.Intake.Record(ctx, items)
	for i, got := range results {
		if got.Result != automation.IntakeOff { // switched off at this moment: it is recorded when it is on again
			became = append(became, of[i].became(s, got))
		}
	}
	if len(became) > 0 {
		err = errors.Join(err, r.Store.CoveredBy(ctx, became))
	}
	return err
}

// newOf is the item of a period that was taken up, under the key that was noted then.
func (p Plan) newOf(of Covered) (work.New, error) {
	all, err := p.Upcoming(of.From, 1)
	if err != nil {
		return work.New{}, err
	}
	if len(all) == 0 || !all[0].From.Equal(of.From) { // the plan was ended before it
		all = []Period{of.Period}
	}
	n, err := p.New(all[0])
	n.BusinessKey = of.Key
	return n, err
}

func (o opened) became(s *Stats, got automation.Recorded) Became {
	switch {
	case got.Result == automation.IntakeNew:
		if s.Recorded++; o.of.Late {
			s.Late++
		}
	case got.Result == automation.IntakeKnown:
	case got.Item.Source == o.plan.Source() && got.Item.BusinessKey == o.of.Key: // ours, and the plan or the item was changed since: it stays as it is
	default:
		return o.refused(s, got.Err)
	}
	return Became{PlanID: o.plan.ID, From: o.of.From, ItemID: got.Item.ID}
}

func (o opened) refused(s *Stats, err error) Became {
	s.problem(o.plan, fmt.Errorf("%s: %w", o.of.Key, err))
	return Became{PlanID: o.plan.ID, From: o.of.From, Problem: err.Error()}
}

func (s *Stats) problem(p Plan, err error) {
	s.Problems = append(s.Problems, fmt.Errorf("plan %s: %w", p.Code, err))
}
