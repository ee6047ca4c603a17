package auth

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"onefold/internal/work"
)

// NewUser is a person to be added.
type NewUser struct {
	Login string
	Name  string
	Roles []work.Role
}

// BadInput says in one sentence what cannot be accepted. Field names the input: "login", "name" or "roles".
type BadInput struct{ Field, Sentence string }

func (b *BadInput) Error() string { return b.Sentence }

func (a *Auth) newUser(n NewUser) (User, error) {
	login, _ := cleanLogin(n.Login)
	if login == "" {
		return User{}, &BadInput{"login", "a login is needed: a short name or an e-mail address, at most 200 characters, without a comma"}
	}
	name, err := cleanName(n.Name, login)
	if err != nil {
		return User{}, err
	}
	roles, ok := CleanRoles(n.Roles)
	if !ok {
		return User{}, &BadInput{"roles", "give at least one role of viewer, operator, ops and admin"}
	}
	u := User{CompanyID: a.CompanyID, Login: login, Name: name, Roles: roles, CreatedAt: a.now()}
	if email, err := cleanEmail(login); err == nil {
		u.Email = email
	}
	return u, nil
}

func cleanName(name, login string) (string, error) {
	if name == "" {
		name = login
	}
	if len(name) > 200 || slices.ContainsFunc([]rune(name), func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return "", &BadInput{"name", "the name must be one line of at most 200 characters"}
	}
	return name, nil
}

// AnyUser reports whether the set-up was done.
func (a *Auth) AnyUser(ctx context.Context) (bool, error) { return a.store.AnyUser(ctx) }

// SetUpCode is what the set-up page asks for. It is shown on the terminal only, and is the same on all servers that have
// the same keys.
func (a *Auth) SetUpCode() string {
	sum := a.Keys[0].Derive("set-up")
	return grouped(sum[:15])
}

// CheckSetUpCode reports whether it is the code of the set-up page.
func (a *Auth) CheckSetUpCode(code string) bool {
	return digest("set-up", cleanCode(code)) == digest("set-up", cleanCode(a.SetUpCode()))
}

// SetUp adds the first person, an admin with all roles, and works only while there is none: then it returns ErrSetUpDone.
// Of two at the same time one wins.
func (a *Auth) SetUp(ctx context.Context, login, name, password string, from Origin) (User, error) {
	u, err := a.newUser(NewUser{login, name, AllRoles})
	if err != nil {
		return u, err
	}
	if err := a.choose(ctx, &u, password); err != nil {
		return u, err
	}
	return a.store.AddUser(ctx, u, true, Change{Entry: Entry{By: system, From: from, What: DidSetUp, After: described(u)}})
}

// AddUser adds a person with a password that an admin chose; the person must change it with mustChange.
func (a *Auth) AddUser(ctx context.Context, by work.Actor, from Origin, n NewUser, password string, mustChange bool) (User, error) {
	if !by.Can(work.Admin) {
		return User{}, ErrForbidden
	}
	u, err := a.newUser(n)
	if err != nil {
		return u, err
	}
	if err := a.choose(ctx, &u, password); err != nil {
		return u, err
	}
	u.MustChange = mustChange
	return a.store.AddUser(ctx, u, false, Change{Entry: Entry{By: by, From: from, What: DidAddUser, After: described(u)}})
}

// choose sets the password, if it is good enough.
func (a *Auth) choose(ctx context.Context, u *User, password string) error {
	if err := CheckPassword(password, *u, a.Refused); err != nil {
		return err
	}
	if a.RefusedPasswords.Has(password) {
		return &WeakPassword{PasswordCommon}
	}
	hash, err := a.hash(ctx, password)
	if err != nil {
		return fmt.Errorf("hashing the password: %w", err)
	}
	u.PasswordHash, u.PasswordChangedAt, u.MustChange = hash, a.now(), false
	return nil
}

// described is a person in an entry of the trail.
func described(u User) string {
	return small(map[string]any{"login": u.Login, "name": u.Name, "roles": u.Roles})
}

// Users are all persons, by login.
func (a *Auth) Users(ctx context.Context, by work.Actor) ([]User, error) {
	if !by.Can(work.Admin) {
		return nil, ErrForbidden
	}
	return a.store.Users(ctx, a.CompanyID)
}

// User returns a person to an admin or to themself.
func (a *Auth) User(ctx context.Context, by work.Actor, id int64) (User, error) {
	u, err := a.store.User(ctx, id)
	if err != nil {
		return u, err
	}
	if !by.Can(work.Admin) && !by.Same(u.Actor()) {
		return User{}, ErrForbidden
	}
	return u, nil
}

