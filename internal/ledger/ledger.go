// Package ledger is the port to accounting systems: what an adapter must do, the hardened transport it does it with,
// and the judgement of what came back. Each accounting system has a folder of its own below this one.
package ledger

import (
	"context"
	"time"

	"onefold/internal/work"
)

// System is one connected accounting system. Implementations are safe for concurrent use.
//
// An adapter reports only what it can prove. A Send that is not provably accepted, rejected, not sent, already there or
// deferred is work.Unknown; a Find that did not provably search is work.CouldNotTell. Neither retries by itself, follows
// redirects on a write, or invents a key.
type System interface {
	// Capabilities are what the system lets us rely on, as documented by its vendor.
	Capabilities() work.Capabilities

	// Steps is the chain of writing requests that one document needs, in order; never empty. Each name is one step of
	// an item and exactly one writing request.
	Steps() []string

	// Identity names the books that the connection reaches (tenant, company). It is a read and also serves as the
	// breaker's probe. An error says nothing about any item.
	Identity(ctx context.Context) (string, error)

	// Send makes exactly one writing request. Answer.Record.ID is set on work.Accepted; Answer.Match is left to the
	// caller. The context ends at the request timeout.
	Send(ctx context.Context, req Request) work.Answer

	// Find searches by our reference in every state and reads the hit itself, to the last page. It returns all records
	// that carry the reference, void ones included. For a later step it reports whether that step's effect is there:
	// a record on which the effect is missing is left out.
	Find(ctx context.Context, q Query) Found
}

// Request is one writing request.
type Request struct {
	Step             string
	Reference        string
	Key              string // idempotency key of this revision
	PreviousRecordID string // the record of the step before; empty for the first step
	Invoice          work.Invoice
	SendBy           Deadline // nothing is written after it
}

// Query is one lookup.
type Query struct {
	Step             string
	Reference        string
	PreviousRecordID string

	// For systems that cannot search by our reference but list their records, so that the list stays short.
	Customer string    // the customer of every send of this step so far; empty: several, or not known
	Since    time.Time // no send of this step was made before, by the database's clock; zero: not known
}

// Found is the raw result of a search.
type Found struct {
	Searched   bool          // the search was carried out to the end; false: could not tell, unless Deferred
	Deferred   bool          // asked to come back later
	RetryAfter time.Duration // of Deferred
	Login      bool          // of Deferred: the login was refused
	Unreached  bool          // not reached or 5xx
	Records    []work.Record
	Exchange   work.Exchange
}
