package automation_test

import (
	"testing"
	"time"

	"onefold/internal/ledger/ledgertest"
	"onefold/internal/ledger/stripe"
	"onefold/internal/ledger/stripe/stripetest"
	"onefold/internal/work"
)

func onStripe(now func() time.Time) vendor {
	const key = "sk_test_" + ledgertest.Secret
	return vendor{adapter: stripe.Adapter, fake: stripetest.New(stripetest.Options{Key: key, Now: now}), settings: map[string]string{"mode": "test"},
		secrets: map[string]string{"key": key}, invoice: work.Invoice{CustomerID: "cus_1", CustomerName: "Acme GmbH"}}
}

// stripeWorld also gives the fake.
func stripeWorld(t *testing.T) (*adapterWorld, *stripetest.Fake) {
	t.Helper()
	var fake *stripetest.Fake
	w := onVendor(t, func(now func() time.Time) vendor {
		v := onStripe(now)
		fake = v.fake.(*stripetest.Fake)
		return v
	})
	return w, fake
}

// wantOneInvoice asserts that Stripe holds one invoice, with its lines once, issued.
func wantOneInvoice(t *testing.T, fake *stripetest.Fake) {
	t.Helper()
	all := fake.Invoices()
	if len(all) != 1 || len(all[0].Lines) != 1 || all[0].Total() != 10000 || all[0].Status != "open" {
		t.Errorf("Stripe holds %+v", all)
	}
	if n := fake.Searches(); n != 0 {
		t.Errorf("the search that lags was asked %d times", n)
	}
}

func TestStripeLosesAnAnswer(t *testing.T) { eachLostAnswer(t, onStripe) }

// T2: the saved error hides that the request took effect; only a look can tell.
func TestStripeRepeatsAnErrorThatHidesASuccess(t *testing.T) {
	for _, step := range []string{stripe.StepCreate, stripe.StepLines, stripe.StepFinalize} {
		t.Run(step, func(t *testing.T) {
			w, fake := stripeWorld(t)
			it := w.meets("INV-2026-11-ACME", step, "sticky_500_after")
			w.wantEffects(it, 1)
			if it.Status != work.Confirmed || it.Sends != 1 {
				t.Errorf("%s after %d sends: %s", it.Status, it.Sends, it.LastError)
			}
			wantOneInvoice(t, fake)
		})
	}
}

// The saved error is the truth, and is repeated for a day: nothing is made, a person is asked, and once the key is
// forgotten one retry makes it, once.
func TestStripeRepeatsAnErrorForADay(t *testing.T) {
	w, fake := stripeWorld(t)
	it := w.meets("INV-2026-11-ACME", stripe.StepCreate, "sticky_500")
	w.wantEffects(it, 0)
	if it.Status != work.Review {
		t.Fatalf("%s: %s", it.Status, it.LastError)
	}
	w.clock.advance(stripetest.KeyLifetime)
	for range w.system.Capabilities.Misses { // as often as the system asks, and not long ago
		w.must(w.act("INV-2026-11-ACME", work.Check{By: ada}))
		w.once()
		w.clock.advance(time.Minute)
	}
	w.must(w.act("INV-2026-11-ACME", work.Retry{By: ada}))
	w.run(24 * time.Hour)
	w.wantStatus("INV-2026-11-ACME", work.Confirmed)
	wantOneInvoice(t, fake)
}

// T1: the answer is lost and nobody looks for more than a day; the key means nothing to Stripe any more.
func TestStripeForgetsTheKeyBeforeTheRetry(t *testing.T) {
	for f, sends := range map[ledgertest.Fault]int{"drop_after": 1, "drop_before": 2} { // nothing is there: it is sent again, once
		for _, step := range []string{stripe.StepCreate, stripe.StepLines, stripe.StepFinalize} {
			t.Run(string(f)+"/"+step, func(t *testing.T) {
				w, fake := stripeWorld(t)
				w.meetsNothingElse("INV-2026-11-ACME", step, f)
				w.clock.advance(3 * stripetest.KeyLifetime)
				w.run(24 * time.Hour)
				it := w.step("INV-2026-11-ACME", step)
				w.wantEffects(it, 1)
				if it.Status != work.Confirmed || it.Sends != sends {
					t.Errorf("%s after %d sends: %s", it.Status, it.Sends, it.LastError)
				}
				wantOneInvoice(t, fake)
			})
		}
	}
}

// meetsNothingElse lets the step's first send meet the fault, and then nothing happens.
func (w *adapterWorld) meetsNothingElse(key, step string, f ledgertest.Fault) {
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
	w.front.Misbehave(work.Send, f)
	w.once()
	w.front.Wait()
	w.front.Misbehave(work.Send, ledgertest.NoFault)
	w.wantUnknown(key, step)
}

func (w *adapterWorld) wantUnknown(key, step string) {
	w.t.Helper()
	if it := w.step(key, step); it.Status != work.Pending {
		w.t.Fatalf("%s %s is %s", key, step, it.Status)
	}
}

