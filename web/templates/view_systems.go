package templates

import "github.com/a-h/templ"

// SystemPage is the page of one accounting system.
type SystemPage struct {
	Shell
	ID         string
	Name       string
	Path       string // /systems/…
	Badge      Badge
	Say        []Sentence
	Problem    string
	Tried      *Tried
	Connection []Fact
	Limits     []Fact
	Calls      []Fact
	Abilities  []Ability
	Proven     Sentence // when they were last proven
	Cautions   []string // what is relied on less than declared; empty: nothing
	Prove      Link     // where it is proven; none: the person may not
	Actions    []Action
	Changes    []SystemChange
	Reports    string // address; empty: the person may not
	MayConnect bool   // change, test and remove
	Known      bool   // this version has its adapter
	Unknown    Sentence
	LimitsHref string
	TrailHref  string
	Account    *SystemAccount // nil: it logs in without one, or the person may not
}

// Ability is one thing that a system can be relied on for.
type Ability struct{ Name, Declared, Proven string }

// SystemChange is a change of a system's settings.
type SystemChange struct {
	At                       Stamp
	Who, What, Before, After string
}

// Tried is what a test of a connection showed.
type Tried struct {
	Good bool
	Say  Sentence
	More []string
}

// SystemForm is the form that connects an accounting system, or changes how it is reached.
type SystemForm struct {
	Shell
	Heading  string
	Crumb    string
	Back     string // address of the page before
	Post     string
	New      bool
	Kinds    []Link // to choose from, before anything else; empty: it is known
	Kind     string
	KindName string
	Mark     string // the connection that the person saw
	Typed    string // sealed secrets that were entered and are not shown
	Problem  string
	Tried    *Tried
	Name     FormField
	Address  *FormField // nil: it needs none
	Fields   []FormField
	More     []FormField // with defaults that fit most
	MoreOpen bool
	TryOut   *FormField // the reference of a try-out; nil: there is none
	TriedOut *TriedOut
	Account  bool   // a person connects an account afterwards
	Redirect string // to register at the accounting system; empty: the server does not know its address
}

// FormField is one field of a form.
type FormField struct {
	Name     string
	Label    string
	Help     string
	Value    string
	Problem  string
	Secret   bool
	Required bool
	Choices  []Choice // empty: free text
	Forget   string   // the field that removes what is stored; empty: nothing is stored
	Longest  int      // of a text of many lines: its most characters; 0: one line
}

// describedBy ties a field to its help and to what is wrong with it.
func describedBy(f FormField) templ.Attributes {
	a := templ.Attributes{}
	by := ""
	if f.Problem != "" {
		a["aria-invalid"] = "true"
		by = "f-" + f.Name + "-problem"
	}
	if f.Help != "" {
		if by != "" {
			by += " "
		}
		by += "f-" + f.Name + "-help"
	}
	if by != "" {
		a["aria-describedby"] = by
	}
	return a
}
