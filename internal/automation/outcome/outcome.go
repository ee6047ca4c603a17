// Package outcome tells others what became of the items that they asked for: one signed webhook for each item that is
// settled or needs a person. What is to be told is written with the move itself (store), and sent from here later; a webhook
// that nobody takes affects no item.
package outcome

import (
	"context"
	"errors"
	"strings"
	"time"
	"unicode/utf8"

	"onefold/internal/automation/events"
	"onefold/internal/work"
)

// Endpoint is where the outcomes of an automation's items go.
type Endpoint struct {
	ID         int64
	CompanyID  int64
	Name       string
	Automation string
	Address    string
	Sealed     string // its secret
	ChangedAt  time.Time
	ChangedBy  string // label of the person
}

const owner = "outcome endpoint" // the id is not known before it is stored

// State is what became of a message.
type State string

const (
	Waiting   State = "waiting"   // to be sent, perhaps again
	Delivered State = "delivered" // answered with 2xx
	Failed    State = "failed"    // tried as often as allowed
	Dropped   State = "dropped"   // its endpoint was removed
)

// Delivery is one message: an item as it was when it came to this status.
type Delivery struct {
	ID         int64
	EndpointID int64
	Endpoint   string // its name
	Address    string
	State      State
	Tries      int
	MadeAt     time.Time
	NextAt     time.Time
	ClosedAt   time.Time
	LastError  string
	AskedBy    string // label of the person who had it sent again; empty: nobody

	Item work.Item // what is told of it: the names, Version, Status, Reason and the record
}

// Store is what the loop and the pages need from the database. *store.Store satisfies it.
type Store interface {
	// Now is the database's clock.
	Now(ctx context.Context) (time.Time, error)
	// Endpoints returns the endpoints by automation and id, without removed ones.
	Endpoints(ctx context.Context, companyID int64) ([]Endpoint, error)
	// PutEndpoint adds the endpoint, or replaces the one of its automation and address, and puts that on record.
	PutEndpoint(ctx context.Context, e Endpoint, by work.Actor) error
	// RemoveEndpoint removes an endpoint and puts that on record. What still waits for it is dropped.
	RemoveEndpoint(ctx context.Context, companyID, id int64, by work.Actor) error
	// ClaimOutcome gives the node the endpoint's next message that is due and that nobody holds, until the lease is over by
	// the database's clock; nil: none is due. Its tries count this one.
	ClaimOutcome(ctx context.Context, node string, lease time.Duration, endpointID int64) (*Delivery, error)
	// CloseOutcome writes what became of a claimed message, unless another node has claimed it since.
	CloseOutcome(ctx context.Context, node string, d Delivery) error
	// Outcomes returns the messages made last, newest first; with failedOnly those that were given up.
	Outcomes(ctx context.Context, companyID int64, failedOnly bool, limit int) ([]Delivery, error)
	// OutcomeAgain lets a message that is over be sent again, with all its tries. Done is false if there is none.
	OutcomeAgain(ctx context.Context, companyID, id int64, by string) (done bool, err error)
}

// Service is how admins say who is told.
type Service struct {
	Store     Store
	Keys      events.Sealer
	Hosts     Hosts
	CompanyID int64  // 0: 1, the first company
	Wake      func() // there is something to send; nil: nobody is told
}

// Errors in the user's words.
var (
	ErrNotAdmin = errors.New("only an admin may do this")
	ErrNone     = errors.New("there is no such message")
)

// What the audit trail calls it when an endpoint is connected or removed.
const (
	DidConnect = "endpoint_connected"
	DidRemove  = "endpoint_removed"
)

// Invalid says what is wrong with a field, by the field's name: "name", "address" or "automation".
type Invalid struct{ Field, Text string }

func (i *Invalid) Error() string { return i.Text }

func (s Service) company() int64 { return max(s.CompanyID, 1) }

// Endpoints lists who is told, for admins.
func (s Service) Endpoints(ctx context.Context, by work.Actor) ([]Endpoint, error) {
	if !by.Can(work.Admin) {
		return nil, ErrNotAdmin
	}
	return s.Store.Endpoints(ctx, s.company())
}

// Connect adds an endpoint and returns the secret with which its messages are signed, this once. The same automation and
// address again replace the endpoint and its secret: nobody is ever told twice. Outcomes from now on are told.
func (s Service) Connect(ctx context.Context, by work.Actor, e Endpoint) (secret string, err error) {
	if !by.Can(work.Admin) {
		return "", ErrNotAdmin
	}
	e.Name, e.Automation, e.Address = strings.TrimSpace(e.Name), strings.TrimSpace(e.Automation), strings.TrimSpace(e.Address)
	if e.Automation == "" {
		e.Automation = events.OrdersAutomation
	}
	switch {
	case e.Name == "" || utf8.RuneCountInString(e.Name) > 200:
		return "", &Invalid{"name", "Give it a name of at most 200 characters."}
	case utf8.RuneCountInString(e.Automation) > 100:
		return "", &Invalid{"automation", "The automation's name is too long."}
	}
	if err := s.Hosts.Check(e.Address); err != nil {
		return "", &Invalid{"address", err.Error()}
	}
	if e.ChangedAt, err = s.Store.Now(ctx); err != nil {
		return "", err
	}
	secret = events.NewSecret()
	e.CompanyID, e.ChangedBy = s.company(), by.Label()
	if e.Sealed, err = s.Keys.Seal(secret, owner); err != nil {
		return "", err
	}
	return secret, s.Store.PutEndpoint(ctx, e, by)
}

// Remove ends an endpoint. What still waits for it is not sent any more.
func (s Service) Remove(ctx context.Context, by work.Actor, id int64) error {
	if !by.Can(work.Admin) {
		return ErrNotAdmin
	}
	return s.Store.RemoveEndpoint(ctx, s.company(), id, by)
}

// Log lists the messages made last, newest first, for admins.
func (s Service) Log(ctx context.Context, by work.Actor, failedOnly bool, limit int) ([]Delivery, error) {
	if !by.Can(work.Admin) {
		return nil, ErrNotAdmin
	}
	return s.Store.Outcomes(ctx, s.company(), failedOnly, limit)
}

// Again sends a message once more. Receivers know it again by its id.
func (s Service) Again(ctx context.Context, by work.Actor, id int64) error {
	if !by.Can(work.Admin) {
		return ErrNotAdmin
	}
	done, err := s.Store.OutcomeAgain(ctx, s.company(), id, by.Label())
	if err == nil && !done {
		err = ErrNone
	}
	if err == nil && s.Wake != nil {
		s.Wake()
	}
	return err
}
