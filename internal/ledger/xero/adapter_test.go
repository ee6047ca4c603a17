package xero_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"onefold/internal/ledger"
	"onefold/internal/ledger/ledgertest"
	"onefold/internal/ledger/xero"
	"onefold/internal/ledger/xero/xerotest"
	"onefold/internal/work"
)

// What is wrong is named by its field.
func TestConnectNamesTheField(t *testing.T) {
	good := func() ledger.Connection {
		return ledger.Connection{System: work.System{Address: "https://api.xero.com", Settings: map[string]string{"client_id": "c", "account": "200"}},
			Secrets: map[string]string{"client_secret": "s"}}
	}
	if _, err := xero.Adapter.Connect(good()); err != nil {
		t.Fatal(err)
	}
	for field, values := range map[string][]string{
		"client_id": {""}, "account": {""}, "client_secret": {""}, "due_days": {"-1", "400", "soon"}, "tenant": {"acme", "45e4708e"},
		"login": {"password"}, "reference_field": {"Url"}, "status": {"PAID"}, "test_books": {"maybe"}, "scopes": {"accounting.invoices"},
		"address": {"api.xero.com", "https://api.xero.com/api.xro/2.0", "ftp://api.xero.com", "https://a:b@api.xero.com"},
	} {
		for _, v := range values {
			c := good()
			switch field {
			case "address":
				c.System.Address = v
			case "client_secret":
				c.Secrets = map[string]string{}
			default:
				c.System.Settings[field] = v
			}
			var wrong *ledger.FieldError
			if _, err := xero.Adapter.Connect(c); !errors.As(err, &wrong) || wrong.Field != field {
				t.Errorf("%s %q: %v", field, v, err)
			}
		}
	}
}

func TestTheLoginPageIsXeros(t *testing.T) {
	c := ledger.Connection{System: work.System{Settings: map[string]string{"client_id": "c", "account": "200"}}, Secrets: map[string]string{"client_secret": "s"}}
	cfg, err := xero.Adapter.OAuth.Config(c)
	if err != nil || cfg.Endpoint.AuthURL != "https://login.xero.com/identity/connect/authorize" || cfg.Endpoint.TokenURL != "https://identity.xero.com/connect/token" ||
		!slices.Contains(cfg.Scopes, "offline_access") || cfg.ClientID != "c" || cfg.ClientSecret != "s" {
		t.Errorf("%+v %v", cfg, err)
	}
	if !xero.Adapter.OAuth.Needed(c.System) {
		t.Error("a web app needs the browser")
	}
	c.System.Settings["login"] = xero.LoginCustom
	if xero.Adapter.OAuth.Needed(c.System) {
		t.Error("a custom connection does not")
	}
	// Whatever stands in for Xero gets no secret of Xero's, and Xero none of its.
	c.System.Address = "http://127.0.0.1:1"
	if cfg, err = xero.Adapter.OAuth.Config(c); err != nil || !strings.HasPrefix(cfg.Endpoint.AuthURL, "http://127.0.0.1:1/") || !strings.HasPrefix(cfg.Endpoint.TokenURL, "http://127.0.0.1:1/") {
		t.Errorf("%+v %v", cfg, err)
	}
}

func TestOnlyDeclaredBooksAreForTests(t *testing.T) {
	s := work.System{}
	if xero.Adapter.TestBooks(s) {
		t.Error("nobody declared it")
	}
	s.Settings = map[string]string{"test_books": "yes"}
	if !xero.Adapter.TestBooks(s) {
		t.Error("declared")
	}
}

// What a proof asks to be refused is refused, and makes nothing.
func TestWhatAProofWantsRefusedIsRefused(t *testing.T) {
	w := connect(t, xerotest.Options{}, ledgertest.Setup{})
	req := w.request("INV-1")
	req.Invoice = xero.Adapter.Refused(req.Invoice)
	w.wantOutcome(w.send(req), work.Rejected)
	w.wantRecords("INV-1", 0)
}

// A proof takes back what it made; what cannot be taken back is named.
func TestRemove(t *testing.T) {
	for status, want := range map[string]string{"DRAFT": "DELETED", "SUBMITTED": "DELETED", "AUTHORISED": "VOIDED", "VOIDED": "VOIDED", "DELETED": "DELETED", "PAID": "PAID"} {
		w := connect(t, xerotest.Options{}, ledgertest.Setup{})
		id := w.fake.Add(xerotest.Invoice{Type: "ACCREC", Number: "INV-1", Customer: xerotest.Customer, Total: "47.99", Currency: "EUR", Status: status})
		err := w.sys.(ledger.Remover).Remove(t.Context(), id)
		if got := w.fake.Invoices()[0].Status; got != want || (err == nil) != (status != "PAID") {
			t.Errorf("%s became %s: %v", status, got, err)
		}
		if err != nil && !strings.Contains(err.Error(), "INV-1 stays in Xero") {
			t.Error(err)
		}
	}
	w := connect(t, xerotest.Options{}, ledgertest.Setup{})
	for _, id := range []string{"", "00000000-0000-0000-0000-000000000000", "e1f00000-0000-4000-8000-00000000dead"} {
		if err := w.sys.(ledger.Remover).Remove(t.Context(), id); err == nil {
			t.Errorf("%q was removed", id)
		}
	}
}

// No wording of a field is a riddle: each has a label, and each that is not obvious a help.
func TestFieldsExplainThemselves(t *testing.T) {
	for _, f := range xero.Adapter.Fields {
		if f.Label == "" || f.Help == "" || f.Default != "" && len(f.Choices) > 0 && !slices.Contains(f.Choices, f.Default) {
			t.Errorf("%+v", f)
		}
	}
}
