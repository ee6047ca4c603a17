// Package quickbookstest is a company in QuickBooks Online that keeps state and answers as the vendor's service does, as
// far as the vendor publishes it. For tests.
package quickbookstest

import (
	"encoding/json"
	"fmt"
	"math/big"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"onefold/internal/ledger"
	"onefold/internal/ledger/ledgertest"
	"onefold/internal/work"
)

// What every company here knows.
const (
	Realm    = "9341452000000000"
	Customer = "58"
	Other    = "59" // another customer
	Item     = "1"
	Home     = "EUR"
)

// Options say what the vendor leaves open.
type Options struct {
	PageSize    int           // most records on a page, whatever was asked for; 0: 1000
	KeyLifetime time.Duration // how long a requestid is remembered; 0: never
	KeepRefusal bool          // a refusal is brought back with its requestid too
	Unique      bool          // a number that is taken is refused
	OwnNumbers  bool          // custom transaction numbers are off
	OneCurrency bool          // records do not tell their currency
	LoginDown   bool          // logins cannot be renewed at the moment
	SearchLag   time.Duration // how long a new invoice is missing from queries
	Now         func() time.Time
}

// Company is the fake. It implements ledgertest.Fake.
type Company struct {
	o Options

	mu       sync.Mutex
	ahead    time.Duration
	faults   map[work.Kind]ledgertest.Fault
	invoices []*Invoice
	answers  map[string]answer // by requestid
	login    int               // how often it was renewed
	revoked  bool
	Renewals int
	Bodies   []json.RawMessage // of the creates, as they came
	Queries  []url.Values      // of all requests to the books
}

// Invoice is what the company holds.
type Invoice struct {
	ID, Number, Customer, Currency, Total, Note string
	Asked                                       string // the number that it was asked for under
	Made                                        time.Time
	Void, Deleted, StillShown                   bool
}

type answer struct {
	status int
	body   string
	until  time.Time
}

// New is a company in which nothing has happened yet.
func New(o Options) *Company {
	if o.Now == nil {
		start := time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)
		o.Now = func() time.Time { return start }
	}
	if o.PageSize == 0 {
		o.PageSize = 1000
	}
	return &Company{o: o, faults: map[work.Kind]ledgertest.Fault{}, answers: map[string]answer{}}
}

// Token is the login as a person's visit left it: live, and renewable once.
func Token() ledger.Token {
	return ledger.Token{Access: access(0), Refresh: refresh(0)}
}

func access(n int) string  { return fmt.Sprintf("%s-access-%d", ledgertest.Secret, n) }
func refresh(n int) string { return fmt.Sprintf("%s-refresh-%d", ledgertest.Secret, n) }

// Settings connect the company.
func Settings() map[string]string {
	return map[string]string{"client_id": "app", "company": Realm, "item": Item}
}

// Secrets go with Settings.
func Secrets() map[string]string { return map[string]string{"client_secret": ledgertest.Secret} }

// Set changes what the vendor leaves open.
func (c *Company) Set(change func(*Options)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change(&c.o)
}

// Change changes an invoice as a person in QuickBooks does.
func (c *Company) Change(id string, change func(*Invoice)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, v := range c.invoices {
		if v.ID == id {
			change(v)
		}
	}
}

// Revoke ends the login for good.
func (c *Company) Revoke() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.revoked = true
}

// Records returns copies of all invoices, void and deleted ones included.
func (c *Company) Records() (all []Invoice) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, v := range c.invoices {
		all = append(all, *v)
	}
	return all
}

// Effects implements ledgertest.Fake.
func (c *Company) Effects(_, reference string) (n int) {
	for _, v := range c.Records() {
		if v.Asked == reference {
			n++
		}
	}
	return n
}

// Advance implements ledgertest.Fake.
func (c *Company) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ahead += d
}

func (c *Company) now() time.Time { return c.o.Now().Add(c.ahead) }

// Classify implements ledgertest.Fake.
func (c *Company) Classify(r *http.Request, _ []byte) ledgertest.Incoming {
	switch _, path, _ := strings.Cut(r.URL.Path, "/v3/company/"+Realm); {
	case r.Method == http.MethodPost && path == "/invoice":
		return ledgertest.Incoming{Kind: work.Send, Key: r.URL.Query().Get("requestid")}
	case path == "/query", strings.HasPrefix(path, "/invoice/"):
		return ledgertest.Incoming{Kind: work.Find}
	}
	return ledgertest.Incoming{}
}

var ownFaults = map[work.Kind][]ledgertest.Fault{
	work.Send: {"reject", "reject_final", "reject_charset", "reject_long", "reject_zero_byte", "reject_not_utf8", "duplicate_error",
		"zero_id", "null_id", "empty_id", "numeric_id", "total_times_100", "total_plus_one", "other_customer", "voided", "deleted",
		"trim_reference", "upper_reference", "duplicate_in_french", "duplicate_in_xml", "reject_in_xml", "throttled_in_xml", "id_used", "reject_in_200", "system_fault", "no_access", "throttled_403", "both"},
	work.Find: {"search_error", "search_empty", "search_broken_page", "no_access", "other_page"},
}

// Misbehave implements ledgertest.Fake.
func (c *Company) Misbehave(kind work.Kind, f ledgertest.Fault) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if f == ledgertest.NoFault {
		clear(c.faults)
		return true
	}
	for _, own := range ownFaults[kind] {
		if own == f {
			c.faults[kind] = f
			return true
		}
	}
	return false
}

// product is quantity times price, as exact as QuickBooks asks for.
func product(quantity, price string) *big.Rat {
	q, ok := new(big.Rat).SetString(quantity)
	p, good := new(big.Rat).SetString(price)
	if !ok || !good {
		return new(big.Rat)
	}
	return q.Mul(q, p)
}
