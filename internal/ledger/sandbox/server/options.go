// Package server is the sandbox accounting system: a small but real invoicing system over HTTP, with several sets of
// books behind one address, a page to look at them, a durable journal, and a fault plan that makes it misbehave.
package server

import (
	"fmt"
	"regexp"
	"time"

	"onefold/internal/ledger/sandbox"
)

// Options configure a Server. The zero value is one set of searchable books in memory.
type Options struct {
	File   string           // journal; empty: in memory only
	NoSync bool             // do not sync the journal to disk before answering
	Token  string           // bearer token of the API; empty: none
	Books  []Books          // empty: one set for each personality, named after it
	Plan   Plan             // faults from the start
	Now    func() time.Time // nil: time.Now
	Ready  func(url string) // called by Run once it listens
}

// Books is one set of books, reached under /{Name}/.
type Books struct {
	Name        string              `json:"name"`
	Title       string              `json:"title,omitempty"`    // for the page; empty: Name
	Identity    string              `json:"identity,omitempty"` // empty: "books-" and Name
	Personality sandbox.Personality `json:"personality"`
	KeyLifetime time.Duration       `json:"key_lifetime,omitempty"` // of sandbox.Keys; 0: for ever
	SearchLag   time.Duration       `json:"search_lag,omitempty"`   // how long a new record is not in the search
	PageSize    int                 `json:"page_size,omitempty"`    // of the search; 0: 20
	SingleStep  bool                `json:"single_step,omitempty"`  // create posts at once
}

// DefaultBooks is one set of books for each personality.
func DefaultBooks() []Books {
	return []Books{
		{Name: "keys", Title: "Keys: honours idempotency keys", Personality: sandbox.Keys, KeyLifetime: 24 * time.Hour},
		{Name: "unique", Title: "Unique: refuses a reference twice", Personality: sandbox.Unique},
		{Name: "search", Title: "Search: can only be searched", Personality: sandbox.Search, SearchLag: 2 * time.Second},
		{Name: "blind", Title: "Blind: neither keys nor search", Personality: sandbox.Blind},
	}
}

var bookName = regexp.MustCompile(`^[a-z][a-z0-9-]{0,39}$`)

func (b Books) complete() (Books, error) {
	if !bookName.MatchString(b.Name) || b.Name == "control" {
		return b, fmt.Errorf("the books cannot be named %q: use small letters, digits and hyphens", b.Name)
	}
	switch b.Personality {
	case sandbox.Keys, sandbox.Unique, sandbox.Search, sandbox.Blind:
	default:
		return b, fmt.Errorf("the books %q have no personality %q", b.Name, b.Personality)
	}
	if b.Identity == "" {
		b.Identity = "books-" + b.Name
	}
	if b.Title == "" {
		b.Title = b.Name
	}
	if b.PageSize <= 0 {
		b.PageSize = 20
	}
	return b, nil
}
