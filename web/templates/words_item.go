package templates

// itemWords are the texts of the page of one item and of the page on which it is corrected.
type itemWords struct {
	History, NoHistory, OlderHistory, OneExcerpt, NotePut, LookAgain, Compare, CompareField, CompareAsked, CompareThere, CompareWaits, CompareSeen, CompareResult,
	CloseWhy, CloseChoose, Differs, AssignTo, AssignDo, NobodyYet, HoldAll, HoldAllHelp, HoldAllDid, Beside, BesideAssigned, UnknownSince, MatchedBy, Named, AnsweredWith,
	OpenThere, CorrectTitle, CorrectSay, CorrectWaits, CorrectApproval, CorrectTheirWords, CorrectNone, CorrectNow, CorrectDo, CorrectPropose, CorrectPut, CorrectDrop,
	CorrectDropSay, CorrectWhy, CorrectBack, CorrectManyLines, CorrectLine, CorrectLines, CorrectInvoice, CorrectCheck, CorrectNoteOn string
	Field, Verdict, VerdictSign, State, CloseReason, FieldFault, FieldHint map[string]string
}

// ItemWords is the wording of these pages: English.
var ItemWords = itemWords{
	History: "What happened, newest first", NoHistory: "Nothing has happened yet.", OlderHistory: "Older tries",
	OneExcerpt: "Show what was exchanged", NotePut: "Add a note", LookAgain: "Load this page again to see what came of it",
	Compare: "What we asked for and what is there", CompareField: "", CompareAsked: "We asked for", CompareThere: "{system} holds", CompareWaits: "The correction",
	CompareSeen: "Seen {at}.", CompareResult: "Result",
	CloseWhy: "Reason", CloseChoose: "Choose a reason", Differs: "The amounts differ ({there} instead of {asked}). I know, and it counts all the same.",
	AssignTo: "Assign to a colleague", AssignDo: "Assign", NobodyYet: "Nobody",
	HoldAll: "Stop everything waiting from: {source}", HoldAllHelp: "Stops every waiting invoice that came from there, not only this one. What is on its way is let finish.",
	HoldAllDid: "Everything that waited from {source} was stopped. What was on its way is let finish.",
	Beside:     "{who} was here {at}: {what}.", BesideAssigned: "{who} has this one: it is assigned to them.",
	UnknownSince: "The outcome is not known yet (unknown since {at}); it is being checked.", MatchedBy: " Matched by {fields}.", Named: " It named {ref}.",
	AnsweredWith: " The answer was {status}.", OpenThere: "Open in {system}",

	CorrectTitle: "Correct {key}", CorrectSay: "Change what is wrong. The new version is sent; the old one is not in {system}.",
	CorrectWaits:      "It is not known yet whether the first version arrived in {system}. What you type is kept as a proposal and nothing is sent until that is known; then it is shown to you again.",
	CorrectApproval:   "It still waits for approval: a colleague of yours must approve the corrected version.",
	CorrectTheirWords: "What {system} said", CorrectNone: "Nothing was refused.", CorrectNow: "As it is now", CorrectDo: "Correct and send again", CorrectPropose: "Keep as a proposal",
	CorrectPut: "Put the correction in place and send", CorrectDrop: "Drop the correction that waits", CorrectDropSay: "The invoice stays as it was first recorded.",
	CorrectWhy: "Why it is corrected (for colleagues; may stay empty)", CorrectBack: "Back to the invoice",
	CorrectManyLines: "This invoice has {n} lines. They stay as they are; to change them, close this invoice and record a new one under another key.",
	CorrectLine:      "Line {n}", CorrectLines: "Lines", CorrectInvoice: "The invoice", CorrectCheck: "Not sent yet: please look at the marked fields.", CorrectNoteOn: "Note on the invoice",

	Field: map[string]string{"reference": "Our reference", "customer": "Customer", "total": "Total", "state": "State", "number": "Number", "customer_id": "Customer id in the accounting system",
		"customer_name": "Customer name", "amount": "Total amount", "currency": "Currency", "issue_date": "Invoice date", "due_date": "Payment due", "invoice_note": "Note on the invoice",
		"description": "Description", "quantity": "Quantity", "unit_price": "Unit price", "tax_code": "Tax code", "fields/reference": "reference", "fields/customer": "customer", "fields/total": "amount"},
	Verdict:     map[string]string{"same": "the same", "different": "different", "rounding": "the same but for rounding", "void": "void there", "": "not told"},
	VerdictSign: map[string]string{"same": "=", "different": "✕", "rounding": "≈", "void": "✕", "": "·"},
	State:       map[string]string{"draft": "Draft", "posted": "Issued", "void": "Void or deleted", "": "Not told"},
	CloseReason: map[string]string{"not_wanted": "Not to be invoiced any more", "mistake": "Recorded by mistake", "twice": "Recorded twice",
		"other_key": "Issued under another key", "test": "A test", "other": "Something else, see the note", "turned_down": "Turned down"},
	FieldFault: map[string]string{"missing": "This is needed.", "number": "Write it in plain digits, like 1200.50.", "currency": "Use a three-letter code such as EUR.",
		"date": "Write the day as 2026-11-30.", "due": "It is before the invoice date.", "long": "At most {n} characters.", "lines": "The lines add up to {sum}.",
		"decimals": "More decimals than {currency} has.", "negative": "It must be above zero: a credit note is something else.", "large": "That is more than can be invoiced.",
		"both": "Quantity and unit price go together."},
	FieldHint: map[string]string{"amount": "Like 1200.50", "issue_date": "Like 2026-11-30"},
}

