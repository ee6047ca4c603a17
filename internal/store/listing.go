package store

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"onefold/internal/review"
	"onefold/internal/work"
)

// shownRow is the condition for the one row that stands for an automation and business key: its first step that is not
// done, or the last one if all are. This form is for whoever reads very many rows at once.
const shownRow = "(i.status NOT IN ('confirmed', 'resolved') OR NOT EXISTS (SELECT 1 FROM items n WHERE n.previous_id = i.id))" +
	" AND (i.previous_id IS NULL OR NOT EXISTS (SELECT 1 " + earlierOpen + "))"

// shownAlone is the same for a page: a subquery with a limit is asked for each row that is read, where PostgreSQL would
// join whole tables before the first.
const shownAlone = "((i.status NOT IN ('confirmed', 'resolved') OR " + lastStep + ") AND " + noneBefore + ")"

const (
	lastStep   = "(SELECT 1 FROM items n WHERE n.previous_id = i.id LIMIT 1) IS NULL"
	noneBefore = "(i.previous_id IS NULL OR (SELECT 1 " + earlierOpen + " LIMIT 1) IS NULL)" // no step before it is open
)

// shownOf is the same for rows of one status.
func shownOf(status work.Status) string {
	if status == work.Confirmed || status == work.Resolved {
		return lastStep + " AND " + noneBefore
	}
	return noneBefore
}

// earlierOpen are the steps before items i that are not done: the one before it, or, in longer chains, any. One table in
// each subquery: a join is planned for each of the many branches of a list.
const earlierOpen = "FROM items p WHERE p.id = i.previous_id AND (p.status NOT IN ('confirmed', 'resolved') OR p.previous_id IS NOT NULL AND (SELECT 1" +
	" FROM item_keys m WHERE m.item_id = p.id AND (SELECT 1 FROM item_keys o WHERE o.folded_key = m.folded_key AND o.company_id = m.company_id" +
	" AND o.automation = m.automation AND o.item_id < m.item_id AND (SELECT e.status FROM items e WHERE e.id = o.item_id) NOT IN ('confirmed', 'resolved') LIMIT 1) = 1) = 1)"

// tabs are the statuses of each list. An open call belongs to the list of what it does.
var tabs = map[review.Tab][]work.Status{
	review.TabReview:   {work.Review},
	review.TabUnknown:  {work.Pending, work.InProgress},
	review.TabWaiting:  {work.Queued, work.Failed, work.InProgress},
	review.TabFinished: {work.Confirmed, work.Resolved},
	review.TabClosed:   {work.Closed},
	review.TabAll:      work.Statuses,
}

// listing writes the statements for the rows of a query. Every one has the same conditions, so a list, its count, its
// groups and its export cannot differ. There are two ways to the rows: a walk down an index for each status, in the
// order of the list; or from few known ids to their rows.
type listing struct {
	db       searcher
	query    review.Query
	statuses []work.Status
	lanes    lanes  // how rows are shared out between walks down their indexes
	whole    bool   // all rows are wanted, in no order
	from     string // the few, as a FROM clause with items i; empty: walk
	shown    string // the condition for the one row of a document among the few
	where    string // all conditions but the status
	after    string // the keyset
	pageQuery
}

// lanes are values of columns of items, as places of parameters: one walk for each row. None: one walk over all.
type lanes struct {
	columns []string
	rows    [][]string
}

// pageQuery collects the parameters of a statement.
type pageQuery struct {
	args  []any
	place func(time.Time) any // how the database takes a time
}

// add returns the place of a new parameter.
func (b *pageQuery) add(v any) string {
	b.args = append(b.args, v)
	return "?" + strconv.Itoa(len(b.args))
}

// listing prepares the statements for the rows of a query that match.
func (s *Store) listing(ctx context.Context, q review.Query, m match) (*listing, error) {
	l := &listing{db: s.db.search(), query: q, statuses: statuses(q), shown: shownAlone, pageQuery: pageQuery{place: s.db.at}}
	if err := l.filter(ctx, s); err != nil {
		return nil, err
	}
	if q.After != (review.Cursor{}) {
		l.after = " AND (i.changed_at, i.id) < (" + l.add(l.place(q.After.At)) + ", " + l.add(q.After.ID) + ")"
	}
	if m.condition != nil {
		l.where += m.condition(l.add)
	}
	if m.hits != nil && m.condition == nil {
		list, err := json.Marshal(m.hits)
		if err != nil {
			return nil, err
		}
		if m.own {
			l.from = l.db.each(l.db.ids(l.add(string(list))))
		} else {
			l.from, l.shown = l.db.chains(l.add(string(list)))
		}
		return l, nil
	}
	few, err := s.few(ctx, q)
	if err != nil {
		return nil, err
	}
	if few != nil {
		l.from = l.db.each(few.text(l.add))
		return l, nil
	}
	return l, l.share(ctx, s)
}

