package review

import (
	"context"
	"errors"
	"iter"
	"math"
	"slices"
	"strings"
	"time"

	"onefold/internal/work"
)

// BulkSet names the items that somebody chose: some ids, or all of a list.
type BulkSet struct {
	IDs   []int64
	Query *Query // nil: IDs
}

// BulkPreview is what the plans would do with a set at the moment.
type BulkPreview struct {
	Seen    time.Time // by the database's clock
	How     How       // how the list's search found its rows
	Size    int64     // items of the set; MaxBulk+1: more than a run may have
	Counted int64     // items that were looked through for the rest; the first ones of the list
	Items   []Seen    // of ticked items, as they are
	Plans   map[Plan]BulkForecast
}

// BulkForecast says for how many of the counted items a plan's first action is possible.
type BulkForecast struct {
	Can     int64
	Refused map[work.RefusalCode]int64 // the others, by why
}

const (
	bulkPage    = 200
	bulkRows    = 2_000 // without their items
	bulkPreview = 5_000 // items that a preview judges one by one
)

// Preview says what each plan would do with the set. It returns ErrBulkEmpty if there is nothing in it.
func (b *Bulk) Preview(ctx context.Context, by work.Actor, set BulkSet) (BulkPreview, error) {
	if !mayAct(by) {
		return BulkPreview{}, ErrForbidden
	}
	p := BulkPreview{Plans: map[Plan]BulkForecast{}}
	for _, plan := range Plans {
		p.Plans[plan] = BulkForecast{Refused: map[work.RefusalCode]int64{}}
	}
	var err error
	if p.Seen, err = b.store.Now(ctx); err != nil { // the clock first: what is chosen must not be younger
		return p, err
	}
	rules := map[string]work.Rules{}
	judge := func(it work.Item) error {
		r, known := rules[it.SystemID]
		if !known {
			sys, err := b.store.System(ctx, it.SystemID)
			if err != nil {
				return err
			}
			r = sys.Rules()
			rules[it.SystemID] = r
		}
		p.Counted++
		p.judge(it, by, r)
		return nil
	}
	if set.Query == nil {
		items, err := b.store.ItemsByID(ctx, b.company, set.IDs)
		if err != nil {
			return p, err
		}
		for _, it := range items {
			if err := judge(it); err != nil {
				return p, err
			}
			p.Items = append(p.Items, Seen{ID: it.ID, Version: it.Version, At: p.Seen})
		}
		p.Size = p.Counted
	} else if err := b.previewList(ctx, by, *set.Query, &p, judge); err != nil {
		return p, err
	}
	if p.Size == 0 {
		return p, ErrBulkEmpty
	}
	return p, nil
}

func (b *Bulk) previewList(ctx context.Context, by work.Actor, q Query, p *BulkPreview, judge func(work.Item) error) error {
	for page, err := range b.pages(ctx, by, q, p.Seen) {
		if err != nil {
			return err
		}
		p.How = page.How
		for _, it := range page.Items {
			if err := judge(it); err != nil {
				return err
			}
		}
		if p.Counted >= bulkPreview && page.Next != (Cursor{}) {
			p.Size, err = b.items.Count(ctx, by, q, MaxBulk+1)
			p.Size = max(p.Size, p.Counted)
			return err
		}
	}
	p.Size = p.Counted
	return nil
}

// judge adds an item to the forecasts.
func (p *BulkPreview) judge(it work.Item, by work.Actor, r work.Rules) {
	in := Input{Note: strings.Repeat("x", work.MinAttestation), Why: CloseReasons[0]}
	for plan, f := range p.Plans {
		err := bulkSettled(plan, it)
		if err == nil {
			_, err = decide(plan.first(), in, by, it, r, p.Seen)
		}
		var refusal *work.Refusal
		switch {
		case err == nil:
			f.Can++
		case errors.As(err, &refusal):
			f.Refused[refusal.Code]++
		default:
			f.Refused[work.RefusedStatus]++
		}
		p.Plans[plan] = f
	}
}

// pages walks the list as it was at the time: rows that have changed since are not on it.
func (b *Bulk) pages(ctx context.Context, by work.Actor, q Query, at time.Time) iter.Seq2[Page, error] {
	return func(yield func(Page, error) bool) {
		q.Limit, q.After = bulkPage, Cursor{At: at, ID: math.MaxInt64}
		for {
			page, err := b.items.Search(ctx, by, q)
			if !yield(page, err) || err != nil || page.Next == (Cursor{}) {
				return
			}
			q.After = page.Next
		}
	}
}

// NewBulkRun is what a person confirmed.
type NewBulkRun struct {
	Form      string // names the form; sent twice it begins one run
	Plan      Plan
	Input     Input  // the note and reason of PlanClose, the note of PlanHold, the colleague of PlanAssign
	Items     []Seen // of ticked items, as they were in the preview
	Query     *Query // nil: Items
	List      string // address of the list
	How       How    // as in the preview
	Seen      time.Time
	Previewed int64
}

