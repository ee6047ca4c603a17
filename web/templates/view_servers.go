package templates

// Servers is the page of the servers on this database.
type Servers struct {
	Shell
	Say     []Sentence // what concerns several of them; empty: nothing
	Servers []Server
}

// Server is one of them.
type Server struct {
	Name  string
	Badge Badge
	Say   []Sentence // what somebody should know; empty: all is well
	Facts []Fact
	Holds []Fact // open calls by accounting system
	Runs  []Link
}
