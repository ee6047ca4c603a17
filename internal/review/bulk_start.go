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
	bulkPage = 200
	bulkRows = 2_000 // without their items; a slice of a set
	// A list of one slice, and what has changed on it, are frozen while the form waits.
	slicesAtOnce = 2
	bulkPreview  = 5_000 // items that a preview judges one by one
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

// Start freezes the set, in the versions that the person saw, and lets the run go. Of a large set it freezes the beginning,
// and a runner the rest. It returns ErrForbidden, ErrBulkPlan, ErrBulkEmpty, ErrBulkLarge, ErrBulkMoved, or a *work.Refusal if what was typed is not enough. The same form sent again
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
		Previewed: n.Previewed, BeganAt: now, Freezing: freezing(n, b.items.clean)})
	if err != nil || !isNew {
		return run, false, err
	}
	for slice := 0; run.State == BulkPreparing && slice < slicesAtOnce; slice++ {
		next, err := freeze(ctx, b.store, run)
		switch {
		case unfit(err):
			return run, false, err
		case err != nil: // it is recorded: a runner is at it, or takes it on
			return run, true, nil
		}
		run = next
	}
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
