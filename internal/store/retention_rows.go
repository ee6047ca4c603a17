package store

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"gorm.io/gorm"

	"onefold/internal/review"
)

// agedRows are the tables of which single rows go, once they are over. Their ids grow with the time.
var agedRows = map[review.HistoryKind]agedRow{
	// Of an order whose invoice is not settled everything stays. No EXISTS: for one PostgreSQL may read all items.
	review.Received: {"events", "received_at", "coalesce((SELECT i.status FROM items i WHERE i.id = events.item_id), 'closed') IN ('confirmed', 'resolved', 'closed')"},
	review.Outcomes: {"outcomes", "made_at", "state <> 'waiting'"},
	review.Messages: {"notice_deliveries", "made_at", "status <> 'waiting'"},
}

type agedRow struct{ table, at, over string }

// rows removes in two walks: one from the oldest row on, and one that goes round behind it, a batch each time, over what had to stay
// when the first came by: it may be over by now.
func (w remover) rows(ctx context.Context, k review.HistoryKind) (removed int64, more bool, err error) {
	first, kept := string(k), string(k)+"/kept"
	p, err := w.walkPlace(ctx, w.company, first)
	if err != nil {
		return 0, false, err
	}
	removed, more, err = w.stretch(ctx, agedRows[k], first, p, math.MaxInt64)
	if err != nil || more {
		return removed, more, err
	}
	behind, err := w.walkPlace(ctx, w.company, kept)
	if err != nil {
		return removed, false, err
	}
	n, more, err := w.stretch(ctx, agedRows[k], kept, behind, p.id)
	if err == nil && !more && behind.id > 0 {
		err = w.db.write(ctx, func(tx *gorm.DB) error { return walkOn(tx, w.company, kept, walkPlace{}, 0, w.now) })
	}
	return removed + n, false, err
}

// stretch removes what is over of the next rows after a place.
func (w remover) stretch(ctx context.Context, t agedRow, walk string, after walkPlace, upTo int64) (removed int64, more bool, err error) {
	r, err := w.db.query(ctx, "SELECT id, "+t.at+" FROM "+t.table+" WHERE company_id = ?1 AND id > ?2 AND id <= ?3 ORDER BY id LIMIT ?4", w.company, after.id, upTo, w.limit)
	if err != nil {
		return 0, false, err
	}
	to, read := after, 0
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
		done := tx.Exec("DELETE FROM "+t.table+" WHERE company_id = ? AND id > ? AND id <= ? AND "+t.over, w.company, after.id, to.id)
		if done.Error != nil {
			return fmt.Errorf("remove old %s: %w", t.table, done.Error)
		}
		removed = done.RowsAffected
		return walkOn(tx, w.company, walk, to, removed, w.now)
	})
	return removed, err == nil && read == w.limit, err
}

// agedParts are what keeps its head row and loses its parts. Over is a condition on the head with the time as ?2.
var agedParts = map[review.HistoryKind]agedPart{
	review.BulkSets: {"bulk_runs", "ended_at < ?2", []partTable{{"bulk_items", "run_id"}}},
	review.FileRows: {"imports", "state IN ('done', 'stopped', 'removed') AND coalesce(done_at, made_at) < ?2",
		[]partTable{{"import_chunks", "import_id"}, {"import_rows", "import_id"}}},
}

type agedPart struct {
	table, over string
	parts       []partTable
}

type partTable struct{ table, key string }

// due is the condition that a head is over and still has parts.
func (t agedPart) due() string {
	var some []string // no EXISTS here either
	for _, part := range t.parts {
		some = append(some, "(SELECT n FROM "+part.table+" WHERE "+part.key+" = "+t.table+".id LIMIT 1) IS NOT NULL")
	}
	return t.over + " AND (" + strings.Join(some, " OR ") + ")"
}

// headsWalk marks the first heads, of which all are over and have no parts left. They end in another order than they begin, so the
// mark of an earlier version, which went from one to the next that was over, says nothing.
func headsWalk(k review.HistoryKind) string { return string(k) + "/heads" }

func (w remover) parts(ctx context.Context, k review.HistoryKind) (removed int64, more bool, err error) {
	t := agedParts[k]
	p, err := w.walkPlace(ctx, w.company, headsWalk(k))
	if err != nil {
		return 0, false, err
	}
	args := []any{w.company, w.db.at(w.before), p.id}
	var head int64
	found, err := w.maybeRow(ctx, "SELECT id FROM "+t.table+" WHERE company_id = ?1 AND id > ?3 AND "+t.due()+" ORDER BY id LIMIT 1", args, &head)
	if err != nil {
		return 0, false, err
	}
	if !found {
		var done int64
		err := w.row(ctx, "SELECT coalesce((SELECT id - 1 FROM "+t.table+" WHERE company_id = ?1 AND id > ?3 AND ("+t.over+") IS NOT TRUE ORDER BY id LIMIT 1),"+
			" (SELECT max(id) FROM "+t.table+" WHERE company_id = ?1), 0)", args, &done)
		if err == nil && done > p.id {
			err = w.db.write(ctx, func(tx *gorm.DB) error { return walkOn(tx, w.company, headsWalk(k), walkPlace{w.now, done}, 0, w.now) })
		}
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
		return walkOn(tx, w.company, headsWalk(k), p, removed, w.now)
	})
	return removed, err == nil, err
}
