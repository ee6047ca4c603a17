package main

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/dbos-inc/dbos-transact-golang/dbos"
	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/sync/errgroup"
)

// DBOS Transact with one workflow of one durable step per item. It offers two ways, and both are measured: workflows
// that wait in a queue, and workflows started by goroutines. In the second DBOS records the workflow as it starts it, so
// the recording is within the measured time.
const (
	dbosConcurrency = 500 // of the queue; 50 to 2000 differ by less than a tenth
	dbosPoll        = time.Millisecond
	dbosGoroutines  = 64
	dbosQueueName   = "bench"
	dbosApp         = "onefold-bench"
	dbosVersion     = "1"
)

func dbosQueueCase() contender {
	return dbosCase("dbos-queue", fmt.Sprintf("queue, WorkerConcurrency %d, polled every %s", dbosConcurrency, dbosPoll), true)
}

func dbosDirectCase() contender {
	return dbosCase("dbos-direct", fmt.Sprintf("RunWorkflow from %d goroutines, recording included", dbosGoroutines), false)
}

func dbosCase(name, note string, queued bool) contender {
	return contender{name: name, engine: "DBOS Transact, one step", note: note, items: 12_000,
		open: func(ctx context.Context, t target) (engine, error) {
			e := &dbosEngine{pool: t.pool, queued: queued}
			// A first start makes the tables.
			app, err := e.prepare(ctx)
			if err != nil {
				return nil, err
			}
			if err = dbos.Launch(app); err == nil && queued {
				_, err = dbos.RegisterQueue(app, dbosQueueName, dbos.WithWorkerConcurrency(dbosConcurrency), dbos.WithQueueBasePollingInterval(dbosPoll))
			}
			e.stop(app)
			return e, err
		}}
}

type dbosEngine struct {
	pool   *pgxpool.Pool
	queued bool
	steps  atomic.Int64
}

// prepare makes all that comes before a launch. The pool is a copy: a shutdown closes it.
func (e *dbosEngine) prepare(ctx context.Context) (dbos.Context, error) {
	pool, err := connect(ctx, e.pool.Config())
	if err != nil {
		return nil, err
	}
	app, err := dbos.NewContext(ctx, dbos.Config{AppName: dbosApp, ApplicationVersion: dbosVersion, ExecutorID: "bench", SystemDBPool: pool, Logger: quiet})
	if err != nil {
		return nil, err
	}
	dbos.RegisterWorkflow(app, e.workflow, dbos.WithWorkflowName("nothing"))
	return app, nil
}

func (e *dbosEngine) stop(app dbos.Context) { dbos.Shutdown(app, 10*time.Second) }

func (e *dbosEngine) workflow(ctx dbos.Context, n int) (int, error) {
	return dbos.RunAsStep(ctx, func(context.Context) (int, error) {
		e.steps.Add(1)
		return n, nil
	})
}

func (e *dbosEngine) record(ctx context.Context, n int) error {
	if !e.queued {
		return nil
	}
	pool, err := connect(ctx, e.pool.Config())
	if err != nil {
		return err
	}
	client, err := dbos.NewClient(ctx, dbos.ClientConfig{AppName: dbosApp, SystemDBPool: pool, Logger: quiet})
	if err != nil {
		return err
	}
	defer dbos.Shutdown(client, 10*time.Second)
	var g errgroup.Group
	g.SetLimit(dbosGoroutines)
	for i := range n {
		g.Go(func() error {
			_, err := dbos.Enqueue[int](client, dbosQueueName, "nothing", i, dbos.WithEnqueueApplicationVersion(dbosVersion))
			return err
		})
	}
	return g.Wait()
}

func (e *dbosEngine) work(ctx context.Context, n int) (time.Duration, error) {
	before, err := e.done(ctx)
	if err != nil {
		return 0, err
	}
	e.steps.Store(0)
	app, err := e.prepare(ctx)
	if err != nil {
		return 0, err
	}
	defer e.stop(app)
	start := time.Now()
	if err := dbos.Launch(app); err != nil {
		return 0, err
	}
	if e.queued {
		err = e.await(ctx, before+n, n)
	} else {
		err = e.runAll(app, n)
	}
	return time.Since(start), err
}

// runAll starts each workflow and waits for its result.
func (e *dbosEngine) runAll(app dbos.Context, n int) error {
	var g errgroup.Group
	g.SetLimit(dbosGoroutines)
	for i := range n {
		g.Go(func() error {
			handle, err := dbos.RunWorkflow(app, e.workflow, i)
			if err != nil {
				return err
			}
			_, err = handle.GetResult()
			return err
		})
	}
	return g.Wait()
}

// await waits until all queued workflows have succeeded. It asks the database only once every step has run.
func (e *dbosEngine) await(ctx context.Context, want, steps int) error {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
		if e.steps.Load() < int64(steps) {
			continue
		}
		if n, err := e.done(ctx); err != nil || n >= want {
			return err
		}
	}
}

func (e *dbosEngine) done(ctx context.Context) (int, error) {
	return count(ctx, e.pool, "SELECT count(*) FROM dbos.workflow_status WHERE status = 'SUCCESS'")
}

func (e *dbosEngine) close() {}
