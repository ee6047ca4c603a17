package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"onefold/internal/work"
)

// Backup is what a copy of an SQLite database holds.
type Backup struct {
	Schema   int64 // the number of its newest migration
	Items    int64
	Attempts int64
	Open     int64     // items that are not settled
	Newest   time.Time // when an item last changed; zero: there is none
	Size     int64     // bytes
}

// Errors of Copy and PutBack that the operator can do something about.
var (
	ErrIsPostgres  = errors.New("this is for SQLite: a PostgreSQL database is copied with pg_dump and put back with pg_restore")
	ErrFileExists  = errors.New("it is there already and is not overwritten")
	ErrServerRuns  = errors.New("the database is in use: stop the server first")
	ErrNotOnefold  = errors.New("it is no whole database of Onefold")
	ErrUnknownFile = errors.New("there is no such file")
)

// Copy writes a copy of the SQLite database at url, as it is at one moment, to a new file, while servers go on. The copy is on
// the disk and checked when Copy returns. Whatever opens it looks first: it is older than the world.
func Copy(ctx context.Context, url, to string, now time.Time) (b Backup, err error) {
	from, isFile := filePath(url)
	if !isFile {
		return b, ErrIsPostgres
	}
	if !exists(from) {
		return b, fmt.Errorf("the database %s: %w", from, ErrUnknownFile)
	}
	if exists(to) {
		return b, fmt.Errorf("%s: %w", to, ErrFileExists)
	}
	part := to + ".part"
	if err := os.Remove(part); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return b, fmt.Errorf("the copy cannot be begun: %w", err)
	}
	// Made here, so that nobody else may read it.
	if f, err := os.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600); err != nil { //nolint:gosec // the operator names it
		return b, fmt.Errorf("the copy cannot be begun: %w", err)
	} else if err := f.Close(); err != nil {
		return b, fmt.Errorf("the copy cannot be begun: %w", err)
	}
	defer func() { err = errors.Join(err, removeIfThere(part)) }()
	source, err := openPlain(from, "mode=rw", 15*time.Second)
	if err != nil {
		return b, err
	}
	_, err = source.ExecContext(ctx, "VACUUM INTO ?", part)
	if err = errors.Join(err, source.Close()); err != nil {
		return b, fmt.Errorf("the copy cannot be made: %w", err)
	}
	why := "the database is a backup of " + now.UTC().Format("2 January 2006 15:04 MST")
	if err := makeLookFirst(ctx, part, now, why, false); err != nil {
		return b, err
	}
	if b, err = Inspect(ctx, part); err != nil {
		return b, fmt.Errorf("the copy is not whole: %w", err)
	}
	if err := settle(part, to); err != nil {
		return b, err
	}
	return b, nil
}

// PutBack puts a copy in place of the SQLite database at url, unless a server has it open. A database that is there is moved
// aside if aside names an ending for it, or refused. Everything looks first afterwards, and nobody is signed in.
func PutBack(ctx context.Context, url, from, aside string, now time.Time) (b Backup, err error) {
	to, isFile := filePath(url)
	if !isFile {
		return b, ErrIsPostgres
	}
	if b, err = Inspect(ctx, from); err != nil {
		return b, err
	}
	if exists(to) {
		if aside == "" {
			return b, fmt.Errorf("the database %s: %w", to, ErrFileExists)
		}
		if err := notInUse(ctx, to); err != nil {
			return b, err
		}
	}
	part := to + ".part"
	if err := copyFile(from, part); err != nil {
		return b, err
	}
	defer func() { err = errors.Join(err, removeIfThere(part)) }()
	why := "a backup was put back on " + now.UTC().Format("2 January 2006 15:04 MST")
	if err := makeLookFirst(ctx, part, now, why, true); err != nil {
		return b, err
	}
	// The mark stays: it still tells how far the database had come.
	for _, end := range []string{"", "-wal", "-shm"} {
		if !exists(to + end) {
			continue
		}
		if aside == "" {
			return b, fmt.Errorf("%s: %w", to+end, ErrFileExists)
		}
		if err := os.Rename(to+end, to+aside+end); err != nil {
			return b, fmt.Errorf("the database that is there cannot be moved aside: %w", err)
		}
	}
	return b, settle(part, to)
}

