package store_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"onefold/internal/store"
	"onefold/internal/store/storetest"
	"onefold/internal/work"
)

func looksFirst(t *testing.T, s *store.Store) bool {
	t.Helper()
	sys, err := s.System(t.Context(), "books")
	must(t, err)
	return !sys.LookFirst.IsZero() && sys.LookFirstWhy != ""
}

// A dump that is put back is noticed wherever it goes: into a new database of the same server, whose cluster and timeline are
// the same, and over the database that it was made of, which is the same database altogether.
func TestDumpPutBackLooksFirst(t *testing.T) {
	db := storetest.Postgres(t)
	s, err := store.Open(t.Context(), store.Config{URL: db.URL, MaxConns: 4})
	must(t, err)
	must(t, s.DeclareSystem(t.Context(), books()))
	record(t, s, "INV-1")
	dump := filepath.Join(t.TempDir(), "onefold.dump")
	storetest.Dump(t, db, dump)
	closeAll(t, s, claim(t, s, 1)) // after the dump it is sent, and confirmed
	must(t, s.Close())

	for name, put := range map[string]func(t *testing.T) storetest.DB{
		"into a new database": func(t *testing.T) storetest.DB {
			fresh := storetest.EmptyPostgres(t)
			storetest.Restore(t, fresh, dump)
			return fresh
		},
		"over the same database": func(t *testing.T) storetest.DB {
			storetest.Restore(t, db, dump, "--clean", "--if-exists")
			return db
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := put(t).Open(t, store.Config{})
			if !looksFirst(t, s) {
				t.Fatal("a dump that was put back is trusted")
			}
			if claimed := claim(t, s, 10); len(claimed) != 1 || claimed[0].Attempt.Kind != work.Find {
				t.Fatalf("the next move is not a lookup: %+v", claimed)
			}
			record(t, s, "INV-2")
			if claimed := claim(t, s, 10); len(claimed) != 1 || claimed[0].Attempt.Kind != work.Find {
				t.Fatalf("a new item is sent without a lookup: %+v", claimed)
			}
		})
	}
}

// Nobody should load a dump under a server that runs; whoever does is noticed all the same.
func TestDumpPutBackUnderAServer(t *testing.T) {
	db := storetest.Postgres(t)
	s := db.Open(t, store.Config{})
	must(t, s.DeclareSystem(t.Context(), books()))
	record(t, s, "INV-1")
	dump := filepath.Join(t.TempDir(), "onefold.dump")
	storetest.Dump(t, db, dump)
	closeAll(t, s, claim(t, s, 1))
	must(t, store.Recognise(t.Context(), s))
	if looksFirst(t, s) {
		t.Fatal("the database that we know looks first")
	}
	storetest.Restore(t, db, dump, "--clean", "--if-exists")
	// The item waits to be sent again, and nobody compared the database meanwhile but the claim itself.
	if claimed := claim(t, s, 10); len(claimed) != 1 || claimed[0].Attempt.Kind != work.Find {
		t.Fatalf("the next move is not a lookup: %+v", claimed)
	}
	if !looksFirst(t, s) {
		t.Fatal("a dump that was loaded under the server is trusted")
	}
}

// A server that claims nothing notices it too.
func TestDumpPutBackIsSeenByTheTick(t *testing.T) {
	store.SetRecogniseEvery(t, 10*time.Millisecond)
	db := storetest.Postgres(t)
	s := db.Open(t, store.Config{})
	must(t, s.DeclareSystem(t.Context(), books()))
	dump := filepath.Join(t.TempDir(), "onefold.dump")
	storetest.Dump(t, db, dump)
	storetest.Restore(t, db, dump, "--clean", "--if-exists")
	for deadline := time.Now().Add(20 * time.Second); !looksFirst(t, s); {
		if time.Now().After(deadline) {
			t.Fatal("a dump that was loaded under the server is trusted")
		}
	}
}

