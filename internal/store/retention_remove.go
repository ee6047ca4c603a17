package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"gorm.io/gorm"

	"onefold/internal/review"
	"onefold/internal/work"
)

// remover removes one batch.
type remover struct {
	*Store
	company     int64
	before, now time.Time
	limit       int
}

var settledStatuses = []work.Status{work.Confirmed, work.Resolved, work.Closed}

// ofItems goes through settled items in the order in which they last changed, which the list's own index holds. What it passed it
// never looks at again; an item that changes later comes to stand in front once more.
func (w remover) ofItems(ctx context.Context, k review.HistoryKind) (removed int64, more bool, err error) {
	if k == review.Attempts { // what the overview has not counted yet stays
		var counted time.Time
		if err := w.row(ctx, "SELECT counted_to FROM figures_place", nil, stamp{&counted}); err != nil {
			return 0, false, err
		}
		if counted.Before(w.before) {
			w.before = counted
		}
	}
	for _, status := range settledStatuses {
		walk := string(k) + "/" + string(status)
		p, err := w.walkPlace(ctx, w.company, walk)
		if err != nil {
			return removed, false, err
		}
		// The status stands in the text: the index holds only settled and waiting rows, and a parameter does not tell.
		items, err := w.list(ctx, "WHERE i.id IN (SELECT id FROM items WHERE company_id = ?1 AND status = '"+string(status)+"' AND changed_at < ?2"+
			" AND (changed_at, id) > (?3, ?4) ORDER BY changed_at, id LIMIT ?5) ORDER BY i.changed_at, i.id",
			w.company, w.db.at(w.before), w.db.at(p.from()), p.id, w.limit)
		if err != nil {
			return removed, false, err
		}
		if len(items) == 0 {
			continue
		}
		items = few(items)
		last := items[len(items)-1]
		step := w.attempts
		if k == review.Excerpts {
			step = w.excerpts
		}
		n, err := step(ctx, walk, items, walkPlace{last.ChangedAt, last.ID})
		return removed + n, err == nil, err
	}
	return removed, false, nil
}

// mostAttempts is how many attempts a batch is about, and how many one transaction changes: an item may have thousands.
const mostAttempts = 2000

// few are the first items, with so many attempts together; at least one.
func few(items []work.Item) []work.Item {
	n := 0
	for i := range items {
		if n += items[i].Attempts; n > mostAttempts && i > 0 {
			return items[:i]
		}
	}
	return items
}

// stretches removes of so many numbers of attempts at a time, each in a transaction of its own, what plan says. With the last one
// the walk is over the items, else it stays where it was.
func (w remover) stretches(ctx context.Context, walk string, items []work.Item, to walkPlace,
	plan func(from, until int) (func(tx *gorm.DB) (int64, error), error)) (removed int64, err error) {
	place, err := w.walkPlace(ctx, w.company, walk)
	if err != nil {
		return 0, err
	}
	last := 0
	for i := range items {
		last = max(last, items[i].Attempts)
	}
	for from, over := 0, false; !over; from += mostAttempts {
		until := from + mostAttempts
		if over = until >= last; over {
			until, place = math.MaxInt32, to
		}
		remove, err := plan(from, until)
		if err != nil {
			return removed, err
		}
		var n int64
		err = w.db.write(ctx, func(tx *gorm.DB) (err error) {
			if n, err = remove(tx); err != nil {
				return err
			}
			return walkOn(tx, w.company, walk, place, n, w.now)
		})
		if err != nil {
			return removed, err
		}
		removed += n
	}
	return removed, nil
}

// excerpts empties what was kept of requests and answers, in place.
func (w remover) excerpts(ctx context.Context, walk string, items []work.Item, to walkPlace) (int64, error) {
	var ids []int64
	for i := range items {
		if items[i].Finished() {
			ids = append(ids, items[i].ID)
		}
	}
	list, err := json.Marshal(ids)
	if err != nil {
		return 0, err
	}
	text := w.db.text("UPDATE attempts SET request = '', response = '' WHERE item_id IN " + w.db.search().numbers() +
		" AND number > ?2 AND number <= ?3 AND (request <> '' OR response <> '')")
	return w.stretches(ctx, walk, items, to, func(from, until int) (func(tx *gorm.DB) (int64, error), error) {
		return func(tx *gorm.DB) (int64, error) {
			done, err := tx.Statement.ConnPool.ExecContext(ctx, text, string(list), from, until)
			if err != nil {
				return 0, fmt.Errorf("empty old excerpts: %w", err)
			}
			return done.RowsAffected()
		}, nil
	})
}

