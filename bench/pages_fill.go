package main

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// The data of the pages: two years of a firm's invoices. Nine of ten documents are one item, the others two; items were
// recorded in the order of their months, most were settled within minutes, some long after.
type world struct {
	n   int       // items
	now time.Time // of the filling; everything happened before
}

// The same number gives the same item, so that the measured calls can ask for what is there.
type pageItem struct {
	id, document              int
	automation, system        string
	step, steps               string
	key, reference            string
	source, period            string
	recorded, changed         time.Time
	status, reason, errorKind string
	assigned, kind            string
	number                    string // the external number; empty if it is not there
	customer                  string
	cents                     int
	currency                  string
}

// Where the items of the end of the time are: what is open lies there.
const months = 24

func (w world) open() int { return w.n / 4 }

// mix is a cheap hash: unrelated numbers for neighbours.
func mix(n, salt int) int {
	x := uint64(n)*0x9E3779B97F4A7C15 + uint64(salt)*0xD1B54A32D192ED03
	x ^= x >> 31
	x *= 0x94D049BB133111EB
	x ^= x >> 29
	return int(x >> 2)
}

var (
	customerFirst  = strings.Fields("Müller Acme Nordwind Harbour Larsen Vega Schmidt Tanaka Rossi Dubois Novak Silva Becker Hansen Moreau Kowalski Fischer Weber Lindqvist O'Brien Castell Bergmann Ferreira Iversen Jansen")
	customerSecond = strings.Fields("Logistik Trading Holdings Software Medical Systems Foods Energy Consulting Print Media Textil Bau Optik Marine Dental Design Garden Robotics Audio")
	customerForm   = strings.Fields("GmbH Ltd Inc S.A. AB AG BV SpA Oy")
	people         = strings.Fields("Ada Bob Cora Dan Eve Finn Gus Hana Ivo Jule")
	reasons        = strings.Fields("rejected attempts_exhausted could_not_check mismatch duplicates found_void approval_required held")
)

func customerName(c int) string {
	return fmt.Sprintf("%s %s %d %s", customerFirst[mix(c, 1)%len(customerFirst)], customerSecond[mix(c, 2)%len(customerSecond)], c, customerForm[mix(c, 3)%len(customerForm)])
}

func (w world) month(at int) string {
	return time.Date(w.now.Year(), w.now.Month()-time.Month(months-1-at), 1, 0, 0, 0, 0, time.UTC).Format("2006-01")
}

// item is the i-th item, from 1.
func (w world) item(i int) pageItem {
	it := pageItem{id: i, document: i, step: "create", steps: "create", currency: "EUR"}
	if i%10 == 0 {
		it.document, it.step = i-1, "post"
	}
	d := it.document
	it.period = w.month((d - 1) * months / w.n)
	span := months * 30 * 24 * time.Hour
	it.recorded = w.now.Add(-time.Hour - time.Duration(float64(span)*float64(w.n-d)/float64(w.n))).Truncate(time.Microsecond)
	switch r := mix(d, 4) % 1000; {
	case d%10 == 9:
		it.automation, it.system, it.steps = "orders", "erp", "create,post"
		it.key = fmt.Sprintf("SO-%08d", d)
	case d < w.n/8 && r < 500: // both have ended long ago
		it.automation, it.system = "contracts", "old-books"
		it.key = fmt.Sprintf("CON/%d/%s", d, it.period)
	case r < 10:
		it.automation, it.system = "travel", "books"
		it.key = fmt.Sprintf("TRIP-%d", d)
	case r < 250:
		it.automation, it.system = "renewals", "shop"
		it.key = fmt.Sprintf("REN-%s-%07d", it.period, d)
	default:
		it.automation, it.system = "invoices", "books"
		it.key = fmt.Sprintf("INV-%s-%07d", it.period, d)
	}
	it.reference = it.key
	switch r := mix(d, 5) % 10; {
	case r < 5:
		it.source = "api"
	case r < 7:
		it.source = "run:" + it.period
	default:
		it.source = fmt.Sprintf("import:%d", d/2000)
	}
	it.customer = customerName(mix(d, 6) % 40_000)
	it.cents = 100 + mix(d, 7)%500_000
	if mix(d, 8)%5 == 0 {
		it.cents = []int{4900, 12900, 19900, 99000}[mix(d, 9)%4]
	}
	switch r := mix(d, 10) % 10_000; {
	case r < 1500:
		it.currency = "USD"
	case r < 2000:
		it.currency = "CHF"
	case r < 2002:
		it.currency = "SEK"
	}
	w.state(&it)
	return it
}