var itemStatusSays = map[string]string{
	"queued":            "Nothing has been sent to {system} yet. It goes out {due}.",
	"queued/soon":       "Nothing has been sent to {system} yet. It goes out as soon as there is room.",
	"queued/again":      "It is not in {system}. It is sent again as soon as there is room.",
	"queued/stopped":    "It waits: {system} takes nothing at the moment.",
	"in_progress":       "It is being sent to {system} since {since}. The answer decides.",
	"in_progress/find":  "We are looking for it in {system} since {since}.",
	"pending":           "It may or may not be in {system}. We look again {due}.",
	"pending/soon":      "It may or may not be in {system}. We look now.",
	"pending/send":      "It may or may not be in {system}, which cannot be searched. It is sent again {due} in a way that cannot make a second one.",
	"failed":            "It is not in {system}. It is sent again {due}.",
	"failed/soon":       "It is not in {system}. It is sent again as soon as there is room.",
	"failed/stopped":    "It is not in {system}, which takes nothing at the moment. It is sent again afterwards.",
	"confirmed":         "It is in {system} as {ref}.",
	"confirmed/answer":  "It is in {system} as {ref}: {system} said so when it was sent.",
	"confirmed/lookup":  "It is in {system} as {ref}: we looked and found it.",
	"confirmed/late":    "It is in {system} as {ref}: the answer came late.",
	"resolved":          "{who} says that it is done, under {ref}.",
	"closed":            "{who} decided that it will not be done.",
	"seen":              "A record was seen there: {ref}.",
	"remark":            "Noted: {text}.",
	"last_look/owed":    "We look once more {due}, to be sure that there is only one.",
	"last_look/done":    "A last look has found nothing against it.",
	"last_look/missed":  "A last look was not possible.",
	"absent/lookup":     "Proven not there by looking at {at}.",
	"asked":             "{who} asked us to look: that happens in a moment.",
	"proposed":          "A correction waits until the outcome is known.",
	"overdue":           "It should have been settled by {at}.",
	"earlier":           "Earlier tries: {n}, listed below.",
	"settled_at":        "The last send had ended for certain at {at}; what you see there after that time counts.",
	"settled_at/future": "The last send may still be at work until {at}. What you see there before that time does not count.",
}

var itemReasons = map[string]string{
	"rejected":            "{system} refused it. It is not there.",
	"attempts_exhausted":  "It is not in {system}, and the allowed tries are used up.",
	"could_not_check":     "It may or may not be in {system}: looking there did not work.",
	"cannot_look_up":      "It was sent, no clear answer came, and {system} cannot be searched from here. Please look there yourself.",
	"mismatch":            "There is a record in {system}, but it differs from what was asked for.",
	"mismatch/correction": "The first version is in {system} as {ref}. The correction came too late for it and was not sent: put it right there.",
	"duplicates":          "There is more than one record in {system}.",
	"found_void":          "The record in {system} is void or deleted.",
	"contradiction":       "{system} said that it is there, and then did not show it.",
	"late_evidence":       "After it had been decided, it turned out that a record is in {system}.",
	"approval_required":   "The amount is above the limit. Somebody other than the person who recorded it must approve it.",
	"held":                "It was stopped and waits for a decision.",
}

