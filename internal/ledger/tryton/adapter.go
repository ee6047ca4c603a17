// Package tryton is the adapter to Tryton, server version 6.0 and what speaks its JSON-RPC alike. Facts about Tryton are
// from the source of trytond 6.0.29 and account_invoice 6.0.9, and were seen on the real server in the tests.
package tryton

import (
	"net/url"
	"strings"
	"time"

	"onefold/internal/ledger"
	"onefold/internal/work"
)

// Steps of a document.
const (
	StepCreate = "create" // makes a draft
	StepPost   = "post"   // issues it: it gets its number and its account move
)

const no, yes = "no", "yes"

var fields = []ledger.Field{
	{Name: "database", Label: "Database", Help: "Its name, as in the login window of Tryton.", Required: true},
	{Name: "user", Label: "User", Help: "A user of its own for us, with the group Account; people's users may be locked by their own mistyped passwords.", Required: true},
	{Name: "password", Label: "Password", Help: "Of that user; it must be enough to log in, without a second factor.", Secret: true, Required: true},
	{Name: "company", Label: "Company id", Help: "The number of the company in whose books the invoices belong; 1 if there is only one.", Default: "1"},
	{Name: "revenue", Label: "Revenue account", Help: "The code of the account that invoice lines are booked on, as in the chart of accounts.", Required: true},
	{Name: "longest", Label: "Longest request", Help: "How long Tryton may still work on a request after we hung up. Tryton itself has no limit: take that of the server in front of it, with a reserve.", Default: "15m"},
	{Name: "tolerance", Label: "Rounding", Help: "Difference of the total that still counts as the same, in the currency's smallest unit.", Default: "1"},
	{Name: "test_books", Label: "Only for tests", Help: "Yes: a test database, where a proof may post invoices.", Choices: []string{no, yes}, Default: no},
}

// Adapter is how an admin connects Tryton.
var Adapter = ledger.Adapter{
	Name:      "tryton",
	Title:     "Tryton",
	Address:   "https://tryton.example.com",
	Fields:    fields,
	Connect:   connect,
	TestBooks: func(s work.System) bool { return s.Settings["test_books"] == yes },
	Drafts:    true,
	Refused:   refusedInvoice,
}

// refusedInvoice has a quantity with more decimals than Tryton allows on a line without a unit (two): it is refused when
// it is created. An unknown customer never gets so far.
func refusedInvoice(v work.Invoice) work.Invoice {
	v.Lines = []work.Line{{Description: "Refused on purpose", Quantity: "1.000001", UnitPrice: v.Total.Number()}}
	return v
}

// Client is the adapter. It is safe for concurrent use.
type Client struct {
	reads      *session
	writes     *ledger.Transport // each write brings the password
	now        func() time.Time
	path       string // of the database
	database   string
	company    int64
	revenue    string // code of an account
	longest    time.Duration
	tolerance  int
	draftsOnly bool
}

var (
	_ ledger.System  = (*Client)(nil)
	_ ledger.Remover = (*Client)(nil)
)

func connect(c ledger.Connection) (ledger.System, error) {
	set := c.Read(fields)
	t := &Client{
		now:        c.Now,
		database:   set.Text("database"),
		revenue:    set.Text("revenue"),
		company:    int64(set.Number("company", 1, 1<<31-1)),
		longest:    set.Duration("longest", time.Minute, 24*time.Hour),
		tolerance:  set.Number("tolerance", 0, 1000),
		draftsOnly: c.DraftsOnly,
	}
	user, password := set.Text("user"), c.Secrets["password"]
	if strings.ContainsAny(t.database, "/?#") {
		set.Wrong("database", "a name without /, ? and #")
	}
	if strings.Contains(user, ":") {
		set.Wrong("user", "a name without a colon") // it ends the name in both ways to log in
	}
	if err := set.Err(); err != nil {
		return nil, err
	}
	if t.now == nil {
		t.now = time.Now
	}
	t.path = "/" + url.PathEscape(t.database) + "/"
	var err error
	if t.writes, err = c.Transport(ledger.Config{BaseURL: c.System.Address, Authorize: basic(user, password), Secrets: []string{password}}); err != nil {
		return nil, &ledger.FieldError{Field: "address", Err: err}
	}
	t.reads = &session{path: t.path, user: user, password: password}
	if t.reads.http, err = c.Transport(ledger.Config{BaseURL: c.System.Address, Secrets: []string{password}}); err != nil {
		return nil, &ledger.FieldError{Field: "address", Err: err}
	}
	return t, nil
}

// Capabilities implements ledger.System. Tryton has no idempotency keys and accepts any number of invoices with one
// reference. A search reads the database that the write went to, so there is no lag; but until the write has committed,
// nothing is found, and nothing in Tryton ends a request that takes long.
func (c *Client) Capabilities() work.Capabilities {
	return work.Capabilities{Searchable: true, Linger: c.longest, Misses: 2, Tolerance: c.tolerance}
}

// Steps implements ledger.System.
func (c *Client) Steps() []string {
	if c.draftsOnly {
		return []string{StepCreate}
	}
	return []string{StepCreate, StepPost}
}

// Close drops idle connections.
func (c *Client) Close() {
	c.reads.http.Close()
	c.writes.Close()
}
