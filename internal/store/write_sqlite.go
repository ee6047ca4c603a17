package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"onefold/internal/work"
)

func (d *sqliteDoor) write(ctx context.Context, p *plan) error {
	ctx = context.WithoutCancel(ctx) // the driver starts a goroutine for each statement that may be cancelled
	if err := d.update(ctx, p); err != nil {
		return err
	}
	return d.record(ctx, p)
}

func (d *sqliteDoor) update(ctx context.Context, p *plan) error {
	if len(p.updates) == 0 {
		return nil
	}
	set := p.set()
	s, err := d.stmt(ctx, set.updateOne)
	if err != nil {
		return err
	}
	args := make([]any, len(set.columns)+3)
	for _, m := range p.updates {
		args[0] = m.Item.Version
		for i := range set.columns {
			args[i+1] = set.columns[i].value(&m.Item)
		}
		args[len(args)-2], args[len(args)-1] = m.Item.ID, m.Seen
		r, err := s.ExecContext(ctx, args...)
		if err != nil {
			return sqliteError(err)
		}
		switch n, err := r.RowsAffected(); {
		case err != nil:
			return err
		case n != 1:
			return errMissed
		}
	}
	return nil
}

var (
	sqliteOpenAttempt  = openTable.insertOne()
	sqliteLateAttempt  = attemptsTable.insertOne()
	sqliteCloseAttempt = "UPDATE attempts SET (" + names(attemptEnd, "") + ") = (?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)" +
		" WHERE item_id = ?1 AND number = ?2 AND ended_at IS NULL"
	sqliteInsertKey      = keysTable.insertOne() + " ON CONFLICT (folded_key, company_id, automation, step) DO NOTHING"
	sqliteInsertItem     = itemsTable.insertOne()
	sqliteInsertRevision = revisionsTable.insertOne()
	// A proposal may be typed again; what was sent is never overwritten.
	sqliteCorrection = sqliteInsertRevision + " ON CONFLICT (item_id, number) DO UPDATE SET (customer_id, customer_name, total, currency, invoice, fingerprint, made_by, made_at)" +
		" = (excluded.customer_id, excluded.customer_name, excluded.total, excluded.currency, excluded.invoice, excluded.fingerprint, excluded.made_by, excluded.made_at)" +
		" WHERE revisions.number >= (SELECT i.revision FROM items i WHERE i.id = revisions.item_id)" +
		" AND NOT EXISTS (SELECT 1 FROM attempts a WHERE a.item_id = revisions.item_id AND a.revision = revisions.number)"
	sqliteInsertAct = actsTable.insertOne()
)

const (
	sqliteInsertWords = "INSERT OR REPLACE INTO item_search (rowid, words) VALUES (?, ?)"
	sqliteRecorder    = "UPDATE item_keys SET recorder_kind = ?2, recorder_id = ?3, recorder_name = ?4 WHERE item_id = ?1"
)

// rowWriter runs a statement once for every row, until the first error.
type rowWriter struct {
	ctx context.Context //nolint:containedctx // it lives for one call
	d   *sqliteDoor
	err error
}

// each wants every row to write one.
func each[R any](w *rowWriter, text string, rows []R, args func(R) []any) {
	if len(rows) == 0 || w.err != nil {
		return
	}
	var s *sql.Stmt
	if s, w.err = w.d.stmt(w.ctx, text); w.err != nil {
		return
	}
	for _, row := range rows {
		r, err := s.ExecContext(w.ctx, args(row)...)
		if err != nil {
			w.err = sqliteError(err)
			return
		}
		if n, err := r.RowsAffected(); err != nil || n != 1 {
			w.err = errors.Join(fmt.Errorf("store: %d rows instead of one were written: %.40s", n, text), err)
			return
		}
	}
}

func (d *sqliteDoor) record(ctx context.Context, p *plan) error {
	inserted, err := d.insertKeys(ctx, p)
	if err != nil {
		return err
	}
	opened, closed, late := p.attempts()
	revisions, acts, words := p.rowsOf(inserted)
	corrected, newWords := p.corrections()
	w := &rowWriter{ctx: ctx, d: d}
	each(w, sqliteOpenAttempt, opened, openTable.values)
	each(w, sqliteCloseAttempt, closed, endTable.values)
	each(w, sqliteLateAttempt, late, attemptsTable.values)
	each(w, sqliteInsertItem, inserted, itemsTable.values)
	each(w, sqliteInsertRevision, revisions, revisionsTable.values)
	each(w, sqliteInsertAct, acts, actsTable.values)
	each(w, sqliteCorrection, corrected, revisionsTable.values)
	each(w, sqliteInsertWords, append(words, newWords...), func(r *wordsRow) []any { return []any{r.itemID, tidy(r.words, maxLong)} })
	each(w, sqliteRecorder, p.recorders, func(m *work.Move) []any {
		return []any{m.Item.ID, string(m.Item.RecordedBy.Kind), m.Item.RecordedBy.ID, m.Item.RecordedBy.Name}
	})
	if w.err == nil {
		w.err = d.outcomes(ctx, p.told(inserted))
	}
	if w.err == nil && (p.sends() || len(acts) > 0) {
		w.err = d.nextGeneration(ctx)
	}
	return w.err
}

// insertKeys takes the names of new items and gives them ids. It returns the items that are new.
func (d *sqliteDoor) insertKeys(ctx context.Context, p *plan) ([]*work.Item, error) {
	items := p.newItems()
	if len(items) == 0 {
		return nil, nil
	}
	q, err := d.stmt(ctx, "SELECT coalesce(max(item_id), 0) FROM item_keys")
	if err != nil {
		return nil, err
	}
	var last int64
	if err := q.QueryRowContext(ctx).Scan(&last); err != nil {
		return nil, sqliteError(err)
	}
	isNew := make(map[int64]bool, len(items))
	for _, it := range items {
		it.ID = last + 1
		n, err := d.exec(ctx, sqliteInsertKey, keysTable.values(newKeyRow(it))...)
		if err != nil {
			return nil, err
		}
		if n == 1 {
			last++
			isNew[it.ID] = true
		} else {
			it.ID = 0
		}
	}
	return p.settleNew(items, isNew)
}

func (d *sqliteDoor) pace(ctx context.Context, systemID string, at time.Time) error {
	_, err := d.exec(ctx, "UPDATE systems SET paced_at = ?2 WHERE id = ?1", systemID, at.UnixMicro())
	return err
}

// nextGeneration counts the transactions that opened a send or hold a decision of somebody, for the side mark.
func (d *sqliteDoor) nextGeneration(ctx context.Context) error {
	q, err := d.stmt(ctx, "UPDATE installation SET generation = generation + 1 RETURNING generation")
	if err != nil {
		return err
	}
	return sqliteError(q.QueryRowContext(ctx).Scan(&d.gen))
}

// outcomes notes what somebody outside wants to be told, if anybody does.
func (d *sqliteDoor) outcomes(ctx context.Context, items []*work.Item) error {
	if len(items) == 0 {
		return nil
	}
	q, err := d.stmt(ctx, sqliteAnyEndpoint)
	if err != nil {
		return err
	}
	var some bool
	if err := q.QueryRowContext(ctx).Scan(&some); err != nil || !some {
		return sqliteError(err)
	}
	for _, it := range items {
		if _, err := d.exec(ctx, sqliteOutcome, it.ID, it.CompanyID, it.Automation); err != nil {
			return err
		}
	}
	return nil
}