var itemAction = map[string]string{"check": "Check now in {system}", "retry": "Send invoice again", "retry/first": "Send invoice now",
	"retry/step": "Do “{step}” again", "attest": "It is not there: send again", "resolve": "Mark as already in {system}",
	"close": "Close without sending", "turn-down": "Turn down", "correct": "Correct and send again", "correct/first": "Correct and send", "correct/waits": "Propose a correction", "correct/put": "Put the correction in place", "correct/approval": "Correct", "note": "Add a note", "check/waiting": "Look now in {system}", "approve": "Approve and send", "hold": "Stop it and decide later", "reopen": "Reopen",
	"assign": "Assign", "pause": "Pause sending", "resume": "Resume sending", "look-first": "End look-first"}

var itemActionHelp = map[string]string{"check": "Looks for it in {system}. Nothing is sent.",
	"retry":      "Sends it to {system}. It is certain that it is not there yet.",
	"attest":     "Look for {ref} in {system}. If it is not there, say where you looked.",
	"resolve":    "It is there already: name its number. Nothing is sent.",
	"turn-down":  "It is closed and nothing is sent. Say why: the person who recorded it reads it.",
	"correct":    "Change what is wrong; the new version is sent.",
	"note":       "Colleagues see it here. Nothing else changes.",
	"close":      "Nothing more is sent. If it does turn up in {system}, it comes back to you.",
	"approve":    "Lets it go out to {system}.",
	"hold":       "Nothing more is sent until somebody decides.",
	"reopen":     "Puts it back to what needs a person. Nothing is sent.",
	"pause":      "Nothing new is sent. What is on its way is let finish; looking goes on.",
	"resume":     "What waits is sent.",
	"look-first": "From now on invoices are sent again without a look before.",
	"note/min":   "At least {n} characters."}

var itemRefusal = map[string]string{
	"open_attempt":       "It is on its way since {since}: wait for the answer.",
	"previous_step":      "The step before it must be finished first.",
	"found":              "A record was seen in {system}: sending again would make a second one.",
	"reported":           "There is word that {system} has it already: check there first.",
	"unknown":            "Something was sent and we do not know whether it arrived: check in {system} first.",
	"settling":           "The last send may still be at work until {until}.",
	"look_first":         "{system} is set to look first: check there before anything is sent.",
	"key_expired":        "It was sent too long ago to be sent again safely: look in {system} yourself.",
	"status":             "Not possible in this state.",
	"status/retry":       "There is nothing to send in this state.",
	"status/resolve":     "Only what needs a person can be marked. Stop it first, or wait.",
	"status/close":       "Only what needs a person can be closed. Stop it first, or wait.",
	"status/attest":      "Only what needs a person can be decided like this.",
	"note":               "A note is needed.",
	"note/attest":        "Say in a sentence where you looked (at least {n} characters).",
	"reference":          "The number in the accounting system is needed.",
	"own":                "You recorded it yourself: a colleague must approve it.",
	"person":             "Only a signed-in person may do this.",
	"cannot_look_up":     "{system} cannot be searched from here: please look there yourself.",
	"approval":           "It must be approved, not sent again.",
	"correction_waiting": "A correction waits: put it in place or drop it first.",
	"why":                "Choose a reason.",
	"differs":            "The amounts differ: tick the box if it counts all the same.",
	"colleague":          "Choose a colleague from the list.",
	"found/correct":      "A record was seen in {system}: correct it there, or void it there and record a new invoice here.",
	"status/correct":     "Only what waits or needs a person can be corrected.",
	"unchanged":          "Nothing would change.",
	"invalid":            "It cannot be issued like this.",
	"paused":             "{system} takes nothing at the moment.",
	"role":               "Your account may look, but not do this.",
	"too_long":           "The text is too long.",
	"taken":              "That record already belongs to another invoice: search for its number.",
	"not_this_attempt":   "It has moved on meanwhile.",
	"already_recorded":   "It is recorded already.",
}

