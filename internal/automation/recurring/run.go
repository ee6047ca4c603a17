package recurring

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
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
	// AutomationSwitches returns the automations of a company that were ever switched off or on.
	AutomationSwitches(ctx context.Context, companyID int64) ([]work.AutomationSwitch, error)
	// NeverProven returns the systems that the automation is set up to send to and never sent anything to, that were never
	// proven as they are connected now, and on which nobody let it run.
	NeverProven(ctx context.Context, companyID int64, automation string) ([]work.System, error)
}

// Unproven says that plans wait because their accounting system was never proven and nobody let the automation begin on it.
type Unproven struct{ System work.System }

func (e *Unproven) Error() string {
	return fmt.Sprintf("recurring invoices do not begin on %s, which was never proven: prove it, or agree on the page of the automations", e.System.Name)
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
// twice and nothing is skipped. A plan that cannot be run is reported and does not hold up the others. While the automation
// is switched off, or may not begin on a plan's system (see Unproven), nothing is taken up; afterwards plans with more than
// one late period ask.
func (r Runner) RunOnce(ctx context.Context) (Stats, error) {
	var s Stats
	today, err := r.today(ctx)
	if err != nil {
		return s, err
	}
	off, unproven := map[int64]bool{}, map[int64]map[string]*Unproven{} // by company
	for after := int64(0); ; {
		plans, err := r.Store.DuePlans(ctx, today, after, plansAtOnce)
		if err != nil || len(plans) == 0 {
			return s, err
		}
		after = plans[len(plans)-1].ID
		for _, p := range plans {
			if _, asked := off[p.CompanyID]; !asked {
				why, err := r.off(ctx, p.CompanyID)
				if err != nil {
					return s, err
				}
				off[p.CompanyID] = why != nil
				if unproven[p.CompanyID], err = r.unproven(ctx, p.CompanyID); err != nil {
					return s, err
				}
				for _, id := range slices.Sorted(maps.Keys(unproven[p.CompanyID])) {
					s.Problems = append(s.Problems, unproven[p.CompanyID][id])
				}
			}
		}
		plans = slices.DeleteFunc(plans, func(p DuePlan) bool { return off[p.CompanyID] || unproven[p.CompanyID][p.SystemID] != nil })
		if err := r.run(ctx, plans, today, &s); err != nil {
			return s, err
		}
	}
}

// RunPlan does what RunOnce does, for one plan. It returns a *work.SwitchedOff if the automation is switched off, and
// *Unproven if it may not begin on the plan's system.
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
	why, err := r.off(ctx, p.CompanyID)
	if err != nil {
		return s, err
	}
	if why != nil {
		return s, why
	}
	unproven, err := r.unproven(ctx, p.CompanyID)
	if err != nil {
		return s, err
	}
	if why := unproven[p.SystemID]; why != nil {
		return s, why
	}
	err = r.run(ctx, []DuePlan{p}, today, &s)
	return s, err
}

// off says who switched the automation off; nil: it is on.
func (r Runner) off(ctx context.Context, companyID int64) (*work.SwitchedOff, error) {
	switches, err := r.Store.AutomationSwitches(ctx, companyID)
	for _, s := range switches {
		if s.Name == Automation && s.Off() {
			return &work.SwitchedOff{Switch: s, Zone: r.Zone}, err
		}
	}
	return nil, err
}

// unproven are the systems on which the automation may not begin, by id.
func (r Runner) unproven(ctx context.Context, companyID int64) (map[string]*Unproven, error) {
	list, err := r.Store.NeverProven(ctx, companyID, Automation)
	found := map[string]*Unproven{}
	for _, sys := range list {
		found[sys.ID] = &Unproven{sys}
	}
	return found, err
}

func (r Runner) today(ctx context.Context) (time.Time, error) {
	now, err := r.Store.Now(ctx)
	return Day(now, r.Zone), err
}
