package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"onefold/internal/work"
)

// sqliteDoor is the write door on SQLite: one writer at a time, which is SQLite's own rule.
type sqliteDoor struct {
	lite *lite
	open bool
	at   time.Time
	gen  int64 // the generation after this transaction; 0: not moved
}

func (l *lite) begin(ctx context.Context) (door, error) {
	d, err := l.take(ctx)
	if err != nil {
		return nil, err
	}
	return d, nil
}

// take waits for the turn to write.
func (l *lite) take(ctx context.Context) (*sqliteDoor, error) {
	if err := l.enter(ctx); err != nil {
		return nil, err
	}
	d := &sqliteDoor{lite: l, open: true}
	if _, err := d.exec(ctx, "BEGIN IMMEDIATE"); err != nil {
		d.open = false
		l.leave()
		return nil, l.explain(err)
	}
	d.at = machineNow()
	return d, nil
}

func (l *lite) beginClaim(ctx context.Context, pick work.PickDue, now time.Time) (door, *lockedSystem, error) {
	if now.IsZero() {
		now = machineNow()
	}
	var due bool
	err := l.reads.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM items WHERE system_id = ? AND due_at <= ? AND lease_until IS NULL)",
		pick.SystemID, now.UnixMicro()).Scan(&due)
	if err != nil || !due {
		return nil, nil, l.explain(err)
	}
	d, err := l.take(ctx)
	if err != nil {
		return nil, nil, err
	}
	s, err := d.lockSystem(ctx, pick.SystemID, pick.Ended)
	if err != nil {
		d.rollback()
		return nil, nil, err
	}
	return d, &s, nil
}

func (d *sqliteDoor) now() time.Time { return d.at }

func (d *sqliteDoor) commit(context.Context) error {
	// No context: whether a commit went through must not be a matter of chance.
	if _, err := d.exec(context.Background(), "COMMIT"); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	d.open = false
	defer d.lite.leave()
	if d.gen > 0 {
		return d.lite.mark.write(d.gen)
	}
	return nil
}

func (d *sqliteDoor) rollback() {
	if !d.open {
		return
	}
	d.open = false
	_, _ = d.exec(context.Background(), "ROLLBACK")
	d.lite.leave()
}

// stmt is the statement, prepared once on the one writing connection.
func (d *sqliteDoor) stmt(ctx context.Context, text string) (*sql.Stmt, error) {
	if s := d.lite.prepared[text]; s != nil {
		return s, nil
	}
	s, err := d.lite.writer.PrepareContext(ctx, text)
	if err != nil {
		return nil, sqliteError(err)
	}
	d.lite.prepared[text] = s
	return s, nil
}

func (d *sqliteDoor) exec(ctx context.Context, text string, args ...any) (int64, error) {
	s, err := d.stmt(ctx, text)
	if err != nil {
		return 0, err
	}
	r, err := s.ExecContext(ctx, args...)
	if err != nil {
		return 0, sqliteError(err)
	}
	return r.RowsAffected()
}

// lockSystem reads the system: nobody else writes now. Ended calls are not in flight.
func (d *sqliteDoor) lockSystem(ctx context.Context, id string, ended []work.EndedCall) (lockedSystem, error) {
	var s lockedSystem
	q, err := d.stmt(ctx, "SELECT "+systemColumns+", paced_at FROM systems WHERE id = ?")
	if err != nil {
		return s, err
	}
	if err := scanSystem(q.QueryRowContext(ctx, id), &s.System, stamp{&s.paced}); err != nil {
		if errors.Is(err, sql.ErrNoRows) {
			return s, fmt.Errorf("%w: %q", ErrSystemUnknown, id)
		}
		return s, sqliteError(err)
	}
	list, err := json.Marshal(ended)
	if err != nil {
		return s, err
	}
	if q, err = d.stmt(ctx, "SELECT count(*) - (SELECT count(*) FROM json_each(?2) e JOIN items o ON o.id = e.value ->> 'ItemID'"+
		" WHERE o.open_attempt = e.value ->> 'Attempt' AND o.system_id = ?1) FROM items WHERE system_id = ?1 AND lease_until IS NOT NULL"); err != nil {
		return s, err
	}
	return s, sqliteError(q.QueryRowContext(ctx, id, string(list)).Scan(&s.inFlight))
}

