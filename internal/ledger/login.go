package ledger

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"onefold/internal/work"
)

// Token is one login at an accounting system.
type Token struct {
	Access  string
	Refresh string    // renews the access; rotating systems accept each only once
	Expires time.Time // of Access; zero: never
}

// ErrLoginRefused is wrapped by a Renew that was definitely refused: a person must connect the account again.
var ErrLoginRefused = errors.New("the login was refused")

// Login holds one account's token and renews it, one caller at a time: with rotating tokens a second renewal beside the
// first would kill the login. It is safe for concurrent use.
type Login struct {
	Renew func(ctx context.Context, refresh string) (Token, error) // one call to the system; it is not repeated here
	Keep  func(ctx context.Context, t Token) error                 // stores a renewed token before it is used; nil: not stored
	Now   func() time.Time                                         // nil: time.Now

	mu      sync.Mutex
	token   Token
	refused error // once refused, nothing is tried until Connect
}

// Connect sets the token, at start or after a person connected the account again.
func (l *Login) Connect(t Token) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.token, l.refused = t, nil
}

// Access returns a live access token. If the renewal is refused the error wraps ErrLoginRefused, for this and all later
// callers; any other error is passing.
func (l *Login) Access(ctx context.Context) (string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now
	if l.Now != nil {
		now = l.Now
	}
	switch {
	case l.refused != nil:
		return "", l.refused
	case l.token.Expires.IsZero() || now().Before(l.token.Expires):
		return l.token.Access, nil
	}
	// A caller that gives up must not break the renewal off: the old token may be spent by then.
	t, err := l.Renew(context.WithoutCancel(ctx), l.token.Refresh)
	if err != nil {
		if errors.Is(err, ErrLoginRefused) {
			l.refused = err
		}
		return "", err
	}
	if l.Keep != nil {
		if err := l.Keep(context.WithoutCancel(ctx), t); err != nil {
			return "", fmt.Errorf("the renewed login could not be kept: %w", err)
		}
	}
	l.token = t
	return t.Access, nil
}

// Refused is the answer of a send that was not made because the login is not to be had: it never left, and the account's
// owner must act.
func (l *Login) Refused(err error) work.Answer {
	return work.Answer{Outcome: work.Deferred, Login: errors.Is(err, ErrLoginRefused),
		Exchange: work.Exchange{HTTPStatus: http.StatusUnauthorized, Error: "the accounting system refused our login: reconnect the account"}}
}