// state is where the item stands.
func (w world) state(it *pageItem) {
	it.status, it.changed = "confirmed", it.recorded.Add(time.Duration(5+mix(it.id, 11)%600)*time.Second)
	r := mix(it.id, 12) % 1000
	switch {
	case it.document == it.id && it.id%10 == 9: // the first of two steps
	case it.id > w.n-w.n/100 && r < 900:
		it.status = "queued"
	case it.id > w.n-w.open() && r < 40:
		it.status = "review"
	case it.id > w.n-w.open() && r < 48:
		it.status = "pending"
	case it.id > w.n-w.open() && r < 60:
		it.status = "failed"
	case r < 80:
		it.status = "resolved"
	case r < 90:
		it.status = "closed"
	}
	if it.id > w.n-32 && it.status == "confirmed" && it.id%10 != 9 {
		it.status, it.kind = "in_progress", []string{"send", "find"}[it.id%2]
	}
	switch it.status {
	case "review", "resolved", "closed":
		it.reason = reasons[mix(it.id, 13)%len(reasons)]
		it.errorKind = fmt.Sprintf("the accounting system refused it: trouble of kind %c", 'A'+mix(it.id, 14)%20)
		it.assigned = append(people, "", "", "", "", "", "")[mix(it.id, 15)%(len(people)+6)]
		late := w.now.Sub(it.changed)
		it.changed = it.changed.Add(time.Duration(float64(late) * float64(mix(it.id, 16)%1000) / 1000))
	case "pending", "failed":
		it.errorKind = "the accounting system did not answer in time, outcome unknown"
	}
	if it.status == "confirmed" && r > 970 {
		it.errorKind = "the accounting system did not answer in time, outcome unknown"
	}
	it.changed = it.changed.Truncate(time.Microsecond)
	if it.status == "confirmed" || it.status == "resolved" {
		it.number = fmt.Sprintf("%s/%08d", it.period[:4], it.id)
	}
}

// filler writes rows of a table, given as values in the order of the columns.
type filler interface {
	rows(ctx context.Context, table string, columns []string, n int, row func(i int) []any) error
	at(t time.Time) any
}

// fill writes all items in batches.
func (w world) fill(ctx context.Context, f filler) error {
	const batch = 20_000
	for _, id := range []string{"books", "erp", "shop", "old-books"} {
		if err := f.rows(ctx, "systems", strings.Split("id,company_id,name,adapter,policy,capabilities,steps,max_in_flight", ","), 1, func(int) []any {
			return []any{id, 1, "System " + id, "bench", "{}", "{}", "create", 8}
		}); err != nil {
			return err
		}
	}
	for at := 0; at < w.n; at += batch {
		n := min(batch, w.n-at)
		items := make([]pageItem, n)
		var firsts []pageItem
		for i := range items {
			items[i] = w.item(at + i + 1)
			if items[i].step == "create" {
				firsts = append(firsts, items[i])
			}
		}
		for _, t := range w.tables(f) {
			from, per := items, t.per
			if t.name == "item_search" {
				from = firsts
			}
			if err := f.rows(ctx, t.name, columnsOf(t.columns), len(from)*per, func(i int) []any {
				return t.row(from[i/per], i%per+1)
			}); err != nil {
				return fmt.Errorf("%s: %w", t.name, err)
			}
		}
		fmt.Fprintf(os.Stderr, "\rpages: %d items", at+n)
	}
	fmt.Fprintln(os.Stderr)
	return nil
}

// pgFiller copies.
type pgFiller struct{ pool *pgxpool.Pool }

func (f pgFiller) at(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t
}

func (f pgFiller) rows(ctx context.Context, table string, columns []string, n int, row func(int) []any) error {
	_, err := f.pool.CopyFrom(ctx, pgx.Identifier{table}, columns, pgx.CopyFromSlice(n, func(i int) ([]any, error) { return row(i), nil }))
	return err
}

// fillPostgres writes all items without the indexes, and builds these afterwards: as dumps are read back, many times faster.
func fillPostgres(ctx context.Context, pool *pgxpool.Pool, w world) error {
	rows, err := pool.Query(ctx, "SELECT indexname, indexdef FROM pg_indexes i WHERE schemaname = current_schema()"+
		" AND NOT EXISTS (SELECT 1 FROM pg_constraint c WHERE c.conname = i.indexname)")
	if err != nil {
		return err
	}
	indexes, err := pgx.CollectRows(rows, pgx.RowToStructByPos[struct{ Name, Definition string }])
	if err != nil {
		return err
	}
	for _, index := range indexes {
		if _, err := pool.Exec(ctx, "DROP INDEX "+pgx.Identifier{index.Name}.Sanitize()); err != nil {
			return err
		}
	}
	// An attempt is written short and ended in its page, in the room that the table's fill factor leaves. So what the engine has
	// left behind is fuller than that: into pages that were copied up to the factor, it would go on writing one row after another.
	if _, err := pool.Exec(ctx, "ALTER TABLE attempts SET (fillfactor = 57)"); err != nil {
		return err
	}
	if err := w.fill(ctx, pgFiller{pool}); err != nil {
		return err
	}
	build, err := pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer build.Release()
	after := []string{"ALTER TABLE attempts SET (fillfactor = 50)", "SET maintenance_work_mem = '1GB'"}
	for _, index := range indexes {
		after = append(after, index.Definition)
	}
	for _, statement := range append(after, "VACUUM ANALYZE", "CHECKPOINT") {
		if _, err := build.Exec(ctx, statement); err != nil {
			return err
		}
		fmt.Fprintf(os.Stderr, "pages: %.100s\n", statement)
	}
	return nil
}

// sqliteFiller inserts row by row in one transaction for each table and batch.
type sqliteFiller struct{ db *sql.DB }

func (f sqliteFiller) at(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UnixMicro()
}

func (f sqliteFiller) rows(ctx context.Context, table string, columns []string, n int, row func(int) []any) error {
	tx, err := f.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if table == "item_search" {
		columns[0] = "rowid"
	}
	insert, err := tx.PrepareContext(ctx, "INSERT INTO "+table+" ("+strings.Join(columns, ", ")+") VALUES (?"+strings.Repeat(", ?", len(columns)-1)+")")
	if err != nil {
		return err
	}
	defer insert.Close()
	for i := range n {
		if _, err := insert.ExecContext(ctx, row(i)...); err != nil {
			return err
		}
	}
	return tx.Commit()
}