func (d *sqliteDoor) items(ctx context.Context, where string, args ...any) ([]work.Item, error) {
	q, err := d.stmt(ctx, sqliteItems+where)
	if err != nil {
		return nil, err
	}
	r, err := q.QueryContext(ctx, args...)
	if err != nil {
		return nil, sqliteError(err)
	}
	defer r.Close() //nolint:errcheck // read only
	items, err := scanItems(r)
	return items, sqliteError(err)
}

// pickDue needs no hint where to begin: what is claimed is out of the index at once.
func (d *sqliteDoor) pickDue(ctx context.Context, due work.PickDue, findOnly bool, now time.Time, limit int) ([]work.Item, error) {
	return d.items(ctx, "WHERE i.system_id = ? AND i.due_at <= ? AND i.lease_until IS NULL"+onlyLooks(findOnly)+
		" ORDER BY i.due_at, i.id LIMIT ?", due.SystemID, now.UnixMicro(), limit)
}

func (d *sqliteDoor) pick(ctx context.Context, pick work.Pick, now time.Time) ([]work.Item, error) {
	switch {
	case pick.Expired > 0:
		return d.items(ctx, "WHERE i.lease_until <= ? ORDER BY i.lease_until LIMIT ?", now.UnixMicro(), pick.Expired)
	case len(pick.IDs) > 0:
		ids, err := json.Marshal(pick.IDs)
		if err != nil {
			return nil, err
		}
		return d.items(ctx, "WHERE i.id IN (SELECT value FROM json_each(?)) ORDER BY i.id", string(ids))
	case len(pick.Keys) > 0:
		var items []work.Item
		for _, k := range pick.Keys {
			more, err := d.items(ctx, "WHERE i.id = (SELECT item_id FROM item_keys WHERE folded_key = ? AND company_id = ? AND automation = ? AND step = ?)",
				k.FoldedKey, k.CompanyID, k.Automation, k.Step)
			if err != nil {
				return nil, err
			}
			items = append(items, more...)
		}
		return items, nil
	case pick.System != nil:
		w := pick.System
		return d.items(ctx, "WHERE i.id > ?1 AND i.lease_until IS NULL AND i.status IN ('queued', 'failed', 'pending')"+
			" AND (?2 = '' OR i.system_id = ?2) AND (?3 = '' OR k.source = ?3) ORDER BY i.id LIMIT ?4", w.After, w.SystemID, w.Source, w.Limit)
	}
	return nil, nil
}

func (d *sqliteDoor) systems(ctx context.Context) ([]work.System, error) {
	q, err := d.stmt(ctx, "SELECT "+systemColumns+" FROM systems ORDER BY id")
	if err != nil {
		return nil, err
	}
	r, err := q.QueryContext(ctx)
	if err != nil {
		return nil, sqliteError(err)
	}
	defer r.Close() //nolint:errcheck // read only
	list, err := scanSystems(r)
	return list, sqliteError(err)
}

// sqliteError names what the store acts on. SQLite tells the index in the text only.
func sqliteError(err error) error {
	var se *sqlite.Error
	if !errors.As(err, &se) {
		return err
	}
	switch se.Code() {
	case sqlite3.SQLITE_CONSTRAINT_UNIQUE, sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY:
		c := &conflict{err: err}
		for _, index := range []string{"items_external", "item_keys_reference", "item_keys_key"} {
			if strings.Contains(err.Error(), "index '"+index+"'") {
				c.index = index
			}
		}
		return c
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_BUSY_SNAPSHOT:
		return fmt.Errorf("%w: %w", errAgain, away(err))
	}
	return away(err)
}
