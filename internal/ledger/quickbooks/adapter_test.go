package quickbooks_test

import (
	"errors"
	"maps"
	"testing"

	"onefold/internal/ledger"
	"onefold/internal/ledger/ledgertest"
	"onefold/internal/ledger/quickbooks"
	"onefold/internal/ledger/quickbooks/quickbookstest"
	"onefold/internal/work"
)

func TestSettingsAreRefusedByField(t *testing.T) {
	for field, value := range map[string]string{"client_id": "", "client_secret": "", "company": "Acme Ltd", "item": "", "tax": "sometimes", "address": "ftp://x"} {
		settings, secrets := quickbookstest.Settings(), quickbookstest.Secrets()
		address := "https://" + quickbooks.LiveHost
		switch field {
		case "client_secret":
			secrets[field] = value
		case "address":
			address = value
		default:
			settings[field] = value
		}
		_, err := quickbooks.Adapter.Connect(ledger.Connection{System: work.System{Address: address, Settings: settings}, Secrets: secrets})
		var wrong *ledger.FieldError
		if !errors.As(err, &wrong) || wrong.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
}

// Drafts do not exist, so a proof must never take a live company for one that it may write to.
func TestOnlyTheSandboxIsForTests(t *testing.T) {
	for address, want := range map[string]bool{
		"https://sandbox-quickbooks.api.intuit.com":              true,
		"https://quickbooks.api.intuit.com":                      false,
		"https://quickbooks.api.intuit.com/sandbox-quickbooks":   false,
		"https://sandbox-quickbooks.api.intuit.com.example.com":  false,
		"https://example.com/sandbox-quickbooks.api.intuit.com/": false,
		"": false,
	} {
		if got := quickbooks.Adapter.TestBooks(work.System{Address: address}); got != want {
			t.Errorf("%q is for tests: %v", address, got)
		}
	}
	_, err := quickbooks.Adapter.Connect(ledger.Connection{System: work.System{Address: "https://" + quickbooks.LiveHost, Settings: quickbookstest.Settings()},
		Secrets: quickbookstest.Secrets(), DraftsOnly: true})
	if err == nil || quickbooks.Adapter.Drafts {
		t.Error("a proof with drafts was promised")
	}
}

func TestWhatAProofCountsOnIsRefused(t *testing.T) {
	sys, company, _ := connected(t, quickbookstest.Options{}, patient)
	req := request(t, "INV-1")
	req.Invoice = quickbooks.Adapter.Refused(req.Invoice)
	if a := send(t, sys, req); a.Outcome != work.Rejected || a.Final || len(company.Records()) != 0 {
		t.Errorf("%s, final %v", a.Outcome, a.Final)
	}
}

// The client secret goes to Intuit, or to the address that the admin typed, and nowhere else.
func TestTheLoginBelongsToTheAddress(t *testing.T) {
	for address, want := range map[string]string{
		"https://quickbooks.api.intuit.com":             "https://oauth.platform.intuit.com/oauth2/v1/tokens/bearer",
		"https://sandbox-quickbooks.api.intuit.com":     "https://oauth.platform.intuit.com/oauth2/v1/tokens/bearer",
		"https://quickbooks.api.intuit.com.example.com": "https://quickbooks.api.intuit.com.example.com/oauth2/v1/tokens/bearer",
		"https://stand-in.example.com/books":            "https://stand-in.example.com/books/oauth2/v1/tokens/bearer",
	} {
		c, err := quickbooks.Adapter.OAuth.Config(ledger.Connection{System: work.System{Address: address, Settings: quickbookstest.Settings()}, Secrets: quickbookstest.Secrets()})
		if err != nil || c.Endpoint.TokenURL != want || c.ClientID != "app" || c.ClientSecret != ledgertest.Secret || len(c.Scopes) != 1 {
			t.Errorf("%s: %+v, %v", address, c, err)
		}
	}
	got := quickbooks.Adapter.OAuth.Callback(map[string][]string{"code": {"x"}, "realmId": {"9341452000000000"}, "state": {"y"}})
	if !maps.Equal(got, map[string]string{"company": "9341452000000000"}) {
		t.Errorf("%v", got)
	}
	if got := quickbooks.Adapter.OAuth.Callback(map[string][]string{"code": {"x"}}); len(got) != 0 { // what an admin typed stays
		t.Errorf("%v", got)
	}
	var wrong *ledger.FieldError
	if _, err := quickbooks.Adapter.OAuth.Config(ledger.Connection{System: work.System{Settings: quickbookstest.Settings()}}); !errors.As(err, &wrong) || wrong.Field != "client_secret" {
		t.Errorf("without a secret: %v", err)
	}
}

// Before the account is connected nothing is sent, and the owner is told.
func TestNotConnectedYet(t *testing.T) {
	noCompany := func(c *ledger.Connection) { delete(c.System.Settings, "company") }
	noTokens := func(c *ledger.Connection) { c.Tokens = nil }
	for name, change := range map[string]func(*ledger.Connection){"no company": noCompany, "no login": noTokens} {
		sys, _, front := connected(t, quickbookstest.Options{}, patient, change)
		if a := send(t, sys, request(t, "INV-1")); a.Outcome != work.Deferred || !a.Login {
			t.Errorf("%s: %s", name, a.Outcome)
		}
		if l := find(t, sys, request(t, "INV-1")); l.Finding != work.FindDeferred || !l.Login {
			t.Errorf("%s: %s", name, l.Finding)
		}
		if _, err := sys.Identity(t.Context()); !errors.Is(err, ledger.ErrLoginRefused) {
			t.Errorf("%s: %v", name, err)
		}
		if received, _ := front.Traffic(); received != 0 {
			t.Errorf("%s: %d bytes arrived", name, received)
		}
	}
}

// A token of another company, or an app of the other environment, is told as what it is.
func TestAnotherCompany(t *testing.T) {
	sys, _, _ := connected(t, quickbookstest.Options{}, patient, func(c *ledger.Connection) { c.System.Settings["company"] = "1" })
	if _, err := sys.Identity(t.Context()); err == nil {
		t.Error("the books of another company were taken")
	}
	if a := send(t, sys, request(t, "INV-1")); a.Outcome != work.Deferred || !a.Login || a.Exchange.Identity != "1" {
		t.Errorf("%s in %q", a.Outcome, a.Exchange.Identity)
	}
}
