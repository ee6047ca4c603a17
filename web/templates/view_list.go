package templates

// List is the list of items, or the same list grouped by trouble.
type List struct {
	Shell
	Tabs       []Tab
	Tab        string
	Query      string
	Understood string    // how the search was understood; empty: nothing was searched for
	Problems   []string  // what in the address was not understood and left out
	Filter     Filter    //
	Views      Views     //
	Group      *Link     // the way to the same list by error, or back; nil: not offered
	Groups     *Groups   // shown instead of Rows
	Rows       []Row     //
	First      string    // address of the first page; empty: this is it
	Next       string    // address of the next page; empty: no more
	Total      string    // how many rows match, in words; empty: not counted
	Exports    []Link    // the same rows as a file
	Ticks      *TickForm // nil: the person may not act
	EmptyTitle string
	EmptyText  string
	Elsewhere  *Link // where else to look if nothing was found
	Begin      *Link // what to do first where nothing was ever recorded
}

// Tab is one of the lists.
type Tab struct {
	Link
	Code  string
	Count string
}

// Filter is the form that narrows the list, and what it does now.
type Filter struct {
	Open       bool
	Fields     []Field
	Chips      []Link  // each takes one condition away
	Clear      string  // address of the list without any; empty: there is none
	WithSearch []Field // what the search form keeps
	WithFilter []Field // what the filter form keeps
}

// Field is one field of a form: a choice, or a text if there are no choices.
type Field struct {
	Name    string
	Label   string
	Value   string
	Hint    string
	Choices []Choice
}

// Views are the saved lists, and the form to save this one.
type Views struct {
	Open     bool
	List     []SavedView
	Address  string // of the present list
	Name     string // as typed
	Shared   bool
	MayShare bool
	Problem  string
}

// SavedView is one saved list.
type SavedView struct {
	Link
	Note   string // whose it is
	Delete string // where its removal is posted; empty: not by this person
}

// TickForm carries ticked rows, or all that match, to where something is done with them.
type TickForm struct {
	Address string // of the present list, from its beginning
	Ticked  string // text of the button
	All     string
}

// Row is one line of the list.
type Row struct {
	ID       string
	Version  string
	Href     string
	Key      string
	Step     string // empty if the document has only one
	Customer string
	Amount   string
	Currency string
	System   string
	Badge    *Badge // nil: every row of the list has the same
	Why      Sentence
	Remark   string
	Overdue  string // the cause
	Attempts string
	LastTry  Stamp
	Error    string
	Assigned string
	Tick     string // what the tick box is for; empty: none
}

// Groups are the rows of a list by the same trouble.
type Groups struct {
	Say  string // the largest one in a sentence; empty: there is nothing to say
	Rows []GroupRow
	More bool // there are smaller ones besides
}

// GroupRow is one trouble that several items share.
type GroupRow struct {
	Href   string
	System string
	Why    string
	Error  string // empty: none was reported
	Count  string
	Share  string // of all that match, from 1 to 100: the length of its bar
	Oldest Stamp
	Newest Stamp
}
