package store_test

import (
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"onefold/internal/store"
	"onefold/internal/store/storetest"
	"onefold/internal/work"
)

func TestManyServersStartAtOnce(t *testing.T) {
	storetest.EachEmpty(t, func(t *testing.T, db storetest.DB) {
		const servers = 8
		stores := make([]*store.Store, servers)
		errs := make([]error, servers)
		var wg sync.WaitGroup
		for i := range servers {
			wg.Go(func() { stores[i], errs[i] = store.Open(t.Context(), store.Config{URL: db.URL, MaxConns: 3}) })
		}
		wg.Wait()
		must(t, errors.Join(errs...))
		for i, s := range stores {
			must(t, s.Ready(t.Context()))
			if i == 0 {
				must(t, s.DeclareSystem(t.Context(), books()))
				record(t, s, "INV-1")
			}
		}
		var n int
		must(t, raw(t, db).QueryRowContext(t.Context(), "SELECT count(*) FROM goose_db_version WHERE version_id = 1").Scan(&n))
		if n != 1 {
			t.Errorf("the first migration ran %d times", n)
		}
		for _, s := range stores {
			must(t, s.Close())
		}
	})
}

func TestNewerSchemaIsRefused(t *testing.T) {
	storetest.EachEmpty(t, func(t *testing.T, db storetest.DB) {
		if _, err := store.Open(t.Context(), store.Config{URL: db.URL, SkipMigrate: true}); !errors.Is(err, store.ErrNotMigrated) {
			t.Errorf("an empty database without migrating: %v", err)
		}
		db.Open(t, store.Config{})
		if _, err := raw(t, db).ExecContext(t.Context(), "INSERT INTO goose_db_version (version_id, is_applied) VALUES (99999, true)"); err != nil {
			t.Fatal(err)
		}
		// The next version is being rolled out: what it changed is tolerated, unless it says otherwise.
		db.Open(t, store.Config{})
		db.Open(t, store.Config{SkipMigrate: true})
		if _, err := raw(t, db).ExecContext(t.Context(), "UPDATE schema_needs SET version = 99999"); err != nil {
			t.Fatal(err)
		}
		_, err := store.Open(t.Context(), store.Config{URL: db.URL})
		if !errors.Is(err, store.ErrNewerSchema) || strings.Contains(err.Error(), "\n") {
			t.Errorf("a newer schema: %v", err)
		}
	})
}

func TestUnreachableDatabaseIsOneSentenceWithoutThePassword(t *testing.T) {
	for _, url := range []string{"", "postgres://ada:secret@127.0.0.1:1/books", "postgres://ada:secret@127.0.0.1:port/books", "postgres://ada:se%zzcret@h/books",
		"sqlite:" + filepath.Join(t.TempDir(), "none", "x.db"), "sqlite::memory:", t.TempDir()} {
		_, err := store.Open(t.Context(), store.Config{URL: url})
		if err == nil {
			t.Fatalf("%q was opened", url)
		}
		if text := err.Error(); strings.Contains(text, "secret") || strings.Contains(text, "cret@") || strings.Contains(text, "\n") {
			t.Errorf("%q: %q", url, text)
		}
	}
}

// Only what may pass by itself is worth waiting for.
func TestWhatIsWorthWaitingFor(t *testing.T) {
	db := storetest.EmptyPostgres(t)
	at, err := url.Parse(db.URL)
	must(t, err)
	changed := func(change func(u *url.URL)) string {
		u := *at
		change(&u)
		return u.String()
	}
	for address, want := range map[string]bool{
		changed(func(u *url.URL) { u.User = url.UserPassword(u.User.Username(), "wrong") }): false,
		changed(func(u *url.URL) { u.Path += "_none" }):                                     false,
		changed(func(u *url.URL) { u.Host = "127.0.0.1:1" }):                                true,
		"sqlite:" + t.TempDir(): false,
	} {
		if _, err := store.Open(t.Context(), store.Config{URL: address}); err == nil || store.IsAway(err) != want {
			t.Errorf("%v: worth waiting for: %v", err, store.IsAway(err))
		}
	}
}

