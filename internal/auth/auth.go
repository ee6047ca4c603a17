// Package auth says who is asking: people who signed in on the pages, and API tokens. In this first cut the accounts are
// given at start; nothing is stored.
package auth

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/gorilla/sessions"

	"onefold/internal/work"
)

// Account is one person who may sign in.
type Account struct {
	Login    string // what is typed; compared without regard to case
	Name     string // as colleagues see it
	Password string
	Roles    []work.Role
}

// Config says who may come in. Only the accounts are required.
type Config struct {
	Accounts   []Account
	Token      string           // of the API; empty: no API access
	SessionKey []byte           // 32 bytes or more; empty: a random one, so that a restart signs everybody out
	Secure     bool             // the pages are served over TLS, also when a proxy ends it
	SessionFor time.Duration    // how long a session lasts; 0: 12 hours
	Now        func() time.Time // nil: time.Now
}

// Auth knows the accounts and the token. It is safe for concurrent use.
type Auth struct {
	accounts map[string]account // by folded login
	token    *[sha256.Size]byte
	sessions *sessions.CookieStore
	cookie   string
	csrfKey  []byte
	secure   bool
	lasts    time.Duration
	now      func() time.Time
	throttle *throttle
	hashing  chan struct{} // bounds the memory that sign-ins may take at the same time
	dummy    string        // is compared when the login is not known, so that the answer takes as long
}

type account struct {
	actor work.Actor
	hash  string
}

// New returns the accounts, ready to sign in. Passwords are kept only as argon2id hashes.
func New(c Config) (*Auth, error) {
	if len(c.Accounts) == 0 {
		return nil, errors.New("no account: at least one person must be able to sign in")
	}
	if len(c.SessionKey) == 0 {
		c.SessionKey = random(32)
	}
	if len(c.SessionKey) < 32 {
		return nil, fmt.Errorf("the session key has %d bytes, at least 32 are needed", len(c.SessionKey))
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.SessionFor == 0 {
		c.SessionFor = 12 * time.Hour
	}
	a := &Auth{accounts: map[string]account{}, secure: c.Secure, lasts: c.SessionFor, now: c.Now, cookie: "onefold",
		throttle: newThrottle(), hashing: make(chan struct{}, 2)}
	if c.Secure {
		a.cookie = "__Host-onefold"
	}
	for _, p := range c.Accounts {
		login := fold(p.Login)
		if login == "" || len(p.Password) < MinPassword {
			return nil, fmt.Errorf("the account %q needs a login and a password of at least %d characters", p.Login, MinPassword)
		}
		if _, taken := a.accounts[login]; taken {
			return nil, fmt.Errorf("the login %q is given twice", p.Login)
		}
		hash, err := hashPassword(p.Password)
		if err != nil {
			return nil, fmt.Errorf("hashing the password of %q: %w", p.Login, err)
		}
		name := p.Name
		if name == "" {
			name = p.Login
		}
		a.accounts[login] = account{work.Actor{Kind: work.Person, ID: login, Name: name, Roles: p.Roles}, hash}
		a.dummy = hash
	}
	if c.Token != "" {
		if len(c.Token) < MinPassword {
			return nil, fmt.Errorf("the API token has %d characters, at least %d are needed", len(c.Token), MinPassword)
		}
		sum := sha256.Sum256([]byte(c.Token))
		a.token = &sum
	}
	cookieKey := derive(c.SessionKey, "session")
	a.csrfKey = derive(c.SessionKey, "csrf")
	a.sessions = sessions.NewCookieStore(cookieKey)
	a.sessions.Options = &sessions.Options{Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: c.Secure,
		MaxAge: int(c.SessionFor.Seconds())}
	a.sessions.MaxAge(int(c.SessionFor.Seconds()))
	return a, nil
}

// MinPassword is the shortest password or token, in bytes.
const MinPassword = 10

// Secure reports whether the pages are served over TLS.
func (a *Auth) Secure() bool { return a.secure }

// CSRFKey is the key that protects forms.
func (a *Auth) CSRFKey() []byte { return a.csrfKey }

// SessionFor is how long a session lasts.
func (a *Auth) SessionFor() time.Duration { return a.lasts }

// Generate returns a random secret of 120 bits that people can type: five groups of letters and digits.
func Generate() string {
	s := strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(random(15)))
	return s[:5] + "-" + s[5:10] + "-" + s[10:15] + "-" + s[15:20] + "-" + s[20:]
}

func random(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails: the runtime ends the process instead
	return b
}

func derive(key []byte, purpose string) []byte {
	sum := sha256.Sum256(append([]byte("onefold "+purpose+"\x00"), key...))
	return sum[:]
}

func fold(login string) string { return strings.ToLower(strings.TrimSpace(login)) }
