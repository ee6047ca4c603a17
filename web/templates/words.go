package templates

import (
	"fmt"
	"strings"
)

// This file holds all wording of the pages, so that finance can correct it and a translator can replace it. Patterns
// contain {names} that are filled in; their order is free. Never on a page: the words that the test forbids.

// words are the fixed texts and those that follow a code.
type words struct {
	Product, SetUp, And, Search, Clear, SignIn, SignOut, Login, Password, SignedInAs,
	Key, Customer, Amount, Status, FirstPage, NextPage, Invoices, Systems, Import, Back, BackToSignIn,
	WhatWeKnow, WhatToDo, NotPossible, OlderAttempts, NewestAttempts,
	Steps, NotBegun, Facts, Lines, Note, Reference, Sent, Answered, Excerpts, Description, Quantity, Price, Assigned, AssignMe,
	Release, Nobody, Times, StepsDone, ReportRef, WrongLogin, Throttled, File, System,
	Line, Reason, Overdue, Address, InFlight, Skip, MainNav, Try, Cut, YouTyped, JustNow, Soon, AgoPast, AgoFuture, AgoUnits string
	StatusName, Sign, Tone, Reasons, ReasonShort, StatusSays, Tab, TabEmpty, TabEmptyTitle, Step, Action, ActionHelp, Refusal,
	Did, Decision, Number, Send, SendShort, Find, FindShort, SystemSays, Errors, ErrorTitle, Fact map[string]string
}

