package templates

import "github.com/a-h/templ"

// Date is a day without a time.
type Date struct {
	ISO  string // "2026-12-01"; empty: none
	Text string
}

// PlansList is the page of all plans.
type PlansList struct {
	Shell
	Query     string
	State     string
	States    []Tab
	Filtered  bool
	MayChange bool
	Rows      []PlanRow
	First     string // address of the first page; empty: this is it
	More      string // address of the next page; empty: there is none
}

// PlanRow is one plan in the list.
type PlanRow struct {
	Href, Code       string
	Customer         string
	CustomerID       string
	Amount, Currency string
	Cadence          string
	Next, Last       Date
	NextIn           string // "in 3 days"
	LastNote         string
	Badge            Badge
}

// PlanForm is the page to make a plan or to change one.
type PlanForm struct {
	Shell
	Heading            string
	Post, Back         string
	BackText           string
	Save               string
	Problem            string
	Faults             []Link // the fields that were refused
	Who, Often, Extras []PlanField
	When               []PlanField
	From               *PlanField // of a change
	New                bool
	Prorate            bool
	Proratable         bool   // it may still be changed
	Later              string // the day of a change that is planned already; empty: none is
	DropLater          bool
	Lines              []PlanLine
	LinesProblem       string
	Version            string
	Preview            PlanPreview
}

// PlanField is one field of the form.
type PlanField struct {
	InvoiceField
	Type    string   // of an input; empty: text
	Choices []Choice // of a select
	Narrow  bool
}

// kind are the attributes of the input's type.
func (f PlanField) kind() templ.Attributes {
	switch f.Type {
	case "number":
		return templ.Attributes{"inputmode": "numeric"}
	case "":
		return nil
	}
	return templ.Attributes{"type": f.Type}
}

// PlanLine is one row of what is billed.
type PlanLine struct {
	Name    string
	Remove  string // value of its button; empty: it cannot be removed
	Fields  []PlanField
	Amount  string // quantity times price; empty: cannot be computed yet
	Problem string
	ID      string
}

// PlanPreview says and draws what a plan will do.
type PlanPreview struct {
	Says    []string
	Total   string
	Missing []string
	Zone    string
	Runs    []PlanRun
	Title   string // of the calendar
	Ends    bool
}

// PlanRun is one run in the calendar.
type PlanRun struct {
	Date
	Month, Day, Weekday string
	Amount              string
	Marks               []string
	Tone                string // good, ask, busy or empty
	Key                 string
	Period              string
}

// PlanPage is one plan.
type PlanPage struct {
	Shell
	Code, Customer string
	Amount         string
	Cadence        string
	Badge          Badge
	Lead           string // what it will do next
	LeadTone       string
	Twins          []Link
	Path           string
	Version        string
	Problem        string
	Calendar       PlanPreview
	Periods        []PlanPeriod
	PeriodsMore    string
	AllHref        string // the list of all its invoices
	Changes        []PlanChange
	Facts          []Fact
	Lines          []PlanSold
	Do             PlanActs
}

// PlanActs are the buttons of a plan's page.
type PlanActs struct {
	Any                                               bool
	Run, Change, Pause, Resume, End, Approve, CatchUp bool
	Refused                                           string // why approving is not offered
	EndDay, EndProblem                                string
}

// PlanPeriod is a period that was taken up.
type PlanPeriod struct {
	From, To Date
	Key      string
	Href     string // of its invoice; empty: there is none
	Badge    Badge
	Late     bool
	Problem  string
}

// PlanSold is a line of what is billed.
type PlanSold struct{ Description, Quantity, Price, Tax, Amount string }

// PlanChange is one entry of a plan's history.
type PlanChange struct {
	At              Stamp
	Who, What, Note string
	Changes         []Changed
}

// Changed is one fact that a change made another.
type Changed struct{ Name, Before, After string }

// CatchUp is the page that says what was missed, and asks.
type CatchUp struct {
	Shell
	Code, Customer    string
	Path              string
	Version           string
	Say               string
	Missed            []PlanPeriodDue
	Choices           []Choice
	Choice            string
	Note              string
	Problem           string
	MayAgree          bool // the person may decide
	MayMake, MayLeave bool // the plan asks for it
}

// PlanPeriodDue is a period with the invoice that it brings.
type PlanPeriodDue struct {
	From, To         Date
	Key, Amount, Cur string
	Ago              string
	Customer, Code   string
	Href             string // of the plan
	Item             string // of the invoice; empty: there is none
	Badge            Badge
	Late             bool
	Problem          string
}

// PlanMonth is what a month will bring.
type PlanMonth struct {
	Shell
	Name           string
	EmptyTitle     string
	Zone           string
	Previous, Next Link
	Totals         []PlanTotal
	Rows           []PlanPeriodDue
	More           string
	Problems       []string
}

// PlanTotal is the sum of one currency.
type PlanTotal struct {
	Currency, Together, Count string
	Stages                    []Figure
}

// PlanImport is the page to import plans.
type PlanImport struct {
	Shell
	Problem string
	Report  *Report
	Columns string
	Systems []Choice
	System  string
}
