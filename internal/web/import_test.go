package web

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bojanz/currency"

	"onefold/internal/automation"
	"onefold/internal/review"
	rt "onefold/internal/review/reviewtest"
	"onefold/internal/work"
	"onefold/web/templates"
)

// upload sends a file as the page's form does.
func (b *browser) uploadFile(name, content string) answer {
	b.site.t.Helper()
	fields := b.get(importPath).form(importPath)
	var body bytes.Buffer
	m := multipart.NewWriter(&body)
	_ = m.WriteField(csrfField, fields.Get(csrfField))
	_ = m.WriteField("system", rt.SystemID)
	part, err := m.CreateFormFile("file", name)
	if err != nil {
		b.site.t.Fatal(err)
	}
	_, _ = io.WriteString(part, content)
	_ = m.Close()
	r, err := http.NewRequest(http.MethodPost, b.site.URL+importPath, &body)
	if err != nil {
		b.site.t.Fatal(err)
	}
	r.Header.Set("Content-Type", m.FormDataContentType())
	return b.do(r)
}

// uploaded sends a file and opens the import's page.
func (b *browser) uploaded(name, content string) (path string, page answer) {
	b.site.t.Helper()
	a := b.uploadFile(name, content)
	if a.status != http.StatusSeeOther || !strings.HasPrefix(a.location, importPath+"/") {
		b.site.t.Fatalf("the upload: %d %s %s", a.status, a.location, a.visible())
	}
	path, _, _ = strings.Cut(a.location, "?")
	return path, b.get(a.location)
}

func runner(w *rt.World, node string) automation.ImportRunner {
	return automation.ImportRunner{Imports: automation.Imports{Store: w.Store, CompanyID: 1}, Holder: review.New(w.Store, 1), Node: node}
}

// runImports lets imports go on until nothing is under way.
func runImports(t testing.TB, w *rt.World) {
	t.Helper()
	for range 1000 {
		if did, err := runner(w, "one").RunOnce(t.Context()); err != nil {
			t.Fatal(err)
		} else if !did {
			return
		}
	}
	t.Fatal("the imports do not end")
}

// start presses the button and lets the import end.
func (b *browser) start(w *rt.World, path string, page answer) answer {
	b.site.t.Helper()
	form := page.form(path + "/start")
	if form == nil {
		b.site.t.Fatalf("there is no button: %s", page.visible())
	}
	if a := b.post(path+"/start", form); a.status != http.StatusSeeOther {
		b.site.t.Fatalf("the start: %d %s", a.status, a.visible())
	}
	runImports(b.site.t, w)
	return b.get(path)
}

var importButton = regexp.MustCompile(`>Import ([0-9,]+) invoices?<`)

// promised is the number on the button; 0: there is none.
func promised(a answer) (n int) {
	if m := importButton.FindStringSubmatch(a.body); m != nil {
		_, _ = fmt.Sscan(strings.ReplaceAll(m[1], ",", ""), &n)
	}
	return n
}

// recorded are the amounts of what is on record, by key.
func recorded(t testing.TB, w *rt.World) map[string]string {
	t.Helper()
	all := map[string]string{}
	for q := (review.Query{Tab: review.TabAll, Limit: 200}); ; {
		page, err := review.New(w.Store, 1).Search(t.Context(), rt.Recorder, q)
		if err != nil {
			t.Fatal(err)
		}
		for _, it := range page.Items {
			all[it.BusinessKey] = it.Invoice.Total.String()
		}
		if q.After = page.Next; page.Next == (review.Cursor{}) {
			return all
		}
	}
}

// results is the downloaded file of results, by key.
func (b *browser) results(path string) (rows [][]string) {
	b.site.t.Helper()
	a := b.get(path + "/results.csv")
	rows, err := csv.NewReader(strings.NewReader(strings.TrimPrefix(a.body, "\ufeff"))).ReadAll()
	if err != nil || a.status != http.StatusOK {
		b.site.t.Fatalf("the results: %d %v %s", a.status, err, a.body)
	}
	return rows
}

func wants(t testing.TB, a answer, texts ...string) {
	t.Helper()
	for _, want := range texts {
		if !strings.Contains(a.visible(), want) {
			t.Errorf("%q is missing: %d %s", want, a.status, a.visible())
		}
	}
}

func newImportSite(t testing.TB) (*rt.World, *site) {
	w := newWorld(t)
	w.LetBegin(invoicesAutomation)
	return w, newSite(t, Config{Store: w.Store})
}

