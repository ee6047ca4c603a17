package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
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

// excerpts empties what was kept of requests and answers, in place.
func (w remover) excerpts(ctx context.Context, walk string, items []work.Item, to walkPlace) (n int64, err error) {
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
	err = w.db.write(ctx, func(tx *gorm.DB) error {
		done, err := tx.Statement.ConnPool.ExecContext(ctx, w.db.text("UPDATE attempts SET request = '', response = '' WHERE item_id IN "+w.db.search().numbers()+
			" AND (request <> '' OR response <> '')"), string(list))
		if err != nil {
			return fmt.Errorf("empty old excerpts: %w", err)
		}
		if n, err = done.RowsAffected(); err != nil {
			return err
		}
		return walkOn(tx, w.company, walk, to, n, w.now)
	})
	return n, err
}

// mostDeletes is how many attempts go in one transaction: an item may have thousands.
const mostDeletes = 2000

func (w remover) attempts(ctx context.Context, walk string, items []work.Item, to walkPlace) (removed int64, err error) {
	all, err := w.endsOf(ctx, items)
	if err != nil {
		return 0, err
	}
	var pairs []string
	gone := map[int64]int{}
	flush := func(last bool) error {
		n := int64(len(pairs))
		err := w.db.write(ctx, func(tx *gorm.DB) error {
			if n > 0 {
				if err := tx.Exec("DELETE FROM attempts WHERE (item_id, number) IN (VALUES " + strings.Join(pairs, ", ") + ")").Error; err != nil {
					return fmt.Errorf("remove old attempts: %w", err)
				}
				if err := w.pruned(tx, gone); err != nil {
					return err
				}
			}
			if !last {
				return nil
			}
			return walkOn(tx, w.company, walk, to, removed+n, w.now)
		})
		pairs, gone, removed = nil, map[int64]int{}, removed+n
		return err
	}
	for i := range items {
		it := &items[i]
		for _, number := range work.Needless(it, all[it.ID], w.before) {
			pairs = append(pairs, "("+strconv.FormatInt(it.ID, 10)+", "+strconv.Itoa(number)+")")
			gone[it.ID]++
			if len(pairs) == mostDeletes {
				if err := flush(false); err != nil {
					return removed, err
				}
			}
		}
	}
	return removed, flush(true)
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

// endsOf reads what work.Needless looks at, of all attempts of the items.
func (w remover) endsOf(ctx context.Context, items []work.Item) (all map[int64][]work.Attempt, err error) {
	ids := make([]int64, len(items))
	for i := range items {
		ids[i] = items[i].ID
	}
	list, err := json.Marshal(ids)
	if err != nil {
		return nil, err
	}
	r, err := w.db.query(ctx, "SELECT a.item_id, a.number, a.kind, a.late_for, a.revision, a.ended_at, a.outcome, a.finding FROM "+w.db.search().attemptsOf("?1")+
		" ORDER BY a.item_id, a.number", string(list))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	all = make(map[int64][]work.Attempt, len(items))
	for r.Next() {
		var a work.Attempt
		if err := r.Scan(&a.ItemID, &a.Number, (*string)(&a.Kind), &a.LateFor, &a.Revision, stamp{&a.EndedAt}, (*string)(&a.Outcome), (*string)(&a.Finding)); err != nil {
			return nil, fmt.Errorf("read old attempts: %w", err)
		}
		all[a.ItemID] = append(all[a.ItemID], a)
	}
	return all, r.Err()
}

// agedRows are the tables of which single rows go. Their ids grow with the time.
var agedRows = map[review.HistoryKind]struct{ table, at, over string }{
	// Of an order whose invoice is not settled everything stays.
	review.Received: {"events", "received_at", "NOT EXISTS (SELECT 1 FROM items i WHERE i.id = events.item_id AND i.status NOT IN ('confirmed', 'resolved', 'closed'))"},
	review.Outcomes: {"outcomes", "made_at", "state <> 'waiting'"},
	review.Messages: {"notice_deliveries", "made_at", "status <> 'waiting'"},
}

func (w remover) rows(ctx context.Context, k review.HistoryKind) (removed int64, more bool, err error) {
	t := agedRows[k]
	p, err := w.walkPlace(ctx, w.company, string(k))
	if err != nil {
		return 0, false, err
	}
	r, err := w.db.query(ctx, "SELECT id, "+t.at+" FROM "+t.table+" WHERE company_id = ?1 AND id > ?2 ORDER BY id LIMIT ?3", w.company, p.id, w.limit)
	if err != nil {
		return 0, false, err
	}
	to, read := p, 0
	for r.Next() {
		var id int64
		var at time.Time
		if err := r.Scan(&id, stamp{&at}); err != nil {
			return 0, false, errors.Join(fmt.Errorf("read %s: %w", t.table, err), r.Close())
		}
		if !at.Before(w.before) {
			break
		}
		to, read = walkPlace{at, id}, read+1
	}
	if err := errors.Join(r.Err(), r.Close()); err != nil || read == 0 {
		return 0, false, err
	}
	err = w.db.write(ctx, func(tx *gorm.DB) error {
		done := tx.Exec("DELETE FROM "+t.table+" WHERE company_id = ? AND id > ? AND id <= ? AND "+t.over, w.company, p.id, to.id)
		if done.Error != nil {
			return fmt.Errorf("remove old %s: %w", t.table, done.Error)
		}
		removed = done.RowsAffected
		return walkOn(tx, w.company, string(k), to, removed, w.now)
	})
	return removed, err == nil && read == w.limit, err
}

// agedParts are what keeps its head row and loses its parts. Over is a condition on the head with the time as ?2.
var agedParts = map[review.HistoryKind]struct {
	table, over string
	parts       []struct{ table, key string }
}{
	review.BulkSets: {"bulk_runs", "ended_at < ?2", []struct{ table, key string }{{"bulk_items", "run_id"}}},
	review.FileRows: {"imports", "state IN ('done', 'stopped', 'removed') AND coalesce(done_at, made_at) < ?2",
		[]struct{ table, key string }{{"import_chunks", "import_id"}, {"import_rows", "import_id"}}},
}

func (w remover) parts(ctx context.Context, k review.HistoryKind) (removed int64, more bool, err error) {
	t := agedParts[k]
	p, err := w.walkPlace(ctx, w.company, string(k))
	if err != nil {
		return 0, false, err
	}
	var head int64
	found, err := w.maybeRow(ctx, "SELECT id FROM "+t.table+" WHERE company_id = ?1 AND id > ?3 AND "+t.over+" ORDER BY id LIMIT 1",
		[]any{w.company, w.db.at(w.before), p.id}, &head)
	if err != nil || !found {
		return 0, false, err
	}
	err = w.db.write(ctx, func(tx *gorm.DB) error {
		left := int64(w.limit)
		for _, part := range t.parts {
			done := tx.Exec("DELETE FROM "+part.table+" WHERE "+part.key+" = ? AND n IN (SELECT n FROM "+part.table+" WHERE "+part.key+" = ? ORDER BY n LIMIT ?)", head, head, left)
			if done.Error != nil {
				return fmt.Errorf("remove old %s: %w", part.table, done.Error)
			}
			removed += done.RowsAffected
			if left -= done.RowsAffected; left <= 0 {
				break
			}
		}
		to := p
		if left > 0 { // it has no more
			to = walkPlace{w.now, head}
		}
		return walkOn(tx, w.company, string(k), to, removed, w.now)
	})
	return removed, err == nil, err
}
