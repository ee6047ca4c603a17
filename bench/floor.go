package main

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"golang.org/x/sync/errgroup"

	"onefold/migrations"
)

// The floor is what the same row writes cost without any engine: the ids are known, nobody competes, nothing is decided.
// The tables are Onefold's own. Each batch opens an attempt per item in one transaction and closes it in another, as the
// engine must.
const (
	floorBatch   = 500
	floorWriters = 4
)

func floorCase() contender {
	return contender{name: "floor", engine: "the same rows, no engine", items: 200_000,
		note: fmt.Sprintf("prepared batches of %d, %d writers", floorBatch, floorWriters),
		open: func(ctx context.Context, t target) (engine, error) {
			if err := migrate(ctx, t.pool); err != nil {
				return nil, err
			}
			_, err := t.pool.Exec(ctx, `INSERT INTO systems (id, company_id, name, adapter, policy, capabilities, steps, max_in_flight)
				VALUES ('books', 1, 'Books', 'bench', '{}', '{}', 'create', 10000)`)
			return &floor{pool: t.pool}, err
		}}
}

// migrate makes Onefold's own tables.
func migrate(ctx context.Context, pool *pgxpool.Pool) error {
	files, err := migrations.For("postgres")
	if err != nil {
		return err
	}
	db := stdlib.OpenDBFromPool(pool)
	defer db.Close()
	provider, err := goose.NewProvider(goose.DialectPostgres, db, files)
	if err != nil {
		return err
	}
	_, err = provider.Up(ctx)
	return err
}

type floor struct {
	pool *pgxpool.Pool
	last int64
}

func (f *floor) record(ctx context.Context, n int) error {
	var batch pgx.Batch
	for _, statement := range []string{recordKeys, recordItems, recordRevisions} {
		batch.Queue(statement, f.last, n)
	}
	return f.pool.SendBatch(ctx, &batch).Close()
}

func (f *floor) work(ctx context.Context, n int) (time.Duration, error) {
	start := time.Now()
	g, ctx := errgroup.WithContext(ctx)
	batches := make(chan []int64, n/floorBatch+1)
	for at := 0; at < n; at += floorBatch {
		ids := make([]int64, min(floorBatch, n-at))
		for i := range ids {
			ids[i] = f.last + int64(at+i) + 1
		}
		batches <- ids
	}
	close(batches)
	for range floorWriters {
		g.Go(func() error {
			for ids := range batches {
				if err := f.batch(ctx, ids); err != nil {
					return err
				}
			}
			return nil
		})
	}
	err := g.Wait()
	f.last += int64(n)
	return time.Since(start), err
}

// batch opens and closes one attempt for each item.
func (f *floor) batch(ctx context.Context, ids []int64) error {
	if err := f.inTx(ctx, openItems, openAttempts, ids); err != nil {
		return err
	}
	external := make([]string, len(ids))
	answers := make([]string, len(ids))
	for i, id := range ids {
		external[i] = fmt.Sprintf("ext-%d", id)
		answers[i] = fmt.Sprintf(`{"id":"ext-%d","number":"2026-%d","status":"AUTHORISED"}`, id, id)
	}
	return f.inTx(ctx, closeItems, closeAttempts, ids, external, answers)
}

const (
	newItems   = ` FROM generate_series($1::bigint + 1, $1::bigint + $2::bigint) AS i`
	recordKeys = `INSERT INTO item_keys (item_id, company_id, automation, business_key, folded_key, step, steps, system_id,
		reference, idem_key, source, recorder_kind, recorder_id, recorder_name, recorded_at)
		SELECT i, 1, 'invoices', 'INV-2026-11-' || i, 'inv-2026-11-' || i, 'create', 'create', 'books', 'INV-2026-11-' || i,
		'INVOICES-INV-2026-11-' || i || '-CREATE', 'bench', 'token', '1', 'bench', now()` + newItems
	recordItems = `INSERT INTO items (id, company_id, system_id, step, revision, proposed, version, status, reason, attempts,
		open_attempt, open_kind, open_node, before, sends, sends_used, lookups_used, unsettled, resent, misses, absent_by, positive,
		seen_id, seen_number, late_id, external_id, external_number, external_url, evidence, remark, identity, due_at, settle_by,
		look_asked, last_look, last_error, changed_at, assigned_to)
		SELECT i, 1, 'books', 'create', 1, 0, 1, 'queued', '', 0, 0, '', '', '', 0, 0, 0, '', false, 0, '', '', '', '', '', '', '', '',
		'', '', '', now(), now() + interval '4 hours', '', '', '', now(), ''` + newItems
	recordRevisions = `INSERT INTO revisions (item_id, number, customer_id, customer_name, total, currency, invoice, fingerprint, made_by, made_at)
		SELECT i, 1, 'C-1042', 'Bench & Sons Ltd', 129, 'EUR', '{"customer_id":"C-1042","customer_name":"Bench & Sons Ltd",
		"lines":[{"text":"Subscription, November 2026","quantity":"1","price":"129.00"}]}', md5(i::text), 'token:1 bench', now()` + newItems

	openItems = `UPDATE items SET status = 'in_progress', before = 'queued', attempts = 1, open_attempt = 1, open_kind = 'send',
		open_node = 'node-1', open_since = now(), lease_until = now() + interval '37 seconds', due_at = NULL, sends = 1, sends_used = 1,
		first_sent_at = now(), last_try_at = now(), changed_at = now(), version = version + 1
		FROM unnest($1::bigint[]) AS u(id) WHERE items.id = u.id`
	openAttempts = `INSERT INTO attempts (item_id, number, kind, late_for, node, asked_by, revision, reference, idem_key, started_at, send_by)
		SELECT u.id, 1, 'send', 0, 'node-1', '', 1, 'INV-2026-11-' || u.id, 'INVOICES-INV-2026-11-' || u.id || '-CREATE', now(),
		now() + interval '5 seconds' FROM unnest($1::bigint[]) AS u(id)`
	closeItems = `UPDATE items SET status = 'confirmed', open_attempt = 0, open_kind = '', open_node = '', open_since = NULL,
		lease_until = NULL, before = '', external_id = u.external, external_number = u.external, evidence = 'answer', identity = 'books:1',
		settle_by = NULL, changed_at = now(), version = version + 1
		FROM unnest($1::bigint[], $2::text[], $3::text[]) AS u(id, external, answer) WHERE items.id = u.id`
	closeAttempts = `UPDATE attempts SET ended_at = now(), outcome = 'accepted', http_status = 201, identity = 'books:1',
		external_id = u.external, external_no = u.external, request = '{"reference":"INV-2026-11"}', response = u.answer
		FROM unnest($1::bigint[], $2::text[], $3::text[]) AS u(id, external, answer)
		WHERE attempts.item_id = u.id AND attempts.number = 1`
)

// inTx runs both statements in one transaction, in one round trip.
func (f *floor) inTx(ctx context.Context, first, second string, args ...any) error {
	var batch pgx.Batch // a batch is one transaction
	batch.Queue(first, args...)
	batch.Queue(second, args...)
	return f.pool.SendBatch(ctx, &batch).Close()
}

func (f *floor) done(ctx context.Context) (int, error) {
	return count(ctx, f.pool, "SELECT count(*) FROM items JOIN attempts ON item_id = id WHERE status = 'confirmed' AND outcome = 'accepted'")
}

func (f *floor) close() {}
