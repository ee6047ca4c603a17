package store_test

import (
	"fmt"
	"testing"
	"time"

	"onefold/internal/review"
)

// Runs and files end in another order than they begin, and what began early and ended late must go too.
func TestPartsGoInWhateverOrderTheyEnd(t *testing.T) {
	eachAged(t, func(w *aged) {
		first := fmt.Sprintf("(SELECT recorded_at FROM item_keys WHERE item_id = %d)", w.settled.ID)
		late := fmt.Sprintf("(SELECT recorded_at FROM item_keys WHERE item_id = %d)", w.fresh.ID)
		for n, ends := range []string{late, first, "NULL", first} {
			run, file := "finished", "done"
			if ends == "NULL" {
				run, file = "running", "holding"
			}
			w.exec("INSERT INTO bulk_runs (company_id, form, plan, state, actor_kind, actor_id, actor_name, actor_roles, began_at, ended_at)"+
				" VALUES (1, 'f%d', 'check', '%s', 'person', '7', 'Ada', 'admin', %s, %s)", n, run, first, ends)
			w.exec("INSERT INTO imports (company_id, system_id, automation, name, state, version, made_by, made_at, done_at, body)"+
				" VALUES (1, 'books', 'import', 'a.csv', '%s', 1, '{}', %s, %s, '{}')", file, first, ends)
			w.exec("INSERT INTO import_chunks (import_id, n, content) SELECT max(id), 0, 'x' FROM imports")
			for part := range 3 {
				w.exec("INSERT INTO bulk_items (run_id, n, item_id, version, outcome) SELECT max(id), %d, %d, 1, 'done' FROM bulk_runs", part+1, []int64{w.settled.ID, w.open.ID, w.fresh.ID}[part])
				w.exec("INSERT INTO import_rows (import_id, n, line, outcome, key, customer, currency, amount, detail, who, content)"+
					" SELECT max(id), %d, 1, 'new', 'k', 'c', 'EUR', '1', '', '', '' FROM imports", part+1)
			}
		}
		left := func(runs, files int) {
			w.Helper()
			for _, c := range []struct {
				rows string
				want int
			}{{"bulk_items", 3 * runs}, {"import_rows", 3 * files}, {"import_chunks", files}} {
				if n := w.count("%s", c.rows); n != c.want {
					w.Errorf("%s: %d rows are left, not %d", c.rows, n, c.want)
				}
			}
		}
		would := func(want int64) {
			w.Helper()
			for _, k := range []review.HistoryKind{review.BulkSets, review.FileRows} {
				if n, err := w.store.Aged(w.Context(), 1, k, w.clock.Now().AddDate(0, -24, 0), 100); err != nil || n != want {
					w.Errorf("%s: the preview counts %d, %v", k, n, err)
				}
			}
		}
		would(2)
		w.run()
		left(2, 2) // those that ended late, and those that have not ended
		would(0)
		w.clock.advance(25 * 31 * 24 * time.Hour)
		would(1)
		w.run()
		left(1, 1)
		w.exec("UPDATE bulk_runs SET state = 'stopped', ended_at = %s WHERE ended_at IS NULL", late)
		w.exec("UPDATE imports SET state = 'stopped' WHERE state = 'holding'")
		w.run()
		left(0, 0)
	})
}

// A message that had to stay when the others of its time went, goes once its invoice is settled.
func TestMessagesGoOnceTheirInvoiceIsSettled(t *testing.T) {
	eachAged(t, func(w *aged) {
		for n, it := range []int64{w.open.ID, w.open.ID, w.settled.ID, w.open.ID, w.fresh.ID} {
			at := fmt.Sprintf("(SELECT recorded_at FROM item_keys WHERE item_id = %d)", it)
			w.exec("INSERT INTO events (company_id, kind, sender, event_id, type, subject, digest, received_at, times, result, detail, item_id)"+
				" VALUES (1, 'orders', 'shop', 'e%d', 't', 's', 'd', %s, 1, 'recorded', '', %d)", n, at, it)
		}
		before := w.clock.Now().AddDate(0, -24, 0)
		tick := func(limit int) (removed int64) {
			w.Helper()
			for more := true; more; {
				n, again, err := w.store.RemoveAged(w.Context(), 1, review.Received, before, limit)
				must(w.T, err)
				removed, more = removed+n, again
			}
			return removed
		}
		if n := tick(2); n != 1 || w.count("events") != 4 {
			w.Fatalf("%d went, %d are left", n, w.count("events"))
		}
		for range 5 {
			if n := tick(2); n != 0 {
				w.Fatalf("%d of an invoice that is not settled went", n)
			}
		}
		if n, err := w.store.Aged(w.Context(), 1, review.Received, before, 100); err != nil || n != 0 {
			w.Errorf("the preview counts what stays: %d, %v", n, err)
		}
		w.exec("UPDATE items SET status = 'confirmed', reason = '' WHERE id = %d", w.open.ID)
		var removed int64
		for range 3 {
			removed += tick(2)
		}
		if left := w.count("events"); removed != 3 || left != 1 {
			w.Errorf("after the invoice was settled %d went, %d are left", removed, left)
		}
		// A time that was made longer holds for them as well.
		w.exec("UPDATE items SET status = 'review', reason = 'contradiction' WHERE id = %d", w.fresh.ID)
		early := before
		before = w.clock.Now().Add(time.Hour)
		tick(2)
		w.exec("UPDATE items SET status = 'confirmed', reason = '' WHERE id = %d", w.fresh.ID)
		before = early
		for range 3 {
			tick(2)
		}
		if n := w.count("events"); n != 1 {
			w.Error("a message went before its time")
		}
	})
}
