package recurring

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/bojanz/currency"

	"onefold/internal/work"
)

// FieldError says what must be mended in one field of a plan.
type FieldError struct {
	Field string // "code", "system", "customer", "name", "currency", "start", "end", "pay_within", "note", "every", "unit", "day", "from", "lines"
	Line  int    // of Field "lines": which one, from 1; 0: all of them
	Text  string // in the user's words
}

func (e *FieldError) Error() string {
	if e.Line > 0 {
		return fmt.Sprintf("line %d: %s", e.Line, e.Text)
	}
	return e.Text
}

func wrong(field, format string, args ...any) *FieldError {
	return &FieldError{Field: field, Text: fmt.Sprintf(format, args...)}
}

// Bounds of what is typed, in characters.
const (
	maxCode  = 60 // keeps business keys readable and short
	maxName  = 300
	maxNote  = 4000
	maxLines = 100
)

// Validate returns the first of Problems.
func (p Plan) Validate() error {
	if all := p.Problems(); len(all) > 0 {
		return all[0]
	}
	return nil
}

// Problems are all that must be mended before the plan can run; none: it can.
func (p Plan) Problems() (all []*FieldError) {
	add := func(e *FieldError) {
		if e != nil {
			all = append(all, e)
		}
	}
	add(p.checkCode())
	if p.SystemID == "" {
		add(wrong("system", "choose the accounting system"))
	}
	if strings.TrimSpace(p.CustomerID) == "" {
		add(wrong("customer", "name the customer as the accounting system knows it"))
	}
	add(checkText("customer", p.CustomerID, maxName))
	add(checkText("name", p.CustomerName, maxName))
	add(checkText("note", p.Note, maxNote))
	known := currency.IsValid(p.Currency)
	if !known {
		add(wrong("currency", "the currency %q is not known: use a three-letter code such as EUR", p.Currency))
	}
	if p.PayWithin < 0 || p.PayWithin > 365 {
		add(wrong("pay_within", "the days to pay must be between 0 and 365, not %d", p.PayWithin))
	}
	if len(p.Terms) == 0 {
		return append(all, wrong("start", "the plan needs a start and at least one line"))
	}
	if y := p.Terms[0].From.Year(); y < 1990 || y > 2100 {
		add(wrong("start", "the plan needs a first day, from 1990 to 2100"))
	}
	if !p.End.IsZero() && p.End.Before(p.neverBegan()) {
		add(wrong("end", "the plan ends before it starts"))
	}
	for i, t := range p.Terms {
		before := len(all)
		add(t.Schedule.check())
		for n, l := range t.Lines[:min(len(t.Lines), maxLines)] {
			if bad := checkLine(l); bad != nil {
				bad.Line = n + 1
				add(bad)
			}
		}
		if known && before == len(all) {
			if _, err := p.total(t.Lines); err != nil {
				add(err)
			}
		}
		if i > 0 && before == len(all) {
			add(p.boundary(i))
		}
	}
	return all
}

func (p Plan) checkCode() *FieldError {
	if strings.TrimSpace(p.Code) == "" || utf8.RuneCountInString(p.Code) > maxCode {
		return wrong("code", "the plan needs a code of at most %d characters, for example PLAN-042", maxCode)
	}
	clean, err := work.CleanKey(p.Code)
	if err != nil {
		return wrong("code", "%v", err)
	}
	if clean != p.Code {
		return wrong("code", "write the code as %q, without spaces around it", clean)
	}
	return nil
}

// checkText refuses what cannot stand on an invoice.
func checkText(field, text string, limit int) *FieldError {
	if n := utf8.RuneCountInString(text); n > limit {
		return wrong(field, "this has %d characters, at most %d are allowed", n, limit)
	}
	for _, r := range text {
		if r == utf8.RuneError || unicode.IsControl(r) && r != '\n' && r != '\r' && r != '\t' {
			return wrong(field, "this contains a character that cannot be read (U+%04X)", r)
		}
	}
	return nil
}

