package recurring

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"onefold/internal/automation"
	"onefold/internal/work"
)

// Store is what the loop needs from the database.
type Store interface {
	// Now is the database's clock.
	Now(ctx context.Context) (time.Time, error)
	// DuePlans returns the active plans with a period that begins up to the day and was not taken up, or with one that was
	// taken up and not recorded, by id, after an id, at most limit.
	DuePlans(ctx context.Context, today time.Time, after int64, limit int) ([]DuePlan, error)
	// DuePlan returns one plan if DuePlans would.
	DuePlan(ctx context.Context, planID int64, today time.Time) (p DuePlan, due bool, err error)
	// Cover takes up periods, all in one transaction under the locks of their plans. For each it returns nil: it is ours;
	// ErrMoved: the plan changed since it was read, or this is not its next period any more; or ErrCovered.
	Cover(ctx context.Context, list []Taking) (refused []error, err error)
	// CoveredBy notes what became of periods that were taken up.
	CoveredBy(ctx context.Context, list []Became) error
	// AskCatchUp lets the plan wait until a person agrees to its late periods. Asked is false if the plan changed meanwhile:
	// then it does nothing.
	AskCatchUp(ctx context.Context, p Plan) (asked bool, err error)
}

var (
	// ErrCovered says that a period, or a part of it, was taken up before: the database refused it.
	ErrCovered = errors.New("days of the period were taken up before")
	// ErrMoved says that a plan is not as it was read: somebody else took the period up, or changed the plan.
	ErrMoved = errors.New("the plan changed meanwhile")
)

// Covered is a period that was taken up. Part, Days and Of are not kept: they follow from the plan.
type Covered struct {
	Period
	Key     string
	Late    bool   // it was due before the day on which it was taken up
	LeftOut bool   // a person decided that there will be no invoice for it
	ItemID  int64  // 0: not recorded yet, or left out
	Problem string // why it could not be recorded; empty: it was, or will be
	At      time.Time
}

// DuePlan is a plan with something to do.
type DuePlan struct {
	Plan
	Open []Covered // taken up and not recorded, in order of From
}

// Taking asks for a period of a plan, as the plan was read.
type Taking struct {
	Plan   Plan
	Period Period
	Key    string
	Late   bool
}

// Became is what a period became: an item, or a problem.
type Became struct {
	PlanID  int64
	From    time.Time
	ItemID  int64
	Problem string
}

// Runner records the invoices of plans that are due.
type Runner struct {
	Store  Store
	Intake interface {
		Record(ctx context.Context, items []work.New) ([]automation.Recorded, error)
	}
	Zone *time.Location // the firm's: a period is due from the beginning of its first day there
	Log  *slog.Logger   // of Run; nil: silent
}

// Stats counts what one RunOnce did.
type Stats struct {
	Recorded int // invoices that are new
	Late     int // of these, for periods that were due before today
	Asked    int // plans that now wait for a person, because more than one period is due
	Problems []error
}

const (
	plansAtOnce = 500
	// everyMinute is how soon a new day, or a new plan, is noticed.
	everyMinute = time.Minute
)

// Run calls RunOnce at once and then every minute until ctx ends. It logs only when something happened; a problem that
// stays is logged once.
func (r Runner) Run(ctx context.Context) error {
	log := r.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	tick := time.NewTicker(everyMinute)
	defer tick.Stop()
	known := map[string]bool{}
	for {
		stats, err := r.RunOnce(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			stats.Problems = append(stats.Problems, err)
		}
		problems := map[string]bool{}
		for _, p := range stats.Problems {
			if problems[p.Error()] = true; !known[p.Error()] {
				log.Warn("recurring invoices: a plan cannot be run", "error", p)
			}
		}
		known = problems
		if stats.Recorded > 0 || stats.Asked > 0 {
			log.Info("recurring invoices", "recorded", stats.Recorded, "late", stats.Late, "plans_that_ask", stats.Asked)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// RunOnce records what is due. It may run at any time, as often as you like, on any number of servers: nothing is made
// twice and nothing is skipped. A plan that cannot be run is reported and does not hold up the others.
func (r Runner) RunOnce(ctx context.Context) (Stats, error) {
	var s Stats
	today, err := r.today(ctx)
	if err != nil {
		return s, err
	}
	for after := int64(0); ; {
		plans, err := r.Store.DuePlans(ctx, today, after, plansAtOnce)
		if err != nil || len(plans) == 0 {
			return s, err
		}
		if err := r.run(ctx, plans, today, &s); err != nil {
			return s, err
		}
		after = plans[len(plans)-1].ID
	}
}

// RunPlan does what RunOnce does, for one plan.
func (r Runner) RunPlan(ctx context.Context, planID int64) (Stats, error) {
	var s Stats
	today, err := r.today(ctx)
	if err != nil {
		return s, err
	}
	p, due, err := r.Store.DuePlan(ctx, planID, today)
	if err != nil || !due {
		return s, err
	}
	return s, r.run(ctx, []DuePlan{p}, today, &s)
}

func (r Runner) today(ctx context.Context) (time.Time, error) {
	now, err := r.Store.Now(ctx)
	return Day(now, r.Zone), err
}

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
		became = append(became, of[i].became(s, got))
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
