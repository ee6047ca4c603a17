package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"onefold/internal/review"
	"onefold/internal/store"
	"onefold/internal/work"
)

// What the pages of the review queue ask the store, beside a long history: the time of each call, as the service makes it.
const (
	pageRounds  = 60
	pageWarm    = 3
	pageLongest = 10 * time.Second
	pageBar     = 50 * time.Millisecond // what the 95th percentile is held to
)

// pageResult is the time of one kind of call.
type pageResult struct {
	Case     string  `json:"case"`
	Database string  `json:"database"`
	Items    int     `json:"items"`
	Rows     int     `json:"rows"` // of the last call
	P50      float64 `json:"p50_ms"`
	P95      float64 `json:"p95_ms"`
	Worst    float64 `json:"worst_ms"`
}

// pages measures on PostgreSQL with n items and on SQLite with a fifth, as far as on names them. With reuse the database
// of the last run is measured again.
func (b bench) pages(ctx context.Context, on []string, n int, reuse bool, calls *regexp.Regexp, report func(pageResult)) error {
	now := time.Now().UTC().Truncate(time.Hour)
	for _, database := range on {
		var err error
		switch database {
		case "postgresql":
			err = b.pagesPostgres(ctx, world{n, now}, reuse, calls, report)
		case "sqlite":
			err = b.pagesSQLite(ctx, world{n / 5, now}, reuse, calls, report)
		default:
			err = errors.New("-on knows postgresql and sqlite")
		}
		if err != nil {
			return fmt.Errorf("%s: %w", database, err)
		}
	}
	return nil
}

func (b bench) pagesPostgres(ctx context.Context, w world, reuse bool, calls *regexp.Regexp, report func(pageResult)) error {
	config, err := pgxpool.ParseConfig(b.admin)
	if err != nil {
		return err
	}
	config.ConnConfig.Database, config.MaxConns = pagesDatabase, 4
	config.ConnConfig.RuntimeParams["session_replication_role"] = "replica" // our rows refer to each other rightly
	if !reuse {
		if err := b.exec(ctx, "DROP DATABASE IF EXISTS "+pagesDatabase+" WITH (FORCE)", "CREATE DATABASE "+pagesDatabase); err != nil {
			return err
		}
	}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return err
	}
	defer pool.Close()
	if !reuse {
		if err := migrate(ctx, pool); err != nil {
			return err
		}
		if err := fillPostgres(ctx, pool, w); err != nil {
			return err
		}
	}
	if err := w.longPostgres(ctx, pool); err != nil {
		return err
	}
	url, err := b.pagesURL()
	if err != nil {
		return err
	}
	return measurePages(ctx, url, "postgresql", w, calls, report)
}

const pagesDatabase = "onefold_bench_pages"

// pagesURL is the address of the filled database.
func (b bench) pagesURL() (string, error) {
	config, err := pgxpool.ParseConfig(b.admin)
	if err != nil {
		return "", err
	}
	c := config.ConnConfig
	return fmt.Sprintf("postgres://%s:%s@%s:%d/%s?sslmode=disable", c.User, c.Password, c.Host, c.Port, pagesDatabase), nil
}

func (b bench) pagesSQLite(ctx context.Context, w world, reuse bool, calls *regexp.Regexp, report func(pageResult)) error {
	path := filepath.Join(os.TempDir(), "onefold-bench-pages.db")
	if !reuse {
		for _, end := range []string{"", "-wal", "-shm", "-mark"} {
			if err := os.Remove(path + end); err != nil && !errors.Is(err, os.ErrNotExist) {
				return err
			}
		}
		s, err := store.Open(ctx, store.Config{URL: path, Node: "bench"}) // makes the tables
		if err != nil {
			return err
		}
		if err := s.Close(); err != nil {
			return err
		}
	}
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=synchronous(OFF)")
	if err != nil {
		return err
	}
	db.SetMaxOpenConns(1)
	if !reuse {
		err = w.fill(ctx, sqliteFiller{db})
	}
	if err == nil {
		err = w.longSQLite(ctx, db)
	}
	if err := errors.Join(err, db.Close()); err != nil {
		return err
	}
	return measurePages(ctx, path, "sqlite", w, calls, report)
}

// measurePages times each kind of call, one after the other.
func measurePages(ctx context.Context, url, database string, w world, only *regexp.Regexp, report func(pageResult)) error {
	s, err := store.Open(ctx, store.Config{URL: url, Node: "bench"})
	if err != nil {
		return err
	}
	defer s.Close()
	calls := pageCalls{review.New(s, 1), w, work.Actor{Kind: work.Person, ID: "1", Name: "Bench", Roles: []work.Role{work.Admin}}}
	for _, call := range calls.all() {
		if !only.MatchString(call.name) {
			continue
		}
		var took []time.Duration
		rows, began := 0, time.Now()
		for round := range pageWarm + pageRounds {
			if time.Since(began) > pageLongest && len(took) >= pageRounds/3 {
				break // it is far over the bar, and that is known
			}
			if call.before != nil {
				if err := call.before(ctx, round); err != nil {
					return fmt.Errorf("%s: %w", call.name, err)
				}
			}
			start := time.Now()
			if rows, err = call.run(ctx, round); err != nil {
				return fmt.Errorf("%s: %w", call.name, err)
			}
			if round >= pageWarm {
				took = append(took, time.Since(start))
			}
		}
		slices.Sort(took)
		ms := func(d time.Duration) float64 { return round(float64(d)/1e6, 2) }
		report(pageResult{Case: call.name, Database: database, Items: w.n, Rows: rows, P50: ms(took[len(took)/2]), P95: ms(took[len(took)*95/100]), Worst: ms(took[len(took)-1])})
	}
	return nil
}
