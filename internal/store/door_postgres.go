package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"

	"onefold/internal/work"
)

// pgDoor is the write door on PostgreSQL. It speaks to the driver itself: whole columns go over as arrays, and
// independent statements share one trip.
type pgDoor struct {
	conn    *pgxpool.Conn
	at      time.Time
	backend *postgres
	sent    *work.Attempt // a send that this transaction opens; nil: none
	decided *work.Act     // a person's decision that it holds; nil: none
}

func (p *postgres) begin(ctx context.Context) (door, error) {
	conn, err := p.pool.Acquire(ctx)
	if err != nil {
		return nil, p.explain(err)
	}
	d := &pgDoor{conn: conn, backend: p}
	var b pgx.Batch
	b.Queue("BEGIN")
	b.Queue("SELECT " + pgByIndex)
	b.Queue("SELECT clock_timestamp()").QueryRow(func(r pgx.Row) error { return r.Scan(stamp{&d.at}) })
	if err := conn.SendBatch(ctx, &b).Close(); err != nil {
		d.rollback()
		return nil, p.explain(err)
	}
	return d, nil
}

// beginClaim also makes sure, in the same trip, that no dump was loaded over the database since: its items would be sent before
// anybody had looked.
func (p *postgres) beginClaim(ctx context.Context, due work.PickDue, now time.Time) (door, *lockedSystem, error) {
	conn, err := p.pool.Acquire(ctx)
	if err != nil {
		return nil, nil, p.explain(err)
	}
	d := &pgDoor{conn: conn, backend: p}
	ids, attempts := make([]int64, len(due.Ended)), make([]int64, len(due.Ended))
	for i, e := range due.Ended {
		ids[i], attempts[i] = e.ItemID, int64(e.Attempt)
	}
	var s lockedSystem
	var b pgx.Batch
	b.Queue("BEGIN")
	// Due items are walked in their order, to the limit. A planner that believes that there are few would rather read and
	// sort them all.
	b.Queue("SELECT " + pgByIndex + ", set_config('enable_sort', 'off', true), set_config('enable_bitmapscan', 'off', true)")
	// The lock is taken only if something is due: a server that looks in vain writes nothing.
	b.Queue("SELECT "+systemColumns+", paced_at FROM systems WHERE id = $1 AND EXISTS (SELECT 1 FROM items"+
		" WHERE system_id = $1 AND due_at <= coalesce($2, statement_timestamp()) AND due_at >= $3 AND lease_until IS NULL) FOR NO KEY UPDATE",
		due.SystemID, p.at(now), pgFrom(due)).QueryRow(func(r pgx.Row) error { return scanSystem(r, &s.System, stamp{&s.paced}) })
	// Statements of their own: they must see what the lock was waited for.
	b.Queue("SELECT count(*) - (SELECT count(*) FROM unnest($2::bigint[], $3::bigint[]) AS e (id, attempt) JOIN items o ON o.id = e.id"+
		" WHERE o.open_attempt = e.attempt AND o.system_id = $1) FROM items WHERE system_id = $1 AND lease_until IS NOT NULL",
		due.SystemID, ids, attempts).QueryRow(func(r pgx.Row) error { return r.Scan(&s.inFlight) })
	var table string
	b.Queue("SELECT clock_timestamp(), coalesce(to_regclass('installation')::oid::text, '')").QueryRow(func(r pgx.Row) error { return r.Scan(stamp{&d.at}, &table) })
	if err := conn.SendBatch(ctx, &b).Close(); err != nil {
		d.rollback()
		if errors.Is(err, pgx.ErrNoRows) {
			return nil, nil, nil
		}
		return nil, nil, p.explain(err)
	}
	if known := p.identity.Load(); known != nil && known.table != table {
		d.rollback()
		if err := p.recogniseNow(ctx); err != nil {
			return nil, nil, err
		}
		return nil, nil, fmt.Errorf("%w: a dump was loaded over the database", errAgain)
	}
	return d, &s, nil
}

// pgByIndex keeps the planner from reading whole tables in a transaction of the door: each of its statements is about a few
// hundred rows by their keys. Without fresh statistics it takes an open attempt for a rare thing and walks all of them. With
// that there is one good plan for each statement, and to plan it once is enough.
const pgByIndex = "set_config('enable_seqscan', 'off', true), set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true)," +
	" set_config('plan_cache_mode', 'force_generic_plan', true)"

func (d *pgDoor) now() time.Time { return d.at }

func (d *pgDoor) commit(ctx context.Context) error {
	tag, err := d.conn.Exec(ctx, "COMMIT")
	if err == nil && tag.String() != "COMMIT" {
		err = errors.New("the transaction was rolled back")
	}
	if err != nil {
		return fmt.Errorf("commit: %w", pgError(err))
	}
	d.conn.Release()
	d.conn = nil
	d.backend.remember(d.sent, d.decided)
	return nil
}

