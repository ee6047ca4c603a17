package web

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/xuri/excelize/v2"

	"onefold/internal/automation"
	"onefold/internal/review"
	rt "onefold/internal/review/reviewtest"
	"onefold/internal/work"
)

// book opens a workbook as a spreadsheet program does.
func (a answer) book(t *testing.T) *excelize.File {
	t.Helper()
	if a.status != http.StatusOK || a.header.Get("Content-Type") != xlsxType {
		t.Fatalf("%d %s", a.status, a.header)
	}
	f, err := excelize.OpenReader(strings.NewReader(a.body))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

// sheetRows are the rows of a sheet by heading: what is stored, not how it is shown.
func sheetRows(t *testing.T, f *excelize.File, sheet string, raw bool) (rows []map[string]string) {
	t.Helper()
	all, err := f.GetRows(sheet, excelize.Options{RawCellValue: raw})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range all[1:] {
		row := map[string]string{}
		for i, cell := range r {
			row[all[0][i]] = cell
		}
		rows = append(rows, row)
	}
	return rows
}

// Trial 117: one filter for screen, CSV and Excel.
func TestTrial117_TheWorkbookShowsWhatTheScreenShows(t *testing.T) {
	w := newWorld(t)
	w.One("INV-OPEN")
	w.Send(w.One("INV-DONE"), rt.AcceptedAs(41))
	w.Put("Globex", rt.Money(t, "5", "EUR"), numbered("INV-MANY-", 130)...)
	b := newSite(t, Config{Store: w.Store}).signIn("vera")
	for _, query := range []string{"", "?tab=all", "?tab=finished", "?tab=closed", "?q=MANY", "?tab=all&from=100", "?tab=all&to=100&currency=EUR", "?tab=all&after=zz.1"} {
		screen := "/" + query
		if strings.Contains(query, "after") {
			screen = "/?tab=all"
		}
		on := b.listed(screen)
		var in []string
		for _, row := range sheetRows(t, b.get("/export.xlsx"+query).book(t), "Invoices", true) {
			in = append(in, row["key"])
		}
		if csv := b.get("/export.csv" + query).fileKeys(t); !slices.Equal(on, in) || !slices.Equal(on, csv) {
			t.Errorf("%q: %d on the screen, %d in the workbook, %d in the CSV file", query, len(on), len(in), len(csv))
		}
	}
	if a := b.get("/?tab=all&to=100"); !strings.Contains(a.body, `href="/export.xlsx?tab=all&amp;to=100"`) || !strings.Contains(a.body, `href="/export.csv?tab=all&amp;to=100"`) {
		t.Error("the links do not lead to the same list")
	}
}

// Trial 120: texts are texts, numbers are numbers. Trial 113: a moment is of the day of the firm's zone.
func TestTrial120_CellsOfTheWorkbook(t *testing.T) {
	w := newWorld(t)
	paris, err := time.LoadLocation("Europe/Paris")
	if err != nil {
		t.Fatal(err)
	}
	w.Later(13*time.Hour + 30*time.Minute) // 23:30 UTC is 00:30 of the next day there
	names := []string{`=HYPERLINK("http://evil.example","x")`, "+49 30 1", "-2+3", "@SUM(A1:A9)", "'=1+1", "＝1+1", "0049", "-45.00", "Zoë 株式会社 مؤسسة", "a_x000D_b", "line\nbreak"}
	totals := []string{"45.00 EUR", "1200 JPY", "1.234 KWD", "99999999999999.39 EUR"}
	var items []work.New
	for i, name := range names {
		number, code, _ := strings.Cut(totals[i%len(totals)], " ")
		v := rt.Invoice(name, rt.Money(t, number, code))
		v.CustomerID, v.IssueDate, v.DueDate, v.Lines = name, "2026-11-01", "", nil
		items = append(items, work.New{Automation: invoicesAutomation, BusinessKey: fmt.Sprintf("%02d", i), SystemID: rt.SystemID, Invoice: v, Source: "api", By: ada})
	}
	if recorded, err := w.Proven().Record(t.Context(), items); err != nil || slices.ContainsFunc(recorded, func(r automation.Recorded) bool { return r.Result != automation.IntakeNew }) {
		t.Fatalf("%+v %v", recorded, err)
	}
	f := newSite(t, Config{Store: w.Store, Zone: paris}).signIn("vera").get("/export.xlsx?tab=all").book(t)
	headings, err := f.GetRows("Invoices")
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string, row int) string {
		i := slices.Index(headings[0], name)
		if i < 0 {
			t.Fatalf("no column %s in %v", name, headings[0])
		}
		cell, err := excelize.CoordinatesToCellName(i+1, row)
		if err != nil {
			t.Fatal(err)
		}
		return cell
	}
	raw, shown := sheetRows(t, f, "Invoices", true), sheetRows(t, f, "Invoices", false)
	seen := 0
	for i, row := range raw {
		var n int
		if _, err := fmt.Sscan(strings.TrimLeft(row["key"], "0")+" ", &n); err != nil {
			n = 0
		}
		seen++
		if row["key"] != fmt.Sprintf("%02d", n) || row["customer_name"] != names[n] || row["customer_id"] != names[n] {
			t.Errorf("%q is %q %q", names[n], row["customer_name"], row["customer_id"])
		}
		for _, name := range []string{"key", "customer_name"} {
			kind, err := f.GetCellType("Invoices", at(name, i+2))
			formula, err2 := f.GetCellFormula("Invoices", at(name, i+2))
			if err != nil || err2 != nil || kind != excelize.CellTypeInlineString || formula != "" {
				t.Errorf("%s of %q is of kind %v, formula %q, %v %v", name, names[n], kind, formula, err, err2)
			}
		}
		number, code, _ := strings.Cut(totals[n%len(totals)], " ")
		kind, err := f.GetCellType("Invoices", at("amount", i+2))
		isNumber := kind == excelize.CellTypeUnset || kind == excelize.CellTypeNumber
		if exact := len(number) < 16; err != nil || isNumber != exact { // more digits than a spreadsheet keeps stay a text: nobody's cents change unseen
			t.Errorf("%s is of kind %v, %v", number, kind, err)
		}
		want := map[string]string{"EUR": "45.00", "JPY": "1,200", "KWD": "1.234"}[code]
		if len(number) > 15 {
			want = number
		}
		if shown[i]["amount"] != want || row["currency"] != code {
			t.Errorf("%s %s is shown as %s", number, code, shown[i]["amount"])
		}
		if got := shown[i]["recorded_at (Europe/Paris)"]; got != "2026-11-30 00:30:00" {
			t.Errorf("recorded at %s", got)
		}
		if got := shown[i]["issue_date"]; got != "2026-11-01" || !regexp.MustCompile(`^\d+$`).MatchString(row["issue_date"]) || row["due_date"] != "" || row["last_try (Europe/Paris)"] != "" {
			t.Errorf("issued %s (%s), due %q, tried %q", got, row["issue_date"], row["due_date"], row["last_try (Europe/Paris)"])
		}
	}
	if seen != len(names) {
		t.Errorf("%d rows", seen)
	}
	_, lines := newSite(t, Config{Store: w.Store, Zone: paris}).signIn("vera").get("/export.csv?tab=all").table(t)
	if len(lines) != len(names) || lines[0]["recorded_at (Europe/Paris)"] != "2026-11-30 00:30:00" || lines[0]["status"] != "Waiting to be sent" {
		t.Errorf("the CSV file: %v", lines)
	}
}

