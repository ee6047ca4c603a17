package templates

// overviewWords is the wording of the overview.
type overviewWords struct {
	Nav, Ranges, Counted, Behind, NotBegun, PreventedTitle, PreventedSay, PreventedOne, PreventedHow, PreventedKeys, Nothing, NothingSay,
	Outcomes, OutcomesSay, Times, TimesSay, TimesNone, Settled, SettledSay, SettledNone, Sends, SendsSay, SendsNone, Systems, SystemsSay,
	AsTable, Download, CSV, Text, When, Sum, Count, Median, P95, How, State, Calls, Failed, Limited, Barred, PutOff, AnswerMedian, AnswerP95, None, Exact, ChartSays,
	Longest, Nobody, Open, ConfirmedIn, From, Until, What, System string
	Range, InRange, Pattern, Way, Sent, Bar map[string]string
	Taken                                   [6]string
	Units                                   [6]string // ms, s, min, h, day, days
}

// Overviews is the wording of the overview in use: English.
var Overviews = overviewWords{
	Nav: "Overview", Ranges: "Time range",
	Counted:        "Counted up to {at}.",
	Behind:         "Onefold is still counting the past and has come to {at}. What is newer is missing below.",
	NotBegun:       "Nothing has been counted yet. Counting begins about a minute after the server does.",
	PreventedTitle: "Duplicates prevented",
	PreventedSay:   "{n} of them {range}.", PreventedOne: "1 of them {range}.",
	PreventedHow: "How it is counted: a send ended without an answer, so nobody knew whether the invoice had been made. Onefold did not send it again: " +
		"it looked, and the invoice was there (or the answer came late, or a report of the accounting system showed it). Sent again blindly, each would have been made a second time. " +
		"Each such send counts once, when its outcome became known, and only if that confirmed the invoice: where a person had to decide, it is not counted.",
	PreventedKeys: "An accounting system that refuses a reference it has already, or knows a repeated request, would have stopped some of these itself.",
	Nothing:       "Nothing was sent in this time", NothingSay: "Choose a longer time range, or look at the invoices that wait.",
	Outcomes: "What sends came to", OutcomesSay: "Each send counts when it ended. Something that is very rare is drawn as a thin line, so that it can be seen.",
	Times: "From recorded to confirmed", TimesSay: "For each invoice and step, from when it was recorded to the answer or lookup that confirmed it. Each line up is about ten times the one below.",
	TimesNone: "Nothing was confirmed in this time.",
	Settled:   "How unknown outcomes were settled", SettledSay: "Sends that ended without an answer, and how long it took until it was known what had become of them.",
	SettledNone: "No unknown outcome was settled in this time.",
	Sends:       "Sends per invoice", SendsSay: "How many sends it took, for the invoices and steps that were confirmed in this time. Those that are open or went to a person are not in it.", SendsNone: "Nothing was confirmed in this time.",
	Systems: "Accounting systems", SystemsSay: "Calls are sends and lookups. Without a clear answer: nobody knows what they did, or they did not get through. " +
		"Asked us to wait: how often it answered that there were too many calls (HTTP 429), not how long we waited. Login refused: HTTP 401 or 403. Put off otherwise: " +
		"for example in maintenance, or our login could not be renewed. How long an answer took is from the start of the call; calls without any answer are not in that.",
	AsTable: "As a table", Download: "All figures of this page:", CSV: "CSV", Text: "Text",
	When: "From", Sum: "All", Count: "How many", Median: "Half within", P95: "95 of 100 within", How: "How", State: "Now", Calls: "Calls", Failed: "Without a clear answer",
	Limited: "Asked us to wait", Barred: "Login refused", PutOff: "Put off otherwise", AnswerMedian: "Answer: half within", AnswerP95: "Answer: 95 of 100 within", None: "–",
	Exact:     "Times are exact to 10 percent.",
	ChartSays: "{n} sends {range}: {parts}. The table below has the figures.",
	Longest:   "Waiting for a person for the longest", Nobody: "Nothing waits for a person", Open: "Sends with unknown outcome that are open", ConfirmedIn: "Recorded to confirmed",
	From: "From ({zone})", Until: "Until ({zone})", What: "What", System: "Accounting system",
	Range:   map[string]string{"24h": "24 hours", "7d": "7 days", "30d": "30 days", "12m": "12 months"},
	InRange: map[string]string{"24h": "in the last 24 hours", "7d": "in the last 7 days", "30d": "in the last 30 days", "12m": "in the last 12 months"},
	Pattern: map[string]string{"accepted": "Made", "there": "Was there already", "rejected": "Refused", "put_off": "Not carried out", "unknown": "Outcome unknown",
		"median": "Half within", "p95": "95 of 100 within"},
	Way: map[string]string{
		"lookup":  "A lookup found the invoice",
		"late":    "The answer came late: it is there",
		"report":  "A report showed the invoice",
		"absent":  "Proven not there, and sent again",
		"refused": "The answer came late: nothing was made",
		"key":     "Sent again under the same key, which the system recognises",
		"shown":   "It was found or shown, and a person decided",
		"person":  "A person settled it",
	},
	Sent: map[string]string{"confirmed": "Confirmed", "sends": "Confirmed after sends: {n}", "settled": "Unknown outcome settled: {how}", "calls": "Calls", "failed": "Calls without a clear answer", "limited": "Calls asked to wait (429)",
		"barred": "Calls whose login was refused", "put_off": "Calls put off otherwise", "answered": "Answered calls", "prevented": "Duplicates prevented",
		"sum": "All sends", "ever": "Duplicates prevented, ever", "counted": "Counted up to", "state": "State now"},
	Bar:   map[string]string{"accepted": "Answered clearly", "unknown": "Without a clear answer", "put_off": "Put off"},
	Taken: [6]string{"None: it was there before", "1 send", "2 sends", "3 sends", "4 sends", "5 sends or more"},
	Units: [6]string{"ms", "s", "min", "h", "day", "days"},
}
