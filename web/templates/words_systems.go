package templates

// systemWords is the wording of the pages about one accounting system.
type systemWords struct {
	Connect, ConnectTitle, ConnectSay, Choose, Edit, EditTitle, Test, TestHelp, TestOnly, SaveNew, Save, Cancel, More, Name, NameHint, Address, AddressHint, Kept, KeptEmpty,
	Given, Typed, Forget, Empty, EmptySay, Connection, Kind, ShortName, Credentials, Limits, LimitsLink, PerSecond, NoLimit, Calls, Hour, Day, NoCalls, CallsSay, CallsSayOne, CallsNotSent, Able, Declared,
	LastProven, NeverProven, NeverProvenSay, TypedOnly, ProvenAt, Changes, NoChanges, AllChanges, Remove, RemoveTitle, RemoveSay, Problems, Nothing, Plain,
	LookFirstDo, LookFirstHelp, Reason, ReasonFree, Stale, NoReason, Books, NoBooks, Answers, Silent, What string
	Try, Ability, Did, SecretIs, Choice map[string]string
}

// SystemWords is the wording about accounting systems: English.
var SystemWords = systemWords{
	Connect: "Connect a system", ConnectTitle: "Connect an accounting system", ConnectSay: "It is tested before it is connected. A test only looks: nothing is sent.",
	Choose: "Which accounting system is it?", Edit: "Change the connection", EditTitle: "Change the connection to {name}",
	Test: "Test the connection", TestHelp: "It asks whose books these are and searches for something that cannot exist. Nothing is sent.",
	TestOnly: "Only test", SaveNew: "Test and connect", Save: "Test and save", Cancel: "Cancel", More: "What can be relied on there",
	Name: "Name", NameHint: "As your colleagues know it, for example “Xero UK”.", Address: "Address", AddressHint: "For example {example}",
	Kept: "Stored, never shown. Empty: it stays.", KeptEmpty: "Stored encrypted and never shown again.", Given: "Given to the server by its operator. What you enter here takes its place.",
	Typed: "Entered just now and kept for this form. Empty: it stays.", Forget: "Remove what is stored",
	Empty: "No accounting system is connected yet", EmptySay: "Connect one, and invoices can be sent to it.",
	Connection: "Connection", Kind: "Kind", ShortName: "Short name", Credentials: "Login", Limits: "Limits", LimitsLink: "Change the limits", PerSecond: "Begun in a second", NoLimit: "no limit",
	Calls: "Calls lately", Hour: "Last hour", Day: "Last 24 hours", NoCalls: "none",
	CallsSay: "{n} calls: {bad} without a clear answer ({rate}), {no} refused", CallsSayOne: "1 call: {bad} without a clear answer ({rate}), {no} refused",
	CallsNotSent: ", {unsent} not sent at all because no connection could be made",
	Able:         "What can be relied on", Declared: "Declared", LastProven: "Last proven", NeverProven: "never", NeverProvenSay: "Declared by its adapter. It was never proven against these books.",
	TypedOnly: "An admin typed what this system can do. Until a proof has seen it on this connection, neither searches nor repeats are relied on.",
	ProvenAt:  "Proven {at}.", Changes: "Changes", NoChanges: "Nothing was changed yet.", AllChanges: "All changes in the audit trail", Remove: "Remove this system", RemoveTitle: "Remove",
	RemoveSay: "Only a system without invoices can be removed: what was recorded is never deleted.", Problems: "Some of it cannot be used yet: see below.",
	Nothing: "Nothing was sent.", Plain: "The address begins with http: what travels there can be read on the way, the login too. Use https if there is any.",
	LookFirstDo: "Look first", LookFirstHelp: "Nothing is sent any more without a look before, for example while invoices are keyed in by hand. It holds until an admin ends it.",
	Reason: "Reason", ReasonFree: "Reason (may be empty)", Stale: "Somebody else changed this connection meanwhile. Their change is what you see now in what you did not type; look at it and save again.",
	NoReason: "Give a reason: colleagues will read it.", Books: "Books reached", NoBooks: "not read yet", Answers: "Answers", Silent: "No answer since", What: "What",

	Try: map[string]string{
		"":             "It works: {books} answers, and a search finds nothing where nothing is.",
		"unsearchable": "It works: {books} answers. These books cannot be searched, so there is nothing more to test without sending.",
		"settings":     "It cannot be used like this: {text}.",
		"books":        "It did not say whose books it keeps: {text}.",
		"other_books":  "The address leads to other books: {books} instead of {before}. Other books are another system: connect them as a new one.",
		"twice":        "These books ({books}) are connected already: see {same}. Twice connected, an invoice could be made twice.",
		"search":       "The books are {books}, but the search could not be carried out: {text}.",
		"account":      "What is entered can be used. Whether the login works shows when the account is connected.",
		"finds":        "The books are {books}, but the search finds something that cannot exist. It cannot be relied on.",
	},
	Did: map[string]string{"added": "Connected. From now on invoices can be sent to it. Next, have it proven below: only then is it sure what can be relied on.", "changed": "Saved. All servers use it within seconds.", "account_next": "Saved. Now connect the account: until then nothing is sent.", "account": "The account is connected. From now on invoices can be sent.", "account_removed": "The account is disconnected. Nothing is sent until it is connected again.", "removed": "The system was removed.",
		"paused": "Paused. What is on its way is let finish.", "resumed": "Resumed. What waits is sent.", "look_first": "Nothing is sent any more without a look before.", "look_first_off": "Invoices are sent again without a look before."},
	Choice: map[string]string{"true": "Yes", "false": "No", "yes": "Yes", "no": "No", "search": "Can be searched", "keys": "Recognises a repeat by its key",
		"unique": "Refuses a second record with our reference", "blind": "Can neither be searched nor recognises a repeat"},
	SecretIs: map[string]string{"stored": "{label}: stored encrypted", "given": "{label}: given to the server", "": "{label}: none"},
	Ability: map[string]string{"searchable": "Records can be found by our reference", "keys": "A repeat is recognised and makes nothing twice", "keys/for": "Yes, for {time}", "keys/ever": "Yes, for ever",
		"unique": "A second record with our reference is refused", "lag": "A new record may be missing from the search for", "linger": "A request may still be at work after we hung up for",
		"misses": "Misses in a row that prove absence", "tolerance": "Rounding that still counts as the same", "tolerance/value": "{n} of the smallest unit",
		"reference": "Longest reference", "reference/value": "{n} characters", "steps": "Steps of one invoice"},
}