// fewMonths is how many months a source may have to be looked for in each of them; in more, its rows are everywhere.
const fewMonths = 6

// share makes lanes of what the filter asks for and an index knows: the months of a source, or each pair of automation and
// system that may be meant. For a month alone one lane is right.
func (l *listing) share(ctx context.Context, s *Store) (err error) {
	f := l.query.Filter
	if f.Period != "" || slices.Equal(l.statuses, []work.Status{work.InProgress}) {
		return nil
	}
	if f.Source != "" {
		months, err := s.texts(ctx, "WITH RECURSIVE a (name) AS (SELECT min(period) FROM item_keys WHERE source = ?1 AND source <> ''"+
			" UNION ALL SELECT (SELECT min(k.period) FROM item_keys k WHERE k.source = ?1 AND k.source <> '' AND k.period > a.name) FROM a WHERE a.name IS NOT NULL)"+
			" SELECT name FROM a WHERE name IS NOT NULL LIMIT "+strconv.Itoa(fewMonths+1), f.Source)
		if err != nil {
			return err
		}
		if len(months) > 0 && len(months) <= fewMonths {
			l.lanes.columns = []string{"period"}
			places := make([]string, len(months))
			for i, month := range months {
				places[i] = l.add(month)
				l.lanes.rows = append(l.lanes.rows, places[i:i+1])
			}
			l.where += " AND i.period IN (" + strings.Join(places, ", ") + ")" // passes calls without a look at their source
			return nil
		}
	}
	if f.Automation == "" && f.SystemID == "" {
		return nil
	}
	automations, systems := []string{f.Automation}, []string{f.SystemID}
	if f.Automation == "" {
		automations, err = s.Automations(ctx, l.query.CompanyID)
	}
	if f.SystemID == "" && err == nil {
		systems, err = s.texts(ctx, "SELECT id FROM systems WHERE company_id = ?1 ORDER BY id", l.query.CompanyID)
	}
	if err != nil || len(automations) == 0 || len(systems) == 0 {
		return err
	}
	l.lanes.columns = []string{"automation", "system_id"}
	for _, a := range automations {
		for _, id := range systems {
			l.lanes.rows = append(l.lanes.rows, []string{l.add(a), l.add(id)})
		}
	}
	return nil
}

// statuses are the statuses that the query asks for.
func statuses(q review.Query) []work.Status {
	tab := q.Tab
	if tab == "" {
		tab = review.TabAll
	}
	var list []work.Status
	for _, status := range tabs[tab] {
		if (q.Filter.Status == "" || q.Filter.Status == status) && (!q.Filter.Overdue || status.Open()) {
			list = append(list, status)
		}
	}
	if list == nil {
		return []work.Status{""} // no item has it
	}
	return list
}

// rows is the statement for the rows, with these columns of items i; the tail orders and limits them.
func (l *listing) rows(columns, tail string) string { return l.rowsOf(l.statuses, columns, tail) }

func (l *listing) rowsOf(statuses []work.Status, columns, tail string) string {
	var branches []string
	company := l.add(l.query.CompanyID)
	for _, status := range statuses {
		if l.from != "" {
			branches = append(branches, "("+strings.TrimPrefix(l.has(status), " AND ")+")")
			continue
		}
		walk := func(lane string) string {
			return "SELECT " + columns + " FROM items i WHERE i.company_id = " + company + l.has(status) + lane + l.where + l.after + " AND " + shownOf(status) + tail
		}
		walks := []string{walk("")}
		if status != work.InProgress && len(l.lanes.rows) > 0 {
			walks = l.db.walks(l.lanes, walk)
		}
		for _, text := range walks {
			branches = append(branches, "SELECT * FROM ("+text+") s"+strconv.Itoa(len(branches)))
		}
	}
	if l.from == "" {
		return strings.Join(branches, " UNION ALL ")
	}
	return "SELECT DISTINCT " + columns + " FROM " + l.from + " WHERE i.company_id = " + company + " AND (" + strings.Join(branches, " OR ") + ")" + l.where + l.after +
		" AND " + l.shown + tail
}

// has is the condition for a status, with what names the index that holds its rows.
func (l *listing) has(status work.Status) string {
	c := " AND i.status = '" + string(status) + "'"
	switch {
	case status == work.InProgress:
		c += " AND i.lease_until IS NOT NULL" // as every open call
		switch l.query.Tab {
		case review.TabUnknown:
			c += " AND i.open_kind = 'find'"
		case review.TabWaiting:
			c += " AND i.open_kind = 'send'"
		}
	case l.query.Filter.Period == "" && len(l.lanes.rows) == 0 && (status.Settled() || !l.whole):
		c += " AND i.status <> 'in_progress'"
	case status.Settled():
		c += " AND i.status IN ('confirmed', 'resolved', 'closed')"
	default:
		c += l.db.openIndex()
	}
	return c
}
