package automation_test

import (
	"net/http/httptest"
	"testing"
	"time"

	"onefold/internal/ledger/ledgertest"
	"onefold/internal/ledger/rest"
	"onefold/internal/ledger/rest/resttest"
	"onefold/internal/work"
)

// presets are the systems that a definition describes, each with a fake of its vendor.
var presets = map[string]struct {
	values  func(login string) string
	secrets map[string]string
	fake    func(o resttest.Options) ledgertest.Fake
}{
	"invoice-ninja": {func(string) string { return "currency: EUR" }, map[string]string{"token": ledgertest.Secret},
		func(o resttest.Options) ledgertest.Fake { return resttest.NewInvoiceNinja(o) }},
	"lago": {func(string) string { return "add_on: work" }, map[string]string{"token": ledgertest.Secret},
		func(o resttest.Options) ledgertest.Fake { return resttest.NewLago(o) }},
	"zoho-books": {func(login string) string {
		return "organization: " + resttest.Organization + "\nclient_id: 1000.ABC\naccounts: " + login
	}, map[string]string{"client_secret": "client-secret-of-the-fake", "refresh_token": ledgertest.Secret},
		func(o resttest.Options) ledgertest.Fake { return resttest.NewZohoBooks(o) }},
	"business-central": {func(login string) string {
		return "company: " + resttest.Company + "\ntenant: acme\nclient_id: 1b2c\nhome_currency: EUR\naccount: '6110'\nlogin: " + login
	}, map[string]string{"client_secret": ledgertest.Secret},
		func(o resttest.Options) ledgertest.Fake { return resttest.NewBusinessCentral(o) }},
}

// onPreset is a connection by a preset. Its search lags: what was just made cannot be found for half a minute.
func onPreset(t *testing.T, name string) func(now func() time.Time) vendor {
	p := presets[name]
	return func(now func() time.Time) vendor {
		lag := 30 * time.Second
		if name == "invoice-ninja" || name == "business-central" {
			lag = 0 // they read their own database
		}
		fake := p.fake(resttest.Options{Secret: ledgertest.Secret, Now: now, SearchLag: lag})
		login := httptest.NewServer(fake) // a place of its own, which the line in front does not disturb
		t.Cleanup(login.Close)
		return vendor{adapter: rest.Adapter, fake: fake, settings: map[string]string{"preset": name, "values": p.values(login.URL)}, secrets: p.secrets,
			invoice: work.Invoice{CustomerID: "C-1", CustomerName: "Acme GmbH", IssueDate: "2026-11-30"}}
	}
}

func eachPreset(t *testing.T, test func(t *testing.T, name string)) {
	for name := range presets {
		t.Run(name, func(t *testing.T) { test(t, name) })
	}
}

func TestPresetsLoseAnAnswer(t *testing.T) {
	eachPreset(t, func(t *testing.T, name string) { eachLostAnswer(t, onPreset(t, name)) })
}

// Refused each time: up to the limit, then a person; nothing is there.
func TestPresetsRefuse(t *testing.T) {
	eachPreset(t, func(t *testing.T, name string) {
		w := onVendor(t, onPreset(t, name))
		w.front.Misbehave(work.Send, "reject")
		w.record("INV-2026-11-ACME")
		w.run(48 * time.Hour)
		it := w.wantReview("INV-2026-11-ACME", work.ReasonRejected)
		w.wantEffects(it, 0)
		if n := len(w.front.Writes()); n != w.system.Policy.Sends {
			t.Errorf("%d requests, the limit is %d", n, w.system.Policy.Sends)
		}
	})
}

// Nobody can look: nothing is sent a second time, however long that lasts.
func TestPresetsAreNotSentAgainUnseen(t *testing.T) {
	for _, f := range []ledgertest.Fault{"unavailable", "search_forbidden", "search_error", "page_before"} {
		t.Run(string(f), func(t *testing.T) {
			eachPreset(t, func(t *testing.T, name string) {
				w := onVendor(t, onPreset(t, name))
				w.front.Misbehave(work.Send, "drop_after")
				w.front.Misbehave(work.Find, f)
				w.record("INV-2026-11-ACME")
				w.run(48 * time.Hour)
				w.wantEffects(w.item("INV-2026-11-ACME"), 1)
				if n := len(w.front.Writes()); n != 1 {
					t.Errorf("%d requests", n)
				}
			})
		})
	}
}

// T14: the number is taken by an invoice that is not ours. It goes to a person and is neither adopted nor sent again.
func TestT14_InvoiceNinjaNumberOfSomebodyElse(t *testing.T) {
	w := onVendor(t, onPreset(t, "invoice-ninja"))
	w.front.Misbehave(work.Send, "other_customer")
	w.record("INV-2026-11-ACME")
	w.run(time.Hour)
	it := w.wantReview("INV-2026-11-ACME", work.ReasonMismatch)
	w.wantEffects(it, 1)
}
