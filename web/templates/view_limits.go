package templates

// LimitsList is the page of all limits.
type LimitsList struct {
	Shell
	Systems []LimitsSystem
}

// LimitsSystem is one accounting system on it.
type LimitsSystem struct {
	Name  string
	Href  string
	Facts []Fact
	Own   []Link // automations with limits of their own
	Last  Sentence
}

// LimitsPage is the form of the limits of a system, or of one automation.
type LimitsPage struct {
	Shell
	Back       string
	Heading    string
	Address    string
	Scopes     []Choice
	Scope      string // the automation; empty: the system
	Inherits   string // what an empty field means; empty: none may be
	Problem    string
	Faults     []Link // to the fields that cannot be so
	Groups     []LimitGroup
	Seen       string
	Note       string
	MaxNote    string
	RemoveHelp string // of the button that removes all; empty: there is none
	Meaning    LimitsMeaning
	Changes    []LimitsChange
}

// LimitGroup is a part of the form.
type LimitGroup struct {
	Title  string
	Say    string
	Fields []LimitField
}

// LimitField is one limit in the form.
type LimitField struct {
	Name     string
	Label    string
	Value    string
	Help     string
	Bounds   []string // what it may be, and why
	Problem  string
	Stale    string // what somebody else made of it
	Place    string // what an empty field means
	Inherits string
	Own      bool // the automation differs here
	Mode     string
	Money    bool
	Currency string
}

// LimitsMeaning is what limits mean.
type LimitsMeaning struct {
	Broken  bool // the form cannot be understood
	Courses []LimitsCourse
	Past    []string
	Since   Sentence
	Cut     bool
}

// LimitsCourse is one course that things may take, drawn and in words.
type LimitsCourse struct {
	Title string
	Chart LimitsChart
	Say   []string
}

// LimitsChart is a drawing; all numbers are in its own units.
type LimitsChart struct {
	ViewBox, Left, Right, Bottom, LabelAt string
	Grid                                  []LimitsGrid
	Lanes                                 []LimitsLane
}

// LimitsGrid is an upright line at a time.
type LimitsGrid struct{ X, Text, Anchor string }

// LimitsLane is one row of marks.
type LimitsLane struct {
	Name, Y, TextY string
	Marks          []LimitsMark
}

// LimitsMark is something that happens, or the span in which it does.
type LimitsMark struct{ Class, X, Y, Width, Points string }

// LimitsChange is a change on record.
type LimitsChange struct {
	At    Stamp
	Who   string
	Whose string
	Lines []LimitsDiff
	Note  string
	Undo  string // where to undo it; empty: it cannot be
}

// LimitsDiff is one limit before and after.
type LimitsDiff struct{ Name, Was, Is string }

func (f LimitField) describedBy() string {
	ids := "limit-" + f.Name + "-help"
	if f.Stale != "" {
		ids += " limit-" + f.Name + "-stale"
	}
	if f.Problem != "" {
		ids += " limit-" + f.Name + "-problem"
	}
	return ids
}