func (d *pgDoor) rollback() {
	if d.conn == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	_, _ = d.conn.Exec(ctx, "ROLLBACK") // if it fails the pool drops the connection
	d.conn.Release()
	d.conn = nil
}

const pgLock = " FOR NO KEY UPDATE OF i"

func (d *pgDoor) items(ctx context.Context, where string, args ...any) ([]work.Item, error) {
	r, err := d.conn.Query(ctx, pgItems+where, args...)
	if err != nil {
		return nil, pgError(err)
	}
	defer r.Close()
	items, err := scanItems(r)
	return items, pgError(err)
}

func (d *pgDoor) pickDue(ctx context.Context, due work.PickDue, findOnly bool, now time.Time, limit int) ([]work.Item, error) {
	return d.items(ctx, "WHERE i.system_id = $1 AND i.due_at <= $2 AND i.due_at >= $4 AND i.lease_until IS NULL"+onlyLooks(findOnly)+
		" ORDER BY i.due_at, i.id LIMIT $3"+pgLock+" SKIP LOCKED", due.SystemID, now, limit, pgFrom(due))
}

// pgFrom is where a claim begins to look through the index of what is due. It keeps an entry for each item that was claimed, until
// the next vacuum; after 240,000 items they are 2,000 pages, which each claim would read twice.
func pgFrom(due work.PickDue) pgtype.Timestamptz {
	if due.From.IsZero() {
		return pgtype.Timestamptz{InfinityModifier: pgtype.NegativeInfinity, Valid: true}
	}
	return pgtype.Timestamptz{Time: due.From, Valid: true}
}

func (d *pgDoor) pick(ctx context.Context, pick work.Pick, now time.Time) ([]work.Item, error) {
	switch {
	case pick.Expired > 0:
		return d.items(ctx, "WHERE i.lease_until <= $1 ORDER BY i.lease_until LIMIT $2"+pgLock+" SKIP LOCKED", now, pick.Expired)
	case len(pick.IDs) > 0:
		return d.items(ctx, "WHERE i.id = ANY ($1) ORDER BY i.id"+pgLock, pick.IDs)
	case len(pick.Keys) > 0:
		companies, automations, keys, steps := make([]int64, len(pick.Keys)), make([]string, len(pick.Keys)), make([]string, len(pick.Keys)), make([]string, len(pick.Keys))
		for i, k := range pick.Keys {
			companies[i], automations[i], keys[i], steps[i] = k.CompanyID, k.Automation, k.FoldedKey, k.Step
		}
		return d.items(ctx, `WHERE i.id = ANY (ARRAY (SELECT h.item_id FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[]) AS w (company, automation, key, step)
			CROSS JOIN LATERAL (SELECT item_id FROM item_keys WHERE folded_key = w.key AND company_id = w.company AND automation = w.automation
				AND step = w.step OFFSET 0) h)) ORDER BY i.id`+pgLock, companies, automations, keys, steps)
	case pick.System != nil:
		w := pick.System
		return d.items(ctx, "WHERE i.id > $1 AND i.lease_until IS NULL AND i.status IN ('queued', 'failed', 'pending')"+
			" AND ($2 = '' OR i.system_id = $2) AND ($3 = '' OR k.source = $3) ORDER BY i.id LIMIT $4"+pgLock, w.After, w.SystemID, w.Source, w.Limit)
	}
	return nil, nil
}

func (d *pgDoor) systems(ctx context.Context) ([]work.System, error) {
	r, err := d.conn.Query(ctx, "SELECT "+systemColumns+" FROM systems ORDER BY id")
	if err != nil {
		return nil, pgError(err)
	}
	defer r.Close()
	list, err := scanSystems(r)
	return list, pgError(err)
}

// onlyLooks is the claim's filter for items whose next move is a lookup.
func onlyLooks(yes bool) string {
	if yes {
		return " AND (i.status NOT IN ('queued', 'failed') OR i.look_asked <> '')"
	}
	return ""
}

// pgError names what the store acts on: refusals of unique indexes, errors after which to try again, and a database that is
// away.
func pgError(err error) error {
	var pe *pgconn.PgError
	if !errors.As(err, &pe) {
		return away(err)
	}
	switch pe.Code {
	case "23505": // unique_violation
		return &conflict{index: pe.ConstraintName, err: err}
	case "40001", "40P01", "55P03": // serialization_failure, deadlock_detected, lock_not_available
		return fmt.Errorf("%w: %w", errAgain, err)
	}
	return away(err)
}
