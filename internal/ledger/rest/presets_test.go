package rest

import (
	"testing"

	"onefold/internal/ledger"
	"onefold/internal/work"
)

// Each preset connects once its settings are given, and says what is missing without them.
func TestPresetsConnect(t *testing.T) {
	for name, values := range map[string]string{
		"invoice-ninja":    "currency: EUR",
		"lago":             "add_on: work",
		"zoho-books":       "organization: 10234695\nclient_id: 1000.ABC",
		"business-central": "company: 5c00e2d2-8a3c-4f6e-9c0e-7d1f8f6a2b31\ntenant: t\nclient_id: c\nhome_currency: EUR\naccount: 6110",
	} {
		t.Run(name, func(t *testing.T) {
			sys := work.System{Address: "https://books.example.com", Settings: map[string]string{"preset": name, "values": values}}
			if _, err := connect(ledger.Connection{System: sys}); err != nil {
				t.Fatal(err)
			}
			sys.Settings["values"] = ""
			if _, err := connect(ledger.Connection{System: sys}); err == nil {
				t.Error("nothing is said of the settings that are missing")
			}
		})
	}
}
