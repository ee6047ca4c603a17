package automation_test

import (
	"testing"
	"time"

	"onefold/internal/ledger"
	"onefold/internal/ledger/ledgertest"
	"onefold/internal/ledger/xero"
	"onefold/internal/ledger/xero/xerotest"
	"onefold/internal/work"
)

// onXero is an organisation whose invoices carry our reference in this field.
func onXero(field string, o xerotest.Options) func(now func() time.Time) vendor {
	return func(now func() time.Time) vendor {
		o.Secret, o.Now = ledgertest.Secret, now
		fake := xerotest.New(o)
		access, refresh := fake.Login()
		return vendor{adapter: xero.Adapter, fake: fake, token: ledger.Token{Access: access, Refresh: refresh, Expires: now().Add(30 * time.Minute)},
			settings: map[string]string{"client_id": xerotest.ClientID, "account": xerotest.Account, "tenant": xerotest.Tenant, "reference_field": field},
			secrets:  map[string]string{"client_secret": ledgertest.Secret},
			invoice:  work.Invoice{CustomerID: xerotest.Customer, CustomerName: "Acme GmbH", IssueDate: "2026-11-30"}}
	}
}

func xeroWorld(t *testing.T, field string, o xerotest.Options) (*adapterWorld, *xerotest.Server) {
	t.Helper()
	var fake *xerotest.Server
	w := onVendor(t, func(now func() time.Time) vendor {
		v := onXero(field, o)(now)
		fake = v.fake.(*xerotest.Server)
		return v
	})
	return w, fake
}

func eachXeroField(t *testing.T, test func(t *testing.T, field string)) {
	for _, field := range []string{xero.ReferenceAsNumber, xero.ReferenceAsText} {
		t.Run(field, func(t *testing.T) { test(t, field) })
	}
}

func TestXeroLosesAnAnswer(t *testing.T) {
	eachXeroField(t, func(t *testing.T, field string) {
		eachLostAnswer(t, onXero(field, xerotest.Options{SearchLag: 50 * time.Second}))
	})
}

// T2: the internal error that Xero keeps under the key hides that the invoice is there. Only a look can tell.
func TestXeroRepeatsAnErrorThatHidesASuccess(t *testing.T) {
	eachXeroField(t, func(t *testing.T, field string) {
		w, _ := xeroWorld(t, field, xerotest.Options{})
		it := w.meets("INV-2026-11-ACME", xero.StepCreate, "sticky_after")
		w.wantEffects(it, 1)
		if it.Status != work.Confirmed || it.Sends != 1 {
			t.Errorf("%s after %d sends: %s", it.Status, it.Sends, it.LastError)
		}
	})
}

// The kept error is the truth. By the time that absence is proven Xero has forgotten it: the second send is a new one.
func TestXeroForgetsAnErrorBeforeTheNextSend(t *testing.T) {
	eachXeroField(t, func(t *testing.T, field string) {
		w, _ := xeroWorld(t, field, xerotest.Options{})
		it := w.meets("INV-2026-11-ACME", xero.StepCreate, "sticky_before")
		w.wantEffects(it, 1)
		if it.Status != work.Confirmed || it.Sends != 2 {
			t.Errorf("%s after %d sends: %s", it.Status, it.Sends, it.LastError)
		}
	})
}

// T1: a key is new to Xero after six minutes. A call that takes effect only after we looked elsewhere for that long must
// be found, not repeated.
func TestXeroIsNotSentTheSameKeyAfterItExpired(t *testing.T) {
	eachXeroField(t, func(t *testing.T, field string) {
		w, fake := xeroWorld(t, field, xerotest.Options{})
		w.record("INV-2026-11-ACME")
		w.front.Misbehave(work.Send, "drop_after")
		w.front.Misbehave(work.Find, "unavailable") // nobody can look for a quarter of an hour
		w.run(15 * time.Minute)
		if n := len(w.front.Writes()); n != 1 {
			t.Fatalf("%d sends while nobody could look", n)
		}
		w.front.Misbehave(work.Send, ledgertest.NoFault)
		w.run(24 * time.Hour)
		it := w.wantStatus("INV-2026-11-ACME", work.Confirmed)
		w.wantEffects(it, 1)
		if n := len(fake.Invoices()); n != 1 || it.Sends != 1 {
			t.Errorf("%d invoices after %d sends", n, it.Sends)
		}
	})
}

