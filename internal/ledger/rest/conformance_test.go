package rest_test

import (
	"net/http/httptest"
	"testing"
	"time"

	"onefold/internal/ledger"
	"onefold/internal/ledger/ledgertest"
	"onefold/internal/ledger/rest"
	"onefold/internal/ledger/rest/resttest"
	"onefold/internal/work"
)

// unreadable are answers that a definition cannot give a meaning: they stay unknown.
const unreadable = "a refusal that is no JSON may come from something in between: whatever the definition says, it is unknown"

var cautious = map[string]string{"Trial89_ReasonAsXML": unreadable, "Trial89_ReasonWithoutTypeAndBody": unreadable}

// vendor is a preset with a fake of its vendor.
type vendor struct {
	preset  string
	values  func(login string) string // by the address of the vendor's login, which is a place of its own
	secrets map[string]string
	fake    func(o resttest.Options) ledgertest.Fake
	lists   bool
	lag     time.Duration
}

// What these fakes cannot do, beside faults that stand in their own files:
//   - other books: where the books are a part of each address (Zoho Books, Business Central) no other can answer; where the
//     login decides (Invoice Ninja, Lago) the answer to a write does not tell, and each lookup asks first.
//   - a reported duplicate: only Invoice Ninja has unique numbers.
//   - a final refusal: none of the four says that no retry can cure it.
//   - Lago never lists deleted invoices, so none is found deleted.
var vendors = []vendor{
	{preset: "invoice-ninja", values: func(string) string { return "currency: EUR" }, secrets: map[string]string{"token": ledgertest.Secret},
		fake: func(o resttest.Options) ledgertest.Fake { return resttest.NewInvoiceNinja(o) }},
	{preset: "lago", values: func(string) string { return "add_on: work" }, secrets: map[string]string{"token": ledgertest.Secret},
		fake: func(o resttest.Options) ledgertest.Fake { return resttest.NewLago(o) }, lists: true, lag: time.Minute},
	{preset: "zoho-books", values: func(login string) string {
		return "organization: " + resttest.Organization + "\nclient_id: 1000.ABC\naccounts: " + login
	}, secrets: map[string]string{"client_secret": "client-secret-of-the-fake", "refresh_token": ledgertest.Secret},
		fake: func(o resttest.Options) ledgertest.Fake { return resttest.NewZohoBooks(o) }, lists: true, lag: time.Minute},
	{preset: "business-central", values: func(login string) string {
		return "company: " + resttest.Company + "\ntenant: acme\nclient_id: 1b2c\nhome_currency: " + resttest.HomeCurrency + "\naccount: '6110'\nlogin: " + login
	}, secrets: map[string]string{"client_secret": ledgertest.Secret},
		fake: func(o resttest.Options) ledgertest.Fake { return resttest.NewBusinessCentral(o) }, lists: true},
}

// connect connects a preset to a fake of its vendor behind a line that breaks.
func (v vendor) connect(t *testing.T, s ledgertest.Setup) (ledger.System, *ledgertest.Front) {
	t.Helper()
	fake := v.fake(resttest.Options{Secret: ledgertest.Secret, PageSize: s.PageSize, SearchLag: v.lag})
	front := ledgertest.Serve(t, fake)
	login := httptest.NewServer(fake)
	t.Cleanup(login.Close)
	sys := work.System{Address: front.URL(), Settings: map[string]string{"preset": v.preset, "values": v.values(login.URL)}}
	sys.Policy.RequestTimeout = s.Timeout
	connected, err := rest.Adapter.Connect(ledger.Connection{System: sys, Secrets: v.secrets, Now: s.Now, MaxBody: s.MaxBody})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(connected.(interface{ Close() }).Close)
	return connected, front
}

func TestConformance(t *testing.T) {
	for _, v := range vendors {
		t.Run(v.preset, func(t *testing.T) {
			ledgertest.Run(t, ledgertest.Target{Lists: v.lists, Cautious: cautious, New: func(t *testing.T, s ledgertest.Setup) (ledger.System, ledgertest.Outside) {
				return v.connect(t, s)
			}})
		})
	}
}
