package auth

import (
	"context"
	"encoding/json"
	"iter"
	"net/http"
	"time"

	"onefold/internal/work"
)

// What people do, as stable codes of the audit trail. Acts on items are shown as item_<act>, for example item_resolve.
const (
	DidSignIn           = "sign_in"
	DidSignInStart      = "sign_in_started" // the password fits, the second step is asked for
	DidSignInFailed     = "sign_in_failed"
	DidSecondStepFailed = "second_step_failed"
	DidSignOut          = "sign_out"
	DidSetUp            = "set_up"
	DidAddUser          = "user_added"
	DidInvite           = "user_invited"
	DidDisable          = "user_disabled"
	DidEnable           = "user_enabled"
	DidRename           = "user_renamed"
	DidChangeEmail      = "email_changed"
	DidChangeRoles      = "roles_changed"
	DidMakeResetLink    = "password_reset_link_made"
	DidAcceptLink       = "password_link_used"
	DidChangePassword   = "password_changed"
	DidEnrol            = "second_step_added"
	DidRemoveSecondStep = "second_step_removed"
	DidRenewCodes       = "recovery_codes_renewed"
	DidUseCode          = "recovery_code_used"
	DidRequireStep      = "second_step_requirement_changed"
	DidLinkIdentity     = "single_sign_on_linked"
	DidRevokeSession    = "session_revoked"
	DidRevokeSessions   = "all_sessions_revoked"
	DidCreateToken      = "token_created"
	DidRevokeToken      = "token_revoked"
	DidRefuseToken      = "token_refused" // one that is unknown, revoked or has expired
	DidExport           = "export"
	DidStartBulk        = "bulk_run_begun"
	DidStopBulk         = "bulk_run_stopped"
	DidStartImport      = "import_begun"
	DidHoldImport       = "import_stopped"
	DidPause            = "system_paused"
	DidResume           = "system_resumed"
	DidChangePolicy     = "policy_changed"
)

// Origin is where a request came from.
type Origin struct {
	Address   string // the network address, as far as it can be trusted
	UserAgent string
}

// From is the origin of a request whose address was already established (a trusted proxy may have named it).
func From(r *http.Request, address string) Origin { return Origin{address, r.UserAgent()} }

// Entry is one line of the audit trail. It must not hold a secret: no password, no code, no token, no key.
type Entry struct {
	CompanyID int64 // 0: 1
	By        work.Actor
	From      Origin
	What      string // a stable code, see DidSignIn and the others
	Object    string // what it was done to, for example "user:7 ada"
	Before    string // small JSON or text
	After     string
	Note      string
}

// Record is an entry as it is stored, or an act on an item or a change of a setting that the trail shows as well.
type Record struct {
	Entry
	Cursor
}

// Cursor is a record's place in the trail: newest first.
type Cursor struct {
	At     time.Time
	Source string // "audit", "act" or "setting"
	ID     int64  // unique within Source
}

// AuditFilter says which records are wanted; empty fields do not restrict.
type AuditFilter struct {
	CompanyID int64     // 0: 1
	Who       string    // "person:7": kind and id of the actor
	What      []string  // codes
	Object    string    // the beginning of the object, for example "user:7"
	From, To  time.Time // from included, to excluded
	Text      string    // a part of name, object, before, after, note or address
	After     Cursor    // the last record of the page before
	Limit     int       // 0: 50; at most 500
}

// AuditPage is one page of the trail.
type AuditPage struct {
	Records []Record
	Next    Cursor // empty: no more, as far as was looked
	// Further is set if a filter was looked for in so much of the history that the page ends before it is full: so far was
	// looked, and there may be older ones.
	Further Cursor
}

// Trail is the audit trail's storage. *store.Store satisfies it.
type Trail interface {
	// Audit appends the entry.
	Audit(ctx context.Context, e Entry) error
	// AuditPage returns one page, newest first.
	AuditPage(ctx context.Context, f AuditFilter) (AuditPage, error)
	// AuditAll returns all records of the filter, newest first, without holding them in memory or a transaction open.
	AuditAll(ctx context.Context, f AuditFilter) iter.Seq2[Record, error]
}

// Audit appends an entry to the trail. Pages call it for what they do past this package, for example an export.
func (a *Auth) Audit(ctx context.Context, e Entry) error { return a.store.Audit(ctx, e) }

// AuditPage returns one page of the trail, newest first, to an admin.
func (a *Auth) AuditPage(ctx context.Context, by work.Actor, f AuditFilter) (AuditPage, error) {
	if !by.Can(work.Admin) {
		return AuditPage{}, ErrForbidden
	}
	return a.store.AuditPage(ctx, f)
}

// ExportAudit returns all records of the filter, newest first, to an admin, and records that they were taken.
func (a *Auth) ExportAudit(ctx context.Context, by work.Actor, from Origin, f AuditFilter) (iter.Seq2[Record, error], error) {
	if !by.Can(work.Admin) {
		return nil, ErrForbidden
	}
	err := a.Audit(ctx, Entry{By: by, From: from, What: DidExport, Object: "audit"})
	return a.store.AuditAll(ctx, f), err
}

// small is a value as small JSON for an entry.
func small(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(b)
}
