package automation_test

import (
	"errors"
	"path/filepath"
	"testing"
	"time"

	"onefold/internal/automation"
	"onefold/internal/ledger/sandbox"
	"onefold/internal/store"
	"onefold/internal/store/storetest"
	"onefold/internal/work"
)

// An older backup is put back, and what it does not know of is there outside. The same events are recorded again: what was sent
// after the backup is found and confirmed, nothing is made twice, and what is new is sent after a look. Where nobody can look,
// all of it waits for a person.
func TestBackupPutBackMakesNothingTwice(t *testing.T) {
	eachPersonality(t, func(t *testing.T, db storetest.DB, p sandbox.Personality) {
		w, o := onSandbox(t, db, p)
		w.record("INV-KNOWN")
		w.run(time.Hour)
		w.wantStatus("INV-KNOWN", work.Confirmed)
		w.record("INV-OPEN")
		copied := copyOf(t, db, w.clock.Now())

		// Life goes on; the copy knows nothing of it.
		w.run(time.Hour)
		w.record("INV-FORGOTTEN")
		w.run(time.Hour)
		w.wantStatus("INV-OPEN", work.Confirmed)
		w.wantStatus("INV-FORGOTTEN", work.Confirmed)
		before := o.audit(t)

		again := *w
		again.db = copied()
		again.store = again.db.Open(t, store.Config{Clock: w.clock.Now, Node: "a"})
		again.engine, again.intake = again.newEngine("a"), automation.Intake{Store: again.store}
		sys, err := again.store.System(t.Context(), "books")
		w.must(err)
		if sys.LookFirst.IsZero() {
			t.Fatal("a backup that was put back is trusted")
		}
		put := w.clock.Now()
		again.record("INV-FORGOTTEN", "INV-FRESH")
		again.run(24 * time.Hour)

		after, fresh := o.audit(t), 1
		for _, key := range []string{"INV-OPEN", "INV-FORGOTTEN", "INV-FRESH"} {
			if sys.Capabilities.Searchable {
				again.wantStatus(key, work.Confirmed)
			} else {
				again.wantStatus(key, work.Review)
				fresh = 0
			}
			for _, a := range again.attempts(key) {
				if a.Kind == work.Send && !a.StartedAt.Before(put) && key != "INV-FRESH" {
					t.Errorf("%s was sent a second time: %+v", key, a)
				}
			}
		}
		if after != before+fresh {
			t.Errorf("%d records outside, there were %d", after, before)
		}
		again.wantStatus("INV-KNOWN", work.Confirmed)

		// An admin ends it, and the next one is sent at once.
		w.must(again.store.EndLookFirst(t.Context(), "books", ada, "the lost day is recorded again"))
		if !sys.Capabilities.Searchable {
			// Nobody has looked for these: as far as the database knows they were never sent, and that is not enough.
			for _, key := range []string{"INV-OPEN", "INV-FORGOTTEN", "INV-FRESH"} {
				var refused *work.Refusal
				if err := again.act(key, work.Retry{By: ada}); !errors.As(err, &refused) || refused.Code != work.RefusedUnsearched {
					t.Errorf("%s is sent again though nobody looked: %v", key, err)
				}
			}
			w.must(again.act("INV-FRESH", work.Attest{By: ada, Note: "I looked there and it is not in the books"}))
			w.must(again.act("INV-FRESH", work.Retry{By: ada}))
			again.run(time.Hour)
			again.wantStatus("INV-FRESH", work.Confirmed)
		}
		again.record("INV-AFTER")
		again.run(time.Hour)
		again.wantStatus("INV-AFTER", work.Confirmed)
		if a := again.attempts("INV-AFTER"); a[len(a)-1].Kind != work.Send {
			t.Errorf("it was looked for first: %+v", a)
		}
		o.audit(t)
	})
}

// copyOf makes a backup with the tools that the manual names; what it returns puts it into a database of its own.
func copyOf(t *testing.T, db storetest.DB, now time.Time) (putBack func() storetest.DB) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "backup")
	if db.Name == "postgres" {
		storetest.Dump(t, db, file)
		return func() storetest.DB {
			fresh := storetest.EmptyPostgres(t)
			storetest.Restore(t, fresh, file)
			return fresh
		}
	}
	if _, err := store.Copy(t.Context(), db.URL, file, now); err != nil {
		t.Fatal(err)
	}
	return func() storetest.DB {
		fresh := storetest.EmptySQLite(t)
		if _, err := store.PutBack(t.Context(), fresh.URL, file, "", now); err != nil {
			t.Fatal(err)
		}
		return fresh
	}
}
