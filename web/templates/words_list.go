package templates

// listWords are the texts of the list of invoices.
type listWords struct {
	Search, SearchHint, Clear, Filter, FilterDo, FilterClear, Remove, System, Why, Attempts, LastTry, LastError, Assigned, Tick, Ticked, All, AllOne, AllMany,
	Matches, MatchesOne, MatchesMany, Download, Views, NoViews, ViewHere, ViewName, ViewHint, ViewShare, ViewSave, ViewDelete, ViewMine, ViewShared,
	ViewName60, ByError, ByItem, Group, GroupError, NoError, Count, Oldest, Newest, GroupSays, GroupMore, SearchEverywhere, WithoutFilter,
	Here, Other, Pages, Exchanged string
	Formats, How, Condition, Any, Hint, Value, Age, Chip, Problem, Reason, Says, Overdue, Did, Column, EmptyTitle, Empty map[string]string
}

// Lists is the wording of the list: English.
var Lists = listWords{
	Search: "Search", SearchHint: "Key, number, customer or amount", Clear: "Clear the search", Filter: "Filter", FilterDo: "Show", FilterClear: "Remove all filters",
	Remove: "Remove this filter", System: "System", Why: "Why it is here", Attempts: "Tries", LastTry: "Last try", LastError: "Last error", Assigned: "Assigned to",
	Tick: "Tick {key}", Ticked: "With ticked…", All: "With all {n} that match…", AllOne: "With the one that matches…", AllMany: "With all that match (more than {n})…",
	Matches: "{n} invoices", MatchesOne: "1 invoice", MatchesMany: "More than {n} invoices", Download: "Download this list:",
	Views: "Views", NoViews: "No list has been saved yet.", ViewHere: "Save this list as a view", ViewName: "Name", ViewHint: "For example: Books, older than a day",
	ViewShare: "Everybody sees it", ViewSave: "Save view", ViewDelete: "Delete", ViewMine: "only you see it", ViewShared: "everybody sees it",
	ViewName60: "The view needs a name of at most 60 characters.",
	ByError:    "Group by error", ByItem: "Show single invoices", Group: "Trouble", GroupError: "Error", NoError: "No error was reported", Count: "Invoices",
	Oldest: "Longest since", Newest: "Latest", GroupSays: "{n} of {all} have the same trouble in {system}: it is best seen as one thing.",
	GroupMore:        "There are smaller groups besides these.",
	SearchEverywhere: "Search everywhere, without filters", WithoutFilter: "Show the list without filters",
	Here: "shown now", Other: "Other", Pages: "Pages",
	Exchanged: "The smaller and the larger amount were exchanged.",

	Formats: map[string]string{"csv": "CSV", "xlsx": "Excel"},
	How: map[string]string{"exact": "“{text}”: exact match.", "amount": "“{text}” taken as an amount: these are for exactly that.",
		"prefix": "No exact match for “{text}”. These begin with it.", "part": "No exact match for “{text}”. These contain it.", "newest": "No exact match for “{text}”. The newest that contain it are shown; type a third letter to search everything.",
		"none": "No exact match for “{text}”, and nothing like it.", "none/here": "“{text}” is not in this list, and nothing like it."},

	// The conditions of the filter: their labels, what an empty one means, and how they look once they hold.
	Condition: map[string]string{"status": "Status", "reason": "Reason", "system": "Accounting system", "automation": "Automation", "assigned": "Assigned to",
		"age": "Unchanged for", "overdue": "In time", "from": "Amount from", "to": "Amount to", "currency": "Currency", "period": "Month", "source": "Came from", "error": "Error"},
	Any: map[string]string{"status": "Any status", "reason": "Any reason", "system": "Any system", "automation": "Any automation", "assigned": "Anybody",
		"age": "Any time", "overdue": "Any", "currency": "Any currency"},
	Hint:  map[string]string{"from": "100.00", "to": "5,000.00", "currency": "EUR", "period": "2026-11", "source": "import:7", "error": "As the group shows it"},
	Value: map[string]string{"assigned/me": "Me", "assigned/nobody": "Nobody", "overdue/1": "Overdue only"},
	Age:   map[string]string{"1h": "more than 1 hour", "1d": "more than 1 day", "3d": "more than 3 days", "1w": "more than 1 week"},
	Chip:  map[string]string{"": "{label}: {value}", "overdue": "{value}", "from": "At least {value}", "to": "At most {value}", "age": "Unchanged for {value}"},

	// What in an address was not understood. The rest of it holds.
	Problem: map[string]string{"tab": "There is no list “{value}”.", "status": "There is no status “{value}”: it was left out.",
		"reason": "There is no reason “{value}”: it was left out.", "age": "“{value}” is no age that can be chosen: it was left out.",
		"from": "“{value}” is no amount: it was left out. Write it like 1234.50.", "to": "“{value}” is no amount: it was left out. Write it like 1234.50.",
		"currency": "“{value}” is no currency: it was left out. Write three letters, for example EUR.",
		"period":   "“{value}” is no month: it was left out. Write it like 2026-11.", "overdue": "“{value}” was not understood: it was left out.",
		"after": "The place in the list was not understood: this is its beginning.", "group": "Grouping by “{value}” is not possible.",
		"": "“{value}” is too long: it was left out."},

	// Why an item is in the list, by reason and by status.
	Reason: map[string]string{
		"rejected":           "It was refused and is not there.",
		"attempts_exhausted": "It is not there, and the tries are used up.",
		"could_not_check":    "It may be there: we could not look.",
		"cannot_look_up":     "It may be there, and we cannot look: please look there yourself.",
		"mismatch":           "A record is there, but it differs.",
		"duplicates":         "There is more than one record.",
		"found_void":         "The record there is void or deleted.",
		"contradiction":      "It was said to be there, and then not shown.",
		"late_evidence":      "It was decided here, and then a record turned up.",
		"approval_required":  "The amount is above the limit: a colleague must approve it.",
		"held":               "It was stopped and waits for a decision.",
	},
	Says: map[string]string{"queued": "Not sent yet. It goes out {due}.", "queued/soon": "Not sent yet. It goes out as soon as there is room.",
		"queued/again":   "It is not there. It is sent again as soon as there is room.",
		"queued/stopped": "Not sent yet: {system} takes nothing at the moment.", "in_progress": "Sending began {since}.",
		"in_progress/find": "We have been looking for it since {since}.", "pending": "It may be there. We look again {due}.", "pending/soon": "It may be there. We look now.",
		"pending/send": "It may be there. It is sent again safely {due}.", "failed": "It is not there. It is sent again {due}.",
		"failed/soon": "It is not there. It is sent again now.", "failed/stopped": "It is not there, and {system} takes nothing at the moment.",
		"confirmed": "It is there as {ref}.", "resolved": "{who} says that it is done, under {ref}.", "closed": "It will not be done."},
	Overdue: map[string]string{"paused": "Overdue: {system} is paused", "login": "Overdue: {system} refuses our login", "breaker": "Overdue: {system} does not answer",
		"look_first": "Overdue: everything is looked up first", "person": "Overdue: waits for a person", "": "Overdue: it is not getting through"},

	Did: map[string]string{"view-saved": "The view was saved.", "view-deleted": "The view was deleted."},

	// Headings of the files. Those of the first columns are the names that the import asks for: see export.go.
	Column: map[string]string{"zone": "{name} ({zone})", "sheet": "Invoices", "more": "Invoices {n}"},

	EmptyTitle: map[string]string{"filter": "Nothing matches these filters", "search": "Nothing found", "later": "Nothing more",
		"connect": "First connect an accounting system", "record": "Nothing is recorded yet", "wait": "No accounting system is connected yet"},
	Empty: map[string]string{"filter": "What is not listed here is not lost: remove a filter to see more.", "search": "Check the spelling, or search for a part of it.",
		"later":   "What was here has changed meanwhile, and moved to the beginning.",
		"connect": "Invoices are recorded here once there is a system to send them to.", "wait": "An administrator connects it under Accounting systems.",
		"record": "Import a file, set up a recurring invoice, or let a shop send its orders."},
}
