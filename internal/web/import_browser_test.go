package web

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// A colleague brings a file in: the page follows by itself from the check to the button, and from the button to the end.
func TestImportStoryInTheBrowser(t *testing.T) {
	t.Parallel()
	ctx := chrome(t)
	w, s := newImportSite(t)
	background, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); _ = runner(w, "one").Run(background) }()
	t.Cleanup(func() { stop(); <-done })

	var file strings.Builder
	file.WriteString("Rechnungsnummer;Kundennummer;Betrag;Währung\n")
	for i := range 9000 { // more than is checked while somebody waits
		fmt.Fprintf(&file, "INV-2026-11-%06d;C-%06d-with-a-longer-name-so-that-the-file-is-large;1.%03d,50;EUR\n", i, i, i%1000)
	}
	path := filepath.Join(t.TempDir(), "Rechnungen.csv")
	if err := os.WriteFile(path, []byte(file.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, ctx, signInOn(s.URL, "ada"), chromedp.Navigate(s.URL+importPath), chromedp.SetUploadFiles(chromedp.CSS(`input[type=file]`), []string{path}),
		chromedp.Click(chromedp.CSS(`.import-new button.main`)), chromedp.WaitVisible(chromedp.CSS(`#start button.main`)))
	b := tab{t, ctx}
	b.shows("Rechnungen.csv", "Import 9,000 invoices", "Not imported yet")
	run(t, ctx, chromedp.Click(chromedp.CSS(`#start button.main`)), chromedp.WaitVisible(chromedp.CSS(`.badge.good`)))
	b.shows("Imported", "9,000", "Download the results (CSV)")
	if n := len(recorded(t, w)); n != 9000 {
		t.Errorf("%d on record", n)
	}
}
