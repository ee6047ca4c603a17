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

// TokenStore keeps the login of one system for all servers. It is safe for concurrent use.
type TokenStore interface {
	// Load returns the token as it is stored; the zero Token if nobody has connected the account yet.
	Load(ctx context.Context) (Token, error)
	// Renew replaces spent: with rotating tokens a second renewal beside the first would kill the login, so one server
	// renews while the others wait. If the stored token is no longer spent, somebody has renewed it: it is returned and
	// renew is not called. What renew returns is stored before it is returned here.
	Renew(ctx context.Context, spent Token, renew func(context.Context, Token) (Token, error)) (Token, error)
}

// expiryMargin: a token that ends so soon may not live until the request arrives.
const expiryMargin = 30 * time.Second

// Login gives out live access tokens of one account. It is safe for concurrent use.
type Login struct {
	Tokens TokenStore
	Renew  func(ctx context.Context, was Token) (Token, error) // one call to the system; it is not repeated here
	Now    func() time.Time                                    // nil: time.Now

	mu    sync.Mutex
	token Token
	spent string // an access token that the system has refused
}

// Access returns a live access token. The error wraps ErrLoginRefused if a person must connect the account (again); any
// other error is passing.
func (l *Login) Access(ctx context.Context) (string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.live(l.token) {
		return l.token.Access, nil
	}
	if l.Tokens == nil {
		return "", fmt.Errorf("%w: nobody has connected the account yet", ErrLoginRefused)
	}
	stored, err := l.Tokens.Load(ctx)
	if err != nil {
		return "", err
	}
	if !l.live(stored) {
		if stored.Refresh == "" && stored.Access == "" {
			return "", fmt.Errorf("%w: nobody has connected the account yet", ErrLoginRefused)
		}
		// A caller that gives up must not break the renewal off: the old token may be spent by then.
		if stored, err = l.Tokens.Renew(context.WithoutCancel(ctx), stored, l.Renew); err != nil {
			return "", err
		}
	}
	l.token = stored
	return stored.Access, nil
}

// Forget drops an access token that the system has refused, so that the next call renews it.
func (l *Login) Forget(access string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.spent = access
}

func (l *Login) live(t Token) bool {
	now := time.Now
	if l.Now != nil {
		now = l.Now
	}
	return t.Access != "" && t.Access != l.spent && (t.Expires.IsZero() || now().Add(expiryMargin).Before(t.Expires))
}

// Refused is the answer of a send that was not made because the login is not to be had: it never left. If the login was
// definitely refused the account's owner must act; anything else passes, and counts as not having reached the system.
func (*Login) Refused(err error) work.Answer {
	if !errors.Is(err, ErrLoginRefused) {
		return work.Answer{Outcome: work.Deferred, Unreached: true,
			Exchange: work.Exchange{Error: "our login could not be renewed at the moment; it is tried again"}}
	}
	return work.Answer{Outcome: work.Deferred, Login: true,
		Exchange: work.Exchange{HTTPStatus: http.StatusUnauthorized, Error: "the accounting system refused our login: reconnect the account"}}
}
