package templates

// bulkWords are the texts about doing something with many invoices at once.
type bulkWords struct {
	Runs, NewTitle, NewOne, OfList, Ticked, BackToList, Counted, OtherPlans, Note, NoteHint, Why, WhyNone, To, CanAll, Can, CanOne, CanNone, Look, LookAll, Cannot,
	RunTitle, By, StoppedBy, Waits, Fewer, NoRuns, NoRunsSay, Stop, StopHelp, LookAgain, Export, Results, Result, All, Bar, NowStatus, Number, PlanName,
	Progress, Size, NoResults, OlderRuns, NewestRuns, Started, StartedEnded, DidStop, Gone,
	Freezes, Frozen, Abandoned, AskedBy string
	Plan, PlanSay, PlanDo, State, StateSign, StateTone, Class, ClassSign, ClassTone, Outcome, Sum, Refused, Problem, Empty map[string]string
	PlanSteps                                                                                                              map[string][]string
}

// BulkWords is the wording about bulk runs: English.
var BulkWords = bulkWords{
	Runs: "Bulk runs", NewTitle: "{n} invoices at once", NewOne: "1 invoice", OfList: "All that match the list.", Ticked: "Those that you ticked.",
	BackToList: "Back to the list", Counted: "Only the first {n} were looked through for the figures below; all are dealt with.",
	OtherPlans: "Or only one thing with all of them", Note: "Note", NoteHint: "Kept with each invoice.",
	Why: "Reason", WhyNone: "Choose a reason", To: "To whom", CanAll: "Possible with all of them.", Can: "Possible with {n} of {all}.",
	CanOne: "Possible.", CanNone: "Possible with none of them.", LookAll: "All of them can be looked for.", Look: "{n} of {all} can be looked for.", Cannot: "{n}: {why}",
	RunTitle: "Bulk run {n}: {plan}", By: "Begun {at} by {who}, with {n}.", StoppedBy: "Stopped by {who} {at}. What was not reached yet stays as it is.",
	Waits:  "Each is looked at in its accounting system, no faster than that allows. You can leave this page: it goes on.",
	Fewer:  "When they were chosen there were {n}; some have changed since and are no longer on that list.",
	NoRuns: "No bulk run yet", NoRunsSay: "Tick invoices in the list, or take all that match, to deal with many at once.",
	Stop: "Stop this run", StopHelp: "What has been done stays done. The rest is not touched.", LookAgain: "See how far it is", Export: "Download the results (CSV)",
	Results: "Results", Result: "Result", All: "All", Bar: "{n} of {all} dealt with", NowStatus: "Now", Number: "Bulk run {n}", PlanName: "What", Progress: "Progress",
	Size: "Invoices", NoResults: "None.", OlderRuns: "Older runs", NewestRuns: "Newest runs",
	StartedEnded: "It has ended: the results are below.", Started: "Begun. It goes on by itself; this page shows how far it is.", DidStop: "It is being stopped: what is in hand is let finish.",
	Gone: "No such invoice", Freezes: "The list is being written down as you saw it; nothing is done with it before that is complete. You can leave this page: it goes on.",
	Frozen:    "{n} of {all} written down",
	Abandoned: "Nothing was done: by the time the list was written down, its search found other invoices than you had seen, or there were more than {n}. Go back to the list and begin again.", AskedBy: "Asked for {at} by {who}, with {n}.",

	Plan: map[string]string{"repair": "Check, then settle or send again", "check": "Check now", "retry": "Send again", "hold": "Stop and decide later",
		"close": "Close without sending", "assign": "Assign"},
	PlanSay: map[string]string{"repair": "The safe way after an outage. Nothing is sent without a look before.",
		"check":  "Looks for each in its accounting system. Nothing else is done.",
		"retry":  "Sends those of which it is certain that they are not there. The others stay as they are.",
		"hold":   "Nothing more is sent until somebody decides.",
		"close":  "They will not be done. If one does turn up in its accounting system, it comes back to you.",
		"assign": "Names the colleague who works on them."},
	PlanSteps: map[string][]string{"repair": {"Look for each in its accounting system.", "Mark as resolved what is there and the same.",
		"Send again what is proven not there.", "Leave the rest for a person: what differs, what was stopped, what must be approved."}},
	PlanDo: map[string]string{"repair": "Check and settle {n}", "check": "Check {n}", "retry": "Send again what is not there", "hold": "Stop {n}", "close": "Close {n}",
		"assign": "Assign {n}"},

	State: map[string]string{"preparing": "Being prepared", "running": "Running", "stopping": "Being stopped", "stopped": "Stopped", "finished": "Finished",
		"abandoned": "Given up"},
	StateSign: map[string]string{"preparing": "…", "running": "…", "stopping": "…", "stopped": "×", "finished": "✓", "abandoned": "×"},
	StateTone: map[string]string{"preparing": "busy", "running": "busy", "stopping": "busy", "stopped": "quiet", "finished": "good", "abandoned": "quiet"},
	Class: map[string]string{"done": "Done", "left": "Left for a person", "failed": "Not possible", "skipped": "Skipped", "todo": "Still to do",
		"todo/ended": "Not touched"},
	ClassSign: map[string]string{"done": "✓", "left": "!", "failed": "×", "skipped": "–", "todo": "○"},
	ClassTone: map[string]string{"done": "good", "left": "busy", "failed": "ask", "skipped": "wait", "todo": ""},

	// What came of one invoice; {ref} is its number there, {who} acted {at}.
	Outcome: map[string]string{"": "Still to do.", "looking": "The look began {at}.", "stopped": "Not touched: the run was stopped before.", "abandoned": "Not touched.",
		"stopped/looking": "A look was asked for; nothing else was done.",
		"acted/hold":      "Stopped.", "acted/close": "Closed.", "acted/assign": "Assigned to {to}.", "acted/assign/nobody": "Released.",
		"sent": "Proven not there: sent again.", "sent/retry": "Not there: sent again.", "found": "It is there as {ref}: settled.",
		"seen": "It is there as {ref}, and the same. Left to be decided.", "seen/check": "It is there as {ref}, and the same.",
		"absent": "Looked, and it is not there. Left to be decided.", "absent/check": "Looked, and it is not there.",
		"differs": "A record is there, but it differs: {ref}.", "several": "More than one record is there.", "void": "The record there is void or deleted: {ref}.",
		"unclear": "Looked, but no reliable answer came.", "waiting": "Still not known after an hour. Looking goes on.",
		"refused": "Left as it is. {why}", "refused/open_attempt": "Left as it is: it was on its way at that moment.", "settled": "It was finished already.", "changed": "Skipped: {who} was first {at} ({what}).",
		"changed/moved": "Skipped: it had moved on {at} ({what}).", "gone": "Skipped: there is no such invoice.",
		"failed": "Something went wrong on our side; nothing was changed."},
	// The same as sums.
	Sum: map[string]string{"looked": "Looked at", "acted/hold": "Stopped", "acted/close": "Closed", "acted/assign": "Assigned", "sent": "Sent again", "found": "Found and settled",
		"seen": "Found the same, left", "seen/check": "There, and the same", "absent": "Not there, left", "absent/check": "Not there", "differs": "Different there", "several": "More than one there",
		"void": "Void there", "unclear": "No reliable answer", "waiting": "Not known after an hour", "refused": "Not allowed", "settled": "Finished already",
		"changed": "Changed meanwhile", "gone": "No such invoice", "failed": "Went wrong"},
	// Why a plan is not possible with some of them, in the forecast.
	Refused: map[string]string{"open_attempt": "on their way at this moment", "previous_step": "the step before them is not finished", "found": "a record was seen there",
		"reported": "their accounting system says that it has them", "unknown": "not certain that they are not there: check first",
		"settling": "the last send may still be at work", "look_first": "their accounting system is set to look first",
		"key_expired": "sent too long ago to be sent again safely", "status": "not in a state for it", "cannot_look_up": "their accounting system cannot be searched from here",
		"approval": "must be approved, one by one", "correction_waiting": "a correction waits", "": "not possible at the moment"},
	Problem: map[string]string{"note": "A note is needed.", "why": "Choose a reason.", "too_long": "The note is too long.", "colleague": "Choose a colleague from the list.",
		"plan": "Choose what to do.", "moved": "The list is another one now than when you looked. Nothing was begun; these are those that match now.",
		"large": "That is more than {n}, the most of one run. Narrow the list, for example by system or month.", "": "That is not possible."},
	Empty: map[string]string{"none": "Nothing is ticked. Go back to the list and tick some invoices, or take all that match.",
		"all": "Nothing matches this list any more. All is well.", "list": "That list was not understood. Go back to it and try again.",
		"large": "The list has more than {n} invoices, the most of one run. Narrow it, for example by system or month."},
}
