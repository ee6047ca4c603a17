package xero_test

import (
	"testing"
	"time"

	"onefold/internal/ledger"
	"onefold/internal/ledger/ledgertest"
	"onefold/internal/ledger/xero"
	"onefold/internal/ledger/xero/xerotest"
	"onefold/internal/work"
)

// Faults of the suite that Xero cannot commit:
//   - reject_final: no refusal is published that no retry could cure.
//   - other_books: each call names the organisation, and Xero answers 403 for one that the login does not reach; see
//     TestAnotherOrganisationIsRefused.
func TestConformance(t *testing.T) {
	for name, set := range map[string][]setting{
		"number":            nil,
		"reference":         {{"reference_field", xero.ReferenceAsText}},
		"draft":             {{"status", xero.IssueDraft}},
		"custom connection": {{"login", xero.LoginCustom}, {"tenant", ""}, {"reference_field", xero.ReferenceAsText}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ledgertest.Run(t, ledgertest.Target{
				New: func(t *testing.T, s ledgertest.Setup) (ledger.System, ledgertest.Outside) {
					w := connect(t, xerotest.Options{PageSize: s.PageSize, SearchLag: 30 * time.Second}, s, set...)
					if _, err := w.sys.Identity(t.Context()); err != nil { // the login is no part of what is counted
						t.Fatal(err)
					}
					return w.sys, w.front
				},
				ReadsFirst: name == "custom connection", // where the clock jumps, the login has ended: it is renewed before the write
				Invoice:    func(v *work.Invoice) { v.CustomerID = xerotest.Customer },
			})
		})
	}
}
