package main

import (
	"errors"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"onefold/internal/store"
	"onefold/internal/store/storetest"
)

// A server on PostgreSQL remembers what it sent in a folder of its own: it makes it, and where it cannot it says so.
func TestServerMakesItsFolder(t *testing.T) {
	url := storetest.Postgres(t).URL
	open := func(data string) (log string) {
		t.Helper()
		var b strings.Builder
		db := databaseFlags{database: url, data: data, node: "one"}
		st, err := db.openPatiently(t.Context(), slog.New(slog.NewTextHandler(&b, nil)))
		if err != nil {
			t.Fatal(err)
		}
		if err := st.Close(); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	data := filepath.Join(t.TempDir(), "new", "data")
	if log := open(data); log != "" {
		t.Errorf("all is well, and the log says %q", log)
	}
	if _, err := os.Stat(filepath.Join(data, "onefold.mark")); err != nil {
		t.Errorf("nothing remembers what was sent: %v", err)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if log := open(filepath.Join(file, "data")); !strings.Contains(log, "does not remember what it sent") || !strings.Contains(log, "onefold look-first") {
		t.Errorf("nobody is told that nothing remembers what was sent: %q", log)
	}
}

// A server that starts before its database waits for it, not for ever, and not for what waiting does not mend.
func TestServerWaitsForItsDatabase(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // a test
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	nobody := func() (*store.Store, error) {
		return store.Open(t.Context(), store.Config{URL: "postgres://ada:secret@" + address + "/books"})
	}
	quiet := slog.New(slog.DiscardHandler)
	var waits []time.Duration
	pause := func(d time.Duration) bool { waits = append(waits, d); return true }

	st, err := patiently(quiet, pause, nobody)
	if st != nil || !store.IsAway(err) {
		t.Fatalf("%v, %v", st, err)
	}
	sum := time.Duration(0)
	for i, d := range waits {
		if sum += d; i > 0 && i < len(waits)-1 && d <= waits[i-1] {
			t.Errorf("the waits are %v", waits)
		}
	}
	if sum != patience {
		t.Errorf("it waits %v in all: %v", sum, waits)
	}

	waits = nil
	tries := 0
	if _, err := patiently(quiet, pause, func() (*store.Store, error) {
		if tries++; tries < 4 {
			return nobody()
		}
		return nil, nil
	}); err != nil || tries != 4 || len(waits) != 3 {
		t.Errorf("when it is there: %v after %d tries", err, tries)
	}

	waits = nil
	other := errors.New("the schema is newer")
	if _, err := patiently(quiet, pause, func() (*store.Store, error) { return nil, other }); !errors.Is(err, other) || len(waits) > 0 {
		t.Errorf("%v after %v", err, waits)
	}
	if _, err := patiently(quiet, func(time.Duration) bool { return false }, nobody); !store.IsAway(err) {
		t.Errorf("asked to stop: %v", err)
	}
}
