package store_test

import (
	"context"
	"database/sql"
	"fmt"
	"testing"
	"time"

	"onefold/internal/review"
	"onefold/internal/store"
	"onefold/internal/store/storetest"
	"onefold/internal/work"
)

// aged is a world of items, of which the finished ones have three lookups that nobody needs.
type aged struct {
	*testing.T
	store                               *store.Store
	sql                                 *sql.DB
	clock                               *clock
	settled, open, owing, fresh, second work.Item
}

func eachAged(t *testing.T, test func(w *aged)) {
	t.Helper()
	storetest.Each(t, func(t *testing.T, db storetest.DB) {
		w := &aged{T: t, clock: newClock(), sql: raw(t, db)}
		w.store = db.Open(t, store.Config{Clock: w.clock.Now})
		must(t, w.store.DeclareSystem(t.Context(), books()))
		confirmed := func(key string) work.Item {
			it := record(t, w.store, key)
			closeAll(t, w.store, claim(t, w.store, 1))
			w.exec("INSERT INTO attempts (item_id, number, kind, late_for, node, asked_by, revision, reference, idem_key, started_at, ended_at, finding, request, response)"+
				" SELECT item_id, number + n, 'find', 0, node, asked_by, revision, reference, idem_key, started_at, ended_at, 'not_found', 'GET', '[]'"+
				" FROM attempts CROSS JOIN (SELECT 1 AS n UNION SELECT 2 UNION SELECT 3) v WHERE item_id = %d AND number = 1", it.ID)
			return read(t, w.store, it.ID)
		}
		w.settled = confirmed("INV-SETTLED")
		w.owing = confirmed("INV-OWING")
		w.exec("UPDATE items SET last_look = 'owed' WHERE id = %d", w.owing.ID)
		w.second = confirmed("INV-SECOND")
		w.open = confirmed("INV-OPEN")
		w.exec("UPDATE items SET status = 'review', reason = 'contradiction' WHERE id = %d", w.open.ID)
		w.clock.advance(25 * 31 * 24 * time.Hour)
		w.fresh = confirmed("INV-FRESH")
		w.exec("UPDATE figures_place SET counted_to = (SELECT max(started_at) FROM attempts)")
		test(w)
	})
}

func (w *aged) exec(text string, args ...any) {
	w.Helper()
	if _, err := w.sql.ExecContext(w.Context(), fmt.Sprintf(text, args...)); err != nil {
		w.Fatal(err)
	}
}

func (w *aged) count(text string, args ...any) (n int) {
	w.Helper()
	must(w.T, w.sql.QueryRowContext(w.Context(), "SELECT count(*) FROM "+fmt.Sprintf(text, args...)).Scan(&n))
	return n
}

func (w *aged) runner(node string) review.RetentionRunner {
	return review.RetentionRunner{Store: w.store, CompanyID: 1, Node: node, Pause: func(context.Context) {}}
}

// run removes until there is no more.
func (w *aged) run() (removed int64) {
	w.Helper()
	for {
		n, more, err := w.runner("a").RunOnce(w.Context())
		must(w.T, err)
		if removed += n; !more {
			return removed
		}
	}
}

func TestOnlyNeedlessAttemptsGo(t *testing.T) {
	eachAged(t, func(w *aged) {
		if n := w.run(); n != 6+8 { // three of each of two items, and the excerpts of four attempts of each
			w.Errorf("%d rows went", n)
		}
		for _, c := range []struct {
			name string
			it   work.Item
			left int
		}{{"settled", w.settled, 1}, {"second", w.second, 1}, {"open", w.open, 4}, {"owing a look", w.owing, 4}, {"fresh", w.fresh, 4}} {
			if n := w.count("attempts WHERE item_id = %d", c.it.ID); n != c.left {
				w.Errorf("%s: %d attempts are left", c.name, n)
			}
			at, gone, err := w.store.PrunedAttempts(w.Context(), c.it.ID)
			must(w.T, err)
			if whole := c.left == 4; whole != at.IsZero() || whole != (gone == 0) {
				w.Errorf("%s: the page says %d went at %v", c.name, gone, at)
			}
			excerpts := w.count("attempts WHERE item_id = %d AND request <> ''", c.it.ID)
			if whole := c.left == 4; whole && excerpts != 4 || !whole && excerpts != 0 {
				w.Errorf("%s: %d excerpts are left", c.name, excerpts)
			}
		}
		left, err := w.store.Attempts(w.Context(), w.settled.ID, 0, 10)
		must(w.T, err)
		if len(left) != 1 || left[0].Outcome != work.Accepted || left[0].ExternalID == "" {
			w.Errorf("the evidence is gone: %+v", left)
		}
		after := read(w.T, w.store, w.settled.ID)
		if after.Version != w.settled.Version || after.Status != work.Confirmed || after.Attempts != w.settled.Attempts {
			w.Errorf("the item itself was changed: %+v", after)
		}
		if n := w.run(); n != 0 {
			w.Errorf("a second time %d rows went", n)
		}
	})
}

