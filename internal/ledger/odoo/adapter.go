// Package odoo is the adapter to Odoo, from version 14 on: by its JSON-2 API (version 19 and later) or by the older JSON-RPC.
//
// What it relies on comes from the vendor's documentation (External JSON-2 API: each call is a transaction of its own,
// committed on success, discarded on error) and from the server's source (odoo/http, odoo/service/model.py,
// addons/rpc, addons/web/models, addons/account). Odoo knows no idempotency keys, and a customer invoice's reference is
// not unique there: what is there is only learnt by looking.
package odoo

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"onefold/internal/ledger"
	"onefold/internal/work"
)

// Steps of a document: a draft is made, then posted, which gives it its number.
const (
	StepCreate = "create"
	StepPost   = "post"
)

// The ways to talk to Odoo.
const (
	json2      = "json-2"
	jsonRPC    = "json-rpc"
	jsonRPCOld = "json-rpc-old" // without web_save
)

// searchLag: methods that only read may be answered by a read replica of the database (server option db_replica_host,
// from version 18; the JSON-2 controller asks the method whether it only reads). How far a replica is behind is not
// published, nor whether the vendor's own hosting has one.
const searchLag = time.Minute

// Bounds of the setting "longest": limit_time_real is 120 seconds unless an operator changed it; hosted platforms allow
// more, up to a quarter of an hour as far as known.
const (
	leastLongest = 2 * time.Minute
	mostLongest  = 24 * time.Hour
)

const mostID = 1<<31 - 1 // ids are 32 bit integers

var fields = []ledger.Field{
	{Name: "api", Label: "API", Help: "json-2 from Odoo 19 on, json-rpc for 17 and 18, json-rpc-old for 14 to 16.", Choices: []string{json2, jsonRPC, jsonRPCOld}, Default: json2},
	{Name: "database", Label: "Database", Help: "Its name; on Odoo Online the part of the address before .odoo.com.", Required: true},
	{Name: "company", Label: "Company id", Help: "The number of the company in whose books the invoices belong: the id in the address of its page under Settings, Companies.", Default: "1"},
	{Name: "login", Label: "Login", Help: "Not for json-2: the e-mail address with which the user of the key signs in."},
	{Name: "key", Label: "API key", Help: "Made by that user under Preferences, Account Security, New API Key.", Secret: true, Required: true},
	{Name: "journal", Label: "Journal id", Help: "The sales journal; empty: the company's own choice."},
	{Name: "product", Label: "Product id", Help: "Put on each line; empty: lines without a product."},
	{Name: "account", Label: "Income account id", Help: "Of each line; empty: as the product or the journal has it."},
	{Name: "tax", Label: "Tax id", Help: "For lines that name no tax. It must be a tax that is included in the price; empty: no tax."},
	{Name: "longest", Label: "Longest request", Help: "How long Odoo may still work on a request after we hung up. Your own server: limit_time_real and a reserve.", Default: "15m"},
	{Name: "tolerance", Label: "Rounding", Help: "Difference of the total that still counts as the same, in the currency's smallest unit.", Default: "1"},
	{Name: "test_books", Label: "Only for tests", Help: "Yes: a test database, where a proof may post invoices.", Choices: []string{"no", "yes"}, Default: "no"},
}

// Adapter is how an admin connects Odoo.
var Adapter = ledger.Adapter{
	Name:      "odoo",
	Title:     "Odoo",
	Address:   "https://acme.odoo.com",
	Fields:    fields,
	Connect:   connect,
	TestBooks: func(s work.System) bool { return s.Settings["test_books"] == "yes" },
	Drafts:    true,
	Refused: func(v work.Invoice) work.Invoice {
		v.CustomerID = strconv.Itoa(mostID) // no contact has this id
		return v
	},
}

func connect(c ledger.Connection) (ledger.System, error) {
	set := c.Read(fields)
	cl := &Client{
		base: strings.TrimRight(c.System.Address, "/"), drafts: c.DraftsOnly,
		rpc: set.Text("api") != json2, old: set.Text("api") == jsonRPCOld, database: set.Text("database"), login: set.Text("login"), key: c.Secrets["key"],
		company: set.Number("company", 1, mostID),
		journal: id(set, "journal"), product: id(set, "product"), account: id(set, "account"), tax: id(set, "tax"),
		caps: work.Capabilities{Searchable: true, SearchLag: searchLag, Misses: 2,
			Linger: set.Duration("longest", leastLongest, mostLongest), Tolerance: set.Number("tolerance", 0, 1000)},
		now: c.Now,
	}
	if cl.rpc && cl.login == "" {
		set.Wrong("login", "the user's e-mail address unless the API is json-2")
	}
	if err := set.Err(); err != nil {
		return nil, err
	}
	if cl.now == nil {
		cl.now = time.Now
	}
	cfg := ledger.Config{BaseURL: cl.base, Secrets: spellings(cl.key)}
	if !cl.rpc {
		cfg.Authorize = func(h http.Header) {
			h.Set("Authorization", "bearer "+cl.key)
			h.Set("X-Odoo-Database", cl.database)
		}
	}
	var err error
	if cl.http, err = c.Transport(cfg); err != nil {
		return nil, &ledger.FieldError{Field: "address", Err: err}
	}
	return cl, nil
}

// id is the setting as the id of a record; 0: none.
func id(set *ledger.Settings, name string) int {
	if set.Text(name) == "" {
		return 0
	}
	return set.Number(name, 1, mostID)
}

// spellings are the key as it is and as JSON writes it: JSON-RPC carries it in the body.
func spellings(key string) []string {
	quoted, err := json.Marshal(key)
	if err != nil || key == "" {
		return []string{key}
	}
	return []string{key, string(quoted[1 : len(quoted)-1])}
}

// Client is the port to one company in one database. It is safe for concurrent use.
type Client struct {
	http     *ledger.Transport
	now      func() time.Time
	base     string
	drafts   bool // steps end at the draft
	rpc      bool // JSON-RPC instead of JSON-2
	old      bool // before version 17
	database string
	login    string
	key      string
	company  int
	caps     work.Capabilities

	journal, product, account, tax int // 0: none

	mu    sync.Mutex
	books books
}

// books is what was read about the books that a write needs. Reading it writes nothing.
type books struct {
	user       int            // of JSON-RPC: the user's id
	identity   string         // as last read; empty: not yet
	currencies map[string]int // active ones, id by code
}

var (
	_ ledger.System  = (*Client)(nil)
	_ ledger.Remover = (*Client)(nil)
)

// Capabilities implements ledger.System. Neither keys nor unique references (accounting-systems.md, 4a, 4b).
func (c *Client) Capabilities() work.Capabilities { return c.caps }

// Steps implements ledger.System.
func (c *Client) Steps() []string {
	if c.drafts {
		return []string{StepCreate}
	}
	return []string{StepCreate, StepPost}
}

// Close drops idle connections.
func (c *Client) Close() { c.http.Close() }

// page is where a person can look at an invoice; the form of the address is understood by every version.
func (c *Client) page(id string) string {
	return c.base + "/web#id=" + url.QueryEscape(id) + "&model=account.move&view_type=form"
}
