package automation_test

import (
	"testing"
	"time"

	"onefold/internal/ledger"
	"onefold/internal/ledger/ledgertest"
	"onefold/internal/store/storetest"
	"onefold/internal/work"
)

// adapterWorld is a world whose items go through a real adapter to a fake of its vendor's service, behind a line that
// breaks. All but the calls themselves is under one clock.
type adapterWorld struct {
	*world
	front   *ledgertest.Front
	invoice work.Invoice
}

// vendor is an adapter with a fake of its service and what connects the two.
type vendor struct {
	adapter           ledger.Adapter
	fake              ledgertest.Fake // under the world's clock
	settings, secrets map[string]string
	address           func(front string) string // nil: the front's own
	token             ledger.Token              // zero: it needs none
	invoice           work.Invoice              // that it accepts; a total of zero: 100.00 EUR
	timeout           time.Duration             // of one call, in real time; 0: 20 seconds
}

func onVendor(t *testing.T, of func(now func() time.Time) vendor) *adapterWorld {
	t.Helper()
	c := newClock()
	v := of(c.Now)
	front := ledgertest.Serve(t, v.fake)
	sys := work.System{Address: front.URL(), Settings: v.settings, Policy: work.DefaultPolicy()}
	if v.address != nil {
		sys.Address = v.address(front.URL())
	}
	sys.Policy.RequestTimeout = 20 * time.Second
	if v.timeout > 0 {
		sys.Policy.RequestTimeout = v.timeout
	}
	tokens := &ledgertest.Tokens{}
	tokens.Connect(v.token)
	connected, err := v.adapter.Connect(ledger.Connection{System: sys, Secrets: v.secrets, Tokens: tokens, Now: c.Now})
	if err != nil {
		t.Fatal(err)
	}
	if closer, ok := connected.(interface{ Close() }); ok {
		t.Cleanup(closer.Close)
	}
	w := newWorldAt(t, storetest.SQLite(t), c, connected.Capabilities(), func(s *work.System) {
		s.Steps, s.Policy.RequestTimeout = connected.Steps(), sys.Policy.RequestTimeout
		s.Policy.Lookups = max(s.Policy.Lookups, connected.Capabilities().Misses+1)
	})
	w.connect = connected
	w.engine = w.newEngine("a")
	a := &adapterWorld{world: w, front: front, invoice: v.invoice}
	if a.invoice.Total.IsZero() {
		a.invoice.Total = euros(t, "100.00")
	}
	return a
}

// record records items with these keys.
func (w *adapterWorld) record(keys ...string) {
	w.t.Helper()
	var batch []work.New
	for _, k := range keys {
		batch = append(batch, work.New{CompanyID: 1, Automation: "monthly", BusinessKey: k, SystemID: "books", Steps: w.system.Steps,
			Invoice: w.invoice, Source: "test", By: work.Actor{Kind: work.Automation, ID: "test"}})
	}
	_, err := w.intake.Record(w.t.Context(), batch)
	w.must(err)
}

// meets records an item and lets the first send of the step meet the fault; then the line and the system are healthy and
// a day passes. It returns the item of that step.
func (w *adapterWorld) meets(key, step string, f ledgertest.Fault) work.Item {
	w.t.Helper()
	w.record(key)
	for n := 0; ; n++ {
		if _, ok := w.find(key, step); ok {
			break
		}
		if n > 100 {
			w.t.Fatalf("%s never came to the step %s", key, step)
		}
		w.once()
		w.clock.advance(time.Second)
	}
	before := len(w.front.Writes())
	if !w.front.Misbehave(work.Send, f) {
		w.t.Skip("this system cannot fail so")
	}
	for n := 0; len(w.front.Writes()) == before; n++ {
		if n > 100 {
			w.t.Fatalf("%s was never sent", key)
		}
		w.once()
		w.clock.advance(time.Second)
	}
	w.front.Wait() // what is still at work there ends within the time that the adapter declares
	w.front.Misbehave(work.Send, ledgertest.NoFault)
	w.run(24 * time.Hour)
	return w.step(key, step)
}

// wantEffects asserts how often the step took effect for the item.
func (w *adapterWorld) wantEffects(it work.Item, n int) {
	w.t.Helper()
	if got := w.front.Effects(it.Step, it.Reference); got != n {
		w.t.Errorf("%s took effect %d times, want %d; the item is %s (%s): %s", it.Step, got, n, it.Status, it.Reason, it.LastError)
	}
}

// lostAnswers are the faults after which nobody knows whether the send took effect: it must end in one confirmed record.
var lostAnswers = []ledgertest.Fault{"drop_before", "drop_after", "commit_late", "error_before", "error_after", "unavailable", "unavailable_after",
	"gateway_page", "gateway_after", "page_before", "page_after", "empty_before", "empty_after", "garbage", "list_answer", "redirect_307"}

// eachLostAnswer lets each step's first send meet each fault. A call has a short time where the fault is a late effect.
func eachLostAnswer(t *testing.T, of func(now func() time.Time) vendor) {
	for _, f := range lostAnswers {
		t.Run(string(f), func(t *testing.T) {
			t.Parallel()
			with := func(now func() time.Time) vendor {
				v := of(now)
				if f == "commit_late" {
					v.timeout = 300 * time.Millisecond
				}
				return v
			}
			for _, step := range onVendor(t, with).system.Steps {
				t.Run(step, func(t *testing.T) {
					w := onVendor(t, with)
					it := w.meets("INV-2026-11-ACME", step, f)
					w.wantEffects(it, 1)
					if it.Status != work.Confirmed {
						t.Errorf("%s (%s): %s", it.Status, it.Reason, it.LastError)
					}
				})
			}
		})
	}
}
