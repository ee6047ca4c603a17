package automation_test

import (
	"testing"
	"time"

	"onefold/internal/ledger/erpnext"
	"onefold/internal/ledger/erpnext/erpnexttest"
	"onefold/internal/ledger/ledgertest"
	"onefold/internal/work"
)

// The ways in which invoices are made in ERPNext that differ most.
var erpnextWays = map[string]struct{ unique, atOnce bool }{"purchase order, draft first": {}, "unique field, at once": {true, true}}

func onERPNext(unique, atOnce bool, site **erpnexttest.Site) func(now func() time.Time) vendor {
	return func(now func() time.Time) vendor {
		s := erpnexttest.New(erpnexttest.Options{Secret: ledgertest.Secret, Unique: unique, Now: now})
		if site != nil {
			*site = s
		}
		v := vendor{adapter: erpnext.Adapter, fake: s, secrets: map[string]string{"api_key": erpnexttest.Key, "api_secret": ledgertest.Secret},
			settings: map[string]string{"company": erpnexttest.Company, "item": erpnexttest.Item},
			invoice:  work.Invoice{CustomerID: erpnexttest.Customer, CustomerName: erpnexttest.Customer}}
		if unique {
			v.settings["unique_field"] = erpnexttest.Field
		}
		if atOnce {
			v.settings["at_once"] = "yes"
		}
		return v
	}
}

func TestERPNextLostAnswersEndInOneInvoice(t *testing.T) {
	for name, way := range erpnextWays {
		t.Run(name, func(t *testing.T) { eachLostAnswer(t, onERPNext(way.unique, way.atOnce, nil)) })
	}
}

// Internal errors of ERPNext's own, before and after the commit, and a site in maintenance.
func TestERPNextInternalErrorsEndInOneInvoice(t *testing.T) {
	for name, way := range erpnextWays {
		for _, f := range []ledgertest.Fault{"deadlock", "error_after_commit", "maintenance", "login"} {
			t.Run(name+"/"+string(f), func(t *testing.T) {
				for _, step := range onVendor(t, onERPNext(way.unique, way.atOnce, nil)).system.Steps {
					w := onVendor(t, onERPNext(way.unique, way.atOnce, nil))
					it := w.meets("INV-1", step, f)
					w.wantEffects(it, 1)
					if it.Status != work.Confirmed {
						t.Errorf("%s: %s (%s): %s", step, it.Status, it.Reason, it.LastError)
					}
				}
			})
		}
	}
}

func TestERPNextRefusedToTheLimit(t *testing.T) {
	w := onVendor(t, onERPNext(false, false, nil))
	w.record("INV-1")
	w.front.Misbehave(work.Send, "reject")
	w.run(24 * time.Hour)
	w.wantEffects(w.wantReview("INV-1", work.ReasonRejected), 0)
	if n := len(w.front.Writes()); n != w.system.Policy.Sends {
		t.Errorf("%d writes, the limit is %d", n, w.system.Policy.Sends)
	}
}

// ERPNext says that it has it, and it is not found: a person decides, and nothing is sent again.
func TestERPNextDuplicateReportIsLookedUp(t *testing.T) {
	for _, f := range []ledgertest.Fault{"duplicate_error", "duplicate_name"} {
		w := onVendor(t, onERPNext(true, true, nil))
		it := w.meets("INV-1", erpnext.StepCreate, f)
		w.wantEffects(it, 0)
		if it.Status != work.Review || it.Sends != 1 {
			t.Errorf("%s: %s (%s) after %d sends", f, it.Status, it.Reason, it.Sends)
		}
	}
}

// The usual taxes of the company change the total: seen before the invoice is submitted.
func TestERPNextWrongTotalIsNotSubmitted(t *testing.T) {
	site := erpnexttest.New(erpnexttest.Options{Secret: ledgertest.Secret, DefaultTax: true})
	w := onVendor(t, func(now func() time.Time) vendor {
		v := onERPNext(false, false, nil)(now)
		v.fake = site
		return v
	})
	w.record("INV-1")
	w.run(24 * time.Hour)
	w.wantReview("INV-1", work.ReasonMismatch)
	if held := site.Invoices(); len(held) != 1 || held[0].DocStatus != 0 {
		t.Errorf("%+v", held)
	}
}