// Attempts that the overview has not counted yet are not removed: it would never know of them.
func TestUncountedAttemptsStay(t *testing.T) {
	eachAged(t, func(w *aged) {
		w.exec("UPDATE figures_place SET counted_to = NULL")
		before := w.count("attempts")
		w.run()
		if n := w.count("attempts"); n != before {
			t.Errorf("%d of %d are left", n, before)
		}
		w.exec("UPDATE figures_place SET counted_to = (SELECT max(started_at) FROM attempts)")
		w.run()
		if n := w.count("attempts"); n >= before {
			t.Errorf("%d of %d are left after all was counted", n, before)
		}
	})
}

func TestOneServerRemoves(t *testing.T) {
	eachAged(t, func(w *aged) {
		now := w.clock.Now()
		if held, err := w.store.HoldRetention(w.Context(), "b", now.Add(time.Minute)); err != nil || !held {
			w.Fatal(held, err)
		}
		if n, more, err := w.runner("a").RunOnce(w.Context()); n != 0 || more || err != nil {
			w.Errorf("beside another server: %d, %v, %v", n, more, err)
		}
		w.clock.advance(2 * time.Minute)
		if n := w.run(); n == 0 {
			w.Error("a lost server keeps the others from removing")
		}
	})
}

func TestForEverIsForEver(t *testing.T) {
	eachAged(t, func(w *aged) {
		never := review.Retention{}
		for _, k := range review.Histories {
			never[k] = 0
		}
		admin := work.Actor{Kind: work.Person, ID: "7", Name: "Ada Brown", Roles: []work.Role{work.Admin}}
		keeping := review.NewKeeping(w.store, 1)
		would, err := keeping.Preview(w.Context(), admin, review.DefaultRetention())
		must(w.T, err)
		if would[review.Attempts] != 3 || would[review.Excerpts] != 3 { // finished items, with the one that owes a look
			w.Errorf("the preview counts %v", would)
		}
		must(w.T, keeping.Change(w.Context(), admin, never))
		w.clock.advance(200 * 31 * 24 * time.Hour)
		if n := w.run(); n != 0 {
			w.Errorf("%d rows went", n)
		}
		if n := w.count("audit WHERE what = 'retention_changed' AND actor_id = '7' AND before LIKE '%%attempts 24%%' AND after LIKE '%%attempts 0%%'"); n != 1 {
			w.Errorf("the change is on record %d times", n)
		}
		for _, other := range []work.Actor{{Kind: work.Person, ID: "8", Roles: []work.Role{work.Ops, work.Operator, work.Viewer}}, {Kind: work.Token, Roles: []work.Role{work.Admin}}} {
			if err := keeping.Change(w.Context(), other, review.DefaultRetention()); err == nil {
				w.Errorf("%+v may decide how long history is kept", other)
			}
		}
		odd := review.DefaultRetention()
		odd[review.Attempts] = -1
		if err := keeping.Change(w.Context(), admin, odd); err == nil {
			w.Error("a time that nobody offered is taken")
		}
	})
}

func TestOldRowsGo(t *testing.T) {
	eachAged(t, func(w *aged) {
		for n, it := range []work.Item{w.settled, w.open, w.fresh} {
			at := fmt.Sprintf("(SELECT recorded_at FROM item_keys WHERE item_id = %d)", it.ID)
			w.exec("INSERT INTO events (company_id, kind, sender, event_id, type, subject, digest, received_at, times, result, detail, item_id)"+
				" VALUES (1, 'orders', 'shop', 'e%d', 't', 's', 'd', %s, 1, 'recorded', '', %d)", n, at, it.ID)
			w.exec("INSERT INTO notice_deliveries (company_id, recipient, name, address, kind, message, status, tries, unclear, made_at, next_at, leased_by, last_error)"+
				" VALUES (1, 'person:7', 'Ada', '', 'items', '{}', '%s', 1, 0, %s, %s, '', '')", []string{"sent", "waiting", "sent"}[n], at, at)
			w.exec("INSERT INTO bulk_runs (company_id, form, plan, state, actor_kind, actor_id, actor_name, actor_roles, began_at, ended_at)"+
				" VALUES (1, 'f%d', 'check', 'finished', 'person', '7', 'Ada', 'admin', %s, %s)", n, at, at)
			w.exec("INSERT INTO bulk_items (run_id, n, item_id, version, outcome) SELECT max(id), 1, %d, 1, 'done' FROM bulk_runs", it.ID)
			w.exec("INSERT INTO imports (company_id, system_id, automation, name, state, version, made_by, made_at, body)"+
				" VALUES (1, 'books', 'import', 'a.csv', '%s', 1, '{}', %s, '{}')", []string{"done", "ready", "done"}[n], at)
			w.exec("INSERT INTO import_rows (import_id, n, line, outcome, key, customer, currency, amount, detail, who, content)" +
				" SELECT max(id), 1, 1, 'new', 'k', 'c', 'EUR', '1', '', '', '' FROM imports")
		}
		w.run()
		for table, left := range map[string]int{"events": 2, "notice_deliveries": 2, "bulk_items": 1, "import_rows": 2, "bulk_runs": 3, "imports": 3} {
			if n := w.count("%s", table); n != left {
				w.Errorf("%s: %d rows are left, not %d", table, n, left)
			}
		}
		gone, err := w.store.Removed(w.Context(), 1)
		must(w.T, err)
		if gone[review.Received].Rows != 1 || gone[review.BulkSets].Rows != 2 || gone[review.Attempts].Rows != 6 || gone[review.Attempts].At.IsZero() {
			w.Errorf("removed were %+v", gone)
		}
	})
}
