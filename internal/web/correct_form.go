package web

import (
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/bojanz/currency"

	"onefold/internal/review"
	"onefold/internal/work"
	"onefold/web/templates"
)

// The form of a correction.
const (
	formLines = 40 // an invoice with more lines is too long for a form; its lines stay as they are
	spare     = 1  // empty lines to add to
	maxName   = 300
	maxText   = 4000
)

// lineField is the name of a field of the n-th line.
func lineField(n int, name string) string { return "line." + strconv.Itoa(n) + "." + name }

var lineNames = []string{"description", "quantity", "unit_price", "tax_code"}

// readInvoice makes an invoice of what was typed, or says by the names of the fields what is wrong with it. What the form
// does not show is kept from the invoice that it began with.
func readInvoice(form url.Values, from work.Invoice) (work.Invoice, map[string]string) {
	r := &reader{form: form, faults: map[string]string{}, code: strings.ToUpper(strings.TrimSpace(form.Get("currency"))), stood: []string{from.Total.Number()}}
	for _, l := range from.Lines {
		r.stood = append(r.stood, l.Quantity, l.UnitPrice)
	}
	inv := work.Invoice{CustomerID: r.text("customer_id", maxName), CustomerName: r.text("customer_name", maxName), IssueDate: r.date("issue_date"),
		DueDate: r.date("due_date"), Note: r.text("invoice_note", maxText)}
	if inv.CustomerID == "" {
		r.fault("customer_id", "missing")
	}
	r.text("note", review.MaxNote)
	if inv.IssueDate != "" && inv.DueDate != "" && inv.DueDate < inv.IssueDate {
		r.fault("due_date", "due")
	}
	inv.Total = r.total()
	inv.Lines = from.Lines
	if form.Get("lines") != "kept" {
		inv.Lines = r.lines()
	}
	if err := inv.Validate(); err != nil && len(r.faults) == 0 {
		r.faults["amount"] = sentence(err.Error()) // the customer and the currency are checked above
	}
	if len(r.faults) == 0 {
		r.checkSum(inv, from)
	}
	return inv, r.faults
}

// reader reads fields and remembers what is wrong with them.
type reader struct {
	form   url.Values
	faults map[string]string
	code   string   // the currency, as typed
	stood  []string // the numbers that the form began with
}

func (r *reader) fault(field, code string, vals ...string) {
	if r.faults[field] != "" {
		return
	}
	values := map[string]any{}
	for i := 0; i+1 < len(vals); i += 2 {
		values[vals[i]] = vals[i+1]
	}
	r.faults[field] = templates.Say(templates.ItemWords.FieldFault[code], values).String()
}

func (r *reader) text(field string, longest int) string {
	s := strings.TrimSpace(strings.ReplaceAll(strings.ToValidUTF8(r.form.Get(field), "\uFFFD"), "\x00", ""))
	s = strings.ReplaceAll(s, "\r\n", "\n")
	if utf8.RuneCountInString(s) > longest {
		r.fault(field, "long", "n", strconv.Itoa(longest))
	}
	return s
}

func (r *reader) date(field string) string {
	s := r.text(field, 30)
	if s == "" {
		return ""
	}
	if _, err := time.Parse(dayFormat, s); err != nil {
		r.fault(field, "date")
	}
	return s
}

// decimal reads a number; what could be read in two ways is asked about, not guessed.
func (r *reader) decimal(field string) string {
	s := r.text(field, 40)
	if s == "" || r.faults[field] != "" {
		return s
	}
	plain, problem := formNumber(s, r.code, r.stood)
	if problem != "" {
		r.faults[field] = problem
		return s
	}
	return plain
}

func (r *reader) total() currency.Amount {
	number, code := r.decimal("amount"), strings.ToUpper(r.text("currency", 10))
	if number == "" {
		r.fault("amount", "missing")
	}
	if !currency.IsValid(code) {
		r.fault("currency", "currency")
	}
	if r.faults["amount"] != "" || r.faults["currency"] != "" {
		return currency.Amount{}
	}
	total, err := currency.NewAmount(number, code)
	if err != nil {
		r.fault("amount", "number")
		return currency.Amount{}
	}
	switch rounded := total.Round(); {
	case !rounded.Equal(total):
		r.fault("amount", "decimals", "currency", code)
	case !total.IsPositive():
		r.fault("amount", "negative")
	default:
		total = rounded
	}
	return total
}