// A genuine refusal, each time: retried up to the limit, then a person; nothing is made.
func TestStripeRefusesEachTime(t *testing.T) {
	w, fake := stripeWorld(t)
	w.front.Misbehave(work.Send, "reject")
	w.record("INV-2026-11-ACME")
	w.run(24 * time.Hour)
	it := w.wantReview("INV-2026-11-ACME", work.ReasonRejected)
	if it.Sends != w.system.Policy.Sends {
		t.Errorf("%d sends", it.Sends)
	}
	if n := len(fake.Invoices()); n != 0 {
		t.Errorf("%d invoices", n)
	}
}

// T18: the server dies between the steps. The draft stays a draft, whatever time passes, and is continued, not made again.
func TestStripeDraftIsContinued(t *testing.T) {
	w, fake := stripeWorld(t)
	w.record("INV-2026-11-ACME")
	w.once()
	w.clock.advance(48 * time.Hour)
	if all := fake.Invoices(); len(all) != 1 || all[0].Status != "draft" {
		t.Fatalf("Stripe went on alone: %+v", all)
	}
	w.engine = w.newEngine("b")
	w.run(24 * time.Hour)
	wantOneInvoice(t, fake)
}

// Somebody deletes the draft before it is issued: a person decides, nothing is made anew.
func TestStripeDraftWasDeletedByHand(t *testing.T) {
	w, fake := stripeWorld(t)
	w.record("INV-2026-11-ACME")
	w.once()
	fake.ByHand(fake.Invoices()[0].ID, func(v *stripetest.Invoice) { v.Deleted = true })
	w.run(24 * time.Hour)
	it := w.step("INV-2026-11-ACME", stripe.StepLines)
	if it.Status != work.Review || len(fake.Invoices()) != 1 {
		t.Errorf("%s (%s), %d invoices: %s", it.Status, it.Reason, len(fake.Invoices()), it.LastError)
	}
}

// The draft was issued by hand although the lines were still missing: the total does not fit, a person sees it.
func TestStripeDraftWasIssuedByHandWithoutLines(t *testing.T) {
	w, fake := stripeWorld(t)
	w.record("INV-2026-11-ACME")
	w.once()
	fake.ByHand(fake.Invoices()[0].ID, func(v *stripetest.Invoice) { v.Status = "paid" })
	w.run(24 * time.Hour)
	it := w.step("INV-2026-11-ACME", stripe.StepLines)
	if it.Status != work.Review || it.Reason != work.ReasonMismatch {
		t.Errorf("%s (%s): %s", it.Status, it.Reason, it.LastError)
	}
}

// Lookups ask for the invoices of the customer since shortly before the first send, not for all that there ever was.
func TestStripeListsAreShort(t *testing.T) {
	w, fake := stripeWorld(t)
	w.meets("INV-2026-11-ACME", stripe.StepCreate, "drop_before")
	asked := fake.Asked()
	if len(asked) == 0 {
		t.Fatal("nothing was asked")
	}
	for _, q := range asked {
		if q.Get("customer") != "cus_1" || q.Get("created[gte]") == "" {
			t.Errorf("asked for %v", q)
		}
	}
}

// The customer was corrected after a refusal, and the draft for the former customer turns up all the same: a lookup that
// asked only for the new customer's invoices would miss it, and a second one would be made.
func TestStripeIsAskedForFormerCustomersToo(t *testing.T) {
	w, fake := stripeWorld(t)
	w.front.Misbehave(work.Send, "reject_final")
	w.record("INV-2026-11-ACME")
	w.once()
	it := w.wantReview("INV-2026-11-ACME", work.ReasonRejected)
	corrected := it.Invoice
	corrected.CustomerID = "cus_2"
	w.must(w.act("INV-2026-11-ACME", work.Correct{By: ada, Invoice: corrected, Note: "another customer"}))
	if it = w.item("INV-2026-11-ACME"); it.Status == work.Review {
		w.must(w.act("INV-2026-11-ACME", work.Retry{By: ada}))
	}
	w.front.Misbehave(work.Send, ledgertest.NoFault)
	w.front.Misbehave(work.Send, "drop_before")
	w.once()
	w.front.Misbehave(work.Send, ledgertest.NoFault)
	w.wantUnknown("INV-2026-11-ACME", stripe.StepCreate)
	fake.Put(stripetest.Invoice{ID: "in_former", Status: "draft", Customer: "cus_1", Currency: "eur",
		Metadata: map[string]string{"work_item": it.Reference, "work_item_total": "100.00 EUR"}})
	w.run(24 * time.Hour)
	if it = w.item("INV-2026-11-ACME"); it.Status != work.Review || it.Reason != work.ReasonMismatch || len(fake.Invoices()) != 1 {
		t.Errorf("%s (%s), %d invoices: %s", it.Status, it.Reason, len(fake.Invoices()), it.LastError)
	}
}
