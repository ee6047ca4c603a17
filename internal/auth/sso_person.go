package auth

import (
	"context"
	"errors"
	"slices"

	"onefold/internal/work"
)

// person is who the proof belongs to here, with the roles that their groups give.
func (s *sso) person(ctx context.Context, p proof, from Origin) (User, error) {
	roles, err := s.roles(p)
	if err != nil {
		return User{}, err
	}
	u, err := s.auth.store.UserBySubject(ctx, s.auth.CompanyID, p.issuer, p.subject)
	if errors.Is(err, ErrNotFound) {
		u, err = s.meet(ctx, p, roles, from)
	}
	if err != nil {
		return u, err
	}
	if u.Disabled() {
		return u, &SSOError{Code: SSODisabled}
	}
	if roles == nil || slices.Equal(u.Roles, roles) {
		return u, nil
	}
	changed, err := s.auth.store.ChangeUser(ctx, u.ID, func(u *User) (Change, error) {
		e := Entry{By: system, From: from, What: DidChangeRoles, Object: u.Object(), Before: RolesText(u.Roles), After: RolesText(roles), Note: "groups of the identity provider"}
		u.Roles = roles
		return Change{Entry: e, Rotate: true}, nil
	})
	if errors.Is(err, ErrLastAdmin) { // better an admin too many than none
		s.auth.Log.WarnContext(ctx, "the identity provider takes the admin role from the last admin: it stays", "user", u.Object())
		return u, nil
	}
	return changed, err
}

// roles are what the groups give; nil if roles are given here.
func (s *sso) roles(p proof) ([]work.Role, error) {
	if len(s.GroupRoles) == 0 {
		return nil, nil
	}
	var roles []work.Role
	for _, g := range p.groups {
		roles = append(roles, s.GroupRoles[g]...)
	}
	if len(roles) == 0 {
		roles = s.DefaultRoles
	}
	clean, ok := CleanRoles(roles)
	if !ok {
		return nil, &SSOError{Code: SSONoRole}
	}
	return clean, nil
}

// meet links a person whom we know by their e-mail address, or adds a new one.
func (s *sso) meet(ctx context.Context, p proof, roles []work.Role, from Origin) (User, error) {
	if !s.LinkByEmail && !s.Provision {
		return User{}, &SSOError{Code: SSOUnknown}
	}
	login, folded := cleanLogin(p.email)
	if !p.verified || login == "" {
		return User{}, &SSOError{Code: SSOEmail}
	}
	u, err := s.auth.store.UserByLogin(ctx, s.auth.CompanyID, folded)
	switch {
	case err == nil && s.LinkByEmail:
		return s.auth.store.ChangeUser(ctx, u.ID, func(u *User) (Change, error) {
			if u.OIDCSubject != "" { // somebody else at the provider has the address now
				return Change{}, &SSOError{Code: SSOUnknown}
			}
			u.OIDCIssuer, u.OIDCSubject = p.issuer, p.subject
			return Change{Entry: Entry{By: system, From: from, What: DidLinkIdentity, Object: u.Object(), After: p.issuer}}, nil
		})
	case err == nil || errors.Is(err, ErrNotFound) && !s.Provision:
		return User{}, &SSOError{Code: SSOUnknown}
	case !errors.Is(err, ErrNotFound):
		return User{}, err
	}
	if roles == nil {
		roles = s.DefaultRoles
	}
	if len(roles) == 0 {
		roles = []work.Role{work.Viewer}
	}
	u, err = s.auth.newUser(NewUser{login, p.name, roles})
	if err != nil {
		return u, &SSOError{SSOEmail, err}
	}
	u.OIDCIssuer, u.OIDCSubject = p.issuer, p.subject
	return s.auth.store.AddUser(ctx, u, false, Change{Entry: Entry{By: system, From: from, What: DidAddUser, After: described(u), Note: "identity provider"}})
}