// Nobody must take a part of the list for the whole.
func TestABrokenWorkbookIsNone(t *testing.T) {
	w := newWorld(t)
	w.Put("Acme", rt.Money(t, "1", "EUR"), numbered("INV-2026-11-", 450)...)
	for pages, whole := range map[int]bool{0: false, 1: false, 2: false, 100: true} {
		b := newSite(t, Config{Store: &failingSearch{w.Store, pages}}).signIn("vera")
		a := b.get("/export.xlsx?tab=all")
		if whole {
			if rows := sheetRows(t, a.book(t), "Invoices", true); len(rows) != 450 {
				t.Errorf("%d rows", len(rows))
			}
			continue
		}
		if a.status != http.StatusInternalServerError || a.header.Get("Content-Disposition") != "" || strings.Contains(a.body, "secret") || !strings.Contains(a.body, "<h1>") {
			t.Errorf("after %d pages: %d %s", pages, a.status, a.visible())
		}
	}
}

// A sheet has an end; the list goes on, on the next one.
func TestALongListHasSeveralSheets(t *testing.T) {
	s := &server{Config: Config{Zone: time.UTC}}
	items := func(n int, broken error) iter.Seq2[work.Item, error] {
		return func(yield func(work.Item, error) bool) {
			for i := range n {
				if !yield(work.Item{BusinessKey: fmt.Sprint(i), Invoice: rt.Invoice("Acme", rt.Money(t, "1", "EUR"))}, nil) {
					return
				}
			}
			if broken != nil {
				yield(work.Item{}, broken)
			}
		}
	}
	book, err := s.workbook(items(25, nil), 11)
	if err != nil {
		t.Fatal(err)
	}
	defer book.Close()
	var b bytes.Buffer
	if err := book.Write(&b); err != nil {
		t.Fatal(err)
	}
	f := answer{status: http.StatusOK, body: b.String(), header: http.Header{"Content-Type": {xlsxType}}}.book(t)
	var keys []string
	for _, sheet := range f.GetSheetList() {
		for _, row := range sheetRows(t, f, sheet, true) {
			keys = append(keys, row["key"])
		}
	}
	if fmt.Sprint(f.GetSheetList()) != "[Invoices Invoices 2 Invoices 3]" || len(keys) != 25 || keys[0] != "0" || keys[24] != "24" {
		t.Errorf("%v %v", f.GetSheetList(), keys)
	}
	if _, err := s.workbook(items(3, review.ErrNotFound), 11); !errors.Is(err, review.ErrNotFound) {
		t.Errorf("a broken list: %v", err)
	}
}
