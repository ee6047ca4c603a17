package automation

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bojanz/currency"

	"onefold/internal/work"
)

// Longest texts, in characters. Longer ones are refused, not cut.
const (
	maxName = 300
	maxText = 4000
)

// row reads one row. Errors are in the user's words; the business key is returned with them if it could be read.
func (s sheet) row(rec record) (work.New, error) {
	if rec.broken != nil {
		return work.New{}, rec.broken
	}
	if n := len(rec.fields); n != s.width {
		return work.New{}, fmt.Errorf("the row has %d fields, the heading has %d: put text that contains the separator in quotation marks", n, s.width)
	}
	n := work.New{BusinessKey: s.columns.of(rec, colKey)}
	for c := range numColumns {
		if err := checkText(c, s.columns.of(rec, c)); err != nil {
			return n, err
		}
	}
	if n.BusinessKey == "" {
		return n, errors.New("the key is missing")
	}
	clean, err := work.CleanKey(n.BusinessKey)
	if err != nil {
		return n, err
	}
	n.BusinessKey = clean
	if n.Invoice, err = s.invoice(rec); err != nil {
		return n, err
	}
	if n.Period, err = parseMonth(s.columns.of(rec, colPeriod)); err != nil {
		return n, err
	}
	return n, n.Invoice.Validate()
}

func (s sheet) invoice(rec record) (work.Invoice, error) {
	cell := func(c column) string { return s.columns.of(rec, c) }
	mark := func(c column) rune {
		if s.columns.isNumber(rec, c) {
			return '.'
		}
		return s.format.Decimal
	}
	v := work.Invoice{CustomerID: cell(colCustomerID), CustomerName: cell(colCustomerName), Note: cell(colNote)}
	var err error
	if s.columns.isNumber(rec, colAmount) && cutOff(cell(colAmount)) {
		return v, fmt.Errorf("amount: spreadsheets cut numbers off after %d digits: write %s as text", bookDigits, shown(cell(colAmount)))
	}
	if v.Total, err = readTotal(cell(colAmount), cell(colCurrency), mark(colAmount)); err != nil {
		return v, err
	}
	if s.columns[colIssueDate] >= 0 {
		if cell(colIssueDate) == "" {
			return v, errors.New("the issue date is missing")
		}
		if v.IssueDate, err = parseDate(cell(colIssueDate), s.format.DateOrder); err != nil {
			return v, fmt.Errorf("issue date: %w", err)
		}
	}
	if cell(colDueDate) != "" {
		if v.DueDate, err = parseDate(cell(colDueDate), s.format.DateOrder); err != nil {
			return v, fmt.Errorf("due date: %w", err)
		}
	}
	if v.IssueDate != "" && v.DueDate != "" && v.DueDate < v.IssueDate {
		return v, fmt.Errorf("the due date %s is before the issue date %s", v.DueDate, v.IssueDate)
	}
	v.Lines, err = readLines(cell, mark, v.Total)
	return v, err
}

// total reads an amount in the sheet's number format.
func (s sheet) total(amount, code string) (currency.Amount, error) {
	return readTotal(amount, code, s.format.Decimal)
}

func readTotal(amount, code string, decimal rune) (currency.Amount, error) {
	code = strings.ToUpper(code)
	switch {
	case amount == "":
		return currency.Amount{}, errors.New("the amount is missing")
	case code == "":
		return currency.Amount{}, errors.New("the currency is missing")
	case !currency.IsValid(code):
		return currency.Amount{}, fmt.Errorf("the currency %q is not known: use a three-letter code such as EUR", shown(code))
	}
	number, err := parseNumber(amount, decimal)
	if err != nil {
		return currency.Amount{}, fmt.Errorf("amount: %w", err)
	}
	total, err := currency.NewAmount(number, code)
	if err != nil {
		return currency.Amount{}, fmt.Errorf("amount: %q is not a number", shown(amount))
	}
	if rounded := total.Round(); rounded.Equal(total) {
		total = rounded // 9.5 and 9.50 are one amount; more decimals than the currency has are refused, not rounded
	}
	return total, nil
}

// readLines makes the invoice's one line, if the row tells anything about it.
func readLines(cell func(column) string, mark func(column) rune, total currency.Amount) ([]work.Line, error) {
	l := work.Line{Description: cell(colDescription), Quantity: "1", UnitPrice: total.Number(), TaxCode: cell(colTaxCode)}
	quantity, price := cell(colQuantity), cell(colUnitPrice)
	if l.Description == "" && quantity == "" && price == "" && l.TaxCode == "" {
		return nil, nil
	}
	if quantity == "" && price == "" {
		return []work.Line{l}, nil
	}
	if quantity == "" || price == "" {
		return nil, errors.New("quantity and unit price go together: fill in both or neither")
	}
	var err error
	if l.Quantity, err = parseNumber(quantity, mark(colQuantity)); err != nil {
		return nil, fmt.Errorf("quantity: %w", err)
	}
	if l.UnitPrice, err = parseNumber(price, mark(colUnitPrice)); err != nil {
		return nil, fmt.Errorf("unit price: %w", err)
	}
	return []work.Line{l}, nil
}

func checkText(c column, s string) error {
	limit := maxName
	if c == colNote || c == colDescription {
		limit = maxText
	}
	if n := utf8.RuneCountInString(s); n > limit {
		return fmt.Errorf("the %s has %d characters, at most %d are allowed", c.name(), n, limit)
	}
	for _, r := range s {
		if r == utf8.RuneError {
			return fmt.Errorf("the %s has a character that cannot be read: save the file as \"CSV UTF-8\"", c.name())
		}
		if unicode.IsControl(r) && r != '\n' && r != '\r' && r != '\t' {
			return fmt.Errorf("the %s contains an invisible character (U+%04X)", c.name(), r)
		}
	}
	return nil
}
