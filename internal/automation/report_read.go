package automation

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"regexp"
	"strconv"
	"strings"

	"github.com/bojanz/currency"
	"github.com/xuri/excelize/v2"

	"onefold/internal/work"
)

// ReportFiles reads the reports of accounting systems: CSV files and Excel workbooks.
type ReportFiles struct{}

// Read reads a report. Columns that the settings leave open are found out; ours counts how many of the cells are references
// of ours. A file that cannot be read, or not yet be compared, comes with Problem.
func (ReportFiles) Read(ctx context.Context, content []byte, s work.ReportSettings, ours func(cells []string) int) (work.ReportTable, error) {
	delimiter := rune(0)
	if r := []rune(s.Delimiter); len(r) == 1 {
		delimiter = r[0]
	}
	t, err := readTable(content, delimiter)
	var fe *FileError
	if errors.As(err, &fe) {
		return work.ReportTable{Settings: s, Problem: problemOf(err)}, nil
	}
	if err != nil {
		return work.ReportTable{}, err
	}
	out := work.ReportTable{Format: t.format, Made: t.made}
	for _, h := range t.heading.fields {
		out.Headings = append(out.Headings, strings.TrimSpace(h))
	}
	if twice := repeated(out.Headings); twice != "" {
		out.Settings, out.Problem = s, problemOf(fileErrorf(t.heading.line, "two columns have the heading %q: rename or remove one", shown(twice)))
		return out, nil
	}
	for _, r := range t.rows[:min(len(t.rows), 5)] {
		out.Samples = append(out.Samples, r.fields)
	}
	out.Settings = settleColumns(s, out.Headings, t.rows, ours)
	r := reportReader{table: t, at: map[string]int{}, settings: &out.Settings}
	for i, h := range out.Headings {
		if h != "" {
			r.at[h] = i
		}
	}
	r.statuses(&out)
	if out.Problem = r.problem(s); out.Problem != "" {
		return out, ctx.Err()
	}
	for _, row := range t.rows {
		out.Rows = append(out.Rows, r.row(row))
	}
	return out, ctx.Err()
}

func repeated(headings []string) string {
	seen := map[string]bool{}
	for _, h := range headings {
		if h != "" && seen[h] {
			return h
		}
		seen[h] = true
	}
	return ""
}

// reportReader turns the rows of a table into rows of a report.
type reportReader struct {
	table
	at       map[string]int // heading: its place
	settings *work.ReportSettings
	decimal  rune
	order    DateOrder
}

func (r *reportReader) cell(row tableRow, heading string) string {
	i, ok := r.at[heading]
	if heading == "" || !ok || i >= len(row.fields) {
		return ""
	}
	return unguard(strings.TrimSpace(row.fields[i]))
}

const maxStatuses = 30

func (r *reportReader) statuses(out *work.ReportTable) {
	seen := map[string]bool{}
	for _, row := range r.rows {
		word := r.cell(row, r.settings.Status)
		if word == "" || seen[word] || len(out.Statuses) == maxStatuses {
			continue
		}
		seen[word] = true
		out.Statuses = append(out.Statuses, word)
		for _, v := range voidWords {
			if !r.settings.Chosen && foldHeading(word) == v && !contains(r.settings.Void, word) {
				r.settings.Void = append(r.settings.Void, word)
			}
		}
	}
}

func contains(list []string, s string) bool {
	for _, have := range list {
		if have == s {
			return true
		}
	}
	return false
}

// problem settles how numbers and dates are written, or says what is missing.
func (r *reportReader) problem(asked work.ReportSettings) string {
	s := r.settings
	s.Code = strings.ToUpper(strings.TrimSpace(s.Code))
	switch {
	case s.Reference == "":
		return "Which column holds our reference? None of them holds a reference that we know."
	case s.Amount == "":
		return "Which column holds the total of each document?"
	case s.Currency == "" && s.Code == "":
		return "In which currency are the amounts? Choose the column, or type the code."
	case s.Code != "" && !currency.IsValid(s.Code):
		return fmt.Sprintf("The currency %q is not known: use a three-letter code such as EUR.", shown(s.Code))
	}
	var decimals evidence[rune]
	var orders evidence[DateOrder]
	plain := r.excel
	for _, row := range r.rows {
		amount := bareAmount(r.cell(row, s.Amount), r.code(row))
		plain = plain && (amount == "" || plainNumber.MatchString(amount))
		switch mark := decimalOf(amount); mark {
		case '.', ',':
			decimals.add(mark, where{row.line, amount})
		case '?':
			decimals.addUnclear(where{row.line, amount})
		}
		date := withoutTime(r.cell(row, s.Date))
		if order, unclear := orderOf(date); order != "" {
			orders.add(order, where{row.line, date})
		} else if unclear {
			orders.addUnclear(where{row.line, date})
		}
	}
	asDecimal := rune(0)
	if asked.Decimal != "" {
		asDecimal = []rune(asked.Decimal)[0]
	}
	if r.decimal = '.'; !plain {
		var err error
		if r.decimal, err = decideDecimal(decimals, asDecimal, 0); err != nil {
			return problemOf(err)
		}
	}
	var err error
	if r.order, err = decideOrder(orders, DateOrder(asked.DateOrder), ""); err != nil {
		return problemOf(err)
	}
	return ""
}