func TestImportFromFileToResults(t *testing.T) {
	w, s := newImportSite(t)
	w.Put("Acme", rt.Money(t, "100.00", "EUR"), "OLD") // of another content
	b := s.signIn("ada")
	file := "key;customer_id;customer_name;amount;currency\nINV-1;C-1;Acme;1.100,00;EUR\n=INV-2;C-2;Globex;250,50;EUR\nINV-3;;Nobody;1,00;EUR\nOLD;C-9;Acme;5,00;EUR\nINV-1;C-1;Acme;1.100,00;EUR\nINV-4;C-4;Yen;5000;JPY\n"
	path, page := b.uploaded("November.csv", file)
	if len(recorded(t, w)) != 1 || promised(page) != 3 {
		t.Fatalf("before the button: %v, %s", recorded(t, w), page.visible())
	}
	wants(t, page, "November.csv", "Not imported yet", "EUR21,350.50", "JPY15,000", "All 6", "New 3", "Known 1", "Different 1", "Refused 1", "UTF-8, separated by semicolons, decimal comma, headings in line 1",
		"The same as line 2", "customer", "is on record with another content")
	page = b.start(w, path, page)
	wants(t, page, "Imported 3", "EUR21,350.50", "Known 1", "Different 1", "Refused 1")
	if got := recorded(t, w); len(got) != 4 || got["INV-1"] != "1100.00 EUR" || got["INV-4"] != "5000 JPY" {
		t.Errorf("on record: %v", got)
	}
	rows := b.results(path)
	if len(rows) != 7 || rows[2][1] != "'=INV-2" || rows[2][5] != "Imported" || rows[3][5] != "Refused" || rows[3][6] == "" || rows[4][5] != "Different" || rows[1][4] != "1100.00" {
		t.Errorf("the results: %q", rows)
	}
	wants(t, b.get(path+"?show=refused"), "INV-3")
	wants(t, b.get(importPath), "November.csv", "Import no. 1", "Ada Brown", "Imported", "Known 1 · Different 1 · Refused 1")
	list := b.get("/?tab=all&source=import%3A1")
	if got := fmt.Sprint(len(list.keys())); got != "3" {
		t.Errorf("the list of the import: %s", list.visible())
	}
	if a := s.signIn("vera").get(path); a.status != http.StatusForbidden {
		t.Errorf("a viewer opens it: %d", a.status)
	}
	for path, want := range map[string]int{"/import/99": 404, "/import/x": 404, "/import/1?show=nonsense": 400, "/import/1?after=-1": 400, "/import/99/results.csv": 404, "/import?before=x": 400} {
		if a := b.get(path); a.status != want {
			t.Errorf("%s: %d, not %d", path, a.status, want)
		}
	}
}

func TestFilesThatAreNotTaken(t *testing.T) {
	_, s := newImportSite(t)
	b := s.signIn("ada")
	for name, content := range map[string]string{"empty.csv": ""} {
		if a := b.uploadFile(name, content); a.status != http.StatusUnprocessableEntity || !strings.Contains(a.visible(), "Choose a file.") {
			t.Errorf("%s: %d %s", name, a.status, a.visible())
		}
	}
	path, page := b.uploaded("nonsense.csv", "nonsense\n1\n")
	wants(t, page, "Cannot be read yet", "How the file is read")
	if promised(page) != 0 || page.form(path+"/read") == nil {
		t.Error("it can be imported, or cannot be read again")
	}
	form := page.form(path + "/start")
	if form != nil {
		t.Error("a button is offered")
	}
	form = page.form(path + "/read")
	if a := b.post(path+"/start", form); a.status != http.StatusConflict {
		t.Errorf("begun in spite of its problem: %d", a.status)
	}
	if a := b.post(path+"/remove", page.form(path+"/remove")); a.status != http.StatusSeeOther || b.get(path).status != http.StatusNotFound {
		t.Errorf("removed: %d", a.status)
	}
	if a := s.signIn("vera").uploadFile("a.csv", csvFile); a.status != http.StatusForbidden {
		t.Errorf("a viewer imports: %d", a.status)
	}
}

