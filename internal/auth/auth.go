// Package auth says who is asking: people who signed in on the pages, and API tokens; and it keeps the trail of who did
// what. It declares the storage that it needs as [Store].
package auth

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/alexedwards/argon2id"
)

// Config says who may come in and how. Only the store is required.
type Config struct {
	Store     Store
	CompanyID int64 // 0: 1

	Keys     Keys          // of cookies and sealed secrets; none: random ones
	Secure   bool          // the pages are served over TLS, also when a proxy ends it
	Idle     time.Duration // a session ends when it is not used for so long; 0: 2 hours
	Absolute time.Duration // and at the latest after so long; 0: 12 hours

	NoPasswords      bool             // people sign in by single sign-on only
	Refused          []string         // words that do not make a password, besides our own list: the firm's name
	RefusedPasswords RefusedPasswords // and whole passwords, for example breached ones; nil: none
	SSO              *SSOConfig       // nil: no single sign-on
	Issuer           string           // the name that authenticator apps show; empty: Onefold

	Token          string // a token of the API that is known at start, with all scopes and no limit; empty: none
	TokenPerMinute int    // requests of one stored token; 0: 1200

	Log *slog.Logger     // nil: silent
	Now func() time.Time // nil: time.Now
}

// Auth knows people, sessions and tokens. It is safe for concurrent use.
type Auth struct {
	Config
	store    Store
	cookies  *cookieStore
	sso      *sso
	builtin  *[sha256.Size]byte
	limits   *limits
	throttle *throttle
	slots    chan struct{} // bounds the memory that hashing takes
	compare  func(password, hash string) (bool, error)
	dummy    string // is compared when the login is not known, so that the answer takes as long
	known    settingsCache
}

// New returns the doors to the product.
func New(c Config) (*Auth, error) {
	if c.Store == nil {
		return nil, errors.New("accounts need a store")
	}
	if len(c.Keys) == 0 {
		c.Keys = RandomKeys()
	}
	c.CompanyID = cmp.Or(c.CompanyID, 1)
	c.Idle = cmp.Or(c.Idle, 2*time.Hour)
	c.Absolute = cmp.Or(c.Absolute, 12*time.Hour)
	c.Issuer = cmp.Or(c.Issuer, "Onefold")
	c.TokenPerMinute = cmp.Or(c.TokenPerMinute, 1200)
	if c.Idle < time.Minute || c.Absolute < c.Idle {
		return nil, fmt.Errorf("sessions cannot end after %s without use and after %s at the latest", c.Idle, c.Absolute)
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	a := &Auth{Config: c, store: c.Store, throttle: newThrottle(), slots: make(chan struct{}, 2), compare: argon2id.ComparePasswordAndHash, limits: newLimits()}
	if c.Token != "" {
		if len(c.Token) < 16 {
			return nil, fmt.Errorf("the API token has %d characters, at least 16 are needed", len(c.Token))
		}
		sum := sha256.Sum256([]byte(c.Token))
		a.builtin = &sum
	}
	a.cookies = newCookieStore(a)
	if c.SSO != nil {
		var err error
		if a.sso, err = newSSO(a, *c.SSO); err != nil {
			return nil, err
		}
	} else if c.NoPasswords {
		return nil, errors.New("without passwords and without single sign-on nobody can sign in")
	}
	var err error
	if a.dummy, err = argon2id.CreateHash(Generate(), params); err != nil {
		return nil, fmt.Errorf("hashing: %w", err)
	}
	return a, nil
}

// Secure reports whether the pages are served over TLS.
func (a *Auth) Secure() bool { return a.Config.Secure }

// CSRFKey is the key that protects forms of people who have not signed in. It changes when the oldest key is dropped.
func (a *Auth) CSRFKey() []byte { return a.Keys[len(a.Keys)-1].Derive("csrf") }

// FormsFor is how long a form on an open page must stay acceptable: longer than a session, since what was typed
// overnight is not lost.
func (a *Auth) FormsFor() time.Duration { return a.Absolute + keepEnded }

// Passwords reports whether people may sign in by password.
func (a *Auth) Passwords() bool { return !a.NoPasswords }

// SingleSignOn reports whether people may sign in at their identity provider.
func (a *Auth) SingleSignOn() bool { return a.sso != nil }

// Clock is the time by which sessions, links and tokens end.
func (a *Auth) Clock() time.Time { return a.now() }

func (a *Auth) now() time.Time { return a.Config.Now().UTC().Truncate(time.Microsecond) }

// Run clears away what is long over, at once and then every hour, until ctx ends.
func (a *Auth) Run(ctx context.Context) error {
	tick := time.NewTicker(time.Hour)
	defer tick.Stop()
	for {
		if err := a.RunOnce(ctx); err != nil && ctx.Err() == nil {
			a.Log.Warn("old sessions could not be cleared away", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// RunOnce clears away what is long over, and seals with the newest key what an older one sealed.
func (a *Auth) RunOnce(ctx context.Context) error {
	return errors.Join(a.store.SweepSignIns(ctx, a.now().Add(-keepEnded)), a.reseal(ctx))
}

// keepEnded is how long an ended session still tells whose it was.
const keepEnded = 30 * 24 * time.Hour