var itemDid = map[string]string{"check": "Done {at}: we look in {system} now.", "retry": "Done {at}: it is sent again.",
	"attest": "Done {at}: you say that it is not there, and it is sent again.", "resolve": "Done {at}: marked as already there.",
	"close": "Done {at}: closed.", "approve": "Done {at}: approved, it goes out.", "hold": "Done {at}: stopped.",
	"reopen": "Done {at}: reopened.", "note": "Done {at}: your note is on record.", "turn-down": "Done {at}: turned down.",
	"correct": "Done {at}: corrected, and the new version is sent.", "correct/waits": "Done {at}: your correction is kept. Nothing is sent until the outcome of the first version is known.",
	"correct/approval": "Done {at}: corrected. It waits for approval.", "dropped": "Done {at}: the correction was dropped.", "check/back": "Your check is back. ", "assign": "Done {at}: assigned.", "refused": "Not done. {why}",
	"conflict": "Not done: already handled by {who} {at} ({what}). What you see now is how it stands.",
	"moved":    "Not done: it has moved on {at} while you were looking ({what}). What you see now is how it stands."}

var itemDecision = map[string]string{"check": "{who} asked for a check {at}", "retry": "{who} had it sent again {at}",
	"attest": "{who} looked, found it not there and had it sent again {at}", "resolve": "{who} marked it as done {at}: {ref}",
	"close": "{who} closed it {at}", "close/why": "{who} closed it {at}: {why}", "close/turned_down": "{who} turned it down {at}", "approve": "{who} approved it {at}", "hold": "{who} stopped it {at}",
	"reopen": "{who} reopened it {at}", "correct": "{who} corrected it {at}", "note": "{who} noted {at}:", "report": "{who} applied a report of the accounting system {at}", "assign": "{who} assigned it to {ref} {at}",
	"assign/nobody": "{who} released it {at}",
	"short/check":   "asked for a check", "short/retry": "had it sent again", "short/attest": "had it sent again", "short/resolve": "marked it as done",
	"short/close": "closed it", "short/approve": "approved it", "short/hold": "stopped it", "short/reopen": "reopened it",
	"short/correct": "corrected it", "short/note": "added a note", "short/report": "applied a report", "short/assign": "assigned it", "short/": "it changed", "short/send": "it was sent", "short/find": "we looked"}

var itemSend = map[string]string{"accepted": "Sent {at}. {system} accepted it as {ref}.", "rejected": "Sent {at}. {system} refused it; nothing was created.",
	"not_sent": "Not sent {at}: nothing left for {system}.", "already_exists": "Sent {at}. {system} says that it has it already.",
	"deferred": "Sent {at}. {system} asked us to come back later; nothing was done.", "unknown": "Sent {at}. No clear answer came.",
	"": "Being sent since {at}.", "asked": " Asked by {who}.", "late": "A late answer to try {n}, {at}: "}

var itemSendShort = map[string]string{"accepted": "Sent {at}, accepted as {ref}.", "rejected": "Sent {at}, refused.", "not_sent": "Could not be sent {at}.",
	"already_exists": "Sent {at}; {system} said that it has it already.", "deferred": "Tried {at}, asked to come back later.",
	"unknown": "Sent {at}, no answer came.", "unknown/status": "Sent {at}, the answer was not clear.", "": "Being sent since {at}."}

var itemFind = map[string]string{"found_matching": "Looked in {system} {at}: it is there as {ref}, and it matches.",
	"found_different": "Looked in {system} {at}: there is {ref}, but it differs.", "found_several": "Looked in {system} {at}: there is more than one.",
	"found_void": "Looked in {system} {at}: {ref} is there, but void or deleted.", "not_found": "Looked in {system} {at}: not there.",
	"could_not_tell": "Tried to look in {system} {at}: no reliable answer.", "deferred": "Tried to look in {system} {at}: asked to come back later.",
	"": "Looking in {system} since {at}."}

var itemFindShort = map[string]string{"found_matching": "Looked in {system} at {times}: it is there.", "found_different": "Looked in {system} at {times}: it is there but differs.",
	"found_several": "Looked in {system} at {times}: more than one is there.", "found_void": "Looked in {system} at {times}: there, but void or deleted.",
	"not_found": "Looked in {system} at {times}: not there.", "could_not_tell": "Tried to look at {times}: no reliable answer.",
	"deferred": "Tried to look at {times}: asked to come back later.", "": "Looking since {times}."}
