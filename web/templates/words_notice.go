package templates

// noticeWords is the wording of messages to people and of the pages about them.
type noticeWords struct {
	Title, Say, Email, EmailHint, EmailSave, EmailNone, When, Alerts, Systems, SystemsHint, Mine, MineHint, Hour, HourHint, Save, EmailSaved,
	TestDo, Recent, RecentNone, Suggested, NotSetUp, NotSetUpHow, Channels, MailOn, MailOff, HooksOn, HooksOff, HowTitle, How, To, What,
	Outcome, At, Empty, EmptySay, Tries, Nav, PageSay, Flags, FlagsHooks string
	Mode, ModeHelp, Kind, Status, Refused, Invalid, Did map[string]string
}

// Notices is the wording about messages: English.
var Notices = noticeWords{
	Title: "Messages to you", Say: "How you are told when an invoice needs a person.", Email: "E-mail address",
	EmailHint: "Messages go there. Nobody signs in by it. Empty: no messages.", EmailSave: "Save address", EmailNone: "Without an e-mail address you get no messages.",
	When: "Invoices that need a person", Alerts: "Also tell me when an accounting system stands still or invoices are late, and when that is over",
	Systems: "Accounting systems", SystemsHint: "All ticked: those connected later too.", Mine: "Only what is assigned to me",
	MineHint: "You get no message about what you assign to yourself.", Hour: "Hour of the daily message", HourHint: "In the firm's time zone, {zone}. It comes only if something waits.",
	Save:   "Save",
	TestDo: "Send me a test message",
	Recent: "Last messages", RecentNone: "No message was sent to you yet.", Suggested: "You have not chosen yet: this is what your roles suggest.",
	NotSetUp: "No mail server is set up, so no e-mails are sent.", NotSetUpHow: "An administrator sees under Messages how to set one up.",
	Channels: "How messages go out", MailOn: "E-mails go out.", MailOff: "No mail server is set up: no e-mails are sent.",
	HooksOn: "Chat channels: {names}.", HooksOff: "No chat channel is set up.", HowTitle: "How to set it up",
	How:        "Start the server with these settings, or give them in the environment. Passwords and channel addresses are best read from files.",
	Flags:      "onefold serve --public-url https://onefold.example.com --smtp-host mail.example.com --mail-from onefold@example.com --smtp-user onefold   (password: ONEFOLD_SMTP_PASSWORD_FILE)",
	FlagsHooks: "ONEFOLD_WEBHOOKS_FILE names a file with one channel a line: finance=https://hooks.slack.com/services/…",
	To:         "To", What: "Message", Outcome: "Outcome", At: "Made", Empty: "No message was needed yet", EmptySay: "Here you will see what was told to whom, and whether it was taken.",
	Tries: "tried {n} times", Nav: "Messages", PageSay: "What was told to whom, newest first.",

	Did: map[string]string{"email": "The e-mail address was saved.", "notices": "Saved. Messages come as you chose.",
		"test": "A test message is on its way. What came of it is shown under “Messages to you”: load the page again."},
	Mode: map[string]string{"at_once": "At once, then a summary", "daily": "Once a day", "off": "No messages"},
	ModeHelp: map[string]string{"at_once": "the first within a minute, further ones every half hour, and once a day what still waits", "daily": "only if something waits",
		"off": ""},
	Kind: map[string]string{"items": "New", "reminder": "Daily", "alert": "Warning", "over": "All clear", "test": "Test"},
	Status: map[string]string{"waiting": "On its way", "again": "Tried again {at}", "sent": "Taken", "failed": "Not delivered", "unclear": "Not known whether it arrived",
		"dropped": "Not needed any more"},
	Refused: map[string]string{"no_mail": "No mail server is set up, so no test message can be sent.", "no_address": "Save your e-mail address first.",
		"too_soon": "A test message was made less than a minute ago. Please wait a moment.", "no_right": "Your account may not see invoices, so there is nothing to tell."},
	Invalid: map[string]string{"mode": "Choose when you want to be told.", "hour": "The hour must be between 0 and 23.", "systems": "Choose at least one accounting system, or switch the messages off.",
		"email": "That is not an e-mail address. Write one, such as ada@example.com."},
}

// messageWords are the patterns of the messages themselves.
type messageWords struct {
	OneNew, ManyNew, OneWaits, ManyWait, NewLead, NewLeadAll, WaitLead, Line, LineError, Example, ExampleOf, MoreGroups, OpenList, OpenSystems, AlertOne,
	AlertMany, AlertLead, OverOne, OverMany, OverLead, OverLine, TestSubject, TestLead, FootPerson, FootWebhook string
	CauseSays, Errors map[string]string
}

// Messages is the wording of e-mails and chat messages: English. Why an item waits is said as in the list.
var Messages = messageWords{
	OneNew: "{key} needs a person", ManyNew: "{n} invoices need a person", OneWaits: "{key} still waits for a person", ManyWait: "{n} invoices still wait for a person",
	NewLead: "New since the last message: {n}. None of it is sent again by itself.", NewLeadAll: "New since the last message: {n}. In all {all} wait for a person.",
	WaitLead: "This still waits for a person. None of it is sent again by itself.",
	Line:     "{n} × {system}: {why}", LineError: "{n} × {system}: {why} ({error})", Example: "{key}, {customer}, {amount}", ExampleOf: "for example {key}, {customer}, {amount}",
	MoreGroups: "and {n} other kinds of trouble", OpenList: "See them in Onefold", OpenSystems: "See the accounting systems",
	AlertOne: "{system}: {says}", AlertMany: "{n} warnings about accounting systems", AlertLead: "This needs somebody's attention:",
	OverOne: "All clear: {system}", OverMany: "All clear: {n} warnings are over", OverLead: "This is over:", OverLine: "Over: {text}",
	TestSubject: "Test message from Onefold", TestLead: "Hello {name}, this is the test message that you asked for. Messages reach you here.",
	FootPerson:  "You get this because of your settings in Onefold. Change them on your page there, under “Messages to you”.",
	FootWebhook: "",
	CauseSays: map[string]string{"": "needs attention", "overdue": "invoices are late", "disconnected": "the login is refused", "breaker": "does not answer",
		"paused": "is still paused", "clock": "a clock is wrong"},
	Errors: map[string]string{"nobody": "nobody there to be told any more, or without the right to see invoices", "unclear": "the answer was lost twice: not sent again, so that nobody gets it many times",
		"over": "nothing waited any more"},
}
