package review

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"onefold/internal/work"
)

// Plan is what a bulk run does with each of its items. There is none that attests: see the rule.
type Plan string

const (
	PlanRepair Plan = "repair" // look at each; settle those found and equal; send again those proven absent; leave the rest
	PlanCheck  Plan = "check"  // look at each, and change nothing else
	PlanRetry  Plan = "retry"  // send again those proven absent
	PlanHold   Plan = "hold"   // take them out of the automation's hands
	PlanClose  Plan = "close"  // they will not be done
	PlanAssign Plan = "assign" // name the colleague who works on them
)

// Plans lists every plan in the order in which pages offer them.
var Plans = []Plan{PlanRepair, PlanCheck, PlanRetry, PlanAssign, PlanHold, PlanClose}

// first is the action that a plan begins with.
func (p Plan) first() Action {
	if p == PlanRepair {
		return Check
	}
	return Action(p)
}

// looks reports whether the plan awaits a look in the accounting system.
func (p Plan) looks() bool { return p.first() == Check }

// acted is the outcome of an item with which the plan's first action was carried out; none: a look is awaited.
func (p Plan) acted() BulkOutcome {
	switch {
	case p.looks():
		return BulkTodo
	case p == PlanRetry:
		return BulkSent
	}
	return BulkActed
}

// MaxBulk is the most items of one run.
const MaxBulk = 100_000

// Refusals of bulk runs.
var (
	ErrBulkPlan  = errors.New("there is no such plan")
	ErrBulkEmpty = errors.New("no items were chosen")
	// ErrBulkTaken says that another server has changed the run.
	ErrBulkTaken = errors.New("another server is at this run")
	ErrBulkLarge = fmt.Errorf("more than %d items were chosen", MaxBulk)
	// ErrBulkMoved says that the search finds other items than when the person looked.
	ErrBulkMoved = errors.New("the list is another one now: look at it again")
)

// BulkState says how far a run is.
type BulkState string

const (
	BulkPreparing BulkState = "preparing" // its set is being frozen; nothing is done with it yet
	BulkRunning   BulkState = "running"
	BulkStopping  BulkState = "stopping" // somebody stopped it; what is in hand is let finish
	BulkStopped   BulkState = "stopped"
	BulkFinished  BulkState = "finished" // every item has its result
	BulkAbandoned BulkState = "abandoned"
)

// Ended reports whether nothing more happens.
func (s BulkState) Ended() bool {
	return s == BulkStopped || s == BulkFinished || s == BulkAbandoned
}

// BulkRun is one plan carried out with a frozen set of items.
type BulkRun struct {
	ID        int64
	CompanyID int64
	Form      string // of the form that began it; the same form begins one run
	Plan      Plan
	State     BulkState
	List      string // address of the list that it was begun from
	Input     Input  // of the plan's action
	By        work.Actor
	Previewed int64 // items that there were when the person looked
	Size      int64 // items of the frozen set, as far as it is frozen
	Looked    int64 // items that were looked at
	Tally     map[BulkOutcome]int64
	BeganAt   time.Time
	EndedAt   time.Time // zero: not yet
	StoppedBy string
	Version   int64     // grows with every change
	Freezing  *Freezing // of a run that is being prepared; nil: of the version before this one, and nobody takes it on
}

// Count returns how many items came out in the class.
func (r BulkRun) Count(c BulkClass) (n int64) {
	all := int64(0)
	for o, k := range r.Tally {
		all += k
		if r.Plan.Class(o) == c {
			n += k
		}
	}
	if c == ClassTodo {
		return r.Size - all
	}
	return n
}

// mark is what the history of an item says of the acts of a run.
func (r BulkRun) mark() string { return fmt.Sprintf("Bulk run %d", r.ID) }

// note is the note of the run's acts.
func (r BulkRun) note(typed string) string {
	if typed == "" {
		return r.mark()
	}
	return typed + " · " + r.mark()
}

// BulkItem is one item of a run's set.
type BulkItem struct {
	N       int // from 1, without gaps
	ItemID  int64
	Version int64     // in which it was frozen; 0: it had changed since the person looked
	Looking time.Time // since when a look that the run asked for is awaited; zero: none
	BulkResult
}

// BulkResult is what came of one item.
type BulkResult struct {
	Outcome BulkOutcome
	Detail  string // depends on the outcome
	Who     string
	At      time.Time
}

// BulkUpdate is what a step of a run found out about its N-th item: a result, or that a look was asked for.
type BulkUpdate struct {
	N       int
	Looking time.Time // meaningful without an outcome
	Looked  bool      // an accounting system was looked in
	BulkResult
}

// BulkRows picks items of a run: those after N, in order, at most Limit.
type BulkRows struct {
	After   int
	Limit   int
	Only    []BulkOutcome // empty: any
	Looking *bool         // with BulkTodo: whether a look is awaited; nil: either
}

