package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"onefold/internal/automation"
	"onefold/internal/ledger"
	"onefold/internal/store"
	"onefold/internal/work"
)

// The cost of a claim must follow the open work, not the history: the same claims are timed in a database without
// finished items and with many.
const (
	claimBatch  = 500
	claimRounds = 40
)

// claims returns the median time of one claim of a full batch without and with history.
func (b bench) claims(ctx context.Context, history int) (without, with time.Duration, err error) {
	t, drop, err := b.fresh(ctx, contender{})
	if err != nil {
		return 0, 0, err
	}
	defer drop()
	e, err := openOnefold(ctx, t, "books", 0, 10_000)
	if err != nil {
		return 0, 0, err
	}
	defer e.close()
	o := e.(*onefold)
	if without, err = o.claims(ctx, t); err != nil {
		return 0, 0, err
	}
	for at := 0; at < history; at += 100_000 {
		n := min(100_000, history-at)
		var batch pgx.Batch
		for _, statement := range []string{recordKeys, recordDone, recordRevisions, recordAttempts} {
			batch.Queue(statement, 10_000_000+at, n)
		}
		if err := t.pool.SendBatch(ctx, &batch).Close(); err != nil {
			return 0, 0, fmt.Errorf("history: %w", err)
		}
		fmt.Fprintf(os.Stderr, "\rhistory: %d items", at+n)
	}
	fmt.Fprintln(os.Stderr)
	with, err = o.claims(ctx, t)
	return without, with, err
}

const (
	recordDone = `INSERT INTO items (id, company_id, system_id, step, revision, proposed, version, status, reason, attempts,
		open_attempt, open_kind, open_node, before, sends, sends_used, lookups_used, unsettled, resent, misses, absent_by, positive,
		seen_id, seen_number, late_id, external_id, external_number, external_url, evidence, remark, identity,
		look_asked, last_look, last_error, changed_at, assigned_to)
		SELECT i, 1, 'books', 'create', 1, 0, 3, 'confirmed', '', 1, 0, '', '', '', 1, 1, 0, '', false, 0, '', '', '', '', '',
		'old-' || i, 'old-' || i, '', 'answer', '', 'bench', '', '', '', now() - interval '30 days', ''` + newItems
	recordAttempts = `INSERT INTO attempts (item_id, number, kind, late_for, node, asked_by, revision, reference, idem_key, started_at,
		send_by, ended_at, outcome, http_status, identity, external_id)
		SELECT i, 1, 'send', 0, 'node-1', '', 1, 'INV-2026-11-' || i, 'INVOICES-INV-2026-11-' || i || '-CREATE', now() - interval '30 days',
		now() - interval '30 days', now() - interval '30 days', 'accepted', 201, 'bench', 'old-' || i` + newItems
)

// claims records items, works them one claim after the other, and returns the median time of a claim.
func (o *onefold) claims(ctx context.Context, t target) (time.Duration, error) {
	if err := o.record(ctx, claimBatch*claimRounds); err != nil {
		return 0, err
	}
	if _, err := t.pool.Exec(ctx, "VACUUM ANALYZE"); err != nil {
		return 0, err
	}
	if _, err := t.pool.Exec(ctx, "CHECKPOINT"); err != nil {
		return 0, err
	}
	timed := &timedStore{Store: o.store}
	e := automation.NewEngine(automation.Config{Store: timed, Node: "bench", Log: quiet, Batch: claimBatch,
		Connect: func(work.System) (ledger.System, error) { return o.books, nil }})
	for {
		stats, err := e.RunOnce(ctx)
		if err != nil {
			return 0, err
		}
		if stats.Claimed == 0 {
			break
		}
	}
	if len(timed.took) < claimRounds/2 {
		return 0, fmt.Errorf("only %d claims took a full batch of %d", len(timed.took), claimBatch)
	}
	slices.Sort(timed.took)
	return timed.took[len(timed.took)/2], nil
}

// timedStore times the claims of full batches.
type timedStore struct {
	*store.Store
	took []time.Duration
}

func (s *timedStore) Change(ctx context.Context, pick work.Pick, decide func(time.Time, []work.Picked) ([]work.Move, error)) ([]work.Move, error) {
	start := time.Now()
	moves, err := s.Store.Change(ctx, pick, decide)
	if pick.Due != nil && len(moves) == claimBatch {
		s.took = append(s.took, time.Since(start))
	}
	return moves, err
}
