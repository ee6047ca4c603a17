package web

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/bojanz/currency"

	"onefold/internal/review"
	"onefold/internal/work"
	"onefold/web/templates"
)

// reportView turns a report into its page.
type reportView struct {
	view
	report  review.Report
	system  string
	results map[string]int
	typed   *review.ReportInput
	problem string
}

// kind is the kind of line to show: the one asked for, else the first that something would be done with, else the first.
func (p reportView) kind(asked review.LineKind) review.LineKind {
	if slices.Contains(review.LineKinds, asked) {
		return asked
	}
	for _, kind := range review.LineKinds {
		if p.report.Sums[string(kind)].Applies > 0 {
			return kind
		}
	}
	for _, kind := range review.LineKinds {
		if p.report.Sums[string(kind)].Count > 0 {
			return kind
		}
	}
	return review.LineMatch
}

func (p reportView) page(kind review.LineKind, lines []review.ReportLine, after int) templates.ReportPage {
	w, r := templates.Reports, p.report
	path := reportPath(r.ID)
	m := templates.ReportPage{Path: path, Version: strconv.FormatInt(r.Version, 10), Name: text(orText(r.Name, w.FileName), 100), System: p.system, Badge: reportBadge(r),
		Problem: text(r.Problem, 500), Kind: string(kind), KindHelp: w.KindHelp[string(kind)], Empty: w.Empty[string(kind)], Remove: r.State == review.ReportOpen}
	if !r.AppliedAt.IsZero() {
		says := w.Applied
		if r.State == review.ReportApplying {
			says = w.Begun
		}
		m.Applied = templates.Say(says, map[string]any{"at": p.clock(r.AppliedAt), "who": text(r.AppliedBy.Name, 60)})
	}
	applies := p.sums(&m, kind)
	switch {
	case r.State == review.ReportOpen && applies > 0:
		m.Apply = templates.Say(w.Apply, map[string]any{"n": invoices(applies)}).String()
	case r.State == review.ReportOpen && r.Problem == "":
		m.ApplyNone = w.ApplyNone
	case r.State == review.ReportApplying:
		m.Applying = templates.Say(w.ApplyingHelp, map[string]any{"done": thousands(int64(applies - p.results[""])), "all": thousands(int64(applies))}).String()
	}
	if r.State != review.ReportOpen {
		for _, result := range slices.Sorted(maps.Keys(p.results)) {
			m.Results = append(m.Results, templates.Fact{Name: templates.Pick(w.Result, result, "status"), Value: thousands(int64(p.results[result]))})
		}
	}
	if r.Problem == "" {
		m.ResultsURL = path + "/results.csv"
	}
	m.Facts = p.facts()
	for _, d := range r.Doubts {
		n := r.Sums[string(review.LineMissing)].Count
		if d == review.DoubtRows {
			n = r.BadRows
		}
		if say := templates.Say(w.Doubt[string(d)], map[string]any{"n": thousands(int64(n))}).String(); say != "" {
			m.Doubts = append(m.Doubts, say)
		}
	}
	if after > 0 {
		m.First = path + "?show=" + string(kind)
	}
	if len(lines) > reportLines {
		lines = lines[:reportLines]
		m.Next = fmt.Sprintf("%s?show=%s&after=%d", path, kind, lines[reportLines-1].Number)
	}
	for _, l := range lines {
		m.Lines = append(m.Lines, p.line(l))
	}
	for _, b := range r.Bad {
		m.Bad = append(m.Bad, templates.RowProblem{Line: strconv.Itoa(b.Line), Reason: text(b.Reason, 300)})
	}
	if more := r.BadRows - len(r.Bad); more > 0 {
		m.BadMore = templates.Say(w.BadMore, map[string]any{"n": thousands(int64(more))}).String()
	}
	if r.State == review.ReportOpen {
		m.Form = p.form()
	}
	return m
}

func invoices(n int) string {
	if n == 1 {
		return "1 invoice"
	}
	return thousands(int64(n)) + " invoices"
}

