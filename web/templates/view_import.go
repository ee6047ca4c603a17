package templates

// ImportList is the page to bring a file in, with the imports so far.
type ImportList struct {
	Shell
	Systems []Choice
	System  string
	Problem string
	Rows    []ImportEntry
	First   string // address; empty: this is the first page
	Next    string
}

// ImportEntry is one import in the list.
type ImportEntry struct {
	Href, Name, Number, System, By, Says string
	At                                   Stamp
	Badge                                Badge
	New                                  string
}

// ImportPage is one import.
type ImportPage struct {
	Shell
	Path      string
	Version   string
	Busy      bool // a server is at it
	Name      string
	Say       []Sentence
	Badge     Badge
	Bar       *BulkBar // progress; nil: nothing is under way
	Problem   string   // why it cannot be imported as it is read
	Earlier   Sentence
	Sums      []ImportSum
	SumsTitle string
	Import    string // label of the button; empty: it cannot begin
	Ask       *ImportAsk
	None      string // in place of the button
	Remove    bool
	Results   string // address; empty: there are none
	List      string
	Hold      *ImportHold
	Held      []Sentence
	Form      *ImportForm
	Format    string
	Tabs      []BulkClass
	Help      string
	Rows      []ImportLine
	First     string
	Next      string
}

// ImportAsk asks whether an import may begin on a system that was never proven.
type ImportAsk struct {
	Say     Sentence
	System  string // its id
	May     bool   // whoever sees the page may agree
	Prove   Link   // where it is proven; empty: not by whoever sees the page
	Problem string // it was not agreed to
}

// ImportSum is what comes to one currency.
type ImportSum struct{ Currency, Count, Amount string }

// ImportHold is the form that stops everything of a file.
type ImportHold struct {
	Button, Problem, Note, Max string
	Open                       bool
}

// ImportForm is how a file is read, to be changed.
type ImportForm struct {
	Open       bool
	Remembered bool
	Settings   []ImportSetting
	Heading    string
	Columns    []ImportSetting
	Ignored    string
	Headings   []string
	Samples    [][]string
}

// ImportSetting is a choice about the file. The first of the choices is to find it out, or none.
type ImportSetting struct {
	Name, Label, Value string
	Must               bool
	Choices            []Choice
}

// ImportLine is one row of the file.
type ImportLine struct {
	Line, Key, Href, Customer, Amount, Currency, Sign, Tone, Says, Detail string
}
