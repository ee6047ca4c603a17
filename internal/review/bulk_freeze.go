package review

import (
	"context"
	"errors"
	"math"
	"time"
)

// Freezing is how far the set of a run is written down. The set is what the person saw, in the versions of that moment:
// it is written down in slices, so that a large one needs neither the memory of a server nor the patience of a person.
type Freezing struct {
	Items []Seen `json:",omitempty"` // ticked items
	Query *Query `json:",omitempty"` // a whole list; nil: Items
	How   How    // how the list's search found its rows when the person looked
	Seen  time.Time
	After Cursor // place of the next slice in the list
	Late  bool   // the list as it was seen is complete; what is on it and has changed since follows
}

// freezing begins with the set of what a person confirmed.
func freezing(n NewBulkRun, clean func(Query) Query) *Freezing {
	f := &Freezing{Items: n.Items, How: n.How, Seen: n.Seen}
	if n.Query != nil {
		q := clean(*n.Query)
		// The list as it was when the person looked: rows that have changed since are not on it.
		f.Items, f.Query, f.After = nil, &q, Cursor{At: n.Seen, ID: math.MaxInt64}
	}
	return f
}

// slice returns the next items of the set, and what is left; nil: nothing.
func (f *Freezing) slice(ctx context.Context, store BulkStore) (items []BulkItem, left *Freezing, err error) {
	if f.Query == nil {
		for _, s := range f.Items {
			items = append(items, BulkItem{ItemID: s.ID, Version: s.Version})
		}
		return items, nil, nil
	}
	q := *f.Query
	q.Limit, q.After = bulkRows, f.After
	page, err := store.Rows(ctx, q)
	if err != nil {
		return nil, nil, err
	}
	next := *f
	next.After = page.Next
	if f.Late {
		return f.late(page, &next)
	}
	if len(page.Rows) > 0 && page.How != f.How { // what was found exactly is gone, and now others begin with it
		return nil, nil, ErrBulkMoved
	}
	for _, row := range page.Rows {
		items = append(items, BulkItem{ItemID: row.ID, Version: row.Version})
	}
	next.Late = page.Next == (Cursor{}) // and from the top
	return items, &next, nil
}

// late takes from the top of the list what has changed since the person looked: it is reported, and not touched.
func (f *Freezing) late(page RowPage, next *Freezing) (items []BulkItem, left *Freezing, err error) {
	if page.How != f.How {
		return nil, nil, nil
	}
	for _, row := range page.Rows {
		if !row.ChangedAt.After(f.Seen) {
			return items, nil, nil
		}
		items = append(items, BulkItem{ItemID: row.ID})
	}
	if page.Next == (Cursor{}) {
		return items, nil, nil
	}
	return items, next, nil
}

// freeze writes down one slice of the set of a run that is being prepared; after the last one the run goes. A set that
// cannot be frozen ends it: ErrBulkEmpty, ErrBulkLarge, ErrBulkMoved. It returns ErrBulkTaken if somebody else was first.
func freeze(ctx context.Context, store BulkStore, run BulkRun) (BulkRun, error) {
	items, left, err := run.Freezing.slice(ctx, store)
	if err == nil && left == nil && run.Size == 0 && len(items) == 0 {
		err = ErrBulkEmpty
	}
	after := run
	if err == nil {
		after, err = store.FillBulk(ctx, run, items, left)
	}
	if unfit(err) {
		err = errors.Join(err, store.EndBulk(ctx, run.ID, BulkAbandoned))
	}
	return after, err
}

// unfit reports whether a set will never be frozen.
func unfit(err error) bool {
	return errors.Is(err, ErrBulkEmpty) || errors.Is(err, ErrBulkLarge) || errors.Is(err, ErrBulkMoved)
}
