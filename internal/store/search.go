package store

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"onefold/internal/review"
	"onefold/internal/work"
)

// ways are the ways of searching, in the order in which they are tried. A key that is exactly the text always wins.
var ways = []review.How{review.HowExact, review.HowAmount, review.HowPrefix, review.HowPart}

// wanted is a search text in the forms in which it is compared.
type wanted struct {
	folded     string // as keys and words are
	plain      string // as references and numbers are
	amounts    []units
	currencies []string // of the amounts; none: any
}

func newWanted(text string) wanted {
	text = tidy(strings.ToValidUTF8(text, "\uFFFD"), maxShort)
	w := wanted{folded: work.FoldKey(text), plain: lowerASCII(strings.Join(strings.Fields(text), " "))}
	w.amounts, w.currencies = readAmount(text)
	return w
}

// match is what a search found in one way: ids, or a condition on items i if there are too many. The zero match is
// everything.
type match struct {
	hits      []int64 // with a condition: some of them
	condition func(add func(any) string) string
	own       bool // the rows themselves are meant, not the documents that they are steps of
	newest    bool // looked for in the newest rows only
}

func (m match) everything() bool { return m.hits == nil && m.condition == nil }

// Search implements review.Store. The order is by last change, then by id, so each row is on exactly one page.
func (s *Store) Search(ctx context.Context, q review.Query) (page review.Page, err error) {
	q.Limit = min(max(q.Limit, 1), 200)
	found, err := s.Rows(ctx, q)
	if err != nil {
		return page, err
	}
	page.How, page.Next = found.How, found.Next
	page.Items, err = s.shown(ctx, found.Rows)
	return page, err
}

// Rows implements review.BulkStore.
func (s *Store) Rows(ctx context.Context, q review.Query) (page review.RowPage, err error) {
	q.Limit = min(max(q.Limit, 1), mostRows)
	how, err := s.search(ctx, q, 0, func(m match) (bool, error) {
		if q.After != (review.Cursor{}) && !m.everything() { // a later page belongs to the way in which the first one was found
			n, err := s.countRows(ctx, q, m, 1)
			if err != nil || n == 0 {
				return false, err
			}
		}
		page.Rows, page.Next, err = s.page(ctx, q, m)
		return len(page.Rows) > 0 || q.After != (review.Cursor{}), err
	})
	if how == review.HowNone {
		page = review.RowPage{}
	}
	page.How = how
	return page, err
}

// mostRows is the largest page of rows.
const mostRows = 2_000

// search calls use with what was found in one way after the other, until it is of use. Without a text to search for it
// is called once, with everything. A count names how many rows it may have to count; a page names 0.
func (s *Store) search(ctx context.Context, q review.Query, count int64, use func(m match) (bool, error)) (review.How, error) {
	w := newWanted(q.Text)
	if w.folded == "" {
		_, err := use(match{})
		return review.HowAll, err
	}
	many, err := s.manyHits(ctx)
	if err != nil {
		return review.HowNone, err
	}
	to := aim{many: many, period: q.Filter.Period}
	if count > 0 && !short(w) { // a short text is counted as it is shown; some ids are steps of one document
		to.count, to.many = true, int(min(count*stepsOften, int64(many)*countHits))
	}
	for _, how := range ways {
		m, err := s.match(ctx, how, q.CompanyID, w, to)
		if err != nil {
			return review.HowNone, err
		}
		if m.everything() {
			continue
		}
		if ok, err := use(m); err != nil || ok {
			if m.newest {
				how = review.HowNewest
			}
			return how, err
		}
	}
	return review.HowNone, nil
}

func (s *Store) ids(ctx context.Context, text string, args ...any) (list []int64, err error) {
	r, err := s.db.query(ctx, text, args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	for r.Next() {
		var id int64
		if err := r.Scan(&id); err != nil {
			return nil, fmt.Errorf("search: %w", err)
		}
		list = append(list, id)
	}
	return list, r.Err()
}

func (s *Store) texts(ctx context.Context, text string, args ...any) (list []string, err error) {
	r, err := s.db.query(ctx, text, args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	for r.Next() {
		var one string
		if err := r.Scan(&one); err != nil {
			return nil, fmt.Errorf("search: %w", err)
		}
		list = append(list, one)
	}
	return list, r.Err()
}

// lowerASCII folds as the databases' lower() does on bytes: letters of other scripts keep their case.
func lowerASCII(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, s)
}
