package store_test

import (
	"database/sql"
	"errors"
	"strings"
	"testing"
	"time"

	"onefold/internal/automation"
	"onefold/internal/automation/events"
	"onefold/internal/store"
	"onefold/internal/work"
)

func second() work.System {
	s := books()
	s.ID, s.Name, s.Identity = "second", "Second", "tenant-2"
	return s
}

// Whoever reads a system never gets its credentials with it, and what goes on record about them is what was said.
func TestCredentialsAreKeptApart(t *testing.T) {
	eachRaw(t, func(t *testing.T, s *store.Store, db *sql.DB) {
		must(t, s.AddSystem(t.Context(), second(), "sealed-1", ada))
		if err := s.AddSystem(t.Context(), second(), "sealed-2", ada); !errors.Is(err, automation.ErrIDTaken) {
			t.Errorf("an id was given twice: %v", err)
		}
		sys, err := s.System(t.Context(), "second")
		must(t, err)
		if got, err := s.Credentials(t.Context(), "second"); err != nil || got != "sealed-1" {
			t.Fatalf("%q %v", got, err)
		}
		must(t, s.SetBreaker(t.Context(), "second", time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC), "not reached"))
		must(t, s.SetLogin(t.Context(), "second", "expired"))
		next := "sealed-3"
		change := automation.ConnectionChange{Mark: automation.ConnectionMark(sys), By: ada, Name: sys.Name, Address: "http://elsewhere", Capabilities: sys.Capabilities,
			Steps: sys.Steps, Identity: "tenant-2", Sealed: &next, Records: []automation.SettingText{{What: "connection", After: "{}"}, {What: "credentials", After: "API token: replaced"}}}
		must(t, s.ChangeConnection(t.Context(), "second", change))
		if err := s.ChangeConnection(t.Context(), "second", change); !errors.Is(err, automation.ErrConnectionChanged) {
			t.Errorf("a stale page was obeyed: %v", err)
		}
		is, err := s.System(t.Context(), "second")
		must(t, err)
		if is.Address != "http://elsewhere" || is.CredentialsVersion != sys.CredentialsVersion+1 || is.LoginProblem != "" || !is.BreakerUntil.IsZero() || !is.BreakerSince.IsZero() {
			t.Errorf("%+v", is)
		}
		change.Mark, change.Identity = automation.ConnectionMark(is), "tenant-3"
		if err := s.ChangeConnection(t.Context(), "second", change); !errors.Is(err, automation.ErrOtherBooks) {
			t.Errorf("other books were taken: %v", err)
		}
		must(t, s.Reseal(t.Context(), "second", "not what it was", "lost"))
		must(t, s.Reseal(t.Context(), "second", "sealed-3", "sealed-4"))
		if got, err := s.Credentials(t.Context(), "second"); err != nil || got != "sealed-4" {
			t.Errorf("sealed anew: %q %v", got, err)
		}
		must(t, s.DeclareSystem(t.Context(), second())) // from the console: credentials stay
		if got, err := s.Credentials(t.Context(), "second"); err != nil || got != "sealed-4" {
			t.Errorf("after declaring: %q %v", got, err)
		}
		var leaks int
		must(t, db.QueryRowContext(t.Context(), "SELECT count(*) FROM setting_changes WHERE before || after LIKE '%sealed%'").Scan(&leaks))
		if leaks != 0 {
			t.Error("credentials are on record")
		}
		changes, err := s.SystemChanges(t.Context(), "second", 10)
		if err != nil || len(changes) != 3 || changes[0].What != "credentials" || changes[2].What != "system added" || changes[0].By.Name != ada.Name {
			t.Errorf("%+v %v", changes, err)
		}
	})
}

// A system with items is never removed; one without goes, and its id never names another one.
func TestSystemsInUseStay(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store.Store, c *clock) {
		record(t, s, "INV-1")
		if err := s.RemoveSystem(t.Context(), "books", ada); !errors.Is(err, automation.ErrSystemUsed) || !strings.Contains(err.Error(), "invoices were recorded") {
			t.Fatalf("%v", err)
		}
		must(t, s.AddSystem(t.Context(), second(), "", ada))
		sender := events.Sender{CompanyID: 1, Kind: events.System, ID: "second", Name: "Second", SystemID: "second", Sealed: "sealed", SecretN: 1, ChangedAt: c.Now()}
		must(t, s.PutSender(t.Context(), sender, ada, events.DidConnect))
		if err := s.RemoveSystem(t.Context(), "second", ada); !errors.Is(err, automation.ErrSystemUsed) || !strings.Contains(err.Error(), "senders of events") {
			t.Fatalf("%v", err)
		}
		must(t, s.RemoveSender(t.Context(), 1, events.System, "second", ada))
		must(t, s.AddCalls(t.Context(), "second", work.Calls{All: 1}))
		if _, err := s.RaiseAlert(t.Context(), "second", "breaker", "it does not answer"); err != nil {
			t.Fatal(err)
		}
		must(t, s.RemoveSystem(t.Context(), "second", ada))
		if _, err := s.System(t.Context(), "second"); !errors.Is(err, store.ErrSystemUnknown) {
			t.Errorf("it is still there: %v", err)
		}
		if open, err := s.Alerts(t.Context()); err != nil || len(open) != 0 {
			t.Errorf("its alerts stay: %v %v", open, err)
		}
		if taken, err := s.SystemIDTaken(t.Context(), "second"); err != nil || !taken {
			t.Errorf("its id is free: %v", err)
		}
		if taken, err := s.SystemIDTaken(t.Context(), "third"); err != nil || taken {
			t.Errorf("a new id is taken: %v", err)
		}
		if calls, err := s.SystemCalls(t.Context(), c.Now().Add(-time.Hour)); err != nil || len(calls) != 0 {
			t.Errorf("its calls stay: %v %v", calls, err)
		}
	})
}

func TestCallsAreSummedUp(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store.Store, c *clock) {
		for range 3 {
			must(t, s.AddCalls(t.Context(), "books", work.Calls{All: 10, Unanswered: 2, NotSent: 3, Refused: 1}))
			c.advance(30 * time.Minute)
		}
		hour, err := s.SystemCalls(t.Context(), c.Now().Add(-time.Hour))
		must(t, err)
		day, err := s.SystemCalls(t.Context(), c.Now().Add(-24*time.Hour))
		must(t, err)
		if hour["books"] != (work.Calls{All: 20, Unanswered: 4, NotSent: 6, Refused: 2}) || day["books"] != (work.Calls{All: 30, Unanswered: 6, NotSent: 9, Refused: 3}) {
			t.Fatalf("hour %+v, day %+v", hour, day)
		}
		c.advance(49 * time.Hour)
		must(t, s.AddCalls(t.Context(), "books", work.Calls{All: 1}))
		all, err := s.SystemCalls(t.Context(), time.Unix(0, 0))
		if err != nil || all["books"].All != 1 {
			t.Errorf("old numbers stay: %+v %v", all, err)
		}
	})
}
