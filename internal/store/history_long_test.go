package store_test

import (
	"database/sql"
	"fmt"
	"strings"
	"testing"
	"time"

	"onefold/internal/auth"
	"onefold/internal/review"
	"onefold/internal/store"
	"onefold/internal/store/storetest"
	"onefold/internal/work"
)

// looks are so many attempts of an item: a send, then looks that brought nothing.
func looks(id int64, n int, at time.Time) []work.Attempt {
	list := make([]work.Attempt, n)
	for i := range list {
		list[i] = work.Attempt{ItemID: id, Number: i + 1, Kind: work.Find, Node: "one", Revision: 1, Reference: "R", Key: "K", StartedAt: at.Add(time.Duration(i) * time.Second),
			EndedAt: at.Add(time.Duration(i) * time.Second), Finding: work.FindDeferred, Request: "GET", Response: "429"}
	}
	list[0].Kind, list[0].Finding, list[0].Outcome = work.Send, "", work.Unknown
	return list
}

// An older part of a history begins where it begins in the index: what is newer is not read, whatever the plan is made for.
func TestAnOlderPartReadsNothingNewer(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db storetest.DB) {
		s, conn := db.Open(t, store.Config{}), raw(t, db)
		text, want := "EXPLAIN QUERY PLAN "+store.AttemptsPartText(s), "item_id=? AND number<?"
		args := []any{1, 21, 20}
		if db.Name == "postgres" {
			c, err := conn.Conn(t.Context())
			must(t, err)
			defer c.Close()
			for _, do := range []string{"SET plan_cache_mode = force_generic_plan", "SET enable_seqscan = off", "SET enable_bitmapscan = off", "PREPARE part (bigint, int, int) AS " + store.AttemptsPartText(s)} {
				_, err := c.ExecContext(t.Context(), do)
				must(t, err)
			}
			rows, err := c.QueryContext(t.Context(), "EXPLAIN EXECUTE part (1, 21, 20)")
			must(t, err)
			wantPlan(t, rows, "(number < $2)", 0)
			return
		}
		rows, err := conn.QueryContext(t.Context(), text, args...)
		must(t, err)
		wantPlan(t, rows, want, 3)
	})
}

// wantPlan looks for a condition on an index in a plan, which stands in the column.
func wantPlan(t *testing.T, rows *sql.Rows, want string, column int) {
	t.Helper()
	defer rows.Close()
	var plan strings.Builder
	for rows.Next() {
		columns, err := rows.Columns()
		must(t, err)
		dests, values := make([]any, len(columns)), make([]any, len(columns))
		for i := range dests {
			dests[i] = &values[i]
		}
		must(t, rows.Scan(dests...))
		fmt.Fprintln(&plan, values[column])
	}
	must(t, rows.Err())
	for line := range strings.Lines(plan.String()) {
		if strings.Contains(line, want) && (column > 0 || strings.Contains(line, "Index Cond")) {
			return
		}
	}
	t.Errorf("no %q in\n%s", want, plan.String())
}

// A batch of removing is bounded by attempts: an item may have thousands.
func TestABatchIsBoundedByAttempts(t *testing.T) {
	for _, kind := range []review.HistoryKind{review.Excerpts, review.Attempts} {
		t.Run(string(kind), func(t *testing.T) {
			storetest.Each(t, func(t *testing.T, db storetest.DB) {
				c, conn := newClock(), raw(t, db)
				s := db.Open(t, store.Config{Clock: c.Now})
				must(t, s.DeclareSystem(t.Context(), books()))
				want := int64(0)
				for i, n := range []int{1500, 1500, 4500, 3} {
					it := record(t, s, fmt.Sprintf("INV-%d", i))
					must(t, store.PutAttempts(t.Context(), s, looks(it.ID, n, c.Now())))
					_, err := conn.ExecContext(t.Context(), fmt.Sprintf("UPDATE items SET attempts = %d, sends = 1, status = 'closed', due_at = NULL WHERE id = %d", n, it.ID))
					must(t, err)
					if want += int64(n); kind == review.Attempts {
						want-- // the last send stays
					}
				}
				must(t, store.PutAttempts(t.Context(), s, looks(record(t, s, "INV-OPEN").ID, 1, c.Now().Add(3*time.Hour)))) // stays, and what is before it is counted
				_, err := conn.ExecContext(t.Context(), "UPDATE figures_place SET counted_to = (SELECT max(started_at) FROM attempts)")
				must(t, err)
				c.advance(24 * time.Hour)
				var batches []int64
				sum := int64(0)
				for more := true; more; {
					var n int64
					n, more, err = s.RemoveAged(t.Context(), 1, kind, c.Now().Add(-time.Hour), 500)
					must(t, err)
					if sum += n; n > 0 {
						batches = append(batches, n)
					}
				}
				if sum != want || len(batches) < 3 || batches[0] > 1500 {
					t.Errorf("%d, want %d, in %v", sum, want, batches)
				}
				var left int64
				must(t, conn.QueryRowContext(t.Context(), "SELECT count(*) FROM attempts WHERE request <> '' OR kind = 'find'").Scan(&left))
				if kind == review.Attempts && left != 5 || kind == review.Excerpts && left != want-4+1 {
					t.Errorf("%d are left", left)
				}
				gone, err := s.Removed(t.Context(), 1)
				must(t, err)
				if gone[kind].Rows != want {
					t.Errorf("%d are said to be gone", gone[kind].Rows)
				}
			})
		})
	}
}

// However little of the trail a page looks through: each record that the filter means is on exactly one page, in order.
func TestAFilteredTrailLooksThroughSoMuch(t *testing.T) {
	store.SetLookThrough(t, 2, 2, 500)
	eachStore(t, func(t *testing.T, s *store.Store, c *clock) {
		trail(t, s, c)
		other := record(t, s, "INV-2")
		for range 20 {
			_, err := apply(t, s, other.ID, work.Note{By: work.Actor{Kind: work.Person, ID: "8", Name: "Otto"}, Text: "month end"})
			must(t, err)
			c.advance(time.Minute)
		}
		var all []auth.Record
		for r, err := range s.AuditAll(t.Context(), auth.AuditFilter{}) {
			must(t, err)
			all = append(all, r)
		}
		for name, f := range map[string]auth.AuditFilter{"who": {Who: "person:7"}, "what": {What: []string{auth.DidExport}}, "text": {Text: "192.0.2"}, "item": {Object: "item:1"}} {
			var got, want []auth.Record
			for _, r := range all {
				if f.Who != "" && r.By.ID == "7" || f.Text != "" && r.From.Address != "" || f.What != nil && r.What == auth.DidExport || f.Object != "" && strings.HasPrefix(r.Object, "item:1 ") {
					want = append(want, r)
				}
			}
			further := 0
			for f.Limit = 3; ; {
				page, err := s.AuditPage(t.Context(), f)
				must(t, err)
				got = append(got, page.Records...)
				if f.After = page.Next; f.After.Source == "" {
					if f.After = page.Further; f.After.Source == "" {
						break
					}
					further++
				}
			}
			if fmt.Sprint(got) != fmt.Sprint(want) || len(want) == 0 || further == 0 && name != "item" {
				t.Errorf("%s: %v, want %v; %d times further", name, whats(got), whats(want), further)
			}
		}
	})
}