// What somebody chooses about a file is taken, kept for the next file with the same headings, and changes nothing else.
func TestColumnsAreChosenAndRemembered(t *testing.T) {
	w, s := newImportSite(t)
	b := s.signIn("ada")
	file := func(key string) string { return "Nr. X;Wer;Geld;Wieviel\n" + key + ";C;EUR;1.234,00\n" }
	path, page := b.uploaded("a.csv", file("A"))
	wants(t, page, "Choose below which column holds: Invoice or order number, Customer number, Currency, Amount.")
	form := page.form(path + "/read")
	for name, place := range map[string]string{"key": "1", "customer_id": "2", "currency": "3", "amount": "4"} {
		form.Set("column_"+name, place)
	}
	if a := b.post(path+"/read", form); a.status != http.StatusSeeOther {
		t.Fatalf("%d %s", a.status, a.visible())
	}
	page = b.get(path)
	if promised(page) != 1 {
		t.Fatalf("read again: %s", page.visible())
	}
	if a := b.post(path+"/read", form); a.status != http.StatusConflict { // the form of an older state
		t.Errorf("an old form: %d", a.status)
	}
	b.start(w, path, page)
	path, page = b.uploaded("b.csv", file("B"))
	wants(t, page, "Columns as you chose them for the last file")
	b.start(w, path, page)
	if got := recorded(t, w); got["A"] != "1234.00 EUR" || got["B"] != "1234.00 EUR" {
		t.Errorf("on record: %v", got)
	}
	// Only the letters are chosen: what was remembered stays.
	path, page = b.uploaded("c.csv", file("C"))
	form = page.form(path + "/read")
	for name, place := range map[string]string{"key": "1", "customer_id": "2", "currency": "3", "amount": "4"} {
		form.Set("column_"+name, place)
	}
	form.Set("decimal", ".")
	b.post(path+"/read", form)
	if page = b.get(path); promised(page) != 0 || !strings.Contains(page.visible(), "decimal point") {
		t.Errorf("with a point, 1.234,00 is no number: %s", page.visible())
	}
}

// What a file leaves open is read as somebody chose for the last one with such headings; what it shows itself counts more.
func TestHowNumbersAreReadIsRemembered(t *testing.T) {
	w, s := newImportSite(t)
	b := s.signIn("ada")
	file := func(key, amount, date string) string {
		return "key;customer_id;amount;currency;issue_date\n" + key + ";C;" + amount + ";EUR;" + date + "\n"
	}
	path, page := b.uploaded("a.csv", file("A", "1,234", "03/04/2026"))
	if promised(page) != 0 || !strings.Contains(page.visible(), "two ways") {
		t.Fatalf("not asked about: %s", page.visible())
	}
	form := page.form(path + "/read")
	for n, name := range []string{"key", "customer_id", "amount", "currency", "issue_date"} {
		form.Set("column_"+name, strconv.Itoa(n+1))
	}
	form.Set("decimal", ".")
	form.Set("date_order", "dmy")
	b.post(path+"/read", form)
	b.start(w, path, b.get(path))
	path, page = b.uploaded("b.csv", file("B", "5,678", "05/06/2026"))
	b.start(w, path, page)
	path, page = b.uploaded("c.csv", file("C", "5.678,00", "05/16/2026"))
	b.start(w, path, page)
	if got := recorded(t, w); got["A"] != "1234.00 EUR" || got["B"] != "5678.00 EUR" || got["C"] != "5678.00 EUR" {
		t.Errorf("on record: %v", got)
	}
}

