// Package store keeps everything in PostgreSQL or SQLite. It is the only package that knows gorm and the drivers.
//
// Items are changed through one door, [Store.Change]. The door writes sets of rows by hand-made statements on the
// database's own driver; everything that is not on the way of an item goes through gorm.
package store

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"gorm.io/gorm"

	"onefold/internal/work"
)

// Config says which database to use and how.
type Config struct {
	URL         string           // "postgres://...", "sqlite:PATH" or a path
	Node        string           // this server's name, for the log
	Clock       func() time.Time // nil: the database's clock on PostgreSQL, the machine's on SQLite
	MaxConns    int              // most connections to PostgreSQL; 0: 16
	Log         *slog.Logger     // nil: silent
	Mark        string           // on PostgreSQL, a file of this server that remembers its newest sends; empty: none. SQLite has its own
	SkipMigrate bool             // refuse a database that lacks migrations, instead of running them
}

// Store is one open database. Its methods are safe for concurrent use.
type Store struct {
	cfg  Config
	db   backend
	hub  *hub
	stop context.CancelFunc
	wait func()

	tallies tallies
}

// backend is what differs between the databases.
type backend interface {
	begin(ctx context.Context) (door, error)
	// beginClaim opens the door with the system under lock if an item of it is due at now (zero: the database's clock), else
	// it returns nil.
	// That is cheap, writes nothing and locks nothing.
	beginClaim(ctx context.Context, due work.PickDue, now time.Time) (door, *lockedSystem, error)
	now(ctx context.Context) (time.Time, error)
	// query reads outside of the write door; parameters are written ?1, ?2 and times given by at.
	query(ctx context.Context, text string, args ...any) (closableRows, error)
	at(t time.Time) any
	// text is a text with ?1 parameters in the driver's form.
	text(text string) string
	// items is the start of a query for whole items.
	items() string
	// read and write are gorm's ways in; write serialises with the door where the database needs it.
	read(ctx context.Context) *gorm.DB
	write(ctx context.Context, f func(tx *gorm.DB) error) error
	// takeIdentity compares the database with the one that this installation knew, and starts look-first if it is another.
	takeIdentity(ctx context.Context, s *Store) error
	migrate(ctx context.Context, skip bool) error
	listen(ctx context.Context, s *Store)
	ready(ctx context.Context) error
	connections() Connections
	close() error
	search() searcher
}

type closableRows interface {
	rows
	Close() error
}

// Open connects, refuses a database that may forget what it committed, brings the schema up to date and compares the
// database with the one that this installation knew. Many servers may open one database at once.
func Open(ctx context.Context, cfg Config) (*Store, error) {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	s := &Store{cfg: cfg, hub: newHub(), wait: func() {}}
	var err error
	switch path, isFile := filePath(cfg.URL); {
	case cfg.URL == "":
		return nil, errors.New("the database is not named: give postgres://... or sqlite:PATH")
	case isFile:
		s.db, err = openSQLite(ctx, path, cfg)
	default:
		s.db, err = openPostgres(ctx, s)
	}
	if err != nil {
		return nil, err
	}
	if err = s.db.migrate(ctx, cfg.SkipMigrate); err == nil {
		err = s.db.takeIdentity(ctx, s)
	}
	if err != nil {
		return nil, errors.Join(err, s.db.close())
	}
	background, stop := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan struct{})
	s.stop, s.wait = stop, func() { <-done }
	go func() {
		defer close(done)
		s.db.listen(background, s)
	}()
	go s.hub.run(background)
	return s, nil
}

// filePath tells a path from the address of a PostgreSQL server.
func filePath(url string) (path string, isFile bool) {
	if path, ok := strings.CutPrefix(url, "sqlite:"); ok {
		return strings.TrimPrefix(path, "//"), true
	}
	return url, !strings.HasPrefix(url, "postgres://") && !strings.HasPrefix(url, "postgresql://")
}

// Close ends everything that the store runs and closes the database.
func (s *Store) Close() error {
	s.stop()
	s.wait()
	s.tallies.running.Wait()
	return s.db.close()
}

// Ready returns an error in the operator's words unless the database answers.
func (s *Store) Ready(ctx context.Context) error { return s.db.ready(ctx) }

// Now is the database's clock (the machine's on SQLite), or the injected one.
func (s *Store) Now(ctx context.Context) (time.Time, error) {
	if s.cfg.Clock != nil {
		return s.cfg.Clock().UTC().Truncate(time.Microsecond), nil
	}
	return s.db.now(ctx)
}

// Wakeups tells of systems with new work, by their id. Several wake-ups of one system may come as one.
func (s *Store) Wakeups() <-chan string { return s.hub.out }

// machineNow is the machine's clock, as exact as the databases keep it.
func machineNow() time.Time { return time.Now().UTC().Truncate(time.Microsecond) }

// row reads one row that is always there.
func (s *Store) row(ctx context.Context, text string, args []any, dest ...any) error {
	found, err := s.maybeRow(ctx, text, args, dest...)
	if err == nil && !found {
		return errors.New("store: the database returned no row")
	}
	return err
}

// maybeRow reads one row; found is false if there is none.
func (s *Store) maybeRow(ctx context.Context, text string, args []any, dest ...any) (found bool, err error) {
	r, err := s.db.query(ctx, text, args...)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	if !r.Next() {
		return false, r.Err()
	}
	if err := r.Scan(dest...); err != nil {
		return false, fmt.Errorf("read: %w", err)
	}
	return true, nil
}

// list reads whole items.
func (s *Store) list(ctx context.Context, where string, args ...any) (items []work.Item, err error) {
	r, err := s.db.query(ctx, s.db.items()+where, args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	return scanItems(r)
}
