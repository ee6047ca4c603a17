package templates

import (
	"strconv"
	"strings"
)

// TriedOut is what a try-out of a definition showed.
type TriedOut struct {
	Records []TriedRecord
	Calls   []TriedCall
}

// TriedRecord is a record that a try-out found.
type TriedRecord struct{ Number, Reference, Customer, Total, State string }

// TriedCall is one request of a try-out and what was read from its answer.
type TriedCall struct {
	Title, Request, Response string
	Read                     []TriedValue
	Bad                      bool // something of it could not be read
}

// TriedValue is what one line of the definition read.
type TriedValue struct{ Line, Part, Value, Problem string }

// rowsOf is the height of a text of many lines.
func rowsOf(f FormField) string {
	return strconv.Itoa(min(max(strings.Count(f.Value, "\n")+2, 4), 28))
}