// lines reads the lines; one of which nothing is left is dropped.
func (r *reader) lines() []work.Line {
	var lines []work.Line
	for n := range formLines + spare {
		before := len(r.faults)
		l := work.Line{Description: r.text(lineField(n, "description"), maxText), Quantity: r.decimal(lineField(n, "quantity")),
			UnitPrice: r.decimal(lineField(n, "unit_price")), TaxCode: r.text(lineField(n, "tax_code"), maxName)}
		if l == (work.Line{}) {
			continue
		}
		if len(r.faults) == before && (l.Quantity == "" || l.UnitPrice == "") {
			missing := "quantity"
			if l.Quantity != "" {
				missing = "unit_price"
			}
			r.fault(lineField(n, missing), "both")
		}
		lines = append(lines, l)
	}
	return lines
}

// checkSum refuses a total that the lines do not add up to any more, if they did before: one of the two was forgotten.
func (r *reader) checkSum(inv, from work.Invoice) {
	was, ok := sum(from)
	if !ok || !sameAmount(was, from.Total) {
		return
	}
	if is, ok := sum(inv); ok && !sameAmount(is, inv.Total) {
		r.fault("amount", "lines", "sum", amount(is))
	}
}

// sum adds up the lines; false: there are none, or they cannot be added.
func sum(inv work.Invoice) (currency.Amount, bool) {
	total, err := currency.NewAmount("0", inv.Total.CurrencyCode())
	if err != nil || len(inv.Lines) == 0 {
		return total, false
	}
	for _, l := range inv.Lines {
		price, err := currency.NewAmount(l.UnitPrice, inv.Total.CurrencyCode())
		if err != nil {
			return total, false
		}
		if price, err = price.Mul(l.Quantity); err != nil {
			return total, false
		}
		if total, err = total.Add(price); err != nil {
			return total, false
		}
	}
	return total.Round(), true
}

// fillCorrect fills the form with what was typed, or with the invoice.
func fillCorrect(m *templates.Correct, t correction, from work.Invoice) {
	value := func(name, stored string) string {
		if t.fields != nil {
			return t.fields.Get(name)
		}
		return stored
	}
	w := templates.ItemWords
	field := func(name, label, stored, longest string) templates.InvoiceField {
		return templates.InvoiceField{Name: name, ID: "f-" + strings.ReplaceAll(name, ".", "-"), Label: w.Field[label], Value: value(name, stored), Problem: t.faults[name],
			Hint: w.FieldHint[label], Max: longest}
	}
	short, long := strconv.Itoa(maxName), strconv.Itoa(maxText)
	customerID, note := field("customer_id", "customer_id", from.CustomerID, short), field("invoice_note", "invoice_note", from.Note, long)
	total := field("amount", "amount", from.Total.Number(), "40")
	customerID.Required, total.Required, total.Number, note.Long = true, true, true, true
	m.Fields = []templates.InvoiceField{customerID, field("customer_name", "customer_name", from.CustomerName, short), total,
		field("currency", "currency", from.Total.CurrencyCode(), "3"), field("issue_date", "issue_date", from.IssueDate, "10"), field("due_date", "due_date", from.DueDate, "10"), note}
	m.Why = value("note", "")
	if len(from.Lines) > formLines || t.fields.Get("lines") == "kept" {
		m.ManyText = templates.Say(w.CorrectManyLines, map[string]any{"n": strconv.Itoa(len(from.Lines))}).String()
		return
	}
	count := len(from.Lines)
	for n := range formLines {
		for _, name := range lineNames {
			if t.fields.Get(lineField(n, name)) != "" {
				count = max(count, n+1)
			}
		}
	}
	for n := range min(count+spare, formLines+spare) {
		var l work.Line
		if n < len(from.Lines) {
			l = from.Lines[n]
		}
		line := templates.LineFields{Name: templates.Say(w.CorrectLine, map[string]any{"n": strconv.Itoa(n + 1)}).String()}
		for i, stored := range []string{l.Description, l.Quantity, l.UnitPrice, l.TaxCode} {
			f := field(lineField(n, lineNames[i]), lineNames[i], stored, []string{long, "40", "40", short}[i])
			f.Number = i == 1 || i == 2
			line.Fields = append(line.Fields, f)
		}
		m.Lines = append(m.Lines, line)
	}
}
