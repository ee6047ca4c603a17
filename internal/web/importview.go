package web

import (
	"net/url"
	"strconv"
	"strings"

	"github.com/bojanz/currency"

	"onefold/internal/automation"
	"onefold/internal/review"
	"onefold/internal/work"
	"onefold/web/templates"
)

// importView turns an import into its page.
type importView struct {
	view
	item   automation.Import
	system string
	typed  importTyped
}

// stateCode is the state, or that it cannot be read yet.
func (v importView) stateCode() string {
	if v.item.State == automation.ImportReady && v.item.Problem != "" {
		return "problem"
	}
	return string(v.item.State)
}

func (v importView) badge() templates.Badge {
	w, code := templates.Imports, v.stateCode()
	return templates.Badge{Sign: w.StateSign[code], Tone: w.StateTone[code], Text: w.State[code]}
}

// outcomeCode is the outcome, for rows that were to do with how far the import is.
func (v importView) outcomeCode(o automation.ImportOutcome) string {
	switch {
	case o != automation.RowTodo:
	case v.item.State == automation.ImportRunning:
		return "todo/importing"
	case v.item.State == automation.ImportHolding || v.item.State == automation.ImportStopped:
		return "todo/stopped"
	}
	return string(o)
}

func (v importView) number(id int64) string {
	return templates.Say(templates.Imports.Number, map[string]any{"n": strconv.FormatInt(id, 10)}).String()
}

func count(n int) string { return thousands(int64(n)) }

func (v importView) entry() templates.ImportEntry {
	i, w := v.item, templates.Imports
	e := templates.ImportEntry{Href: importAddress(i.ID), Name: text(orText(i.Name, w.FileName), 100), Number: v.number(i.ID), System: v.system, By: text(i.By.Name, 60),
		At: v.ago(i.At), Badge: v.badge(), New: count(i.Counts.New)}
	var says []string
	for _, o := range automation.ImportOutcomes {
		if n := *i.Counts.Of(o); n > 0 && o != automation.RowNew {
			says = append(says, templates.Pick(w.Outcome, v.outcomeCode(o), string(o))+" "+count(n))
		}
	}
	e.Says = strings.Join(says, " · ")
	return e
}

// hasRows reports whether the rows are judged.
func (v importView) hasRows() bool {
	return v.item.State != automation.ImportChecking && v.item.Problem == ""
}

func (v importView) page(show automation.ImportOutcome, rows []automation.ImportRow, after int) templates.ImportPage {
	i, w := v.item, templates.Imports
	path := importAddress(i.ID)
	m := templates.ImportPage{Path: path, Version: strconv.FormatInt(i.Version, 10), Busy: i.State.Busy(), Name: text(orText(i.Name, w.FileName), 100), Badge: v.badge(), Problem: v.problem(),
		Remove: i.State == automation.ImportReady, SumsTitle: w.ToImport}
	m.Say = v.says()
	if i.Earlier != 0 && i.State == automation.ImportReady {
		m.Earlier = templates.Say(w.Before, map[string]any{"import": v.number(i.Earlier)})
	}
	v.progress(&m)
	v.sums(&m)
	if !i.BegunAt.IsZero() {
		m.List = "/?" + url.Values{"tab": {string(review.TabAll)}, "source": {automation.SourceOfImport(i.ID)}}.Encode()
		m.SumsTitle = w.Imported
		if i.State != automation.ImportHolding {
			m.Hold = &templates.ImportHold{Button: w.Hold, Note: v.typed.note, Problem: v.typed.problem, Open: v.typed.problem != "" || v.typed.note != "", Max: strconv.Itoa(review.MaxNote)}
		}
	}
	if i.State == automation.ImportStopped {
		m.Hold.Button = w.HoldAgain
	}
	if i.State == automation.ImportReady {
		v.form(&m)
	}
	if v.hasRows() {
		m.Results = path + "/results.csv"
		v.rows(&m, show, rows, after)
	}
	return m
}

// says is where the file comes from and who did what with it.
func (v importView) says() (says []templates.Sentence) {
	i, w := v.item, templates.Imports
	says = append(says, templates.Say("{no} · {system} · {at} {by} {who}", map[string]any{"no": v.number(i.ID), "system": v.system, "at": v.ago(i.At), "by": w.By, "who": text(i.By.Name, 60)}))
	if !i.BegunAt.IsZero() {
		says = append(says, templates.Say(w.BegunBy, map[string]any{"at": v.ago(i.BegunAt), "who": text(i.BegunBy.Name, 60)}))
	}
	return says
}

