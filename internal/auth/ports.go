package auth

import (
	"context"
	"errors"
	"time"
)

var (
	// ErrNotFound says that there is no such person, session, link or token.
	ErrNotFound = errors.New("not found")
	// ErrForbidden says that the one who asks has not the role for it.
	ErrForbidden = errors.New("not allowed")
	// ErrLoginTaken says that another person has the login, perhaps in another spelling.
	ErrLoginTaken = errors.New("the login is taken")
	// ErrSetUpDone says that there is a user already, so nobody can be added without signing in.
	ErrSetUpDone = errors.New("the first person was already added: sign in")
	// ErrLastAdmin says that nobody would be left who can administer.
	ErrLastAdmin = errors.New("this is the last admin who can sign in: make somebody else an admin first")
	// ErrLinkGone says that a one-time link was used, replaced, has expired or never existed.
	ErrLinkGone = errors.New("the link is used up or has expired: ask an admin for a new one")
	// ErrWrongCode says that a code of the second step is wrong or spent.
	ErrWrongCode = errors.New("the code is wrong or was already used")
)

// Change is what one act does to a person, in one transaction with its entry in the audit trail.
type Change struct {
	Entry       Entry
	EndSessions bool     // all of the person's, but KeepSession
	KeepSession int64    // a session's ID
	Rotate      bool     // the person's sessions get new ids with their next request
	NewLink     *Link    // replaces the person's earlier links
	UseLink     string   // the hash of a link's token to spend; ErrLinkGone if it cannot be
	NewCodes    []string // hashes of recovery codes that replace the earlier ones; not nil but empty: none are left
	SpendCode   string   // the hash of a recovery code to spend; ErrWrongCode if it cannot be
}

// People is the storage of persons. *store.Store satisfies it.
type People interface {
	// AddUser adds a person; with first only if there is none yet, else ErrSetUpDone. Two at once: one wins.
	AddUser(ctx context.Context, u User, first bool, c Change) (User, error)
	// ChangeUser locks the person, lets change alter it and writes both. Nothing is written if change returns an error.
	// It returns ErrLastAdmin if nobody would be left who can administer.
	ChangeUser(ctx context.Context, id int64, change func(*User) (Change, error)) (User, error)
	// SpendStep notes that the time step's code was used; false: it or a later one was used before.
	SpendStep(ctx context.Context, userID, step int64) (bool, error)

	User(ctx context.Context, id int64) (User, error)
	UserByLogin(ctx context.Context, companyID int64, folded string) (User, error)
	UserBySubject(ctx context.Context, companyID int64, issuer, subject string) (User, error)
	Users(ctx context.Context, companyID int64) ([]User, error)
	AnyUser(ctx context.Context) (bool, error)
	Link(ctx context.Context, tokenHash string) (Link, error)
	CodesLeft(ctx context.Context, userID int64) (int, error)

	// KnownAddress reports whether the person has signed in from there.
	KnownAddress(ctx context.Context, userID int64, address string) (bool, error)
	// SignedIn notes a complete sign-in and where it came from.
	SignedIn(ctx context.Context, userID int64, at time.Time, e Entry) error

	SignInSettings(ctx context.Context, companyID int64) (SignInSettings, error)
	SetSignInSettings(ctx context.Context, companyID int64, s SignInSettings, e Entry) error
}

// SignInSettings are what admins decide about signing in.
type SignInSettings struct {
	RequireSecondStep bool `json:"require_second_step"` // of everybody who signs in by password
}

// Sessions is the storage of sessions and of forms that they lost. *store.Store satisfies it.
type Sessions interface {
	AddSession(ctx context.Context, s Session) (Session, error)
	// SessionByHash returns a session by the hash of its present or previous id, also an ended or expired one, and whose
	// it is.
	SessionByHash(ctx context.Context, hash string) (Session, User, error)
	// TouchSession notes that the session is in use.
	TouchSession(ctx context.Context, id int64, seen, idleUntil time.Time) error
	// RotateSession gives the session another id, if it still has the one given and has not ended; passed: the second step
	// was passed as well.
	RotateSession(ctx context.Context, id int64, from, to string, at time.Time, passed bool) (bool, error)
	// CountWrongCode counts one more wrong code and returns how many there were.
	CountWrongCode(ctx context.Context, id int64) (int, error)
	// SessionsOf are the person's sessions that have not ended or expired, the last used one first.
	SessionsOf(ctx context.Context, userID int64, now time.Time) ([]Session, error)
	// EndSession ends one session of the person; ErrNotFound if it is not theirs or over.
	EndSession(ctx context.Context, userID, id int64, at time.Time, e Entry) error
	// EndSessions ends all sessions of the person but the one to keep (0: none) and returns how many.
	EndSessions(ctx context.Context, userID, keep int64, at time.Time, e Entry) (int, error)

	SaveForm(ctx context.Context, f SavedForm) error
	// TakeForm returns the form and removes it, if it is the user's and has not expired; else ErrNotFound.
	TakeForm(ctx context.Context, idHash string, userID int64, now time.Time) (SavedForm, error)

	// SweepSignIns removes sessions that were over and links and forms that expired before the time.
	SweepSignIns(ctx context.Context, before time.Time) error
}

// Tokens is the storage of API tokens. *store.Store satisfies it.
type Tokens interface {
	AddToken(ctx context.Context, t Token, e Entry) (Token, error)
	TokenByHash(ctx context.Context, hash string) (Token, error)
	Tokens(ctx context.Context, companyID int64) ([]Token, error)
	// RevokeToken returns ErrNotFound if there is no such token or it is revoked.
	RevokeToken(ctx context.Context, id int64, at time.Time, by string, e Entry) error
	// TokenUsed notes the use unless one within the last minute is noted.
	TokenUsed(ctx context.Context, id int64, at time.Time, from string) error
}

// Store is everything that this package keeps. *store.Store satisfies it.
type Store interface {
	People
	Sessions
	Tokens
	Trail
}
