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
	if q.Key != "" {
		items, how, err := s.attemptKeys(ctx, &l)
		switch {
		case err != nil || how == review.HowNone:
			return review.AttemptPage{How: how}, err
		case how == review.HowExact:
			return s.attemptsOfKey(ctx, l, items)
		case items != nil:
			return s.attemptsOfKeys(ctx, l, items)
		}
		page.How = how
	}
	to, err := s.reach(ctx, &l)
	if err != nil || to.newest == (review.AttemptCursor{}) {
		return page, err
	}
	return s.within(ctx, l, to, page.How)
}

// reach is the part of the attempts that one page looks through: from the newest to the last of so many. It is settled before
// the rows are read: what begins or is removed meanwhile must not move its end, or attempts are on two pages or on none.
type reach struct {
	newest, last review.AttemptCursor // last is zero if there are none older
}

// reach reads how far a page of the query looks.
func (s *Store) reach(ctx context.Context, l *attemptList) (to reach, err error) {
	b := attemptList{query: l.query, pageQuery: pageQuery{place: s.db.at}}
	where := strings.TrimPrefix(b.window(), " AND ") + newestAttempts
	one := "SELECT a.started_at, a.item_id, a.number FROM attempts a WHERE " + where
	r, err := s.db.query(ctx, "SELECT 1 AS part, n.* FROM ("+one+" LIMIT 1) n UNION ALL SELECT 2, o.* FROM ("+one+" LIMIT 2 OFFSET "+strconv.Itoa(l.bound()-1)+") o"+
		" ORDER BY 1, 2 DESC, 3 DESC, 4 DESC", b.args...)
	if err != nil {
		return to, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	var places []review.AttemptCursor
	for r.Next() {
		var part int
		var at review.AttemptCursor
		if err := r.Scan(&part, stamp{&at.At}, &at.ItemID, &at.Number); err != nil {
			return to, fmt.Errorf("read attempts: %w", err)
		}
		places = append(places, at)
	}
	if len(places) > 0 {
		to.newest = places[0]
	}
	if len(places) > 2 {
		to.last = places[1]
	}
	return to, r.Err()
}

// within reads the page of what was reached.
func (s *Store) within(ctx context.Context, l attemptList, to reach, how review.How) (review.AttemptPage, error) {
	const place = "(a.started_at, a.item_id, a.number)"
	// Only these two bounds: given a second one on a side, a database may walk by that.
	window := place + " <= " + l.addCursor(to.newest)
	if to.last != (review.AttemptCursor{}) {
		window += " AND " + place + " >= " + l.addCursor(to.last)
	} else if !l.query.From.IsZero() {
		window += " AND a.started_at >= " + l.add(l.place(l.query.From))
	}
	// The inner limit, more than are there, keeps a planner from any other way to the rows.
	text := "SELECT " + names(listedColumns, "a.") + " FROM (SELECT " + names(listedColumns, "a.") + " FROM attempts a WHERE " + window + newestAttempts +
		" LIMIT " + strconv.Itoa(2*l.bound()) + ") a WHERE " + strings.TrimPrefix(l.filter(), " AND ")
	return s.attemptPage(ctx, l, text+newestAttempts, how, to.last)
}

// attemptPage reads a page by a statement, which is cut to it. further is where it goes on if the page is not full.
func (s *Store) attemptPage(ctx context.Context, l attemptList, text string, how review.How, further review.AttemptCursor) (page review.AttemptPage, err error) {
	page.How = how
	if page.Rows, err = s.attemptRows(ctx, text+" LIMIT "+strconv.Itoa(l.query.Limit+1), l.args); err != nil {
		return page, err
	}
	if len(page.Rows) > l.query.Limit {
		page.Rows = page.Rows[:l.query.Limit]
		last := page.Rows[l.query.Limit-1]
		page.Next = review.AttemptCursor{At: last.StartedAt, ItemID: last.ItemID, Number: last.Number}
	} else {
		page.Further = further
	}
	return page, s.nameItems(ctx, page.Rows)
}

// attemptList writes the conditions of a query for attempts a.
type attemptList struct {
	db    searcher
	query review.AttemptQuery
	keys  string // a condition on item_keys k: the key is one of very many; empty: none
	pageQuery
}

// addCursor returns the place of a cursor as a row of three parameters.
func (l *attemptList) addCursor(c review.AttemptCursor) string {
	return "(" + l.add(l.place(c.At)) + ", " + l.add(c.ItemID) + ", " + l.add(c.Number) + ")"
}

// window is the part of time that the query is about, and where it goes on. It is what the index knows.
func (l *attemptList) window() string {
	q := l.query
	c := " AND a.number >= 1" // so that there is a condition; all are
	if q.After != (review.AttemptCursor{}) {
		c += " AND (a.started_at, a.item_id, a.number) < " + l.addCursor(q.After)
	}
	return c + l.time()
}

// time is the part of time that the query is about.
func (l *attemptList) time() (c string) {
	q := l.query
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
		c.WriteString(" AND substr(a.asked_by || ' ', 1, " + strconv.Itoa(utf8.RuneCountInString(who)) + ") = " + l.add(who))
	}
	if q.Longer > 0 { // a late answer and what a report held took no time that is known
		c.WriteString(" AND a.late_for = 0 AND (a.kind = 'send' OR a.node <> '' OR a.asked_by = '')")
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
