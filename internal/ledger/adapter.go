package ledger

import (
	"context"
	"time"

	"golang.org/x/oauth2"

	"onefold/internal/work"
)

// Adapter is one kind of accounting system as an admin connects it. Each adapter's folder has one.
type Adapter struct {
	Name   string  // stable, for example "xero"; stored with each system
	Title  string  // as shown to people: "Xero"
	Fields []Field // what must be told beside the address, in the order of the form
	// Address says what the address is, for example "https://api.example.com"; empty: the adapter knows it.
	Address string
	// Connect makes the system's port. It does no I/O. Errors name the field in the user's words.
	Connect func(Connection) (System, error)

	// OAuth is how a person connects an account in the browser; nil: the fields are enough.
	OAuth *OAuth

	// What a proof (verify) needs to know.

	// TestBooks reports whether an admin declared that these books are only for tests: a sandbox, a demo company. Only
	// there a proof may issue invoices. Nil: they never are.
	TestBooks func(work.System) bool
	// Drafts says that Connection.DraftsOnly is understood: on live books a proof makes drafts and issues nothing.
	Drafts bool
	// Refused changes an invoice so that the system is sure to refuse it. Nil: its customer becomes one that cannot exist.
	Refused func(work.Invoice) work.Invoice
	// Typed says that an admin typed what the system can do (a declarative adapter): until a proof has seen it on this
	// connection, neither keys nor lookups count.
	Typed bool

	// What an adapter with a definition that admins type can do beside; nil: it cannot.

	// Fill completes settings that were left empty from others that were chosen.
	Fill func(settings map[string]string)
	// Reaches lists the addresses beside System.Address that secrets are sent to. If they change, stored secrets must be
	// entered again.
	Reaches func(work.System) []string
	// TryOut reads whose books these are and looks for the reference, and shows each request, its answer and what was read
	// from it. It only reads. The error is one of Connect.
	TryOut func(ctx context.Context, c Connection, reference string) (TriedOut, error)
}

// OAuth is the login of an adapter by OAuth 2.0: a person is sent to the accounting system and comes back with a code.
type OAuth struct {
	// Config makes the client from what the admin typed: its id, secret, addresses and scopes. RedirectURL is filled in
	// by the caller. Errors name the field in the user's words.
	Config func(Connection) (oauth2.Config, error)
	// Needed reports whether this connection logs in so; nil: always.
	Needed func(work.System) bool
	// Callback reads what else the accounting system tells on the way back, by the name of the setting that it is stored
	// as (QuickBooks: the company). Nil: nothing.
	Callback func(query map[string][]string) map[string]string
	// Books lists the books that the login reaches, to choose from. Nil: there is nothing to choose.
	Books func(ctx context.Context, c Connection) ([]Book, error)
	// Setting is the name of the setting that the chosen book's id is stored as.
	Setting string
}

// Book is one set of books that a login reaches.
type Book struct{ ID, Name string }

// Remover is a System that can take back what a proof left in the books: it deletes a draft or voids a record. An error
// says in the user's words what stays.
type Remover interface {
	Remove(ctx context.Context, recordID string) error
}

// Connection is what Connect gets.
type Connection struct {
	System  work.System
	Secrets map[string]string // by the field's name; never logged
	Tokens  TokenStore        // the login that renews itself, shared by all servers; nil: there is none yet

	// DraftsOnly is a proof on live books: a document stays a draft, and Steps ends there.
	DraftsOnly bool
	// Lose is asked after each write that was answered; if it says so the answer is lost. Nil: never. It is how a proof
	// makes the failure that this product exists for.
	Lose func() bool

	// For tests; zero values are what a server uses.
	Now     func() time.Time
	MaxBody int64
}

// Transport makes the hardened client of this connection. Of cfg, Timeout, Now, MaxBody and Lose are filled in here.
func (c Connection) Transport(cfg Config) (*Transport, error) {
	cfg.Timeout, cfg.Now, cfg.MaxBody, cfg.Lose = c.Timeout(), c.Now, c.MaxBody, c.Lose
	return NewTransport(cfg)
}

// Timeout is the longest time that any automation lets one call take.
func (c Connection) Timeout() time.Duration {
	longest := c.System.Policy.RequestTimeout
	for _, o := range c.System.Overrides {
		if o.RequestTimeout != nil {
			longest = max(longest, *o.RequestTimeout)
		}
	}
	return longest
}

// FieldError is an error of Connect that one field causes.
type FieldError struct {
	Field string // its name; "address" for the address
	Err   error
}

func (e *FieldError) Error() string { return e.Err.Error() }
func (e *FieldError) Unwrap() error { return e.Err }

// Field is one thing that an adapter must be told.
type Field struct {
	Name     string // of work.System.Settings, or of the secrets
	Label    string
	Help     string   // one sentence; may be empty
	Long     bool     // a text of many lines
	Secret   bool     // sealed in the database, never shown again
	Required bool     //
	Choices  []string // empty: free text
	Default  string
}
