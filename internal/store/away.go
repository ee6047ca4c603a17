package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"net"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	gormpg "gorm.io/driver/postgres"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// unreachable says that the database could not be asked, or that the connection was lost on the way: then nobody knows
// whether what was asked of it is done. It keeps the cause for errors.Is.
type unreachable struct {
	text  string
	cause error
}

func (u *unreachable) Error() string { return u.text }
func (u *unreachable) Unwrap() error { return u.cause }

// DatabaseAway marks the error for those who must not know the driver.
func (u *unreachable) DatabaseAway() bool { return true }

// IsAway reports whether an error says that a PostgreSQL server cannot be asked now, though it may be soon: it restarts, fails
// over, or has no room. A wrong password, the name of a database that does not exist or a file that cannot be opened are
// mended by a person only.
func IsAway(err error) bool {
	var known *unreachable
	var pe *pgconn.PgError
	var se *sqlite.Error
	return errors.As(err, &known) && !errors.As(err, &se) && (!errors.As(err, &pe) || saysAway(pe))
}

// away marks an error as unreachable if it says so. It is the only place that knows.
func away(err error) error {
	var known *unreachable
	if err == nil || errors.As(err, &known) || !saysAway(err) {
		return err
	}
	return &unreachable{err.Error(), err}
}

// awayCodes are PostgreSQL's: no more connections, memory or disk (53), stopped or starting (57P), a read-only server
// after a failover, a connection that stood still inside a transaction, an error of the disk.
var awayCodes = []string{"57P01", "57P02", "57P03", "57P04", "57P05", "25006", "25P03", "58030"}

func saysAway(err error) bool {
	var refused *pgconn.ConnectError
	if errors.As(err, &refused) {
		return true
	}
	var pe *pgconn.PgError
	if errors.As(err, &pe) {
		return strings.HasPrefix(pe.Code, "08") || strings.HasPrefix(pe.Code, "53") || slices.Contains(awayCodes, pe.Code)
	}
	var se *sqlite.Error
	if errors.As(err, &se) {
		switch se.Code() & 0xff {
		case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_FULL, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY:
			return true
		}
		return false
	}
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return false // whoever asked did not wait
	}
	var ne net.Error
	return errors.As(err, &ne) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, driver.ErrBadConn) ||
		errors.Is(err, sql.ErrConnDone) || pgconn.SafeToRetry(err)
}

// pgDialector is gorm's own, which marks errors too.
type pgDialector struct{ gormpg.Dialector }

func (pgDialector) Translate(err error) error { return away(err) }

func (sqliteDialector) Translate(err error) error { return away(err) }
