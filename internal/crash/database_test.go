//go:build unix

package crash

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"onefold/internal/work"
)

// database reads the tables as they are, past the store: what is judged must not also be the judge.
type database struct {
	url    string // as a server is told
	dir    string // of the run
	sql    *sql.DB
	driver string
	dsn    string
}

// key names an effect outside, and the item that asks for it.
type key struct{ system, reference, step string }

// row is what is checked of an item.
type row struct {
	id, previous                              int64
	version                                   int64
	key                                       key
	business                                  string
	steps                                     []string
	status                                    work.Status
	reason                                    work.Reason
	open, sends, attempts                     int
	lease, due, settleBy                      time.Time
	unsettled, seen, external, evidence, last string
	attested                                  bool // a person said that it is not there
	forgotten                                 bool // its send was made after the copy of the database that is in use
	tries                                     []try
}

// try is what is checked of an attempt.
type try struct {
	item                        int64
	number, lateFor             int
	kind, node, idem            string
	started, sendBy, ended      time.Time
	outcome, finding, why, book string
	external                    string
}

// moment reads a time in either database's form; NULL is the zero time.
type moment struct{ t *time.Time }

func (m moment) Scan(v any) error {
	switch v := v.(type) {
	case nil:
		*m.t = time.Time{}
	case time.Time:
		*m.t = v.UTC()
	case int64:
		*m.t = time.UnixMicro(v).UTC()
	default:
		return fmt.Errorf("no time: %T", v)
	}
	return nil
}

// items reads all items with their attempts, in order.
func (d *database) items(ctx context.Context) ([]*row, error) {
	found, err := d.sql.QueryContext(ctx, `SELECT i.id, i.version, coalesce(i.previous_id, 0), k.system_id, k.reference, k.step, k.business_key, k.steps,
		i.status, i.reason, i.open_attempt, i.sends, i.attempts, i.lease_until, i.due_at, i.settle_by, i.unsettled, i.seen_id, i.external_id,
		i.evidence, i.last_look, EXISTS (SELECT 1 FROM acts a WHERE a.item_id = i.id AND a.what = 'attest') FROM items i JOIN item_keys k ON k.item_id = i.id ORDER BY i.id`)
	if err != nil {
		return nil, err
	}
	defer found.Close() //nolint:errcheck // read to the end
	var list []*row
	byID := map[int64]*row{}
	for found.Next() {
		r := &row{}
		var steps string
		if err := found.Scan(&r.id, &r.version, &r.previous, &r.key.system, &r.key.reference, &r.key.step, &r.business, &steps, &r.status, &r.reason,
			&r.open, &r.sends, &r.attempts, moment{&r.lease}, moment{&r.due}, moment{&r.settleBy}, &r.unsettled, &r.seen, &r.external, &r.evidence,
			&r.last, &r.attested); err != nil {
			return nil, err
		}
		r.steps = strings.Split(steps, ",")
		list = append(list, r)
		byID[r.id] = r
	}
	if err := found.Err(); err != nil {
		return nil, err
	}
	return list, d.attempts(ctx, byID)
}

func (d *database) attempts(ctx context.Context, byID map[int64]*row) error {
	found, err := d.sql.QueryContext(ctx, `SELECT item_id, number, late_for, kind, node, idem_key, started_at, send_by, ended_at, outcome, finding,
		error, identity, external_id FROM attempts ORDER BY item_id, number`)
	if err != nil {
		return err
	}
	defer found.Close() //nolint:errcheck // read to the end
	for found.Next() {
		var a try
		if err := found.Scan(&a.item, &a.number, &a.lateFor, &a.kind, &a.node, &a.idem, moment{&a.started}, moment{&a.sendBy}, moment{&a.ended},
			&a.outcome, &a.finding, &a.why, &a.book, &a.external); err != nil {
			return err
		}
		if r := byID[a.item]; r != nil { // else it was recorded after the items were read
			r.tries = append(r.tries, a)
		}
	}
	return found.Err()
}

// one is the item of a key.
func (d *database) one(t *testing.T, k key) *row {
	t.Helper()
	list, err := d.items(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range list {
		if r.key == k {
			return r
		}
	}
	return nil
}

// counts says how many items are in which status, and how many something is still to be done for by itself.
func (d *database) counts(ctx context.Context) (string, int, error) {
	found, err := d.sql.QueryContext(ctx, `SELECT status, count(*), sum(CASE WHEN due_at IS NOT NULL OR open_attempt > 0 THEN 1 ELSE 0 END)
		FROM items GROUP BY status ORDER BY status`)
	if err != nil {
		return "", 0, err
	}
	defer found.Close() //nolint:errcheck // read to the end
	var parts []string
	moving := 0
	for found.Next() {
		var status string
		var n, m int
		if err := found.Scan(&status, &n, &m); err != nil {
			return "", 0, err
		}
		moving += m
		part := status + " " + strconv.Itoa(n)
		if m > 0 {
			part += fmt.Sprintf(" (%d moving)", m)
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, ", "), moving, found.Err()
}
