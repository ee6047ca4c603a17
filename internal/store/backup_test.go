package store_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"onefold/internal/store"
	"onefold/internal/store/storetest"
	"onefold/internal/work"
)

func TestCopyWhileTheServerRuns(t *testing.T) {
	db := storetest.SQLite(t)
	s := db.Open(t, store.Config{})
	must(t, s.DeclareSystem(t.Context(), books()))
	record(t, s, "INV-1")
	closeAll(t, s, claim(t, s, 1))
	record(t, s, "INV-2")
	now, err := s.Now(t.Context())
	must(t, err)
	to := filepath.Join(t.TempDir(), "a copy?.db")
	b, err := store.Copy(t.Context(), db.URL, to, now)
	must(t, err)
	if b.Items != 2 || b.Attempts != 1 || b.Open != 1 || b.Schema < 21 || b.Newest.IsZero() || b.Size == 0 {
		t.Errorf("the copy holds %+v", b)
	}
	if info, err := os.Stat(to); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("others may read the copy: %v, %v", info, err)
	}
	if _, err := store.Copy(t.Context(), db.URL, to, now); !errors.Is(err, store.ErrFileExists) {
		t.Errorf("a copy was overwritten: %v", err)
	}
	if looksFirst(t, s) {
		t.Error("the database that was copied looks first")
	}
	record(t, s, "INV-3") // it goes on

	// The copy looks first however it is put back, also beside no mark, or beside one that it is not behind.
	plain := filepath.Join(t.TempDir(), "plain.db")
	text, err := os.ReadFile(to)
	must(t, err)
	must(t, os.WriteFile(plain, text, 0o600))
	moved, err := store.Open(t.Context(), store.Config{URL: plain})
	must(t, err)
	if !looksFirst(t, moved) {
		t.Error("a copy that was put in place by hand is trusted")
	}
	must(t, moved.Close())

	for name, broken := range map[string]func([]byte) []byte{
		"cut":     func(b []byte) []byte { return b[:len(b)/2] },
		"no file": func([]byte) []byte { return []byte("hello") },
		"nothing": func([]byte) []byte { return nil },
		"scribble": func(b []byte) []byte {
			b = append([]byte(nil), b...)
			copy(b[len(b)/2:], strings.Repeat("x", 40_000))
			return b
		},
	} {
		path := filepath.Join(t.TempDir(), "broken.db")
		must(t, os.WriteFile(path, broken(text), 0o600))
		if _, err := store.PutBack(t.Context(), filepath.Join(t.TempDir(), "onefold.db"), path, "", now); !errors.Is(err, store.ErrNotOnefold) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestPutBack(t *testing.T) {
	db := storetest.SQLite(t)
	path := strings.TrimPrefix(db.URL, "sqlite:")
	s, err := store.Open(t.Context(), store.Config{URL: db.URL})
	must(t, err)
	must(t, s.DeclareSystem(t.Context(), books()))
	record(t, s, "INV-1")
	now, err := s.Now(t.Context())
	must(t, err)
	copied := filepath.Join(t.TempDir(), "copy")
	_, err = store.Copy(t.Context(), db.URL, copied, now)
	must(t, err)
	closeAll(t, s, claim(t, s, 1))

	if _, err := store.PutBack(t.Context(), db.URL, copied, "", now); !errors.Is(err, store.ErrFileExists) {
		t.Errorf("without force: %v", err)
	}
	if _, err := store.PutBack(t.Context(), db.URL, copied, ".old", now); !errors.Is(err, store.ErrServerRuns) {
		t.Errorf("beside a server: %v", err)
	}
	record(t, s, "INV-2") // the server did not notice
	must(t, s.Close())
	b, err := store.PutBack(t.Context(), db.URL, copied, ".old", now)
	must(t, err)
	if b.Items != 1 || b.Attempts != 0 {
		t.Errorf("put back: %+v", b)
	}
	if was, err := store.Inspect(t.Context(), path+".old"); err != nil || was.Items != 2 || was.Attempts != 1 {
		t.Errorf("what was there is not whole: %+v, %v", was, err)
	}
	s = db.Open(t, store.Config{})
	if !looksFirst(t, s) {
		t.Fatal("a backup that was put back is trusted")
	}
	if claimed := claim(t, s, 1); len(claimed) != 1 || claimed[0].Attempt.Kind != work.Find {
		t.Fatalf("the next move is not a lookup: %+v", claimed)
	}
	if _, err := store.Copy(t.Context(), "postgres://books", copied, now); !errors.Is(err, store.ErrIsPostgres) {
		t.Errorf("PostgreSQL: %v", err)
	}
}
