package ledger

import "onefold/internal/work"

// TriedOut is what a try-out of a connection showed: reads only, nothing was sent. No secret is in it.
type TriedOut struct {
	Books    string // whose books were reached; empty: it was not told
	Problem  string // why it ended early, in the admin's words; empty: it went to its end
	Searched bool   // the search was carried out to the end
	Records  []work.Record
	Calls    []TriedCall // in their order
}

// TriedCall is one request of a try-out with what was read from its answer.
type TriedCall struct {
	Purpose           string // identity, search, read
	Request, Response string // bounded
	Read              []TriedValue
}

// TriedValue is what one expression of a definition made of an answer.
type TriedValue struct {
	Line    int
	Part    string
	Value   string // as JSON, bounded
	Problem string // why there is no value
}
