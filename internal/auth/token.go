package auth

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"onefold/internal/work"
)

// Scope is what an API token may do.
type Scope string

const (
	ItemsRead   Scope = "items:read"   // read items
	ItemsWrite  Scope = "items:write"  // record items
	ImportWrite Scope = "import:write" // import files
	SystemsRead Scope = "systems:read" // read the state of accounting systems
)

// Scopes are all scopes, in the order in which pages show them.
var Scopes = []Scope{ItemsRead, ItemsWrite, ImportWrite, SystemsRead}

// Token is an API token as it is stored: without the token itself.
type Token struct {
	ID           int64
	CompanyID    int64
	Name         string
	Prefix       string // its beginning, to tell it by
	Hash         string
	Scopes       []Scope
	PerMinute    int // requests; 0: the server's default
	CreatedBy    string
	CreatedAt    time.Time
	ExpiresAt    time.Time
	LastUsedAt   time.Time // about a minute exact
	LastUsedFrom string
	RevokedAt    time.Time
	RevokedBy    string
}

// Object is the token as an object in the audit trail.
func (t Token) Object() string { return "token:" + strconv.FormatInt(t.ID, 10) + " " + t.Name }

// Works reports whether the token lets anybody in.
func (t Token) Works(now time.Time) bool { return t.RevokedAt.IsZero() && now.Before(t.ExpiresAt) }

// actor is the token as the one who does something. Scopes are narrower than roles and are checked besides.
func (t Token) actor() work.Actor {
	return work.Actor{Kind: work.Token, ID: strconv.FormatInt(t.ID, 10), Name: t.Name, Roles: rolesOf(t.Scopes)}
}

func rolesOf(scopes []Scope) (roles []work.Role) {
	has := func(s Scope) bool { return slices.Contains(scopes, s) }
	if has(ItemsRead) || has(SystemsRead) {
		roles = append(roles, work.Viewer)
	}
	if has(ItemsWrite) || has(ImportWrite) {
		roles = append(roles, work.Operator)
	}
	return roles
}

// CleanScopes returns the scopes without repetition, in the order of Scopes; ok is false if one is not known or none is
// given.
func CleanScopes(scopes []Scope) (clean []Scope, ok bool) {
	for _, s := range Scopes {
		if slices.Contains(scopes, s) {
			clean = append(clean, s)
		}
	}
	known := !slices.ContainsFunc(scopes, func(s Scope) bool { return !slices.Contains(Scopes, s) })
	return clean, known && len(clean) > 0
}

// ScopesText is a list of scopes with commas.
func ScopesText(scopes []Scope) string {
	names := make([]string, len(scopes))
	for i, s := range scopes {
		names[i] = string(s)
	}
	return strings.Join(names, ",")
}

// NewToken is a token to be made.
type NewToken struct {
	Name      string
	Scopes    []Scope
	Lasts     time.Duration // at most two years
	PerMinute int           // 0: the server's default
}

const (
	tokenMark    = "of_"
	longestToken = 2 * 366 * 24 * time.Hour
)

// CreateToken makes an API token and returns it. It is shown once: only its hash is kept.
func (a *Auth) CreateToken(ctx context.Context, by work.Actor, from Origin, n NewToken) (Token, string, error) {
	if !by.Can(work.Admin) {
		return Token{}, "", ErrForbidden
	}
	scopes, ok := CleanScopes(n.Scopes)
	n.Name = strings.TrimSpace(n.Name)
	_, nameErr := cleanName(n.Name, "x")
	switch {
	case n.Name == "" || nameErr != nil:
		return Token{}, "", &BadInput{"name", "the token needs a name of one line, at most 200 characters"}
	case !ok:
		return Token{}, "", &BadInput{"scopes", "give at least one scope of " + ScopesText(Scopes)}
	case n.Lasts < time.Minute || n.Lasts > longestToken:
		return Token{}, "", &BadInput{"expires", "the token must expire, at the latest in two years"}
	case n.PerMinute < 0 || n.PerMinute > 1_000_000:
		return Token{}, "", &BadInput{"per_minute", "the limit must be a number of requests in a minute, up to 1000000"}
	}
	secret := tokenMark + letters(25)
	now := a.now()
	t := Token{CompanyID: a.CompanyID, Name: n.Name, Prefix: secret[:len(tokenMark)+6], Hash: digest("token", secret), Scopes: scopes,
		PerMinute: n.PerMinute, CreatedBy: by.Label(), CreatedAt: now, ExpiresAt: now.Add(n.Lasts)}
	t, err := a.store.AddToken(ctx, t, Entry{By: by, From: from, What: DidCreateToken,
		After: small(map[string]any{"name": t.Name, "scopes": scopes, "expires_at": t.ExpiresAt, "per_minute": t.PerMinute})})
	if err != nil {
		return Token{}, "", err
	}
	return t, secret, nil
}

// Tokens are all API tokens, also those that work no more, the newest first.
func (a *Auth) Tokens(ctx context.Context, by work.Actor) ([]Token, error) {
	if !by.Can(work.Admin) {
		return nil, ErrForbidden
	}
	return a.store.Tokens(ctx, a.CompanyID)
}

// RevokeToken makes a token useless, at once.
func (a *Auth) RevokeToken(ctx context.Context, by work.Actor, from Origin, id int64) error {
	if !by.Can(work.Admin) {
		return ErrForbidden
	}
	return a.store.RevokeToken(ctx, id, a.now(), by.Label(), Entry{By: by, From: from, What: DidRevokeToken, Object: "token:" + strconv.FormatInt(id, 10)})
}
