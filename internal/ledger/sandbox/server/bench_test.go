package server_test

import (
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"net/http/httptest"

	"github.com/bojanz/currency"

	"onefold/internal/ledger"
	"onefold/internal/ledger/sandbox"
	"onefold/internal/ledger/sandbox/server"
	"onefold/internal/work"
)

// BenchmarkIssue is one invoice created and posted over HTTP by the adapter, in parallel.
func BenchmarkIssue(b *testing.B) {
	for name, o := range map[string]server.Options{
		"memory": {},
		"file":   {File: filepath.Join(b.TempDir(), "a.jsonl"), NoSync: true},
		"synced": {File: filepath.Join(b.TempDir(), "b.jsonl")},
	} {
		b.Run(name, func(b *testing.B) {
			o.File = fmt.Sprintf("%s%d", o.File, b.N)
			if name == "memory" {
				o.File = ""
			}
			s, err := server.New(o)
			if err != nil {
				b.Fatal(err)
			}
			defer s.Close() //nolint:errcheck // measured, not kept
			h := httptest.NewServer(s)
			defer h.Close()
			c, err := sandbox.New(s.Connect(h.URL, "search"))
			if err != nil {
				b.Fatal(err)
			}
			total, _ := currency.NewAmount("47.99", "EUR")
			var n atomic.Int64
			b.SetParallelism(16)
			b.ResetTimer()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					req := ledger.Request{Step: sandbox.StepCreate, Reference: fmt.Sprint("INV-", n.Add(1)), Key: "K", SendBy: ledger.NewDeadline(time.Now(), time.Minute),
						Invoice: work.Invoice{CustomerID: "C-1", Total: total}}
					a := ledger.DoSend(b.Context(), c, req, nil)
					req.Step, req.PreviousRecordID = sandbox.StepPost, a.Record.ID
					if a = ledger.DoSend(b.Context(), c, req, nil); a.Outcome != work.Accepted {
						b.Errorf("%+v", a)
						return
					}
				}
			})
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "invoices/s")
		})
	}
}
