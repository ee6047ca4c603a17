package proof_test

import (
	"testing"
	"time"

	"onefold/internal/automation/proof"
	"onefold/internal/ledger"
	"onefold/internal/ledger/ledgertest"
	"onefold/internal/ledger/xero"
	"onefold/internal/ledger/xero/xerotest"
	"onefold/internal/work"
)

// The proof over the real adapter: on the demo company approved invoices that are voided, on live books drafts that are
// deleted. Nothing is there twice.
func TestXeroIsProven(t *testing.T) {
	for name, c := range map[string]struct{ field, test, end string }{
		"demo company":        {xero.ReferenceAsNumber, "yes", "VOIDED"},
		"drafts":              {xero.ReferenceAsNumber, "no", "DELETED"},
		"drafts by reference": {xero.ReferenceAsText, "no", "DELETED"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			books := xerotest.New(xerotest.Options{Secret: ledgertest.Secret, Now: w.clock.Now})
			front := ledgertest.Serve(t, books)
			tokens := &ledgertest.Tokens{}
			access, refresh := books.Login()
			tokens.Connect(ledger.Token{Access: access, Refresh: refresh, Expires: w.clock.Now().Add(30 * time.Minute)})
			connect := func(c ledger.Connection) (ledger.System, error) {
				c.Tokens, c.Secrets, c.Now = tokens, map[string]string{"client_secret": ledgertest.Secret}, w.clock.Now
				return xero.Adapter.Connect(c)
			}
			w.adapter = xero.Adapter
			w.adapter.OAuth = nil // the account is connected already
			w.adapter.Connect = connect
			w.con.Adapters = []ledger.Adapter{w.adapter}
			sys := work.System{ID: "books", CompanyID: 1, Name: "Acme", Adapter: w.adapter.Name, Address: front.URL(), Policy: work.DefaultPolicy(), MaxInFlight: 5,
				Settings: map[string]string{"client_id": xerotest.ClientID, "account": xerotest.Account, "tenant": xerotest.Tenant, "reference_field": c.field, "test_books": c.test}}
			is, err := connect(ledger.Connection{System: sys})
			w.must(err)
			sys.Capabilities, sys.Steps = is.Capabilities(), is.Steps()
			w.must(w.store.DeclareSystem(t.Context(), sys))
			r := w.prove(proof.Wish{Customer: xerotest.Customer, Currency: "EUR", Consent: "Acme"})
			wants(t, r, proof.Proven, map[string]string{proof.Found: "passed found/found", proof.Same: "passed same/same", proof.Lost: "passed lost/confirmed",
				proof.Refused: "passed refused/limit", proof.Cleaning: "passed cleaning/all"})
			seen := map[string]bool{}
			for _, v := range books.Invoices() {
				if seen[v.Asked] || v.Status != c.end {
					t.Errorf("%s: twice %v, %s", v.Asked, seen[v.Asked], v.Status)
				}
				seen[v.Asked] = true
			}
			if len(seen) == 0 {
				t.Error("nothing was made")
			}
		})
	}
}
