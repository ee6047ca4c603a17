package store

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"

	"onefold/internal/review"
)

// Groups implements review.Store.
func (s *Store) Groups(ctx context.Context, q review.Query, limit int) (groups []review.Group, err error) {
	q.After = review.Cursor{}
	_, err = s.search(ctx, q, math.MaxInt32, func(m match) (bool, error) {
		groups, err = s.groupRows(ctx, q, m, limit)
		return len(groups) > 0, err
	})
	return groups, err
}

func (s *Store) groupRows(ctx context.Context, q review.Query, m match, limit int) (groups []review.Group, err error) {
	l, err := s.listing(ctx, q, m)
	if err != nil {
		return nil, err
	}
	l.whole = true
	r, err := s.db.query(ctx, "SELECT system_id, reason, error_kind, count(*), min(changed_at), max(changed_at) FROM ("+
		l.rows("i.id, i.system_id, i.reason, i.error_kind, i.changed_at", "")+") u GROUP BY system_id, reason, error_kind"+
		" ORDER BY 4 DESC, system_id, reason, error_kind LIMIT "+strconv.Itoa(max(limit, 1)), l.args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	for r.Next() {
		var g review.Group
		if err := r.Scan(&g.SystemID, (*string)(&g.Reason), &g.ErrorKind, &g.Count, stamp{&g.Oldest}, stamp{&g.Newest}); err != nil {
			return nil, fmt.Errorf("read groups: %w", err)
		}
		groups = append(groups, g)
	}
	return groups, r.Err()
}

// countHits times as many matches as for a page are counted by their ids: a count meets all, not only a page of them.
const countHits = 10

// stepsOften is how many steps a document seldom has more of: so many matches are enough to count a document.
const stepsOften = 3

// Count implements review.Store.
func (s *Store) Count(ctx context.Context, q review.Query, most int64) (n int64, err error) {
	q.After = review.Cursor{}
	most = min(max(most, 0), math.MaxInt32)
	_, err = s.search(ctx, q, max(most, 1), func(m match) (bool, error) {
		if m.condition != nil && m.hits != nil { // some may be enough
			if n, err = s.countRows(ctx, q, match{hits: m.hits, own: m.own}, most); err != nil || n >= most {
				return true, err
			}
		}
		n, err = s.countRows(ctx, q, m, most)
		return n > 0, err
	})
	return n, err
}

// countRows counts the rows of a query, but stops at most.
func (s *Store) countRows(ctx context.Context, q review.Query, m match, most int64) (n int64, err error) {
	q.After = review.Cursor{}
	l, err := s.listing(ctx, q, m)
	if err != nil {
		return 0, err
	}
	l.whole = true
	limit := " LIMIT " + strconv.FormatInt(max(most, 0), 10)
	err = s.row(ctx, "SELECT count(*) FROM (SELECT 1 FROM ("+l.rows("i.id", limit)+") r"+limit+") u", l.args, &n)
	return n, err
}
