package recurring

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"onefold/internal/work"
)

// Shown is the state as people see it: a plan of which no more invoices come has ended, whatever its state.
func (p Plan) Shown() State {
	if p.Next.IsZero() {
		return Ended
	}
	return p.State
}

// Create adds a plan. ID, company, state and authors are set here. A code that is taken is a *FieldError, unless the same
// person sends the same plan again: then they get the one that is there. A twin is added waiting.
func (s Plans) Create(ctx context.Context, by work.Actor, p Plan) (Plan, error) {
	p, known, err := s.add(ctx, by, p, Created)
	if err == nil && known && !p.CreatedBy.Same(by) {
		return p, codeTaken(p)
	}
	return p, err
}

func codeTaken(p Plan) *FieldError {
	return wrong("code", "the code is taken by the plan %s for %s: choose another", p.Code, p.customer())
}

func (p Plan) customer() string {
	if p.CustomerName != "" {
		return p.CustomerName
	}
	return p.CustomerID
}

// Check tidies a plan as Create would and returns what must be mended first, with all of it in Problems. It writes nothing.
func (s Plans) Check(ctx context.Context, p Plan) (Plan, []*FieldError) {
	p = p.tidy()
	p.CompanyID = s.CompanyID
	all := p.Problems()
	if len(p.Terms) > 0 && !p.End.IsZero() && p.End.Equal(p.neverBegan()) {
		all = append(all, wrong("end", "the plan ends before it starts"))
	}
	if p.SystemID != "" {
		if sys, err := s.Store.System(ctx, p.SystemID); err != nil || sys.CompanyID != s.CompanyID {
			all = append(all, wrong("system", "there is no accounting system %q", p.SystemID))
		}
	}
	return p, all
}

// add adds a plan; known says that one with this code and content was there.
func (s Plans) add(ctx context.Context, by work.Actor, p Plan, what What) (added Plan, known bool, err error) {
	if !MayChange(by) {
		return p, false, ErrForbidden
	}
	p, bad := s.Check(ctx, p)
	if len(bad) > 0 {
		return p, false, bad[0]
	}
	if p.State != Paused {
		p.State = Active
	}
	p.ID, p.Version, p.Why, p.CaughtUpTo, p.CoveredTo = 0, 1, "", time.Time{}, time.Time{}
	p.CreatedBy, p.ChangedBy = author(by), author(by)
	added, err = s.Store.AddPlan(ctx, p, func(now time.Time, there *Plan, near []Plan) (Move, error) {
		if known = there != nil && there.sameContent(p); known {
			return Move{Plan: *there}, nil
		}
		if there != nil && what == Imported {
			return Move{}, wrong("code", "the plan %s is there with another content: change it on its page", there.Code)
		}
		if there != nil {
			return Move{}, codeTaken(*there)
		}
		p.CreatedAt = now
		return Move{Plan: judge(Plan{}, p, near), What: what, By: by}, nil
	})
	return added, known, err
}

// author is an actor as plans keep them.
func author(by work.Actor) work.Actor { return work.Actor{Kind: by.Kind, ID: by.ID, Name: by.Name} }

// tidy is the plan as it is stored: without spaces around texts, with the day of the month settled.
func (p Plan) tidy() Plan {
	p.Code = strings.Join(strings.Fields(p.Code), " ")
	if clean, err := work.CleanKey(p.Code); err == nil {
		p.Code = clean
	}
	p.CustomerID, p.CustomerName, p.Note = strings.TrimSpace(p.CustomerID), strings.TrimSpace(p.CustomerName), strings.TrimSpace(p.Note)
	p.Currency, p.SystemID = strings.ToUpper(strings.TrimSpace(p.Currency)), strings.TrimSpace(p.SystemID)
	p.Terms = slices.Clone(p.Terms)
	for i := range p.Terms {
		p.Terms[i] = p.Terms[i].tidy()
	}
	return p
}

func (t Term) tidy() Term {
	t.Schedule = t.Schedule.settled(t.From)
	t.Lines = slices.Clone(t.Lines)
	for i := range t.Lines {
		l := &t.Lines[i]
		l.Description, l.TaxCode = strings.TrimSpace(l.Description), strings.TrimSpace(l.TaxCode)
		l.Quantity, l.UnitPrice = strings.TrimSpace(l.Quantity), strings.TrimSpace(l.UnitPrice)
	}
	return t
}

func (t Term) same(o Term) bool {
	return t.From.Equal(o.From) && t.Schedule == o.Schedule && slices.Equal(t.Lines, o.Lines)
}

// sameContent reports whether both say the same invoices.
func (p Plan) sameContent(o Plan) bool {
	return p.Code == o.Code && p.SystemID == o.SystemID && p.CustomerID == o.CustomerID && p.CustomerName == o.CustomerName && p.Currency == o.Currency &&
		p.End.Equal(o.End) && p.PayWithin == o.PayWithin && p.Prorate == o.Prorate && p.Note == o.Note && slices.EqualFunc(p.Terms, o.Terms, Term.same)
}

// twins are those of the plans that bill the same.
func (p Plan) twins(near []Plan) (list []Plan) {
	for _, o := range near {
		if p.Twin(o) {
			list = append(list, o)
		}
	}
	return list
}

