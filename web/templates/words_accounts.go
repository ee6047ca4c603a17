package templates

// accountWords is the wording about accounts of accounting systems that are connected in the browser.
type accountWords struct {
	Title, State, Connected, NotConnected, Refused, Since, May, Connect, Again, Help, Disconnect, DisconnectSay, DisconnectDo, NoAddress,
	AwayTitle, AwaySay, AwayTime, Go, ChooseTitle, ChooseSay, Books, Pick, NoBook, Choose, RefusedTitle, Unchanged, Back,
	Redirect, RedirectHelp, RedirectNone, FormSay, Save string
	Refuse map[string]string
}

// AccountWords is the wording about accounts: English.
var AccountWords = accountWords{
	Title: "Account", State: "State", Connected: "Connected by {name}", NotConnected: "Not connected", Refused: "Ended: it must be connected again", Since: "Since", May: "Granted",
	Connect: "Connect the account", Again: "Connect the account again",
	Help:       "You agree on the accounting system’s own pages and come back here. The login then renews itself. Its password never comes here.",
	Disconnect: "Disconnect", DisconnectDo: "Disconnect the account",
	DisconnectSay: "The login is removed here, and nothing is sent until the account is connected again. To withdraw it there as well, use the accounting system’s own list of connected apps.",
	NoAddress:     "An account cannot be connected yet: this server does not know its own public address, to which the accounting system sends you back. Its operator sets it (--public-url).",

	AwayTitle: "Connect the account of {name}", AwaySay: "You leave these pages for {host}. Sign in there with the right to issue invoices, choose the right company and agree.",
	AwayTime: "Come back within ten minutes, on this browser and signed in here as now.", Go: "Go on to {host}",
	ChooseTitle: "Which books?", ChooseSay: "The login reaches more than one set of books. Invoices for {name} go into the ones you choose. This cannot be changed later: other books are another system.",
	Books: "Books", Pick: "Choose …", NoBook: "Choose one of the list.", Choose: "Connect these books",

	RefusedTitle: "The account was not connected", Unchanged: "Nothing was changed and nothing was sent.", Back: "Back to {name}",
	Redirect: "Redirect address", RedirectHelp: "Register exactly this address at the accounting system, where you get the client ID.",
	RedirectNone: "It is not known: this server’s operator must set its public address first (--public-url).",
	FormSay:      "Save what is asked for here. Then connect the account on the next page: until then nothing is sent.", Save: "Save and go on",

	Refuse: map[string]string{
		"state":         "This answer belongs to nothing that was begun here: it was used already, or ten minutes are over. Begin again on the system’s page.",
		"person":        "Somebody else began this. Whoever begins to connect an account must finish it, signed in here as the same person.",
		"changed":       "The connection of {name} was changed meanwhile. Look at it and begin again.",
		"denied":        "The accounting system says that access was not granted ({text}). Begin again if that was a mistake.",
		"denied/none":   "The accounting system says that access was not granted. Begin again if that was a mistake.",
		"exchange":      "The accounting system did not honour its own answer ({text}). Check the client ID, its secret and the redirect address, and begin again.",
		"exchange/none": "The accounting system’s answer cannot be used. Check the client ID, its secret and the redirect address, and begin again.",
		"unreachable":   "The accounting system did not answer when the login was fetched. Begin again in a few minutes.",
		"settings":      "The connection of {name} cannot be used as it is set up: {text}.",
		"no_books":      "The login reaches no books that can be used: {text}.",
		"no_books/none": "The login reaches no books. Sign in there as somebody who may see the right company, and agree for that company.",
		"other_books":   "The login does not reach the books that {name} is connected to. Other books are another system: connect them as a new one, or sign in there for the right company.",
	},
}