func TestEverythingOfAWrongFileIsStopped(t *testing.T) {
	w, s := newImportSite(t)
	b := s.signIn("ada")
	var file strings.Builder
	file.WriteString("key,customer_id,amount,currency\n")
	for i := range 5000 {
		fmt.Fprintf(&file, "W-%04d,C,1.00,EUR\n", i)
	}
	path, page := b.uploaded("wrong.csv", file.String())
	if a := b.post(path+"/start", page.form(path+"/start")); a.status != http.StatusSeeOther {
		t.Fatal(a.status)
	}
	if _, err := runner(w, "one").RunOnce(t.Context()); err != nil { // 2,000 of them
		t.Fatal(err)
	}
	page = b.get(path)
	wants(t, page, "2,000 of 5,000 invoices recorded", "Being imported")
	if !strings.Contains(page.body, `data-live="bulk"`) {
		t.Error("the page does not follow")
	}
	form := page.form(path + "/hold")
	form.Set("note", "  ")
	if a := b.post(path+"/hold", form); a.status != http.StatusUnprocessableEntity || !strings.Contains(a.visible(), "A note is needed.") {
		t.Fatalf("without a note: %d %s", a.status, a.visible())
	}
	form.Set("note", "The file of last month <b>")
	if a := b.post(path+"/hold", form); a.status != http.StatusSeeOther {
		t.Fatal(a.status)
	}
	runImports(t, w)
	page = b.get(path)
	wants(t, page, "Stopped", "2,000 invoices stopped", "The file of last month <b>", "3,000 rows were not imported", "Ada Brown")
	it := w.Get(1)
	if it.Status != work.Review || it.Reason != work.ReasonHeld || len(recorded(t, w)) != 2000 {
		t.Errorf("%s %s, %d on record", it.Status, it.Reason, len(recorded(t, w)))
	}
	// Brought in again it is known, and says who closed it.
	w.Happen(1, work.Close{By: work.Actor{Kind: work.Person, ID: "b", Name: "Ben Stone", Roles: []work.Role{work.Operator}}, Note: "not ours", Why: review.CloseReasons[0]})
	_, page = b.uploaded("wrong.csv", file.String())
	wants(t, page, "The same file was imported before: Import no. 1", "Known, closed by Ben Stone", "Known 2,000")
	if promised(page) != 3000 {
		t.Errorf("promised: %d", promised(page))
	}
}

// Every state, outcome and refusal has words, and none that finance should not have to know.
func TestEveryImportStateHasWords(t *testing.T) {
	zero, _ := currency.NewAmount("0", "EUR")
	for _, state := range []automation.ImportState{automation.ImportChecking, automation.ImportReady, automation.ImportRunning, automation.ImportDone, automation.ImportHolding, automation.ImportStopped} {
		for _, problem := range []string{"", "Something."} {
			i := automation.Import{ID: 1, State: state, Name: "x.csv", BegunAt: time.Unix(1, 0), Rows: 2, Promised: 2, Counts: automation.ImportCounts{Todo: 1, New: 1, Known: 1, Conflict: 1, Refused: 1},
				ImportBody: automation.ImportBody{Problem: problem, Sums: []automation.ImportSum{{Currency: "EUR", Rows: 1, Amount: zero}}}}
			v := importView{view: view{time.UTC, time.Unix(2, 0)}, item: i, system: "Books"}
			var rows []automation.ImportRow
			for _, o := range automation.ImportOutcomes {
				for _, detail := range []string{"", "line 5", "closed", "resolved", "queued", "review"} {
					rows = append(rows, automation.ImportRow{N: 1, Line: 2, Outcome: o, Detail: detail})
				}
			}
			var b strings.Builder
			if err := templates.ImportView(v.page("", rows, 0)).Render(t.Context(), &b); err != nil {
				t.Fatal(err)
			}
			a := answer{body: b.String()}
			if got := a.visible(); forbidden.MatchString(got) || strings.ContainsAny(got, "{}") || v.badge().Text == "" || v.badge().Sign == "" || v.badge().Tone == "" {
				t.Errorf("%s: %s", state, got)
			}
		}
	}
}

// A server that is lost between recording rows and writing that down is followed by another one, which says what is true.
func TestAnImportSurvivesItsServer(t *testing.T) {
	w, s := newImportSite(t)
	b := s.signIn("ada")
	path, page := b.uploaded("a.csv", "key,customer_id,amount,currency\nA,C,1.00,EUR\nB,C,2.00,EUR\n")
	if a := b.post(path+"/start", page.form(path+"/start")); a.status != http.StatusSeeOther {
		t.Fatal(a.status)
	}
	lost := runner(w, "lost")
	lost.Store = losing{w.Store}
	if _, err := lost.RunOnce(t.Context()); err == nil {
		t.Fatal("the server was not lost")
	}
	if len(recorded(t, w)) != 2 {
		t.Fatal("nothing was recorded")
	}
	if did, err := runner(w, "two").RunOnce(t.Context()); err != nil || did {
		t.Fatalf("taken over while the lost one may still be at it: %v %v", did, err)
	}
	w.Later(3 * time.Minute)
	runImports(t, w)
	page = b.get(path)
	wants(t, page, "Imported 2", "EUR23.00")
}

// losing loses the server before what was recorded is written down.
type losing struct{ automation.ImportStore }

func (l losing) WorkImport(ctx context.Context, id int64, node string, hold time.Duration, w automation.ImportWork) (automation.Import, error) {
	return automation.Import{}, errors.New("the server was lost")
}

func (losing) ReleaseImport(context.Context, int64, string) error { return nil }
