// Package xero is the adapter to Xero's Accounting API.
//
// Facts about Xero in this package come from its published description (XeroAPI/Xero-OpenAPI 16.1.0) and, where that is
// silent, from its developer guides as public code quotes them; docs/accounting-systems/xero.md says which is which. What is
// not published is treated as the unfavourable answer.
package xero

import (
	"cmp"
	"errors"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"golang.org/x/oauth2"

	"onefold/internal/ledger"
	"onefold/internal/work"
)

// Values of the settings that are chosen from a list.
const (
	LoginBrowser = "browser"           // a person connects the account; authorization code, rotating refresh tokens
	LoginCustom  = "custom connection" // client credentials

	ReferenceAsNumber = "InvoiceNumber" // unique among sales invoices
	ReferenceAsText   = "Reference"     // not unique; Xero numbers the invoice

	IssueApproved = "approved"
	IssueDraft    = "draft"
)

const (
	address    = "https://api.xero.com"
	yes, no    = "yes", "no"
	settingOrg = "tenant"
	offline    = "offline_access"
)

// Adapter is how an admin connects Xero.
var Adapter = ledger.Adapter{
	Name:    "xero",
	Title:   "Xero",
	Address: address,
	Fields:  fields,
	Connect: func(c ledger.Connection) (ledger.System, error) { return connect(c) },
	OAuth: &ledger.OAuth{
		Config: oauthConfig,
		Needed: func(s work.System) bool {
			return ledger.Connection{System: s}.Read(fields).Text("login") != LoginCustom
		},
		Books:   listBooks,
		Setting: settingOrg,
	},
	TestBooks: func(s work.System) bool { return ledger.Connection{System: s}.Read(fields).Text("test_books") == yes },
	Drafts:    true,
	Refused:   refusable,
}

var fields = []ledger.Field{
	{Name: "login", Label: "Login", Help: "As the app was made at Xero: a web app is connected in the browser, a custom connection needs no browser.",
		Choices: []string{LoginBrowser, LoginCustom}, Default: LoginBrowser},
	{Name: "client_id", Label: "Client id", Help: "Of your app at developer.xero.com, under Configuration.", Required: true},
	{Name: "client_secret", Label: "Client secret", Help: "Of the same app; Xero shows it once.", Secret: true, Required: true},
	{Name: settingOrg, Label: "Organisation", Help: "The tenant id; it is filled in when the organisation is chosen after the login. May stay empty if the login reaches only one."},
	{Name: "reference_field", Label: "Our reference becomes", Help: "InvoiceNumber: the number of the invoice, and Xero refuses a second one. Reference: Xero numbers the invoice itself, and would accept a second one.",
		Choices: []string{ReferenceAsNumber, ReferenceAsText}, Default: ReferenceAsNumber},
	{Name: "account", Label: "Sales account", Help: "Code of the account that lines are booked to, for example 200.", Required: true},
	{Name: "tax_type", Label: "Tax rate", Help: "Xero's code of the rate for lines without a tax code, for example OUTPUT2; empty: the account's own rate."},
	{Name: "status", Label: "Issued as", Help: "Approved: in the books at once. Draft: a person approves it in Xero.",
		Choices: []string{IssueApproved, IssueDraft}, Default: IssueApproved},
	{Name: "due_days", Label: "Days until due", Help: "For invoices without a due date: counted from the issue date.", Default: "0"},
	{Name: "scopes", Label: "Scopes", Help: "For an app that was made before 2 March 2026 write accounting.transactions instead of accounting.invoices.",
		Default: "offline_access accounting.invoices accounting.settings.read"},
	{Name: "test_books", Label: "Only for tests", Help: "Yes only for Xero's demo company: a proof may then issue invoices there.", Choices: []string{no, yes}, Default: no},
}

// settings are what the admin chose, checked.
type settings struct {
	custom                 bool // logs in by client credentials
	clientID, secret       string
	tenant                 string // empty: the only one that the login reaches
	byNumber               bool   // our reference is the invoice's number
	account, taxType       string
	approved               bool
	dueDays                int
	scopes                 []string
	api, identity, consent string // base addresses
}

