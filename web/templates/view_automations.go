package templates

// AutomationsView is the page of the automations.
type AutomationsView struct {
	Shell
	List []AutomationView
	Let  *LetBegin // nil: every system is proven, or the person may not agree
}

// LetBegin is the form that lets an automation begin on a system that was never proven.
type LetBegin struct{ Systems []Choice }

// AutomationView is one automation.
type AutomationView struct {
	Anchor  string // an id on the page
	Name    string // as it is recorded
	Title   string
	Code    string // the name beside a title of our own; empty: the title is the name
	What    string
	Badge   Badge
	Says    []Sentence // why it is off
	Targets []Target   // empty: nothing recorded yet
	Last    *Stamp     // nil: never
	Planned bool       // it has a next run
	Next    *Stamp     // nil: NextSays tells
	NextSay string
	Figures []AutomationFigure
	Plans   string // address of its plans; empty: it has none

	May     bool // the person may switch and run it
	MayRun  bool // else RunOff, if it is planned
	Off     bool
	Version string // of the switch as it is shown
	Note    string // as it was typed
	Open    bool   // the form is open
	Ask     *AskUnproven
}

// AskUnproven asks whether an automation may begin on systems that were never proven.
type AskUnproven struct {
	Post    string // what was to be done
	Do      string
	Systems string // their ids, with commas
	Prove   []Link // where they are proven
}

// Target is a system that an automation sends to, and the steps of a document there.
type Target struct{ System, Href, Steps string }

// AutomationFigure is a number of documents and the list that shows them.
type AutomationFigure struct {
	Name, Count, Href string
	Nil               bool
}
