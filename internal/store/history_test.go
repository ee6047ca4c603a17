package store_test

import (
	"database/sql"
	"fmt"
	"strings"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib"

	"onefold/internal/store"
	"onefold/internal/store/storetest"
	"onefold/internal/work"
)

// raw goes past the store, as a careless person with a database tool would.
func raw(t *testing.T, db storetest.DB) *sql.DB {
	t.Helper()
	driver, address := "pgx", db.URL
	if db.Name == "sqlite" {
		driver, address = "sqlite", "file:"+strings.TrimPrefix(db.URL, "sqlite:")+"?_pragma=busy_timeout(5000)"
	}
	conn, err := sql.Open(driver, address)
	must(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

func eachRaw(t *testing.T, test func(t *testing.T, s *store.Store, db *sql.DB)) {
	t.Helper()
	storetest.Each(t, func(t *testing.T, db storetest.DB) {
		s := db.Open(t, store.Config{Clock: newClock().Now})
		must(t, s.DeclareSystem(t.Context(), books()))
		test(t, s, raw(t, db))
	})
}

func TestHistoryCannotBeChanged(t *testing.T) {
	eachRaw(t, func(t *testing.T, s *store.Store, db *sql.DB) {
		it := record(t, s, "INV-1")
		if _, err := apply(t, s, it.ID, work.Hold{By: ada, Note: "wait for the order"}); err != nil {
			t.Fatal(err)
		}
		must(t, s.Pause(t.Context(), "books", ada, "month end"))
		for _, text := range []string{"UPDATE acts SET note = 'x'", "DELETE FROM acts", "UPDATE setting_changes SET after = 'x'", "DELETE FROM setting_changes"} {
			if _, err := db.ExecContext(t.Context(), text); err == nil || !strings.Contains(err.Error(), "cannot be changed") {
				t.Errorf("%s: %v", text, err)
			}
		}
		acts, err := s.Acts(t.Context(), it.ID, 10)
		must(t, err)
		if len(acts) != 1 || acts[0].Note != "wait for the order" || !acts[0].By.Same(ada) || acts[0].To != work.Review {
			t.Fatalf("acts: %+v", acts)
		}
	})
}

func TestChecksRepeatTheInvariants(t *testing.T) {
	eachRaw(t, func(t *testing.T, s *store.Store, db *sql.DB) {
		record(t, s, "INV-1")
		now := "1"
		if _, err := db.ExecContext(t.Context(), "SELECT now()"); err == nil {
			now = "now()"
		}
		for _, set := range []string{
			"status = 'done'", "reason = 'because'", "status = 'review'", "status = 'in_progress'", "due_at = NULL",
			"open_attempt = 1", "attempts = 1, open_attempt = 1, open_kind = 'send'", "lease_until = " + now, "open_kind = 'find'",
			"status = 'failed', unsettled = '1'", "status = 'confirmed'", "status = 'confirmed', external_id = 'x'", "status = 'resolved'",
			"sends = -1", "sends = 2", "attempts = 1, sends = 1, sends_used = 2", "version = 0", "positive = 'maybe'", "last_look = 'soon'",
		} {
			if _, err := db.ExecContext(t.Context(), "UPDATE items SET "+set); err == nil {
				t.Errorf("the database took %s", set)
			}
		}
		for _, set := range []string{"status = 'review', reason = 'held', due_at = NULL", "status = 'confirmed', external_id = 'x', evidence = 'answer'"} {
			if _, err := db.ExecContext(t.Context(), "UPDATE items SET "+set); err != nil {
				t.Errorf("the database refused %s: %v", set, err)
			}
		}
		claimOpen := "INSERT INTO attempts (item_id, number, kind, late_for, node, asked_by, revision, reference, idem_key, started_at"
		for _, more := range []string{", ended_at) VALUES (1, 1, 'send', 0, '', '', 1, 'r', 'k', " + now + ", " + now + ")",
			", outcome) VALUES (1, 1, 'send', 0, '', '', 1, 'r', 'k', " + now + ", 'accepted')",
			", ended_at, finding) VALUES (1, 1, 'send', 0, '', '', 1, 'r', 'k', " + now + ", " + now + ", 'not_found')"} {
			if _, err := db.ExecContext(t.Context(), claimOpen+more); err == nil {
				t.Errorf("the database took an attempt with %s", more)
			}
		}
	})
}

// No state change depends on the length or the encoding of a text.
func TestAnyTextIsStored(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store.Store, _ *clock) {
		it := record(t, s, "INV-1")
		bad := "no \x00, no \xff\xfe, " + strings.Repeat("ü", 40000)
		_, err := closeWith(t.Context(), s, claim(t, s, 1), func(work.Item) work.Answer {
			return work.Answer{Outcome: work.Unknown, Exchange: work.Exchange{Error: bad, Request: bad, Response: bad, Identity: bad}}
		})
		must(t, err)
		if got := read(t, s, it.ID); got.Status != work.Pending || !strings.HasPrefix(got.LastError, "no \uFFFD") {
			t.Fatalf("%s, %.20q", got.Status, got.LastError)
		}
		if _, err := apply(t, s, it.ID, work.Hold{By: ada, Note: bad}); err != nil {
			t.Fatal(err)
		}
	})
}

