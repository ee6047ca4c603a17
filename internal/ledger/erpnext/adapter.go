// Package erpnext is the adapter to ERPNext, from version 13 on, by the REST API of the Frappe framework.
//
// What it relies on comes from the source of frappe (frappe/app.py, frappe/api, frappe/exceptions.py, frappe/model) and of
// erpnext (controllers/accounts_controller.py). Frappe knows no idempotency keys. An admin can make it refuse a second
// invoice with our reference, by a custom field that must be unique; without one the reference goes into the customer's
// purchase order number, which may repeat.
package erpnext

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"onefold/internal/ledger"
	"onefold/internal/work"
)

// Steps of a document: a draft is made, then submitted; or both at once.
const (
	StepCreate = "create"
	StepSubmit = "submit"
)

const purchaseOrder = "po_no" // the customer's purchase order number: free text, may repeat

// Facts about the system.
const (
	// maxReference: fields of the kind Data are varchar(140).
	maxReference = 140
	// searchLag: lists are read from the database that is written to, except in maintenance with reads allowed, when they
	// may come from a replica (site option read_from_replica). How far that is behind is not published.
	searchLag = time.Minute
)

// Bounds of the setting "longest": bench stops a request after http_timeout, 120 seconds unless an operator changed it; a
// threaded worker does not stop one at all.
const (
	leastLongest = 2 * time.Minute
	mostLongest  = 24 * time.Hour
)

var fields = []ledger.Field{
	{Name: "api_key", Label: "API key", Help: "Of a user made for this: User, Settings, API Access, Generate Keys.", Secret: true, Required: true},
	{Name: "api_secret", Label: "API secret", Help: "Shown once when the keys were generated.", Secret: true, Required: true},
	{Name: "company", Label: "Company", Help: "Its name, spelt exactly as in ERPNext.", Required: true},
	{Name: "unique_field", Label: "Unique field", Help: "The field name of a custom field of Sales Invoice (Data, Unique and No Copy ticked), for example custom_work_item; empty: the customer's purchase order, which may repeat."},
	{Name: "item", Label: "Item code", Help: "Put on each line; a service that is not kept in stock.", Required: true},
	{Name: "tax_template", Label: "Tax template", Help: "The sales taxes of each invoice; all its rows must be included in the rate. Empty: as ERPNext has it."},
	{Name: "at_once", Label: "Submitted at once", Help: "No: a draft is made first, its total is compared, then it is submitted.", Choices: []string{"no", "yes"}, Default: "no"},
	{Name: "longest", Label: "Longest request", Help: "How long ERPNext may still work on a request after we hung up. Your own server: http_timeout and a reserve.", Default: "15m"},
	{Name: "tolerance", Label: "Rounding", Help: "Difference of the total that still counts as the same, in the currency's smallest unit.", Default: "1"},
	{Name: "test_books", Label: "Only for tests", Help: "Yes: a test site or company, where a proof may submit invoices.", Choices: []string{"no", "yes"}, Default: "no"},
}

// Adapter is how an admin connects ERPNext.
var Adapter = ledger.Adapter{
	Name:      "erpnext",
	Title:     "ERPNext",
	Address:   "https://acme.frappe.cloud",
	Fields:    fields,
	Connect:   connect,
	TestBooks: func(s work.System) bool { return s.Settings["test_books"] == "yes" },
	Drafts:    true,
}

// A field name as Frappe makes them.
var fieldName = regexp.MustCompile(`^[a-z][a-z0-9_]{0,60}$`)

// taken are fields of a Sales Invoice that mean something else.
var taken = map[string]bool{"name": true, "title": true, "customer": true, "company": true, "currency": true, "docstatus": true, "remarks": true,
	"posting_date": true, "due_date": true, "items": true, "taxes": true, "owner": true, "amended_from": true, purchaseOrder: true}

func connect(c ledger.Connection) (ledger.System, error) {
	set := c.Read(fields)
	cl := &Client{
		base: strings.TrimRight(c.System.Address, "/"), company: set.Text("company"), item: set.Text("item"),
		taxTemplate: set.Text("tax_template"), refField: set.Text("unique_field"), atOnce: set.Text("at_once") == "yes", drafts: c.DraftsOnly,
		// The reference must be plain: MariaDB compares without regard to case and trailing blanks, and HTML is cleaned away.
		caps: work.Capabilities{Searchable: true, SearchLag: searchLag, Misses: 2, MaxReference: maxReference, PlainReference: true,
			UniqueReferences: set.Text("unique_field") != "",
			Linger:           set.Duration("longest", leastLongest, mostLongest), Tolerance: set.Number("tolerance", 0, 1000)},
	}
	if cl.refField == "" {
		cl.refField = purchaseOrder
	} else if !fieldName.MatchString(cl.refField) || taken[cl.refField] {
		set.Wrong("unique_field", "the field name of a custom field of its own, such as custom_work_item")
	}
	if err := set.Err(); err != nil {
		return nil, err
	}
	key, secret := c.Secrets["api_key"], c.Secrets["api_secret"]
	var err error
	cl.http, err = c.Transport(ledger.Config{BaseURL: cl.base, Secrets: []string{key, secret},
		Authorize: func(h http.Header) { h.Set("Authorization", "token "+key+":"+secret) }})
	if err != nil {
		return nil, &ledger.FieldError{Field: "address", Err: err}
	}
	if site, err := url.Parse(cl.base); err == nil { // the transport has checked it
		cl.site = strings.ToLower(site.Host)
	}
	return cl, nil
}

// Client is the port to one company of one site. It is safe for concurrent use.
type Client struct {
	http        *ledger.Transport
	base        string
	site        string // the address's host, by which Frappe chooses the site
	company     string
	item        string
	taxTemplate string // empty: none given
	refField    string // where our reference is kept
	atOnce      bool   // created and submitted by one request
	drafts      bool   // nothing is submitted
	caps        work.Capabilities
}

var (
	_ ledger.System  = (*Client)(nil)
	_ ledger.Remover = (*Client)(nil)
)

// Capabilities implements ledger.System. References are unique only by a custom field that an admin made so.
func (c *Client) Capabilities() work.Capabilities { return c.caps }

// Steps implements ledger.System.
func (c *Client) Steps() []string {
	if c.atOnce || c.drafts {
		return []string{StepCreate}
	}
	return []string{StepCreate, StepSubmit}
}

// Close drops idle connections.
func (c *Client) Close() { c.http.Close() }

func (c *Client) identity(company string) string {
	if company == "" {
		return ""
	}
	return c.site + ", " + company
}
