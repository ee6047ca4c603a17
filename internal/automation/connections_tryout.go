package automation

import (
	"context"
	"errors"

	"onefold/internal/ledger"
	"onefold/internal/work"
)

// TriedOut is what a try-out showed. No secret is in it.
type TriedOut = ledger.TriedOut

// ErrNoTryOut: there is nothing to try out in this kind of system.
var ErrNoTryOut = errors.New("there is nothing to try out here")

// TryOut reads with a draft of a system, or of a new one if id is empty: whose books these are, and what a search for the
// reference brings. It shows each request and what was read from its answer. Nothing is sent or stored. Admins only.
// BadFields if the draft cannot be tried.
func (c *Connections) TryOut(ctx context.Context, by work.Actor, id string, d Draft, reference string) (TriedOut, error) {
	p, err := c.prepare(ctx, by, id, d)
	if err != nil {
		return TriedOut{}, err
	}
	if p.adapter.TryOut == nil {
		return TriedOut{}, ErrNoTryOut
	}
	secrets := c.withEnvironment(p.adapter, p.is.ID, p.secrets)
	ctx, cancel := context.WithTimeout(ctx, tryLimit)
	defer cancel()
	out, err := p.adapter.TryOut(ctx, ledger.Connection{System: p.is, Secrets: secrets}, reference)
	var field *ledger.FieldError
	if errors.As(err, &field) {
		return out, BadFields{field.Field: hideSecrets(err.Error(), secrets)}
	}
	return out, err
}
