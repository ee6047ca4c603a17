package templates

import (
	"strconv"
	"strings"
)

// planWords is the wording about recurring invoices.
type planWords struct {
	// The list.
	Nav, Title, New, Import, Export, Month, Search, Empty, EmptySay, NoneFound, NoneFoundSay, Code, Customer, Amount, Currency, Cadence, Next, State, Last,
	NoNext, NoLast, More, First, All string
	// The form.
	NewTitle, Who, HowOften, When, Lines, Extras, Line, AddLine, RemoveLine, Save, Show, Cancel, ProrateOn, ProrateHelp, LinesHelp, Refused, ChooseSystem,
	ChangeTitle, ChangeSave, FromStart, Planned, DropLater, Stale, StaleAct, Somebody string
	// The preview and the calendar.
	PreviewTitle, PreviewEmpty, Missing, Zone, Calendar, CalendarSay, CalendarEnd, EachInvoice, PartOf, Instead, NewPrice, Begun, Today,
	DateText, DayRange, MonthShort, AwayToday, AwayTomorrow, AwayYesterday, AwayIn, AwayAgo string
	// The plan's page.
	WhatNext, Facts, Yes, No, TwinSee, Covered, CoveredNone, CoveredMore, CoveredAll, Period, Invoice, Late, LeftOut, NotYet, History, TermFrom, LineSay,
	Run, RunHelp, Change, Pause, PauseHelp, Resume, ResumeHelp, End, EndHelp, EndDay, Approve, ApproveHelp, CatchUpLink string
	// What was missed.
	CatchUpTitle, CatchUpSay, CatchUpPaused, CatchUpMake, CatchUpNone, CatchUpNothing, CatchUpMissed, CatchUpChoose, CatchUpAfter, UpTo, UpToOne, LeaveOut, LeaveHelp, LeaveDo, KeyColumn string
	// A month.
	MonthTitle, MonthSay, MonthEmpty, MonthEmptySay, MonthMore, Totals, Together, Date, Count string
	// Files.
	ImportTitle, ImportSay, ImportFile, ImportDo, ImportColumns, ImportNoFile, ImportExport, ImportSystem, ImportCheck, ImportNeeded string

	Field, Hint, Unit, StateName, Says, Did, Problem, Cadences, Happened, Fact, MonthState, ImportCount map[string]string
	Weekdays, ShortDays                                                                                 [7]string
}

