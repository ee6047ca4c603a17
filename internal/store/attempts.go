package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"onefold/internal/review"
	"onefold/internal/work"
)

// How many attempts one page looks through for those that its filter asks for, and fewer if the item of each must be read
// too. What a filter asks for may be rare, and its page must not read the whole history.
var (
	lookThrough      = 4_000
	lookThroughItems = 2_000
)

// mostKeys is how many items with a key that begins as asked are looked at one by one; of more, their attempts are among
// those that a page looks through.
var mostKeys = 500

// listedColumns are the columns of an attempt but the large ones.
var listedColumns = func() (list []column[work.Attempt]) {
	for _, c := range attemptsTable.columns {
		if c.name != "record" && c.name != "request" && c.name != "response" {
			list = append(list, c)
		}
	}
	return list
}()

const newestAttempts = " ORDER BY a.started_at DESC, a.item_id DESC, a.number DESC"

// AttemptList implements review.AttemptStore.
func (s *Store) AttemptList(ctx context.Context, q review.AttemptQuery) (page review.AttemptPage, err error) {
	q.Limit = min(max(q.Limit, 1), 500)
	l := attemptList{db: s.db.search(), query: q, pageQuery: pageQuery{place: s.db.at}}
	var ids []int64
	if q.Key != "" {
		if ids, page.How, err = s.attemptKeys(ctx, &l); err != nil || page.How == review.HowNone {
			return page, err
		}
	}
	window := l.window()
	text, bound := "", 0
	if ids != nil {
		list, err := json.Marshal(ids)
		if err != nil {
			return page, err
		}
		text = "SELECT " + names(listedColumns, "a.") + " FROM " + l.db.attemptsOf(l.add(string(list))) + " WHERE " + strings.TrimPrefix(window, " AND ") + l.filter()
	} else {
		filter := l.filter()
		bound = l.bound()
		// The inner limit is what bounds the walk, and keeps a planner from any other way to the rows.
		text = "SELECT " + names(listedColumns, "a.") + " FROM (SELECT " + names(listedColumns, "a.") + " FROM attempts a WHERE " +
			strings.TrimPrefix(window, " AND ") + newestAttempts + " LIMIT " + strconv.Itoa(bound) + ") a WHERE " + strings.TrimPrefix(filter, " AND ")
	}
	if page.Rows, err = s.attemptRows(ctx, text+newestAttempts+" LIMIT "+strconv.Itoa(q.Limit+1), l.args); err == nil {
		err = s.nameItems(ctx, page.Rows)
	}
	if err != nil {
		return page, err
	}
	switch {
	case len(page.Rows) > q.Limit:
		page.Rows = page.Rows[:q.Limit]
		last := page.Rows[q.Limit-1]
		page.Next = review.AttemptCursor{At: last.StartedAt, ItemID: last.ItemID, Number: last.Number}
	case bound > 0:
		page.Further, err = s.lookedTo(ctx, q, bound)
	}
	return page, err
}

