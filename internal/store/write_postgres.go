package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"onefold/internal/work"
)

// pgWrites gathers the statements of one plan; independent ones share one trip.
type pgWrites struct {
	pgx.Batch
	missed bool
}

func (w *pgWrites) exec(rows int, sql string, args ...any) {
	w.Queue(sql, args...).Exec(func(tag pgconn.CommandTag) error {
		if tag.RowsAffected() != int64(rows) {
			return fmt.Errorf("store: %d of %d rows were written: %.40s", tag.RowsAffected(), rows, sql)
		}
		return nil
	})
}

func (w *pgWrites) update(p *plan) {
	if len(p.updates) == 0 {
		return
	}
	set := p.set()
	ids, seen, items := make([]int64, len(p.updates)), make([]int64, len(p.updates)), make([]*work.Item, len(p.updates))
	for i, m := range p.updates {
		ids[i], seen[i], items[i] = m.Item.ID, m.Seen, &m.Item
	}
	args := append([]any{ids, seen, versionColumn.array(items)}, table[work.Item]{columns: set.columns}.arrays(items)...)
	w.Queue(set.updateMany, args...).Exec(func(tag pgconn.CommandTag) error {
		w.missed = tag.RowsAffected() != int64(len(ids))
		return nil
	})
}

// send runs what was gathered. The caller rolls back after an error.
func (w *pgWrites) send(ctx context.Context, conn *pgxpool.Conn) error {
	if w.Len() == 0 {
		return nil
	}
	err := conn.SendBatch(ctx, &w.Batch).Close()
	if w.missed {
		return errMissed
	}
	return pgError(err)
}

var (
	pgOpenAttempts  = openTable.insertMany()
	pgLateAttempts  = attemptsTable.insertMany()
	pgCloseAttempts = "UPDATE attempts AS a SET (" + names(attemptEnd, "") + ") = ROW (" + names(attemptEnd, "u.") + ") FROM " +
		unnest(endTable.columns, 1) + " WHERE a.item_id = u.item_id AND a.number = u.number AND a.ended_at IS NULL"
	pgInsertKeys = keysTable.insertMany() +
		" ON CONFLICT (folded_key, company_id, automation, step) DO NOTHING RETURNING item_id"
	pgInsertItems     = itemsTable.insertMany()
	pgInsertRevisions = revisionsTable.insertMany()
	// A proposal may be typed again; what was sent is never overwritten.
	pgCorrections = pgInsertRevisions + " ON CONFLICT (item_id, number) DO UPDATE SET (customer_id, customer_name, total, currency, invoice, fingerprint, made_by, made_at)" +
		" = ROW (excluded.customer_id, excluded.customer_name, excluded.total, excluded.currency, excluded.invoice, excluded.fingerprint, excluded.made_by, excluded.made_at)" +
		" WHERE revisions.number >= (SELECT i.revision FROM items i WHERE i.id = revisions.item_id)" +
		" AND NOT EXISTS (SELECT 1 FROM attempts a WHERE a.item_id = revisions.item_id AND a.revision = revisions.number)"
	pgInsertActs = actsTable.insertMany()
)

const (
	pgInsertWords = "INSERT INTO item_search (item_id, words) SELECT * FROM unnest($1::bigint[], $2::text[]) ON CONFLICT (item_id) DO UPDATE SET words = excluded.words"
	pgRecorders   = "UPDATE item_keys AS k SET recorder_kind = u.kind, recorder_id = u.who, recorder_name = u.name" +
		" FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[]) AS u (id, kind, who, name) WHERE k.item_id = u.id"
)

