package store_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"onefold/internal/store"
	"onefold/internal/store/storetest"
	"onefold/internal/work"
)

// A server must not be sent requests that its database cannot serve.
func TestReadyOnlyWithASchemaThatFits(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db storetest.DB) {
		s := db.Open(t, store.Config{})
		conn := raw(t, db)
		do := func(statement string) {
			t.Helper()
			if _, err := conn.ExecContext(t.Context(), statement); err != nil {
				t.Fatal(err)
			}
		}
		must(t, s.Current(t.Context()))
		do("INSERT INTO goose_db_version (version_id, is_applied) VALUES (99999, true)")
		must(t, s.Current(t.Context())) // the next version is being rolled out
		do("UPDATE schema_needs SET version = 99999")
		if err := s.Current(t.Context()); !errors.Is(err, store.ErrNewerSchema) {
			t.Errorf("a schema that this version cannot work with: %v", err)
		}
		do("UPDATE schema_needs SET version = 1")
		do("DELETE FROM goose_db_version WHERE version_id > 5")
		if err := s.Current(t.Context()); !errors.Is(err, store.ErrNotMigrated) {
			t.Errorf("an older schema: %v", err)
		}
		if c := s.Connections(); c.Limit < 1 || c.InUse < 0 || c.InUse+c.Idle > c.Limit {
			t.Errorf("connections: %+v", c)
		}
	})
}

func TestOnlyOpenItemsAreCounted(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store.Store, c *clock) {
		counted := func() map[work.Status]int64 {
			t.Helper()
			list, err := s.OpenItems(t.Context(), 1)
			must(t, err)
			n := map[work.Status]int64{}
			for _, o := range list {
				if o.SystemID != "books" || o.Oldest.IsZero() || o.Oldest.After(c.Now().Add(time.Second)) {
					t.Errorf("%+v", o)
				}
				n[o.Status] += o.Count
			}
			return n
		}
		if n := counted(); len(n) != 0 {
			t.Errorf("nothing is there: %v", n)
		}
		for i := range 3 {
			record(t, s, fmt.Sprint("INV-", i))
		}
		one := claim(t, s, 1)
		if n := counted(); n[work.Queued] != 2 || n[work.InProgress] != 1 || len(n) != 2 {
			t.Errorf("%v", n)
		}
		closeAll(t, s, one)
		if n := counted(); n[work.Queued] != 2 || len(n) != 1 {
			t.Errorf("what is done is counted: %v", n)
		}
	})
}