// lookedTo is the last of so many attempts, from where the query begins; zero if there are none older.
func (s *Store) lookedTo(ctx context.Context, q review.AttemptQuery, bound int) (at review.AttemptCursor, err error) {
	l := attemptList{query: q, pageQuery: pageQuery{place: s.db.at}}
	r, err := s.db.query(ctx, "SELECT a.started_at, a.item_id, a.number FROM attempts a WHERE "+strings.TrimPrefix(l.window(), " AND ")+newestAttempts+
		" LIMIT 2 OFFSET "+strconv.Itoa(bound-1), l.args...)
	if err != nil {
		return at, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	if !r.Next() {
		return at, r.Err()
	}
	if err := r.Scan(stamp{&at.At}, &at.ItemID, &at.Number); err != nil {
		return at, fmt.Errorf("read attempts: %w", err)
	}
	if !r.Next() {
		return review.AttemptCursor{}, r.Err()
	}
	return at, nil
}

// attemptList writes the conditions of a query for attempts a.
type attemptList struct {
	db    searcher
	query review.AttemptQuery
	keys  string // a condition on item_keys k: the key is one of very many; empty: none
	pageQuery
}

// window is the part of time that the query is about, and where it goes on. It is what the index knows.
func (l *attemptList) window() string {
	q := l.query
	c := " AND a.number >= 1" // so that there is a condition; all are
	if q.After != (review.AttemptCursor{}) {
		c += " AND (a.started_at, a.item_id, a.number) < (" + l.add(l.place(q.After.At)) + ", " + l.add(q.After.ItemID) + ", " + l.add(q.After.Number) + ")"
	}
	if !q.From.IsZero() {
		c += " AND a.started_at >= " + l.add(l.place(q.From))
	}
	if !q.To.IsZero() {
		c += " AND a.started_at < " + l.add(l.place(q.To))
	}
	return c
}

// filter is all the rest: what the attempt's own row says, then what its item does.
func (l *attemptList) filter() string {
	q := l.query
	var c strings.Builder
	switch q.Kind {
	case review.KindSend:
		c.WriteString(" AND a.kind = 'send' AND a.late_for = 0")
	case review.KindFind:
		c.WriteString(" AND a.kind = 'find' AND a.late_for = 0 AND (a.node <> '' OR a.asked_by = '')")
	case review.KindReport:
		c.WriteString(" AND a.kind = 'find' AND a.late_for = 0 AND a.node = '' AND a.asked_by <> ''")
	case review.KindLate:
		c.WriteString(" AND a.late_for <> 0")
	}
	switch q.Result {
	case "":
	case review.ResultOpen:
		c.WriteString(" AND a.ended_at IS NULL")
	default:
		result := l.add(q.Result)
		c.WriteString(" AND (a.outcome = " + result + " OR a.finding = " + result + ")")
	}
	switch {
	case q.NoStatus:
		c.WriteString(" AND a.http_status = 0 AND a.ended_at IS NOT NULL")
	case q.StatusTo > 0:
		c.WriteString(" AND a.http_status >= " + l.add(q.StatusFrom) + " AND a.http_status <= " + l.add(q.StatusTo))
	}
	if q.Node != "" {
		c.WriteString(" AND a.node = " + l.add(q.Node))
	}
	switch q.AskedBy {
	case "":
	case review.AskedByAnybody:
		c.WriteString(" AND a.asked_by <> ''")
	default: // the name behind it may be another one by now
		who := q.AskedBy + " "
		c.WriteString(" AND substr(a.asked_by, 1, " + strconv.Itoa(utf8.RuneCountInString(who)) + ") = " + l.add(who))
	}
	if q.Longer > 0 {
		c.WriteString(" AND " + l.db.longer("a.started_at", "coalesce(a.ended_at, "+l.add(l.place(q.Now))+")", l.add(q.Longer.Microseconds())))
	}
	item := "k.item_id = a.item_id AND k.company_id = " + l.add(q.CompanyID)
	if q.SystemID != "" {
		item += " AND k.system_id = " + l.add(q.SystemID)
	}
	if q.Automation != "" {
		item += " AND k.automation = " + l.add(q.Automation)
	}
	return c.String() + " AND (SELECT 1 FROM item_keys k WHERE " + item + l.keys + ") = 1"
}

// bound is how many attempts a page of the query looks through.
func (l *attemptList) bound() int {
	if l.query.SystemID != "" || l.query.Automation != "" || l.keys != "" {
		return lookThroughItems
	}
	return lookThrough
}

// attemptKeys finds the items of the key that the query asks for: that is exactly it, else begins with it. If they are very
// many it returns none and puts a condition into the list.
func (s *Store) attemptKeys(ctx context.Context, l *attemptList) ([]int64, review.How, error) {
	const last = "\U0010FFFF"
	folded := newWanted(l.query.Key).folded
	ids, err := s.ids(ctx, "SELECT item_id AS id FROM item_keys WHERE folded_key = ?2 AND company_id = ?1", l.query.CompanyID, folded)
	if err != nil || len(ids) > 0 {
		return ids, review.HowExact, err
	}
	ids, err = s.ids(ctx, "SELECT item_id AS id FROM item_keys WHERE folded_key >= ?2 AND folded_key < ?3 AND +company_id = ?1 LIMIT "+strconv.Itoa(mostKeys+1),
		l.query.CompanyID, folded, folded+last)
	switch {
	case err != nil || len(ids) == 0:
		return nil, review.HowNone, err
	case len(ids) > mostKeys:
		// In a form that no index knows: a planner would walk all such keys again for each attempt.
		l.keys = " AND substr(k.folded_key, 1, " + strconv.Itoa(utf8.RuneCountInString(folded)) + ") = " + l.add(folded)
		return nil, review.HowPrefix, nil
	}
	return ids, review.HowPrefix, nil
}

// attemptRows reads attempts.
func (s *Store) attemptRows(ctx context.Context, text string, args []any) (list []review.AttemptRow, err error) {
	r, err := s.db.query(ctx, text, args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	var a work.Attempt
	dests := table[work.Attempt]{columns: listedColumns}.dests(&a)
	for r.Next() {
		if err := r.Scan(dests...); err != nil {
			return nil, fmt.Errorf("read attempts: %w", err)
		}
		list = append(list, review.AttemptRow{Attempt: a})
	}
	return list, r.Err()
}

// nameItems fills in what names the items of attempts.
func (s *Store) nameItems(ctx context.Context, list []review.AttemptRow) (err error) {
	if len(list) == 0 {
		return nil
	}
	ids := make([]int64, len(list))
	for i := range list {
		ids[i] = list[i].ItemID
	}
	numbers, err := json.Marshal(ids)
	if err != nil {
		return err
	}
	r, err := s.db.query(ctx, "SELECT item_id, business_key, automation, step, steps, system_id FROM item_keys WHERE item_id IN "+s.db.search().numbers(), string(numbers))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	known := map[int64]review.AttemptRow{}
	for r.Next() {
		var row review.AttemptRow
		var id int64
		var steps string
		if err := r.Scan(&id, &row.BusinessKey, &row.Automation, &row.Step, &steps, &row.SystemID); err != nil {
			return fmt.Errorf("read the keys of attempts: %w", err)
		}
		row.Steps = strings.Split(steps, ",")
		known[id] = row
	}
	for i := range list {
		row := known[list[i].ItemID]
		row.Attempt = list[i].Attempt
		list[i] = row
	}
	return r.Err()
}