// Start freezes the set, in the versions that the person saw, and lets the run go. It returns ErrForbidden, ErrBulkPlan,
// ErrBulkEmpty, ErrBulkLarge, ErrBulkMoved, or a *work.Refusal if what was typed is not enough. The same form sent again
// returns the run that it began; then isNew is false.
func (b *Bulk) Start(ctx context.Context, by work.Actor, n NewBulkRun) (run BulkRun, isNew bool, err error) {
	n.Input = n.Input.clean()
	switch {
	case !mayAct(by):
		return run, false, ErrForbidden
	case !slices.Contains(Plans, n.Plan) || n.Form == "":
		return run, false, ErrBulkPlan
	case n.Query == nil && len(n.Items) == 0:
		return run, false, ErrBulkEmpty
	case len(n.Items) > MaxBulk || n.Previewed > MaxBulk:
		return run, false, ErrBulkLarge
	}
	if err := enough(n.Plan, n.Input, by); err != nil {
		return run, false, err
	}
	now, err := b.store.Now(ctx)
	if err != nil {
		return run, false, err
	}
	if n.Seen.After(now) {
		n.Seen = now
	}
	run, isNew, err = b.store.AddBulk(ctx, BulkRun{CompanyID: b.company, Form: n.Form, Plan: n.Plan, State: BulkPreparing, List: n.List, Input: n.Input, By: by,
		Previewed: n.Previewed, BeganAt: now})
	if err != nil || !isNew {
		return run, false, err
	}
	if err := b.freeze(ctx, n, &run); err != nil {
		return run, false, errors.Join(err, b.store.EndBulk(context.WithoutCancel(ctx), run.ID, BulkAbandoned))
	}
	if err := b.store.BeginBulk(ctx, run.ID, run.Size); err != nil {
		return run, false, err
	}
	run.State = BulkRunning
	return run, true, nil
}

// enough asks the judgement of single actions whether what was typed is enough, with an item that allows the action.
func enough(p Plan, in Input, by work.Actor) error {
	it := work.Item{Status: work.Review, Reason: work.ReasonRejected, Steps: []string{""}}
	switch p.first() {
	case Hold:
		it.Status, it.Reason = work.Queued, ""
	case Retry, Check: // nothing is typed
		in = Input{}
	}
	_, err := decide(p.first(), in, by, it, work.Rules{Policy: work.DefaultPolicy(), Capabilities: work.Capabilities{Searchable: true}}, time.Unix(0, 0))
	return err
}

// freeze writes down the set of the run in slices. It holds no more than the ids in memory.
func (b *Bulk) freeze(ctx context.Context, n NewBulkRun, run *BulkRun) error {
	f := &freezer{store: b.store, run: run, taken: map[int64]struct{}{}}
	if n.Query == nil {
		for _, s := range n.Items {
			if err := f.add(ctx, s.ID, s.Version); err != nil {
				return err
			}
		}
		return f.flush(ctx)
	}
	// The list as it was when the person looked: rows that have changed since are not on it.
	q := b.items.clean(*n.Query)
	q.Limit, q.After = bulkRows, Cursor{At: n.Seen, ID: math.MaxInt64}
	for more := true; more; {
		page, err := b.store.Rows(ctx, q)
		switch {
		case err != nil:
			return err
		case len(page.Rows) > 0 && page.How != n.How: // what was found exactly is gone, and now others begin with it
			return ErrBulkMoved
		}
		for _, row := range page.Rows {
			if err := f.add(ctx, row.ID, row.Version); err != nil {
				return err
			}
		}
		q.After, more = page.Next, page.Next != (Cursor{})
	}
	if err := b.freezeMoved(ctx, q, n, f); err != nil {
		return err
	}
	return f.flush(ctx)
}

// freezeMoved adds what is on the list but has changed since the person looked: it is reported, and not touched.
func (b *Bulk) freezeMoved(ctx context.Context, q Query, n NewBulkRun, f *freezer) error {
	q.After = Cursor{}
	for {
		page, err := b.store.Rows(ctx, q)
		if err != nil || page.How != n.How {
			return err
		}
		for _, row := range page.Rows {
			if !row.ChangedAt.After(n.Seen) {
				return nil
			}
			if err := f.add(ctx, row.ID, 0); err != nil {
				return err
			}
		}
		if page.Next == (Cursor{}) {
			return nil
		}
		q.After = page.Next
	}
}

// freezer collects the set of a run.
type freezer struct {
	store BulkStore
	run   *BulkRun
	slice []BulkItem
	taken map[int64]struct{}
}

func (f *freezer) add(ctx context.Context, id, version int64) error {
	if _, twice := f.taken[id]; twice {
		return nil
	}
	if f.run.Size == MaxBulk {
		return ErrBulkLarge
	}
	f.taken[id] = struct{}{}
	f.run.Size++
	f.slice = append(f.slice, BulkItem{N: int(f.run.Size), ItemID: id, Version: version})
	if len(f.slice) < bulkRows {
		return nil
	}
	slice := f.slice
	f.slice = f.slice[:0:0]
	return f.store.FillBulk(ctx, f.run.ID, slice)
}

func (f *freezer) flush(ctx context.Context) error {
	if f.run.Size == 0 {
		return ErrBulkEmpty
	}
	if len(f.slice) == 0 {
		return nil
	}
	return f.store.FillBulk(ctx, f.run.ID, f.slice)
}
