package automation

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"

	"onefold/internal/ledger"
	"onefold/internal/work"
)

// prepared is a system with a draft applied, ready to be tried.
type prepared struct {
	adapter ledger.Adapter
	was, is work.System
	secrets map[string]string
	records []SettingText

	tokens ledger.TokenStore // the login of its account; nil: there is none that can be used
	drops  bool              // the stored login belongs to the connection as it was
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
	p.is.Typed = p.adapter.Typed
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
		return p, c.prepareLogin(ctx, &p, stored)
	}
	var field *ledger.FieldError // the adapter may have its own: all are said at once
	if _, err := p.adapter.Connect(ledger.Connection{System: p.is, Secrets: d.Secrets}); errors.As(err, &field) && bad[field.Field] == "" {
		bad[field.Field] = hideSecrets(err.Error(), d.Secrets)
	}
	return p, bad
}

// prepareLogin finds out whether the stored login of an account still belongs to what was prepared.
func (c *Connections) prepareLogin(ctx context.Context, p *prepared, stored map[string]string) error {
	if p.was.ID == "" || p.adapter.OAuth == nil {
		return nil
	}
	l, err := c.Store.SystemLogin(ctx, p.was.ID)
	if err != nil || l.Sealed == "" {
		return err
	}
	was := ledger.Connection{System: p.was, Secrets: c.withEnvironment(p.adapter, p.was.ID, stored)}
	is := ledger.Connection{System: p.is, Secrets: c.withEnvironment(p.adapter, p.is.ID, p.secrets)}
	if p.drops = !keepsLogin(p.adapter, was, is); p.drops {
		return nil
	}
	// A login that was refused, or that no key opens, is as good as none: the account must be connected again.
	if tokens, err := c.tokens(ctx, p.was.ID); err == nil {
		p.tokens = tokens
	}
	return nil
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
		taken := id == "new" || id == "login" // addresses of pages
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
	return c.try(ctx, p.adapter, p.is, p.secrets, p.tokens)
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
	var tokens ledger.TokenStore
	if logsIn(a, sys) {
		if tokens, err = c.tokens(ctx, id); err != nil && !errors.Is(err, errNotConnected) {
			return Tried{Problem: TryBooks, Text: err.Error()}, nil
		}
	}
	t, err := c.try(ctx, a, sys, secrets, tokens)
	var bad BadFields
	if errors.As(err, &bad) {
		return Tried{Problem: TrySettings, Text: bad.Error()}, nil
	}
	return t, err
}

// Add connects a new accounting system after a test that it passes; if it does not, nothing is stored and the test says
// why. It returns the new system's id. If an account must be connected first, it stands still until then, and the test
// says TryAccount.
func (c *Connections) Add(ctx context.Context, by work.Actor, d Draft) (id string, t Tried, err error) {
	p, err := c.prepare(ctx, by, "", d)
	if err != nil {
		return "", t, err
	}
	if t, err = c.try(ctx, p.adapter, p.is, p.secrets, p.tokens); err != nil || t.Problem != TryWorks && t.Problem != TryAccount {
		return "", t, err
	}
	if t.Problem == TryAccount {
		p.is.LoginProblem = notConnected
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
		if t, err = c.try(ctx, p.adapter, p.is, p.secrets, p.tokens); err != nil || t.Problem != TryWorks && t.Problem != TryAccount {
			return t, err
		}
		if change.DropLogin = p.drops; t.Problem == TryAccount {
			change.Problem = standsStill(p)
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

// standsStill is why a changed system stands still until its account is connected.
func standsStill(p prepared) string {
	switch {
	case p.drops:
		return moved
	case p.was.LoginProblem != "":
		return p.was.LoginProblem
	}
	return notConnected
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
