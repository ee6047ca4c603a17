package web

import (
	"strconv"
	"unicode"

	"onefold/internal/work"
	"onefold/web/templates"
)

const (
	mostChanges = 30  // of one correction on the page
	changeText  = 160 // characters of each side
	changeLead  = 30  // of what is the same before the difference
)

// corrected is what a correction changed, field by field, the old beside the new.
func corrected(was, is work.Invoice) (list []templates.Changed) {
	w := templates.ItemWords
	add := func(name, before, after string) {
		if before != after {
			before, after = differing(before, after)
			list = append(list, templates.Changed{Name: name, Before: orText(before, w.CorrectEmpty), After: orText(after, w.CorrectEmpty)})
		}
	}
	add(w.Field["customer_id"], was.CustomerID, is.CustomerID)
	add(w.Field["customer_name"], was.CustomerName, is.CustomerName)
	add(w.Field["amount"], amount(was.Total), amount(is.Total))
	add(w.Field["issue_date"], was.IssueDate, is.IssueDate)
	add(w.Field["due_date"], was.DueDate, is.DueDate)
	add(w.Field["invoice_note"], was.Note, is.Note)
	for i := range max(len(was.Lines), len(is.Lines)) {
		name := say(w.CorrectLine, "n", strconv.Itoa(i+1))
		switch {
		case i >= len(is.Lines):
			list = append(list, templates.Changed{Name: name, Before: lineSay(was.Lines[i], was), After: w.CorrectGone})
		case i >= len(was.Lines):
			list = append(list, templates.Changed{Name: name, After: lineSay(is.Lines[i], is)})
		default:
			old, now := was.Lines[i], is.Lines[i]
			add(name+" · "+w.Field["description"], old.Description, now.Description)
			add(name+" · "+w.Field["quantity"], old.Quantity, now.Quantity)
			add(name+" · "+w.Field["unit_price"], old.UnitPrice, now.UnitPrice)
			add(name+" · "+w.Field["tax_code"], old.TaxCode, now.TaxCode)
		}
	}
	if more := len(list) - mostChanges; more > 0 {
		list = append(list[:mostChanges], templates.Changed{Name: "…", After: say(w.CorrectMore, "n", strconv.Itoa(more))})
	}
	return list
}

// lineSay is a whole line in short.
func lineSay(l work.Line, of work.Invoice) string {
	return say(templates.Plans.LineSay, "quantity", text(l.Quantity, 30), "price", price(l.UnitPrice, of.Total.CurrencyCode()), "text", text(l.Description, 80))
}

// differing cuts two long texts so that where they differ can be seen.
func differing(a, b string) (string, string) {
	was, is := []rune(a), []rune(b)
	if len(was) > changeText || len(is) > changeText {
		at := 0
		for at < len(was) && at < len(is) && was[at] == is[at] {
			at++
		}
		if from := at - changeLead; from > 0 {
			for from < at && !unicode.IsSpace(was[from-1]) { // whole words
				from++
			}
			was, is = was[from:], is[from:]
			return templates.Words.Cut + text(string(was), changeText), templates.Words.Cut + text(string(is), changeText)
		}
	}
	return text(a, changeText), text(b, changeText)
}
