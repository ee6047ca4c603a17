package auth

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"onefold/internal/work"
)

var (
	// ErrWrong says that login and password do not fit. It does not say which of them.
	ErrWrong = errors.New("login or password is wrong")
	// ErrNoPasswords says that people sign in by single sign-on only.
	ErrNoPasswords = errors.New("sign in by single sign-on")
)

// SignIn checks login and password and starts a session on this browser. The visit's step says what is still missing. It
// returns ErrWrong or a *Throttled if they do not fit.
func (a *Auth) SignIn(w http.ResponseWriter, r *http.Request, login, password string, from Origin) (Visit, error) {
	u, err := a.checkLogin(r.Context(), login, password, from)
	if err != nil {
		return Visit{}, err
	}
	return a.begin(w, r, u, ByPassword, from)
}

// checkLogin returns the person if login and password fit. All refusals take the same time: the password is compared
// with a hash in any case.
func (a *Auth) checkLogin(ctx context.Context, login, password string, from Origin) (User, error) {
	if a.NoPasswords {
		return User{}, ErrNoPasswords
	}
	_, folded := cleanLogin(login)
	u, err := a.store.UserByLogin(ctx, a.CompanyID, folded)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return User{}, fmt.Errorf("sign in: %w", err)
	}
	known, err := a.store.KnownAddress(ctx, u.ID, from.Address)
	if err != nil {
		return User{}, fmt.Errorf("sign in: %w", err)
	}
	bounds := passwordBounds(from.Address, folded, known)
	if err := a.throttle.enter(a.now(), bounds); err != nil {
		return User{}, err
	}
	hash, may := u.PasswordHash, u.ID != 0 && !u.Disabled() && u.PasswordHash != ""
	if !may {
		hash = a.dummy
	}
	fits, err := a.fits(ctx, password, hash)
	if err != nil {
		return User{}, fmt.Errorf("comparing the password: %w", err)
	}
	if !fits || !may {
		// What was typed as an unknown login is not kept: it may be a password in the wrong field.
		e := Entry{From: from, What: DidSignInFailed, Note: "unknown login"}
		if u.ID != 0 {
			e.Object, e.Note = u.Object(), "wrong password"
		}
		if u.Disabled() {
			e.Note = "the person is disabled"
		}
		if err := a.Audit(ctx, e); err != nil {
			return User{}, fmt.Errorf("sign in: %w", err)
		}
		return User{}, ErrWrong
	}
	a.throttle.passed(bounds)
	return u, nil
}

// begin starts a session of the person on this browser, in place of the one that may be there.
func (a *Auth) begin(w http.ResponseWriter, r *http.Request, u User, how Method, from Origin) (Visit, error) {
	ctx, now := r.Context(), a.now()
	old, err := a.load(r)
	if err != nil {
		return Visit{}, err
	}
	if old.Session.ID != 0 && old.Session.EndedAt.IsZero() {
		e := Entry{By: old.User.Actor(), From: from, What: DidSignOut, Object: old.User.Object(), Note: "another sign-in on the same browser"}
		if err := a.store.EndSession(ctx, old.User.ID, old.Session.ID, now, e); err != nil && !errors.Is(err, ErrNotFound) {
			return Visit{}, fmt.Errorf("sign in: %w", err)
		}
	}
	s := Session{UserID: u.ID, Method: how, Passed: how != ByPassword || !u.HasSecondStep(), CreatedAt: now, SeenAt: now,
		IdleUntil: now.Add(a.Idle), ExpiresAt: now.Add(a.Absolute), Address: from.Address, UserAgent: shortAgent(from.UserAgent)}
	if old.User.ID == u.ID { // forms that the same person left open in other tabs stay good
		s.CSRFSecret = old.Session.CSRFSecret
	}
	s, err = a.cookies.begin(w, r, s)
	if err != nil {
		return Visit{}, fmt.Errorf("sign in: %w", err)
	}
	e := Entry{By: u.Actor(), From: from, What: DidSignIn, Object: u.Object(), Note: string(how)}
	if !s.Passed {
		e.What = DidSignInStart
		err = a.Audit(ctx, e)
	} else {
		err = a.store.SignedIn(ctx, u.ID, now, e)
	}
	if err != nil {
		return Visit{}, fmt.Errorf("sign in: %w", err)
	}
	return a.visit(ctx, s, u)
}

// SignOut ends the session on this browser.
func (a *Auth) SignOut(w http.ResponseWriter, r *http.Request, from Origin) error {
	v, err := a.load(r)
	if err != nil {
		return err
	}
	a.cookies.drop(w)
	if v.Session.ID == 0 {
		return nil
	}
	e := Entry{By: v.User.Actor(), From: from, What: DidSignOut, Object: v.User.Object()}
	if err := a.store.EndSession(r.Context(), v.User.ID, v.Session.ID, a.now(), e); err != nil && !errors.Is(err, ErrNotFound) {
		return fmt.Errorf("sign out: %w", err)
	}
	return nil
}

// system is the actor of what happens by itself.
var system = work.Actor{Kind: work.Automation, ID: "auth", Name: "Onefold"}