// problem is why the file cannot be imported as it is read.
func (v importView) problem() string {
	i, w := v.item, templates.Imports
	var missing []string
	for _, name := range automation.ColumnNames() {
		if automation.MustHave(name) && i.Found.Columns[name] == 0 {
			missing = append(missing, w.Column[name])
		}
	}
	if i.Problem != "" && len(missing) > 0 && len(i.Found.Headings) > 1 {
		return templates.Say(w.ChooseColumns, map[string]any{"columns": strings.Join(missing, ", ")}).String()
	}
	return text(i.Problem, 500)
}

func (v importView) progress(m *templates.ImportPage) {
	i, w := v.item, templates.Imports
	done, all, label := 0, 0, ""
	switch i.State {
	case automation.ImportChecking:
		if done, all, label = i.Read, i.Rows, w.CheckingRows; all == 0 {
			label = w.Checking
		}
	case automation.ImportRunning:
		done, all, label = i.Promised-i.Counts.Todo, i.Promised, w.Running
	case automation.ImportHolding:
		label = w.Holding
	default:
		v.held(m)
		return
	}
	bar := &templates.BulkBar{Label: templates.Say(label, map[string]any{"done": count(done), "all": count(all), "n": count(i.Stopped)}).String()}
	if all > 0 {
		bar.Parts = []templates.BulkPart{{Tone: "good", From: "0", Width: strconv.Itoa(min(done*1000/all, 1000))}}
	}
	m.Bar = bar
}

func (v importView) held(m *templates.ImportPage) {
	i, w := v.item, templates.Imports
	if i.State != automation.ImportStopped {
		return
	}
	m.Held = append(m.Held, templates.Say(w.Stopped, map[string]any{"n": invoices(i.Stopped)}),
		templates.Say(w.StoppedBy, map[string]any{"who": text(i.HeldBy.Name, 60), "note": text(i.HeldNote, review.MaxNote)}))
	if i.Counts.Todo > 0 {
		m.Held = append(m.Held, templates.Say(w.LeftOut, map[string]any{"n": count(i.Counts.Todo)}))
	}
}

// sums are what is to be imported, or was, and the button.
func (v importView) sums(m *templates.ImportPage) {
	i, w := v.item, templates.Imports
	for _, s := range i.Sums {
		m.Sums = append(m.Sums, templates.ImportSum{Currency: s.Currency, Count: count(s.Rows), Amount: amountNumber(s.Amount)})
	}
	switch {
	case i.State != automation.ImportReady || i.Problem != "":
	case i.Counts.Todo > 0:
		m.Import = templates.Say(w.Import, map[string]any{"n": invoices(i.Counts.Todo)}).String()
	default:
		m.None = w.ImportNone
	}
}

func (v importView) rows(m *templates.ImportPage, show automation.ImportOutcome, rows []automation.ImportRow, after int) {
	i, w := v.item, templates.Imports
	address := func(o automation.ImportOutcome, after int) string {
		q := url.Values{}
		if o != "" {
			q.Set("show", string(o))
		}
		if after > 0 {
			q.Set("after", strconv.Itoa(after))
		}
		if len(q) == 0 {
			return m.Path
		}
		return m.Path + "?" + q.Encode()
	}
	m.Tabs = []templates.BulkClass{{Link: templates.Link{Text: w.All, Href: address("", 0), Here: show == ""}, Count: count(i.Rows)}}
	for _, o := range automation.ImportOutcomes {
		n := *i.Counts.Of(o)
		if n == 0 && (o == automation.RowTodo || o == automation.RowNew) && show != o {
			continue // one of them is always empty, before it begins or after its end
		}
		m.Tabs = append(m.Tabs, templates.BulkClass{Link: templates.Link{Text: templates.Pick(w.Outcome, v.outcomeCode(o), string(o)), Href: address(o, 0), Here: show == o}, Count: count(n),
			Sign: w.OutcomeSign[string(o)], Tone: w.OutcomeTone[string(o)]})
	}
	m.Help = w.OutcomeHelp[string(show)]
	if after > 0 {
		m.First = address(show, 0)
	}
	if len(rows) > importRows {
		rows = rows[:importRows]
		m.Next = address(show, rows[importRows-1].N)
	}
	for _, r := range rows {
		l := templates.ImportLine{Line: count(r.Line), Key: text(r.Key, 100), Customer: text(r.Customer, 100), Amount: text(r.Amount, 60), Currency: text(r.Currency, 10),
			Sign: w.OutcomeSign[string(r.Outcome)], Tone: w.OutcomeTone[string(r.Outcome)]}
		if a, err := currency.NewAmount(r.Amount, r.Currency); err == nil && r.Outcome != automation.RowRefused {
			l.Amount = amountNumber(a)
		}
		switch {
		case r.ItemID != 0:
			l.Href = "/items/" + strconv.FormatInt(r.ItemID, 10)
		case r.Outcome == automation.RowNew:
			l.Href = "/?" + url.Values{"tab": {string(review.TabAll)}, "q": {r.Key}}.Encode()
		}
		l.Says, l.Detail = v.result(r)
		m.Rows = append(m.Rows, l)
	}
}

