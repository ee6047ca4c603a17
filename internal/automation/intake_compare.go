package automation

import (
	"fmt"
	"strings"
	"unicode"

	"onefold/internal/work"
)

// compare judges a new item against the one that holds its key.
func compare(asked, there work.Item) Recorded {
	r := Recorded{Result: IntakeKnown, Item: there}
	switch {
	case asked.BusinessKey != there.BusinessKey:
		r.Result = IntakeSpelling
		r.Err = fmt.Errorf("the key %q is on record in another spelling: %q", asked.BusinessKey, there.BusinessKey)
	case asked.SystemID != there.SystemID:
		r.Result = IntakeConflict
		r.Err = fmt.Errorf("%s is on record for another accounting system: recorded for %s, given for %s", asked.BusinessKey, there.SystemID, asked.SystemID)
	case asked.Invoice.Fingerprint() != there.Invoice.Fingerprint():
		r.Result = IntakeConflict
		r.Err = fmt.Errorf("%s is on record with another content: %s", asked.BusinessKey, strings.Join(differences(there.Invoice, asked.Invoice), "; "))
	}
	return r
}

// differences lists what differs between the recorded and the given content, both sides named.
func differences(recorded, given work.Invoice) []string {
	var out []string
	note := func(what, a, b string) {
		if a != b {
			out = append(out, fmt.Sprintf("%s recorded %s, given %s", what, orNothing(a), orNothing(b)))
		}
	}
	note("amount", recorded.Total.Round().String(), given.Total.Round().String())
	note("customer", recorded.CustomerID, given.CustomerID)
	note("customer name", recorded.CustomerName, given.CustomerName)
	note("issue date", recorded.IssueDate, given.IssueDate)
	note("due date", recorded.DueDate, given.DueDate)
	note("lines", lines(recorded.Lines), lines(given.Lines))
	note("note", recorded.Note, given.Note)
	return out
}

func lines(ls []work.Line) string {
	parts := make([]string, len(ls))
	for i, l := range ls {
		parts[i] = strings.TrimSpace(fmt.Sprintf("%s × %s %s %s", l.Quantity, l.UnitPrice, l.Description, l.TaxCode))
	}
	return strings.Join(parts, " + ")
}

// orNothing names a value in a sentence.
func orNothing(s string) string {
	if s == "" {
		return "nothing"
	}
	return shown(s)
}

// shown makes a value fit for a line of a report: bounded, and nothing in it that steers a terminal.
func shown(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, s)
	if r := []rune(s); len(r) > 80 {
		return string(r[:79]) + "…"
	}
	return s
}
