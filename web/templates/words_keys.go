package templates

// keyWords are the texts of the keyboard's help and of pages that change by themselves.
type keyWords struct {
	Title, Open, Close, Switch, SwitchSay string
	List                                  []Key

	Newer, Load, SignedOut, SignIn, Updated, Gone, Kept string // of an open page
	Colleague, Now                                      string // what happened to an item
}

// Key is one shortcut: the keys to press, one after the other, and what they do.
type Key struct {
	Press []string
	Does  string
}

// Keys is the wording in use: English.
var Keys = keyWords{
	Title: "Keyboard shortcuts", Open: "Keyboard shortcuts", Close: "Close",
	Switch:    "Use single-key shortcuts",
	SwitchSay: "Switch them off if you speak to your computer or press keys by accident. This browser remembers it.",
	List: []Key{
		{[]string{"/"}, "Search"},
		{[]string{"j"}, "Next row"},
		{[]string{"k"}, "Previous row"},
		{[]string{"Enter"}, "Open the row"},
		{[]string{"x"}, "Tick the row, or take the tick away"},
		{[]string{"g", "l"}, "Go to the list"},
		{[]string{"?"}, "Show this help"},
	},

	Newer: "Newer data is there.", Load: "Show it", Updated: "This page is up to date again.",
	SignedOut: "You are signed out. What you see is as it was.", SignIn: "Sign in again",
	Gone: "This page cannot be shown any more.", Kept: "What you had typed",
	Colleague: "{who} acted {at}: {what}.", Now: "Now: {status}.",
}
