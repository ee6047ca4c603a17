// Package sandbox is the adapter to the sandbox accounting system: a small but real invoicing system that misbehaves on
// request. The system itself is in the folder server.
package sandbox

import (
	"fmt"
	"time"

	"onefold/internal/ledger"
	"onefold/internal/work"
)

// Personality is what kind of accounting system the books behave like.
type Personality string

// The personalities, as real systems differ.
const (
	Keys   Personality = "keys"   // honours idempotency keys until they expire; cannot be searched
	Unique Personality = "unique" // refuses a second record with a reference; no keys; searchable
	Search Personality = "search" // neither keys nor unique references; searchable, with lag
	Blind  Personality = "blind"  // neither keys nor search
)

// Personalities lists them all.
var Personalities = []Personality{Keys, Unique, Search, Blind}

// Steps of a document.
const (
	StepCreate = "create" // makes a draft, or with Config.SingleStep a posted invoice
	StepPost   = "post"   // issues it
)

// Config connects to one set of books.
type Config struct {
	BaseURL     string // with the books, for example http://127.0.0.1:8090/north
	Token       string // empty: none
	Personality Personality

	KeyLifetime time.Duration // of Keys; 0: for ever
	SearchLag   time.Duration // of Unique and Search
	Linger      time.Duration // how long a request may be at work after we hung up
	Misses      int           // misses in a row that prove absence; 0: 1
	Tolerance   int           // rounding that still matches, in smallest units
	SingleStep  bool          // create posts at once

	Timeout time.Duration    // total time of one call; 0: ledger.DefaultTimeout
	MaxBody int64            // 0: ledger.DefaultMaxBody
	Now     func() time.Time // nil: time.Now
	Lose    func() bool      // asked after each write that was answered; true: the answer is lost; nil: never
}

// Limits of the sandbox's fields.
const (
	MaxReference = 60
	MaxKey       = 64
)

// Capabilities are what books of this kind let a client rely on.
func (c Config) Capabilities() work.Capabilities {
	caps := work.Capabilities{Linger: c.Linger, Misses: c.Misses, Tolerance: c.Tolerance, MaxReference: MaxReference, MaxKey: MaxKey}
	switch c.Personality {
	case Keys:
		caps.HonoursKeys = true
		caps.KeyLifetime = c.KeyLifetime
	case Unique:
		caps.Searchable = true
		caps.UniqueReferences = true
		caps.SearchLag = c.SearchLag
	case Search:
		caps.Searchable = true
		caps.SearchLag = c.SearchLag
	}
	return caps
}

// Client is the adapter. It is safe for concurrent use.
type Client struct {
	cfg  Config
	http *ledger.Transport
}

var _ ledger.System = (*Client)(nil)

// New checks the configuration; it does not connect.
func New(cfg Config) (*Client, error) {
	switch cfg.Personality {
	case Keys, Unique, Search, Blind:
	default:
		return nil, fmt.Errorf("the sandbox has no personality %q: use keys, unique, search or blind", cfg.Personality)
	}
	t, err := ledger.NewTransport(ledger.Config{BaseURL: cfg.BaseURL, Timeout: cfg.Timeout, MaxBody: cfg.MaxBody, Now: cfg.Now, Lose: cfg.Lose,
		Secrets: []string{cfg.Token}, Authorize: bearer(cfg.Token)})
	if err != nil {
		return nil, err
	}
	return &Client{cfg: cfg, http: t}, nil
}

// Capabilities implements ledger.System.
func (c *Client) Capabilities() work.Capabilities { return c.cfg.Capabilities() }

// Steps implements ledger.System.
func (c *Client) Steps() []string {
	if c.cfg.SingleStep {
		return []string{StepCreate}
	}
	return []string{StepCreate, StepPost}
}

// Close drops idle connections.
func (c *Client) Close() { c.http.Close() }