// Words is the wording in use: English.
var Words = words{
	Product: "Onefold", SetUp: "Settings", And: " and ", Search: "Search", Clear: "Clear", SignIn: "Sign in", SignOut: "Sign out", Login: "Sign-in name",
	Password: "Password", SignedInAs: "Signed in as", Key: "Key", Customer: "Customer", Amount: "Amount", Status: "Status",
	FirstPage: "First page", NextPage: "Next page",
	Invoices: "Invoices", Systems: "Accounting systems", Import: "Import", Back: "All invoices", BackToSignIn: "Sign in", WhatWeKnow: "What we know",
	WhatToDo: "What you can do", NotPossible: "Not possible now",
	OlderAttempts: "Earlier entries", NewestAttempts: "Newest entries",
	Steps: "Steps", NotBegun: "Not begun",
	Facts: "Details", Lines: "Invoice lines", Note: "Note", Reference: "Number in the accounting system", Sent: "What was sent",
	Answered: "What came back", Excerpts: "Show what was exchanged", Description: "Description", Quantity: "Quantity",
	Price: "Unit price", Assigned: "Assigned to", AssignMe: "Assign to me", Release: "Release", Nobody: "Nobody",
	Times: "Times are in", StepsDone: "Done there already as well: {steps}. Left empty, that is done next.",
	ReportRef: "If you ask for help, name this code:", WrongLogin: "Name or password is wrong.",
	Throttled: "Too many wrong sign-ins. Try again in %s.", File: "CSV file", System: "Accounting system",
	Line: "Line", Reason: "Reason", Overdue: "Overdue", Address: "Address", InFlight: "On their way",
	Skip: "Skip to the content", MainNav: "Main", Try: "Try {n} · {reference}", Cut: "…",
	YouTyped: "What you had typed", JustNow: "just now", Soon: "in a moment", AgoPast: "{n} ago", AgoFuture: "in {n}", AgoUnits: "s min h day days",

	Number: map[string]string{"number": "“{typed}” is no number: write it like 1200.50.",
		"two_ways": "“{typed}” can be read in two ways: write {large} or {large}.00, or {small} if it is less."},

	StatusName: map[string]string{"queued": "Waiting to be sent", "in_progress": "Sending now", "in_progress/find": "Checking now",
		"pending": "Outcome unknown", "failed": "Failed, will retry", "confirmed": "Confirmed", "review": "Needs a person",
		"resolved": "Resolved", "resolved/by": "Resolved by {who}", "closed": "Closed", "closed/by": "Closed by {who}"},
	Sign: map[string]string{"queued": "○", "in_progress": "…", "pending": "?", "failed": "↻", "confirmed": "✓", "review": "!",
		"resolved": "✓", "closed": "×"},
	Tone: map[string]string{"queued": "wait", "in_progress": "busy", "pending": "busy", "failed": "wait", "confirmed": "good",
		"review": "ask", "resolved": "good", "closed": "quiet"},

	// What the status says, on the item's page.
	StatusSays: itemStatusSays,
	Reasons:    itemReasons,
	ReasonShort: map[string]string{"rejected": "Refused", "attempts_exhausted": "Not there, tries used up",
		"could_not_check": "Could not look", "cannot_look_up": "Cannot be looked up", "mismatch": "Differs from what was asked",
		"duplicates": "More than one record", "found_void": "Void or deleted there", "contradiction": "Contradicting answers",
		"late_evidence": "A late answer", "approval_required": "Must be approved", "held": "Stopped"},

	Tab: map[string]string{"review": "Needs a person", "unknown": "Outcome unknown", "waiting": "Waiting", "finished": "Finished",
		"closed": "Closed", "all": "All"},
	TabEmptyTitle: map[string]string{"review": "All is well: nothing needs a person", "unknown": "All is well: no outcome is unknown",
		"waiting": "All is well: nothing is waiting"},
	TabEmpty: map[string]string{"review": "What cannot be settled by itself appears here.", "unknown": "Every invoice that was sent has been accounted for.",
		"waiting": "Everything that was recorded has been dealt with.", "finished": "Nothing is finished yet.", "closed": "Nothing was closed.",
		"all": "No invoice has been recorded yet. Import a file to begin."},

	Step: map[string]string{"create": "Create invoice", "post": "Post invoice", "send": "Send invoice", "issue": "Issue invoice",
		"finalize": "Finalise invoice", "email": "Send e-mail", "pay": "Book payment"},

	Action:     itemAction,
	ActionHelp: itemActionHelp,
	Refusal:    itemRefusal,

	// After an action; {who} did it at {at}.
	Did:      itemDid,
	Decision: itemDecision,

	// One attempt, in the list of what was tried.
	Send: itemSend,
	Find: itemFind,
	// The same in the summary; finds of the same result share a sentence.
	SendShort: itemSendShort,
	FindShort: itemFindShort,

	SystemSays: map[string]string{"ok": "Working", "paused": "Paused", "breaker": "Not reachable", "login": "Login refused", "account": "Not connected", "look_first": "Looking first",
		"paused/say": "{name} has been paused since {at} by {who}. Nothing new is sent; still on the way: {n}.", "paused/why": "Reason: {text}",
		"breaker/say":    "{name} does not answer: sending waits, we try again {at}. {text}",
		"account/say":    "{name} cannot be used: {text}. An admin connects it on the system’s page; nothing is lost meanwhile.",
		"login/say":      "{name} cannot be used: {text}. An admin must renew its login; nothing is lost meanwhile.",
		"look_first/say": "{name} has been set to look first since {at}: nothing is sent without a look before. {text}",
		"ok/say":         "Everything goes out as it comes."},
	Fact: map[string]string{"reference": "Our reference", "number": "Number there", "id": "Id there", "source": "Came from", "recorded": "Recorded",
		"recorded_by": "Recorded by", "issue_date": "Invoice date", "due_date": "Payment due", "revision": "Version of the content", "customer_id": "Customer id",
		"books": "Books reached there", "note": "Note on it", "open": "Open there", "system": "Accounting system", "new": "New", "known": "Already known",
		"conflict": "Differ from what is on record", "bad": "Could not be read", "rows": "Rows", "limit": "At the same time", "searchable": "Can be searched",
		"keys": "Recognises repeats", "yes": "Yes", "no": "No", "imported": "Import finished", "imported/none": "Nothing new was imported",
		"imported/bad": "Import finished, with rows to look at", "more": "and {n} more rows", "import": "Import no. {n}"},
	ErrorTitle: map[string]string{"400": "That request cannot be understood", "403": "Not allowed", "403/csrf": "This form has expired", "404": "There is no such page", "410": "This link does not work any more",
		"404/item": "There is no such invoice", "405": "That is not possible here", "413": "That is too large", "429": "Too many tries", "503": "Not possible at the moment", "503/database": "The database cannot be reached",
		"500": "Something went wrong on our side"},
	Errors: map[string]string{"400": "Please check the address or what was typed.", "403": "Your account may not do this. Ask an administrator if you need it.",
		"403/csrf": "Nothing was done. Go back, reload the page and try again.", "404": "Perhaps the address is not complete.",
		"410":      "It was used, replaced or has expired. Ask an administrator for a new one.",
		"404/item": "Perhaps the address is not complete. Invoices are never deleted: search for its key.", "405": "Go back and use the buttons of the page.",
		"413": "Please split it into smaller parts.", "429": "Please wait a little.", "503": "The database does not answer in time. Nothing is lost; please try again in a moment.",
		"503/database": "Until it is back Onefold sends nothing, and nothing is lost. It goes on by itself; please try again in a moment.",
		"500":          "Nothing you typed has been carried out twice. Please try again in a moment."},
}

