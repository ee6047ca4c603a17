package recurring

import (
	"context"
	"time"

	"onefold/internal/work"
)

// Pause stops a plan; a paused one stays as it is. What falls due meanwhile is asked for when it resumes.
func (s Plans) Pause(ctx context.Context, by work.Actor, id, version int64, note string) (Plan, error) {
	return s.change(ctx, by, id, version, PausedPlan, note, func(p Plan, _ time.Time) (Plan, error) {
		if p.State != Paused && p.Why != Twin {
			p.Why = "" // late periods are asked for again
		}
		p.State = Paused
		return p, nil
	})
}

// Resume lets a paused plan go on; a twin goes on waiting.
func (s Plans) Resume(ctx context.Context, by work.Actor, id, version int64) (Plan, error) {
	return s.change(ctx, by, id, version, ResumedPlan, "", func(p Plan, _ time.Time) (Plan, error) {
		if p.State == Paused {
			if p.State = Active; p.Why == Twin {
				p.State = Waiting
			}
		}
		return p, nil
	})
}

// End sets the last day on which a period may begin; the zero day takes the end back. What was taken up stays. A day before
// the start ends a plan that never began.
func (s Plans) End(ctx context.Context, by work.Actor, id, version int64, last time.Time, note string) (Plan, error) {
	return s.change(ctx, by, id, version, EndSet, note, func(p Plan, _ time.Time) (Plan, error) {
		if before := p.neverBegan(); !last.IsZero() && last.Before(before) {
			last = before
		}
		p.End = last
		return p, p.Validate()
	})
}

// neverBegan is the End of a plan that was ended before it began.
func (p Plan) neverBegan() time.Time { return p.Terms[0].From.AddDate(0, 0, -1) }

// ApproveTwin lets a plan run although another one bills the same. ErrSamePerson, ErrNotWaiting.
func (s Plans) ApproveTwin(ctx context.Context, by work.Actor, id, version int64, note string) (Plan, error) {
	return s.change(ctx, by, id, version, Approved, note, func(p Plan, _ time.Time) (Plan, error) {
		switch {
		case by.Kind != work.Person:
			return p, ErrForbidden
		case p.Why != Twin:
			return p, ErrNotWaiting
		case by.Same(p.CreatedBy) || by.Same(p.ChangedBy):
			return p, ErrSamePerson
		}
		p.Why = ""
		if p.State == Waiting {
			p.State = Active
		}
		return p, nil
	})
}

// AgreeCatchUp lets the loop make the late periods that begin up to and including the day. If more than one is left after
// it, the plan asks again. ErrNotWaiting.
func (s Plans) AgreeCatchUp(ctx context.Context, by work.Actor, id, version int64, upTo time.Time) (Plan, error) {
	return s.change(ctx, by, id, version, Agreed, "", func(p Plan, today time.Time) (Plan, error) {
		if _, err := p.late(by, today, upTo); err != nil {
			return p, err
		}
		if p.State != Waiting || p.Why != CatchUp {
			return p, ErrNotWaiting
		}
		p.State, p.Why, p.CaughtUpTo = Active, "", upTo
		return p, nil
	})
}

// LeaveOut decides that there will be no invoices for the late periods that begin up to and including the day. The plan
// goes on after them; if it was paused it stays so. ErrNotWaiting.
func (s Plans) LeaveOut(ctx context.Context, by work.Actor, id, version int64, upTo time.Time, note string) (Plan, error) {
	return s.changeWith(ctx, by, id, version, LeftOut, note, func(p Plan, today time.Time) (Plan, []Taking, error) {
		late, err := p.late(by, today, upTo)
		if err != nil {
			return p, nil, err
		}
		if p.State != Paused && (p.State != Waiting || p.Why != CatchUp) {
			return p, nil, ErrNotWaiting
		}
		leave := make([]Taking, len(late))
		for i, of := range late {
			leave[i] = Taking{Plan: p, Period: of, Key: p.Key(of), Late: of.From.Before(today)}
		}
		if p.State == Waiting {
			p.State, p.Why = Active, ""
		}
		return p, leave, nil
	})
}

// late are the periods that are due and begin up to and including the day.
func (p Plan) late(by work.Actor, today, upTo time.Time) ([]Period, error) {
	if by.Kind != work.Person {
		return nil, ErrForbidden // a person must have looked
	}
	due, err := p.Due(today)
	if err != nil {
		return nil, err
	}
	n := 0
	for n < len(due) && !due[n].From.After(upTo) {
		n++
	}
	if n == 0 {
		return nil, wrong("up_to", "no period that is due begins up to %s", upTo.Format(time.DateOnly))
	}
	return due[:n], nil
}
