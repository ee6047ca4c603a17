package templates

// eventWords is the wording of the pages about events and outcomes.
type eventWords struct {
	Nav, Title, Say, Secret, SendersTitle, SendersSay, SendersNone, Goes, Automation, Changed, NewSecret, TwoSecrets, DropOld, Remove, Add, AddDo, Name, NameHint,
	ID, IDHint, System, AutomationHint, NoticesTitle, NoticesSay, NoticesNone, NoticesDo, EndpointsTitle, EndpointsSay, EndpointsNone, EndpointAdd, EndpointDo,
	Address, AddressHint, Log, LogLink, Back, SentTitle, SentNone, SentNoneFailed, ReceivedTitle, ReceivedNone, OnlyFailed, All, What, To, Outcome, Made, Received, From,
	Again, NextTry, Tries, Times, Docs, Example, ExampleSay, Order, Problem string
	Did, Told, State, Result map[string]string
}

// EventWords is the wording of these pages: English.
var EventWords = eventWords{
	Nav: "Events", Title: "Events and outcomes", Say: "Who may tell us of orders, and who is told what became of them.",
	Secret: "The secret of {name}. It is shown this once: copy it to the other side now.", Docs: "How to sign and what to send is described at",
	Example: "Try it with curl", ExampleSay: "This sends one test order, from a terminal. Put the secret and a customer number of yours in first. Sent twice it still becomes one invoice.",
	Order: "SECRET='...'\nBODY='{\"id\":\"evt_try_1\",\"type\":\"order.confirmed\",\"order\":{\"reference\":\"TEST-1\",\"invoice\":{\"customer_id\":\"C-1001\",\"total\":{\"number\":\"1.00\",\"currency\":\"EUR\"}}}}'\n" +
		"T=$(date +%s)\nSIG=$(printf '%s.%s' \"$T\" \"$BODY\" | openssl dgst -sha256 -hmac \"$SECRET\" -hex | sed 's/.*= *//')\n" +
		"curl -sS '{address}' -H \"Onefold-Signature: t=$T,v1=$SIG\" -H 'Content-Type: application/json' -d \"$BODY\"",

	SendersTitle: "Shops that send orders", SendersSay: "Each confirmed order becomes one invoice, however often it is sent.",
	SendersNone: "No shop is connected yet.", Goes: "Goes to", Automation: "Automation", Changed: "Changed",
	NewSecret: "New secret", TwoSecrets: "The secret before counts too.", DropOld: "End the old secret", Remove: "Disconnect",
	Add: "Connect a shop", AddDo: "Connect and show the secret", Name: "Name", NameHint: "As colleagues know it.",
	ID: "Short name in the address", IDHint: "Small letters, digits and hyphens, like shop or shop-de. An existing one is replaced: its old secret ends.",
	System: "Accounting system for its invoices", AutomationHint: "Order references are unique within one automation. Empty: {automation}.",
	Problem: "Not connected yet: please look at the marked fields.",

	NoticesTitle: "Notices from accounting systems", NoticesSay: "A notice makes us look at once. It never changes an invoice by itself.",
	NoticesNone: "No accounting system sends notices.", NoticesDo: "Let it send notices",

	EndpointsTitle: "Who is told the outcome", EndpointsSay: "Told when an invoice is confirmed, resolved, closed or needs a person.",
	EndpointsNone: "Nobody is told yet.", EndpointAdd: "Tell somebody", EndpointDo: "Add and show the secret", Address: "Address",
	AddressHint: "Begins with https. The same address for the same automation again replaces it and its secret.",

	Log: "Sent and received", LogLink: "See what was sent and received", Back: "Events and outcomes",
	SentTitle: "Outcomes told", SentNone: "No outcome was told yet. As soon as somebody is to be told, each settled invoice appears here.", SentNoneFailed: "Everything was delivered. All is well.",
	ReceivedTitle: "Events received", ReceivedNone: "Nothing was received yet.", OnlyFailed: "Only what was not delivered", All: "Show all",
	What: "Invoice", To: "To", Outcome: "Delivery", Made: "Made", Received: "Received", From: "From", Again: "Send again",
	NextTry: "tries so far: {n}, next {at}", Tries: "tried {n} times", Times: "came {n} times",

	Did: map[string]string{"old": "The old secret has ended.", "removed": "Disconnected. What it sent stays on record.", "endpoint": "Removed. What was still to be told there is not sent.",
		"again": "It is sent again now."},
	Told:  map[string]string{"confirmed": "Confirmed", "review": "Needs a person", "resolved": "Resolved", "closed": "Closed"},
	State: map[string]string{"waiting": "On its way", "delivered": "Delivered", "failed": "Not delivered", "dropped": "Not needed any more"},
	Result: map[string]string{"new": "Recorded", "known": "Already exists", "conflict": "Differs from what is on record", "spelling": "Spelt differently before", "taken": "Reference in use", "off": "Switched off",
		"refused": "Refused", "looking": "Looked up", "outdated": "Outdated", "unknown": "Not one of ours", "noted": "Noted"},
}
