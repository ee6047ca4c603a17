package automation_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/xuri/excelize/v2"

	"onefold/internal/automation"
)

// excelBook makes an Excel file of the rows; styled sets number formats by cell.
func excelBook(t testing.TB, rows [][]any, styled map[string]string) string {
	t.Helper()
	f := excelize.NewFile()
	defer f.Close()
	for i, row := range rows {
		cell, _ := excelize.CoordinatesToCellName(1, i+1)
		if err := f.SetSheetRow("Sheet1", cell, &row); err != nil {
			t.Fatal(err)
		}
	}
	for cell, code := range styled {
		id, err := f.NewStyle(&excelize.Style{CustomNumFmt: &code})
		if err != nil {
			t.Fatal(err)
		}
		if err := f.SetCellStyle("Sheet1", cell, cell, id); err != nil {
			t.Fatal(err)
		}
	}
	var b bytes.Buffer
	if err := f.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Trials 46, 49, 51 and 53 with a workbook: what a cell is decides, not how it looks.
func TestWorkbookCellsByType(t *testing.T) {
	day := time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC)
	file := excelBook(t, [][]any{
		{"Invoices of November"}, {},
		{"Rechnungsnummer", "Kundennummer", "Währung", "Betrag", "Rechnungsdatum", "Notiz"},
		{"000123", "0010", "EUR", 1.234, day, "one\ntwo; \"three\"\nfour"}, // more decimals than euros have
		{"000124", "0010", "EUR", "1.234", day, ""},                        // a text: the file's text has decimal commas
		{"000125", 10, "EUR", 1234.5, "09.01.2017", ""},
		{"000126", 10, "EUR", "9,00", "31.02.2017", ""},
		{123, 10, "EUR", "9,00", "30.11.2026", ""},
		{},
		{7, 10, "EUR", 0.1 + 0.2, "30.11.2026", ""},
	}, map[string]string{"E4": "dd/mm/yyyy", "E5": "m/d/yy", "A10": "000000"})
	m, r := imported(t, file)
	wantRecord(t, onRecord(m, amountOf), map[string]string{"000124": "1234.00 EUR", "000125": "1234.50 EUR", "123": "9.00 EUR", "000007": "0.30 EUR"})
	wantProblem(t, r, 4, "decimals")
	wantProblem(t, r, 7, "not in the calendar")
	if r.Format.Heading != 3 || r.Format.String() != `Excel, sheet "Sheet1", dates day first` {
		t.Errorf("read as %s, heading in line %d", r.Format, r.Format.Heading)
	}
	for _, it := range m.items {
		switch it.BusinessKey {
		case "000124":
			if it.Invoice.IssueDate != "2026-11-30" || it.Invoice.CustomerID != "0010" {
				t.Errorf("%+v", it.Invoice)
			}
		case "000125":
			if it.Invoice.IssueDate != "2017-01-09" || it.Invoice.CustomerID != "10" {
				t.Errorf("%+v", it.Invoice)
			}
		}
	}
	m, _ = imported(t, excelBook(t, [][]any{{"key", "customer_id", "currency", "amount", "note"}, {"A", "C", "EUR", 5, "one\r\ntwo; \"three\"\nfour"}}, nil))
	if note := m.items[0].Invoice.Note; !strings.Contains(note, "two; \"three\"\nfour") {
		t.Errorf("the note: %q", note)
	}
}

// 63. Huge sums lost their cents
func TestTrial63_WorkbookNumbers(t *testing.T) {
	m, r := imported(t, excelBook(t, [][]any{{"key", "customer_id", "currency", "amount"}, {"A", "C", "EUR", 99999747361065.39}, {"B", "C", "EUR", "99,999,747,361,065.39"},
		{"C", "C", "JPY", 5000}, {"D", "C", "EUR", 9999974736106.5}}, nil))
	wantRecord(t, onRecord(m, amountOf), map[string]string{"B": "99999747361065.39 EUR", "C": "5000 JPY", "D": "9999974736106.50 EUR"})
	wantProblem(t, r, 2, "as text") // the spreadsheet has lost its cents already
}

func TestColumnsByChoice(t *testing.T) {
	const file = "Some title\n\nNummer;Wer;Geld;Total;Wann\nA;C;EUR;1,50;01.11.2026\n"
	if why := refused(t, file); !strings.Contains(why, "no column key") {
		t.Errorf("%s", why)
	}
	o := intoBooks
	o.Heading, o.Columns = 3, map[string]int{"key": 1, "customer_id": 2, "currency": 3, "amount": 4, "issue_date": 5}
	m := newIntakeMemory()
	r, err := importing(t, m, file, o)
	if err != nil {
		t.Fatal(err)
	}
	wantRecord(t, onRecord(m, amountOf), map[string]string{"A": "1.50 EUR"})
	if m.items[0].Invoice.IssueDate != "2026-11-01" || r.Rows != 1 {
		t.Errorf("%+v", m.items[0].Invoice)
	}
	for name, chosen := range map[string]map[string]int{"twice": {"key": 1, "customer_id": 1, "currency": 3, "amount": 4}, "choose which": {"key": 1, "customer_id": 2, "currency": 99}} {
		o.Columns = chosen
		if _, err := importing(t, newIntakeMemory(), file, o); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The headings are recognised in English and German, whatever their case.
func TestGermanHeadings(t *testing.T) {
	m, r := imported(t, "Rechnungs-Nr.;Kunden-Nr.;Kundenname;Währung;Gesamtbetrag;Rechnungsdatum;Fällig am;Beschreibung;Menge;Einzelpreis;MwSt;Bemerkung;Abrechnungsmonat\n"+
		"A;0010;Müller;eur;1.234,50;30.11.2026;14.12.2026;Wartung;2;617,25;19;bitte;2026-11\n")
	wantRecord(t, onRecord(m, amountOf), map[string]string{"A": "1234.50 EUR"})
	it := m.items[0].Invoice
	if len(r.Ignored) > 0 || it.CustomerName != "Müller" || it.DueDate != "2026-12-14" || it.Lines[0].Quantity != "2" || it.Lines[0].TaxCode != "19" || it.Note != "bitte" {
		t.Errorf("%v %+v", r.Ignored, it)
	}
}

func TestDamagedWorkbooksAreRefused(t *testing.T) {
	good := excelBook(t, [][]any{{"key", "customer_id", "currency", "amount"}, {"A", "C", "EUR", 5}}, nil)
	for name, file := range map[string]string{"cut": good[:len(good)/2], "no zip": "PK\x03\x04 and nothing", "old": "\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1",
		"empty": excelBook(t, nil, nil)} {
		t.Log(name, refused(t, file))
	}
	if _, err := importing(t, newIntakeMemory(), good, automation.ImportOptions{SystemID: intoBooks.SystemID, Automation: intoBooks.Automation, Source: "x", By: intoBooks.By, Sheet: "None"}); err == nil || !strings.Contains(err.Error(), "no sheet") {
		t.Errorf("an unknown sheet: %v", err)
	}
}
