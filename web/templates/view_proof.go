package templates

// ProofNew is the page on which a proof of a system is begun, with the earlier ones.
type ProofNew struct {
	Shell
	Heading string
	System  string // its name
	Back    string // address of the system's page
	Post    string
	Books   string // what will be made in the books
	After   string // what becomes of it
	Problem string // why it was not begun
	Refusal string // why it cannot be begun; empty: it can
	Running string // address of the run that has not ended; empty: none
	Fields  []FormField
	Earlier []ProofRow
}

// ProofRow is an earlier run.
type ProofRow struct {
	Href  string
	At    Stamp
	By    string
	Badge Badge
	Books string
}

// ProofRun is the report of a run.
type ProofRun struct {
	Shell
	Heading    string
	System     string
	Back       string // address of the system's proofs
	Here       string
	Version    string
	Open       bool // it goes on
	Badge      Badge
	Result     string
	By         Sentence
	Books      string
	Steps      []ProofStep
	Left       []ProofLeft
	References []string // to look for; empty: nothing was cut off
	Offers     []string // what is better not relied on; empty: nothing
	Adopt      string   // address that takes the offers over; empty: done
}

// ProofStep is one step of a run.
type ProofStep struct {
	Name  string
	Badge Badge
	Says  string
	At    *Stamp
}

// ProofLeft is a record that stays in the books.
type ProofLeft struct{ ID, Number, Reference, URL, Why string }
