package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"gorm.io/gorm"
	_ "modernc.org/sqlite" // registers "sqlite"
)

// lite is the backend on SQLite: one file for one machine.
type lite struct {
	path string
	cfg  Config

	reads  *sql.DB
	writes *sql.DB // one connection, the writer
	writer *sql.Conn
	// turn is held by whoever writes; prepared belongs to it.
	turn     chan struct{}
	prepared map[string]*sql.Stmt

	ormReads, ormWrites *gorm.DB
	extra               *sql.DB // gorm's writing connection
	mark                *mark
}

func openSQLite(ctx context.Context, path string, cfg Config) (*lite, error) {
	if path == "" || strings.HasPrefix(path, ":memory:") || strings.Contains(path, "?") {
		return nil, fmt.Errorf("the database must be a plain file, not %q", path)
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("the database file: %w", err)
	}
	if info, err := os.Stat(filepath.Dir(path)); err != nil || !info.IsDir() {
		return nil, fmt.Errorf("the database file %s cannot be made: its folder does not exist", path)
	}
	l := &lite{path: path, cfg: cfg, turn: make(chan struct{}, 1), prepared: map[string]*sql.Stmt{}}
	open := func(conns int, more string) *sql.DB {
		dsn := url.URL{Scheme: "file", Opaque: escaped(path),
			RawQuery: "_pragma=busy_timeout(15000)&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=foreign_keys(1)" + more}
		db, openErr := sql.Open("sqlite", dsn.String())
		err = errors.Join(err, openErr)
		if db != nil {
			db.SetMaxOpenConns(conns)
			db.SetMaxIdleConns(conns)
		}
		return db
	}
	// The writer first: it makes the file and turns it to WAL.
	l.writes, l.extra, l.reads = open(1, "&_txlock=immediate"), open(1, "&_txlock=immediate"), open(4, "&_pragma=query_only(1)")
	if err != nil {
		return nil, errors.Join(err, l.close())
	}
	if l.writer, err = l.writes.Conn(ctx); err != nil {
		return nil, errors.Join(l.explain(err), l.close())
	}
	if err := l.checkDurable(ctx); err != nil {
		return nil, errors.Join(err, l.close())
	}
	if l.ormWrites, err = gorm.Open(sqliteDialector{l.extra}, gormConfig()); err == nil {
		l.ormReads, err = gorm.Open(sqliteDialector{l.reads}, gormConfig())
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open the database: %w", err), l.close())
	}
	return l, nil
}

// checkDurable asks back: a file system without shared memory, as over a network, refuses WAL without an error.
func (l *lite) checkDurable(ctx context.Context) error {
	var journal string
	var synchronous int
	if err := l.writer.QueryRowContext(ctx, "PRAGMA journal_mode").Scan(&journal); err != nil {
		return l.explain(err)
	}
	if err := l.writer.QueryRowContext(ctx, "PRAGMA synchronous").Scan(&synchronous); err != nil {
		return l.explain(err)
	}
	if journal != "wal" || synchronous < 2 {
		return fmt.Errorf("%w: the journal of %s is %q with synchronous=%d, it must be WAL with FULL; keep the file on a local disk",
			ErrNotDurable, l.path, journal, synchronous)
	}
	return nil
}

func (l *lite) explain(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("the database file %s: %w", l.path, sqliteError(err))
}

func (l *lite) enter(ctx context.Context) error {
	select {
	case l.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (l *lite) leave() { <-l.turn }

func (l *lite) now(context.Context) (time.Time, error) { return machineNow(), nil }

func (l *lite) at(t time.Time) any { return micros(t) }

func (l *lite) text(text string) string { return text }

func (l *lite) items() string { return sqliteItems }

func (l *lite) query(ctx context.Context, text string, args ...any) (closableRows, error) {
	r, err := l.reads.QueryContext(ctx, text, args...)
	if err != nil {
		return nil, l.explain(err)
	}
	return r, nil
}

func (l *lite) read(ctx context.Context) *gorm.DB { return l.ormReads.WithContext(ctx) }

func (l *lite) write(ctx context.Context, f func(tx *gorm.DB) error) error {
	if err := l.enter(ctx); err != nil {
		return err
	}
	defer l.leave()
	return sqliteError(l.ormWrites.WithContext(ctx).Transaction(f))
}

// listen does nothing: the servers of one file are one.
func (l *lite) listen(ctx context.Context, _ *Store) { <-ctx.Done() }

func (l *lite) ready(ctx context.Context) error {
	var one int
	if err := l.reads.QueryRowContext(ctx, "SELECT one FROM installation").Scan(&one); err != nil {
		return l.explain(err)
	}
	return nil
}

func (l *lite) close() error {
	var errs []error
	if l.writer != nil {
		l.turn <- struct{}{} // a change under way ends first
		for _, s := range l.prepared {
			errs = append(errs, s.Close())
		}
		errs = append(errs, l.writer.Close())
		<-l.turn
	}
	for _, db := range []*sql.DB{l.reads, l.extra, l.writes} {
		if db != nil {
			errs = append(errs, db.Close())
		}
	}
	if l.mark != nil {
		errs = append(errs, l.mark.close())
	}
	return errors.Join(errs...)
}

// escaped is a path as it is written in a file: address.
func escaped(path string) string { return (&url.URL{Path: path}).EscapedPath() }
