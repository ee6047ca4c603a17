package templates

import "github.com/a-h/templ"

// Item is the page of one item.
type Item struct {
	Shell
	ID         string
	Key        string
	Customer   string
	Amount     string
	Badge      Badge
	Overdue    string
	Beside     []Sentence // colleagues who are at it
	Known      []Sentence
	LookAgain  string // address to load again while a result is awaited; empty: nothing is awaited
	Error      string // the last thing that the accounting system said, shortened
	Main       *Action
	Others     []Action
	Refused    []RefusedAction
	Compare    *Compare // nil: nothing was seen outside and no correction waits
	AssignedTo string
	Assign     *Action  // nil: the person may not act
	Colleagues []Choice // to whom it may be assigned; empty: nobody else
	Note       *Action  // nil: the person may not act
	Steps      []Step
	History    []Event
	Older      string   // address of the older part
	Pruned     Sentence // older attempts are gone; empty: none are
	Newest     string   // address of the newest part, if this is older
	Attempts   string   // address of its attempts among all; empty: there are none
	Facts      []Fact
	Lines      []Line
	MoreLines  string // how many more there are
	Version    string
	SeenAt     string
	Kept       string // a note that was typed for an action that is not possible any more
}

// Action is a form that does one thing, or the way to a page with one.
type Action struct {
	Name      string
	Post      string
	Href      string // a page of its own instead of a form
	Label     string
	Help      Sentence
	NeedsNote bool
	NeedsRef  bool
	Reasons   []Choice // of which one must be chosen; empty: none is asked for
	Why       string   // the one that was chosen
	AskSteps  string   // the text of a box to tick: the following steps are done too
	StepsDone bool     // it was ticked
	Differs   string   // the text of a box to tick: it counts although the amounts differ
	DiffersOn bool     // it is ticked
	Known     Sentence // somebody let it count before
	Note      string
	Reference string
	To        string
	Open      bool // shown opened
	Problem   string
	NoteHint  string
	MinNote   string
	MaxNote   string
}

// Form reports whether something must be typed.
func (a Action) Form() bool { return a.NeedsNote || a.NeedsRef }

// RefusedAction is an action that is not possible now, and why.
type RefusedAction struct {
	Label string
	Why   Sentence
}

// Compare puts side by side what was asked for and what is outside.
type Compare struct {
	Asked string
	There string // empty: nothing was seen
	Waits string // empty: no correction waits
	Rows  []CompareRow
	Seen  Sentence
	Open  string // address of the record outside
	Link  string
}

// CompareRow is one fact of both sides.
type CompareRow struct {
	Name    string
	Asked   string
	There   string
	Waits   string
	Verdict string // in words; empty: nothing to compare
	Sign    string
	Same    bool
}

// Step is one step of the document.
type Step struct {
	Text  string
	Href  string
	Here  bool
	Badge *Badge // nil: not begun
	Ref   string
}

// Event is one entry of the history: a call to the accounting system, or what a person did.
type Event struct {
	Number   string // of a call; empty: a person did it
	Say      Sentence
	Detail   string    // what the accounting system said
	Note     string    // what the person wrote
	Changes  []Changed // what the person corrected
	Meta     string
	Request  string
	Response string
	More     string // address that shows what was exchanged, if it is not here
}

// Line is one row of an invoice.
type Line struct{ Description, Quantity, Price string }

// Correct is the page on which an invoice is corrected.
type Correct struct {
	Shell
	Back     string // the page of the item
	Post     string
	Heading  string
	Customer string
	Amount   string
	Badge    Badge
	Say      []Sentence
	Do       string
	Drop     string // the text of a button that drops the correction that waits; empty: none waits
	Fields   []InvoiceField
	Lines    []LineFields
	ManyText string // why the lines cannot be changed; empty: they can
	Why      string
	Problem  string
	Their    Their
	Before   []Fact // as it is now
	Version  string
	SeenAt   string
	MaxNote  string
}

// Their is what the accounting system said, the newest first.
type Their struct {
	Title string
	Texts []string
}

// LineFields are the fields of one line.
type LineFields struct {
	Name   string
	Fields []InvoiceField
}

// InvoiceField is one field of a form.
type InvoiceField struct {
	Name     string
	ID       string
	Label    string
	Value    string
	Problem  string
	Hint     string
	Long     bool // several lines
	Number   bool
	Required bool
	Max      string
}

// fieldNotes ties a field to what is said about it.
func fieldNotes(f InvoiceField) templ.Attributes {
	switch {
	case f.Problem != "":
		return templ.Attributes{"aria-describedby": f.ID + "-problem", "aria-invalid": "true"}
	case f.Hint != "":
		return templ.Attributes{"aria-describedby": f.ID + "-hint"}
	}
	return nil
}

// eventID is the place of a call in the page.
func eventID(e Event) templ.Attributes {
	if e.Number == "" {
		return nil
	}
	return templ.Attributes{"id": "try-" + e.Number}
}

func assignPost(i Item) string {
	if i.Assign == nil {
		return ""
	}
	return i.Assign.Post
}