// sums are the tabs of the kinds; it returns how many lines apply.
func (p reportView) sums(m *templates.ReportPage, kind review.LineKind) (applies int) {
	for _, k := range review.LineKinds {
		s := p.report.Sums[string(k)]
		applies += s.Applies
		sum := templates.ReportSum{Link: templates.Link{Text: templates.Reports.Kind[string(k)], Href: m.Path + "?show=" + string(k), Here: k == kind}, Count: thousands(int64(s.Count))}
		for _, code := range slices.Sorted(maps.Keys(s.Totals)) {
			if total, err := currency.NewAmount(s.Totals[code], code); err == nil {
				sum.Totals = append(sum.Totals, amount(total))
			}
		}
		m.Sums = append(m.Sums, sum)
	}
	return applies
}

func (p reportView) facts() []templates.Fact {
	w, r := templates.Reports, p.report
	uploaded := p.ago(r.At)
	facts := []templates.Fact{{Name: w.Uploaded, At: &uploaded}, {Name: w.UploadedBy, Value: text(name(r.By), 60)}}
	if !r.Input.Made.IsZero() {
		made := p.clock(r.Input.Made)
		facts = append(facts, templates.Fact{Name: w.Made, At: &made})
	}
	if r.Problem != "" {
		return facts
	}
	period := w.AllTime
	if r.From != "" || r.To != "" {
		period = r.From + " – " + r.To
		if r.From == r.To {
			period = r.From
		}
	}
	return append(facts, templates.Fact{Name: w.Period, Value: period}, templates.Fact{Name: w.Rows, Value: thousands(int64(r.Rows))},
		templates.Fact{Name: w.Agree, Value: thousands(int64(r.Agree))}, templates.Fact{Name: w.FileName, Value: text(r.Format, 100)})
}

// plain is a number that people read: with a decimal point and marks between thousands if it is an amount.
func (p reportView) there(l review.ReportLine) (number, total string) {
	rec, ok := work.ReadRecord(l.Record)
	if !ok {
		return "", ""
	}
	if rec.Total.CurrencyCode() != "" {
		total = amount(rec.Total)
	}
	return orText(rec.Number, rec.ID), total
}

func (p reportView) line(l review.ReportLine) templates.ReportLine {
	m := templates.ReportLine{Key: text(l.Key, 200), Customer: text(l.Customer, 200), Amount: price(l.Asked, l.Currency), Currency: l.Currency, Remark: text(sentence(l.Remark), 300)}
	if l.ItemID != 0 {
		m.Href = "/items/" + strconv.FormatInt(l.ItemID, 10)
	}
	number, total := p.there(l)
	m.There = text(strings.TrimSuffix(strings.TrimPrefix(number+" · "+total, " · "), " · "), 200)
	m.Where = p.rows(l)
	if l.Kind == review.LineStranger {
		m.There, m.Amount, m.Currency = strings.TrimSpace(l.Currency+" "+m.Amount), "", "" // it is the report's
	}
	m.There = orText(m.There, "–")
	if l.Applies && p.report.State != review.ReportOpen {
		m.Badge = resultBadge(l.Result)
		return m
	}
	m.Says = p.happens(l)
	return m
}

// rows names the rows of the file.
func (p reportView) rows(l review.ReportLine) string {
	list := make([]string, len(l.Rows))
	for i, n := range l.Rows {
		list[i] = strconv.Itoa(n)
	}
	if len(list) == 0 {
		return ""
	}
	return templates.Say(templates.Reports.Lines, map[string]any{"n": strings.Join(list, ", ")}).String()
}

// happens says what applying does with a line, or why nothing.
func (p reportView) happens(l review.ReportLine) templates.Sentence {
	w := templates.Reports
	vals := map[string]any{"rows": p.rows(l), "until": p.clock(l.Until)}
	switch {
	case l.Why != "":
		return templates.Say(templates.Pick(w.Why, l.Why, "report"), vals)
	default:
		return templates.Say(w.Happens[string(l.Kind)], vals)
	}
}

