package storetest

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"
	"github.com/pressly/goose/v3"
	_ "modernc.org/sqlite" // the driver "sqlite"

	"onefold/migrations"
)

// Databases are copied from a template that was migrated once in this run of a test binary: most of a short test's time
// would go into the migrations. Nobody has opened the template, so that each copy takes an identity of its own.

var sqliteTemplate = sync.OnceValues(func() (file []byte, err error) {
	dir, err := os.MkdirTemp("", "onefold-template")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a temporary folder
	path := filepath.Join(dir, "template.db")
	if err := migrate(goose.DialectSQLite3, "sqlite", "sqlite", "file:"+path); err != nil {
		return nil, err
	}
	return os.ReadFile(path) //nolint:gosec // we named it
})

var postgresTemplate struct {
	sync.Mutex
	name string
}

// template is the name of the migrated database. It lives as long as the tests' server.
func template(t testing.TB, server string) string {
	t.Helper()
	postgresTemplate.Lock()
	defer postgresTemplate.Unlock()
	if postgresTemplate.name == "" {
		name := fmt.Sprintf("onefold_template_%d_%d", os.Getpid(), time.Now().UnixNano())
		admin(t, server, "CREATE DATABASE "+name)
		if err := migrate(goose.DialectPostgres, "postgres", "pgx", withDatabase(t, server, name)); err != nil {
			t.Fatalf("migrate the template: %v", err)
		}
		postgresTemplate.name = name
	}
	return postgresTemplate.name
}

func migrate(dialect goose.Dialect, folder, driver, address string) error {
	db, err := sql.Open(driver, address)
	if err != nil {
		return err
	}
	defer db.Close() //nolint:errcheck // what it did is committed
	files, err := migrations.For(folder)
	if err != nil {
		return err
	}
	provider, err := goose.NewProvider(dialect, db, files)
	if err != nil {
		return err
	}
	_, err = provider.Up(context.Background())
	return err
}
