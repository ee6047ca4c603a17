package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
)

// River with jobs that do nothing. The settings are those of River's own benchmark (`river bench`), which its authors
// found fastest; the completer that writes results in batches is River's default. As there, an event per job counts the
// finished ones, since only that tells of jobs that the completer has committed.
const (
	riverWorkers  = 2_000
	riverCooldown = 2 * time.Millisecond
	riverPoll     = 20 * time.Millisecond
)

func riverCase() contender {
	return contender{name: "river", engine: "River, no-op jobs", items: 200_000,
		note: fmt.Sprintf("MaxWorkers %d, FetchCooldown %s, FetchPollInterval %s", riverWorkers, riverCooldown, riverPoll),
		open: func(ctx context.Context, t target) (engine, error) {
			driver := riverpgxv5.New(t.pool)
			migrator, err := rivermigrate.New(driver, &rivermigrate.Config{Logger: quiet})
			if err != nil {
				return nil, err
			}
			if _, err := migrator.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
				return nil, err
			}
			return &riverEngine{pool: t.pool}, nil
		}}
}

var quiet = slog.New(slog.NewTextHandler(io.Discard, nil))

type riverEngine struct{ pool *pgxpool.Pool }

func (e *riverEngine) client() (*river.Client[pgx.Tx], error) {
	workers := river.NewWorkers()
	river.AddWorker(workers, river.WorkFunc(func(context.Context, *river.Job[nothing]) error { return nil }))
	return river.NewClient(riverpgxv5.New(e.pool), &river.Config{
		FetchCooldown:     riverCooldown,
		FetchPollInterval: riverPoll,
		Logger:            quiet,
		Queues:            map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: riverWorkers}},
		Workers:           workers,
	})
}

func (e *riverEngine) record(ctx context.Context, n int) error {
	client, err := e.client()
	if err != nil {
		return err
	}
	for at := 0; at < n; at += 5_000 {
		params := make([]river.InsertManyParams, min(5_000, n-at))
		for i := range params {
			params[i].Args = nothing{Number: at + i}
		}
		if _, err := client.InsertManyFast(ctx, params); err != nil {
			return err
		}
	}
	return nil
}

func (e *riverEngine) work(ctx context.Context, n int) (time.Duration, error) {
	client, err := e.client()
	if err != nil {
		return 0, err
	}
	events, cancel := client.SubscribeConfig(&river.SubscribeConfig{
		ChanSize: n, // none may be dropped
		Kinds:    []river.EventKind{river.EventKindJobCompleted, river.EventKindJobFailed, river.EventKindJobCancelled},
	})
	defer cancel()
	start := time.Now()
	if err := client.Start(ctx); err != nil {
		return 0, err
	}
	for range n {
		select {
		case <-ctx.Done():
			return 0, ctx.Err()
		case event := <-events:
			if event.Kind != river.EventKindJobCompleted {
				return 0, fmt.Errorf("job %d: %s", event.Job.ID, event.Kind)
			}
		}
	}
	took := time.Since(start)
	return took, client.Stop(ctx)
}

func (e *riverEngine) done(ctx context.Context) (int, error) {
	return count(ctx, e.pool, "SELECT count(*) FROM river_job WHERE state = 'completed'")
}

func (e *riverEngine) close() {}

// nothing is a job without work.
type nothing struct {
	Number int `json:"number"`
}

func (nothing) Kind() string { return "nothing" }
