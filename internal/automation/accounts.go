package automation

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/oauth2"

	"onefold/internal/ledger"
	"onefold/internal/work"
)

// SystemLogin is the login of a system whose account a person connected in the browser, as it is stored.
type SystemLogin struct {
	Sealed      string    // the token; empty: no account is connected
	Expires     time.Time // of the access; zero: never, or not told
	RefusedAt   time.Time // when the system refused to renew it; zero: it did not
	RefusedWhy  string    // in the user's words, without secrets
	Version     int64     // counts on with the token, also when an account is disconnected
	Scopes      string    // what the login may do, as the system says it
	ConnectedBy work.Actor
	ConnectedAt time.Time
}

// AccountStore is what logins by OAuth need from the database, which all servers share. Leases count by its clock.
type AccountStore interface {
	// SystemLogin returns the login of a system; the zero SystemLogin if no account was ever connected.
	SystemLogin(ctx context.Context, id string) (SystemLogin, error)
	// ResealLogin replaces a sealed token by the same one under another key, if it is still what it was.
	ResealLogin(ctx context.Context, id, was, sealed string) error
	// LeaseRenewal gives one server the right to renew the login of this version for some time. Taken is false if the
	// login is another one by now or was refused, or if another server has the right. Unfinished tells that a renewal
	// was begun before whose result was never stored: the system may have answered it.
	LeaseRenewal(ctx context.Context, id string, version int64, by string, lasts time.Duration) (taken, unfinished bool, err error)
	// EndRenewal ends the lease after some time, so that another try is made.
	EndRenewal(ctx context.Context, id string, version int64, by string, after time.Duration) error
	// StoreRenewal stores a renewed login, also after the lease, unless the stored one is of another version.
	StoreRenewal(ctx context.Context, id string, version int64, sealed string, expires time.Time) (stored bool, err error)
	// RefuseLogin notes that the system refused to renew the login, if by still holds the lease. The system stands still
	// until a person connects the account again.
	RefuseLogin(ctx context.Context, id string, version int64, by, why string) (noted bool, err error)
	// ConnectAccount stores a login that was seen to work.
	ConnectAccount(ctx context.Context, id string, a AccountChange) error
	// DisconnectAccount removes the login and stops the system, with the problem as the reason. Without a login it does
	// nothing.
	DisconnectAccount(ctx context.Context, id string, by work.Actor, problem string) error
	// KeepTrip keeps a trip; TakeTrip returns it at most once, Trip leaves it. Both return false if there is none, or if
	// it has expired by the database's clock.
	KeepTrip(ctx context.Context, t LoginTrip, lasts time.Duration) error
	TakeTrip(ctx context.Context, id string) (LoginTrip, bool, error)
	Trip(ctx context.Context, id string) (LoginTrip, bool, error)
}

// AccountChange is an account that was connected.
type AccountChange struct {
	Mark         string // of the connection that it was tried with, see ConnectionMark; another one is ErrConnectionChanged
	By           work.Actor
	Sealed       string
	Expires      time.Time
	Scopes       string
	Settings     map[string]string // of the system from now on
	Capabilities work.Capabilities
	Steps        []string
	Identity     string // the books that were reached
	Records      []SettingText
}

// LoginTrip is what is remembered while a person is at the accounting system to connect an account.
type LoginTrip struct {
	ID       string // a hash of what the browser holds
	SystemID string
	PersonID string // whoever began it ends it
	Sealed   string
}

// Errors of accounts.
var (
	ErrNoAccount          = errors.New("this accounting system logs in without an account that is connected in the browser")
	errNotConnected error = loginOver(notConnected)
)

// loginOver is a login that is not to be had until a person connects the account: it is a ledger.ErrLoginRefused, in the
// words that the system's page shows.
type loginOver string

func (e loginOver) Error() string        { return string(e) }
func (e loginOver) Is(target error) bool { return target == ledger.ErrLoginRefused }

// Why a system stands still without an account.
const (
	notConnected = "its account is not connected yet"
	disconnected = "its account was disconnected"
	moved        = "its connection was changed, so that its account must be connected again"
)

// AwaitsAccount reports whether a system's login problem is that no account is connected.
func AwaitsAccount(problem string) bool {
	return problem == notConnected || problem == disconnected || problem == moved
}

// logsIn reports whether a system logs in by an account that a person connects in the browser.
func logsIn(a ledger.Adapter, s work.System) bool {
	return a.OAuth != nil && (a.OAuth.Needed == nil || a.OAuth.Needed(s))
}

// client is what a login belongs to: where the system is, and as whom we log in there. The secret may change.
func client(cfg oauth2.Config, s work.System) string {
	return fmt.Sprintf("%q %q %q %q", origin(s.Address), cfg.ClientID, cfg.Endpoint.AuthURL, cfg.Endpoint.TokenURL)
}

// keepsLogin reports whether the stored login of a connection still belongs to it after a change: it must never go to another
// place, or be renewed by another client.
func keepsLogin(a ledger.Adapter, was, is ledger.Connection) bool {
	if !logsIn(a, was.System) || !logsIn(a, is.System) {
		return false
	}
	before, err := a.OAuth.Config(was)
	if err != nil {
		return false
	}
	after, err := a.OAuth.Config(is)
	return err == nil && client(before, was.System) == client(after, is.System)
}

// Account is the account of a system as its page shows it.
type Account struct {
	Connected  bool
	By         work.Actor // who connected it
	At         time.Time
	Scopes     string
	RefusedAt  time.Time // zero: it was not refused
	RefusedWhy string
}

// account is the account of a system; nil if it logs in without one.
func (c *Connections) account(ctx context.Context, a ledger.Adapter, s work.System) (*Account, error) {
	if !logsIn(a, s) {
		return nil, nil
	}
	l, err := c.Store.SystemLogin(ctx, s.ID)
	if err != nil {
		return nil, err
	}
	return &Account{Connected: l.Sealed != "", By: l.ConnectedBy, At: l.ConnectedAt, Scopes: l.Scopes, RefusedAt: l.RefusedAt, RefusedWhy: l.RefusedWhy}, nil
}