func resultBadge(result string) *templates.Badge {
	b := templates.Badge{Sign: "○", Tone: "wait", Text: templates.Pick(templates.Reports.Result, result, "status")}
	switch result {
	case string(work.Confirmed):
		b.Sign, b.Tone = "✓", "good"
	case string(work.Review):
		b.Sign, b.Tone = "!", "ask"
	case "":
		b.Sign, b.Tone = "…", "busy"
	}
	return &b
}

// cells is a line for a spreadsheet.
func (p reportView) cells(l review.ReportLine) []string {
	rec, _ := work.ReadRecord(l.Record)
	number, total := rec.Number, ""
	if rec.Total.CurrencyCode() != "" {
		total = rec.Total.Number()
	}
	result := ""
	if l.Applies && p.report.State != review.ReportOpen {
		result = templates.Pick(templates.Reports.Result, l.Result, "status")
	}
	var rows []string
	for _, n := range l.Rows {
		rows = append(rows, strconv.Itoa(n))
	}
	return []string{templates.Reports.Kind[string(l.Kind)], l.Key, l.Customer, l.Currency, l.Asked, number, total, strings.Join(rows, " "), l.Remark, p.happens(l).String(), result}
}

func (p reportView) form() *templates.ReportForm {
	w, r, in := templates.Reports, p.report, p.report.Input
	if p.typed != nil {
		in = *p.typed
	}
	s := in.Settings
	f := &templates.ReportForm{Open: p.typed != nil || r.Problem != "" || len(r.Doubts) > 0, Problem: p.problem, Headings: r.Headings, Code: text(s.Code, 10),
		MadeHint: templates.Say(w.MadeHint, map[string]any{"zone": p.zone.String()}).String(), From: in.From, To: in.To, Everything: in.Everything}
	if !in.Made.IsZero() {
		f.Made = in.Made.In(p.zone).Format(wallTime)
	}
	if !r.FileMade.IsZero() {
		f.MadeFile = templates.Say(w.MadeFile, map[string]any{"at": r.FileMade.In(p.zone).Format("2006-01-02 15:04")}).String()
	}
	for _, row := range r.Samples {
		var cells []string
		for _, cell := range row {
			cells = append(cells, text(cell, 60))
		}
		f.Samples = append(f.Samples, cells)
	}
	for _, c := range []struct{ code, value string }{{"reference", s.Reference}, {"number", s.Number}, {"customer", s.Customer}, {"amount", s.Amount},
		{"currency", s.Currency}, {"status", s.Status}, {"date", s.Date}} {
		f.Columns = append(f.Columns, templates.ReportColumn{Name: c.code, Label: w.Column[c.code], Value: c.value})
	}
	for _, word := range r.Statuses {
		f.Statuses = append(f.Statuses, templates.Tick{Value: word, Text: text(word, 60), On: slices.Contains(s.Void, word)})
	}
	choice := func(field, label, value string, of map[string]string) {
		c := templates.ReportChoice{Name: field, Label: label, Value: value}
		for _, k := range slices.Sorted(maps.Keys(of)) {
			c.Choices = append(c.Choices, templates.Choice{Value: k, Text: of[k]})
		}
		f.Written = append(f.Written, c)
	}
	choice("decimal", w.Decimal, s.Decimal, w.Point)
	choice("date_order", w.DateOrder, s.DateOrder, w.Order)
	choice("delimiter", w.Delimiter, s.Delimiter, w.Separator)
	return f
}

// reportLink leads from an open item whose system cannot be searched to the comparison with a report; nil: there is none.
func reportLink(d review.Detail, by work.Actor) *templates.Action {
	if d.System.ReliedOn().Searchable || !d.Item.Status.Open() || d.Item.Sends == 0 || !review.MayReport(by) {
		return nil
	}
	return &templates.Action{Name: "report", Href: reportsOf(d.System.ID), Label: templates.Reports.CompareLink}
}

// reportsOf is the address of the reports of a system.
func reportsOf(systemID string) string { return reportsPath + "?system=" + url.QueryEscape(systemID) }
