package recurring

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"onefold/internal/work"
)

var (
	// ErrForbidden says that the actor has no right to see or do this.
	ErrForbidden = errors.New("not allowed")
	// ErrNotFound says that there is no such plan in the company.
	ErrNotFound = errors.New("there is no such plan")
	// ErrSamePerson says that a twin must be approved by somebody who did not set it up.
	ErrSamePerson = errors.New("somebody else must approve this plan: you set it up")
	// ErrNotWaiting says that there is nothing to agree to.
	ErrNotWaiting = errors.New("the plan does not wait for this")
)

// Stale says that the plan changed after the person had seen it: nothing was done.
type Stale struct {
	Plan Plan  // as it is now
	Last Entry // the newest change; zero: not known
}

func (e *Stale) Error() string {
	if e.Last.ID == 0 {
		return "the plan was changed meanwhile: look at it again"
	}
	return fmt.Sprintf("the plan was changed by %s meanwhile: look at it again", e.Last.By.Name)
}

// What names a change of a plan in its history.
type What string

const (
	Created     What = "created"
	Imported    What = "imported"
	Changed     What = "changed"
	PausedPlan  What = "paused"
	ResumedPlan What = "resumed"
	EndSet      What = "end"      // the last day was set or taken back
	Approved    What = "approved" // a twin
	Asked       What = "asked"    // the loop found more than one period due
	Agreed      What = "agreed"   // to late periods, up to CaughtUpTo
	LeftOut     What = "left_out" // late periods, up to CoveredTo
)

// Entry is one change in a plan's history.
type Entry struct {
	ID     int64
	At     time.Time
	By     work.Actor // without roles
	What   What
	Note   string // theirs; may be empty
	Before *Plan  // nil: it was not there
	After  Plan
}

// Move is a change of a plan that was decided under its lock. The zero Move writes nothing.
type Move struct {
	Plan    Plan
	What    What
	By      work.Actor
	Note    string
	LeaveUp []Taking // periods to take up without an invoice
}

// PlanStore is what pages need from the database.
type PlanStore interface {
	// Now is the database's clock.
	Now(ctx context.Context) (time.Time, error)
	// System returns one accounting system.
	System(ctx context.Context, id string) (work.System, error)
	// AddPlan decides about a new plan in one transaction in which no other plan is added or changed. Decide gets the plan
	// that has its code (nil: none) and the others of its customer.
	AddPlan(ctx context.Context, p Plan, decide func(now time.Time, there *Plan, near []Plan) (Move, error)) (Plan, error)
	// ChangePlan does the same for a plan that is there, under a lock that keeps Cover out. ErrNotFound.
	ChangePlan(ctx context.Context, companyID, id int64, decide func(now time.Time, was Plan, near []Plan) (Move, error)) (Plan, error)
	// Plan returns one plan, or ErrNotFound.
	Plan(ctx context.Context, companyID, id int64) (Plan, error)
	// NearPlans returns the other plans of the plan's customer, by id.
	NearPlans(ctx context.Context, p Plan) ([]Plan, error)
	// PlanList lists plans by code.
	PlanList(ctx context.Context, companyID int64, q ListQuery) ([]Plan, error)
	// PlanCounts counts plans by the state that Shown returns.
	PlanCounts(ctx context.Context, companyID int64) (map[State]int64, error)
	// LastCovered returns the newest period that was taken up of each of the plans, if there is one.
	LastCovered(ctx context.Context, planIDs []int64) (map[int64]Covered, error)
	// CoveredBetween returns what was taken up of periods that begin on one of the days, by plan, in order of From.
	CoveredBetween(ctx context.Context, companyID int64, first, last time.Time) (map[int64][]Covered, error)
	// PlanPeriods returns what was taken up, newest first, before a day (zero: all), at most limit.
	PlanPeriods(ctx context.Context, companyID, planID int64, before time.Time, limit int) ([]Made, error)
	// PlanHistory returns changes, newest first, before an entry (0: all), at most limit.
	PlanHistory(ctx context.Context, companyID, planID, before int64, limit int) ([]Entry, error)
}

// Plans is what people may do with the plans of one company. It is safe for concurrent use.
type Plans struct {
	Store     PlanStore
	CompanyID int64
	Zone      *time.Location // the firm's
	Runner    Runner         // for RunNow
}

// MayRead reports whether the actor may see plans, MayChange whether they may set them up.
func MayRead(by work.Actor) bool { return by.Can(work.Viewer, work.Operator, work.Ops, work.Admin) }

// MayChange reports whether the actor may set plans up and decide about them.
func MayChange(by work.Actor) bool { return by.Can(work.Admin) }

// ListQuery says which plans to list.
type ListQuery struct {
	Text  string // a part of the code, of the customer's id or name; empty: all
	State State  // as Shown; empty: all
	After string // the code after which to go on; empty: from the beginning
	Limit int    // 1 to 200
}

// Listed is a plan in the list.
type Listed struct {
	Plan
	Upcoming *Expected // the next invoice; nil: no more will come
	Last     *Covered  // the newest period that was taken up; nil: none
}