// BulkStore is what bulk runs need from the database.
type BulkStore interface {
	Store
	// Rows finds what Search finds, without reading the items; at most 2,000 on a page.
	Rows(ctx context.Context, q Query) (RowPage, error)
	// ItemsByID returns those of the company's items that there are, by id.
	ItemsByID(ctx context.Context, companyID int64, ids []int64) ([]work.Item, error)
	// AddBulk records a run that is being prepared, or returns the one that the same form began.
	AddBulk(ctx context.Context, r BulkRun) (run BulkRun, isNew bool, err error)
	// FillBulk adds those of the items that are not in it yet to the set of a run that is being prepared, numbers them, and
	// notes what is left of the set; nil: it is complete, and the run goes. It returns ErrBulkLarge if the set grew too
	// large, and ErrBulkTaken if the run has changed since it was read; then nothing is written.
	FillBulk(ctx context.Context, run BulkRun, items []BulkItem, left *Freezing) (BulkRun, error)
	// AbandonBulks ends runs of the version before this one whose preparation began before the time.
	AbandonBulks(ctx context.Context, before time.Time) error
	// Bulk returns one run, or ErrNotFound.
	Bulk(ctx context.Context, companyID, id int64) (BulkRun, error)
	// Bulks returns runs with an id below before (0: the newest), newest first.
	Bulks(ctx context.Context, companyID, before int64, limit int) ([]BulkRun, error)
	// BulkItems returns items of a run.
	BulkItems(ctx context.Context, id int64, rows BulkRows) ([]BulkItem, error)
	// StopBulk asks for the end of a run that is running or being prepared; ErrNotFound if there is no such run. One that has ended stays.
	StopBulk(ctx context.Context, companyID, id int64, by work.Actor) error
	// OpenBulks returns the ids of runs that have not ended, oldest first.
	OpenBulks(ctx context.Context) ([]int64, error)
	// HoldBulk takes an open run for a server, for so long by the database's clock; false: another server is at it.
	HoldBulk(ctx context.Context, id int64, node string, hold time.Duration) (BulkRun, bool, error)
	// ReleaseBulk lets go of a run that the server holds.
	ReleaseBulk(ctx context.Context, id int64, node string) error
	// SaveBulk writes down updates, each for an item that has no result yet; others are left out.
	SaveBulk(ctx context.Context, id int64, updates []BulkUpdate) error
	// EndBulk ends an open run.
	EndBulk(ctx context.Context, id int64, state BulkState) error
}

// Bulk is what staff may do with many items at once. It is safe for concurrent use.
type Bulk struct {
	store   BulkStore
	items   *Service
	company int64
}

// NewBulk returns the service for a company.
func NewBulk(store BulkStore, companyID int64) *Bulk {
	return &Bulk{store: store, items: New(store, companyID), company: companyID}
}

// Run returns one run, or ErrNotFound.
func (b *Bulk) Run(ctx context.Context, by work.Actor, id int64) (BulkRun, error) {
	if !mayAct(by) {
		return BulkRun{}, ErrForbidden
	}
	return b.store.Bulk(ctx, b.company, id)
}

// Runs returns runs with an id below before (0: the newest), newest first, at most limit.
func (b *Bulk) Runs(ctx context.Context, by work.Actor, before int64, limit int) ([]BulkRun, error) {
	if !mayAct(by) {
		return nil, ErrForbidden
	}
	return b.store.Bulks(ctx, b.company, before, limit)
}

// Stop ends a run: what is in hand is let finish, the rest stays untouched. A run that has ended stays as it is.
func (b *Bulk) Stop(ctx context.Context, by work.Actor, id int64) error {
	if !mayAct(by) {
		return ErrForbidden
	}
	return b.store.StopBulk(ctx, b.company, id, by)
}

// BulkLine is the result of one item, with the item as it is now.
type BulkLine struct {
	BulkItem
	Item work.Item
}

// Results returns items of a run after the n-th, in order, at most limit, only of a class (empty: any).
func (b *Bulk) Results(ctx context.Context, by work.Actor, r BulkRun, c BulkClass, after, limit int) ([]BulkLine, error) {
	if !mayAct(by) || r.CompanyID != b.company {
		return nil, ErrForbidden
	}
	rows := BulkRows{After: after, Limit: limit}
	if c != "" {
		rows.Only = r.Plan.outcomes(c)
	}
	found, err := b.store.BulkItems(ctx, r.ID, rows)
	if err != nil {
		return nil, err
	}
	items, err := b.store.ItemsByID(ctx, b.company, idsOf(found))
	if err != nil {
		return nil, err
	}
	lines := make([]BulkLine, len(found))
	for i, row := range found {
		lines[i].BulkItem = row
		if at := slices.IndexFunc(items, func(it work.Item) bool { return it.ID == row.ItemID }); at >= 0 {
			lines[i].Item = items[at]
		}
	}
	return lines, nil
}

func idsOf(rows []BulkItem) []int64 {
	ids := make([]int64, len(rows))
	for i, r := range rows {
		ids[i] = r.ItemID
	}
	return ids
}
