package work

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

// System is one connected accounting system as it is set up and as it is doing at the moment.
type System struct {
	ID           string // short, stable, for example "books"
	CompanyID    int64
	Name         string            // as shown to people
	Adapter      string            // which adapter, for example "sandbox"
	Address      string            // its base URL
	Settings     map[string]string // what else the adapter needs; no secrets
	Policy       Policy
	Overrides    map[string]Override // by automation; empty: none
	Capabilities Capabilities        // as declared by its adapter; what counts is ReliedOn
	Typed        bool                // an admin typed them: see Seen
	Seen         Seen                // what a proof saw, and on which connection
	Caution      Caution             // what an admin took away after a proof
	Steps        []string
	MaxInFlight  int     // most calls at the same time, over all servers
	PerSecond    float64 // most calls begun in a second, over all servers; 0: no limit

	Identity      string // the books that it reached when it was connected; empty: not read yet
	PausedAt      time.Time
	PausedBy      string
	PauseReason   string
	BreakerUntil  time.Time // zero: closed. Open until a probe after this time succeeds
	BreakerSince  time.Time // when it opened
	BreakerReason string
	LoginProblem  string    // what the system said when it refused our login; empty: none
	LookFirst     time.Time // zero: off
	LookFirstWhy  string
	// CredentialsVersion counts on with each change of the credentials; 0: none were ever stored.
	CredentialsVersion int64
	Version            int64
}

// Rules are the rules for the system's items at this moment.
func (s System) Rules() Rules {
	return Rules{Policy: s.Policy, Capabilities: s.ReliedOn(), LookFirst: s.LookFirst, Identity: s.Identity,
		NoSends: !s.PausedAt.IsZero() || !s.BreakerUntil.IsZero() || s.LoginProblem != ""}
}

// NotReached reports whether calls are stopped because the system does not answer. Where the login is refused it does answer:
// the breaker then only holds the next try of the login.
func (s System) NotReached() bool { return !s.BreakerUntil.IsZero() && s.LoginProblem == "" }

// Validate returns an error in the user's words if the system cannot work as set up.
func (s System) Validate() error {
	switch {
	case s.ID == "" || s.Adapter == "" || len(s.Steps) == 0:
		return fmt.Errorf("an accounting system needs an id, an adapter and at least one step")
	case s.MaxInFlight < 1 || s.MaxInFlight > 10000:
		return fmt.Errorf("the calls at the same time must be between 1 and 10000, not %d", s.MaxInFlight)
	case s.PerSecond < 0:
		return fmt.Errorf("the calls a second must not be negative")
	}
	s.Typed = false // what is not relied on yet may be after a proof: the limits must fit then, too
	if err := s.Rules().validate(); err != nil {
		return err
	}
	for _, automation := range slices.Sorted(maps.Keys(s.Overrides)) {
		if err := s.RulesFor(automation).validate(); err != nil {
			return fmt.Errorf("automation %q: %w", automation, err)
		}
	}
	return nil
}

func (r Rules) validate() error {
	if err := r.Policy.Validate(); err != nil {
		return err
	}
	if misses := r.Misses(); r.Capabilities.Searchable && r.Policy.Lookups <= misses {
		return fmt.Errorf("the number of lookups (%d) must be above the misses that prove absence in this system (%d)", r.Policy.Lookups, misses)
	}
	return nil
}

// Calls counts what calls to an accounting system brought back.
type Calls struct {
	All        int64
	Unanswered int64 // no clear answer; a lookup that did not reach it too
	NotSent    int64 // sends of which nothing left us: the connection was refused, the name is not known
	Refused    int64 // a clear answer: no
}