// Pick returns the text of the first code that has one.
func Pick(m map[string]string, codes ...string) string {
	for _, c := range codes {
		if t, ok := m[c]; ok {
			return t
		}
	}
	return ""
}

// Ago puts a distance in seconds in words: negative is the past.
func (w words) Ago(seconds int64) string {
	switch {
	case seconds > -10 && seconds <= 0:
		return w.JustNow
	case seconds > 0 && seconds < 10:
		return w.Soon
	}
	pattern, n := w.AgoFuture, seconds
	if seconds < 0 {
		pattern, n = w.AgoPast, -seconds
	}
	units := strings.Fields(w.AgoUnits)
	size, unit := int64(86400), units[4]
	switch {
	case n < 60:
		size, unit = 1, units[0]
	case n < 3600:
		size, unit = 60, units[1]
	case n < 86400:
		size, unit = 3600, units[2]
	case n < 2*86400:
		unit = units[3]
	}
	return strings.ReplaceAll(pattern, "{n}", fmt.Sprintf("%d %s", n/size, unit))
}

// peopleWords are the texts about people: signing in, roles, sessions, API tokens and the trail.
type peopleWords struct {
	SignInWith, SessionOver, Kept, ConfirmYou, PasswordSet, SetUpDone, PasswordsOff, WrongCode, NoCodesLeft, StartAgain, Wait, WaitCode,
	Code, CodeTitle, CodeHint, EnrolTitle, EnrolRequired, EnrolScan, EnrolPicture, EnrolType, EnrolHere, EnrolCode, EnrolConfirm, EnrolWrong,
	BackToProfile, CodesTitle, CodesSay, CodesKept, PasswordTitle, PasswordMust, PasswordPresent, PasswordNew, PasswordAgain, PasswordHint,
	PasswordChange, PasswordWrong, PasswordDiffers, WelcomeTitle, ResetTitle, WelcomeSay, WelcomeDo, SetUpTitle, SetUpSay, SetUpCode,
	SetUpCodeHint, SetUpDo, SetUpWrong, LoginHint, Name, NameHint, NameSave, Profile, You, Step, StepAdd, StepReplace, StepRemove, CodesRenew,
	Sessions, SessionsSay, SessionHere, SessionSays, SessionEnd, NoSessions, SignOutOthers, SignOutEverywhere, People, Roles, LastSignIn, Never,
	InviteTitle, InviteSay, InviteDo, AddSay, AddDo, RequireOn, RequireOff, RequireStart, RequireEnd, RolesSave, Enable, Disable, TrailOf, LinkSay, LinkInvite,
	LinkReset, Tokens, NoTokens, NoTokensSay, Scopes, LastUse, Made, TokenNew, TokenNameHint, TokenLasts, TokenLimit, TokenLimitHint, TokenDo,
	TokenUntil, TokenRevoke, TokenSecret, NotUsed, Trail, TrailSay, TrailWho, TrailWhat, TrailObject, TrailObjectHint, TrailFrom, TrailTo,
	TrailText, TrailEmpty, TrailAt, TrailChange, TrailOrigin, TrailOlder, TrailLooked, TrailLookedNone, TrailExport, TrailDates, TrailWhoID, TrailCode, TrailBefore,
	TrailAfter, Anybody, Anything, Nobody, TokenCalled, LastAdmin, LoginTaken,
	Restored, RestoredMoved, RestoredBy, NotSent, Browser, BrowserOn string
	Fault, SSO, BadInput, State, StepSays, Fact, Field, Role, RoleHelp, Scope, ScopeHelp, TokenState, Method, Did, Act, ActGroup, Days map[string]string
}

