package erpnext_test

import (
	"testing"
	"time"

	"onefold/internal/ledger"
	"onefold/internal/ledger/erpnext"
	"onefold/internal/ledger/erpnext/erpnexttest"
	"onefold/internal/ledger/ledgertest"
	"onefold/internal/work"
)

var cautious = map[string]string{
	"Trial89_ReasonAsXML":              "Frappe refuses with a JSON body that names the exception; a 4xx in other words is not known to be its own",
	"Trial89_ReasonWithoutTypeAndBody": "the same",
}

// kind is a site and the way in which invoices are made there.
type kind struct{ unique, atOnce bool }

var kinds = map[string]kind{"purchase order": {}, "unique field": {unique: true}, "unique field, at once": {true, true}, "purchase order, at once": {atOnce: true}}

// What ERPNext cannot do wrong, so that its fake says no: deleted (a deleted draft is gone from the list as well).
func TestConformance(t *testing.T) {
	for name, k := range kinds {
		t.Run(name, func(t *testing.T) {
			ledgertest.Run(t, ledgertest.Target{Lists: true, Invoice: fit, Cautious: cautious,
				New: func(t *testing.T, s ledgertest.Setup) (ledger.System, ledgertest.Outside) {
					sys, front, _ := target(t, k, s)
					return sys, front
				}})
		})
	}
}

func fit(v *work.Invoice) { v.CustomerID = erpnexttest.Customer }

// target is the adapter, as an admin connects it, in front of a fresh site.
func target(t *testing.T, k kind, s ledgertest.Setup, set ...func(*ledger.Connection)) (*erpnext.Client, *ledgertest.Front, *erpnexttest.Site) {
	t.Helper()
	if s.Timeout == 0 {
		s.Timeout = time.Minute
	}
	site := erpnexttest.New(erpnexttest.Options{Secret: ledgertest.Secret, Unique: k.unique, PageSize: s.PageSize})
	front := ledgertest.Serve(t, site)
	sys, err := erpnext.Adapter.Connect(connection(front.URL(), k, s, set...))
	if err != nil {
		t.Fatal(err)
	}
	c := sys.(*erpnext.Client)
	t.Cleanup(c.Close)
	return c, front, site
}

func connection(address string, k kind, s ledgertest.Setup, set ...func(*ledger.Connection)) ledger.Connection {
	c := ledger.Connection{Secrets: map[string]string{"api_key": erpnexttest.Key, "api_secret": ledgertest.Secret}, Now: s.Now, MaxBody: s.MaxBody,
		System: work.System{Address: address, Settings: map[string]string{"company": erpnexttest.Company, "item": erpnexttest.Item}}}
	if k.unique {
		c.System.Settings["unique_field"] = erpnexttest.Field
	}
	if k.atOnce {
		c.System.Settings["at_once"] = "yes"
	}
	c.System.Policy.RequestTimeout = s.Timeout
	for _, f := range set {
		f(&c)
	}
	return c
}