// UserByLogin returns a person to an admin.
func (a *Auth) UserByLogin(ctx context.Context, by work.Actor, login string) (User, error) {
	if !by.Can(work.Admin) {
		return User{}, ErrForbidden
	}
	_, folded := cleanLogin(login)
	return a.store.UserByLogin(ctx, a.CompanyID, folded)
}

// SetRoles changes what a person may do. Their sessions stay, under new ids.
func (a *Auth) SetRoles(ctx context.Context, by work.Actor, from Origin, id int64, roles []work.Role) (User, error) {
	clean, ok := CleanRoles(roles)
	if !ok {
		return User{}, &BadInput{"roles", "give at least one role of viewer, operator, ops and admin"}
	}
	return a.administer(ctx, by, id, func(u *User) (Change, error) {
		e := Entry{By: by, From: from, What: DidChangeRoles, Object: u.Object(), Before: RolesText(u.Roles), After: RolesText(clean)}
		if slices.Equal(u.Roles, clean) {
			return Change{}, errNothing
		}
		u.Roles = clean
		return Change{Entry: e, Rotate: true}, nil
	})
}

// Rename changes the name that colleagues see, by an admin or by the person.
func (a *Auth) Rename(ctx context.Context, by work.Actor, from Origin, id int64, name string) (User, error) {
	if !a.mayTend(by, id) {
		return User{}, ErrForbidden
	}
	return a.change(ctx, id, func(u *User) (Change, error) {
		name, err := cleanName(name, u.Login)
		e := Entry{By: by, From: from, What: DidRename, Object: u.Object(), Before: u.Name, After: name}
		if err == nil && name == u.Name {
			err = errNothing
		}
		u.Name = name
		return Change{Entry: e}, err
	})
}

// SetDisabled keeps a person out, at once and on all browsers, or lets them in again.
func (a *Auth) SetDisabled(ctx context.Context, by work.Actor, from Origin, id int64, disabled bool) (User, error) {
	return a.administer(ctx, by, id, func(u *User) (Change, error) {
		if u.Disabled() == disabled {
			return Change{}, errNothing
		}
		e := Entry{By: by, From: from, What: DidEnable, Object: u.Object()}
		u.DisabledAt = time.Time{}
		if disabled {
			e.What, u.DisabledAt = DidDisable, a.now()
		}
		return Change{Entry: e, EndSessions: true}, nil
	})
}

// errNothing says that all is as it should be: nothing is written.
var errNothing = errors.New("nothing to change")

func (a *Auth) administer(ctx context.Context, by work.Actor, id int64, change func(*User) (Change, error)) (User, error) {
	if !by.Can(work.Admin) {
		return User{}, ErrForbidden
	}
	return a.change(ctx, id, change)
}

func (a *Auth) change(ctx context.Context, id int64, change func(*User) (Change, error)) (User, error) {
	u, err := a.store.ChangeUser(ctx, id, change)
	if errors.Is(err, errNothing) {
		return a.store.User(ctx, id)
	}
	return u, err
}

// ChangePassword sets a new password in exchange for the present one, ends the person's other sessions and gives this one
// a new id. It returns ErrWrong, a *Throttled or a *WeakPassword.
func (a *Auth) ChangePassword(w http.ResponseWriter, r *http.Request, present, password string, from Origin) error {
	ctx := r.Context()
	v, err := a.load(r)
	if err != nil {
		return err
	}
	if v.Step != Ready && v.Step != NeedsPassword && v.Step != NeedsEnrol {
		return ErrForbidden
	}
	if err := a.confirm(ctx, v, present, from); err != nil {
		return err
	}
	if present == password {
		return &WeakPassword{PasswordSame}
	}
	next := v.User
	if err := a.choose(ctx, &next, password); err != nil {
		return err
	}
	_, err = a.store.ChangeUser(ctx, v.User.ID, func(u *User) (Change, error) {
		if u.PasswordHash != v.User.PasswordHash {
			return Change{}, ErrWrong // changed meanwhile
		}
		u.PasswordHash, u.PasswordChangedAt, u.MustChange = next.PasswordHash, next.PasswordChangedAt, false
		return Change{Entry: Entry{By: u.Actor(), From: from, What: DidChangePassword, Object: u.Object()}, EndSessions: true, KeepSession: v.Session.ID}, nil
	})
	if err != nil {
		return err
	}
	_, err = a.cookies.rotate(w, r, false, false)
	return err
}

// confirm checks the present password of somebody who is signed in, throttled like a sign-in.
func (a *Auth) confirm(ctx context.Context, v Visit, present string, from Origin) error {
	u, err := a.checkLogin(ctx, v.User.Login, present, from)
	if err == nil && u.ID != v.User.ID {
		err = ErrWrong
	}
	return err
}
