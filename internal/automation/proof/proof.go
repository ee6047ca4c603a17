// Package proof proves on a connected accounting system what the product promises: an answer that is lost after the system
// acted leaves exactly one record, and a genuine refusal creates nothing. It runs the engine itself, over the adapter
// itself, with a database of its own, so that nothing of it mixes with the firm's items.
package proof

import (
	"context"
	"errors"
	"time"

	"onefold/internal/automation"
	"onefold/internal/work"
)

// State is how a run stands.
type State string

// The states of a run. All but the first two are its end.
const (
	Waiting     State = "waiting"
	Running     State = "running"
	Proven      State = "proven"
	Failed      State = "failed"       // at least one step failed
	NotPossible State = "not_possible" // nothing failed, but one of the two tests could not be made
	Interrupted State = "interrupted"  // its server stopped or was lost: nobody cleaned up
)

// Ended reports whether nothing more happens.
func (s State) Ended() bool { return s != Waiting && s != Running }

// StepState is how one step of a run stands.
type StepState string

// The states of a step.
const (
	StepWaiting     StepState = "waiting"
	StepRunning     StepState = "running"
	StepPassed      StepState = "passed"
	StepFailed      StepState = "failed"
	StepNotPossible StepState = "not_possible" // Says tells why
)

// The steps of a run, in order. The two tests that the product must pass are Lost and Refused.
const (
	Books    = "books"   // it tells whose books it keeps
	Nothing  = "nothing" // a lookup of what never existed finds nothing
	Made     = "made"    // a first record is made
	Found    = "found"   // and found by our reference, in time
	Same     = "same"    // as it was asked for, the reference to the letter
	Repeat   = "repeat"  // a second send with the same key makes no second record
	Unique   = "unique"  // nor does one with the same reference
	Lost     = "lost"    // an answer that is lost leaves exactly one record
	Refused  = "refused" // a refusal is retried up to the limit, and creates nothing
	Cleaning = "cleaning"
)

// StepNames are the steps in order.
var StepNames = []string{Books, Nothing, Made, Found, Same, Repeat, Unique, Lost, Refused, Cleaning}

// Step is one row of a report. Says is a code that pages put into words with Vals.
type Step struct {
	Name  string            `json:"name"`
	State StepState         `json:"state"`
	Says  string            `json:"says,omitempty"`
	Vals  map[string]string `json:"vals,omitempty"`
	Began time.Time         `json:"began,omitzero"`
	Ended time.Time         `json:"ended,omitzero"`
}

// Left is a record that a run made and did not take back.
type Left struct {
	ID        string           `json:"id"`
	Number    string           `json:"number,omitempty"`
	Reference string           `json:"reference,omitempty"`
	State     work.RecordState `json:"state,omitempty"`
	URL       string           `json:"url,omitempty"`
	Why       string           `json:"why,omitempty"` // it could not be taken back; empty: the adapter cannot
}

// Wish is what a person types to begin a run.
type Wish struct {
	Customer string `json:"customer"` // the id of a test customer in the accounting system
	Amount   string `json:"amount"`   // empty: 1.00
	Currency string `json:"currency"`
	Consent  string `json:"consent,omitempty"` // on live books the name of the system, typed by the person
}

// Run is one proof.
type Run struct {
	ID        int64
	CompanyID int64
	SystemID  string
	State     State
	By        work.Actor
	At        time.Time
	EndedAt   time.Time
	Live      bool   // live books: it made drafts and issued nothing
	Reached   string // the connection that it is about, as work.System.Reached names it
	Version   int64
	Body
}

// Body is what a run is stored with beside its state.
type Body struct {
	System     string            `json:"system"` // its name at that time
	Wish       Wish              `json:"wish"`
	Steps      []Step            `json:"steps,omitempty"`
	References []string          `json:"references,omitempty"` // all under which it may have made something; named before each send
	Left       []Left            `json:"left,omitempty"`
	Relied     work.Capabilities `json:"relied"`            // what was relied on when it began
	Seen       work.Seen         `json:"seen"`              // what it saw
	Lag        time.Duration     `json:"lag,omitempty"`     // how long the first record took to be found, at most
	Offer      work.Caution      `json:"offer"`             // what is better not relied on; zero: all was as declared
	Adopted    bool              `json:"adopted,omitempty"` // an admin stored the offer
}