// T14: the number exists. Ours is confirmed by a look; what is not ours goes to a person; what is not to be seen too.
func TestXeroReportsADuplicate(t *testing.T) {
	const key = "INV-2026-11-ACME"
	for name, c := range map[string]struct {
		there  *xerotest.Invoice
		reason work.Reason // empty: confirmed
	}{
		"ours":             {&xerotest.Invoice{Customer: xerotest.Customer, Total: "100.00", Status: "AUTHORISED"}, ""},
		"another customer": {&xerotest.Invoice{Customer: xerotest.OtherCustomer, Total: "100.00", Status: "AUTHORISED"}, work.ReasonMismatch},
		"another total":    {&xerotest.Invoice{Customer: xerotest.Customer, Total: "10.00", Status: "PAID"}, work.ReasonMismatch},
		"void":             {&xerotest.Invoice{Customer: xerotest.Customer, Total: "100.00", Status: "VOIDED"}, work.ReasonFoundVoid},
		"not to be seen":   {nil, work.ReasonContradiction},
	} {
		t.Run(name, func(t *testing.T) {
			w, fake := xeroWorld(t, xero.ReferenceAsNumber, xerotest.Options{})
			if c.there == nil {
				w.front.Misbehave(work.Send, "duplicate_error")
			} else {
				c.there.Type, c.there.Number, c.there.Currency = "ACCREC", key, "EUR"
				fake.Add(*c.there)
			}
			w.record(key)
			w.run(24 * time.Hour)
			if it := w.item(key); c.reason == "" && it.Status != work.Confirmed || c.reason != "" && (it.Status != work.Review || it.Reason != c.reason) {
				t.Errorf("%s (%s), want %q: %s", it.Status, it.Reason, c.reason, it.LastError)
			}
			if w.front.Effects(xero.StepCreate, key) != 0 || len(w.front.Writes()) != 1 {
				t.Errorf("%d made, %d sends", w.front.Effects(xero.StepCreate, key), len(w.front.Writes()))
			}
		})
	}
}

// The answer is lost, and somebody gives the invoice another number before we look: it is shown to a person, not made again.
func TestXeroInvoiceWithAnotherNumber(t *testing.T) {
	w, fake := xeroWorld(t, xero.ReferenceAsNumber, xerotest.Options{})
	w.record("INV-2026-11-ACME")
	w.front.Misbehave(work.Send, "drop_after")
	w.run(time.Minute)
	w.front.Misbehave(work.Send, ledgertest.NoFault)
	fake.Renumber("INV-2026-11-ACME", "2026/17")
	w.run(24 * time.Hour)
	it := w.wantReview("INV-2026-11-ACME", work.ReasonMismatch)
	w.wantEffects(it, 1)
	if n := len(w.front.Writes()); n != 1 {
		t.Errorf("%d sends", n)
	}
}

// A refusal is tried up to the limit, with growing waits, and ends with a person; nothing is made. Inside 200 it is one too.
func TestXeroRefusesForGood(t *testing.T) {
	for _, f := range []ledgertest.Fault{"reject", "never_summed_up"} {
		t.Run(string(f), func(t *testing.T) {
			w, fake := xeroWorld(t, xero.ReferenceAsNumber, xerotest.Options{})
			if f == "never_summed_up" {
				w.invoice.CustomerID = "00000000-0000-4000-8000-00000000dead"
			}
			w.front.Misbehave(work.Send, f)
			w.record("INV-2026-11-ACME")
			w.run(24 * time.Hour)
			it := w.wantReview("INV-2026-11-ACME", work.ReasonRejected)
			if it.Sends != w.system.Policy.Sends || len(fake.Invoices()) != 0 {
				t.Errorf("%d sends, %d invoices", it.Sends, len(fake.Invoices()))
			}
		})
	}
}

// The limit of calls in a minute costs time and no tries: everything is made, once.
func TestXeroLimitsTheCallsOfAMinute(t *testing.T) {
	w, fake := xeroWorld(t, xero.ReferenceAsNumber, xerotest.Options{PerMinute: 20})
	w.record(keys(50)...)
	w.run(2 * time.Hour)
	if n := len(fake.Invoices()); n != 50 {
		t.Errorf("%d invoices of 50", n)
	}
	for _, k := range keys(50) {
		it := w.wantStatus(k, work.Confirmed)
		w.wantEffects(it, 1)
		if it.SendsUsed > 1 {
			t.Errorf("%s: the limit spent %d tries", k, it.SendsUsed)
		}
	}
}

// The access token is revoked, and with it the login: the system stops and its owner is told, the items only wait.
func TestXeroLoginEnds(t *testing.T) {
	for _, whole := range []bool{false, true} {
		w, fake := xeroWorld(t, xero.ReferenceAsNumber, xerotest.Options{})
		fake.Revoke(whole)
		w.record(keys(3)...)
		w.run(2 * time.Hour)
		for _, k := range keys(3) {
			it := w.item(k)
			if whole && (it.Status != work.Queued || it.SendsUsed != 0) || !whole && it.Status != work.Confirmed {
				t.Errorf("the whole login %v: %s is %s after %d tries: %s", whole, k, it.Status, it.SendsUsed, it.LastError)
			}
		}
		if n := len(fake.Invoices()); whole && n != 0 || !whole && n != 3 {
			t.Errorf("%d invoices", n)
		}
	}
}
