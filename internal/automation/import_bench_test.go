package automation_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"runtime"
	"syscall"
	"testing"
	"time"

	"onefold/internal/automation"
	"onefold/internal/store"
	"onefold/internal/store/storetest"
	"onefold/internal/work"
)

// importRows writes a CSV file of n invoices, as firms send them, and opens it.
func importRows(b *testing.B, n int) *os.File {
	b.Helper()
	f, err := os.CreateTemp(b.TempDir(), "*.csv")
	if err != nil {
		b.Fatal(err)
	}
	var out bytes.Buffer
	out.WriteString("key,customer_id,customer_name,currency,amount,issue_date,due_date,description,quantity,unit_price,tax_code,note\n")
	for i := range n {
		fmt.Fprintf(&out, "INV-2026-11-%06d,C-%04d,\"Müller, Søn & Co. %d\",EUR,\"1,%03d.50\",2026-11-30,2026-12-30,\"Managed service, November\",2,%d.75,REVERSE,\n", i, i%3000, i%3000, i%1000, 500+i%400)
	}
	if _, err := f.Write(out.Bytes()); err != nil {
		b.Fatal(err)
	}
	return f
}

// benchmarkImport imports 100,000 rows, twice into the same store: the second time all are known.
func benchmarkImport(b *testing.B, store automation.IntakeStore) {
	b.Helper()
	const rows = 100_000
	f := importRows(b, rows)
	defer f.Close()
	im := automation.Importer{Intake: automation.Intake{Store: store}, TempDir: b.TempDir()}
	runtime.GC()
	for _, what := range []string{"first", "again"} {
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			b.Fatal(err)
		}
		start := time.Now()
		before, _ := used()
		r, err := im.Import(b.Context(), f, intoBooks)
		if err != nil || r.New+r.Known != rows {
			b.Fatalf("%+v, %v", r, err)
		}
		after, _ := used()
		b.ReportMetric(time.Since(start).Seconds(), "s-"+what)
		b.ReportMetric((after - before).Seconds(), "cpu-s-"+what)
	}
	_, peak := used()
	b.ReportMetric(peak, "MB-peak")
	b.ReportMetric(0, "ns/op")
}

// used is the processor time that this process has used, and the most memory it ever had resident, in MB.
func used() (cpu time.Duration, peak float64) {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0, 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), float64(u.Maxrss) / 1024
}

// noStore takes everything and keeps nothing: what is left is the cost of the import itself.
type noStore struct{ intakeMemory }

func (*noStore) Change(_ context.Context, _ work.Pick, decide func(time.Time, []work.Picked) ([]work.Move, error)) ([]work.Move, error) {
	moves, err := decide(time.Now(), nil)
	for i := range moves {
		moves[i].Item.ID = 1
	}
	return moves, err
}

// BenchmarkImport reports seconds, processor seconds of this process (without the database server's) and peak memory for
// 100,000 rows. Each case must run in a process of its own for the memory to mean something:
//
//	scripts/with-postgres go test -run '^$' -bench Import/postgres -benchtime 1x ./internal/automation
func BenchmarkImport(b *testing.B) {
	b.Run("nothing", func(b *testing.B) { benchmarkImport(b, &noStore{*newIntakeMemory()}) })
	for name, open := range map[string]func(testing.TB) storetest.DB{"sqlite": storetest.SQLite, "postgres": storetest.Postgres} {
		b.Run(name, func(b *testing.B) {
			s := open(b).Open(b, store.Config{Node: "a"})
			if err := s.DeclareSystem(b.Context(), work.System{ID: "books", CompanyID: 1, Name: "Books", Adapter: "stub",
				Policy: work.DefaultPolicy(), Capabilities: searchable(), Steps: []string{"create"}, MaxInFlight: 50}); err != nil {
				b.Fatal(err)
			}
			benchmarkImport(b, s)
		})
	}
}
