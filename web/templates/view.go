// Package templates holds the pages. They get ready-made view models and decide nothing. After a change of a .templ
// file run "make generate"; its output is committed.
package templates

import "slices"

// Shell is what every page has around its content.
type Shell struct {
	Title     string
	CSS       string // addresses of the static files
	Scripts   []string
	Mark      string // the state of the data, for a page that is kept up to date; empty: not known
	Icon      string
	CSRFField string
	CSRFToken string
	Person    string // who is signed in; empty: nobody
	AtProfile bool   // this is the person's own page
	Nav       []Link
	SetUp     []Link // pages that are set up once; empty: none that the person may open
	Alerts    []Alert
	Notice    *Notice
	Zone      string // of the times shown
}

// Link is a place to go.
type Link struct {
	Text string
	Href string
	Here bool
}

// anyHere reports whether one of the links is the page itself.
func anyHere(links []Link) bool {
	return slices.ContainsFunc(links, func(l Link) bool { return l.Here })
}

// Alert is something that everybody should know, shown on every page.
type Alert struct {
	Say  Sentence
	Href string
}

// Notice says what came of the last action.
type Notice struct {
	Good bool
	Say  Sentence
}

// Stamp is a moment: relative on the page, exact with its zone on hover.
type Stamp struct {
	ISO   string
	Exact string
	Text  string
	Live  bool // kept up to date by the page's script
}

// Part is a piece of a sentence: a text or a moment.
type Part struct {
	Text string
	At   *Stamp
}

// Sentence is a text with moments in it.
type Sentence []Part

// Badge is a status in words, with a sign so that it does not depend on colour.
type Badge struct {
	Sign string
	Text string
	Tone string // good, busy, ask, wait or quiet
}

// Choice is one value of a filter.
type Choice struct {
	Value string
	Text  string
}

// Fact is a name and a value.
type Fact struct {
	Name  string
	Value string
	Href  string
	At    *Stamp
}

// Systems is the page of the accounting systems.
type Systems struct {
	Shell
	Systems    []System
	MayConnect bool // the person may connect another one
	MayWatch   bool // and see our own servers
}

// System is one accounting system.
type System struct {
	ID       string
	Name     string
	Address  string
	Badge    Badge
	Say      []Sentence
	Facts    []Fact
	InFlight string
	Buttons  []Action
	Reports  string // address of the comparison with reports; empty: the person may not
}

// Report is what an import did.
type Report struct {
	Title    string
	Counts   []Fact
	Totals   []Fact
	Problems []RowProblem
	More     string // how many more problems there are
	Hints    []RowProblem
}

// RowProblem is one row of a file.
type RowProblem struct{ Line, Key, Reason string }

// Problem is an error page.
type Problem struct {
	Shell
	Heading string
	Text    string
	Ref     string // to be named to support
	Saved   string // of a form: whether it was saved; empty: it was no form, or the text says so
	Typed   []Field
}
