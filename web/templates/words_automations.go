package templates

// automationWords is the wording about automations.
type automationWords struct {
	Nav, Say, SendsTo, Nowhere, LastNew, Never, NextRun, NothingNext, DueNow, Numbers, More, Plans,
	On, Off, OffSince, OffGoesOn, OffWhy, RunDo, RunHelp, RunOff, OffDo, OffHelp, OnDo, OnHelp, Reason, ReasonHint,
	Changed, Kept, Then, Unproven, UnprovenAnd, UnprovenRun, UnprovenOn,
	LetTitle, LetSay, LetName, LetHint, LetDo, LetNone, LetNoName string
	Title, What, Did, Ran map[string]string
}

// Automations is the wording about automations in use: English.
var Automations = automationWords{
	Nav:     "Automations",
	Say:     "What records invoices, where they are sent, and whether anything new may come.",
	SendsTo: "Sends to", Nowhere: "Nothing recorded yet",
	LastNew: "Last new invoice", Never: "Never", NextRun: "Next run", NothingNext: "Nothing is planned", DueNow: "Due now, runs within a minute",
	Numbers: "Invoices by status", More: "{n}+", Plans: "See the plans", Then: " → ",
	On: "On", Off: "Switched off",
	OffSince:  "Switched off by {who}, {at}. Nothing new is recorded; whoever sends something is told so.",
	OffGoesOn: "What is recorded already goes on.",
	OffWhy:    "Reason: {text}",
	RunDo:     "Run now",
	RunHelp:   "Run now records what is due and nothing before its day; pressing it twice makes nothing twice.",
	RunOff:    "It is switched off: switch it on first.",
	OffDo:     "Switch off", OffHelp: "Nothing new is recorded from then on, on every server. What is recorded already goes on: pause the accounting system to stop that.",
	OnDo: "Switch on", OnHelp: "New invoices are recorded again.",
	Reason: "Reason", ReasonHint: "Whoever is refused reads it.",
	Changed:  "Somebody else switched {name} meanwhile. Nothing was changed; look at it again.",
	Unproven: "“{name}” has never sent anything to {systems}, and that was never proven to make nothing twice. Prove it first, or run it anyway; that goes on record.", UnprovenAnd: " and ",
	UnprovenRun: "Run anyway", UnprovenOn: "Switch on anyway",
	LetTitle: "Begin on a system that was never proven",
	LetSay:   "Nothing is recorded for an accounting system that was never proven to make nothing twice, before an admin agrees, once for each automation. Prove it first, or agree here; that goes on record.",
	LetName:  "Automation", LetHint: "As the program or file names it, for example invoices", LetDo: "Let it begin", LetNoName: "Name the automation.",
	LetNone: "Nothing needed to be agreed to: {name} has begun there, was let begin, or the system is proven.",
	Kept:    "You were signed out. Nothing was switched; what you had typed is still here.",

	Title: map[string]string{"recurring": "Recurring invoices", "orders": "Confirmed orders", "invoices": "Invoices sent in or typed in", "import": "Imported files",
		"api": "Sent by programs"},
	What: map[string]string{"recurring": "Records the invoice of every plan on the first day of its period.",
		"orders":   "Records an invoice for every order that a shop or program reports as confirmed.",
		"invoices": "Records invoices that programs send or that people bring in as a file.",
		"import":   "Records invoices from files.",
		"api":      "Records invoices that programs send.",
		"":         "Recorded under a name that a program or file gave."},
	Did: map[string]string{"off": "{name} is switched off.", "on": "{name} is switched on.", "begin": "{name} may begin. It is on record."},
	Ran: map[string]string{
		"none":     "{name} ran. Nothing was due.",
		"new":      "{name} ran and recorded {n} invoices.",
		"new/one":  "{name} ran and recorded 1 invoice.",
		"asks":     "{n} plans have more than one period to catch up and wait for an answer.",
		"asks/one": "1 plan has more than one period to catch up and waits for an answer.",
		"problem":  "Not everything could be recorded: {text}",
	},
}