func (w remover) attempts(ctx context.Context, walk string, items []work.Item, to walkPlace) (int64, error) {
	ids := make([]int64, len(items))
	for i := range items {
		ids[i] = items[i].ID
	}
	list, err := json.Marshal(ids)
	if err != nil {
		return 0, err
	}
	lastSends, err := w.lastSends(ctx, string(list))
	if err != nil {
		return 0, err
	}
	return w.stretches(ctx, walk, items, to, func(from, until int) (func(tx *gorm.DB) (int64, error), error) {
		all, err := w.endsOf(ctx, string(list), from, until)
		if err != nil {
			return nil, err
		}
		var pairs []string
		gone := map[int64]int{}
		for i := range items {
			it := &items[i]
			some := all[it.ID]
			for _, a := range lastSends[it.ID] { // what stays depends on them, however far behind they are
				if a.Number > until {
					some = append(some, a)
				}
			}
			for _, number := range work.Needless(it, some, w.before) {
				pairs = append(pairs, "("+strconv.FormatInt(it.ID, 10)+", "+strconv.Itoa(number)+")")
				gone[it.ID]++
			}
		}
		return func(tx *gorm.DB) (int64, error) {
			if len(pairs) == 0 {
				return 0, nil
			}
			if err := tx.Exec("DELETE FROM attempts WHERE (item_id, number) IN (VALUES " + strings.Join(pairs, ", ") + ")").Error; err != nil {
				return 0, fmt.Errorf("remove old attempts: %w", err)
			}
			return int64(len(pairs)), w.pruned(tx, gone)
		}, nil
	})
}

// pruned notes whose history is not whole any more.
func (w remover) pruned(tx *gorm.DB, gone map[int64]int) error {
	var rows []string
	var args []any
	for id, n := range gone {
		rows, args = append(rows, "(?, ?, ?)"), append(args, id, moment(w.now), n)
	}
	err := tx.Exec("INSERT INTO pruned_items (item_id, at, attempts) VALUES "+strings.Join(rows, ", ")+
		" ON CONFLICT (item_id) DO UPDATE SET at = excluded.at, attempts = pruned_items.attempts + excluded.attempts", args...).Error
	if err != nil {
		return fmt.Errorf("note what was removed: %w", err)
	}
	return nil
}

// lastSends reads the last send of each version of the items: its number and no more.
func (w remover) lastSends(ctx context.Context, items string) (last map[int64][]work.Attempt, err error) {
	r, err := w.db.query(ctx, "SELECT a.item_id, a.revision, max(a.number) FROM "+w.db.search().attemptsOf("?1")+
		" WHERE a.kind = 'send' AND a.late_for = 0 GROUP BY a.item_id, a.revision", items)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	last = map[int64][]work.Attempt{}
	for r.Next() {
		a := work.Attempt{Kind: work.Send}
		if err := r.Scan(&a.ItemID, &a.Revision, &a.Number); err != nil {
			return nil, fmt.Errorf("read old attempts: %w", err)
		}
		last[a.ItemID] = append(last[a.ItemID], a)
	}
	return last, r.Err()
}

// endsOf reads what work.Needless looks at, of the attempts of the items with these numbers.
func (w remover) endsOf(ctx context.Context, items string, from, until int) (all map[int64][]work.Attempt, err error) {
	r, err := w.db.query(ctx, "SELECT a.item_id, a.number, a.kind, a.late_for, a.revision, a.ended_at, a.outcome, a.finding FROM attempts a WHERE a.item_id IN "+w.db.search().numbers()+
		" AND a.number > ?2 AND a.number <= ?3 ORDER BY a.item_id, a.number", items, from, until)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	all = map[int64][]work.Attempt{}
	for r.Next() {
		var a work.Attempt
		if err := r.Scan(&a.ItemID, &a.Number, (*string)(&a.Kind), &a.LateFor, &a.Revision, stamp{&a.EndedAt}, (*string)(&a.Outcome), (*string)(&a.Finding)); err != nil {
			return nil, fmt.Errorf("read old attempts: %w", err)
		}
		all[a.ItemID] = append(all[a.ItemID], a)
	}
	return all, r.Err()
}