// result is what came of a row, and why.
func (v importView) result(r automation.ImportRow) (says, detail string) {
	w := templates.Imports
	says = templates.Pick(w.Says, v.outcomeCode(r.Outcome), string(r.Outcome))
	line, isLine := strings.CutPrefix(r.Detail, "line ")
	switch {
	case r.Outcome != automation.RowKnown:
		detail = text(r.Detail, 400)
	case isLine:
		detail = templates.Say(w.SameLine, map[string]any{"n": line}).String()
	default:
		who := orText(text(r.Who, 60), templates.Words.Nobody)
		says = templates.Say(templates.Pick(w.Known, r.Detail, ""), map[string]any{"who": who, "status": strings.ToLower(statusName(work.Item{Status: work.Status(r.Detail)}))}).String()
	}
	if detail != "" {
		detail = sentence(detail)
	}
	return says, detail
}

func (v importView) cells(r automation.ImportRow) []string {
	says, detail := v.result(r)
	return []string{strconv.Itoa(r.Line), r.Key, r.Customer, r.Currency, r.Amount, says, detail}
}

// form is how the file is read, with what was found in the first choice.
func (v importView) form(m *templates.ImportPage) {
	i, w := v.item, templates.Imports
	f, asked := i.Found, i.Asked
	form := &templates.ImportForm{Open: i.Problem != "", Remembered: f.Remembered, Ignored: text(strings.Join(f.Ignored, ", "), 300)}
	if f.Format.Heading > 0 {
		form.Heading = strconv.Itoa(f.Format.Heading)
	}
	if !f.Excel {
		form.Settings = append(form.Settings, setting("encoding", w.Encoding, asked.Encoding, f.Format.Encoding, w.Code, "utf-8", "windows-1252", "iso-8859-15", "windows-1250", "iso-8859-2", "macintosh"),
			setting("delimiter", w.Delimiter, tabName(asked.Delimiter), w.Separator[tabName(markText(f.Format.Delimiter))], w.Separator, ",", ";", "tab", "|"))
	} else {
		sheet := templates.ImportSetting{Name: "sheet", Label: w.Sheet, Value: orText(asked.Sheet, f.Format.Sheet)}
		for _, name := range f.Sheets {
			sheet.Choices = append(sheet.Choices, templates.Choice{Value: name, Text: text(name, 60)})
		}
		form.Settings = append(form.Settings, sheet)
	}
	form.Settings = append(form.Settings, setting("decimal", w.Decimal, asked.Decimal, w.Point[markText(f.Format.Decimal)], w.Point, ".", ","),
		setting("date_order", w.DateOrder, string(asked.DateOrder), w.Order[string(f.Format.DateOrder)], w.Order, "dmy", "mdy", "ymd"))
	for n, h := range f.Headings {
		form.Headings = append(form.Headings, orText(text(h, 60), "("+strconv.Itoa(n+1)+")"))
	}
	for _, row := range f.Samples {
		cells := make([]string, len(row))
		for k, cell := range row {
			cells[k] = text(cell, 60)
		}
		form.Samples = append(form.Samples, cells)
	}
	if len(form.Headings) > 0 {
		for _, name := range automation.ColumnNames() {
			s := templates.ImportSetting{Name: "column_" + name, Label: w.Column[name], Must: automation.MustHave(name), Value: strconv.Itoa(f.Columns[name]),
				Choices: []templates.Choice{{Value: "0", Text: w.Unused}}}
			if s.Must {
				s.Choices[0].Text = w.ChooseColumn
			}
			for n, h := range form.Headings {
				s.Choices = append(s.Choices, templates.Choice{Value: strconv.Itoa(n + 1), Text: h})
			}
			form.Columns = append(form.Columns, s)
		}
	}
	m.Form = form
	if f.Format.Heading > 0 && i.Problem == "" {
		m.Format = templates.Say(w.FormatAt, map[string]any{"format": text(f.Format.String(), 200), "n": form.Heading}).String()
	}
}

// setting is a choice whose first one says what was found.
func setting(name, label, value, found string, texts map[string]string, order ...string) templates.ImportSetting {
	s := templates.ImportSetting{Name: name, Label: label, Value: value, Choices: []templates.Choice{{Text: templates.Say(templates.Imports.ByItself, map[string]any{"found": orText(found, "–")}).String()}}}
	for _, code := range order {
		s.Choices = append(s.Choices, templates.Choice{Value: code, Text: texts[code]})
	}
	return s
}

func markText(r rune) string {
	if r == 0 {
		return ""
	}
	return string(r)
}

func tabName(delimiter string) string {
	if delimiter == "\t" {
		return "tab"
	}
	return delimiter
}