// A correction replaces the content, a proposal may be typed again, and what was sent stays.
func TestRevisionsAndProposals(t *testing.T) {
	eachRaw(t, func(t *testing.T, s *store.Store, db *sql.DB) {
		it := record(t, s, "INV-1")
		corrected := func(customer string) work.Invoice {
			v := it.Invoice
			v.CustomerID = customer
			return v
		}
		if _, err := apply(t, s, it.ID, work.Correct{By: ada, Invoice: corrected("C-2"), Note: "wrong customer"}); err != nil {
			t.Fatal(err)
		}
		if got := read(t, s, it.ID); got.Revision != 2 || got.Invoice.CustomerID != "C-2" {
			t.Fatalf("revision %d for %s", got.Revision, got.Invoice.CustomerID)
		}
		_, err := closeWith(t.Context(), s, claim(t, s, 1), func(work.Item) work.Answer { return work.Answer{Outcome: work.Unknown} })
		must(t, err)
		for _, customer := range []string{"C-3", "C-4"} {
			if _, err := apply(t, s, it.ID, work.Correct{By: ada, Invoice: corrected(customer), Note: "wrong customer"}); err != nil {
				t.Fatal(err)
			}
		}
		if got := read(t, s, it.ID); got.Revision != 2 || got.Proposed != 3 || got.Invoice.CustomerID != "C-2" {
			t.Fatalf("revision %d, proposed %d, for %s", got.Revision, got.Proposed, got.Invoice.CustomerID)
		}
		var list []string
		rows, err := db.QueryContext(t.Context(), "SELECT customer_id FROM revisions ORDER BY number")
		must(t, err)
		defer rows.Close() //nolint:errcheck // a test
		for rows.Next() {
			var customer string
			must(t, rows.Scan(&customer))
			list = append(list, customer)
		}
		must(t, rows.Err())
		if fmt.Sprint(list) != "[C-1 C-2 C-4]" {
			t.Fatalf("revisions: %v", list)
		}
	})
}

func TestAttemptsArePaged(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store.Store, c *clock) {
		it := record(t, s, "INV-1")
		for range 3 {
			_, err := closeWith(t.Context(), s, claim(t, s, 1), func(work.Item) work.Answer {
				return work.Answer{Outcome: work.Rejected, Exchange: work.Exchange{HTTPStatus: 422}}
			})
			must(t, err)
			c.advance(3 * time.Hour)
		}
		first, err := s.Attempts(t.Context(), it.ID, 0, 2)
		must(t, err)
		second, err := s.Attempts(t.Context(), it.ID, first[1].Number, 2)
		must(t, err)
		if len(first) != 2 || first[0].Number != 3 || len(second) != 1 || second[0].Number != 1 {
			t.Fatalf("pages: %d and %d rows", len(first), len(second))
		}
	})
}
