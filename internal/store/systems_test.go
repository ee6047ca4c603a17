package store_test

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"testing"
	"time"

	"onefold/internal/store"
	"onefold/internal/store/storetest"
	"onefold/internal/work"
)

// retune sets what admins tune as it is in sys.
func retune(t *testing.T, s *store.Store, to work.System) {
	t.Helper()
	must(t, s.SetLimits(t.Context(), to.ID, ada, "", "", func(sys work.System) (work.System, error) {
		sys.Policy, sys.MaxInFlight, sys.PerSecond = to.Policy, to.MaxInFlight, to.PerSecond
		return sys, nil
	}))
}

func TestDeclaringKeepsWhatAdminsTuned(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store.Store, _ *clock) {
		was, err := s.System(t.Context(), "books")
		must(t, err)
		was.Policy.Sends, was.MaxInFlight, was.PerSecond = 3, 7, 2.5
		retune(t, s, was)
		must(t, s.SetIdentity(t.Context(), "books", "tenant-1"))
		declared := books()
		declared.Name, declared.Identity = "New name", "tenant-1"
		must(t, s.DeclareSystem(t.Context(), declared))
		got, err := s.System(t.Context(), "books")
		must(t, err)
		if got.Name != "New name" || got.Policy.Sends != 3 || got.MaxInFlight != 7 || got.PerSecond != 2.5 {
			t.Fatalf("%+v", got)
		}
		declared.Identity = "tenant-2"
		if err := s.DeclareSystem(t.Context(), declared); !errors.Is(err, store.ErrIdentityChanged) {
			t.Errorf("other books were taken: %v", err)
		}
		if err := s.SetIdentity(t.Context(), "books", "tenant-2"); !errors.Is(err, store.ErrIdentityChanged) {
			t.Errorf("other books were taken: %v", err)
		}
		if err := s.Pause(t.Context(), "none", ada, "x"); !errors.Is(err, store.ErrSystemUnknown) {
			t.Errorf("a system that is not there: %v", err)
		}
	})
}

func TestSettingsAreRecorded(t *testing.T) {
	eachRaw(t, func(t *testing.T, s *store.Store, db *sql.DB) {
		must(t, s.Pause(t.Context(), "books", ada, "month end"))
		sys, err := s.System(t.Context(), "books")
		must(t, err)
		if sys.PausedAt.IsZero() || sys.PausedBy != ada.Label() || !sys.Rules().NoSends {
			t.Fatalf("paused: %+v", sys)
		}
		must(t, s.Resume(t.Context(), "books", ada, ""))
		must(t, s.StartLookFirst(t.Context(), "books", "cut-over"))
		must(t, s.EndLookFirst(t.Context(), "books", ada, ""))
		must(t, s.StartLookFirst(t.Context(), "", "invoices were keyed in by hand"))
		must(t, s.EndLookFirst(t.Context(), "", ada, ""))
		var n int
		must(t, db.QueryRowContext(t.Context(), "SELECT count(*) FROM setting_changes WHERE what IN ('pause', 'resume', 'look first on', 'look first off')").Scan(&n))
		if n != 6 {
			t.Errorf("%d changes are recorded, want 6", n)
		}
		if sys, err = s.System(t.Context(), "books"); err != nil || !sys.LookFirst.IsZero() || !sys.PausedAt.IsZero() {
			t.Errorf("after all: %+v, %v", sys, err)
		}
	})
}

func TestBreakerAndLogin(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store.Store, c *clock) {
		until := c.Now().Add(time.Minute)
		must(t, s.SetBreaker(t.Context(), "books", until, "five calls in a row failed"))
		must(t, s.SetLogin(t.Context(), "books", "the token has expired"))
		sys, err := s.System(t.Context(), "books")
		if err != nil || !sys.BreakerUntil.Equal(until) || sys.LoginProblem == "" || !sys.Rules().NoSends {
			t.Fatalf("%+v, %v", sys, err)
		}
		must(t, s.SetBreaker(t.Context(), "books", time.Time{}, ""))
		must(t, s.SetLogin(t.Context(), "books", ""))
		if sys, err = s.System(t.Context(), "books"); err != nil || sys.Rules().NoSends {
			t.Fatalf("%+v, %v", sys, err)
		}
	})
}

