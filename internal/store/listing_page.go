package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"golang.org/x/sync/errgroup"

	"onefold/internal/review"
	"onefold/internal/work"
)

// parts are the statuses in the order in which they are read: most items are confirmed, so a walk over these soon has a page
// full, and then each other status need only be looked at as far back.
func (l *listing) parts() (parts [][]work.Status) {
	if !l.db.inParts() || l.from != "" {
		return [][]work.Status{l.statuses}
	}
	if slices.Contains(l.statuses, work.Confirmed) {
		parts = [][]work.Status{{work.Confirmed}}
	}
	for _, status := range l.statuses {
		if status != work.Confirmed {
			parts = append(parts, []work.Status{status})
		}
	}
	return parts
}

// page reads one page of the list; next is zero if there are no more rows.
func (s *Store) page(ctx context.Context, q review.Query, m match) (rows []review.Row, next review.Cursor, err error) {
	if rows, err = s.firstRows(ctx, q, m); err != nil {
		return nil, next, err
	}
	if len(rows) > q.Limit {
		rows = rows[:q.Limit]
		next = review.Cursor{At: rows[q.Limit-1].ChangedAt, ID: rows[q.Limit-1].ID}
	}
	return rows, next, nil
}

// manyFound is how many hits are read in two halves side by side: each must be read to know when its row last changed.
var manyFound = 400 // changed by tests

// firstRows are the rows of a page, and one more if there is one.
func (s *Store) firstRows(ctx context.Context, q review.Query, m match) (rows []review.Row, err error) {
	if m.condition != nil || len(m.hits) < manyFound {
		return s.firstOf(ctx, q, m)
	}
	var halves [2][]review.Row
	middle := len(m.hits) / 2
	g, ctx := errgroup.WithContext(ctx)
	for i, hits := range [][]int64{m.hits[:middle], m.hits[middle:]} {
		one := m
		one.hits = hits
		g.Go(func() (err error) {
			halves[i], err = s.firstOf(ctx, q, one)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	seen := map[int64]bool{} // the steps of a document may be in both
	for _, row := range newestFirst(slices.Concat(halves[0], halves[1])) {
		if !seen[row.ID] {
			rows, seen[row.ID] = append(rows, row), true
		}
	}
	return rows[:min(len(rows), q.Limit+1)], nil
}

// firstOf reads them.
func (s *Store) firstOf(ctx context.Context, q review.Query, m match) (rows []review.Row, err error) {
	l, err := s.listing(ctx, q, m)
	if err != nil {
		return nil, err
	}
	filtered, where := len(l.args), l.where
	limit := " LIMIT " + strconv.Itoa(q.Limit+1)
	for _, part := range l.parts() {
		l.args, l.where = l.args[:filtered], where
		if len(rows) > q.Limit { // nothing older gets on the page
			last := rows[q.Limit]
			l.where += " AND (i.changed_at, i.id) > (" + l.add(l.place(last.ChangedAt)) + ", " + l.add(last.ID) + ")"
		}
		more, err := s.listed(ctx, "SELECT id, version, changed_at FROM ("+l.rowsOf(part, "i.id, i.version, i.changed_at", " ORDER BY i.changed_at DESC, i.id DESC"+limit)+
			") u ORDER BY changed_at DESC, id DESC"+limit, l.args)
		if err != nil {
			return nil, err
		}
		rows = newestFirst(append(rows, more...))
		rows = rows[:min(len(rows), q.Limit+1)]
	}
	return rows, nil
}

// newestFirst sorts as the list is sorted.
func newestFirst(rows []review.Row) []review.Row {
	slices.SortFunc(rows, func(a, b review.Row) int {
		return -cmp.Or(a.ChangedAt.Compare(b.ChangedAt), cmp.Compare(a.ID, b.ID))
	})
	return rows
}

func (s *Store) listed(ctx context.Context, text string, args []any) (list []review.Row, err error) {
	r, err := s.db.query(ctx, text, args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	for r.Next() {
		var row review.Row
		if err := r.Scan(&row.ID, &row.Version, stamp{&row.ChangedAt}); err != nil {
			return nil, fmt.Errorf("search: %w", err)
		}
		list = append(list, row)
	}
	return list, r.Err()
}

// shown reads the items of the rows, in their order, without the lines of their invoices. An item that moved since it
// was found stands at its found place.
func (s *Store) shown(ctx context.Context, rows []review.Row) ([]work.Item, error) {
	ids := make([]int64, len(rows))
	for i, row := range rows {
		ids[i] = row.ID
	}
	found, err := s.byIDs(ctx, ids)
	if err != nil {
		return nil, err
	}
	at := make(map[int64]work.Item, len(found))
	for _, it := range found {
		it.Invoice.Lines = nil
		at[it.ID] = it
	}
	items := make([]work.Item, 0, len(ids))
	for _, id := range ids {
		if it, ok := at[id]; ok {
			items = append(items, it)
		}
	}
	return items, nil
}
