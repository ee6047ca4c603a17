package auth

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"onefold/internal/work"
)

// User is a person who may sign in.
type User struct {
	ID                int64
	CompanyID         int64
	Login             string // a short name or an e-mail address; unique without regard to case
	Name              string // as colleagues see it
	Email             string // where they are told things; empty: nowhere. Nobody signs in by it
	Roles             []work.Role
	PasswordHash      string // argon2id; empty: no sign-in by password
	PasswordChangedAt time.Time
	MustChange        bool // a new password is asked for at the next sign-in
	DisabledAt        time.Time
	TOTPSecret        string // sealed; empty: no second step
	TOTPPending       string // sealed; shown to the person, not yet proven by a code
	TOTPStep          int64  // the last time step that was used; it and those before it are spent
	OIDCIssuer        string
	OIDCSubject       string
	CreatedAt         time.Time
	LastSignInAt      time.Time
}

// Actor is the person as the one who does something.
func (u User) Actor() work.Actor {
	return work.Actor{Kind: work.Person, ID: strconv.FormatInt(u.ID, 10), Name: u.Name, Roles: u.Roles}
}

// Object is the person as the one to whom something is done, in the audit trail.
func (u User) Object() string { return "user:" + strconv.FormatInt(u.ID, 10) + " " + u.Login }

// Disabled reports whether the person may not sign in at present.
func (u User) Disabled() bool { return !u.DisabledAt.IsZero() }

// HasSecondStep reports whether a code is asked for after the password.
func (u User) HasSecondStep() bool { return u.TOTPSecret != "" }

// CanAdminister reports whether the person is an admin who can sign in.
func (u User) CanAdminister() bool {
	return !u.Disabled() && slices.Contains(u.Roles, work.Admin) && (u.PasswordHash != "" || u.OIDCSubject != "")
}

// AllRoles are the roles in the order in which pages show them.
var AllRoles = []work.Role{work.Viewer, work.Operator, work.Ops, work.Admin}

// CleanRoles returns the roles without repetition, in the order of AllRoles; ok is false if one is not known or none is
// given.
func CleanRoles(roles []work.Role) (clean []work.Role, ok bool) {
	for _, r := range AllRoles {
		if slices.Contains(roles, r) {
			clean = append(clean, r)
		}
	}
	known := !slices.ContainsFunc(roles, func(r work.Role) bool { return !slices.Contains(AllRoles, r) })
	return clean, known && len(clean) > 0
}

// RolesText is a list of roles with commas.
func RolesText(roles []work.Role) string {
	names := make([]string, len(roles))
	for i, r := range roles {
		names[i] = string(r)
	}
	return strings.Join(names, ",")
}

// ParseRoles reads a list of roles with commas.
func ParseRoles(text string) ([]work.Role, bool) {
	var roles []work.Role
	for _, name := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' }) {
		roles = append(roles, work.Role(name))
	}
	return CleanRoles(roles)
}

// cleanLogin returns the login as it is kept and as it is compared; empty if it cannot be one.
func cleanLogin(login string) (kept, folded string) {
	kept = strings.Join(strings.Fields(login), " ")
	if len(kept) > 200 || strings.ContainsFunc(kept, func(r rune) bool { return r < ' ' || r == 0x7f || r == ',' }) {
		return "", ""
	}
	return kept, work.FoldKey(kept)
}

// Link lets whoever holds its token set a person's password, once.
type Link struct {
	TokenHash string
	UserID    int64
	Kind      LinkKind
	CreatedBy string
	CreatedAt time.Time
	ExpiresAt time.Time
	UsedAt    time.Time
}

// LinkKind says what a link is for.
type LinkKind string

const (
	Invitation LinkKind = "invitation"
	Reset      LinkKind = "reset"
)

// FoldLogin is the login as it is compared.
func FoldLogin(login string) string { return work.FoldKey(login) }
