package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"onefold/internal/review"
	"onefold/internal/work"
)

// shownRow is the condition for the one row that stands for an automation and business key: its first step that is not
// done, or the last one if all are.
const shownRow = "(i.status NOT IN ('confirmed', 'resolved') OR NOT EXISTS (SELECT 1 FROM items n WHERE n.previous_id = i.id))" +
	" AND (i.previous_id IS NULL OR NOT EXISTS (SELECT 1 FROM item_keys m JOIN item_keys o ON o.folded_key = m.folded_key" +
	" AND o.company_id = m.company_id AND o.automation = m.automation AND o.item_id < m.item_id" +
	" JOIN items e ON e.id = o.item_id WHERE m.item_id = i.id AND e.status NOT IN ('confirmed', 'resolved')))"

// tabs are the statuses of each list. An open call belongs to the list of what it does.
var tabs = map[review.Tab][]work.Status{
	review.TabReview:   {work.Review},
	review.TabUnknown:  {work.Pending, work.InProgress},
	review.TabWaiting:  {work.Queued, work.Failed, work.InProgress},
	review.TabFinished: {work.Confirmed, work.Resolved},
	review.TabClosed:   {work.Closed},
	review.TabAll:      work.Statuses,
}

// maxHits is how many rows a search by a beginning or a part looks at.
const maxHits = 5000

// searcher is how a database finds a part of a text.
type searcher interface {
	id() string      // the item id of item_search
	numbers() string // the numbers of a JSON array in the parameter ?1
	// chains are all items i that share a key with the ids in a JSON array.
	chains(parameter string) string
	// part is a condition on item_search, with the parameter's value.
	part(folded string) (condition string, arg any)
}

// Search implements review.Store. The order is by last change, then by id, so each row is on exactly one page.
func (s *Store) Search(ctx context.Context, q review.Query) (review.Page, error) {
	q.Limit = min(max(q.Limit, 1), 200)
	text := tidy(strings.ToValidUTF8(q.Text, "\uFFFD"), maxShort)
	folded := work.FoldKey(text)
	if folded == "" {
		return s.page(ctx, q, review.HowAll, nil)
	}
	plain := lowerASCII(strings.Join(strings.Fields(text), " "))
	for _, how := range []review.How{review.HowExact, review.HowPrefix, review.HowPart} {
		hits, err := s.hits(ctx, how, q.CompanyID, folded, plain)
		if err != nil {
			return review.Page{}, err
		}
		if len(hits) == 0 {
			continue
		}
		if q.After != (review.Cursor{}) { // a later page belongs to the way in which the first one was found
			first := q
			first.After, first.Limit = review.Cursor{}, 1
			page, err := s.page(ctx, first, how, hits)
			if err != nil {
				return review.Page{}, err
			}
			if len(page.Items) == 0 {
				continue
			}
			return s.page(ctx, q, how, hits)
		}
		page, err := s.page(ctx, q, how, hits)
		if err != nil || len(page.Items) > 0 {
			return page, err
		}
	}
	return review.Page{How: review.HowNone}, nil
}