// People is the wording about people: English.
var People = peopleWords{
	SignInWith: "Sign in with {name}", SessionOver: "Your session has ended. Please sign in again.",
	Kept:       "Your session has ended. What you typed is kept: it is there again after you have signed in.",
	ConfirmYou: "To go on, please prove once more who you are.", PasswordSet: "Your password is set. Please sign in with it.",
	SetUpDone: "All is set up. Please sign in.", PasswordsOff: "Passwords are switched off here.", StartAgain: "Sign in as somebody else",
	WrongCode: "The code is wrong or was already used.", NoCodesLeft: "Too many wrong codes. Please sign in again.",
	Wait: "Too many wrong tries. Try again in {wait}.", WaitCode: "Too many wrong codes. Try again in {wait}.",
	Code: "Code", CodeTitle: "Second step", CodeHint: "Six digits from your authenticator app, or one of your recovery codes.",
	EnrolTitle: "Set up the second step", EnrolRequired: "Your firm asks everybody for a second step at sign-in.",
	EnrolScan: "Scan this with an authenticator app on your phone.", EnrolPicture: "QR code for your authenticator app",
	EnrolType: "Or type this key into the app:", EnrolHere: "Open it in an app on this device", EnrolCode: "Code that the app shows now",
	EnrolConfirm: "Turn on", EnrolWrong: "That is not the code of this key. Check that the phone's clock is right.",
	BackToProfile: "Back to your page", CodesTitle: "Your recovery codes",
	CodesSay:  "Keep these codes where you find them without your phone. Each lets you in once instead of the app. They are not shown again.",
	CodesKept: "I have kept them", PasswordTitle: "Choose another password", PasswordMust: "The password you were given must be replaced by one that only you know.",
	PasswordPresent: "Present password", PasswordNew: "New password", PasswordAgain: "The same again",
	PasswordHint: "At least {n} characters. Several words that do not belong together are best.", PasswordChange: "Change password",
	PasswordWrong: "The present password is wrong.", PasswordDiffers: "The two passwords are not the same.",
	WelcomeTitle: "Welcome to Onefold", ResetTitle: "Choose a new password", WelcomeSay: "{name}, choose the password with which you will sign in.",
	WelcomeDo: "Set password", SetUpTitle: "Set up Onefold", SetUpSay: "Nobody can sign in yet. You become the first administrator.",
	SetUpCode: "Set-up code", SetUpCodeHint: "It was shown on the terminal when the server started.", SetUpDo: "Set up",
	SetUpWrong: "That is not the code that the terminal shows.", LoginHint: "A short name or an e-mail address, for signing in.",
	Name: "Name", NameHint: "As colleagues see it.", NameSave: "Save name", Profile: "Your page", You: "You", Step: "Second step",
	StepAdd: "Set up", StepReplace: "Use another app", StepRemove: "Remove the second step", CodesRenew: "New recovery codes",
	Sessions: "Where this account is signed in", SessionsSay: "If you do not know one of these, sign it out and change the password.",
	SessionHere: "This one", SessionSays: "From {address}, signed in {since}, last used {seen}", SessionEnd: "Sign out",
	NoSessions: "Nowhere at the moment.", SignOutOthers: "Sign out all others", SignOutEverywhere: "Sign out everywhere",
	People: "People", Roles: "Roles", LastSignIn: "Last sign-in", Never: "Never",
	InviteTitle: "Invite somebody", InviteSay: "You get a link to hand on. With it they choose their password.", InviteDo: "Make invitation",
	AddSay: "They sign in at the identity provider. Name the e-mail address that it knows.", AddDo: "Add",
	RequireOn:    "Everybody who signs in by password needs a second step. Whoever has none is asked to set it up.",
	RequireOff:   "Each person decides whether to use a second step.",
	RequireStart: "Require a second step of everybody", RequireEnd: "Do not require it any more", RolesSave: "Save roles",
	Enable: "Let in again", Disable: "Keep out", TrailOf: "What this person did",
	LinkSay:    "Hand this link to {name}, and to nobody else. It works once, until {until}, and is not shown again.",
	LinkInvite: "Make a new invitation link", LinkReset: "Make a link for a new password",
	Tokens: "API tokens", NoTokens: "No programs use the API", NoTokensSay: "A token lets a program, for example a web shop, record invoices here.",
	Scopes: "What it may do", LastUse: "Last used", Made: "Made", TokenNew: "New token", TokenNameHint: "Which program it is for.", TokenLasts: "Works for",
	TokenLimit: "Requests in a minute", TokenLimitHint: "Empty: as the server is set.", TokenDo: "Make token", TokenUntil: "until {at}",
	TokenRevoke: "Revoke", TokenSecret: "This is the token of {name}. Copy it now: it is not shown again.", NotUsed: "Not yet",
	Trail: "Audit trail", TrailSay: "Who did what, newest first. Nobody can change it here.", TrailWho: "Who", TrailWhat: "What", TrailObject: "To what",
	TrailObjectHint: "system:books", TrailFrom: "From day", TrailTo: "To day", TrailText: "Text", TrailEmpty: "Nothing like it is on record",
	TrailAt: "When", TrailChange: "Before and after", TrailOrigin: "From where", TrailOlder: "Older ones",
	TrailLooked: "Looked through the trail back to {at}: there may be older ones.", TrailLookedNone: "None in the trail back to {at}. There may be older ones.", TrailExport: "Download as CSV",
	TrailWhoID: "Who (id)", TrailCode: "What (code)", TrailBefore: "Before", TrailAfter: "After", Nobody: "Not signed in", TokenCalled: "Token {name}",
	TrailDates: "That is no day: write it as 2026-11-30.", Anybody: "Anybody", Anything: "Anything",
	LastAdmin:  "This is the last administrator who can sign in. Make somebody else an administrator first.",
	LoginTaken: "Somebody has this name for signing in already, perhaps in another spelling.",

	// After an expired session, on the page with what was typed.
	Restored:      "Your session had ended before this was sent. Nothing was done. What you typed is here again: send it if it still holds.",
	RestoredMoved: "Your session had ended before this was sent. Nothing was done, and it has moved on {at} meanwhile ({what}). What you typed is here again.",
	RestoredBy:    "Your session had ended before this was sent. Nothing was done, and meanwhile {who} acted {at} ({what}). What you typed is here again.",
	NotSent:       "Your session had ended before this was sent. Nothing was done: press the button again.",
	Browser:       "A browser", BrowserOn: "{browser} on {machine}",

	Fault: map[string]string{"too_short": "The password needs at least {n} characters.", "too_long": "The password is too long.",
		"common":   "That password is among those that are tried first. Use several words that do not belong together.",
		"personal": "The password must not contain the name.", "same": "The new password must differ from the present one."},
	SSO: map[string]string{"unreachable": "{name} does not answer. Please try again in a moment.", "denied": "{name} did not let you in.",
		"state": "The sign-in at {name} took too long, or was begun in another browser. Please try again.", "exchange": "{name} did not honour its own answer. Please try again.",
		"id_token": "The proof from {name} is not valid.", "nonce": "The proof from {name} belongs to another sign-in. Please try again.",
		"email": "{name} does not vouch for your e-mail address.", "unknown_person": "Nobody here belongs to your account at {name}. Ask an administrator.",
		"disabled": "You may not sign in at present. Ask an administrator.", "no_role": "None of your groups at {name} may come in here. Ask an administrator."},
	BadInput: map[string]string{"login": "A name for signing in is needed: short or an e-mail address, without a comma.", "name": "The name must be one line of at most 200 characters.",
		"roles": "Choose at least one role.", "token/name": "The token needs a name of one line.", "scopes": "Choose what it may do.",
		"expires": "It must expire, at the latest in two years.", "per_minute": "The limit must be a number of requests in a minute."},
	State: map[string]string{"active": "Active", "invited": "Invited", "disabled": "Kept out"},
	StepSays: map[string]string{"none": "At sign-in only your password is asked for. An authenticator app on your phone makes it safer.",
		"on": "At sign-in a code from your app is asked for.", "codes": "{n} recovery codes are left.", "sso": "You sign in at {name}, which looks after this.",
		"yes": "On", "no": "Off", "elsewhere": "At the identity provider"},
	Fact: map[string]string{"login": "Sign-in name", "roles": "Roles", "since": "Account since", "password": "Password since", "last": "Last sign-in",
		"step": "Second step", "sso": "Identity provider"},
	Role: map[string]string{"viewer": "Viewer", "operator": "Operator", "ops": "Operations", "admin": "Administrator"},
	RoleHelp: map[string]string{"viewer": "sees everything about invoices", "operator": "finance and support: checks, resolves, sends again, closes, imports",
		"ops": "pauses and resumes accounting systems", "admin": "people, tokens, systems and the trail"},
	Field: map[string]string{"expires_at": "works until", "per_minute": "requests in a minute (0: as the server is set)"},
	Scope: map[string]string{"items:read": "Read invoices", "items:write": "Record invoices", "import:write": "Import files", "systems:read": "Read the state of accounting systems"},
	ScopeHelp: map[string]string{"items:read": "items:read", "items:write": "items:write", "import:write": "import:write",
		"systems:read": "systems:read"},
	TokenState: map[string]string{"works": "Works", "expired": "Expired", "revoked": "Revoked"},
	Method:     map[string]string{"password": "by password", "single_sign_on": "at the identity provider"},

	// After an act on these pages.
	Did: map[string]string{"name": "The name was saved.", "roles": "The roles were saved. They hold from the next click on.", "disable": "Kept out, and signed out everywhere.",
		"enable": "May sign in again.", "added": "Added. They sign in at the identity provider.", "password": "Your password was changed. All your other sessions have ended.", "step_removed": "The second step was removed.",
		"session": "That session has ended.", "others": "All other sessions have ended.", "everywhere": "All sessions have ended.",
		"required": "A second step is required from now on.", "not_required": "A second step is not required any more.", "revoked": "The token works no more.",
		"step": "The second step is on."},

	// The trail; codes of item_… are acts on invoices.
	Act: map[string]string{"sign_in": "Signed in", "sign_in_started": "Password fitted", "sign_in_failed": "Sign-in refused", "second_step_failed": "Wrong code",
		"sign_out": "Signed out", "set_up": "Set up", "user_added": "Added a person", "user_invited": "Invited a person", "user_disabled": "Kept a person out",
		"user_enabled": "Let a person in again", "user_renamed": "Renamed a person", "email_changed": "Changed an e-mail address", "roles_changed": "Changed roles",
		"password_reset_link_made": "Made a one-time link", "password_link_used": "Used a one-time link", "password_changed": "Changed the password",
		"second_step_added": "Added a second step", "second_step_removed": "Removed a second step", "recovery_codes_renewed": "Renewed recovery codes",
		"recovery_code_used": "Used a recovery code", "second_step_requirement_changed": "Changed whether a second step is required",
		"single_sign_on_linked": "Linked to the identity provider", "session_revoked": "Ended a session", "all_sessions_revoked": "Ended all sessions",
		"token_created": "Made a token", "token_revoked": "Revoked a token", "export": "Took an export", "bulk_run_begun": "Began a bulk run", "bulk_run_stopped": "Stopped a bulk run", "import_begun": "Began an import", "import_stopped": "Stopped everything of an import", "automation_off": "Switched an automation off", "automation_on": "Switched an automation on", "automation_on_unproven": "Let an automation run on a system that was never proven", "caution": "Relies on less in a system after a proof", "system_paused": "Paused a system",
		"system_resumed": "Resumed a system", "policy_changed": "Changed limits", "look_first_on": "Began looking first", "system_added": "Connected a system", "system_removed": "Removed a system", "system_changed": "Changed a connection", "system_credentials": "Changed a login", "account_connected": "Connected an account", "account_reconnected": "Reconnected an account", "account_disconnected": "Disconnected an account", "look_first_off": "Ended looking first",
		"plan_created": "Set up a recurring plan", "plan_imported": "Imported a recurring plan", "plan_changed": "Changed a recurring plan",
		"plan_paused": "Paused a recurring plan", "plan_resumed": "Resumed a recurring plan", "plan_end": "Set the end of a recurring plan", "plan_approved": "Approved a recurring plan that resembles another",
		"plan_agreed": "Agreed to missed invoices of a plan", "plan_left_out": "Left missed periods of a plan out",
		"sender_connected": "Let a sender in", "sender_secret_renewed": "Gave a sender another secret", "sender_secret_ended": "Ended a sender's old secret", "sender_removed": "Ended a sender", "endpoint_connected": "Connected a receiver of outcomes", "endpoint_removed": "Ended a receiver of outcomes", "retention_changed": "Changed how long history is kept",
		"item_check": "Asked for a check", "item_retry": "Had it sent again", "item_attest": "Attested that it is not there", "item_resolve": "Marked as done",
		"item_close": "Closed", "item_approve": "Approved", "item_hold": "Stopped", "item_reopen": "Reopened", "item_correct": "Corrected", "item_assign": "Assigned", "item_note": "Added a note", "item_report": "Applied a report"},
	ActGroup: map[string]string{"sign-in": "Signing in and out", "failed": "Refused sign-ins", "people": "People and roles", "tokens": "API tokens", "items": "Invoices", "plans": "Recurring plans",
		"systems": "Systems, senders and receivers", "exports": "Exports"},
	Days: map[string]string{"30": "30 days", "90": "90 days", "365": "A year", "730": "Two years"},
}
