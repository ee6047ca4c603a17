package web

import (
	"strconv"
	"strings"

	"github.com/bojanz/currency"

	"onefold/internal/automation/recurring"
	"onefold/web/templates"
)

// fill puts what making and changing a plan have in common on the page.
func (f *planForm) fill(m *templates.PlanForm) {
	units := []templates.Choice{}
	for _, u := range []string{"month", "quarter", "year", "week"} {
		units = append(units, templates.Choice{Value: u, Text: templates.Plans.Unit[u]})
	}
	m.Often = []templates.PlanField{f.field("every"), f.choice("unit", units), f.field("day")}
	m.Extras = []templates.PlanField{f.field("pay_within"), f.field("note")}
	m.Prorate = f.Get("prorate") != ""
	f.lines() // which rows the lines come from
	code := strings.ToUpper(strings.TrimSpace(f.Get("currency")))
	count := max(f.count(), 1)
	for row := range count {
		m.Lines = append(m.Lines, f.line(row, count, code))
	}
	for _, e := range f.faults {
		id := "f-" + e.Field
		switch {
		case e.Field == "lines" && e.Line > 0:
			id = "line-" + strconv.Itoa(f.rowOf(e.Line))
		case e.Field == "lines":
			m.LinesProblem, id = sentence(e.Text), "plan-lines"
		}
		m.Faults = append(m.Faults, templates.Link{Href: "#" + id, Text: faultText(e)})
	}
}

func faultText(e *recurring.FieldError) string {
	name := templates.Plans.Field[e.Field]
	if e.Field == "lines" && e.Line > 0 {
		name = say(templates.Plans.Line, "n", strconv.Itoa(e.Line))
	}
	return orText(name, e.Field) + ": " + text(e.Text, 300)
}

// rowOf is the row of the form that the n-th line (from 1) of the plan comes from.
func (f *planForm) rowOf(n int) int {
	if n >= 1 && n <= len(f.rows) {
		return f.rows[n-1]
	}
	return 0
}

func (f *planForm) problem(field string) string {
	for _, e := range f.faults {
		if e.Field == field && e.Line == 0 {
			return sentence(text(e.Text, 300))
		}
	}
	return ""
}

func (f *planForm) field(name string) templates.PlanField {
	w := templates.Plans
	t := templates.PlanField{InvoiceField: templates.InvoiceField{Name: name, ID: "f-" + name, Label: w.Field[name], Value: f.Get(name), Hint: w.Hint[name], Max: "300", Problem: f.problem(name)}}
	switch name {
	case "start", "end":
		t.Type, t.Max = "date", "10"
	case "every", "day", "pay_within":
		t.Type, t.Max, t.Narrow, t.Number = "number", "4", true, true
	case "currency":
		t.Max, t.Narrow = "3", true
	case "code":
		t.Max = "60"
	case "note":
		t.Long, t.Max = true, "4000"
	}
	return t
}

func (f *planForm) choice(name string, choices []templates.Choice) templates.PlanField {
	t := f.field(name)
	t.Choices = choices
	return t
}

// line is one row of what is billed, with what it comes to.
func (f *planForm) line(row, rows int, code string) templates.PlanLine {
	w, n := templates.Plans, strconv.Itoa(row)
	l := templates.PlanLine{Name: say(w.Line, "n", strconv.Itoa(row+1)), ID: "line-" + n}
	if rows > 1 {
		l.Remove = planRemove + n
	}
	for i, name := range planLineNames {
		t := templates.PlanField{InvoiceField: templates.InvoiceField{Name: name, ID: name + "-" + n, Label: w.Field[name], Value: f.cell(name, row), Max: []string{"4000", "40", "40", "300"}[i], Number: i == 1 || i == 2}}
		if i == 1 && t.Value == "" && row >= len(f.Values[name]) {
			t.Value = "1"
		}
		l.Fields = append(l.Fields, t)
	}
	for _, e := range f.faults {
		if e.Field == "lines" && e.Line > 0 && f.rowOf(e.Line) == row {
			l.Problem = sentence(text(e.Text, 300))
		}
	}
	number, _ := f.decimal(f.cell("price", row))
	if price, err := currency.NewAmount(number, code); err == nil {
		quantity, _ := f.decimal(orText(strings.TrimSpace(f.cell("quantity", row)), "1"))
		if sum, err := price.Mul(quantity); err == nil {
			l.Amount = amountNumber(sum.Round())
		}
	}
	return l
}