// judge lets a plan that became a twin wait, and one that is none any more go on.
func judge(was, p Plan, near []Plan) Plan {
	twins := p.twins(near)
	became := slices.ContainsFunc(twins, func(o Plan) bool { return !was.Twin(o) })
	switch {
	case became && p.State == Paused:
		p.Why = Twin
	case became:
		p.State, p.Why = Waiting, Twin
	case p.Why == Twin && len(twins) == 0:
		p.Why = ""
		if p.State == Waiting {
			p.State = Active
		}
	}
	return p
}

// Change is what a person makes of a plan. The texts, days to pay and proration replace those of the plan.
type Change struct {
	CustomerName string
	Note         string
	PayWithin    int
	Prorate      bool // may change only while nothing was taken up

	// New terms, from a day on which a period begins; the zero From leaves the terms as they are. While nothing was taken
	// up, the plan's start itself may be moved with MoveStart.
	From      time.Time
	Schedule  Schedule
	Lines     []work.Line
	MoveStart bool // the new terms replace all others, and From is the new start
	DropLater bool // changes that were planned for later days are taken back
}

// Change changes a plan as the person saw it, never what was taken up. *Stale, *FieldError, ErrNotFound.
func (s Plans) Change(ctx context.Context, by work.Actor, id, version int64, c Change) (Plan, error) {
	return s.change(ctx, by, id, version, Changed, "", func(was Plan, _ time.Time) (Plan, error) {
		p := was
		p.CustomerName, p.Note, p.PayWithin, p.Prorate = c.CustomerName, c.Note, c.PayWithin, c.Prorate
		if p.Prorate != was.Prorate && !was.CoveredTo.IsZero() {
			return p, wrong("prorate", "the first invoice was made: this cannot be changed any more")
		}
		if !c.From.IsZero() {
			var err error
			if p.Terms, err = was.with(c); err != nil {
				return p, err
			}
			p.ChangedBy = author(by)
		}
		p = p.tidy()
		return p, p.Validate()
	})
}

// with is the plan's terms with the new ones in their place.
func (p Plan) with(c Change) ([]Term, error) {
	start := p.Terms[0].From
	term := Term{From: c.From, Schedule: c.Schedule, Lines: c.Lines}
	switch {
	case c.From.Before(p.CoveredTo):
		return nil, wrong("from", "the invoices up to %s were made: choose a later day", p.CoveredTo.AddDate(0, 0, -1).Format(time.DateOnly))
	case c.MoveStart && !p.CoveredTo.IsZero():
		return nil, wrong("start", "the first invoice was made: the start cannot be moved any more")
	case c.MoveStart:
		return []Term{term}, nil
	case c.From.Before(start):
		return nil, wrong("from", "the plan starts on %s: choose this day or a later one", start.Format(time.DateOnly))
	}
	var terms []Term
	for _, t := range p.Terms {
		if t.From.Before(c.From) {
			terms = append(terms, t)
		}
	}
	terms = append(terms, term)
	for _, t := range p.Terms {
		if t.From.After(c.From) && !c.DropLater {
			terms = append(terms, t)
		}
	}
	return terms, nil
}

// change runs f on the plan as the person saw it. If f changes nothing, nothing is written, whatever the version.
func (s Plans) change(ctx context.Context, by work.Actor, id, version int64, what What, note string, f func(was Plan, today time.Time) (Plan, error)) (Plan, error) {
	return s.changeWith(ctx, by, id, version, what, note, func(was Plan, today time.Time) (Plan, []Taking, error) {
		p, err := f(was, today)
		return p, nil, err
	})
}

var errStale = errors.New("stale")

func (s Plans) changeWith(ctx context.Context, by work.Actor, id, version int64, what What, note string, f func(was Plan, today time.Time) (Plan, []Taking, error)) (Plan, error) {
	if !MayChange(by) {
		return Plan{}, ErrForbidden
	}
	if bad := checkText("why", note, maxNote); bad != nil {
		return Plan{}, bad
	}
	p, err := s.Store.ChangePlan(ctx, s.CompanyID, id, func(now time.Time, was Plan, near []Plan) (Move, error) {
		p, leave, err := f(was, Day(now, s.Zone))
		switch {
		case err == nil && p.sameContent(was) && p.State == was.State && p.Why == was.Why && p.CaughtUpTo.Equal(was.CaughtUpTo) && len(leave) == 0:
			return Move{Plan: was}, nil
		case was.Version != version:
			return Move{Plan: was}, errStale
		case err != nil:
			return Move{}, err
		}
		p = judge(was, p, near)
		p.Version++
		return Move{Plan: p, What: what, By: by, Note: strings.TrimSpace(note), LeaveUp: leave}, nil
	})
	if errors.Is(err, errStale) {
		return p, s.stale(ctx, id)
	}
	return p, err
}

func (s Plans) stale(ctx context.Context, id int64) error {
	p, err := s.Store.Plan(ctx, s.CompanyID, id)
	if err != nil {
		return err
	}
	last, err := s.Store.PlanHistory(ctx, s.CompanyID, id, 0, 1)
	if err != nil {
		return err
	}
	e := &Stale{Plan: p}
	if len(last) > 0 {
		e.Last = last[0]
	}
	return e
}
