package events

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"onefold/internal/automation"
	"onefold/internal/work"
)

// Kind is what kind of sender an event comes from.
type Kind string

const (
	Orders Kind = "orders" // a shop: its events become items
	System Kind = "system" // an accounting system: its notices make us look
)

// OrderConfirmed is the one type of order event that is understood.
const OrderConfirmed = "order.confirmed"

// OrdersAutomation is the automation of items from order events unless the sender has another.
const OrdersAutomation = "orders"

// Result says what became of an event. Those of order events are an automation.IntakeResult besides.
type Result string

const (
	Looking  Result = "looking"  // a look in the accounting system was asked for
	Outdated Result = "outdated" // a newer notice of the same document came before
	Unknown  Result = "unknown"  // no item has this reference or record
	Noted    Result = "noted"    // there was nothing to look for: see the detail
)

// Event is one event as it is remembered.
type Event struct {
	ID         int64
	CompanyID  int64
	Kind       Kind
	Sender     string // the sender's id, or "token:7"
	EventID    string // the sender's own name of the event
	Type       string
	Subject    string // the order's or document's reference
	Digest     string // see Digest
	HappenedAt time.Time
	ReceivedAt time.Time
	Times      int64 // how often it came
	Result     Result
	Detail     string // why, in plain words; empty: nothing to say
	ItemID     int64  // 0: none
}

// done reports whether the event had its effect, so that it must not have it again.
func (e Event) done() bool {
	switch e.Result {
	case Result(automation.IntakeNew), Result(automation.IntakeKnown), Looking, Outdated, Noted:
		return true
	}
	return false
}

// Store is what event intake needs from the database. *store.Store satisfies it.
type Store interface {
	automation.IntakeStore
	// Now is the database's clock.
	Now(ctx context.Context) (time.Time, error)
	// Item returns one item.
	Item(ctx context.Context, companyID, id int64) (work.Item, error)
	// Systems returns all accounting systems.
	Systems(ctx context.Context) ([]work.System, error)
	// ItemsNamed returns the ids of the system's items with this reference or this record, oldest first; empty texts match
	// nothing.
	ItemsNamed(ctx context.Context, companyID int64, systemID, reference, recordID string) ([]int64, error)

	// Senders returns all senders by kind and id, with their secrets sealed.
	Senders(ctx context.Context, companyID int64) ([]Sender, error)
	// Sender returns one sender; found is false if there is none.
	Sender(ctx context.Context, companyID int64, kind Kind, id string) (sn Sender, found bool, err error)
	// PutSender adds the sender or replaces the one of its kind and id, and puts on record who did what.
	PutSender(ctx context.Context, sn Sender, by work.Actor, did Act) error
	// RemoveSender removes a sender and puts that on record. What it sent stays on record.
	RemoveSender(ctx context.Context, companyID int64, kind Kind, id string, by work.Actor) error

	// Event returns a remembered event; found is false if there is none.
	Event(ctx context.Context, companyID int64, kind Kind, sender, eventID string) (e Event, found bool, err error)
	// NewestEvent is when the newest event that the sender told of the subject happened; zero: none is remembered.
	NewestEvent(ctx context.Context, companyID int64, kind Kind, sender, subject string) (time.Time, error)
	// RememberEvent writes the event, or counts it once more if its id is remembered. The result of an event that had its
	// effect is never overwritten.
	RememberEvent(ctx context.Context, e Event) error
	// Events returns the events received last, newest first.
	Events(ctx context.Context, companyID int64, limit int) ([]Event, error)
}

// Sealer encrypts secrets for the database. What is sealed opens only for the same owner.
type Sealer interface {
	Seal(secret, owner string) (string, error)
	Open(sealed, owner string) (string, error)
}

// Intake records items; automation.Intake is one.
type Intake interface {
	Record(ctx context.Context, items []work.New) ([]automation.Recorded, error)
}

// Service takes in events, and is how admins say who may send them.
type Service struct {
	Store     Store
	Intake    Intake
	Keys      Sealer
	CompanyID int64 // 0: 1, the first company
}

// Errors in the caller's words.
var (
	ErrNotAdmin = errors.New("only an admin may do this")
	ErrNoSender = errors.New("there is no such sender")
	ErrReused   = errors.New("this event id was used for an event with another content: give every event an id of its own")
)

// Invalid says what is wrong with a field, by the field's name.
type Invalid struct {
	Field string // "id", "event_id", "name", "system", "automation", "reference"
	Text  string
}

func (i *Invalid) Error() string { return i.Text }

// Digest names a content.
func Digest(body []byte) string {
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:16])
}

func (s Service) company() int64 { return max(s.CompanyID, 1) }

const maxName = 200

// cleanID is an event's id as it is remembered.
func cleanID(id string) (string, error) {
	id = strings.TrimSpace(id)
	if id == "" || utf8.RuneCountInString(id) > maxName || strings.ContainsFunc(id, unicode.IsControl) || !utf8.ValidString(id) {
		return "", &Invalid{"event_id", "\"id\" is missing or too long: the sender's own name of the event, at most 200 characters"}
	}
	return id, nil
}
