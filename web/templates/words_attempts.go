package templates

// attemptWords are the texts of the pages of attempts.
type attemptWords struct {
	Nav, Title, Say, SearchHint, Started, Key, Result, Status, Took, System, Node, Asked, Error, Nobody,
	Looked, LookedNone, Further, Older, Newest, Export, EmptyTitle, Empty, NoneTitle, NoneSearched, NoOlder,
	One, Crumb, Item, Before, After, What, Means, Details, Exchanged, NotKept, NotKeptLong, OfItem, Backwards string
	Name, Badge, Sign, Tone, Judged, Condition, Any, Hint, Value, Chip, Problem, How, NoneOfKey, Fact map[string]string
}

// Attempts is the wording of these pages: English.
var Attempts = attemptWords{
	Nav: "Attempts", Title: "Attempts", Say: "Every call to an accounting system, newest first: each sending and each look. While this page is open, newer ones are offered.",
	SearchHint: "Key of an invoice, or how it begins", Started: "Began", Key: "Key", Result: "Result", Status: "HTTP", Took: "Took", System: "System", Node: "Server",
	Asked: "Asked by", Error: "Error", Nobody: "nobody: by itself",
	Looked: "Looked through the attempts back to {at}: there are older ones.", LookedNone: "None among the attempts back to {at}. There are older ones.",
	Further: "Look further back", Older: "Older attempts", Newest: "From the newest", Export: "Download all that match, however old, as CSV",
	EmptyTitle: "No attempt yet", Empty: "Nothing has been sent or looked up so far. The first call appears here by itself.",
	NoneTitle: "No attempt matches", NoneSearched: "All attempts were looked through. Remove a filter to see more.", NoOlder: "There are no older ones.",
	One: "Attempt {n} · {kind}", Crumb: "All attempts", Item: "The invoice and all that happened to it", Before: "Attempt before", After: "Attempt after",
	What: "What happened", Means: "What it means", Details: "Details", Exchanged: "What was exchanged", NotKept: "Nothing of what was exchanged is on record.",
	NotKeptLong: "Nothing of what was exchanged is on record any more, or nothing was. Of a settled invoice it is removed after a time, that admins set under History kept.",
	OfItem:      "All attempts of this invoice", Backwards: "The end of the time was before its beginning: they were exchanged.",

	Name: map[string]string{"send": "Send", "find": "Look", "late": "Late answer", "report": "From a report"},
	Badge: map[string]string{"accepted": "Accepted", "rejected": "Refused", "not_sent": "Not sent", "already_exists": "Said to be there already", "unknown": "No clear answer",
		"found_matching": "Found, matches", "found_different": "Found, differs", "found_several": "Found more than one", "found_void": "Found void", "not_found": "Not there",
		"could_not_tell": "Could not be told", "deferred": "Put off", "open": "Under way"},
	Sign: map[string]string{"accepted": "✓", "rejected": "!", "not_sent": "↻", "already_exists": "?", "unknown": "?", "found_matching": "✓", "found_different": "!",
		"found_several": "!", "found_void": "!", "not_found": "○", "could_not_tell": "?", "deferred": "↻", "open": "…"},
	Tone: map[string]string{"accepted": "good", "rejected": "ask", "not_sent": "wait", "already_exists": "busy", "unknown": "busy", "found_matching": "good", "found_different": "ask",
		"found_several": "ask", "found_void": "ask", "not_found": "wait", "could_not_tell": "busy", "deferred": "wait", "open": "busy"},

	// What was concluded from an attempt, and why.
	Judged: map[string]string{
		"accepted":        "{system} answered with the record that it made. That is proof that a record is there.",
		"rejected":        "{system} refused it in an answer that says so. Nothing was made by this attempt. It says nothing about what earlier attempts did.",
		"not_sent":        "Nothing of the request was handed over to {system}. Nothing was made by this attempt. It says nothing about what earlier attempts did.",
		"already_exists":  "{system} says that it holds this already. This attempt made nothing. What is there has still to be settled.",
		"unknown":         "The request may have arrived: no answer came that tells. So it counts as possibly there until that is settled.",
		"found_matching":  "Exactly one record has our reference, and customer, currency and total are the same. That is proof that it is there.",
		"found_different": "A record has our reference, but is not what was asked for. A person decides; it is never sent again by itself.",
		"found_several":   "More than one record has our reference. A person decides; it is never sent again by itself.",
		"found_void":      "What has our reference is void or deleted there. A person decides; it is never sent again by itself.",
		"not_found":       "The search went through, in the right books, and found nothing. It counts as proof only if it began after the last sending had ended for certain, as often as {system} needs.",
		"could_not_tell":  "The search did not go through, or cannot be trusted. It proves nothing.",
		"deferred":        "Nothing was done: {system} was not called, did not let us in, or asked to be called later. It does not count as a try, and says nothing about earlier attempts.",
		"open":            "It is not over. Until it is, nobody can act on this invoice.",
		"late":            "This answer came after its attempt had been given up. It is weighed with everything else that is known.",
		"report":          "A report of {system} was compared with what is known here.",
	},

	Condition: map[string]string{"system": "Accounting system", "automation": "Automation", "kind": "Kind", "result": "Result", "status": "HTTP status", "node": "Server",
		"asked": "Asked by", "from": "Began from ({zone})", "to": "Began until ({zone})", "longer": "Took longer than"},
	Any:  map[string]string{"system": "Any system", "automation": "Any automation", "kind": "Any kind", "result": "Any result", "asked": "Anyone"},
	Hint: map[string]string{"status": "503, 5xx or none", "node": "Name of the server", "from": "2026-11-29 14:00", "to": "2026-11-29 15:30", "longer": "2 s"},
	Value: map[string]string{"asked/anybody": "Somebody", "asked/me": "Me", "asked/person": "{name}", "asked/token": "{name} (API token)",
		"asked/automation": "Notice from {name}", "asked/console": "A command on the server", "status/none": "none"},
	Chip: map[string]string{"": "{label}: {value}", "from": "From {value}", "to": "Until {value}", "longer": "Longer than {value}", "status": "HTTP {value}"},
	Problem: map[string]string{"kind": "There is no kind “{value}”: it was left out.", "result": "There is no result “{value}”: it was left out.",
		"status": "“{value}” is no HTTP status: it was left out. Write 503, 5xx, or none for no answer.", "asked": "“{value}” is nobody who can be chosen: it was left out.",
		"from": "“{value}” is no time: it was left out. Write it like 2026-11-29 14:00.", "to": "“{value}” is no time: it was left out. Write it like 2026-11-29 14:00.",
		"longer": "“{value}” is no length of time: it was left out. Write it with its unit, like 2 s or 1 min 30 s.",
		"after":  "The place in the list was not understood: this is its beginning.", "": "“{value}” is too long: it was left out."},
	How: map[string]string{"exact": "“{text}”: exactly this key.", "prefix": "No key is exactly “{text}”. These begin with it.",
		"none": "There is no key “{text}”, and none that begins with it."},
	NoneOfKey: map[string]string{"exact": "Nothing was sent or looked up for this invoice so far.", "prefix": "Nothing was sent or looked up for the invoices with such a key so far."},
	Fact: map[string]string{"began": "Began", "ended": "Ended", "took": "Took", "send_by": "To be sent by", "node": "Server", "asked": "Asked by", "status": "HTTP status", "result": "Result",
		"late_for": "Late answer to", "attempt": "Attempt {n}", "reference": "Our reference", "key": "Key that travelled", "revision": "Version of the content", "books": "Books reached there",
		"id": "Id there", "number": "Number there", "seen": "Seen there", "trace": "Trace"},
}