// boundary checks that term i begins where a period of the term before it would begin.
func (p Plan) boundary(i int) *FieldError {
	t, before := p.Terms[i], p.Terms[i-1]
	starts, err := before.Schedule.Starts(before.From, t.From, maxPeriods)
	if err != nil {
		return wrong("from", "%v", err)
	}
	if !t.From.After(before.From) || len(starts) == 0 || !starts[len(starts)-1].Equal(t.From) {
		next, _ := before.Schedule.Starts(before.From, t.From.AddDate(maxEvery+1, 0, 0), len(starts)+1)
		hint := ""
		if len(next) > len(starts) {
			hint = ": the next one begins on " + next[len(starts)].Format(time.DateOnly)
		}
		return wrong("from", "a change must begin with a period, and none begins on %s%s", t.From.Format(time.DateOnly), hint)
	}
	first, err := t.Schedule.Starts(t.From, t.From, 1)
	if err != nil || len(first) == 0 {
		return wrong("day", "the new schedule must have a period that begins on %s, the day of the change", t.From.Format(time.DateOnly))
	}
	return nil
}

// plainNumber is a number in plain digits: no exponents, no thousands marks.
var plainNumber = regexp.MustCompile(`^-?[0-9]{1,14}(\.[0-9]{1,8})?$`)

// total adds the lines up: quantity times price each, rounded a line. The currency must be known.
func (p Plan) total(lines []work.Line) (currency.Amount, *FieldError) {
	if len(lines) == 0 || len(lines) > maxLines {
		return currency.Amount{}, wrong("lines", "the plan needs between 1 and %d lines", maxLines)
	}
	sum, err := currency.NewAmount("0", p.Currency)
	for i, l := range lines {
		if bad := checkLine(l); bad != nil {
			bad.Line = i + 1
			return sum, bad
		}
		var amount currency.Amount
		if err == nil {
			amount, err = currency.NewAmount(l.UnitPrice, p.Currency)
		}
		if err == nil {
			amount, err = amount.Mul(l.Quantity)
		}
		if err == nil {
			sum, err = sum.Add(amount.Round())
		}
		if err != nil {
			return sum, &FieldError{Field: "lines", Line: i + 1, Text: fmt.Sprintf("this cannot be added up: %v", err)}
		}
	}
	sum = sum.Round()
	if err := (work.Invoice{CustomerID: "-", Total: sum}).Validate(); err != nil {
		return sum, wrong("lines", "%v", err)
	}
	return sum, nil
}

func checkLine(l work.Line) *FieldError {
	if !plainNumber.MatchString(l.UnitPrice) {
		return wrong("lines", "the price %q is not a number: write it like 120.00", l.UnitPrice)
	}
	if !plainNumber.MatchString(l.Quantity) {
		return wrong("lines", "the quantity %q is not a number: write it like 1 or 2.5", l.Quantity)
	}
	if strings.TrimSpace(l.Description) == "" {
		return wrong("lines", "say what is billed")
	}
	if bad := checkText("lines", l.Description, maxNote); bad != nil {
		return bad
	}
	return checkText("lines", l.TaxCode, maxName)
}

// Total is what one full period costs under a term.
func (p Plan) Total(t Term) (currency.Amount, error) {
	if !currency.IsValid(p.Currency) {
		return currency.Amount{}, wrong("currency", "the currency %q is not known: use a three-letter code such as EUR", p.Currency)
	}
	sum, bad := p.total(t.Lines)
	return sum, asError(bad)
}

// asError keeps a nil of our type from becoming an error.
func asError(bad *FieldError) error {
	if bad == nil {
		return nil
	}
	return bad
}

// IsField reports whether the error is about a field, and which.
func IsField(err error) (*FieldError, bool) {
	var bad *FieldError
	ok := errors.As(err, &bad)
	return bad, ok
}
