package ledgertest

import (
	"context"
	"errors"
	"sync"

	"onefold/internal/ledger"
)

// Tokens is a token store in memory. Several Logins may share one, as servers do.
type Tokens struct {
	mu      sync.Mutex
	token   ledger.Token
	refused error // once refused, nothing is tried until Connect
	Kept    []ledger.Token
}

// Connect stores a token, as after a person connected the account.
func (k *Tokens) Connect(t ledger.Token) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.token, k.refused = t, nil
}

// Load implements ledger.TokenStore.
func (k *Tokens) Load(context.Context) (ledger.Token, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.token, k.refused
}

// Renew implements ledger.TokenStore.
func (k *Tokens) Renew(ctx context.Context, spent ledger.Token, renew func(context.Context, ledger.Token) (ledger.Token, error)) (ledger.Token, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.refused != nil {
		return ledger.Token{}, k.refused
	}
	if k.token != spent {
		return k.token, nil
	}
	t, err := renew(ctx, spent)
	if errors.Is(err, ledger.ErrLoginRefused) {
		k.refused = err
	}
	if err != nil {
		return ledger.Token{}, err
	}
	k.token = t
	k.Kept = append(k.Kept, t)
	return t, nil
}
