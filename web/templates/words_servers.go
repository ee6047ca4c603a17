package templates

type serverWords struct {
	Nav, Title, Lead, Empty, EmptySay, Version, Schema, SchemaOf, Started, Seen, Clock, ClockRight, ClockFast, ClockSlow, ClockUnknown, Holds, HoldsNothing, Runs, Never string

	NeverTold, NeverSeen, Silent, SilentOnly, SilentHolds, SilentHeld, RunsUntil, RunsOver, Stops, ClockOff, ClockMoved, Twin, Older string

	Versions, DatabaseClock, Most string

	State, Tone, Sign, Run map[string]string
}

// ServerWords is the wording of the page of the servers: English.
var ServerWords = serverWords{
	Nav: "Servers", Title: "Servers",
	Lead:  "All servers share the work on the same invoices. If one is lost, the others look up what it had on its way before anything is sent again.",
	Empty: "No server has told of itself yet", EmptySay: "Each does so every 15 seconds.",
	Version: "Version", Schema: "Database version", SchemaOf: "knows up to {n}", Started: "Started", Seen: "Last sign of life", Clock: "Clock",
	ClockRight: "as the database’s", ClockFast: "{by} fast", ClockSlow: "{by} slow", ClockUnknown: "not known", Holds: "On their way", HoldsNothing: "nothing",
	Runs: "In the background", Never: "never",

	NeverTold:   "It never told that it lives: it is of an older version, or was lost right after its start. What it has on its way goes on at the other servers from {until} on, by looking it up first, unless it ends it itself before.",
	NeverSeen:   "It never told that it lives: it is of an older version, a command of its own, or was lost right after its start.",
	SilentOnly:  "No sign of life since {since}. It was stopped hard, stands still or does not reach the database.",
	Silent:      "No sign of life since {since}. It was stopped hard, stands still or does not reach the database. It holds nothing, so nothing waits for it.",
	SilentHolds: "No sign of life since {since}. What it had on its way goes on at the other servers, by looking it up first, from {until} on.",
	SilentHeld:  "No sign of life since {since}. The time of what it had on its way was over at {until}: any running server goes on with it, by looking it up first.",
	RunsUntil:   "What it did in the background another server takes over from {until} on; a proof ends as interrupted.",
	RunsOver:    "The time of what it did in the background was over at {until}: any running server takes it over; a proof ends as interrupted.",
	Stops:       "It takes nothing new, finishes what it has begun, and ends.",
	ClockOff: "Its clock is {by}, compared with the database’s. No invoice is at risk: Onefold decides by the database’s clock alone. But the times in this server’s own log are wrong. " +
		"Let this machine and the database’s keep their time by NTP.",
	ClockMoved: "Its clock was moved by {by} at {at}. No invoice is at risk: Onefold decides by the database’s clock alone. But times in this server’s own log before and after do not match.",
	Twin:       "At {at} another server used the same name. Give each server a name of its own (--node): otherwise nobody can tell from the records who sent what.",
	Older:      "It is of an older version than others here. During an upgrade that is in order; afterwards it should be replaced.",

	Versions: "Servers of different versions run: {versions}. During an upgrade that is in order; afterwards the older ones should be replaced.",
	DatabaseClock: "The clocks of all running servers differ from the database’s alike. So it is probably the database’s clock that is wrong; if they all run on one machine, it may be that one’s. " +
		"Nothing is sent twice, but what falls due, and the times on all pages, go by the database’s clock: let its machine keep its time by NTP.",
	Most: "Only the {n} servers are shown that gave a sign of life last. Servers that end hard again and again under new names are many: give each a name that stays (--node).",

	State: map[string]string{"running": "Running", "stopping": "Stopping", "silent": "Silent"},
	Tone:  map[string]string{"running": "good", "stopping": "wait", "silent": "ask", "look": "wait"},
	Sign:  map[string]string{"running": "✓", "stopping": "…", "silent": "!", "look": "!"},
	Run: map[string]string{"bulk": "Work on many invoices, no. {n}", "import": "Import no. {n}", "proof": "Proof no. {n}",
		"figures": "Counts what the overview shows", "retention": "Removes history that is kept no longer"},
}
