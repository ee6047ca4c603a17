package templates

// SystemAccount is the account of an accounting system on its page, for admins.
type SystemAccount struct {
	Facts     []Fact
	Connected bool
	Why       string // it ended; empty: it did not
	Label     string // of the button; empty: the server does not know its address
	Post      string // connects it
	Remove    string // disconnects it
}

// AccountAway leads to the accounting system's own pages.
type AccountAway struct {
	Shell
	Heading, Crumb, Back string
	Say                  Sentence
	Href, Label          string
}

// AccountBooks asks which books a login is for.
type AccountBooks struct {
	Shell
	Crumb, Back, Post string
	Say               Sentence
	Problem           string
	Choice            string // names what is waiting for the choice
	Books             FormField
}

// AccountRefused says why an account was not connected.
type AccountRefused struct {
	Shell
	Crumb, Back string
	Say         Sentence
	Link        string
}
