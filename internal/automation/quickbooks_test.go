package automation_test

import (
	"testing"
	"time"

	"onefold/internal/ledger/ledgertest"
	"onefold/internal/ledger/quickbooks"
	"onefold/internal/ledger/quickbooks/quickbookstest"
	"onefold/internal/work"
)

func onQuickBooks(o quickbookstest.Options, company **quickbookstest.Company) func(now func() time.Time) vendor {
	return func(now func() time.Time) vendor {
		o.Now = now
		fake := quickbookstest.New(o)
		if company != nil {
			*company = fake
		}
		return vendor{adapter: quickbooks.Adapter, fake: fake, settings: quickbookstest.Settings(), secrets: quickbookstest.Secrets(),
			token: quickbookstest.Token(), invoice: work.Invoice{CustomerID: quickbookstest.Customer, CustomerName: "Acme"}}
	}
}

// The companies differ in what the vendor leaves open.
var companies = map[string]quickbookstest.Options{
	"forgets keys, takes any number": {SearchLag: 50 * time.Second},
	"remembers all":                  {KeyLifetime: 1000 * time.Hour, KeepRefusal: true, Unique: true},
}

func TestQuickBooksLostAnswersEndInOneInvoice(t *testing.T) {
	for name, o := range companies {
		t.Run(name, func(t *testing.T) { eachLostAnswer(t, onQuickBooks(o, nil)) })
	}
}

// The requestid is forgotten between the first send and the second: it must not be needed.
func TestQuickBooksKeyExpires(t *testing.T) {
	for _, f := range []ledgertest.Fault{"drop_before", "drop_after"} {
		w := onVendor(t, onQuickBooks(quickbookstest.Options{KeyLifetime: time.Minute, SearchLag: 50 * time.Second}, nil))
		it := w.meets("INV-2026-11-ACME", quickbooks.StepCreate, f)
		w.wantEffects(it, 1)
		if it.Status != work.Confirmed {
			t.Errorf("%s: %s (%s)", f, it.Status, it.Reason)
		}
	}
}

func TestQuickBooksDuplicateReportIsLookedUp(t *testing.T) {
	for _, f := range []ledgertest.Fault{"duplicate_error", "id_used"} {
		t.Run(string(f), func(t *testing.T) {
			w := onVendor(t, onQuickBooks(quickbookstest.Options{}, nil))
			it := w.meets("INV-2026-11-ACME", quickbooks.StepCreate, f)
			w.wantEffects(it, 0)
			if it.Status != work.Review || it.Sends != 1 { // it says that it is there, and it is not found: a person decides
				t.Errorf("%s (%s) after %d sends", it.Status, it.Reason, it.Sends)
			}
		})
	}
}

// The answer is lost, the number is still free for everybody: the invoice that is there under it is somebody else's.
func TestQuickBooksNumberOfSomebodyElse(t *testing.T) {
	var company *quickbookstest.Company
	w := onVendor(t, onQuickBooks(quickbookstest.Options{Unique: true}, &company))
	w.record("INV-1")
	w.once()
	w.run(time.Hour)
	company.Change(company.Records()[0].ID, func(v *quickbookstest.Invoice) { v.Number, v.Customer = "INV-2", quickbookstest.Other })
	w.record("INV-2")
	w.run(24 * time.Hour)
	if it := w.step("INV-2", quickbooks.StepCreate); it.Status != work.Review || it.Reason != work.ReasonMismatch || it.Sends != 1 {
		t.Errorf("%s (%s) after %d sends", it.Status, it.Reason, it.Sends)
	}
	if n := len(company.Records()); n != 1 {
		t.Errorf("%d invoices", n)
	}
}

func TestQuickBooksRefusedToTheLimit(t *testing.T) {
	w := onVendor(t, onQuickBooks(quickbookstest.Options{}, nil))
	w.record("INV-1")
	w.front.Misbehave(work.Send, "reject")
	w.run(24 * time.Hour)
	it := w.wantReview("INV-1", work.ReasonRejected)
	w.wantEffects(it, 0)
	if n := len(w.front.Writes()); n != w.system.Policy.Sends {
		t.Errorf("%d writes, the limit is %d", n, w.system.Policy.Sends)
	}
}

// A refusal that QuickBooks brings back for ever with its requestid: nothing is there, and a person sees it.
func TestQuickBooksStickyRefusal(t *testing.T) {
	w := onVendor(t, onQuickBooks(quickbookstest.Options{KeepRefusal: true, KeyLifetime: 1000 * time.Hour}, nil))
	it := w.meets("INV-1", quickbooks.StepCreate, "reject")
	w.wantEffects(it, 0)
	if it.Status != work.Review || it.Reason != work.ReasonRejected {
		t.Errorf("%s (%s)", it.Status, it.Reason)
	}
}

// QuickBooks gave the invoice a number of its own and the answer is lost: no lookup by the number finds it, and yet it is
// not made again, neither while QuickBooks numbers invoices itself nor after somebody turned that off.
func TestQuickBooksOwnNumberAndLostAnswer(t *testing.T) {
	for _, f := range []ledgertest.Fault{"drop_after", "commit_late"} {
		t.Run(string(f), func(t *testing.T) {
			var company *quickbookstest.Company
			of := onQuickBooks(quickbookstest.Options{}, &company)
			w := onVendor(t, func(now func() time.Time) vendor {
				v := of(now)
				v.timeout = 300 * time.Millisecond
				return v
			})
			w.record("INV-0")
			w.run(time.Hour) // connected while all was well
			company.Set(func(o *quickbookstest.Options) { o.OwnNumbers = true })
			w.record("INV-1")
			w.front.Misbehave(work.Send, f)
			w.once()
			w.front.Wait()
			if n := len(company.Records()); n != 2 {
				t.Fatalf("%d invoices: the test is not about what it says", n)
			}
			w.front.Misbehave(work.Send, ledgertest.NoFault)
			company.Set(func(o *quickbookstest.Options) { o.OwnNumbers = false })
			w.run(24 * time.Hour)
			it := w.item("INV-1")
			w.wantEffects(it, 1)
			if it.Status != work.Review || it.Reason != work.ReasonMismatch {
				t.Errorf("%s (%s): %s", it.Status, it.Reason, it.LastError)
			}
		})
	}
}

// Trial 29: the login has run out, many items are due. It is renewed once; no try is spent. Truly refused: the items wait.
func TestTrial29_QuickBooksLogin(t *testing.T) {
	var company *quickbookstest.Company
	of := onQuickBooks(quickbookstest.Options{}, &company)
	expired := func(now func() time.Time) vendor {
		v := of(now)
		v.token.Expires = now().Add(-time.Minute)
		return v
	}
	w := onVendor(t, expired)
	w.record(keys(5)...)
	w.run(time.Minute)
	for _, key := range keys(5) {
		if it := w.wantStatus(key, work.Confirmed); it.Sends != 1 {
			t.Errorf("%s: %d sends", key, it.Sends)
		}
	}
	if company.Renewals != 1 {
		t.Errorf("%d renewals", company.Renewals)
	}

	w = onVendor(t, expired)
	company.Revoke()
	w.record(keys(5)...)
	w.run(time.Hour)
	for _, key := range keys(5) {
		if it := w.item(key); it.Sends != 0 || it.Status != work.Queued {
			t.Errorf("%s: %s after %d sends", key, it.Status, it.Sends)
		}
	}
	if n := len(company.Records()); n != 0 || company.Renewals != 1 {
		t.Errorf("%d invoices, %d renewals", n, company.Renewals)
	}
}