func (d *pgDoor) write(ctx context.Context, p *plan) error {
	b := &pgWrites{}
	b.update(p)
	var inserted []*work.Item
	if items := p.newItems(); len(items) > 0 {
		err := b.send(ctx, d.conn)
		if err == nil {
			inserted, err = d.insertKeys(ctx, p, items)
		}
		if err != nil {
			return err
		}
		b = &pgWrites{}
	}
	opened, closed, late := p.attempts()
	if len(opened) > 0 {
		d.sent = firstSend(opened)
		b.exec(len(opened), pgOpenAttempts, openTable.arrays(opened)...)
	}
	if len(closed) > 0 {
		b.exec(len(closed), pgCloseAttempts, endTable.arrays(closed)...)
	}
	if len(late) > 0 {
		b.exec(len(late), pgLateAttempts, attemptsTable.arrays(late)...)
	}
	if len(inserted) > 0 {
		b.exec(len(inserted), pgInsertItems, itemsTable.arrays(inserted)...)
	}
	revisions, acts, words := p.rowsOf(inserted)
	if len(revisions) > 0 {
		b.exec(len(revisions), pgInsertRevisions, revisionsTable.arrays(revisions)...)
	}
	if len(acts) > 0 {
		d.decided = acts[0]
		b.exec(len(acts), pgInsertActs, actsTable.arrays(acts)...)
	}
	corrected, newWords := p.corrections()
	if len(corrected) > 0 {
		b.exec(len(corrected), pgCorrections, revisionsTable.arrays(corrected)...)
	}
	if words = append(words, newWords...); len(words) > 0 {
		ids, texts := make([]int64, len(words)), make([]string, len(words))
		for i, w := range words {
			ids[i], texts[i] = w.itemID, tidy(w.words, maxLong)
		}
		b.exec(len(words), pgInsertWords, ids, texts)
	}
	if n := len(p.recorders); n > 0 {
		ids, kinds, who, name := make([]int64, n), make([]string, n), make([]string, n), make([]string, n)
		for i, m := range p.recorders {
			by := m.Item.RecordedBy
			ids[i], kinds[i], who[i], name[i] = m.Item.ID, string(by.Kind), by.ID, by.Name
		}
		b.exec(n, pgRecorders, ids, kinds, who, name)
	}
	b.outcomes(p.told(inserted))
	everywhere, _ := p.wakes()
	for id := range everywhere {
		b.Queue("SELECT pg_notify($1, $2)", wakeChannel, id)
	}
	return b.send(ctx, d.conn)
}

// insertKeys takes the names of new items and gives them ids. It returns the items that are new.
func (d *pgDoor) insertKeys(ctx context.Context, p *plan, items []*work.Item) ([]*work.Item, error) {
	r, err := d.conn.Query(ctx, "SELECT nextval(pg_get_serial_sequence('items', 'id')) FROM generate_series(1, $1)", len(items))
	if err != nil {
		return nil, pgError(err)
	}
	ids, err := pgx.CollectRows(r, pgx.RowTo[int64])
	if err != nil {
		return nil, pgError(err)
	}
	keys := make([]*keyRow, len(items))
	for i, it := range items {
		it.ID = ids[i]
		keys[i] = newKeyRow(it)
	}
	// One order for all servers, so that two of them with the same keys wait for each other only one way.
	slices.SortFunc(keys, func(a, b *keyRow) int { return strings.Compare(a.folded, b.folded) })
	if r, err = d.conn.Query(ctx, pgInsertKeys, keysTable.arrays(keys)...); err != nil {
		return nil, pgError(err)
	}
	got, err := pgx.CollectRows(r, pgx.RowTo[int64])
	if err != nil {
		return nil, pgError(err)
	}
	isNew := make(map[int64]bool, len(got))
	for _, id := range got {
		isNew[id] = true
	}
	return p.settleNew(items, isNew)
}

func (d *pgDoor) pace(ctx context.Context, systemID string, at time.Time) error {
	tag, err := d.conn.Exec(ctx, "UPDATE systems SET paced_at = $2 WHERE id = $1", systemID, at)
	if err == nil && tag.RowsAffected() != 1 {
		err = errors.New("store: the system is gone")
	}
	return pgError(err)
}