// hits are the ids of items that match.
func (s *Store) hits(ctx context.Context, how review.How, company int64, folded, plain string) ([]int64, error) {
	const known = "external_id <> '' AND status IN ('confirmed', 'resolved')"
	switch how {
	case review.HowExact:
		return s.ids(ctx, "SELECT item_id AS id FROM item_keys WHERE folded_key = ?2 AND company_id = ?1"+
			" UNION SELECT item_id FROM item_keys WHERE lower(reference) = ?3 AND company_id = ?1"+
			" UNION SELECT id FROM items WHERE lower(external_id) = ?3 AND company_id = ?1 AND "+known+
			" UNION SELECT id FROM items WHERE lower(external_number) = ?3 AND external_number <> '' AND company_id = ?1", company, folded, plain)
	case review.HowPrefix: // the last ones first: numbers grow
		const last = "\U0010FFFF"
		some := func(text string) string {
			return "SELECT id FROM (" + text + " DESC LIMIT " + strconv.Itoa(maxHits) + ") h"
		}
		return s.ids(ctx, some("SELECT item_id AS id FROM item_keys WHERE folded_key >= ?2 AND folded_key < ?4 AND company_id = ?1 ORDER BY folded_key")+
			" UNION "+some("SELECT item_id AS id FROM item_keys WHERE lower(reference) >= ?3 AND lower(reference) < ?5 AND company_id = ?1 ORDER BY lower(reference)")+
			" UNION "+some("SELECT id FROM items WHERE lower(external_id) >= ?3 AND lower(external_id) < ?5 AND company_id = ?1 AND "+known+" ORDER BY lower(external_id)")+
			" UNION "+some("SELECT id FROM items WHERE lower(external_number) >= ?3 AND lower(external_number) < ?5 AND external_number <> '' AND company_id = ?1 ORDER BY lower(external_number)"),
			company, folded, plain, folded+last, plain+last)
	default:
		condition, arg := s.db.search().part(folded)
		return s.ids(ctx, "SELECT w.id FROM (SELECT "+s.db.search().id()+" AS id FROM item_search WHERE "+condition+" LIMIT "+strconv.Itoa(maxHits)+") w"+
			" JOIN item_keys k ON k.item_id = w.id WHERE k.company_id = ?1", company, arg)
	}
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

// page reads one page of the list: of all rows, or of the keys of the hits.
func (s *Store) page(ctx context.Context, q review.Query, how review.How, hits []int64) (page review.Page, err error) {
	page.How = how
	b := &pageQuery{place: s.db.at}
	var branches []string
	for _, status := range statuses(q) {
		if hits == nil { // one walk down the index for each status
			branches = append(branches, "SELECT * FROM (SELECT i.id, i.changed_at FROM items i WHERE i.company_id = "+b.add(q.CompanyID)+
				" AND i.status = '"+string(status)+"'"+b.filter(q, status)+" AND "+shownRow+
				" ORDER BY i.changed_at DESC, i.id DESC LIMIT "+strconv.Itoa(q.Limit+1)+") s")
		} else {
			branches = append(branches, "(i.status = '"+string(status)+"'"+b.filter(q, status)+")")
		}
	}
	if len(branches) == 0 {
		return page, nil
	}
	text := "SELECT id, changed_at FROM (" + strings.Join(branches, " UNION ALL ") + ") u ORDER BY changed_at DESC, id DESC LIMIT " + strconv.Itoa(q.Limit+1)
	if hits != nil {
		list, err := json.Marshal(hits)
		if err != nil {
			return page, err
		}
		text = "SELECT DISTINCT i.id, i.changed_at FROM " + s.db.search().chains(b.add(string(list))) + " WHERE (" + strings.Join(branches, " OR ") + ") AND " + shownRow +
			" ORDER BY i.changed_at DESC, i.id DESC LIMIT " + strconv.Itoa(q.Limit+1)
	}
	places, err := s.places(ctx, text, b.args)
	if err != nil {
		return page, err
	}
	if len(places) > q.Limit {
		places = places[:q.Limit]
		page.Next = places[q.Limit-1]
	}
	page.Items, err = s.shown(ctx, places)
	return page, err
}

// statuses are the statuses that the query asks for.
func statuses(q review.Query) []work.Status {
	tab := q.Tab
	if tab == "" {
		tab = review.TabAll
	}
	var list []work.Status
	for _, status := range tabs[tab] {
		if q.Filter.Status == "" || q.Filter.Status == status {
			list = append(list, status)
		}
	}
	return list
}

// pageQuery collects parameters.
type pageQuery struct {
	args  []any
	place func(time.Time) any
}

func (b *pageQuery) add(v any) string {
	b.args = append(b.args, v)
	return "?" + strconv.Itoa(len(b.args))
}

// filter are the query's other conditions for rows of a status.
func (b *pageQuery) filter(q review.Query, status work.Status) string {
	var c strings.Builder
	if status == work.InProgress {
		c.WriteString(" AND i.lease_until IS NOT NULL") // as every open call; names the index
	}
	if status == work.InProgress && q.Tab == review.TabUnknown {
		c.WriteString(" AND i.open_kind = 'find'")
	}
	if status == work.InProgress && q.Tab == review.TabWaiting {
		c.WriteString(" AND i.open_kind = 'send'")
	}
	if q.Filter.Reason != "" {
		c.WriteString(" AND i.reason = " + b.add(string(q.Filter.Reason)))
	}
	if q.Filter.SystemID != "" {
		c.WriteString(" AND i.system_id = " + b.add(q.Filter.SystemID))
	}
	if q.After != (review.Cursor{}) {
		c.WriteString(" AND (i.changed_at, i.id) < (" + b.add(b.place(q.After.At)) + ", " + b.add(q.After.ID) + ")")
	}
	return c.String()
}

func (s *Store) places(ctx context.Context, text string, args []any) (list []review.Cursor, err error) {
	r, err := s.db.query(ctx, text, args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	for r.Next() {
		var c review.Cursor
		if err := r.Scan(&c.ID, stamp{&c.At}); err != nil {
			return nil, fmt.Errorf("search: %w", err)
		}
		list = append(list, c)
	}
	return list, r.Err()
}

// shown reads the items at the places, in their order, without the lines of their invoices.
func (s *Store) shown(ctx context.Context, places []review.Cursor) ([]work.Item, error) {
	ids := make([]int64, len(places))
	for i, c := range places {
		ids[i] = c.ID
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

// lowerASCII folds as the databases' lower() does on bytes: letters of other scripts keep their case.
func lowerASCII(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, s)
}

type pgSearch struct{}

func (pgSearch) numbers() string {
	return "(SELECT value::bigint FROM json_array_elements_text(?1::json) AS j (value))"
}

// The joins go from the few to the many, whatever the planner believes.
func (pgSearch) chains(p string) string {
	return "json_array_elements_text(" + p + "::json) AS h (value)" +
		" CROSS JOIN LATERAL (SELECT folded_key, company_id, automation FROM item_keys WHERE item_id = h.value::bigint OFFSET 0) m" +
		" CROSS JOIN LATERAL (SELECT item_id FROM item_keys WHERE folded_key = m.folded_key AND company_id = m.company_id AND automation = m.automation OFFSET 0) o" +
		" CROSS JOIN LATERAL (SELECT * FROM items WHERE id = o.item_id OFFSET 0) i"
}

func (pgSearch) id() string { return "item_id" }

func (pgSearch) part(folded string) (string, any) {
	if utf8.RuneCountInString(folded) < 3 {
		return "strpos(words, ?2) > 0", folded
	}
	return "words LIKE ?2", "%" + strings.NewReplacer(`\`, `\\`, "%", `\%`, "_", `\_`).Replace(folded) + "%"
}

type sqliteSearch struct{}

func (sqliteSearch) numbers() string { return "(SELECT value FROM json_each(?1))" }

func (sqliteSearch) chains(p string) string {
	return "json_each(" + p + ") h CROSS JOIN item_keys m ON m.item_id = h.value" +
		" CROSS JOIN item_keys o ON o.folded_key = m.folded_key AND o.company_id = m.company_id AND o.automation = m.automation" +
		" CROSS JOIN items i ON i.id = o.item_id"
}

func (sqliteSearch) id() string { return "rowid" }

func (sqliteSearch) part(folded string) (string, any) {
	if utf8.RuneCountInString(folded) < 3 { // shorter than what the index holds
		return "instr(words, ?2) > 0", folded
	}
	return "item_search MATCH ?2", `"` + strings.ReplaceAll(folded, `"`, `""`) + `"`
}

func (p *postgres) search() searcher { return pgSearch{} }
func (l *lite) search() searcher     { return sqliteSearch{} }