// Observed is what was relied on, as far as the run confirmed it.
func (r Run) Observed() work.Capabilities {
	c := r.Relied.Cautious(r.Offer)
	c.HonoursKeys, c.Searchable = c.HonoursKeys && r.Seen.Keys, c.Searchable && r.Seen.Search
	if !c.HonoursKeys {
		c.KeyLifetime = 0
	}
	return c
}

// Interrupt ends a run whose server stopped or was lost.
func (r *Run) Interrupt() {
	r.State = Interrupted
	for i := range r.Steps {
		if s := &r.Steps[i]; s.State == StepWaiting || s.State == StepRunning {
			s.State, s.Says = StepNotPossible, "any/interrupted"
		}
	}
}

// step is the row of a step; it is never nil.
func (r *Run) step(name string) *Step {
	for i := range r.Steps {
		if r.Steps[i].Name == name {
			return &r.Steps[i]
		}
	}
	r.Steps = append(r.Steps, Step{Name: name, State: StepWaiting})
	return &r.Steps[len(r.Steps)-1]
}

// Store is what proofs need from the database.
type Store interface {
	Now(ctx context.Context) (time.Time, error)
	Systems(ctx context.Context) ([]work.System, error)
	// AddProof adds a run that waits. It returns ErrRunning if one of the system has not ended.
	AddProof(ctx context.Context, r Run) (Run, error)
	// Proof returns one run, or ErrUnknown.
	Proof(ctx context.Context, companyID, id int64) (Run, error)
	// Proofs returns the newest runs of a system, newest first, at most n.
	Proofs(ctx context.Context, companyID int64, systemID string, n int) ([]Run, error)
	// LastProofs returns the newest run of each system that ended as proven.
	LastProofs(ctx context.Context, companyID int64) (map[string]Run, error)
	// WaitingProofs returns the ids of runs that nobody took yet.
	WaitingProofs(ctx context.Context) ([]int64, error)
	// TakeProof makes a waiting run the node's, for some time. Taken is false if another server was faster.
	TakeProof(ctx context.Context, id int64, node string, hold time.Duration) (r Run, taken bool, err error)
	// SaveProof writes how far a run is and holds it on, or returns ErrLost if it is the node's no longer.
	SaveProof(ctx context.Context, r *Run, node string, hold time.Duration) error
	// EndProof writes the end of a run, or returns ErrLost. If the system is still reached as it was, it keeps what was seen.
	EndProof(ctx context.Context, r *Run, node string) error
	// InterruptProofs ends the runs whose server is lost; it returns how many.
	InterruptProofs(ctx context.Context) (int, error)
	// AdoptCaution adds to a system's caution what a run offers, on somebody's behalf and on record.
	AdoptCaution(ctx context.Context, r Run, by work.Actor) error
}

// Ledger is the database of one run: empty, its own, thrown away at the end.
type Ledger interface {
	automation.Store
	automation.IntakeStore
	DeclareSystem(ctx context.Context, sys work.System) error
	Close() error
}

// Errors of runs.
var (
	ErrRunning = errors.New("a proof of this accounting system is running: wait until it has ended")
	ErrUnknown = errors.New("there is no such proof")
	ErrLost    = errors.New("another server took the proof for interrupted")
)

// Why a run is not begun. Code is stable: pages put it into words.
type Why struct {
	Code string
	Text string // what else is known; may be empty
}

// Codes of Why.
const (
	WhyCustomer = "customer"  // it is missing
	WhyAmount   = "amount"    // it is no amount above zero, with its currency
	WhyConsent  = "consent"   // the name of the system was not typed
	WhyNoDrafts = "no_drafts" // live books, and the adapter cannot keep to drafts
	WhyPaused   = "paused"    // nothing is to be sent to the system
	WhyAdapter  = "adapter"   // the system cannot be connected
)

func (w *Why) Error() string {
	says := map[string]string{
		WhyCustomer: "name a test customer, by the id that it has in the accounting system",
		WhyAmount:   "the amount must be above zero, in the currency's own decimals, for example 1.00 in EUR",
		WhyConsent:  "these are no declared test books: type the name of the system to agree that drafts are made in them",
		WhyNoDrafts: "these are no declared test books, and this kind of system cannot be kept to drafts: a proof would issue real invoices",
		WhyPaused:   "the system is paused: nothing is sent to it before it is resumed",
		WhyAdapter:  "the system cannot be connected",
	}[w.Code]
	if w.Text != "" {
		says += ": " + w.Text
	}
	return says
}
