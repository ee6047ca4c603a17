package ledger

import (
	"time"

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
}

// Connection is what Connect gets.
type Connection struct {
	System  work.System
	Secrets map[string]string // by the field's name; never logged
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
	Secret   bool     // sealed in the database, never shown again
	Required bool     //
	Choices  []string // empty: free text
	Default  string
}
