package automation_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"
	"testing"
	"time"

	"onefold/internal/automation"
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
		r, err := im.Import(b.Context(), f, intoBooks)
		if err != nil || r.New+r.Known != rows {
			b.Fatalf("%+v, %v", r, err)
		}
		b.ReportMetric(time.Since(start).Seconds(), "s-"+what)
	}
	b.ReportMetric(peakMB(), "MB-peak")
	b.ReportMetric(0, "ns/op")
}

// peakMB is the most memory that this process ever had resident.
func peakMB() float64 {
	status, _ := os.ReadFile("/proc/self/status")
	_, after, _ := bytes.Cut(status, []byte("VmHWM:"))
	kb, _ := strconv.ParseFloat(string(bytes.Fields(append(after, '0'))[0]), 64)
	return kb / 1024
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

func BenchmarkImportWithoutStore(b *testing.B) {
	benchmarkImport(b, &noStore{*newIntakeMemory()})
}
