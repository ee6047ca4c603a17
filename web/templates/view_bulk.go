package templates

// BulkNew is the page on which a plan for many invoices is chosen and confirmed.
type BulkNew struct {
	Shell
	Title    string
	Say      string // where they were chosen
	List     string // address of the list that they were chosen on; empty: not known
	Counted  string // that the forecasts are about the first of them; empty: about all
	Problem  string
	Empty    string // why there is nothing to begin; empty: there is
	Post     string
	Hidden   []Field
	Plans    []BulkPlan // the first one fits best
	Notice   string     // what was not sent
	RunsHref string
}

// BulkPlan is one plan as it is offered.
type BulkPlan struct {
	Code    string
	Title   string
	Say     string
	Steps   []string // what is done, in order; empty: Say is enough
	Can     string   // for how many it is possible
	Cannot  []string // for how many it is not, and why
	Do      string   // the button
	Nothing bool     // it is possible for none
	Open    bool     // shown opened
	Problem string

	NeedsNote bool
	Note      string
	MaxNote   string
	Reasons   []Choice // to choose one of; empty: none is needed
	Why       string
	People    []Choice // to assign to; empty: nobody is assigned
	To        string
}

// BulkRuns is the list of bulk runs.
type BulkRuns struct {
	Shell
	Rows  []BulkRow
	First string
	Next  string
}

// BulkRow is one run in the list.
type BulkRow struct {
	Href   string
	Number string
	Plan   string
	Badge  Badge
	By     string
	Began  Stamp
	Size   string
	Says   string
}

// Bulk is the page of one run.
type Bulk struct {
	Shell
	Version  string
	Open     bool // it is not over
	Title    string
	Badge    Badge
	Say      []Sentence
	Note     string
	List     string
	Bar      BulkBar
	Classes  []BulkClass // the first one is all
	Sums     []Fact      // how they came out
	Here     string      // address of what is shown, to look again
	Stop     string      // where to stop it; empty: it cannot be stopped
	Export   string
	Results  []BulkResult
	Nothing  string // in place of results
	First    string
	Next     string
	RunsHref string
}

// BulkClass is a link to the results of a class.
type BulkClass struct {
	Link
	Count string
	Tone  string // of its part of the bar; empty: none
	Sign  string
}

// BulkBar is the progress as a drawing, in thousandths.
type BulkBar struct {
	Label string
	Parts []BulkPart
}

// BulkPart is one part of the bar.
type BulkPart struct{ Tone, From, Width string }

// BulkResult is what came of one invoice.
type BulkResult struct {
	Href     string // empty: there is no such invoice
	Key      string
	Customer string
	Amount   string
	Currency string
	Tone     string
	Sign     string
	Say      Sentence
	Now      *Badge
}
