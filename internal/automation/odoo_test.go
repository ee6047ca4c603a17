package automation_test

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"onefold/internal/ledger/ledgertest"
	"onefold/internal/ledger/odoo"
	"onefold/internal/ledger/odoo/odootest"
	"onefold/internal/work"
)

// The APIs that differ most; the suite and the adapter's own tests run all.
var odooAPIs = []string{"json-2", "json-rpc-old"}

func onOdoo(api string, fake **odootest.Odoo) func(now func() time.Time) vendor {
	return func(now func() time.Time) vendor {
		o := odootest.New(odootest.Options{RPC: api != "json-2", Old: api == "json-rpc-old", Key: ledgertest.Secret, Lag: 45 * time.Second, Now: now})
		if fake != nil {
			*fake = o
		}
		return vendor{adapter: odoo.Adapter, fake: o, secrets: map[string]string{"key": ledgertest.Secret},
			settings: map[string]string{"api": api, "database": odootest.Database, "company": strconv.Itoa(odootest.Company), "login": odootest.Login},
			invoice:  work.Invoice{CustomerID: strconv.Itoa(odootest.Partner), CustomerName: "Acme"}}
	}
}

func TestOdooLostAnswersEndInOneInvoice(t *testing.T) {
	for _, api := range odooAPIs {
		t.Run(api, func(t *testing.T) { eachLostAnswer(t, onOdoo(api, nil)) })
	}
}

// An exception that Odoo tells after the commit, and the same kind of exception without one.
func TestOdooInternalErrorsEndInOneInvoice(t *testing.T) {
	for _, api := range odooAPIs {
		for _, step := range []string{odoo.StepCreate, odoo.StepPost} {
			for _, f := range []ledgertest.Fault{"error_after_commit", "server_error"} {
				t.Run(api+"/"+step+"/"+string(f), func(t *testing.T) {
					w := onVendor(t, onOdoo(api, nil))
					it := w.meets("INV-1", step, f)
					w.wantEffects(it, 1)
					if it.Status != work.Confirmed {
						t.Errorf("%s (%s): %s", it.Status, it.Reason, it.LastError)
					}
				})
			}
		}
	}
}

func TestOdooRefusedToTheLimit(t *testing.T) {
	for _, api := range odooAPIs {
		t.Run(api, func(t *testing.T) {
			w := onVendor(t, onOdoo(api, nil))
			w.record("INV-1")
			w.front.Misbehave(work.Send, "reject")
			w.run(24 * time.Hour)
			w.wantEffects(w.wantReview("INV-1", work.ReasonRejected), 0)
			if n := len(w.front.Writes()); n != w.system.Policy.Sends {
				t.Errorf("%d writes, the limit is %d", n, w.system.Policy.Sends)
			}
		})
	}
}

// Odoo says that the invoice is no draft any more, and yet it is one: a person decides.
func TestOdooDuplicateReportIsLookedUp(t *testing.T) {
	w := onVendor(t, onOdoo("json-2", nil))
	it := w.meets("INV-1", odoo.StepPost, "duplicate_error")
	w.wantEffects(it, 0)
	if it.Status != work.Review || it.Sends != 1 {
		t.Errorf("%s (%s) after %d sends", it.Status, it.Reason, it.Sends)
	}
}

// The key has ended: the system waits for its owner, and the item spends no try.
func TestOdooKeyExpired(t *testing.T) {
	for _, api := range odooAPIs {
		t.Run(api, func(t *testing.T) {
			w := onVendor(t, onOdoo(api, nil))
			it := w.meets("INV-1", odoo.StepCreate, "login")
			w.wantEffects(it, 1)
			if it.Status != work.Confirmed || it.SendsUsed != 1 {
				t.Errorf("%s (%s) after %d tries: %s", it.Status, it.Reason, it.SendsUsed, it.LastError)
			}
		})
	}
}

// A total that the taxes changed is seen before the invoice is posted.
func TestOdooWrongTotalIsNotPosted(t *testing.T) {
	var fake *odootest.Odoo
	w := onVendor(t, func(now func() time.Time) vendor {
		v := onOdoo("json-2", &fake)(now)
		v.settings["tax"] = strconv.Itoa(odootest.TaxAdded)
		return v
	})
	w.record("INV-1")
	w.run(24 * time.Hour)
	w.wantReview("INV-1", work.ReasonMismatch)
	if states := fake.States("INV-1"); !slices.Equal(states, []string{"draft"}) {
		t.Errorf("%v", states)
	}
}
