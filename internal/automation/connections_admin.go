package automation

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
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
}

func kindOf(a ledger.Adapter) Kind {
	return Kind{Name: a.Name, Title: a.Title, Address: a.Address, Fields: a.Fields}
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
	return s, nil
}

// prepared is a system with a draft applied, ready to be tried.
type prepared struct {
	adapter ledger.Adapter
	was, is work.System
	secrets map[string]string
	records []SettingText
}

// prepare applies a draft to a system, or to a new one if id is empty.
func (c *Connections) prepare(ctx context.Context, by work.Actor, id string, d Draft) (p prepared, err error) {
	if !MayConnect(by) {
		return p, ErrNotAdmin
	}
	var stored map[string]string
	if id == "" {
		company := c.CompanyID
		if company == 0 {
			company = 1
		}
		p.is = work.System{CompanyID: company, Adapter: d.Adapter, Policy: work.DefaultPolicy(), MaxInFlight: 8}
	} else {
		if p.was, err = c.system(ctx, id); err != nil {
			return p, err
		}
		p.is = p.was
		if d.Mark != "" && d.Mark != ConnectionMark(p.was) {
			return p, ErrConnectionChanged
		}
		// Credentials that cannot be opened are as good as none: they must be entered again.
		if stored, err = c.secrets(ctx, id); err != nil {
			stored = nil
		}
	}
	if p.adapter, err = c.adapter(p.is.Adapter); err != nil {
		return p, err
	}
	bad := BadFields{}
	var one BadFields
	if p.is, err = d.applied(p.is, p.adapter); errors.As(err, &one) {
		maps.Copy(bad, one)
	}
	if id == "" {
		if p.is.ID, err = c.freeID(ctx, p.is.Name); err != nil {
			return p, err
		}
	}
	given := c.withEnvironment(p.adapter, p.is.ID, nil)
	p.secrets, p.records, err = d.secrets(p.adapter, p.was, p.is, stored, func(f string) bool { return given[f] != "" })
	if errors.As(err, &one) {
		maps.Copy(bad, one)
	}
	taken, err := c.nameTaken(ctx, p.is)
	if err != nil {
		return p, err
	}
	if taken && bad[FieldName] == "" {
		bad[FieldName] = "Another accounting system has this name."
	}
	if len(bad) == 0 {
		return p, nil
	}
	var field *ledger.FieldError // the adapter may have its own: all are said at once
	if _, err := p.adapter.Connect(ledger.Connection{System: p.is, Secrets: d.Secrets}); errors.As(err, &field) && bad[field.Field] == "" {
		bad[field.Field] = hideSecrets(err.Error(), d.Secrets)
	}
	return p, bad
}

func (c *Connections) nameTaken(ctx context.Context, sys work.System) (bool, error) {
	all, err := c.Store.Systems(ctx)
	for _, other := range all {
		if other.ID != sys.ID && work.FoldKey(other.Name) == work.FoldKey(sys.Name) {
			return true, nil
		}
	}
	return false, err
}

// freeID is an id for a new system that none has or had.
func (c *Connections) freeID(ctx context.Context, name string) (string, error) {
	wanted := idFor(name)
	for n := 1; n <= 1000; n++ {
		id := wanted
		if n > 1 {
			id = fmt.Sprintf("%s-%d", wanted, n)
		}
		taken := id == "new" // the address of the form
		if !taken {
			var err error
			if taken, err = c.Store.SystemIDTaken(ctx, id); err != nil {
				return "", err
			}
		}
		if !taken {
			return id, nil
		}
	}
	return "", ErrIDTaken
}

// Try tests a draft of a system, or of a new one if id is empty, and stores nothing. BadFields if it cannot be tested.
func (c *Connections) Try(ctx context.Context, by work.Actor, id string, d Draft) (Tried, error) {
	p, err := c.prepare(ctx, by, id, d)
	if err != nil {
		return Tried{}, err
	}
	return c.try(ctx, p.adapter, p.is, p.secrets)
}

// TryStored tests a system as it is connected.
func (c *Connections) TryStored(ctx context.Context, by work.Actor, id string) (Tried, error) {
	if !MayConnect(by) {
		return Tried{}, ErrNotAdmin
	}
	sys, err := c.system(ctx, id)
	if err != nil {
		return Tried{}, err
	}
	a, err := c.adapter(sys.Adapter)
	if err != nil {
		return Tried{Problem: TrySettings, Text: err.Error()}, nil
	}
	secrets, err := c.secrets(ctx, id)
	if err != nil {
		return Tried{Problem: TrySettings, Text: err.Error()}, nil
	}
	t, err := c.try(ctx, a, sys, secrets)
	var bad BadFields
	if errors.As(err, &bad) {
		return Tried{Problem: TrySettings, Text: bad.Error()}, nil
	}
	return t, err
}

// Add connects a new accounting system after a test that it passes; if it does not, nothing is stored and the test says
// why. It returns the new system's id.
func (c *Connections) Add(ctx context.Context, by work.Actor, d Draft) (id string, t Tried, err error) {
	p, err := c.prepare(ctx, by, "", d)
	if err != nil {
		return "", t, err
	}
	if t, err = c.try(ctx, p.adapter, p.is, p.secrets); err != nil || t.Problem != TryWorks {
		return "", t, err
	}
	p.is.Capabilities, p.is.Steps, p.is.Identity = t.Capabilities, t.Steps, t.Identity
	sealed, err := c.seal(p.secrets, systemOwner(p.is.ID))
	if err != nil {
		return "", t, err
	}
	if sealed != "" {
		p.is.CredentialsVersion = 1
	}
	return p.is.ID, t, c.Store.AddSystem(ctx, p.is, sealed, by)
}

// Change changes how a system is reached. If more than its name changes it must pass a test; if it does not, nothing is
// stored and the test says why. Other books than before are refused: they are another system.
func (c *Connections) Change(ctx context.Context, by work.Actor, id string, d Draft) (t Tried, err error) {
	p, err := c.prepare(ctx, by, id, d)
	if err != nil {
		return t, err
	}
	change := ConnectionChange{Mark: ConnectionMark(p.was), By: by, Name: p.is.Name, Address: p.is.Address, Settings: p.is.Settings,
		Capabilities: p.was.Capabilities, Steps: p.was.Steps, Records: p.records}
	before, after := changedSettings(p.was, p.is)
	if madeFrom(p.was) != madeFrom(p.is) || len(p.records) > 0 {
		if t, err = c.try(ctx, p.adapter, p.is, p.secrets); err != nil || t.Problem != TryWorks {
			return t, err
		}
		change.Capabilities, change.Steps, change.Identity = t.Capabilities, t.Steps, t.Identity
	}
	if len(p.records) > 0 {
		sealed, err := c.seal(p.secrets, systemOwner(id))
		if err != nil {
			return t, err
		}
		change.Sealed = &sealed
	}
	if len(before) > 0 {
		change.Records = append([]SettingText{{What: "connection", Before: asText(before), After: asText(after)}}, change.Records...)
	}
	if len(change.Records) == 0 {
		return t, nil
	}
	return t, c.Store.ChangeConnection(ctx, id, change)
}

func asText(m map[string]string) string {
	text, err := json.Marshal(m)
	if err != nil {
		return ""
	}
	return string(text)
}

// Remove removes a system that has no items; else the error wraps ErrSystemUsed and says what there is.
func (c *Connections) Remove(ctx context.Context, by work.Actor, id string) error {
	if !MayConnect(by) {
		return ErrNotAdmin
	}
	if _, err := c.system(ctx, id); err != nil {
		return err
	}
	return c.Store.RemoveSystem(ctx, id, by)
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
