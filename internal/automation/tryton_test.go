package automation_test

import (
	"testing"
	"time"

	"onefold/internal/ledger/ledgertest"
	"onefold/internal/ledger/tryton"
	"onefold/internal/ledger/tryton/trytontest"
	"onefold/internal/work"
)

func trytonWith(fake ledgertest.Fake, database string) func(func() time.Time) vendor {
	return func(func() time.Time) vendor {
		return vendor{adapter: tryton.Adapter, fake: fake, secrets: map[string]string{"password": trytontest.Password},
			settings: map[string]string{"database": database, "user": trytontest.User, "revenue": trytontest.Revenue},
			invoice:  work.Invoice{CustomerID: trytontest.Customer, CustomerName: "Straße Müller GmbH"}}
	}
}

func fakeTryton(now func() time.Time) vendor {
	return trytonWith(trytontest.NewFake(), trytontest.Database)(now)
}

func TestTrytonLostAnswers(t *testing.T) { eachLostAnswer(t, fakeTryton) }

// An error of no kind, inside 200 and after the commit.
func TestTrytonErrorAfterTheCommit(t *testing.T) {
	for _, step := range []string{tryton.StepCreate, tryton.StepPost} {
		w := onVendor(t, fakeTryton)
		it := w.meets("INV-2026-11-ACME", step, trytontest.ErrorInside)
		w.wantEffects(it, 1)
		if it.Status != work.Confirmed || it.Sends != 1 {
			t.Errorf("%s: %s (%s) after %d sends: %s", step, it.Status, it.Reason, it.Sends, it.LastError)
		}
	}
}

// A refusal is one, though the status is 200: it is tried up to the limit, then a person must look. Nothing is there.
func TestTrytonRefused(t *testing.T) {
	w := onVendor(t, fakeTryton)
	w.front.Misbehave(work.Send, "reject")
	w.record("INV-2026-11-ACME")
	w.run(24 * time.Hour)
	it := w.wantReview("INV-2026-11-ACME", work.ReasonRejected)
	if it.Sends != w.system.Policy.Sends || len(w.front.Writes()) != it.Sends {
		t.Errorf("%d sends, %d writes, the limit is %d", it.Sends, len(w.front.Writes()), w.system.Policy.Sends)
	}
	w.wantEffects(it, 0)
}

// The user was taken out of the company after a send whose answer was lost: every search is empty, and none may count.
func TestTrytonEmptySearchesOfAStrangerProveNothing(t *testing.T) {
	fake := trytontest.NewFake()
	w := onVendor(t, trytonWith(fake, trytontest.Database))
	w.front.Misbehave(work.Send, "drop_after")
	w.record("INV-2026-11-ACME")
	w.once()
	w.front.Misbehave(work.Send, ledgertest.NoFault)
	fake.Hide()
	w.run(24 * time.Hour)
	it := w.wantReview("INV-2026-11-ACME", work.ReasonCouldNotCheck)
	w.wantEffects(it, 1)
	if n := len(w.front.Writes()); n != 1 {
		t.Errorf("%d writes", n)
	}
}

// The real server: the answer is lost after the act, at each step. Exactly one invoice, confirmed.
func TestTrytonLive(t *testing.T) {
	live := trytontest.Start(t)
	for _, step := range []string{tryton.StepCreate, tryton.StepPost} {
		t.Run(step, func(t *testing.T) {
			books := live.For(t)
			w := onVendor(t, trytonWith(books, books.Database))
			key := "INV-2026-11-" + step
			it := w.meets(key, step, "drop_after")
			w.wantEffects(it, 1)
			if it.Status != work.Confirmed || it.Sends != 1 {
				t.Errorf("%s (%s) after %d sends: %s", it.Status, it.Reason, it.Sends, it.LastError)
			}
			posted := w.step(key, tryton.StepPost)
			rows := books.Invoices(posted.Reference)
			if posted.Status != work.Confirmed || len(rows) != 1 || rows[0].State != "posted" || rows[0].Number == "" {
				t.Errorf("%s (%s); Tryton holds %+v", posted.Status, posted.Reason, rows)
			}
		})
	}
}