// A copy of the disk that is put back under the same server: cluster, timeline, database and tables are those that we knew. Only
// what this server remembers outside of the database tells that a send is missing.
func TestForgottenSendLooksFirst(t *testing.T) {
	db := storetest.Postgres(t)
	mark := filepath.Join(t.TempDir(), "onefold.mark")
	open := func() *store.Store {
		s, err := store.Open(t.Context(), store.Config{URL: db.URL, Mark: mark, MaxConns: 4})
		must(t, err)
		return s
	}
	s := open()
	must(t, s.DeclareSystem(t.Context(), books()))
	record(t, s, "INV-1")
	record(t, s, "INV-2")
	closeAll(t, s, claim(t, s, 1))
	must(t, s.Close())
	if s = open(); looksFirst(t, s) {
		t.Fatal("an ordinary restart looks first")
	}
	closeAll(t, s, claim(t, s, 1))

	// The disk goes back to before the second send, under a server that goes on.
	conn := raw(t, db)
	back := func(text string) {
		t.Helper()
		if _, err := conn.ExecContext(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	back("DELETE FROM attempts WHERE item_id = (SELECT max(id) FROM items)")
	back("UPDATE items SET status = 'queued', attempts = 0, sends = 0, sends_used = 0, external_id = '', evidence = '', due_at = now(), version = version + 1" +
		" WHERE id = (SELECT max(id) FROM items)")
	back("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()")
	deadline := time.Now().Add(20 * time.Second)
	for s.Ready(t.Context()) != nil && time.Now().Before(deadline) { // the lost connections are replaced one by one
	}
	if !looksFirst(t, s) {
		t.Fatal("a database that forgot a send is trusted")
	}
	if claimed := claim(t, s, 1); len(claimed) != 1 || claimed[0].Attempt.Kind != work.Find {
		t.Fatalf("the next move is not a lookup: %+v", claimed)
	}
	// An admin ends it: that holds.
	must(t, s.EndLookFirst(t.Context(), "books", ada, "looked through"))
	must(t, s.Close())
	if s = open(); looksFirst(t, s) {
		t.Fatal("what was dealt with is noticed again")
	}
	must(t, s.Close())

	// Another installation's database in place of ours.
	other := storetest.Postgres(t).Open(t, store.Config{Mark: mark})
	must(t, other.DeclareSystem(t.Context(), books()))
	if !looksFirst(t, other) {
		t.Fatal("a new database in place of the one we knew sends at once")
	}
}

// A mark that cannot be read is as good as none; a folder that cannot be written is told.
func TestDamagedMark(t *testing.T) {
	db := storetest.Postgres(t)
	mark := filepath.Join(t.TempDir(), "onefold.mark")
	must(t, os.WriteFile(mark, []byte("{\x00"), 0o600))
	s := db.Open(t, store.Config{Mark: mark})
	must(t, s.DeclareSystem(t.Context(), books()))
	if looksFirst(t, s) {
		t.Fatal("a damaged mark stops everything")
	}
	if _, err := store.Open(t.Context(), store.Config{URL: db.URL, Mark: filepath.Join(t.TempDir(), "none", "mark")}); err == nil {
		t.Fatal("a mark that cannot be kept is passed over")
	}
}

// A file that was never sent from may be older than what was sent: a copy made before the first send, on another machine.
func TestFileWithoutSendsAndMarkLooksFirst(t *testing.T) {
	db := storetest.SQLite(t)
	s, err := store.Open(t.Context(), store.Config{URL: db.URL})
	must(t, err)
	must(t, s.DeclareSystem(t.Context(), books()))
	record(t, s, "INV-1")
	must(t, s.Close())
	must(t, os.Remove(strings.TrimPrefix(db.URL, "sqlite:")+".mark"))
	if s = db.Open(t, store.Config{}); !looksFirst(t, s) {
		t.Fatal("a file without its mark is trusted because it knows of no send")
	}
}