func read(c ledger.Connection) (settings, error) {
	in := c.Read(fields)
	s := settings{
		clientID: in.Text("client_id"), secret: c.Secrets["client_secret"], tenant: strings.ToLower(in.Text(settingOrg)),
		custom:   in.Text("login") == LoginCustom,
		byNumber: in.Text("reference_field") == ReferenceAsNumber,
		account:  in.Text("account"), taxType: in.Text("tax_type"),
		approved: in.Text("status") == IssueApproved && !c.DraftsOnly,
		dueDays:  in.Number("due_days", 0, 365),
		scopes:   strings.Fields(in.Text("scopes")),
		api:      strings.TrimRight(cmp.Or(c.System.Address, address), "/"),
	}
	for _, f := range fields {
		if len(f.Choices) > 0 && !slices.Contains(f.Choices, in.Text(f.Name)) {
			in.Wrong(f.Name, strings.Join(f.Choices, " or "))
		}
	}
	if s.tenant != "" && !guid.MatchString(s.tenant) {
		in.Wrong(settingOrg, "a tenant id such as 45e4708e-d862-4111-ab3a-dd8cd03913e1")
	}
	if !s.custom && !slices.Contains(s.scopes, offline) {
		in.Wrong("scopes", "a list that holds "+offline+" (without it the login ends after 30 minutes)")
	}
	if err := in.Err(); err != nil {
		return s, err
	}
	if s.secret == "" {
		return s, wrong("client_secret", "the client secret is needed")
	}
	u, err := url.Parse(s.api)
	if err != nil || u.Host == "" || u.Path != "" {
		return s, wrong("address", "the address must be "+address)
	}
	// Anything but Xero itself stands in for it whole.
	s.identity, s.consent = s.api, s.api
	if strings.EqualFold(u.Host, "api.xero.com") {
		s.identity, s.consent = "https://identity.xero.com", "https://login.xero.com"
	}
	return s, nil
}

// Client is the adapter. It is safe for concurrent use.
type Client struct {
	set   settings
	api   *ledger.Transport
	login *login
}

var (
	_ ledger.System  = (*Client)(nil)
	_ ledger.Remover = (*Client)(nil)
)

func connect(c ledger.Connection) (*Client, error) {
	s, err := read(c)
	if err != nil {
		return nil, err
	}
	api, err := c.Transport(ledger.Config{BaseURL: s.api, Secrets: []string{s.secret}})
	if err != nil {
		return nil, wrong("address", err.Error())
	}
	l, err := newLogin(c, s, api)
	if err != nil {
		return nil, wrong("address", err.Error())
	}
	return &Client{set: s, api: api, login: l}, nil
}

// StepCreate makes the invoice, approved or as a draft: Xero needs one request for either.
const StepCreate = "create"

// Steps implements ledger.System.
func (c *Client) Steps() []string { return []string{StepCreate} }

const (
	keyLifetime  = 6 * time.Minute // from the first call; Xero's guide to idempotent requests
	maxKey       = 128             // published description
	maxReference = 255             // published description, InvoiceNumber; Reference is taken to be no longer
)

// Capabilities implements ledger.System.
//
// Linger: how long Xero may work on a call is not published; reports name answers after almost four minutes
// (XeroAPI/xero-python#49). Six minutes is also when the key is forgotten, so that an internal error which Xero keeps
// under the key is forgotten before we send again. SearchLag: none is published, nor that there is none. PlainReference: a
// comma or a quote would change the search, and how Xero compares cases and blanks is not published.
func (c *Client) Capabilities() work.Capabilities {
	return work.Capabilities{HonoursKeys: true, KeyLifetime: keyLifetime, MaxKey: maxKey, Searchable: true, SearchLag: time.Minute,
		Linger: keyLifetime, Misses: 2, UniqueReferences: c.set.byNumber, MaxReference: maxReference, PlainReference: true, Tolerance: tolerance}
}

// Close drops idle connections.
func (c *Client) Close() {
	c.api.Close()
	c.login.http.Close()
}

func oauthConfig(c ledger.Connection) (oauth2.Config, error) {
	s, err := read(c)
	if err != nil {
		return oauth2.Config{}, err
	}
	return oauth2.Config{ClientID: s.clientID, ClientSecret: s.secret, Scopes: s.scopes,
		Endpoint: oauth2.Endpoint{AuthURL: s.consent + "/identity/connect/authorize", TokenURL: s.identity + tokenPath, AuthStyle: oauth2.AuthStyleInHeader}}, nil
}

// refusable is for a customer and a tax rate that no organisation has.
func refusable(v work.Invoice) work.Invoice {
	v.CustomerID = "0ff01d00-0000-4000-8000-000000000001"
	v.Lines = []work.Line{{Description: "Refused on purpose", Quantity: "1", UnitPrice: v.Total.Number(), TaxCode: "ONEFOLDREFUSED"}}
	return v
}

var guid = regexp.MustCompile(`(?i)^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

func wrong(field, sentence string) error {
	return &ledger.FieldError{Field: field, Err: errors.New(sentence)}
}

var errNoOrganisation = errors.New("the login reaches no organisation: connect the account again and choose one")
