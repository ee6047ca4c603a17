package templates

// Month is the page of one month.
type Month struct {
	Shell
	Name       string // "November 2026"
	Value      string // "2026-11"
	Question   string
	Badge      Badge
	Answer     string
	Previous   Link
	Next       Link
	Months     []Choice
	Shares     []Share // empty: nothing is recorded
	Lines      []MonthLine
	CSV, Excel string // addresses of the files for the auditor
	EmptyTitle string
}

// Share is one part of a month, in the bar and beside it.
type Share struct {
	Code, Name, Sign, Tone, Count, Part, Href string
	X, Width                                  string // in the bar, of 1000
}

// MonthLine is one automation in a month.
type MonthLine struct {
	Name       string
	Together   bool // all automations
	Counts     []Figure
	Currencies []MonthAmounts
}

// MonthAmounts are the amounts in one currency, one for each column.
type MonthAmounts struct {
	Code    string
	Amounts []Figure
}

// Figure is one number under its column.
type Figure struct {
	Column string
	Text   string
	Links  []Link // where it leads; empty: nowhere
	Nil    bool   // it is zero
}

// BarSays tells the bar's parts to whoever does not see it.
func (m Month) BarSays() string {
	says := ""
	for i, s := range m.Shares {
		if i > 0 {
			says += ", "
		}
		says += s.Name + " " + s.Count
	}
	return says
}
