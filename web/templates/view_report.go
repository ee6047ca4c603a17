package templates

import "github.com/a-h/templ"

// ReportsList is the page to upload reports and find them again.
type ReportsList struct {
	Shell
	Systems []Choice
	System  string
	Problem string
	Rows    []ReportEntry
}

// ReportEntry is one report in the list.
type ReportEntry struct {
	Href, Name, System, By string
	At                     Stamp
	Badge                  Badge
	Says                   string
}

// ReportPage is one report beside what we know.
type ReportPage struct {
	Shell
	Path       string
	Version    string
	Name       string
	System     string
	Badge      Badge
	Applied    Sentence
	Problem    string // why nothing can be compared
	Form       *ReportForm
	Facts      []Fact
	Doubts     []string
	Sums       []ReportSum
	Kind       string
	KindHelp   string
	Lines      []ReportLine
	Empty      string
	First      string // address; empty: this is the first page
	Next       string // address; empty: no more
	Apply      string // label of the button; empty: it cannot be applied now
	ApplyNone  string
	Applying   string
	Remove     bool
	Results    []Fact
	ResultsURL string
	Bad        []RowProblem
	BadMore    string
}

// ReportForm is what people say about a report.
type ReportForm struct {
	Open       bool
	Problem    string
	Columns    []ReportColumn
	Headings   []string
	Samples    [][]string
	Statuses   []Tick
	Code       string
	Made       string
	MadeHint   string
	MadeFile   string
	From, To   string
	Everything bool
	Written    []ReportChoice
}

// ReportColumn is the choice of one column.
type ReportColumn struct{ Name, Label, Value string }

// ReportChoice is a choice of how a report is written.
type ReportChoice struct {
	Name, Label, Value string
	Choices            []Choice
}

// ReportSum is one kind of line with what it adds up to.
type ReportSum struct {
	Link
	Count  string
	Totals []string
}

// ReportLine is one line of the comparison.
type ReportLine struct {
	Href, Key, Customer, Amount, Currency string
	There                                 string // what the report holds
	Where                                 string // which rows
	Remark                                string
	Says                                  Sentence
	Badge                                 *Badge // the result
}

// currentPage marks a link that leads to where one is.
func currentPage(here bool) templ.Attributes {
	if !here {
		return nil
	}
	return templ.Attributes{"aria-current": "page"}
}
