package web

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/xuri/excelize/v2"

	rt "onefold/internal/review/reviewtest"
)

func TestImportPagesLookRight(t *testing.T) {
	t.Parallel()
	ctx := chrome(t)
	w, s := newImportSite(t)
	run(t, ctx, signInOn(s.URL, "admin"))
	shoot(t, ctx, "import-empty", s.URL+importPath)
	b := s.signIn("ada")
	w.Put("Acme", rt.Money(t, "100.00", "EUR"), "INV-2026-11-0003")
	var file strings.Builder
	file.WriteString("Rechnungsnummer;Kundennummer;Kundenname;Betrag;Währung;Rechnungsdatum;Beschreibung;Kostenstelle\n")
	for i := range 130 {
		fmt.Fprintf(&file, "INV-2026-11-%04d;C-%d;Müller & Söhne GmbH %d;1.%03d,50;%s;30.11.2026;Wartung November;4711\n", i, i%7, i, i, []string{"EUR", "EUR", "USD", "CHF"}[i%4])
	}
	file.WriteString("INV-X;;Nobody;1,00;EUR;30.11.2026;x;1\nINV-Y;C;Late;1,00;EUR;31.02.2026;x;1\nINV-2026-11-0001;C-1;Müller & Söhne GmbH 1;1.001,50;EUR;30.11.2026;Wartung November;4711\n" +
		"INV-" + strings.Repeat("W", 150) + ";C;مؤسسة الخليج للتجارة;99.999.747.361.065,39;EUR;30.11.2026;x;1\n")
	path, page := b.uploaded("Rechnungen November 2026.csv", file.String())
	shoot(t, ctx, "import-ready", s.URL+path)
	shoot(t, ctx, "import-refused", s.URL+path+"?show=refused")
	run(t, ctx, chromedp.Navigate(s.URL+path+"?show=todo"), chromedp.WaitReady(chromedp.CSS("main")))
	ask(t, ctx, chromedp.Evaluate[bool](`document.querySelectorAll("details").forEach((d) => { d.open = true; }) === undefined`))
	for _, l := range looks {
		shootThis(t, ctx, "import-open", l)
	}
	b.post(path+"/start", page.form(path+"/start"))
	shoot(t, ctx, "import-running", s.URL+path)
	runImports(t, w)
	shoot(t, ctx, "import-done", s.URL+path)

	problem, _ := b.uploaded("which.csv", "Nr. X;Wer;Geld;Wieviel\nA;C;EUR;1.234,00\nB;C;EUR;7,00\n")
	shoot(t, ctx, "import-problem", s.URL+problem)
	f := excelize.NewFile()
	for i, row := range [][]any{{"Invoices of November"}, {}, {"Invoice no", "Customer number", "Currency", "Total", "Date"}, {"000123", "0010", "EUR", 1234.5, time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC)}} {
		if err := f.SetSheetRow("Sheet1", fmt.Sprintf("A%d", i+1), &row); err != nil {
			t.Fatal(err)
		}
	}
	var book bytes.Buffer
	if err := f.Write(&book); err != nil {
		t.Fatal(err)
	}
	excel, page := b.uploaded("invoices.xlsx", book.String())
	wants(t, page, `Excel, sheet "Sheet1"`, "headings in line 3", "New 1")
	shoot(t, ctx, "import-excel", s.URL+excel)
	form := b.get(path).form(path + "/hold")
	form.Set("note", "It was October’s file once more.")
	b.post(path+"/hold", form)
	shoot(t, ctx, "import-holding", s.URL+path)
	runImports(t, w)
	shoot(t, ctx, "import-stopped", s.URL+path)
	shoot(t, ctx, "import-list", s.URL+importPath)
}
