package templates

// AttemptList is the list of the attempts of all items.
type AttemptList struct {
	Shell
	Query      string
	Understood string   // how the key was found; empty: none was asked for
	Problems   []string // what in the address was not understood and left out
	Filter     Filter
	Rows       []AttemptRow
	Looked     Sentence // how far back was looked, if that was not to the end; empty: to the end, or the page is full
	Further    string   // address that goes on from there
	First      string   // address of the newest; empty: this is it
	Next       string   // address of older ones; empty: no more
	Export     string   // the same as a file; empty: there is nothing
	EmptyTitle string
	EmptyText  string
}

// AttemptRow is one line of the list.
type AttemptRow struct {
	ID      string // of the row: item and number
	Version string
	Href    string // of the attempt
	Item    string // address of the item
	Key     string
	Number  string
	Step    string // empty if the document has only one
	Kind    string
	At      Stamp
	Badge   Badge
	Status  string
	Took    string
	System  string
	Node    Link // to the same list, of this server only
	Asked   Link // to the same list, of what this person asked for; empty: nobody asked
	Error   string
}

// Attempt is the page of one attempt.
type Attempt struct {
	Shell
	ItemID   string
	Version  string // of the item
	Key      string
	Heading  string
	Badge    Badge
	What     Sentence
	Means    string
	Error    string
	Facts    []Fact
	Request  string
	Response string
	NotKept  string // why there is neither request nor response
	Item     string // address of the item, at this attempt
	OfItem   string // address of all its attempts
	Before   string // address of the attempt before; empty: none
	After    string
}
