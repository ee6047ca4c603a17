package auth

import (
	"context"
	"net/mail"
	"strings"

	"onefold/internal/work"
)

// SetEmail changes where a person is told things, by an admin or by the person; empty: nowhere. It returns *BadInput with
// the field "email". The address is no proof of anything and opens no door.
func (a *Auth) SetEmail(ctx context.Context, by work.Actor, from Origin, id int64, email string) (User, error) {
	if !a.mayTend(by, id) {
		return User{}, ErrForbidden
	}
	email, err := cleanEmail(email)
	if err != nil {
		return User{}, err
	}
	return a.change(ctx, id, func(u *User) (Change, error) {
		e := Entry{By: by, From: from, What: DidChangeEmail, Object: u.Object(), Before: u.Email, After: email}
		if u.Email == email {
			return Change{}, errNothing
		}
		u.Email = email
		return Change{Entry: e}, nil
	})
}

// cleanEmail returns one plain address without a name, or nothing if nothing was given.
func cleanEmail(text string) (string, error) {
	text = strings.TrimSpace(text)
	bad := strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r >= 0x7f || strings.ContainsRune(`"<>(),;:\`, r) })
	if text == "" {
		return "", nil
	}
	if at, err := mail.ParseAddress(text); bad || len(text) > 254 || err != nil || at.Address != text || !strings.Contains(text[strings.LastIndexByte(text, '@'):], ".") {
		return "", &BadInput{"email", "that is not an e-mail address: write one, such as ada@example.com"}
	}
	return text, nil
}
