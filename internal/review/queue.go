// Package review is what staff may do: search the items, look at one, and act on it through the gate.
package review

import (
	"context"
	"errors"
	"time"

	"onefold/internal/work"
)

// ErrNotFound says that there is no such item. A database error is never read as it.
var ErrNotFound = errors.New("no such item")

// Tab is one of the lists that staff work from.
type Tab string

const (
	TabReview   Tab = "review"   // needs a person
	TabUnknown  Tab = "unknown"  // outcome unknown: pending, or being looked up
	TabWaiting  Tab = "waiting"  // queued, failed and being sent
	TabFinished Tab = "finished" // confirmed and resolved
	TabClosed   Tab = "closed"   // closed without sending
	TabAll      Tab = "all"
)

// Query is a search of the list. The zero Query lists everything, newest change first. All conditions must hold.
type Query struct {
	CompanyID int64
	Text      string // business key, external number, reference, customer or amount; empty: no search
	Tab       Tab    // empty: TabAll
	Filter    Filter
	After     Cursor // zero: from the start
	Limit     int    // rows on a page; 1 to 200
}

// Filter narrows a list. An empty field means any.
type Filter struct {
	Status        work.Status
	Reason        work.Reason
	SystemID      string
	Automation    string
	Assigned      string // a person's name, or AssignedNobody
	Source        string // for example "import:7"
	Period        string // a month: "2026-11"
	ErrorKind     string // as work.ErrorKind returns it, or NoErrorKind
	Overdue       bool   // open items past the time by which they should have been settled
	ChangedBefore time.Time
	Least, Most   string // amounts, as decimals: "100.50"; both ends belong to the range
	Currency      string // of the amount
}

// AssignedNobody finds what nobody is assigned to.
const AssignedNobody = "-"

// NoErrorKind finds what no error was reported for.
const NoErrorKind = "-"

// Group is the items of a query with the same trouble.
type Group struct {
	SystemID  string
	Reason    work.Reason
	ErrorKind string
	Count     int64
	Oldest    time.Time // change of the item that has been so the longest
	Newest    time.Time
}

// View is a list that somebody saved under a name.
type View struct {
	ID      int64
	Name    string
	Address string // the list's address without its host: "/?tab=review&system=books"
	Owner   string // id of the person
	Shared  bool   // everybody sees it; only the owner and admins remove it
}

// Cursor is the place after a row: the sort value and the unique id.
type Cursor struct {
	At time.Time
	ID int64
}

// How says how a search found its rows.
type How string

const (
	HowAll    How = ""       // nothing was searched for
	HowExact  How = "exact"  // a key, reference or number is exactly the text
	HowPrefix How = "prefix" // begins with it
	HowPart   How = "part"   // contains it
	HowNewest How = "newest" // contains it; only the newest items were looked through, because the text is short
	HowAmount How = "amount" // the amount is exactly the text
	HowNone   How = "none"   // nothing found
)

// Page is one page of the list: one row per automation and business key, with its first unfinished step (the last step
// if all are finished).
type Page struct {
	Items []work.Item // without lines of the invoice
	How   How
	Next  Cursor // zero: no more
}

// Row is a row of the list without its item.
type Row struct {
	ID, Version int64
	ChangedAt   time.Time
}

// RowPage is a page of the list without the items.
type RowPage struct {
	Rows []Row
	How  How
	Next Cursor // zero: no more
}

// Store is what review needs from the database.
type Store interface {
	Evidence
	AttemptStore
	// Search finds rows: exact matches if there are any, else by amount, else prefix, else part.
	Search(ctx context.Context, q Query) (Page, error)
	// Groups counts the query's rows by system, reason and kind of error, the largest first, at most limit.
	Groups(ctx context.Context, q Query, limit int) ([]Group, error)
	// Count returns how many rows the query lists, but stops counting at most.
	Count(ctx context.Context, q Query, most int64) (int64, error)
	// Automations returns the names of all automations that have items, in order.
	Automations(ctx context.Context, companyID int64) ([]string, error)
	// Views returns the person's saved views and the shared ones, by name.
	Views(ctx context.Context, companyID int64, owner string) ([]View, error)
	// SaveView saves a view; one of the same owner and name is replaced.
	SaveView(ctx context.Context, companyID int64, v View) error
	// DeleteView removes a view, or returns ErrNotFound. An empty owner removes anybody's.
	DeleteView(ctx context.Context, companyID, id int64, owner string) error
	// Counts returns the number of business keys in each tab; exact for open ones.
	Counts(ctx context.Context, companyID int64) (map[Tab]int64, error)
	// Item returns one item with its invoice, or ErrNotFound.
	Item(ctx context.Context, companyID, id int64) (work.Item, error)
	// Chain returns all recorded steps of an automation and business key, in order.
	Chain(ctx context.Context, it work.Item) ([]work.Item, error)
	// Attempts returns an item's attempts with a number below before (0: the newest), newest first, at most limit.
	Attempts(ctx context.Context, itemID int64, before, limit int) ([]work.Attempt, error)
	// PrunedAttempts tells when attempts of an item were last removed as too old, and how many are gone; zero: none are.
	PrunedAttempts(ctx context.Context, itemID int64) (at time.Time, n int64, err error)
	// Acts returns an item's decisions of people, newest first, at most limit.
	Acts(ctx context.Context, itemID int64, limit int) ([]work.Act, error)
	// ActsBefore returns those with a lower id (0: any) of before the time (zero: any), newest first, at most limit.
	ActsBefore(ctx context.Context, itemID, id int64, at time.Time, limit int) ([]NumberedAct, error)
	// System returns one accounting system.
	System(ctx context.Context, id string) (work.System, error)
	// Now is the database's clock.
	Now(ctx context.Context) (time.Time, error)
	// Change is the one write door.
	Change(ctx context.Context, pick work.Pick, decide func(now time.Time, picked []work.Picked) ([]work.Move, error)) ([]work.Move, error)
}
