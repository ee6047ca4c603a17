package quickbooks_test

import (
	"testing"

	"onefold/internal/ledger"
	"onefold/internal/ledger/ledgertest"
	"onefold/internal/ledger/quickbooks"
	"onefold/internal/ledger/quickbooks/quickbookstest"
	"onefold/internal/work"
)

// What this vendor cannot do: other_books. The company is a part of the address, and a token of another company is refused
// with 403; no answer comes from other books.

func TestConformance(t *testing.T) {
	companies := map[string]quickbookstest.Options{
		"lax":    {}, // nothing that the vendor leaves open is in our favour
		"strict": {KeyLifetime: 1 << 50, KeepRefusal: true, Unique: true},
		"lags":   {SearchLag: (&quickbooks.System{}).Capabilities().SearchLag},
	}
	for name, o := range companies {
		t.Run(name, func(t *testing.T) {
			ledgertest.Run(t, ledgertest.Target{
				Lists:   name != "strict",
				Invoice: func(v *work.Invoice) { v.CustomerID = quickbookstest.Customer },
				New: func(t *testing.T, setup ledgertest.Setup) (ledger.System, ledgertest.Outside) {
					sys, _, front := connected(t, o, setup)
					return sys, front
				},
			})
		})
	}
}

// connected is an adapter, as an admin's settings make it, with a company of its own.
func connected(t *testing.T, o quickbookstest.Options, setup ledgertest.Setup, change ...func(*ledger.Connection)) (*quickbooks.System, *quickbookstest.Company, *ledgertest.Front) {
	t.Helper()
	o.PageSize = setup.PageSize
	company := quickbookstest.New(o)
	front := ledgertest.Serve(t, company)
	tokens := &ledgertest.Tokens{}
	tokens.Connect(quickbookstest.Token())
	c := ledger.Connection{System: work.System{Address: front.URL(), Settings: quickbookstest.Settings(), Policy: work.Policy{RequestTimeout: setup.Timeout}},
		Secrets: quickbookstest.Secrets(), Tokens: tokens, Now: setup.Now, MaxBody: setup.MaxBody}
	for _, f := range change {
		f(&c)
	}
	sys, err := quickbooks.Adapter.Connect(c)
	if err != nil {
		t.Fatal(err)
	}
	s := sys.(*quickbooks.System)
	t.Cleanup(s.Close)
	return s, company, front
}
