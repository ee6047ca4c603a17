package templates

// proofWords is the wording about proofs, on their pages and on the console.
type proofWords struct {
	Title, RunTitle, Do, DoAgain, Before, Begin, Customer, CustomerHelp, Amount, Currency, Consent, ConsentHelp, Live, Test, Removes, Stays, Takes, StepsHead,
	Earlier, NoEarlier, Left, LeftSay, LeftInterrupted, References, Why, Offer, OfferSay, OfferDo, OfferDone, By, Going, LookAgain, Running, See,
	Begun, Adopted, AtLive, AtTest string
	Steps, Says, StateName, StateSign, StateTone, Badge, Sign, Tone, Result, Refusal, OfferLine, StepCount map[string]string
}

// Proofs is the wording about proofs: English.
var Proofs = proofWords{
	Title: "Prove {name}", RunTitle: "Proof of {name}", Do: "Prove it", DoAgain: "Prove it again",
	Before: "A proof sends a few test invoices to this system and makes the failure happen that matters most: an answer that is lost after the system acted. It ends well only if exactly one invoice is there. What it does is not mixed with your own invoices.",
	Begin:  "Begin the proof", Customer: "Test customer", CustomerHelp: "The id of a customer in the accounting system that is there only for tests.",
	Amount: "Amount", Currency: "Currency", Consent: "Type {name} to agree", ConsentHelp: "These books are live. Only drafts are made, and nothing is issued.",
	Live:    "These are live books: only drafts are made, each marked ONEFOLD-PROOF. Nothing is issued or sent to a customer.",
	Test:    "These are test books: the test invoices are really issued there, each marked ONEFOLD-PROOF.",
	Removes: "At the end it takes back what it made, as far as the system lets it, and lists the rest.",
	Stays:   "It cannot take back what it made: two or three records stay in the books, and the report lists them.",
	Takes:   "It waits as long as the system may take, which can be several minutes. You may leave the page; it goes on.",

	StepsHead: "Steps", Earlier: "Earlier proofs", NoEarlier: "This system was never proven.",
	Left: "What is left in the books", LeftSay: "Remove these in the accounting system if they disturb there.",
	LeftInterrupted: "The proof was cut off: nobody cleaned up. Look in the accounting system for these references and remove what is there.",
	References:      "References", Why: "Why it stays",
	Offer: "The system is not as declared", OfferSay: "With the more cautious value Onefold relies on less there, and is safe. It can be taken over here; the bolder value cannot.",
	OfferDo: "Be more cautious", OfferDone: "The more cautious values are in use.",
	By: "Begun {at} by {who}.", Going: "You may leave this page; it goes on.", LookAgain: "Refresh", Running: "A proof is running", See: "See how far it is",

	Begun: "The proof has begun.", Adopted: "The more cautious values are in use from now on. Prove it again to see that the system is safe with them.",
	AtLive: "live books, drafts only", AtTest: "test books",

	Steps: map[string]string{
		"books":    "It tells whose books it keeps",
		"nothing":  "A search for what never existed finds nothing",
		"made":     "A first test invoice is made",
		"found":    "A new invoice is found by our reference in time",
		"same":     "It comes back as it was asked for",
		"repeat":   "The same request sent twice makes no second invoice",
		"unique":   "The same reference sent twice makes no second invoice",
		"lost":     "A lost answer leaves exactly one invoice",
		"refused":  "A refusal creates nothing and ends with a person",
		"cleaning": "What was made is taken back or listed",
	},
	Says: map[string]string{
		"any/over": "It took longer than {time}, and was given up.", "any/inside": "It could not go on: {text}.",
		"any/skipped": "Not tried: after what failed before it would say nothing.", "any/interrupted": "The server stopped before it ended.",

		"books/silent": "It did not tell: {text}.", "books/other": "These are other books: {books} instead of {before}.", "books/reached": "The books are {books}.",

		"nothing/unsearchable": "These books cannot be searched.", "nothing/finds": "It found {n} where nothing is. A search proves nothing here.",
		"nothing/could_not": "The search could not be carried out: {text}.", "nothing/missed": "Nothing was found.",

		"made/made": "Made: {record}.", "made/unknown": "No clear answer: {text}. Look for {reference} in the accounting system.", "made/refused": "It was refused: {text}.",

		"found/unsearchable": "These books cannot be searched.", "found/late": "It was found only after {lag}; declared are {declared}.", "found/found": "Found after {lag} at most; declared are {declared}.",
		"found/could_not": "The search could not be carried out: {text}.", "found/never": "It was not found within {time}. A search proves nothing here.",

		"same/reference": "The reference came back as {got}; {asked} was sent.", "same/different": "It differs: {text}.", "same/untold": "The system does not tell the reference.",
		"same/same": "Reference, customer and amount are the same ({reference}).",

		"repeat/not_declared": "This system does not claim to recognise a repeat, so none was sent.", "repeat/second": "A second invoice was made: {second} beside {first}.",
		"repeat/several": "The search shows two invoices.", "repeat/recognised": "It answered with the same invoice, {record}.", "repeat/duplicate": "It was refused as a duplicate.",
		"repeat/unclear": "The repeat was not recognised: {text}.",

		"unique/not_declared": "This system does not claim to refuse a second invoice with the same reference, so none was sent.",
		"unique/second":       "A second invoice was made: {second} beside {first}.", "unique/unclear": "No clear answer: {text}.", "unique/refused": "No second invoice was made.",

		"lost/person":    "Not possible: these books can neither be searched nor do they recognise a repeat. It was sent once and is left to a person, as it would be in earnest.",
		"lost/review":    "It ended with a person ({reason}): {text}.",
		"lost/not_lost":  "This kind of system does not let an answer be lost, so nothing is shown.",
		"lost/by_key":    "Confirmed as {record} after {time}: {sends} requests for an invoice of {steps}, and each repeat was recognised.",
		"lost/confirmed": "Confirmed as {record} after {time}, and the search shows exactly one ({reference}). {sends} requests for an invoice of {steps}.",
		"lost/several":   "The search shows {n} invoices under {reference}.", "lost/not_found": "It counts as confirmed, but the search does not show it ({reference}): {text}.",

		"refused/here":               "Not possible: what it would refuse is not even sent: {text}.",
		"refused/taken":              "It took what it should refuse ({reference}).",
		"refused/unclear":            "The refusal is not clear: {text}. Look for {reference} in the accounting system.",
		"refused/elsewhere":          "It ended as {status} ({reason}) instead of with a person: {text}.",
		"refused/few":                "It was given up after {n} refusals, before the limit: {text}.",
		"refused/final":              "Refused for good, so it was not tried again; the answer: {text}. It is with a person, and the search finds nothing.",
		"refused/limit":              "Refused {n} times; the last answer: {text}. It is with a person, and the search finds nothing.",
		"refused/final/unsearchable": "Refused for good, so it was not tried again; the answer: {text}. It is with a person. These books cannot be searched.",
		"refused/limit/unsearchable": "Refused {n} times; the last answer: {text}. It is with a person. These books cannot be searched.",
		"refused/created":            "It said no, and yet the search shows {n} ({reference}).", "refused/could_not": "The search could not be carried out: {text}.",

		"cleaning/nothing": "Nothing was sent.", "cleaning/none": "Nothing is left.", "cleaning/all": "Taken back: {n}.", "cleaning/left": "{n} are left in the books, {removed} were taken back.",
	},
	StateName: map[string]string{"waiting": "Waiting", "running": "Running", "passed": "Passed", "failed": "Failed", "not_possible": "Not possible"},
	StateSign: map[string]string{"waiting": "·", "running": "…", "passed": "✓", "failed": "!", "not_possible": "–"},
	StateTone: map[string]string{"waiting": "", "running": "busy", "passed": "good", "failed": "ask", "not_possible": ""},

	Badge: map[string]string{"waiting": "Waiting", "running": "Running", "proven": "Proven", "failed": "Failed", "not_possible": "Not proven", "interrupted": "Interrupted"},
	Sign:  map[string]string{"waiting": "·", "running": "…", "proven": "✓", "failed": "!", "not_possible": "–", "interrupted": "!"},
	Tone:  map[string]string{"waiting": "busy", "running": "busy", "proven": "good", "failed": "ask", "not_possible": "", "interrupted": "ask"},
	Result: map[string]string{
		"waiting": "A server takes it up at once.", "running": "It is going on.",
		"proven":       "Proven: a lost answer leaves exactly one invoice, and a refusal creates nothing.",
		"failed":       "Not proven: at least one step failed. Do not let an automation run on this system before that is settled.",
		"not_possible": "Nothing failed, but not everything can be shown on this system: after a lost answer a person must look.",
		"interrupted":  "Its server stopped before the end. It is not begun again by itself: begin a new one.",
	},
	StepCount: map[string]string{"1": "1 step", "": "{n} steps"},
	Refusal: map[string]string{
		"customer": "Name a test customer, by the id that it has in the accounting system.", "amount": "The amount must be above zero and fit the currency, for example 1.00 in EUR.",
		"consent": "Type the name of the system exactly as it is shown. These books are live.", "running": "A proof of this system is running. Wait until it has ended.",
		"no_drafts": "A proof is not possible here: the books are not declared as test books, and this kind of system cannot be kept to drafts. It would issue real invoices. Connect test books of the same kind and prove those.",
		"paused":    "The system is paused: nothing is sent to it. Resume it first.", "adapter": "The system cannot be reached as it is set up: {text}.",
	},
	OfferLine: map[string]string{
		"no_keys": "A repeat makes a second invoice: repeats will not be relied on.", "no_search": "A search does not show what is there: searches will not be relied on.",
		"not_unique": "A second invoice with the same reference is not refused: that will not be relied on.", "plain": "References do not come back unchanged: only capitals, digits and hyphens will be sent.",
		"search_lag": "A new invoice may be missing from the search for longer than declared: {time} will be allowed for.",
	},
}
