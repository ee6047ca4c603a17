// Package storetest gives tests a fresh database of each kind.
package storetest

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"onefold/internal/store"
)

// Variable names the PostgreSQL server of the tests: the address of a superuser. Each test makes a database of its own.
const Variable = "ONEFOLD_TEST_POSTGRES"

// DB is one fresh database: with today's schema and nothing in it, or with nothing at all.
type DB struct {
	Name string // "postgres" or "sqlite"
	URL  string // for store.Config
}

// Open opens the database, and closes it at the end of the test. Several stores may be open at once.
func (d DB) Open(t testing.TB, cfg store.Config) *store.Store {
	t.Helper()
	cfg.URL = d.URL
	if cfg.MaxConns == 0 {
		cfg.MaxConns = 6
	}
	s, err := store.Open(t.Context(), cfg)
	if err != nil {
		t.Fatalf("open the %s database: %v", d.Name, err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close the %s database: %v", d.Name, err)
		}
	})
	return s
}

// Each runs the test once for each kind of database.
func Each(t *testing.T, test func(t *testing.T, db DB)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) { test(t, SQLite(t)) })
	t.Run("postgres", func(t *testing.T) { test(t, Postgres(t)) })
}

// EachEmpty is [Each] on databases that have no schema yet.
func EachEmpty(t *testing.T, test func(t *testing.T, db DB)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) { test(t, EmptySQLite(t)) })
	t.Run("postgres", func(t *testing.T) { test(t, EmptyPostgres(t)) })
}

// EmptySQLite is a file that does not exist yet.
func EmptySQLite(t testing.TB) DB {
	return DB{Name: "sqlite", URL: "sqlite:" + filepath.Join(t.TempDir(), "onefold.db")}
}

// SQLite is a fresh file with today's schema.
func SQLite(t testing.TB) DB {
	t.Helper()
	db := EmptySQLite(t)
	file, err := sqliteTemplate()
	if err == nil {
		err = os.WriteFile(strings.TrimPrefix(db.URL, "sqlite:"), file, 0o600)
	}
	if err != nil {
		t.Fatalf("the template of the SQLite databases: %v", err)
	}
	return db
}

// Postgres makes a database with today's schema and drops it at the end. Without a server the test is skipped, or fails
// where PostgreSQL is required: with CI=true or ONEFOLD_REQUIRE_POSTGRES=1.
func Postgres(t testing.TB) DB {
	t.Helper()
	address := server(t)
	return create(t, address, " TEMPLATE "+template(t, address))
}

// EmptyPostgres is [Postgres] without a schema.
func EmptyPostgres(t testing.TB) DB {
	t.Helper()
	return create(t, server(t), "")
}

func server(t testing.TB) string {
	t.Helper()
	address := os.Getenv(Variable)
	if address == "" {
		const missing = "no PostgreSQL server: set " + Variable + " to a superuser's address (make test starts one)"
		if os.Getenv("CI") == "true" || os.Getenv("ONEFOLD_REQUIRE_POSTGRES") == "1" {
			t.Fatal(missing)
		}
		t.Skip(missing)
	}
	return address
}

var counter atomic.Int64

func create(t testing.TB, server, like string) DB {
	t.Helper()
	name := fmt.Sprintf("onefold_test_%d_%d_%d", os.Getpid(), time.Now().UnixNano(), counter.Add(1))
	admin(t, server, "CREATE DATABASE "+name+like)
	t.Cleanup(func() { admin(t, server, "DROP DATABASE "+name+" WITH (FORCE)") })
	return DB{Name: "postgres", URL: withDatabase(t, server, name)}
}

func admin(t testing.TB, server, statement string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	conn, err := pgx.Connect(ctx, server)
	if err != nil {
		t.Fatalf("the tests' PostgreSQL server: %v", err)
	}
	defer conn.Close(ctx) //nolint:errcheck // it served its purpose
	if _, err := conn.Exec(ctx, statement); err != nil {
		t.Fatalf("%.40s: %v", statement, err)
	}
}

// withDatabase names another database in a server's address.
func withDatabase(t testing.TB, server, name string) string {
	t.Helper()
	if !strings.Contains(server, "://") {
		return server + " dbname=" + name
	}
	u, err := url.Parse(server)
	if err != nil {
		t.Fatalf("%s cannot be read: %v", Variable, err)
	}
	u.Path = "/" + name
	return u.String()
}
