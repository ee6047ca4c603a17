package automation

import (
	"context"
	"strings"
	"time"

	"onefold/internal/ledger"
	"onefold/internal/work"
)

// AdapterField is one thing that an adapter must be told.
type AdapterField = ledger.Field

// Kind is a kind of accounting system that can be connected.
type Kind struct {
	Name    string
	Title   string
	Address string // an example of an address; empty: it needs none
	Fields  []AdapterField
	Account bool // a person connects an account in the browser, at least for some of its systems
	TryOut  bool // a search of a person's choice can be tried, see Connections.TryOut
	// Fill completes settings that were left empty from others that were chosen; nil: nothing can be.
	Fill func(settings map[string]string)
}

func kindOf(a ledger.Adapter) Kind {
	return Kind{Name: a.Name, Title: a.Title, Address: a.Address, Fields: a.Fields, Account: a.OAuth != nil, TryOut: a.TryOut != nil, Fill: a.Fill}
}

// MayConnect reports whether the actor may add, change, test and remove accounting systems.
func MayConnect(by work.Actor) bool { return by.Can(work.Admin) }

// Kinds are the kinds of accounting systems that this version can connect.
func (c *Connections) Kinds() []Kind {
	kinds := make([]Kind, len(c.Adapters))
	for i, a := range c.Adapters {
		kinds[i] = kindOf(a)
	}
	return kinds
}

// system is one system, or ErrUnknownSystem.
func (c *Connections) system(ctx context.Context, id string) (work.System, error) {
	all, err := c.Store.Systems(ctx)
	if err != nil {
		return work.System{}, err
	}
	for _, s := range all {
		if s.ID == id {
			return s, nil
		}
	}
	return work.System{}, ErrUnknownSystem
}

// Where a secret of a system is.
const (
	SecretStored = "stored"
	SecretGiven  = "given" // in the server's environment
)

// Setup is a system with what its form needs.
type Setup struct {
	work.System
	Kind    Kind
	Known   bool              // this version has its adapter
	Secrets map[string]string // by field: SecretStored or SecretGiven; left out: there is none
	Problem string            // why the stored credentials cannot be read; empty: they can
	Account *Account          // that a person connects; nil: it logs in without one
}

// Setup returns a system as it is set up, without its secrets. Admins only.
func (c *Connections) Setup(ctx context.Context, by work.Actor, id string) (Setup, error) {
	if !MayConnect(by) {
		return Setup{}, ErrNotAdmin
	}
	sys, err := c.system(ctx, id)
	if err != nil {
		return Setup{}, err
	}
	s := Setup{System: sys, Secrets: map[string]string{}}
	a, err := c.adapter(sys.Adapter)
	if err != nil {
		s.Problem = err.Error()
		return s, nil
	}
	s.Kind, s.Known = kindOf(a), true
	stored, err := c.secrets(ctx, id)
	if err != nil {
		s.Problem = err.Error()
	}
	given := c.withEnvironment(a, id, nil)
	for _, f := range a.Fields {
		switch {
		case f.Secret && stored[f.Name] != "":
			s.Secrets[f.Name] = SecretStored
		case f.Secret && given[f.Name] != "":
			s.Secrets[f.Name] = SecretGiven
		}
	}
	s.Account, err = c.account(ctx, a, sys)
	return s, err
}

// typedFor is how long typed secrets are kept for a form that is shown again.
const typedFor = 15 * time.Minute

// KeepTyped seals secrets that were typed into a form, so that the form can be shown again without them: only the same
// person's form gets them back. Empty: there is nothing to keep.
func (c *Connections) KeepTyped(by work.Actor, secrets map[string]string) string {
	keep := map[string]string{}
	for name, v := range secrets {
		if v != "" && len(v) <= longestValue {
			keep[name] = v
		}
	}
	if len(keep) == 0 {
		return ""
	}
	keep["\x00until"] = c.now().Add(typedFor).UTC().Format(time.RFC3339)
	sealed, err := c.seal(keep, "typed:"+by.ID)
	if err != nil {
		return ""
	}
	return sealed
}

// Typed returns what KeepTyped kept for the person; nothing if it is theirs no longer.
func (c *Connections) Typed(by work.Actor, kept string) map[string]string {
	if strings.TrimSpace(kept) == "" {
		return nil
	}
	secrets, err := c.open(kept, "typed:"+by.ID)
	if err != nil {
		return nil
	}
	until, err := time.Parse(time.RFC3339, secrets["\x00until"])
	if err != nil || c.now().After(until) {
		return nil
	}
	delete(secrets, "\x00until")
	return secrets
}
