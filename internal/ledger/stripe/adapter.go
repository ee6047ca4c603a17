// Package stripe is the adapter to Stripe Invoicing. A document is three writing requests: a draft, its lines, its issue.
//
// Facts about Stripe are from its API description 2026-08-26.dahlia and its pages on idempotent requests, low-level errors,
// currencies and rate limits. Stripe's own library is not used: it repeats requests and invents keys.
package stripe

import (
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"onefold/internal/ledger"
	"onefold/internal/work"
)

// Steps of a document.
const (
	StepCreate   = "create"   // makes a draft without lines
	StepLines    = "lines"    // adds all lines in one request
	StepFinalize = "finalize" // issues it; nothing is mailed or charged
)

// version pins the meaning of requests and answers, whatever the account's own version.
const version = "2026-08-26.dahlia"

const home = "https://api.stripe.com"

var fields = []ledger.Field{
	{Name: "key", Label: "Secret key", Secret: true, Required: true,
		Help: "From Stripe's dashboard, Developers, API keys: sk_… or a restricted key (rk_…) that may write invoices and read the account."},
	{Name: "mode", Label: "Mode", Choices: []string{live, test}, Default: live,
		Help: "test: the key belongs to test mode or to a sandbox, where invoices mean nothing. It must fit the key."},
	{Name: "account", Label: "Connected account", Help: "Only for platforms: the id of the account that invoices, acct_…; empty: the key's own account."},
	{Name: "days_until_due", Label: "Days until due", Default: "30", Help: "For invoices that name no due date."},
	{Name: "time_zone", Label: "Time zone", Default: "UTC", Help: "In which dates are meant, for example Europe/Berlin; take the one of Stripe's dashboard."},
	{Name: "tax_rate", Label: "Tax rate", Help: "The id of an inclusive tax rate, txr_…, for lines that name no tax code; empty: no tax is shown."},
	{Name: "product", Label: "Product", Help: "The id of a product, prod_…, to show quantity and unit price in columns of their own; empty: they are told in the line's text."},
}

// Adapter is how an admin connects Stripe.
var Adapter = ledger.Adapter{
	Name:      "stripe",
	Title:     "Stripe Invoicing",
	Fields:    fields,
	Connect:   connect,
	TestBooks: func(s work.System) bool { return s.Settings["mode"] == test },
	Drafts:    true,
}

const (
	live = "live"
	test = "test"
)

// Client is one connection to one account. It is safe for concurrent use.
type Client struct {
	http   *ledger.Transport
	set    settings
	drafts bool
	books  atomic.Pointer[string] // the identity, once it was read: a key belongs to one account for ever
}

var (
	_ ledger.System  = (*Client)(nil)
	_ ledger.Remover = (*Client)(nil)
)

type settings struct {
	live    bool
	account string
	days    int
	zone    *time.Location
	taxRate string
	product string
}

func connect(c ledger.Connection) (ledger.System, error) {
	set, err := read(c)
	if err != nil {
		return nil, err
	}
	address := c.System.Address
	if address == "" {
		address = home
	}
	key := c.Secrets["key"]
	t, err := c.Transport(ledger.Config{BaseURL: address, Secrets: []string{key}, Authorize: func(h http.Header) {
		if key != "" {
			h.Set("Authorization", "Bearer "+key)
		}
		h.Set("Stripe-Version", version)
		if set.account != "" {
			h.Set("Stripe-Account", set.account)
		}
	}})
	if err != nil {
		return nil, &ledger.FieldError{Field: "address", Err: err}
	}
	return &Client{http: t, set: set, drafts: c.DraftsOnly}, nil
}

// read checks what an admin typed. A missing key is no error here: the system may be set up before its login.
func read(c ledger.Connection) (settings, error) {
	typed := c.Read(fields)
	s := settings{account: typed.Text("account"), taxRate: typed.Text("tax_rate"), product: typed.Text("product"),
		days: typed.Number("days_until_due", 0, 3650), live: typed.Text("mode") == live}
	if !s.live && typed.Text("mode") != test {
		typed.Wrong("mode", "live or test")
	}
	for _, id := range []struct{ field, begins string }{{"account", "acct_"}, {"tax_rate", "txr_"}, {"product", "prod_"}} {
		if v := typed.Text(id.field); v != "" && !strings.HasPrefix(v, id.begins) {
			typed.Wrong(id.field, "an id that begins with "+id.begins+", as Stripe's dashboard shows it")
		}
	}
	var err error
	if s.zone, err = time.LoadLocation(typed.Text("time_zone")); err != nil || typed.Text("time_zone") == "Local" {
		typed.Wrong("time_zone", "a zone such as Europe/Berlin or UTC")
	}
	if err := typed.Err(); err != nil {
		return s, err
	}
	if sentence := wrongKey(c.Secrets["key"], s.live); sentence != "" {
		return s, &ledger.FieldError{Field: "key", Err: errors.New(sentence)}
	}
	return s, nil
}

func wrongKey(key string, isLive bool) string {
	switch begins, kind, _ := cutKey(key); {
	case key == "":
	case begins == "pk":
		return "this is the publishable key, which can do nothing here: enter the secret key, sk_… or rk_…"
	case begins != "sk" && begins != "rk":
		return "a secret key begins with sk_ or rk_: copy it again from Stripe's dashboard"
	case kind == "org":
		return "keys of an organization do not say which account is meant: enter a key of the account itself"
	case kind == test && isLive:
		return "this is a key of test mode: set the mode to test, or enter a live key"
	case kind == live && !isLive:
		return "this is a live key: set the mode to live, or enter a test key"
	}
	return ""
}

// cutKey takes sk_test_abc apart.
func cutKey(key string) (begins, kind, rest string) {
	begins, rest, _ = strings.Cut(key, "_")
	kind, rest, _ = strings.Cut(rest, "_")
	return begins, kind, rest
}

// Linger is not published. Stripe's own libraries wait 80 seconds for an answer; after an internal error Stripe may still
// complete or undo a request (low-level errors). Ten minutes leave room for both.
const linger = 10 * time.Minute

// Capabilities implements ledger.System. Keys are forgotten at the earliest after 24 hours (idempotent requests); the list
// of invoices, unlike the search, has no lag (search documentation); metadata values have at most 500 characters and are
// not unique. Whether they are altered is not published: a reference that comes back altered is found and reported.
func (*Client) Capabilities() work.Capabilities {
	return work.Capabilities{HonoursKeys: true, KeyLifetime: 24 * time.Hour, Searchable: true, Linger: linger, Misses: 2,
		MaxReference: 500, MaxKey: 255}
}

// Steps implements ledger.System.
func (c *Client) Steps() []string {
	if c.drafts {
		return []string{StepCreate, StepLines}
	}
	return []string{StepCreate, StepLines, StepFinalize}
}

// Close drops idle connections.
func (c *Client) Close() { c.http.Close() }

// identity is empty until it was read.
func (c *Client) identity() string {
	if known := c.books.Load(); known != nil {
		return *known
	}
	return ""
}
