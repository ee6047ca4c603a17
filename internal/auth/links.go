package auth

import (
	"context"
	"errors"
	"time"

	"onefold/internal/work"
)

// How long one-time links last.
const (
	InvitationFor = 7 * 24 * time.Hour
	ResetFor      = 24 * time.Hour
)

// Invite adds a person without a password and returns the token of a one-time link by which they choose one.
func (a *Auth) Invite(ctx context.Context, by work.Actor, from Origin, n NewUser) (u User, token string, err error) {
	if !by.Can(work.Admin) {
		return u, "", ErrForbidden
	}
	if u, err = a.newUser(n); err != nil {
		return u, "", err
	}
	link, token := a.newLink(0, Invitation, InvitationFor, by)
	u, err = a.store.AddUser(ctx, u, false, Change{NewLink: &link, Entry: Entry{By: by, From: from, What: DidInvite, After: described(u)}})
	return u, token, err
}

// MakeLink returns the token of a new one-time link by which the person chooses a password; earlier ones count no more.
// It is an invitation while the person has no password, else a reset.
func (a *Auth) MakeLink(ctx context.Context, by work.Actor, from Origin, id int64) (token string, link Link, err error) {
	_, err = a.administer(ctx, by, id, func(u *User) (Change, error) {
		if u.Disabled() {
			return Change{}, ErrForbidden
		}
		kind, lasts := Reset, ResetFor
		if u.PasswordHash == "" {
			kind, lasts = Invitation, InvitationFor
		}
		link, token = a.newLink(id, kind, lasts, by)
		return Change{NewLink: &link, Entry: Entry{By: by, From: from, What: DidMakeResetLink, Object: u.Object(), Note: string(kind)}}, nil
	})
	return token, link, err
}

func (a *Auth) newLink(id int64, kind LinkKind, lasts time.Duration, by work.Actor) (Link, string) {
	token := newID()
	now := a.now()
	return Link{TokenHash: digest("link", token), UserID: id, Kind: kind, CreatedBy: by.Label(), CreatedAt: now, ExpiresAt: now.Add(lasts)}, token
}

// OpenLink returns the link and whose it is, for the page on which the password is chosen; else ErrLinkGone.
func (a *Auth) OpenLink(ctx context.Context, token string) (Link, User, error) {
	link, err := a.store.Link(ctx, digest("link", token))
	if errors.Is(err, ErrNotFound) || err == nil && (!link.UsedAt.IsZero() || !a.now().Before(link.ExpiresAt)) {
		return Link{}, User{}, ErrLinkGone
	}
	if err != nil {
		return Link{}, User{}, err
	}
	u, err := a.store.User(ctx, link.UserID)
	if err == nil && u.Disabled() {
		err = ErrLinkGone
	}
	return link, u, err
}

// UseLink sets the password of the link's person, once, and ends all their sessions. The person then signs in with it; a
// second step stays required.
func (a *Auth) UseLink(ctx context.Context, token, password string, from Origin) (User, error) {
	link, u, err := a.OpenLink(ctx, token)
	if err != nil {
		return User{}, err
	}
	if err := a.choose(ctx, &u, password); err != nil {
		return User{}, err
	}
	return a.store.ChangeUser(ctx, u.ID, func(is *User) (Change, error) {
		if is.Disabled() {
			return Change{}, ErrLinkGone
		}
		is.PasswordHash, is.PasswordChangedAt, is.MustChange = u.PasswordHash, u.PasswordChangedAt, false
		return Change{UseLink: link.TokenHash, EndSessions: true,
			Entry: Entry{By: is.Actor(), From: from, What: DidAcceptLink, Object: is.Object(), Note: string(link.Kind)}}, nil
	})
}
