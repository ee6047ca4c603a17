package templates

// Overview is the page that says how the automations are doing.
type Overview struct {
	Shell
	Ranges    []Link
	Counted   Sentence // how far was counted
	Behind    bool     // the newest is missing yet
	Prevented Prevented
	Now       []Fact // what is so at this moment, or for the whole range
	Longest   Link   // the item that waits for a person for the longest; empty: none
	Outcomes  Chart
	Times     Chart
	Settled   FigureTable
	Sends     FigureTable
	Systems   FigureTable
	CSV       string
	Nothing   bool // nothing was counted in the range
}

// Prevented is the number of duplicates that did not come about.
type Prevented struct {
	Ever  string
	Range string // in a sentence
}

// Chart is a drawing of the range, with its table. All numbers are in the drawing's own units.
type Chart struct {
	Says   string // what it shows, for whoever does not see it
	Lines  []ChartLine
	Labels []ChartLabel
	Bars   []ChartBar
	Marks  []ChartMark
	Key    []ChartKey
	Table  FigureTable
}

// ChartLine is a line across at a value.
type ChartLine struct{ Y, TextY, Text string }

// ChartLabel names a place on the line of time.
type ChartLabel struct{ X, Text string }

// ChartBar is one part of a bar. Code says which pattern fills it.
type ChartBar struct{ Code, X, Y, Width, Height string }

// ChartMark is one stretch of durations: a round mark at the median, a pointed one at the 95th.
type ChartMark struct{ X, Median, P95, Point string }

// ChartKey explains one pattern or mark.
type ChartKey struct{ Code, Name, Count string }

// FigureTable is a table of figures. The first cell of a row is its heading.
type FigureTable struct {
	Caption string
	Heads   []string
	Rows    []FigureRow
	Key     []ChartKey // of the parts of the rows' bars
}

// FigureRow is one row.
type FigureRow struct {
	Name   string
	Href   string
	Badges []Badge
	Part   string     // of 100, drawn beside the first cell; empty: not drawn
	Parts  []ChartBar // the same with patterns, of 300
	Cells  []string
}