// ListPage is a part of the list.
type ListPage struct {
	Plans  []Listed
	Next   string // for ListQuery.After; empty at the end
	Counts map[State]int64
	Today  time.Time // in the firm's zone
}

// List lists plans by code.
func (s Plans) List(ctx context.Context, by work.Actor, q ListQuery) (ListPage, error) {
	if !MayRead(by) {
		return ListPage{}, ErrForbidden
	}
	q.Text, q.Limit = strings.TrimSpace(strings.ToValidUTF8(q.Text, "\uFFFD")), min(max(q.Limit, 1), 200)
	today, err := s.Today(ctx)
	if err != nil {
		return ListPage{}, err
	}
	more := q
	more.Limit++
	plans, err := s.Store.PlanList(ctx, s.CompanyID, more)
	if err != nil {
		return ListPage{}, err
	}
	page := ListPage{Today: today}
	if len(plans) > q.Limit {
		plans = plans[:q.Limit]
		page.Next = plans[q.Limit-1].Code
	}
	if page.Counts, err = s.Store.PlanCounts(ctx, s.CompanyID); err != nil {
		return page, err
	}
	ids := make([]int64, len(plans))
	for i, p := range plans {
		ids[i] = p.ID
	}
	last, err := s.Store.LastCovered(ctx, ids)
	if err != nil {
		return page, err
	}
	for _, p := range plans {
		one := Listed{Plan: p}
		next, err := p.Expect(p.CoveredTo, 1, today)
		if err != nil {
			return page, err
		}
		if len(next) > 0 {
			one.Upcoming = &next[0]
		}
		if of, ok := last[p.ID]; ok {
			one.Last = &of
		}
		page.Plans = append(page.Plans, one)
	}
	return page, nil
}

// Made is a period that was taken up, with what became of it.
type Made struct {
	Covered
	Item work.Item // the document's first unfinished step; zero: nothing was recorded
}

// Detail is a plan with all that its page shows.
type Detail struct {
	Plan
	Today      time.Time   // in the firm's zone
	Due        []Expected  // due and not taken up: what a catch-up would make
	Twins      []Plan      // the plans that it resembles
	Periods    []Made      // newest first, at most detailRows
	History    []Entry     // newest first, at most detailRows
	ChangeDays []time.Time // the next days on which a change may begin
}

const (
	detailRows = 60
	changeDays = 12
)

// Get returns a plan with all that its page shows, or ErrNotFound.
func (s Plans) Get(ctx context.Context, by work.Actor, id int64) (Detail, error) {
	if !MayRead(by) {
		return Detail{}, ErrForbidden
	}
	var d Detail
	var err error
	if d.Plan, err = s.Store.Plan(ctx, s.CompanyID, id); err != nil {
		return d, err
	}
	if d.Today, err = s.Today(ctx); err != nil {
		return d, err
	}
	due, err := d.Plan.Due(d.Today)
	if err != nil {
		return d, err
	}
	for _, of := range due {
		e, err := d.expected(of, d.Today)
		if err != nil {
			return d, err
		}
		d.Due = append(d.Due, e)
	}
	near, err := s.Store.NearPlans(ctx, d.Plan)
	if err != nil {
		return d, err
	}
	d.Twins = d.twins(near)
	next, err := d.Upcoming(d.CoveredTo, changeDays)
	if err != nil {
		return d, err
	}
	for _, of := range next {
		if !of.Part {
			d.ChangeDays = append(d.ChangeDays, of.From)
		}
	}
	if d.Periods, err = s.Store.PlanPeriods(ctx, s.CompanyID, id, time.Time{}, detailRows); err != nil {
		return d, err
	}
	d.History, err = s.Store.PlanHistory(ctx, s.CompanyID, id, 0, detailRows)
	return d, err
}

// Periods returns older periods that were taken up, newest first, at most 60; before is the From of the last one seen.
func (s Plans) Periods(ctx context.Context, by work.Actor, id int64, before time.Time) ([]Made, error) {
	if !MayRead(by) {
		return nil, ErrForbidden
	}
	return s.Store.PlanPeriods(ctx, s.CompanyID, id, before, detailRows)
}

// History returns older changes, newest first, at most 60; before is the ID of the last one seen.
func (s Plans) History(ctx context.Context, by work.Actor, id, before int64) ([]Entry, error) {
	if !MayRead(by) {
		return nil, ErrForbidden
	}
	return s.Store.PlanHistory(ctx, s.CompanyID, id, before, detailRows)
}

// Today is the day in the firm's zone, by the database's clock.
func (s Plans) Today(ctx context.Context) (time.Time, error) {
	now, err := s.Store.Now(ctx)
	return Day(now, s.Zone), err
}

// RunNow records what is due of one plan, as the loop does: pressed twice it makes nothing twice, and nothing before its day.
func (s Plans) RunNow(ctx context.Context, by work.Actor, id int64) (Stats, error) {
	if !MayChange(by) {
		return Stats{}, ErrForbidden
	}
	if _, err := s.Store.Plan(ctx, s.CompanyID, id); err != nil {
		return Stats{}, err
	}
	return s.Runner.RunPlan(ctx, id)
}