// Committed means durable: a session's weak default is corrected.
func TestDurabilitySettings(t *testing.T) {
	t.Run("postgres", func(t *testing.T) {
		db := storetest.Postgres(t)
		conn := raw(t, db)
		var name string
		must(t, conn.QueryRowContext(t.Context(), "SELECT current_database()").Scan(&name))
		if _, err := conn.ExecContext(t.Context(), "ALTER DATABASE "+name+" SET synchronous_commit = off"); err != nil {
			t.Fatal(err)
		}
		s := db.Open(t, store.Config{})
		must(t, s.DeclareSystem(t.Context(), books()))
		if setting := store.Setting(t.Context(), s, "synchronous_commit"); setting != "on" {
			t.Errorf("synchronous_commit is %s", setting)
		}
		if setting := store.Setting(t.Context(), s, "TimeZone"); setting != "UTC" {
			t.Errorf("the time zone is %s", setting)
		}
	})
	t.Run("sqlite", func(t *testing.T) {
		s := storetest.SQLite(t).Open(t, store.Config{})
		for name, want := range map[string]string{"journal_mode": "wal", "synchronous": "2", "foreign_keys": "1"} {
			if got := store.Setting(t.Context(), s, name); got != want {
				t.Errorf("%s is %s, want %s", name, got, want)
			}
		}
	})
}

// An older database file that is put back sends nothing before it has looked; a restart does not end that.
func TestOlderFilePutBackLooksFirst(t *testing.T) {
	db := storetest.SQLite(t)
	path := strings.TrimPrefix(db.URL, "sqlite:")
	c := newClock()
	open := func() *store.Store {
		s, err := store.Open(t.Context(), store.Config{URL: db.URL, Clock: c.Now})
		must(t, err)
		return s
	}
	lookFirst := func(s *store.Store) bool {
		sys, err := s.System(t.Context(), "books")
		must(t, err)
		return !sys.LookFirst.IsZero() && sys.LookFirstWhy != ""
	}
	s := open()
	must(t, s.DeclareSystem(t.Context(), books()))
	record(t, s, "INV-1")
	must(t, s.Close())
	older, err := os.ReadFile(path)
	must(t, err)

	s = open()
	if lookFirst(s) {
		t.Fatal("an ordinary restart looks first")
	}
	closeAll(t, s, claim(t, s, 1))
	must(t, s.Close())
	must(t, os.WriteFile(path, older, 0o600))

	s = open()
	if !lookFirst(s) {
		t.Fatal("an older file was taken for the one we knew")
	}
	c.advance(time.Hour)
	claimed := claim(t, s, 1)
	if len(claimed) != 1 || claimed[0].Attempt.Kind != work.Find {
		t.Fatalf("the next move is not a lookup: %+v", claimed)
	}
	must(t, s.Close())
	s = open()
	if !lookFirst(s) {
		t.Fatal("a restart ended look-first")
	}
	must(t, s.EndLookFirst(t.Context(), "books", ada, ""))
	if lookFirst(s) {
		t.Fatal("an admin could not end it")
	}
	must(t, s.Close())

	// The mark is gone, or the file is: another database in the same place.
	must(t, os.Remove(path+".mark"))
	s = open()
	if !lookFirst(s) {
		t.Fatal("a database without its mark was trusted")
	}
	must(t, s.Close())
	for _, end := range []string{"", "-wal", "-shm"} {
		_ = os.Remove(path + end)
	}
	s = open()
	must(t, s.DeclareSystem(t.Context(), books()))
	if !lookFirst(s) {
		t.Fatal("a new database in place of the one we knew sends at once")
	}
	must(t, s.Close())
}

// A database that is not the one we knew: another cluster, timeline or database holds our rows.
func TestOtherDatabaseLooksFirst(t *testing.T) {
	db := storetest.Postgres(t)
	s := db.Open(t, store.Config{})
	must(t, s.DeclareSystem(t.Context(), books()))
	db.Open(t, store.Config{})
	if sys, err := s.System(t.Context(), "books"); err != nil || !sys.LookFirst.IsZero() {
		t.Fatalf("a second server started look-first: %+v, %v", sys, err)
	}
	if _, err := raw(t, db).ExecContext(t.Context(), "UPDATE installation SET database_system = '1/00000001/1'"); err != nil {
		t.Fatal(err)
	}
	again := db.Open(t, store.Config{})
	sys, err := again.System(t.Context(), "books")
	if err != nil || sys.LookFirst.IsZero() || sys.LookFirstWhy == "" {
		t.Fatalf("%+v, %v", sys, err)
	}
}
