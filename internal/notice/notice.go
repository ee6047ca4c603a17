// Package notice tells people what needs them: by e-mail and by webhook, the first at once, then a digest, once a day a
// reminder of what still waits, and when an accounting system stands still. It lives apart from the engine, reads items
// and never changes one: a message that cannot be delivered affects nothing but itself.
package notice

import (
	"context"
	"net/mail"
	"slices"
	"strconv"
	"strings"
	"time"

	"onefold/internal/review"
	"onefold/internal/work"
)

// Mode says when a recipient is told of items that need a person.
type Mode string

const (
	Off    Mode = "off"
	AtOnce Mode = "at_once" // the first at once, then a digest while new ones come, and the daily reminder
	Daily  Mode = "daily"   // the daily reminder only
)

// Modes lists every mode in the order in which pages offer them.
var Modes = []Mode{AtOnce, Daily, Off}

// Settings say how a recipient wants to be told.
type Settings struct {
	Items     Mode
	Alerts    bool      // when an accounting system stands still or items are late, and when it is over
	Systems   []string  // ids of the accounting systems; empty: all
	Mine      bool      // only items that are assigned to the person
	Hour      int       // of the daily reminder, in the firm's zone; 0 to 23
	ChangedAt time.Time // zero: never chosen, the roles suggest them
}

// DefaultHour is when reminders come unless somebody chose another hour.
const DefaultHour = 8

// Suggested are the settings of a person who chose none: those who settle items are told of them, and whoever can do
// something about it when a system stands still.
func Suggested(roles []work.Role) Settings {
	s := Settings{Items: Off, Hour: DefaultHour}
	if slices.Contains(roles, work.Operator) {
		s.Items = AtOnce
	}
	s.Alerts = slices.ContainsFunc(roles, func(r work.Role) bool { return r != work.Viewer })
	return s
}

// Person is somebody who may be told.
type Person struct {
	ID       int64
	Name     string // as items are assigned to
	Email    string // empty: nowhere to be told
	Roles    []work.Role
	Settings Settings
}

func (p Person) key() string { return PersonKey(p.ID) }

// PersonKey names a person as a recipient.
func PersonKey(id int64) string { return "person:" + strconv.FormatInt(id, 10) }

const webhookPrefix = "webhook:"

// GoodAddress reports whether text is one plain e-mail address that a message can be sent to: no name, no comment, no
// control character, at most 254 bytes.
func GoodAddress(text string) bool {
	if text == "" || len(text) > 254 || strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r >= 0x7f || strings.ContainsRune(`"<>(),;:\`, r) }) {
		return false
	}
	a, err := mail.ParseAddress(text)
	return err == nil && a.Address == text && a.Name == ""
}

// Filter says which waiting items are meant.
type Filter struct {
	CompanyID int64
	After     int64    // only those that came, or with Assigned were assigned, in a later round; 0: all
	UpTo      int64    // and not later than in this round; 0: any
	Systems   []string // empty: all
	Assigned  string   // only those assigned to this name; empty: all
	NotBy     string   // with After and Assigned: not those that the person of this id took themself
}

// Waiting is what waits for a person: the largest groups of the same trouble.
type Waiting struct {
	Total  int64
	Groups []Group   // the largest first, at most GroupsInMessage
	More   int64     // how many other groups there are
	Since  time.Time // when the first of them was noticed
}

// Group is waiting items with the same trouble.
type Group struct {
	SystemID  string
	Reason    work.Reason
	ErrorKind string
	Count     int64
	Since     time.Time
	First     work.Item // the one with the lowest id
}

// GroupsInMessage is how many groups a message names.
const GroupsInMessage = 10

// State says how far a recipient is told. The zero Version says that nothing is stored.
type State struct {
	Recipient string
	Told      int64     // the last round of items that they were told of
	ItemsAt   time.Time // when the last message about new items was made
	Reminded  string    // the day of the last reminder in the firm's zone: "2026-11-30"
	Unsent    bool      // a message about items still waits to be sent; not written
	Version   int64
}

// AlertState is an alert with what a recipient knows of it.
type AlertState struct {
	review.Alert
	ID      int64
	Over    bool      // it is cleared
	Told    bool      // the recipient was told that it is raised; else it is open
	LastOne time.Time // when the recipient was last told of one of the same system and cause
}

// Kind is what a message is about.
type Kind string

const (
	Items    Kind = "items"    // new ones that need a person
	Reminder Kind = "reminder" // all that still wait
	AlertOn  Kind = "alert"
	AlertOff Kind = "over"
	Test     Kind = "test"
)

// Status is what became of a message.
type Status string

const (
	Waits   Status = "waiting" // to be sent, perhaps again
	Sent    Status = "sent"    // the mail server or the webhook took it
	Failed  Status = "failed"  // refused, or tried as often as allowed
	Unclear Status = "unclear" // twice nobody learned whether it arrived; not sent again
	Dropped Status = "dropped" // there was nothing to tell any more, or nobody to tell
)

// Delivery is one message to one recipient.
type Delivery struct {
	ID        int64
	CompanyID int64
	Recipient string // "person:7" or "webhook:finance"
	Name      string // of the person or the webhook
	Address   string // of an e-mail
	Kind      Kind
	Message   Message
	Status    Status
	Tries     int
	Unclear   int // tries of which nobody learned whether they arrived
	MadeAt    time.Time
	NextAt    time.Time
	ClosedAt  time.Time
	LastError string
}

// ByMail reports whether it goes out by e-mail; else by webhook.
func (d Delivery) ByMail() bool { return !strings.HasPrefix(d.Recipient, webhookPrefix) }

// Told is an alert that a recipient is told of.
type Told struct {
	Alert AlertState
	Over  bool // that it is over
}

// Store is what the loop needs from the database. *store.Store satisfies it.
type Store interface {
	// Now is the database's clock.
	Now(ctx context.Context) (time.Time, error)
	Systems(ctx context.Context) ([]work.System, error)
	// NoticeRound brings the list of waiting items up to date and returns the last round in which one came or was assigned.
	NoticeRound(ctx context.Context, companyID int64) (int64, error)
	// NoticeWaiting returns what waits.
	NoticeWaiting(ctx context.Context, f Filter) (Waiting, error)
	// NoticePeople returns the persons who may sign in and have an e-mail address, with their settings.
	NoticePeople(ctx context.Context, companyID int64) ([]Person, error)
	// NoticeState returns how far a recipient is told; a new one has version 0.
	NoticeState(ctx context.Context, recipient string) (State, error)
	// NoticeAlerts returns the open alerts, and those that are over and of which the recipient does not know that yet.
	NoticeAlerts(ctx context.Context, recipient string) ([]AlertState, error)
	// RecordNotices writes the new state, its messages and the alerts told, all or nothing. It reports false if another
	// server was faster: the state stored is not the one of this version.
	RecordNotices(ctx context.Context, st State, messages []Delivery, told []Told) (bool, error)
	// ClaimNotice gives the node the next message that is due and that nobody holds, until the lease is over by the
	// database's clock; nil: none is due. Its tries count this one; if an earlier one was never closed, Unclear grows.
	// Only e-mails are given with mail, and only webhooks that are named.
	ClaimNotice(ctx context.Context, node string, lease time.Duration, mail bool, webhooks []string) (*Delivery, error)
	// CloseNotice writes what became of a claimed message, unless another node has claimed it since.
	CloseNotice(ctx context.Context, node string, d Delivery) error
	// SweepNotices gives up messages that wait since before the first time, and removes closed ones from before the second.
	SweepNotices(ctx context.Context, giveUp, remove time.Time) error
}
