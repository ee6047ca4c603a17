package odoo_test

import (
	"strconv"
	"testing"
	"time"

	"onefold/internal/ledger"
	"onefold/internal/ledger/ledgertest"
	"onefold/internal/ledger/odoo"
	"onefold/internal/ledger/odoo/odootest"
	"onefold/internal/work"
)

// What Odoo cannot do wrong, so that its fake says no:
//   - numeric_id: its ids are numbers;
//   - zero_id, null_id, empty_id of the posting: that answer names no record;
//   - duplicate_error of the creation: references are not unique;
//   - trim_reference, upper_reference: text fields are stored as they come;
//   - deleted: a deleted draft is gone from the search as well;
//   - total_times_100, total_plus_one, other_customer, other_books on a send to an old server: create answers with the id only.
var cautious = map[string]string{
	"Trial89_ReasonAsXML":              "Odoo refuses with a JSON error object; a 4xx in other words is not known to be its own",
	"Trial89_ReasonWithoutTypeAndBody": "the same",
}

var apis = []string{"json-2", "json-rpc", "json-rpc-old"}

func TestConformance(t *testing.T) {
	for _, api := range apis {
		t.Run(api, func(t *testing.T) {
			ledgertest.Run(t, ledgertest.Target{Lists: true, ReadsFirst: api == "json-rpc-old", Invoice: fit, Cautious: cautious,
				New: func(t *testing.T, s ledgertest.Setup) (ledger.System, ledgertest.Outside) {
					sys, front, _ := target(t, api, s)
					if _, err := sys.Identity(t.Context()); err != nil { // as a server does before the first send: what a write names is read
						t.Fatal(err)
					}
					return sys, front
				}})
		})
	}
}

func fit(v *work.Invoice) { v.CustomerID = strconv.Itoa(odootest.Partner) }

// target is the adapter, as an admin connects it, in front of a fresh Odoo.
func target(t *testing.T, api string, s ledgertest.Setup, set ...func(*ledger.Connection)) (*odoo.Client, *ledgertest.Front, *odootest.Odoo) {
	t.Helper()
	if s.Timeout == 0 {
		s.Timeout = time.Minute
	}
	fake := odootest.New(odootest.Options{RPC: api != "json-2", Old: api == "json-rpc-old", Key: ledgertest.Secret, PageSize: s.PageSize})
	front := ledgertest.Serve(t, fake)
	sys, err := odoo.Adapter.Connect(connection(front.URL(), api, s, set...))
	if err != nil {
		t.Fatal(err)
	}
	c := sys.(*odoo.Client)
	t.Cleanup(c.Close)
	return c, front, fake
}

func connection(address, api string, s ledgertest.Setup, set ...func(*ledger.Connection)) ledger.Connection {
	c := ledger.Connection{Secrets: map[string]string{"key": ledgertest.Secret}, Now: s.Now, MaxBody: s.MaxBody,
		System: work.System{Address: address, Settings: map[string]string{"api": api, "database": odootest.Database,
			"company": strconv.Itoa(odootest.Company), "login": odootest.Login}}}
	c.System.Policy.RequestTimeout = s.Timeout
	for _, f := range set {
		f(&c)
	}
	return c
}