// Inspect checks a copy and tells what it holds.
func Inspect(ctx context.Context, path string) (b Backup, err error) {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return b, fmt.Errorf("%s: %w", path, ErrUnknownFile)
	}
	db, err := openPlain(path, "mode=ro&immutable=1", 0)
	if err != nil {
		return b, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	not := func(err error) (Backup, error) { return b, fmt.Errorf("%s: %w: %w", path, ErrNotOnefold, err) }
	var whole string
	if err := db.QueryRowContext(ctx, "PRAGMA integrity_check(1)").Scan(&whole); err != nil {
		return not(err)
	}
	if whole != "ok" {
		return not(errors.New(whole))
	}
	var settled int64
	b.Size = info.Size()
	err = db.QueryRowContext(ctx, "SELECT (SELECT max(version_id) FROM goose_db_version), (SELECT count(*) FROM items), (SELECT count(*) FROM attempts),"+
		" (SELECT count(*) FROM items WHERE status IN (?, ?, ?)), (SELECT max(changed_at) FROM items)", string(work.Confirmed), string(work.Resolved), string(work.Closed)).
		Scan(&b.Schema, &b.Items, &b.Attempts, &settled, stamp{&b.Newest})
	if err != nil {
		return not(err)
	}
	b.Open = b.Items - settled
	return b, nil
}

// makeLookFirst lets a copy that nobody has open look first, and with signOut ends all sessions: who was signed in at the time
// of the copy need not be any more.
func makeLookFirst(ctx context.Context, path string, now time.Time, why string, signOut bool) (err error) {
	db, err := openPlain(path, "mode=rw&_pragma=synchronous(FULL)", 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("the copy: %w", err)
	}
	defer tx.Rollback() //nolint:errcheck // after the commit it does nothing
	exec := func(text string, args ...any) error {
		_, err := tx.ExecContext(ctx, text, args...)
		return err
	}
	err = everywhere{theStore, why, now, micros}.begin(exec)
	if err == nil && signOut {
		err = exec("UPDATE sessions SET ended_at = ?1 WHERE ended_at IS NULL", micros(now))
	}
	if err != nil {
		return fmt.Errorf("the copy: %w", err)
	}
	return tx.Commit()
}

// notInUse returns ErrServerRuns if any process has the file open: to leave WAL needs it alone. A file that cannot be read
// at all is in nobody's use.
func notInUse(ctx context.Context, path string) (err error) {
	db, err := openPlain(path, "mode=rw", 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	var mode string
	err = db.QueryRowContext(ctx, "PRAGMA journal_mode = DELETE").Scan(&mode)
	var se *sqlite.Error
	switch {
	case errors.As(err, &se) && (se.Code()&0xff == sqlite3.SQLITE_BUSY || se.Code()&0xff == sqlite3.SQLITE_LOCKED), err == nil && mode == "wal":
		return fmt.Errorf("%s: %w", path, ErrServerRuns)
	}
	return nil
}

func openPlain(path, how string, wait time.Duration) (*sql.DB, error) {
	dsn := url.URL{Scheme: "file", Opaque: escaped(path), RawQuery: fmt.Sprintf("%s&_pragma=busy_timeout(%d)", how, wait.Milliseconds())}
	db, err := sql.Open("sqlite", dsn.String())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	db.SetMaxOpenConns(1)
	return db, nil
}

// settle gives a finished file its name, when its content is on the disk.
func settle(part, to string) error {
	if err := forceToDisk(part); err != nil {
		return err
	}
	if err := os.Rename(part, to); err != nil {
		return fmt.Errorf("the copy cannot be named: %w", err)
	}
	return forceToDisk(filepath.Dir(to))
}

func forceToDisk(path string) error {
	f, err := os.Open(path) //nolint:gosec // the operator names it
	if err != nil {
		return fmt.Errorf("the copy cannot be kept: %w", err)
	}
	if err = errors.Join(f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("the copy cannot be kept: %w", err)
	}
	return nil
}

func copyFile(from, to string) error {
	in, err := os.Open(from) //nolint:gosec // the operator names it
	if err != nil {
		return fmt.Errorf("the copy cannot be read: %w", err)
	}
	defer in.Close()                                                       //nolint:errcheck // read only
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600) //nolint:gosec // beside the database
	if err != nil {
		return fmt.Errorf("the copy cannot be put back: %w", err)
	}
	_, err = io.Copy(out, in)
	if err = errors.Join(err, out.Close()); err != nil {
		return fmt.Errorf("the copy cannot be put back: %w", err)
	}
	return nil
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

func removeIfThere(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
