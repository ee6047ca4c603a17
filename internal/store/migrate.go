package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/pressly/goose/v3"

	"onefold/migrations"
)

// bringUp runs the migrations that are missing, or with skip refuses. The caller holds the lock that keeps other servers
// from doing the same.
func bringUp(ctx context.Context, dialect goose.Dialect, folder string, db *sql.DB, skip bool) error {
	files, err := migrations.For(folder)
	if err != nil {
		return fmt.Errorf("migrations: %w", err)
	}
	provider, err := goose.NewProvider(dialect, db, files)
	if err != nil {
		return fmt.Errorf("migrations: %w", err)
	}
	known := newestMigration
	version, err := provider.GetDBVersion(ctx)
	switch {
	case err != nil:
		return fmt.Errorf("read the schema's version: %w", err)
	case version > known:
		if needs := schemaNeeds(ctx, db); needs > known {
			return fmt.Errorf("%w: its schema is number %d, this version knows up to %d", ErrNewerSchema, version, known)
		}
		return nil // the next version is being rolled out, and tolerates us
	case version == known:
		return nil
	case skip:
		return fmt.Errorf("%w: its schema is number %d, this version needs %d; run the migrate command", ErrNotMigrated, version, known)
	}
	if _, err := provider.Up(ctx); err != nil {
		return fmt.Errorf("bring the schema up to date: %w", err)
	}
	return nil
}

// newestMigration is the number of the last migration that this program knows.
var newestMigration = func() (newest int64) {
	files, err := migrations.For("postgres")
	if err != nil {
		return 0
	}
	names, _ := fs.Glob(files, "*.sql")
	for _, name := range names {
		number, _, _ := strings.Cut(name, "_")
		n, _ := strconv.ParseInt(number, 10, 64)
		newest = max(newest, n)
	}
	return newest
}()

// schemaNeeds is the migration that a program must know to run on the database's schema. Unless the database says so, it
// is one that nobody knows.
func schemaNeeds(ctx context.Context, db *sql.DB) (version int64) {
	if db.QueryRowContext(ctx, "SELECT version FROM schema_needs").Scan(&version) != nil {
		return math.MaxInt64
	}
	return version
}

const migrateLock = 0x6f6e65666f6c64 // "onefold"

func (p *postgres) migrate(ctx context.Context, skip bool) (err error) {
	conn, err := p.pool.Acquire(ctx)
	if err != nil {
		return p.explain(err)
	}
	defer conn.Release()
	// Not pg_advisory_lock: a statement that waits holds a snapshot, for which the other server's CREATE INDEX CONCURRENTLY
	// would wait in turn.
	for mine := false; !mine; {
		if err := conn.QueryRow(ctx, "SELECT pg_try_advisory_lock($1)", migrateLock).Scan(&mine); err != nil {
			return fmt.Errorf("wait for another server's migration: %w", pgError(err))
		}
		if !mine {
			if err := wait(ctx, 200*time.Millisecond); err != nil {
				return fmt.Errorf("wait for another server's migration: %w", err)
			}
		}
	}
	defer func() {
		_, unlockErr := conn.Exec(context.WithoutCancel(ctx), "SELECT pg_advisory_unlock($1)", migrateLock)
		err = errors.Join(err, unlockErr)
	}()
	return bringUp(ctx, goose.DialectPostgres, "postgres", p.std, skip)
}

func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// migrate holds an exclusive lock on a file beside the database: a lock on the database itself would keep out the
// migrations too, which commit one by one.
func (l *lite) migrate(ctx context.Context, skip bool) (err error) {
	lock, err := sql.Open("sqlite", "file:"+escaped(l.path+".lock")+"?_pragma=busy_timeout(60000)&_txlock=exclusive")
	if err != nil {
		return fmt.Errorf("wait for another server's migration: %w", err)
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	tx, err := lock.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("wait for another server's migration: %w", sqliteError(err))
	}
	defer tx.Rollback() //nolint:errcheck // nothing was written
	return bringUp(ctx, goose.DialectSQLite3, "sqlite", l.extra, skip)
}
