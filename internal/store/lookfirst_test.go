package store_test

import (
	"database/sql"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"onefold/internal/store"
	"onefold/internal/store/storetest"
	"onefold/internal/work"
)

// A decision of a person is no less forgotten than a send: an invoice that was keyed in by hand and marked so would be sent by
// the older database.
func TestActsMoveTheMark(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db storetest.DB) {
		mark := filepath.Join(t.TempDir(), "onefold.mark")
		open := func() *store.Store {
			s, err := store.Open(t.Context(), store.Config{URL: db.URL, Mark: mark, MaxConns: 4})
			must(t, err)
			return s
		}
		s := open()
		must(t, s.DeclareSystem(t.Context(), books()))
		it := record(t, s, "INV-1")
		_, err := apply(t, s, it.ID, work.Hold{By: ada, Note: "they want it by hand"})
		must(t, err)
		must(t, s.Close())
		file := strings.TrimPrefix(db.URL, "sqlite:")
		older, _ := os.ReadFile(file)

		s = open()
		_, err = apply(t, s, it.ID, work.Resolve{By: ada, Reference: "2026-117", Note: "keyed in by hand"})
		must(t, err)
		must(t, s.Close())
		if s = open(); looksFirst(t, s) {
			t.Fatal("an ordinary restart looks first")
		}
		must(t, s.Close())

		if db.Name == "sqlite" {
			must(t, os.WriteFile(file, older, 0o600))
		} else {
			for _, text := range []string{"ALTER TABLE acts DISABLE TRIGGER USER", "DELETE FROM acts WHERE what = 'resolve'", "ALTER TABLE acts ENABLE TRIGGER USER",
				"UPDATE items SET status = 'review', reason = 'held', external_id = '', external_number = '', evidence = '', positive = '', version = version - 1"} {
				_, err := raw(t, db).ExecContext(t.Context(), text)
				must(t, err)
			}
		}
		s = open()
		defer s.Close() //nolint:errcheck // it served its purpose
		if is := read(t, s, it.ID); is.Status != work.Review {
			t.Fatalf("nothing was put back: %+v", is)
		}
		if !looksFirst(t, s) {
			t.Fatal("a database that forgot a person's decision is trusted")
		}
	})
}

// A proof of before look-first never counts again, also when the clock that it was made by was ahead of ours: the time at which
// it was made then comes a second time.
func TestProofsOfBeforeAreVoid(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store.Store, c *clock) {
		var ids []int64
		for _, key := range []string{"INV-1", "INV-2"} {
			it := record(t, s, key)
			_, err := apply(t, s, it.ID, work.Hold{By: ada, Note: "wait"})
			must(t, err)
			_, err = apply(t, s, it.ID, work.Attest{By: ada, Note: "I looked there, it is not in the books"})
			must(t, err)
			ids = append(ids, it.ID)
		}
		c.advance(-20 * time.Minute)
		must(t, s.StartLookFirst(t.Context(), "", "another machine"))
		sys, err := s.System(t.Context(), "books")
		must(t, err)
		for _, id := range ids {
			it := read(t, s, id)
			for now := c.Now(); now.Before(c.Now().Add(2 * time.Hour)); now = now.Add(time.Minute) {
				if proof, err := work.Gate(it, sys.Rules(), now); err == nil {
					t.Fatalf("at %s the gate is open by %s", now, proof)
				}
			}
		}
		c.advance(time.Hour)
		if _, err := apply(t, s, ids[0], work.Attest{By: ada, Note: "I looked again, it is not in the books"}); err != nil {
			t.Fatal(err)
		}
		if proof, err := work.Gate(read(t, s, ids[0]), sys.Rules(), c.Now()); err != nil || proof != work.ProofAttested {
			t.Errorf("who looks again is not believed: %s, %v", proof, err)
		}
	})
}

// What is connected while the installation looks first looks first too; what is connected later does not, with a reason of then.
func TestLookFirstEndsWithTheLastSystem(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store.Store, _ *clock) {
		connect := func(id string) (looks bool) {
			t.Helper()
			sys := books()
			sys.ID, sys.Name = id, id
			must(t, s.DeclareSystem(t.Context(), sys))
			sys, err := s.System(t.Context(), id)
			must(t, err)
			return !sys.LookFirst.IsZero()
		}
		must(t, s.StartLookFirst(t.Context(), "", "a restored backup"))
		if !connect("shop") {
			t.Error("a system that is connected while everything looks first sends at once")
		}
		must(t, s.EndLookFirst(t.Context(), "books", ada, "done"))
		if !connect("second shop") {
			t.Error("look-first ended with the first system")
		}
		must(t, s.EndLookFirst(t.Context(), "shop", ada, "done"))
		must(t, s.EndLookFirst(t.Context(), "second shop", ada, "done"))
		if connect("new shop") {
			t.Error("a system that is connected after look-first ended looks first")
		}
		must(t, s.StartLookFirst(t.Context(), "", "again"))
		if !connect("newest shop") {
			t.Error("look-first did not begin again")
		}
	})
}

