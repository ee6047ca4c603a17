package store

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"onefold/internal/review"
	"onefold/internal/work"
)

// maxHits is how many matches one way of searching looks at, the newest first.
const maxHits = 5000

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

// Search implements review.Store. The order is by last change, then by id, so each row is on exactly one page.
func (s *Store) Search(ctx context.Context, q review.Query) (page review.Page, err error) {
	q.Limit = min(max(q.Limit, 1), 200)
	how, err := s.search(ctx, q, func(hits []int64) (bool, error) {
		if q.After != (review.Cursor{}) && hits != nil { // a later page belongs to the way in which the first one was found
			n, err := s.countRows(ctx, q, hits, 1)
			if err != nil || n == 0 {
				return false, err
			}
		}
		page, err = s.page(ctx, q, hits)
		return len(page.Items) > 0 || q.After != (review.Cursor{}), err
	})
	if how == review.HowNone {
		page = review.Page{}
	}
	page.How = how
	return page, err
}

// search calls use with the hits of one way after the other, until one is of use. Without a text to search for it is
// called once, with nil.
func (s *Store) search(ctx context.Context, q review.Query, use func(hits []int64) (bool, error)) (review.How, error) {
	w := newWanted(q.Text)
	if w.folded == "" {
		_, err := use(nil)
		return review.HowAll, err
	}
	for _, how := range ways {
		hits, err := s.hits(ctx, how, q.CompanyID, w)
		if err != nil {
			return review.HowNone, err
		}
		if len(hits) == 0 {
			continue
		}
		if ok, err := use(hits); err != nil || ok {
			return how, err
		}
	}
	return review.HowNone, nil
}

// hits are the ids of items that match.
func (s *Store) hits(ctx context.Context, how review.How, company int64, w wanted) ([]int64, error) {
	const known = "external_id <> '' AND status IN ('confirmed', 'resolved')"
	switch how {
	case review.HowExact:
		return s.ids(ctx, "SELECT item_id AS id FROM item_keys WHERE folded_key = ?2 AND company_id = ?1"+
			" UNION SELECT item_id FROM item_keys WHERE lower(reference) = ?3 AND company_id = ?1"+
			" UNION SELECT id FROM items WHERE lower(external_id) = ?3 AND company_id = ?1 AND "+known+
			" UNION SELECT id FROM items WHERE lower(external_number) = ?3 AND external_number <> '' AND company_id = ?1", company, w.folded, w.plain)
	case review.HowAmount:
		return s.amountHits(ctx, company, w)
	case review.HowPrefix: // the last ones first: numbers grow
		const last = "\U0010FFFF"
		some := func(text string) string {
			return "SELECT id FROM (" + text + " DESC LIMIT " + strconv.Itoa(maxHits) + ") h"
		}
		return s.ids(ctx, some("SELECT item_id AS id FROM item_keys WHERE folded_key >= ?2 AND folded_key < ?4 AND company_id = ?1 ORDER BY folded_key")+
			" UNION "+some("SELECT item_id AS id FROM item_keys WHERE lower(reference) >= ?3 AND lower(reference) < ?5 AND company_id = ?1 ORDER BY lower(reference)")+
			" UNION "+some("SELECT id FROM items WHERE lower(external_id) >= ?3 AND lower(external_id) < ?5 AND company_id = ?1 AND "+known+" ORDER BY lower(external_id)")+
			" UNION "+some("SELECT id FROM items WHERE lower(external_number) >= ?3 AND lower(external_number) < ?5 AND external_number <> '' AND company_id = ?1 ORDER BY lower(external_number)"),
			company, w.folded, w.plain, w.folded+last, w.plain+last)
	default:
		condition, arg := s.db.search().part(w.folded)
		return s.ids(ctx, "SELECT w.id FROM (SELECT "+s.db.search().id()+" AS id FROM item_search WHERE "+condition+" LIMIT "+strconv.Itoa(maxHits)+") w"+
			" JOIN item_keys k ON k.item_id = w.id WHERE k.company_id = ?1", company, arg)
	}
}

// amountHits are the items whose amount, as it is now, is one of those wanted.
func (s *Store) amountHits(ctx context.Context, company int64, w wanted) ([]int64, error) {
	if len(w.amounts) == 0 {
		return nil, nil
	}
	currencies, err := w.currencies, error(nil)
	if len(currencies) == 0 {
		if currencies, err = s.currencies(ctx); err != nil || len(currencies) == 0 {
			return nil, err
		}
	}
	b := &pageQuery{args: []any{company}}
	db := s.db.search()
	var branches []string
	for _, amount := range w.amounts {
		for _, code := range currencies {
			branches = append(branches, "SELECT * FROM (SELECT item_id, number FROM revisions WHERE currency = "+b.add(code)+" AND "+db.total()+" = "+
				db.amount(b.add, amount)+" ORDER BY item_id DESC LIMIT "+strconv.Itoa(maxHits)+") b"+strconv.Itoa(len(branches)))
		}
	}
	return s.ids(ctx, "SELECT i.id FROM ("+strings.Join(branches, " UNION ALL ")+") r CROSS JOIN items i WHERE i.id = r.item_id AND i.revision = r.number AND i.company_id = ?1", b.args...)
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