func problemOf(err error) string {
	text := forReport(err).Error()
	return strings.ToUpper(text[:1]) + text[1:] + "."
}

var (
	plainNumber = regexp.MustCompile(`^-?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?$`)
	timeOfDay   = regexp.MustCompile(`[T ][0-9]{1,2}:[0-9]{2}(:[0-9]{2}(\.[0-9]+)?)?( ?[AaPp][Mm])?(Z|[-+][0-9:]+)?$`)
	serialDay   = regexp.MustCompile(`^[2-9][0-9]{4}(\.[0-9]+)?$`)
	letterCode  = regexp.MustCompile(`^([A-Z]{3}) ?(.*)$|^(.*[0-9]) ?([A-Z]{3})$`)
)

func withoutTime(cell string) string { return timeOfDay.ReplaceAllString(cell, "") }

// bareAmount takes the currency's own code or a sign out of an amount. A code that differs stays, and is then no number.
func bareAmount(cell, code string) string {
	if m := letterCode.FindStringSubmatch(cell); m != nil {
		if m[1] == code && code != "" {
			cell = m[2]
		} else if m[4] == code && code != "" {
			cell = m[3]
		}
	}
	return strings.TrimSpace(strings.Trim(cell, "€$£¥ \u00a0"))
}

func (r *reportReader) code(row tableRow) string {
	if r.settings.Currency == "" {
		return r.settings.Code
	}
	return strings.ToUpper(r.cell(row, r.settings.Currency))
}

func (r *reportReader) row(in tableRow) work.ReportRow {
	s := r.settings
	out := work.ReportRow{Line: in.line, Reference: r.cell(in, s.Reference), Number: r.cell(in, s.Number), Customer: r.cell(in, s.Customer),
		State: stateOf(r.cell(in, s.Status), s.Void), Text: rowText(in.fields)}
	problem := func(err error) {
		if err != nil && out.Problem == "" {
			out.Problem = err.Error()
		}
	}
	switch width := len(r.heading.fields); {
	case in.broken != nil:
		problem(in.broken)
	case !r.excel && len(in.fields) != width:
		problem(fmt.Errorf("the row has %d fields, the heading has %d", len(in.fields), width))
	}
	if r.excel && madeNumber(out.Reference) {
		problem(fmt.Errorf("the spreadsheet has turned the reference into the number %s: export as CSV, or as text", out.Reference))
	}
	total, err := r.total(bareAmount(r.cell(in, s.Amount), r.code(in)), r.code(in))
	out.Total = total
	problem(err)
	out.Date, err = r.date(withoutTime(r.cell(in, s.Date)))
	problem(err)
	return out
}

// madeNumber reports whether a spreadsheet has taken a reference for a number and lost digits of it: it keeps 15.
func madeNumber(cell string) bool {
	return plainNumber.MatchString(cell) && (strings.ContainsAny(cell, "eE") || len(cell) > 15 && strings.Trim(cell[15:], "0") == "")
}

// total reads an amount exactly. Numbers of a spreadsheet are kept there with 15 digits: more are noise, and refused if
// the amount itself needs them.
func (r *reportReader) total(cell, code string) (currency.Amount, error) {
	if r.excel && plainNumber.MatchString(cell) {
		exact, ok := new(big.Rat).SetString(cell)
		if !ok {
			return currency.Amount{}, fmt.Errorf("amount: %q is not a number", shown(cell))
		}
		whole := len(strings.TrimLeft(strings.TrimPrefix(new(big.Int).Quo(exact.Num(), exact.Denom()).String(), "-"), "0"))
		digits, _ := currency.GetDigits(code)
		if whole+int(digits) > 15 {
			return currency.Amount{}, errors.New("the amount has more digits than a spreadsheet keeps: export as CSV")
		}
		cell = exact.FloatString(15 - whole)
		if strings.Contains(cell, ".") {
			cell = strings.TrimSuffix(strings.TrimRight(cell, "0"), ".")
		}
	}
	return sheet{format: ImportFormat{Decimal: r.decimal}}.total(cell, code)
}

func (r *reportReader) date(cell string) (string, error) {
	if cell == "" {
		return "", nil
	}
	if r.excel && serialDay.MatchString(cell) {
		days, err := strconv.ParseFloat(cell, 64)
		if err != nil {
			return "", fmt.Errorf("date: %q is no date", shown(cell))
		}
		day, err := excelize.ExcelDateToTime(days, r.date04)
		if err != nil {
			return "", fmt.Errorf("date: %q is no date", shown(cell))
		}
		return day.Format("2006-01-02"), nil
	}
	day, err := parseDate(cell, r.order)
	if err != nil {
		return "", fmt.Errorf("date: %w", err)
	}
	return day, nil
}

const maxRowText = 1000 // bytes

func rowText(fields []string) string {
	text := strings.ToValidUTF8(strings.Join(fields, " · "), "\uFFFD")
	if len(text) > maxRowText {
		text = strings.ToValidUTF8(text[:maxRowText], "")
	}
	return text
}
