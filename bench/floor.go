package main

import (
	"context"
	_ "embed"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/sync/errgroup"
)

// The floor is what the same row writes cost without any engine: the ids are known, nobody competes, nothing is decided.
// Each batch opens an attempt per item in one transaction and closes it in another, as the engine must.
const (
	floorBatch   = 500
	floorWriters = 4
)

//go:embed floor.sql
var floorSchema string

func floorCase() contender {
	return contender{name: "floor", engine: "prepared batches", items: 250_000,
		note: fmt.Sprintf("batches of %d, %d writers", floorBatch, floorWriters),
		open: func(ctx context.Context, pool *pgxpool.Pool) (engine, error) {
			_, err := pool.Exec(ctx, floorSchema)
			return &floor{pool: pool}, err
		}}
}

type floor struct {
	pool *pgxpool.Pool
	last int64
}

func (f *floor) record(ctx context.Context, n int) error {
	_, err := f.pool.Exec(ctx, `
		INSERT INTO item (id, company_id, automation, business_key, folded_key, step, system_id, reference, key, invoice, due_at, settle_by)
		SELECT i, 1, 'invoices', 'INV-2026-11-' || i, 'inv-2026-11-' || i, 'create', 'sandbox', 'INV-2026-11-' || i,
			'INVOICES-INV-2026-11-' || i || '-CREATE', $3, now(), now() + interval '4 hours'
		FROM generate_series($1::bigint + 1, $1::bigint + $2::bigint) AS i`, f.last, n, floorInvoice)
	return err
}

const floorInvoice = `{"customer_id":"C-1042","currency":"EUR","lines":[{"text":"Subscription, November 2026","quantity":"1","price":"129.00"}],"total":"129.00"}`

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
	openItems = `UPDATE item SET status = 'in_progress', before = 'queued', attempts = 1, open_attempt = 1, open_kind = 'send',
		open_node = 'node-1', open_since = now(), lease_until = now() + interval '37 seconds', sends = 1, sends_used = 1,
		first_sent_at = now(), last_try_at = now(), changed_at = now(), version = version + 1
		FROM unnest($1::bigint[]) AS u(id) WHERE item.id = u.id`
	openAttempts = `INSERT INTO attempt (item_id, number, kind, node, revision, reference, key, started_at, send_by)
		SELECT u.id, 1, 'send', 'node-1', 1, 'INV-2026-11-' || u.id, 'INVOICES-INV-2026-11-' || u.id || '-CREATE', now(), now() + interval '5 seconds'
		FROM unnest($1::bigint[]) AS u(id)`
	closeItems = `UPDATE item SET status = 'confirmed', open_attempt = 0, open_kind = '', open_node = '', open_since = NULL,
		lease_until = NULL, external_id = u.external, external_number = u.external, evidence = 'answer', identity = 'sandbox:1',
		due_at = NULL, changed_at = now(), version = version + 1
		FROM unnest($1::bigint[], $2::text[], $3::text[]) AS u(id, external, answer) WHERE item.id = u.id`
	closeAttempts = `UPDATE attempt SET ended_at = now(), outcome = 'accepted', http_status = 201, identity = 'sandbox:1',
		external_id = u.external, request = '{"reference":"INV-2026-11"}', response = u.answer
		FROM unnest($1::bigint[], $2::text[], $3::text[]) AS u(id, external, answer)
		WHERE attempt.item_id = u.id AND attempt.number = 1`
)

// inTx runs both statements in one transaction, in one round trip.
func (f *floor) inTx(ctx context.Context, first, second string, args ...any) error {
	var batch pgx.Batch // a batch is one transaction
	batch.Queue(first, args...)
	batch.Queue(second, args...)
	return f.pool.SendBatch(ctx, &batch).Close()
}

func (f *floor) done(ctx context.Context) (int, error) {
	return count(ctx, f.pool, "SELECT count(*) FROM item JOIN attempt ON item_id = id WHERE status = 'confirmed' AND outcome = 'accepted'")
}

func (f *floor) close() {}
