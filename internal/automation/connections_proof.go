package automation

import (
	"context"
	"errors"

	"onefold/internal/ledger"
	"onefold/internal/work"
)

// Proving is a system as a proof reaches it: beside the connection that the automations use, with the same credentials.
type Proving struct {
	Adapter   ledger.Adapter
	TestBooks bool // an admin declared that the books are only for tests; else a proof makes drafts and issues nothing
	// Connect makes a connection whose answers to writes are lost when lose says so, and returns what blots its secrets out of
	// a text. The caller closes it. It makes no call to the outside.
	Connect func(ctx context.Context, lose func() bool) (sys ledger.System, hide func(string) string, err error)
}

// Proving returns how a proof reaches the system.
func (c *Connections) Proving(s work.System) (Proving, error) {
	a, err := c.adapter(s.Adapter)
	if err != nil {
		return Proving{}, err
	}
	p := Proving{Adapter: a, TestBooks: a.TestBooks != nil && a.TestBooks(s)}
	p.Connect = func(ctx context.Context, lose func() bool) (ledger.System, func(string) string, error) {
		made, err := c.connection(ctx, a, s)
		if err != nil {
			return nil, nil, err
		}
		made.DraftsOnly, made.Lose, made.Now = !p.TestBooks, lose, c.Now
		hide := func(text string) string { return hideSecrets(hideTokens(ctx, text, made.Tokens), made.Secrets) }
		sys, err := a.Connect(made)
		if err != nil {
			return nil, nil, errors.New(hide(err.Error()))
		}
		return sys, hide, nil
	}
	return p, nil
}