// Plans is the wording about recurring invoices in use: English.
var Plans = planWords{
	Nav: "Recurring", Title: "Recurring invoices", New: "New plan", Import: "Import", Export: "Export (CSV)", Month: "One month of all plans",
	Search: "Code, customer or customer number", Empty: "No invoice comes by itself yet",
	EmptySay:  "A plan says who is billed, for what and how often. From then on each invoice is recorded on its day.",
	NoneFound: "No plan matches", NoneFoundSay: "Try a part of the code or of the customer's name.",
	Code: "Plan", Customer: "Customer", Amount: "Amount", Currency: "Currency", Cadence: "How often", Next: "Next run", State: "State", Last: "Last run",
	NoNext: "none", NoLast: "not yet", More: "Next page", First: "First page", All: "All",

	NewTitle: "New recurring invoice", Who: "Who is billed", HowOften: "How often", When: "When", Lines: "What is billed", Extras: "On each invoice",
	Line: "Line {n}", AddLine: "Add a line", RemoveLine: "Remove", Save: "Save plan", Show: "Show what this means", Cancel: "Cancel",
	ProrateOn:   "Bill the days before the first full period in part.",
	ProrateHelp: "Off, the first invoice is for the first full period. On, a smaller one comes first, for the days before it.",
	LinesHelp:   "{period} becomes the month, {from} and {to} its days: \"Rent {period}\" is billed as \"Rent December 2026\".",
	Refused:     "Not saved yet. Please look at:", ChooseSystem: "Choose one",
	ChangeTitle: "Change {code}", ChangeSave: "Save change", FromStart: "the beginning (nothing was made yet)",
	Planned: "A change is planned already from {day} on.", DropLater: "Take back what is planned for later days.",
	Stale:    "{who} changed the plan meanwhile, and nothing was saved. What you typed is still here: look at it beside the plan as it is now, and save again.",
	StaleAct: "{who} changed the plan meanwhile, and nothing was done. This is the plan as it is now.", Somebody: "Somebody",

	PreviewTitle: "What this means", PreviewEmpty: "Fill in how often and from when: the next invoices appear here before anything is saved.",
	Missing: "Still needed", Zone: "A period begins at midnight in {zone}.", Calendar: "Calendar", CalendarSay: "The next {n} invoices",
	CalendarEnd: "Then the plan ends.", EachInvoice: "Each invoice: {amount}", PartOf: "{days} of {of} days", Instead: "for the {day}", NewPrice: "new amount",
	Begun: "late", Today: "today", DateText: "{day} {month} {year}", DayRange: "{from} – {to}", MonthShort: "{month} {year}",
	AwayToday: "today", AwayTomorrow: "tomorrow", AwayYesterday: "yesterday", AwayIn: "in {n} days", AwayAgo: "{n} days ago",

	WhatNext: "What it will do next", Facts: "The plan", Yes: "yes", No: "no", TwinSee: "It resembles", Covered: "Periods so far", CoveredNone: "No invoice was made yet.",
	CoveredMore: "Only the newest {n} are shown.", CoveredAll: "All invoices of the plan", Period: "Period", Invoice: "Invoice", Late: "late", LeftOut: "Left out",
	NotYet: "Being recorded", History: "Changes", TermFrom: "from {day}: {terms}", LineSay: "{quantity} × {price} {text}",
	Run: "Run now", RunHelp: "Records what is due and nothing else. Pressing twice is safe: each period has one invoice.",
	Change: "Change price or schedule", Pause: "Pause", PauseHelp: "Nothing is made until somebody resumes it.", Resume: "Resume",
	ResumeHelp: "If more than one period has begun meanwhile, it asks before anything is made.",
	End:        "Set the end", EndHelp: "No period begins after this day; what was recorded stays. Empty: it goes on.", EndDay: "Last day",
	Approve: "Approve this plan", ApproveHelp: "Both plans will then send their invoices.", CatchUpLink: "See what was missed",

	CatchUpTitle: "What was missed", CatchUpSay: "{n} periods have begun without their invoices, {sum} together. Nothing is made until you say which.",
	CatchUpPaused: "The plan is paused. {n} periods have begun meanwhile without their invoices, {sum} together. Resume the plan to make them, or leave them out.",
	CatchUpMake:   "Make these invoices", CatchUpNone: "Nothing was missed", CatchUpNothing: "Every period that has begun has its invoice.", CatchUpMissed: "Missed periods",
	CatchUpChoose: "How far", CatchUpAfter: "Each invoice carries the date of its own period and is marked late. Later dates do not move.",
	UpToOne: "only {day}: one invoice, {sum}", UpTo: "up to {day}: {n} invoices, {sum}", LeaveOut: "Leave them out", LeaveHelp: "There will be no invoices for these periods, now or later. The plan goes on after them.",
	LeaveDo: "Leave these periods out", KeyColumn: "Key",

	MonthTitle: "Recurring invoices of {month}", MonthSay: "The invoices of all plans, recorded or still to come.", MonthEmpty: "No plan has an invoice in {month}",
	MonthEmptySay: "Plans that are paused or wait for somebody would be listed too.", MonthMore: "Only the first {n} of {all} are listed. The totals count all.",
	Totals: "Totals", Together: "Together", Date: "Date", Count: "Invoices",

	ImportTitle: "Import plans", ImportSay: "One row for each line of a plan. What is known already is recognised, so the same file can be imported again.",
	ImportFile: "CSV file", ImportDo: "Import plans", ImportNoFile: "Choose a file first.", ImportColumns: "The columns of the file", ImportExport: "The export shows how it looks",
	ImportSystem: "Accounting system of rows that name none", ImportCheck: "Only check the file",
	ImportNeeded: "A row for each line of a plan. Needed are code, customer_id, currency, start, description and unit_price; without the others a plan is monthly.",

	Field: map[string]string{"code": "Code", "system": "Accounting system", "customer": "Customer number", "name": "Customer name", "currency": "Currency", "every": "Every",
		"unit": "Weeks, months, years", "day": "On day", "start": "First day", "end": "Last day", "pay_within": "Days to pay", "note": "Note", "description": "What is billed",
		"quantity": "Quantity", "price": "Price each", "tax": "Tax code", "from": "From the period that begins on", "lines": "Lines", "prorate": "First days in part", "up_to": "How far", "why": "Note"},
	Hint: map[string]string{"code": "Begins the key of each invoice: PLAN-042 makes PLAN-042-2026-12.", "customer": "As the accounting system knows it.",
		"currency": "Three letters.", "day": "1 to 31; shorter months use their last day. Empty: as the first day.",
		"end": "Empty: until somebody ends it.", "pay_within": "0: no due date.", "start": "No period begins before it.",
		"from": "A change begins with a period, so that no day is billed twice or not at all. What was made stays as it is."},
	Unit: map[string]string{"month": "month(s)", "quarter": "quarter(s)", "year": "year(s)", "week": "week(s)"},

	Cadences: map[string]string{
		"month/1": "every month on the {day}", "month": "every {n} months on the {day}", "quarter/1": "every quarter on the {day}",
		"week/1": "every week on {weekday}", "week": "every {n} weeks on {weekday}", "year/1": "every year on {day} {month}", "year": "every {n} years on {day} {month}",
		"clamped": " (last day in shorter months)", "leap": " (28 February in other years)"},

	StateName: map[string]string{"active": "Active", "paused": "Paused", "waiting": "Waits for somebody", "ended": "Ended", "twin": "Waits for approval", "catch_up": "Asks about missed periods"},
	Says: map[string]string{
		"new":         "{who} gets an invoice of {amount} {cadence}. The first is for the period that begins on {next}.",
		"new/bare":    "An invoice {cadence}. The first is for the period that begins on {next}.",
		"new/none":    "No period begins between the first and the last day.",
		"new/one":     "The period of {next} has begun already: its invoice is made at once and marked late.",
		"new/late":    "{n} periods have begun already. Once the plan is saved it asks which of them to make; nothing is made before.",
		"change":      "From {next} on: {amount} {cadence}.",
		"change/none": "Price and schedule stay as they are.",
		"active":      "On {next} it records an invoice of {amount} for {who}, as {key}.",
		"today":       "Today it records an invoice of {amount} for {who}, as {key}.",
		"one":         "The period of {next} has begun: its invoice of {amount} for {who} is recorded within a minute and marked late, as {key}.",
		"catch_up":    "{n} periods have begun without their invoices, the first on {next}. Nothing is made until somebody says which.",
		"agreed":      "The missed invoices that were agreed to are recorded within a minute.",
		"paused":      "Paused: nothing is made. The next period to be billed begins on {next}.",
		"twin":        "It waits for approval: {twins} bills the same customer for the same lines in the same days. Somebody other than {by} must approve it; until then nothing is made.",
		"twin/any":    "It waits for approval: another plan bills the same customer for the same lines in the same days. Somebody other than {by} must approve it; until then nothing is made.",
		"ended":       "No more invoices will come.",
		"ended/on":    "No more invoices will come: it ended with {end}.",
		"own":         "You set this plan up, so somebody else must approve it.",
	},
	Did: map[string]string{
		"created": "The plan is saved.", "changed": "The change is saved.", "paused": "The plan is paused.", "resumed": "The plan goes on.",
		"ended": "The end is set to {end}.", "not_ended": "The plan has no end any more.", "approved": "The plan is approved.", "caught_up": "Agreed: the invoices are recorded within a minute. Run now does it at once.",
		"left_out": "These periods are left out.", "run/0": "Nothing was due, so nothing was made.", "run/1": "One invoice was recorded.", "run": "{n} invoices were recorded.",
		"run_asks":    "Nothing was made: more than one period was missed. Say which of them to make.",
		"run/problem": "Not everything could be recorded: {text}",
		"restored":    "Your session had ended before this was saved. What you typed is back; save it now.",
	},
	Problem: map[string]string{
		"number": "write a whole number, such as 1", "date": "this is no date: write it like 2026-12-01", "from": "choose the day of a period", "up_to": "choose how far to go",
		"off":         "Nothing was made: {who} has switched recurring invoices off, for all plans. They can be switched on again on the page Automations.",
		"unproven":    "It waits: {system} was never proven to be safe, so recurring invoices do not begin there yet. Have it proven on its page under Accounting systems, or agree to begin anyway on the page {automations}.",
		"not_waiting": "Somebody has decided this meanwhile: the plan does not wait for it any more.",
	},
	Happened: map[string]string{"created": "Set up", "imported": "Imported", "changed": "Changed", "paused": "Paused", "resumed": "Resumed", "end": "End set", "approved": "Approved although it resembles another plan",
		"asked": "Asks: more than one period was missed", "agreed": "Missed invoices agreed to", "left_out": "Missed periods left out"},
	Fact: map[string]string{"system": "Accounting system", "customer": "Customer number", "cadence": "How often", "start": "First day", "end": "Last day", "end/none": "until somebody ends it",
		"pay_within": "Days to pay", "pay_within/0": "no due date", "prorate": "First days in part", "note": "Note", "made": "Set up by", "zone": "Time zone", "terms": "Terms", "lines": "Lines",
		"name": "Customer name", "state": "State", "caught_up": "Agreed up to"},
	MonthState: map[string]string{"recorded": "Recorded", "coming": "To come", "held": "On hold", "stuck": "Could not be recorded", "left_out": "Left out"},
	ImportCount: map[string]string{"new": "New plans", "known": "Already known", "bad": "With problems", "done": "Import finished",
		"done/bad": "Import finished, with rows to look at", "done/none": "Nothing new was imported", "done/none/bad": "Nothing was imported: there are rows to look at",
		"checked": "The file is good; nothing was imported yet", "checked/bad": "There are rows to look at; nothing was imported yet", "plans": "Plans in the file", "ignored": "Columns left aside", "twins": "Wait for approval"},
	Weekdays:  [7]string{"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"},
	ShortDays: [7]string{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"},
}

// Away is how far off a day is.
func (w planWords) Away(days int) string {
	switch {
	case days == 0:
		return w.AwayToday
	case days == 1:
		return w.AwayTomorrow
	case days == -1:
		return w.AwayYesterday
	case days < 0:
		return strings.ReplaceAll(w.AwayAgo, "{n}", strconv.Itoa(-days))
	}
	return strings.ReplaceAll(w.AwayIn, "{n}", strconv.Itoa(days))
}

// Ordinal is a day of the month as it is said: 1st, 22nd.
func (planWords) Ordinal(n int) string {
	end := "th"
	if n < 11 || n > 13 {
		switch n % 10 {
		case 1:
			end = "st"
		case 2:
			end = "nd"
		case 3:
			end = "rd"
		}
	}
	return strconv.Itoa(n) + end
}
