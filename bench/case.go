package main

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// contender is one case of the comparison.
type contender struct {
	name   string // of the case
	engine string // as shown
	note   string // settings that matter
	items  int    // so many take five to ten seconds on two cores
	open   func(ctx context.Context, t target) (engine, error)
	sqlite bool    // runs on an SQLite file instead
	ideal  float64 // items a second that cannot be passed; 0: none
}

// target is the fresh database of one run.
type target struct {
	url   string
	pool  *pgxpool.Pool // nil on SQLite
	conns int
}

// engine is a contender at work in one fresh database.
type engine interface {
	// record stores n items to be worked.
	record(ctx context.Context, n int) error
	// work starts the workers and returns how long it took until all recorded items were done and committed.
	// Stopping the workers is not measured.
	work(ctx context.Context, n int) (time.Duration, error)
	// done counts the finished items in the database, to check what work says.
	done(ctx context.Context) (int, error)
	close()
}

func contenders() []contender {
	return append(engineCases(), floorCase(), riverCase(), dbosQueueCase(), dbosDirectCase())
}

type bench struct {
	admin string
	conns int
}

// once runs a contender in a database of its own.
func (b bench) once(ctx context.Context, c contender, items int) (time.Duration, error) {
	t, drop, err := b.fresh(ctx, c)
	if err != nil {
		return 0, err
	}
	defer drop()
	e, err := c.open(ctx, t)
	if err != nil {
		return 0, err
	}
	defer e.close()

	var took time.Duration
	warm := max(items/10, 50)
	for _, n := range []int{warm, items} {
		if err := e.record(ctx, n); err != nil {
			return 0, fmt.Errorf("record: %w", err)
		}
		if t.pool != nil {
			if err := b.exec(ctx, "CHECKPOINT"); err != nil {
				return 0, err
			}
			if _, err := t.pool.Exec(ctx, "VACUUM ANALYZE"); err != nil {
				return 0, err
			}
		}
		if took, err = e.work(ctx, n); err != nil {
			return 0, fmt.Errorf("work: %w", err)
		}
	}
	switch n, err := e.done(ctx); {
	case err != nil:
		return 0, err
	case n != warm+items:
		return 0, fmt.Errorf("%d items are done in the database, not %d", n, warm+items)
	}
	return took, nil
}

// fresh makes an empty database.
func (b bench) fresh(ctx context.Context, c contender) (target, func(), error) {
	if c.sqlite {
		dir, err := os.MkdirTemp("", "onefold-bench-")
		return target{url: filepath.Join(dir, "bench.db"), conns: b.conns}, func() { os.RemoveAll(dir) }, err
	}
	const database = "onefold_bench"
	if err := b.exec(ctx, "DROP DATABASE IF EXISTS "+database+" WITH (FORCE)", "CREATE DATABASE "+database); err != nil {
		return target{}, nil, err
	}
	config, err := pgxpool.ParseConfig(b.admin)
	if err != nil {
		return target{}, nil, err
	}
	config.ConnConfig.Database = database
	config.MaxConns = int32(b.conns)
	address, err := url.Parse(b.admin)
	if err != nil {
		return target{}, nil, err
	}
	address.Path = "/" + database
	pool, err := connect(ctx, config)
	if err != nil {
		return target{}, nil, err
	}
	return target{url: address.String(), pool: pool, conns: b.conns}, pool.Close, nil
}

// connect opens every connection of a pool, so that connecting is not measured.
func connect(ctx context.Context, config *pgxpool.Config) (*pgxpool.Pool, error) {
	config.MinConns = config.MaxConns
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	held := make([]*pgxpool.Conn, 0, config.MaxConns)
	for range config.MaxConns {
		conn, err := pool.Acquire(ctx)
		if err != nil {
			break
		}
		held = append(held, conn)
	}
	for _, conn := range held {
		conn.Release()
	}
	if len(held) < int(config.MaxConns) {
		pool.Close()
		return nil, fmt.Errorf("only %d of %d connections could be opened", len(held), config.MaxConns)
	}
	return pool, nil
}

func (b bench) exec(ctx context.Context, statements ...string) error {
	conn, err := pgx.Connect(ctx, b.admin)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	for _, s := range statements {
		if _, err := conn.Exec(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

func (b bench) version(ctx context.Context) (v string, err error) {
	conn, err := pgx.Connect(ctx, b.admin)
	if err != nil {
		return "", err
	}
	defer conn.Close(ctx)
	return v, conn.QueryRow(ctx, "SELECT current_setting('server_version')").Scan(&v)
}

// count runs a counting query, planned anew: the tables may have been empty when it was planned last.
func count(ctx context.Context, pool *pgxpool.Pool, query string) (n int, err error) {
	return n, pool.QueryRow(ctx, query, pgx.QueryExecModeSimpleProtocol).Scan(&n)
}
