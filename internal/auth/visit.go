package auth

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"onefold/internal/work"
)

// Step is how far a person has come in signing in.
type Step string

const (
	SignedOut     Step = ""         // nobody, or a session that is over
	NeedsCode     Step = "code"     // the password fits; the code of the second step is missing
	NeedsEnrol    Step = "enrol"    // a second step is required and must be set up
	NeedsPassword Step = "password" // a new password must be chosen
	Ready         Step = "ready"    // signed in
)

// Visit is who makes a request from a browser.
type Visit struct {
	Step    Step
	Actor   work.Actor // has its roles only when Step is Ready; else it is zero
	User    User       // whose session it is, also when it is over
	Session Session    // zero if the browser has none that we know
}

// Ready reports whether somebody is signed in with nothing missing.
func (v Visit) Ready() bool { return v.Step == Ready }

// Expired reports whether the browser carries a session that is over: what was typed in it can be kept, see SaveForm.
func (v Visit) Expired() bool { return v.Step == SignedOut && v.Session.ID != 0 }

const (
	touchEvery = time.Minute
	grace      = 10 * time.Second
	freshFor   = 15 * time.Minute
)

// Visit returns who makes the request, with roles fresh from the database. It keeps the session alive and may send a new
// cookie, so it must be called before the answer begins.
func (a *Auth) Visit(w http.ResponseWriter, r *http.Request) (Visit, error) {
	v, err := a.load(r)
	if err != nil || v.Step == SignedOut {
		return v, err
	}
	s, err := a.cookies.Get(r, a.cookies.name)
	if err != nil {
		return v, err
	}
	if s.Values[hashValue] != v.Session.IDHash {
		return v, nil // the id before the rotation, in its last seconds
	}
	switch now := a.now(); {
	case v.Session.Rotate:
		if _, err := a.cookies.rotate(w, r, false, true); err != nil {
			return v, fmt.Errorf("rotate the session: %w", err)
		}
	case now.Sub(v.Session.SeenAt) >= touchEvery:
		if err := a.store.TouchSession(r.Context(), v.Session.ID, now, now.Add(a.Idle)); err != nil {
			return v, fmt.Errorf("keep the session: %w", err)
		}
		// Sent again, a cookie is signed with the newest key.
		if err := a.cookies.send(w, s); err != nil {
			return v, err
		}
	}
	return v, nil
}

// Peek returns who makes the request and leaves the session as it is: for requests that a page makes by itself, which
// must not keep it alive.
func (a *Auth) Peek(r *http.Request) (Visit, error) { return a.load(r) }

// Again judges the visit's session as it is now and leaves it as it is: for an answer that goes on long after its request.
// It is the zero Visit if the session is gone, or has another id since a while.
func (a *Auth) Again(ctx context.Context, v Visit) (Visit, error) {
	row, user, err := a.store.SessionByHash(ctx, v.Session.IDHash)
	switch {
	case errors.Is(err, ErrNotFound):
		return Visit{}, nil
	case err != nil:
		return Visit{}, fmt.Errorf("read the session: %w", err)
	case row.IDHash != v.Session.IDHash && !a.now().Before(row.RotatedAt.Add(grace)):
		return Visit{User: user, Session: row}, nil
	}
	return a.visit(ctx, row, user)
}

func (a *Auth) load(r *http.Request) (Visit, error) {
	s, err := a.cookies.Get(r, a.cookies.name)
	if err != nil {
		return Visit{}, err
	}
	row, _ := s.Values[rowValue].(Session)
	user, _ := s.Values[userValue].(User)
	if row.ID == 0 {
		return Visit{}, nil
	}
	if user.ID == 0 { // the session began with this request
		if user, err = a.store.User(r.Context(), row.UserID); err != nil {
			return Visit{}, fmt.Errorf("read the person: %w", err)
		}
		s.Values[userValue] = user
	}
	if s.Values[hashValue] != row.IDHash && !a.now().Before(row.RotatedAt.Add(grace)) {
		return Visit{User: user, Session: row}, nil
	}
	return a.visit(r.Context(), row, user)
}

// visit judges a session of a person.
func (a *Auth) visit(ctx context.Context, s Session, u User) (Visit, error) {
	v := Visit{User: u, Session: s}
	if s.Over(a.now()) || u.Disabled() {
		return v, nil
	}
	switch {
	case !s.Passed:
		v.Step = NeedsCode
		return v, nil
	case u.MustChange && s.Method == ByPassword:
		v.Step = NeedsPassword
		return v, nil
	case s.Method == ByPassword && !u.HasSecondStep():
		set, err := a.settings(ctx)
		if err != nil {
			return v, err
		}
		if set.RequireSecondStep {
			v.Step = NeedsEnrol
			return v, nil
		}
	}
	v.Step, v.Actor = Ready, u.Actor()
	return v, nil
}

// fresh reports whether the person proved who they are a short time ago.
func (a *Auth) fresh(v Visit) bool { return a.now().Sub(v.Session.CreatedAt) < freshFor }

// FormToken is a token for the forms of this session, masked anew each time. It stays valid when the session is over, so
// that what was typed is not lost.
func (v Visit) FormToken() string {
	mask := random(16)
	return base64.RawURLEncoding.EncodeToString(append(mask, v.formMAC(mask)...))
}

// CheckFormToken reports whether the token was made for this session.
func (v Visit) CheckFormToken(token string) bool {
	raw, err := base64.RawURLEncoding.DecodeString(strings.TrimSpace(token))
	return err == nil && len(raw) == 16+sha256.Size && v.Session.CSRFSecret != "" && hmac.Equal(raw[16:], v.formMAC(raw[:16]))
}

func (v Visit) formMAC(mask []byte) []byte {
	h := hmac.New(sha256.New, []byte(v.Session.CSRFSecret))
	h.Write(mask)
	return h.Sum(nil)
}

// settingsCache keeps the settings for some seconds: they are asked for with every request.
type settingsCache struct {
	mu    sync.Mutex
	value SignInSettings
	until time.Time
}

func (a *Auth) settings(ctx context.Context) (SignInSettings, error) {
	a.known.mu.Lock()
	defer a.known.mu.Unlock()
	if a.now().Before(a.known.until) {
		return a.known.value, nil
	}
	set, err := a.store.SignInSettings(ctx, a.CompanyID)
	if err != nil {
		return set, fmt.Errorf("read the sign-in settings: %w", err)
	}
	a.known.value, a.known.until = set, a.now().Add(3*time.Second)
	return set, nil
}

// Settings are what admins decided about signing in.
func (a *Auth) Settings(ctx context.Context) (SignInSettings, error) {
	return a.store.SignInSettings(ctx, a.CompanyID)
}

// SetSettings changes what admins decide about signing in.
func (a *Auth) SetSettings(ctx context.Context, by work.Actor, from Origin, set SignInSettings) error {
	if !by.Can(work.Admin) {
		return ErrForbidden
	}
	was, err := a.Settings(ctx)
	if err != nil || was == set {
		return err
	}
	err = a.store.SetSignInSettings(ctx, a.CompanyID, set, Entry{By: by, From: from, What: DidRequireStep, Object: "sign_in_settings", Before: small(was), After: small(set)})
	a.known.mu.Lock()
	a.known.until = time.Time{}
	a.known.mu.Unlock()
	return err
}
