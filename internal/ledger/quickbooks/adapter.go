// Package quickbooks is the adapter to QuickBooks Online, by its Accounting API (v3, minor version 75).
//
// Facts about QuickBooks that the vendor publishes are cited as "vendor"; what it does not publish is treated as the
// unfavourable answer.
package quickbooks

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/oauth2"

	"onefold/internal/ledger"
	"onefold/internal/work"
)

// StepCreate makes and issues the invoice: QuickBooks has no drafts, and nothing is mailed by it.
const StepCreate = "create"

// Hosts of the vendor. The sandbox holds companies for tests only.
const (
	LiveHost    = "quickbooks.api.intuit.com"
	SandboxHost = "sandbox-quickbooks.api.intuit.com"
)

// Values of the setting "tax".
const (
	TaxIncluded = "included"
	TaxNone     = "none"
	TaxAdded    = "added by QuickBooks"
)

var taxes = []string{TaxIncluded, TaxNone, TaxAdded}

var fields = []ledger.Field{
	{Name: "client_id", Label: "Client ID", Help: "Of your app on Intuit's developer pages, under Keys & credentials.", Required: true},
	{Name: "client_secret", Label: "Client secret", Help: "Beside the client ID; development and production have different ones.", Secret: true, Required: true},
	{Name: "company", Label: "Company ID", Help: "Filled in when you connect the account."},
	{Name: "item", Label: "Product or service", Help: "The ID of the product or service that invoice lines are booked on, as QuickBooks' API tells it.", Required: true},
	{Name: "tax", Label: "Tax", Help: "Included: amounts include tax, for companies outside the United States. Added by QuickBooks: for companies in the United States. None: the company has no tax.",
		Choices: taxes, Default: TaxIncluded},
	{Name: "tax_code", Label: "Tax code", Help: "The ID of the tax code for lines that name none; in the United States NON means not taxed."},
}

// Adapter is how an admin connects a company in QuickBooks Online.
var Adapter = ledger.Adapter{
	Name:      "quickbooks",
	Title:     "QuickBooks Online",
	Address:   "https://" + LiveHost,
	Fields:    fields,
	Connect:   connect,
	OAuth:     &ledger.OAuth{Config: client, Callback: callback},
	TestBooks: func(sys work.System) bool { return host(sys.Address) == SandboxHost },
	Refused: func(v work.Invoice) work.Invoice {
		v.CustomerID = "999999999" // looks like an id, so that it is refused for what it is and not for its form
		return v
	},
}

// client is our app at Intuit, which has one scope for reading and writing (vendor).
func client(c ledger.Connection) (oauth2.Config, error) {
	id := c.System.Settings["client_id"]
	switch {
	case id == "":
		return oauth2.Config{}, &ledger.FieldError{Field: "client_id", Err: errors.New("the client ID is needed")}
	case c.Secrets["client_secret"] == "":
		return oauth2.Config{}, noSecret()
	}
	return oauth2.Config{ClientID: id, ClientSecret: c.Secrets["client_secret"], Scopes: []string{"com.intuit.quickbooks.accounting"},
		Endpoint: oauth2.Endpoint{AuthURL: "https://appcenter.intuit.com/connect/oauth2", TokenURL: loginOrigin(c.System.Address) + loginPath,
			AuthStyle: oauth2.AuthStyleInHeader}}, nil
}

func noSecret() error {
	return &ledger.FieldError{Field: "client_secret", Err: errors.New("the client secret is needed")}
}

// callback reads which company the person chose at Intuit.
func callback(query map[string][]string) map[string]string {
	realm := strings.Join(query["realmId"], " ")
	if realm == "" {
		return nil
	}
	return map[string]string{"company": realm}
}

// System is one connected company.
type System struct {
	http    *ledger.Transport
	login   *ledger.Login
	company string // the realm id; empty until the account is connected
	item    string
	tax     string
	taxCode string
	sandbox bool
	home    atomic.Pointer[string] // the company's home currency, once it was read
}

func connect(c ledger.Connection) (ledger.System, error) {
	if c.DraftsOnly {
		return nil, errors.New("QuickBooks Online has no drafts: prove it with a sandbox company")
	}
	set := c.Read(fields)
	id, secret := set.Text("client_id"), c.Secrets["client_secret"]
	s := &System{company: set.Text("company"), item: set.Text("item"), tax: set.Text("tax"), taxCode: set.Text("tax_code"),
		sandbox: host(c.System.Address) == SandboxHost}
	if strings.Trim(s.company, "0123456789") != "" {
		set.Wrong("company", "a number such as 9341452000000000: leave it empty and connect the account")
	}
	if !slices.Contains(taxes, s.tax) {
		set.Wrong("tax", "one of the list")
	}
	if err := set.Err(); err != nil {
		return nil, err
	}
	if secret == "" {
		return nil, noSecret()
	}
	secrets := []string{secret}
	var err error
	if s.http, err = c.Transport(ledger.Config{BaseURL: c.System.Address, Secrets: secrets}); err != nil {
		return nil, &ledger.FieldError{Field: "address", Err: err}
	}
	renewal := &renewal{id: id, secret: secret, now: c.Now}
	if renewal.http, err = ledger.NewTransport(ledger.Config{BaseURL: loginOrigin(c.System.Address), Secrets: secrets, Timeout: c.Timeout()}); err != nil {
		return nil, &ledger.FieldError{Field: "address", Err: err}
	}
	s.login = &ledger.Login{Tokens: c.Tokens, Renew: renewal.renew, Now: c.Now}
	return s, nil
}

// Capabilities implements ledger.System.
//
// Keys travel as requestid, at most 50 characters (vendor). The vendor says that a repeat brings the first answer back,
// but not for how long and not what happens to refusals, so no key opens the gate. The number of an invoice has at most
// 21 characters (vendor); whether blanks and case survive is not published. A number that is taken is refused only if
// people in QuickBooks chose to be warned, which cannot be read (vendor: error 6140). Requests are cut off after 120
// seconds (vendor: limits and throttles); a minute more because it is not published whether the work behind ends then too.
// How long a new invoice may be missing from a query is not published: a cautious minute. So is how tax is rounded: a cent.
func (*System) Capabilities() work.Capabilities {
	return work.Capabilities{Searchable: true, SearchLag: time.Minute, Linger: 3 * time.Minute, Misses: 2,
		MaxReference: 21, MaxKey: 50, PlainReference: true, Tolerance: 1}
}

// Steps implements ledger.System.
func (*System) Steps() []string { return []string{StepCreate} }

// Close drops idle connections.
func (s *System) Close() { s.http.Close() }

// call is a request to the company's books.
func (s *System) call(method, path, access string, query url.Values) ledger.Call {
	if query == nil {
		query = url.Values{}
	}
	query.Set("minorversion", "75")
	return ledger.Call{Method: method, Path: "/v3/company/" + s.company + path, Query: query,
		Header: http.Header{"Authorization": {"Bearer " + access}}}
}

func host(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Host)
}
