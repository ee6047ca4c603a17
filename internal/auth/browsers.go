package auth

import (
	"context"
	"net/http"

	"onefold/internal/work"
)

// SessionsOf are a person's open sessions, for themself or an admin; the last used one first.
func (a *Auth) SessionsOf(ctx context.Context, by work.Actor, userID int64) ([]Session, error) {
	if !a.mayTend(by, userID) {
		return nil, ErrForbidden
	}
	return a.store.SessionsOf(ctx, userID, a.now())
}

// RevokeSession ends one session of a person.
func (a *Auth) RevokeSession(ctx context.Context, by work.Actor, from Origin, userID, sessionID int64) error {
	if !a.mayTend(by, userID) {
		return ErrForbidden
	}
	u, err := a.store.User(ctx, userID)
	if err != nil {
		return err
	}
	return a.store.EndSession(ctx, userID, sessionID, a.now(), Entry{By: by, From: from, What: DidRevokeSession, Object: u.Object()})
}

// RevokeSessions ends all sessions of a person but the one to keep (0: none), and returns how many.
func (a *Auth) RevokeSessions(ctx context.Context, by work.Actor, from Origin, userID, keep int64) (int, error) {
	if !a.mayTend(by, userID) {
		return 0, ErrForbidden
	}
	u, err := a.store.User(ctx, userID)
	if err != nil {
		return 0, err
	}
	return a.store.EndSessions(ctx, userID, keep, a.now(), Entry{By: by, From: from, What: DidRevokeSessions, Object: u.Object()})
}

// mayTend reports whether the person is the actor's own self, or the actor an admin.
func (a *Auth) mayTend(by work.Actor, userID int64) bool {
	return by.Can(work.Admin) || by.Same(User{ID: userID}.Actor())
}

// SignOutEverywhere ends all sessions of the person on this browser, this one included.
func (a *Auth) SignOutEverywhere(w http.ResponseWriter, r *http.Request, from Origin) error {
	v, err := a.load(r)
	if err != nil {
		return err
	}
	if v.Step == SignedOut {
		return ErrForbidden
	}
	if _, err := a.RevokeSessions(r.Context(), v.User.Actor(), from, v.User.ID, 0); err != nil {
		return err
	}
	a.cookies.drop(w)
	return nil
}
