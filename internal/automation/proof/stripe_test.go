package proof_test

import (
	"testing"

	"onefold/internal/automation/proof"
	"onefold/internal/ledger"
	"onefold/internal/ledger/ledgertest"
	"onefold/internal/ledger/stripe"
	"onefold/internal/ledger/stripe/stripetest"
	"onefold/internal/work"
)

// The proof over the real adapter: in test mode it issues and voids, on live books it makes drafts and deletes them. Nothing
// is there twice, and nothing stays.
func TestStripeIsProven(t *testing.T) {
	for _, mode := range []string{"test", "live"} {
		t.Run(mode, func(t *testing.T) {
			w := newWorld(t)
			key := "sk_" + mode + "_" + ledgertest.Secret
			account := stripetest.New(stripetest.Options{Key: key, Now: w.clock.Now, Live: mode == "live"})
			front := ledgertest.Serve(t, account)
			w.adapter = stripe.Adapter
			w.adapter.Connect = func(c ledger.Connection) (ledger.System, error) {
				c.Secrets, c.Now = map[string]string{"key": key}, w.clock.Now
				return stripe.Adapter.Connect(c)
			}
			w.con.Adapters = []ledger.Adapter{w.adapter}
			sys, err := w.con.Declared(work.System{ID: "books", CompanyID: 1, Name: "Acme", Adapter: w.adapter.Name, Address: front.URL(),
				Settings: map[string]string{"mode": mode}, Policy: work.DefaultPolicy(), MaxInFlight: 8})
			w.must(err)
			w.must(w.store.DeclareSystem(t.Context(), sys))
			r := w.prove(proof.Wish{Customer: "cus_1", Currency: "EUR", Consent: map[string]string{"live": "Acme"}[mode]})
			wants(t, r, proof.Proven, map[string]string{proof.Found: "passed found/found", proof.Same: "passed same/same",
				proof.Lost: "passed lost/confirmed", proof.Refused: "passed refused/limit", proof.Cleaning: "passed cleaning/all"})
			seen := map[string]bool{}
			for _, v := range account.Invoices() {
				reference := v.Metadata["work_item"]
				if seen[reference] {
					t.Errorf("%s is there twice", reference)
				}
				seen[reference] = true
				if !v.Deleted && v.Status != "void" {
					t.Errorf("%s stays as %s", reference, v.Status)
				}
				if mode == "live" && v.Status != "draft" {
					t.Errorf("%s was issued on live books", reference)
				}
			}
			if len(seen) == 0 {
				t.Error("nothing was made")
			}
			for _, q := range account.Asked() {
				if q.Get("created[gte]") == "" {
					t.Errorf("the whole list was read: %v", q)
				}
			}
		})
	}
}