// hiding is a PostgreSQL whose functions refuse or answer as the test says: they stand before its own.
type hiding struct {
	t  *testing.T
	db storetest.DB
	on *sql.DB
}

func newHiding(t *testing.T) hiding {
	t.Helper()
	db := storetest.Postgres(t)
	h := hiding{t, db, raw(t, db)}
	h.do("CREATE SCHEMA host")
	h.do("DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET search_path = host, pg_catalog, public', current_database()); END $$")
	return h
}

func (h hiding) do(text string) {
	h.t.Helper()
	if _, err := h.on.ExecContext(h.t.Context(), text); err != nil {
		h.t.Fatal(err)
	}
}

func (h hiding) refuse(function, code string) {
	h.t.Helper()
	h.do("CREATE OR REPLACE FUNCTION host." + function + " LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'not here' USING ERRCODE = '" + code + "'; END $$")
}

// promoted sets until when this PostgreSQL followed another one; NULL after a restart.
func (h hiding) promoted(at string) {
	h.t.Helper()
	h.do("CREATE OR REPLACE FUNCTION host.pg_last_xact_replay_timestamp() RETURNS timestamptz LANGUAGE sql AS $$ SELECT " + at + "::timestamptz $$")
}

const (
	systemIdentifier = "pg_control_system(OUT system_identifier bigint, OUT version integer)"
	walFile          = "pg_walfile_name(pg_lsn) RETURNS text"
	insertPlace      = "pg_current_wal_insert_lsn() RETURNS pg_lsn"
)

// Where a host keeps its identity to itself the server starts all the same, and says what it cannot notice; a restart of
// either begins nothing.
func TestHiddenIdentityIsNoReasonToStop(t *testing.T) {
	for name, refused := range map[string]map[string]string{
		"no right":                    {systemIdentifier: "42501", walFile: "42501"},
		"another storage":             {insertPlace: "55000"},
		"not made":                    {walFile: "0A000"},
		"only the cluster is hidden":  {systemIdentifier: "42501"},
		"only the timeline is hidden": {walFile: "42501"},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHiding(t)
			for function, code := range refused {
				h.refuse(function, code)
			}
			for range 2 {
				var log strings.Builder
				s := h.db.Open(t, store.Config{Log: slog.New(slog.NewTextHandler(&log, nil))})
				must(t, s.DeclareSystem(t.Context(), books()))
				must(t, store.Recognise(t.Context(), s))
				if looksFirst(t, s) {
					t.Fatal("the database that we know looks first")
				}
				if !strings.Contains(log.String(), "onefold look-first") {
					t.Errorf("nobody is told what is not noticed: %q", log.String())
				}
			}
		})
	}
}

// A replica that is promoted is noticed there too, by servers that run and by those that start, until it is restarted. Its restart
// is no sign.
func TestHiddenTimelineStillTellsAPromotion(t *testing.T) {
	h := newHiding(t)
	h.refuse(walFile, "42501")
	h.promoted("NULL")
	s := h.db.Open(t, store.Config{})
	must(t, s.DeclareSystem(t.Context(), books()))
	for _, c := range []struct {
		name, followed string
		looks          bool
	}{
		{"promoted", "'2026-11-30 12:00:00.25+00'", true},
		{"as it was", "'2026-11-30 12:00:00.25+00'", false},
		{"restarted", "NULL", false},
		{"restarted again", "NULL", false},
		{"another one promoted", "'2026-12-01 08:00+00'", true},
		{"and another one", "'2026-12-01 09:00+00'", true},
	} {
		h.promoted(c.followed)
		must(t, store.Recognise(t.Context(), s))
		if looksFirst(t, s) != c.looks {
			t.Fatalf("%s: looks first: %t", c.name, !c.looks)
		}
		must(t, s.EndLookFirst(t.Context(), "books", ada, "done"))
		if looksFirst(t, h.db.Open(t, store.Config{})) {
			t.Fatalf("%s: what was dealt with is noticed again", c.name)
		}
	}
	h.promoted("'2026-12-02 08:00+00'")
	if !looksFirst(t, h.db.Open(t, store.Config{})) {
		t.Fatal("a server that starts after the promotion trusts the database")
	}
}
