package auth

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/alexedwards/argon2id"

	"onefold/internal/work"
)

// ErrWrong says that login and password do not fit. It does not say which of them.
var ErrWrong = errors.New("login or password is wrong")

// Throttled says that there were too many failed sign-ins.
type Throttled struct{ Wait time.Duration }

func (t *Throttled) Error() string { return fmt.Sprintf("too many failed sign-ins, wait %s", t.Wait) }

// The parameters that OWASP recommends where memory is dear.
var params = &argon2id.Params{Memory: 19 * 1024, Iterations: 2, Parallelism: 1, SaltLength: 16, KeyLength: 32}

func hashPassword(password string) (string, error) { return argon2id.CreateHash(password, params) }

const maxPassword = 1024 // longer ones are not hashed: they only cost time

// SignIn checks login and password; from is the address that the request came from. It returns the person, ErrWrong or
// a *Throttled.
func (a *Auth) SignIn(login, password, from string) (work.Actor, error) {
	login = fold(login)
	if wait := a.throttle.wait(a.now(), from, login); wait > 0 {
		return work.Actor{}, &Throttled{wait}
	}
	acc, known := a.accounts[login]
	hash := acc.hash
	if !known {
		hash = a.dummy
	}
	fits := false
	if len(password) <= maxPassword {
		a.hashing <- struct{}{}
		same, err := argon2id.ComparePasswordAndHash(password, hash)
		<-a.hashing
		if err != nil {
			return work.Actor{}, fmt.Errorf("comparing the password: %w", err)
		}
		fits = same && known
	}
	if !fits {
		a.throttle.failed(a.now(), from, login)
		return work.Actor{}, ErrWrong
	}
	a.throttle.passed(from, login)
	return acc.actor, nil
}

// Begin starts the person's session on this browser.
func (a *Auth) Begin(w http.ResponseWriter, r *http.Request, by work.Actor) error {
	s, _ := a.sessions.New(r, a.cookie) // an unreadable old cookie is replaced
	s.Values["login"], s.Values["until"] = by.ID, a.now().Add(a.lasts).Unix()
	return s.Save(r, w)
}

// End ends the session on this browser.
func (a *Auth) End(w http.ResponseWriter, r *http.Request) error {
	s, _ := a.sessions.New(r, a.cookie)
	s.Values = map[any]any{}
	s.Options.MaxAge = -1
	return s.Save(r, w)
}

// Person returns who is signed in on the browser that made the request.
func (a *Auth) Person(r *http.Request) (work.Actor, bool) {
	s, err := a.sessions.Get(r, a.cookie)
	if err != nil || s.IsNew {
		return work.Actor{}, false
	}
	login, _ := s.Values["login"].(string)
	until, _ := s.Values["until"].(int64)
	acc, known := a.accounts[login]
	if !known || a.now().Unix() >= until {
		return work.Actor{}, false
	}
	return acc.actor, true
}

// Bearer returns the API token's actor if the request carries the token.
func (a *Auth) Bearer(r *http.Request) (work.Actor, bool) {
	scheme, given, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if a.token == nil || !strings.EqualFold(scheme, "Bearer") {
		return work.Actor{}, false
	}
	sum := sha256.Sum256([]byte(strings.TrimSpace(given)))
	if subtle.ConstantTimeCompare(sum[:], a.token[:]) != 1 {
		return work.Actor{}, false
	}
	return work.Actor{Kind: work.Token, ID: "api", Name: "API", Roles: []work.Role{work.Operator}}, true
}
