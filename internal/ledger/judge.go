package ledger

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/bojanz/currency"

	"onefold/internal/work"
)

// Judge compares what a search found with what was asked. It does not look at the identity of the books and at control
// lookups; the engine does. A record that is not provably the same is never found_matching.
func Judge(asked work.Invoice, reference string, f Found, c work.Capabilities) work.Lookup {
	l := work.Lookup{RetryAfter: f.RetryAfter, Login: f.Login, Unreached: f.Unreached, Exchange: cleanExchange(f.Exchange)}
	if f.Deferred {
		l.Finding = work.FindDeferred
		return l
	}
	if !f.Searched {
		l.Finding = work.CouldNotTell
		l.Count = len(f.Records)
		return l
	}
	var live, void []work.Record
	for _, r := range distinct(f.Records) {
		if r.State == work.StateVoid {
			void = append(void, r)
		} else {
			live = append(live, r)
		}
	}
	l.Count = len(live) + len(void)
	switch {
	case l.Count == 0:
		l.Finding = work.NotFound
		return l
	case len(live) == 0:
		l.Finding = work.FoundVoid
		l.Record = cleanRecord(void[0])
		l.Remark = "void or deleted in the accounting system"
		return l
	case len(live) > 1:
		l.Finding = work.FoundSeveral
		l.Record = cleanRecord(live[0])
		l.Remark = Short(fmt.Sprintf("%d records carry the reference: %s", len(live), names(live)), MaxSentence)
		return l
	}
	differences, remark := compare(asked, reference, live[0], c)
	if live[0].Reference == "" {
		differences = append(differences, "the accounting system does not tell the reference")
	}
	if live[0].Total.CurrencyCode() == "" {
		differences = append(differences, "the accounting system does not tell the total")
	}
	if !UsableID(live[0].ID) {
		differences = append(differences, "the record has no usable id")
		live[0].ID = ""
	}
	l.Finding = work.FoundMatching
	if len(differences) > 0 {
		l.Finding = work.FoundDifferent
		remark = differences
	} else {
		if live[0].Customer == "" {
			remark = append(remark, "the accounting system does not tell the customer")
		}
		if len(void) > 0 {
			remark = append(remark, fmt.Sprintf("beside %d void", len(void)))
		}
	}
	l.Record = cleanRecord(live[0])
	l.Remark = Short(strings.Join(remark, "; "), MaxSentence)
	return l
}

// JudgeAnswer completes the adapter's answer to a send: an accepted answer needs a usable id, and what came back with it
// is compared with what was asked. What is no outcome at all becomes unknown.
func JudgeAnswer(asked work.Invoice, reference string, a work.Answer, c work.Capabilities) work.Answer {
	a.Exchange = cleanExchange(a.Exchange)
	a.Match = ""
	if !slices.Contains(work.Outcomes, a.Outcome) {
		a.Outcome = work.Unknown
	}
	raw := a.Record
	a.Record = cleanRecord(raw)
	usable := UsableID(raw.ID)
	if !usable {
		a.Record.ID = ""
	}
	if a.Outcome != work.Accepted {
		a.Remark = Short(a.Remark, MaxSentence)
		return a
	}
	if !usable {
		a.Outcome = work.Unknown
		a.Positive = true
		if a.Exchange.Error == "" {
			a.Exchange.Error = "the accounting system claimed success but gave no usable id, outcome unknown"
		}
		return a
	}
	differences, remark := compare(asked, reference, raw, c)
	if raw.State == work.StateVoid {
		differences = append(differences, "void or deleted in the accounting system")
	}
	switch {
	case len(differences) > 0:
		a.Match = work.MatchDifferent
		remark = differences
	case raw.Reference == "" && raw.Customer == "" && raw.Total.CurrencyCode() == "":
		a.Match = work.MatchIDOnly
	default:
		a.Match = work.MatchSame
	}
	a.Remark = Short(strings.Join(remark, "; "), MaxSentence)
	return a
}

// compare lists where the record, as far as it tells, differs from what was asked, and remarks about what still matches.
// References and customers are compared to the letter, amounts as they stand: nothing is scaled.
func compare(asked work.Invoice, reference string, r work.Record, c work.Capabilities) (differences, remarks []string) {
	if r.Reference != "" && r.Reference != reference {
		differences = append(differences, fmt.Sprintf("the reference is %q, asked was %q", Short(r.Reference, 60), Short(reference, 60)))
	}
	if r.Customer != "" && r.Customer != asked.CustomerID {
		differences = append(differences, fmt.Sprintf("the customer is %q, asked was %q", Short(r.Customer, 60), Short(asked.CustomerID, 60)))
	}
	if r.Total.CurrencyCode() == "" {
		return differences, remarks
	}
	difference, err := r.Total.Sub(asked.Total)
	if err != nil { // another currency
		return append(differences, otherTotal(r.Total, asked.Total)), remarks
	}
	if difference.IsNegative() {
		difference, _ = difference.Mul("-1")
	}
	switch {
	case difference.IsZero():
	case within(difference, c.Tolerance):
		remarks = append(remarks, difference.Number()+" rounding")
	default:
		differences = append(differences, otherTotal(r.Total, asked.Total))
	}
	return differences, remarks
}

// otherTotal puts the currency first, as the pages do.
func otherTotal(is, asked currency.Amount) string {
	return fmt.Sprintf("the total is %s %s, asked was %s %s", is.CurrencyCode(), is.Number(), asked.CurrencyCode(), asked.Number())
}

// within reports whether difference is at most so many of the currency's smallest units.
func within(difference currency.Amount, units int) bool {
	digits, ok := currency.GetDigits(difference.CurrencyCode())
	if !ok || units <= 0 {
		return false
	}
	number := fmt.Sprintf("%0*d", int(digits)+1, units)
	if digits > 0 {
		at := len(number) - int(digits)
		number = number[:at] + "." + number[at:]
	}
	limit, err := currency.NewAmount(number, difference.CurrencyCode())
	if err != nil {
		return false
	}
	order, err := difference.Cmp(limit)
	return err == nil && order <= 0
}

// distinct drops repeats of one record, as paging may show them. A void sighting wins: it is the later one.
func distinct(records []work.Record) []work.Record {
	at := map[string]int{}
	var out []work.Record
	for _, r := range records {
		if i, seen := at[r.ID]; seen && UsableID(r.ID) {
			if r.State == work.StateVoid {
				out[i].State = work.StateVoid
			}
			continue
		}
		at[r.ID] = len(out)
		out = append(out, r)
	}
	return out
}

func names(records []work.Record) string {
	var list []string
	for _, r := range records[:min(len(records), 5)] {
		name := r.Number
		if name == "" {
			name = r.ID
		}
		list = append(list, Short(name, 40))
	}
	if len(records) > 5 {
		list = append(list, cutMark)
	}
	return strings.Join(list, ", ")
}

const maxID = 200

// UsableID reports whether s names one record: not empty, not zero or all zeros as in an empty UUID, not a spelt-out
// nothing, and storable as it is.
func UsableID(s string) bool {
	if len(s) > maxID || s != clean(s) || strings.ContainsFunc(s, unicode.IsControl) {
		return false
	}
	switch strings.ToLower(strings.TrimSpace(s)) {
	case "", "null", "nil", "none", "undefined", "nan", "false", "true", "[object object]":
		return false
	}
	return strings.ContainsFunc(s, func(r rune) bool { return r != '0' && (unicode.IsLetter(r) || unicode.IsDigit(r)) })
}