func TestAlertsAreRaisedOnce(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store.Store, c *clock) {
		for i, want := range []bool{true, false} {
			if isNew, err := s.RaiseAlert(t.Context(), "books", "overdue", "2 invoices are overdue"); err != nil || isNew != want {
				t.Fatalf("%d: new %v, %v", i, isNew, err)
			}
		}
		open, err := s.Alerts(t.Context())
		if err != nil || len(open) != 1 || open[0].Cause != "overdue" || !open[0].RaisedAt.Equal(c.Now()) {
			t.Fatalf("%+v, %v", open, err)
		}
		must(t, s.ClearAlerts(t.Context(), "books", "overdue"))
		if isNew, err := s.RaiseAlert(t.Context(), "books", "overdue", "again"); err != nil || !isNew {
			t.Fatalf("after it was cleared: new %v, %v", isNew, err)
		}
	})
}

func TestOverdueCountsOpenItems(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store.Store, c *clock) {
		record(t, s, "INV-1")
		closeAll(t, s, claim(t, s, 1))
		late := record(t, s, "INV-2")
		claim(t, s, 1) // a call that does not end
		record(t, s, "INV-3")
		c.advance(books().Policy.SettleWithin + time.Minute)
		list, err := s.Overdue(t.Context(), c.Now())
		if err != nil || len(list) != 1 || list[0].Count != 2 || !list[0].Oldest.Equal(late.SettleBy) {
			t.Fatalf("%+v, %v", list, err)
		}
	})
}

// Each server asks all the time, so what is done and stays for ever must not be read.
func TestOverdueReadsOnlyWhatIsOpen(t *testing.T) {
	onlyWhatIsOpen(t, store.OverduePlan)
}

func TestOpenItemsReadsOnlyWhatIsOpen(t *testing.T) {
	onlyWhatIsOpen(t, store.OpenPlan)
}

func onlyWhatIsOpen(t *testing.T, asked func(context.Context, *store.Store) (string, error)) {
	t.Helper()
	storetest.Each(t, func(t *testing.T, db storetest.DB) {
		if db.Name == "postgres" { // it reads an empty table whole otherwise
			db.URL += "&enable_seqscan=off"
		}
		plan, err := asked(t.Context(), db.Open(t, store.Config{}))
		if err != nil || !strings.Contains(plan, "items_open_settle") || !strings.Contains(plan, "items_leased") || strings.Contains(plan, "items_list") ||
			strings.Contains(plan, "SEARCH i USING INTEGER PRIMARY KEY") || strings.Contains(plan, "Seq Scan on items") {
			t.Errorf("%v\n%s", err, plan)
		}
	})
}

func TestWakeups(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db storetest.DB) {
		here := db.Open(t, store.Config{})
		must(t, here.DeclareSystem(t.Context(), books()))
		other := here
		if db.Name == "postgres" { // another server hears it too
			other = db.Open(t, store.Config{})
			// It wakes all systems once it listens; after that only new work wakes it.
			wait(t, other)
		}
		record(t, here, "INV-1")
		wait(t, here)
		if other != here {
			wait(t, other)
		}
		claimed := claim(t, here, 1)
		if _, err := closeWith(t.Context(), here, claimed, accepted); err != nil {
			t.Fatal(err)
		}
		if due, err := here.NextDue(t.Context(), "books"); err != nil || !due.IsZero() {
			t.Fatalf("next due: %v, %v", due, err)
		}
	})
}

func wait(t *testing.T, s *store.Store) {
	t.Helper()
	select {
	case id := <-s.Wakeups():
		if id != "books" {
			t.Fatalf("woken for %q", id)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("nobody was woken")
	}
}
