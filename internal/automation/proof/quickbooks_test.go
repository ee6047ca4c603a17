package proof_test

import (
	"testing"

	"onefold/internal/automation/proof"
	"onefold/internal/ledger"
	"onefold/internal/ledger/ledgertest"
	"onefold/internal/ledger/quickbooks"
	"onefold/internal/ledger/quickbooks/quickbookstest"
	"onefold/internal/work"
)

// The proof over the real adapter, as on a sandbox company: what it makes it voids, and nothing is there twice.
func TestQuickBooksIsProven(t *testing.T) {
	for name, o := range map[string]quickbookstest.Options{
		"forgets keys, takes any number": {},
		"remembers all":                  {KeyLifetime: 1 << 50, Unique: true, KeepRefusal: true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			o.Now = w.clock.Now
			company := quickbookstest.New(o)
			front := ledgertest.Serve(t, company)
			tokens := &ledgertest.Tokens{}
			tokens.Connect(quickbookstest.Token())
			w.adapter = quickbooks.Adapter
			w.adapter.OAuth = nil // the account is connected already
			w.adapter.TestBooks = func(work.System) bool { return true }
			w.adapter.Connect = func(c ledger.Connection) (ledger.System, error) {
				c.Tokens, c.Secrets, c.Now = tokens, quickbookstest.Secrets(), w.clock.Now
				return quickbooks.Adapter.Connect(c)
			}
			w.con.Adapters = []ledger.Adapter{w.adapter}
			w.must(w.store.DeclareSystem(t.Context(), work.System{ID: "books", CompanyID: 1, Name: "Acme", Adapter: w.adapter.Name, Address: front.URL(),
				Settings: quickbookstest.Settings(), Policy: work.DefaultPolicy(), Capabilities: (&quickbooks.System{}).Capabilities(),
				Steps: []string{quickbooks.StepCreate}, MaxInFlight: 8}))
			r := w.prove(proof.Wish{Customer: quickbookstest.Customer, Currency: quickbookstest.Home})
			wants(t, r, proof.Proven, map[string]string{proof.Found: "passed found/found", proof.Same: "passed same/same", proof.Lost: "passed lost/confirmed",
				proof.Refused: "passed refused/limit", proof.Cleaning: "passed cleaning/all"})
			seen := map[string]bool{}
			for _, v := range company.Records() {
				if seen[v.Asked] || !v.Void {
					t.Errorf("%s: twice %v, void %v", v.Asked, seen[v.Asked], v.Void)
				}
				seen[v.Asked] = true
			}
			if len(seen) == 0 {
				t.Error("nothing was made")
			}
		})
	}
}
