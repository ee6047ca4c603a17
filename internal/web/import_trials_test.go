package web

import (
	"fmt"
	"maps"
	"net/http"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"onefold/internal/automation"
	"onefold/internal/review"
	rt "onefold/internal/review/reviewtest"
)

const importHead = "key,customer_id,currency,amount\n"

// taken imports a file as somebody does who presses the button, and returns what is on record.
func taken(t *testing.T, file string) (map[string]string, answer) {
	t.Helper()
	w, s := newImportSite(t)
	b := s.signIn("ada")
	path, page := b.uploaded("file.csv", file)
	if promised(page) > 0 {
		after := b.start(w, path, page)
		wants(t, after, "Imported "+count(promised(page)))
	}
	return recorded(t, w), page
}

func onlyRecorded(t *testing.T, got, want map[string]string) {
	t.Helper()
	if !maps.Equal(got, want) {
		t.Errorf("on record: %v, want %v", got, want)
	}
}

// trial 31: a row without a date belongs to the month of the firm's own calendar
func TestTrial31_MonthOfARowWithoutADate(t *testing.T) {
	w := newWorld(t)
	w.LetBegin(invoicesAutomation)
	paris, err := time.LoadLocation("Europe/Paris")
	if err != nil {
		t.Fatal(err)
	}
	w.Later(37*time.Hour + 30*time.Minute) // 30 November, 23:30 UTC: in Paris it is December
	b := newSite(t, Config{Store: w.Store, Zone: paris}).signIn("ada")
	path, page := b.uploaded("file.csv", importHead+"A,C,EUR,1.00\n")
	if a := b.post(path+"/start", page.form(path+"/start")); a.status != http.StatusSeeOther {
		t.Fatal(a.status)
	}
	r := runner(w, "one")
	r.Zone = paris
	if _, err := r.RunOnce(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := w.Get(1).Period; got != "2026-12" {
		t.Errorf("the month is %s", got)
	}
}

// trial 41: upper and lower case in one file
func TestTrial41_UpperAndLowerCaseInOneFile(t *testing.T) {
	got, page := taken(t, importHead+"inv-aB12,C,EUR,1.00\ninv-Ab12,C,EUR,2.00\n")
	onlyRecorded(t, got, map[string]string{"inv-aB12": "1.00 EUR"})
	wants(t, page, "Different 1", "Line 2 of this file has this key")
}

// trial 46: 9,00 became 900
func TestTrial46_AmountsAsTheFileWritesThem(t *testing.T) {
	got, page := taken(t, "key;customer_id;currency;amount\na;C;EUR;9,00\nb;C;EUR;583,28\nc;C;EUR;1.234,56\n")
	onlyRecorded(t, got, map[string]string{"a": "9.00 EUR", "b": "583.28 EUR", "c": "1234.56 EUR"})
	wants(t, page, "EUR31,826.84", "decimal comma")
	got, _ = taken(t, importHead+"a,C,EUR,\"1,234.56\"\n")
	onlyRecorded(t, got, map[string]string{"a": "1234.56 EUR"})
	got, page = taken(t, importHead+"a,C,EUR,\"1,234\"\n")
	onlyRecorded(t, got, map[string]string{})
	wants(t, page, "can be read in two ways")

	w, s := newImportSite(t) // and when asked, it is as somebody says
	b := s.signIn("ada")
	path, page := b.uploaded("file.csv", importHead+"a,C,EUR,\"1,234\"\n")
	form := page.form(path + "/read")
	for place, name := range []string{"key", "customer_id", "currency", "amount"} {
		form.Set("column_"+name, strconv.Itoa(place+1))
	}
	form.Set("decimal", ".")
	b.post(path+"/read", form)
	page = b.get(path)
	wants(t, page, "EUR11,234.00")
	b.start(w, path, page)
	onlyRecorded(t, recorded(t, w), map[string]string{"a": "1234.00 EUR"})
}

// trial 47: an invisible mark swallowed the first column
func TestTrial47_MarkBeforeTheFirstHeading(t *testing.T) {
	for _, mark := range []string{"", "\uFEFF"} {
		for _, first := range []string{"key", `"key"`} {
			got, _ := taken(t, mark+first+",customer_id,currency,amount\nA-1,C,EUR,5.00\n")
			onlyRecorded(t, got, map[string]string{"A-1": "5.00 EUR"})
		}
	}
	got, page := taken(t, importHead+",C,EUR,5.00\n")
	onlyRecorded(t, got, map[string]string{})
	wants(t, page, "Refused 1", "The key is missing")
}

// trial 48: commas in the text fooled the separator guess
func TestTrial48_ShortHeadingIsReported(t *testing.T) {
	got, page := taken(t, "key;customer_id;currency;amount;description\nA;C;EUR;1,50;bolts, nuts, washers;x\nB;C;EUR;2,50;red, blue, green;y\n")
	onlyRecorded(t, got, map[string]string{})
	wants(t, page, "Line 1", "5 fields", "line 2 with 6", "Semicolon", "bolts, nuts, washers")
}

// trial 49: a line break in a cell made extra rows
func TestTrial49_NotesOfSeveralLines(t *testing.T) {
	w, s := newImportSite(t)
	b := s.signIn("ada")
	path, page := b.uploaded("file.csv", "key;customer_id;currency;amount;note\r\nA;C;EUR;1,00;\"one\r\ntwo; \"\"quoted\"\"\r\nthree\r\nfour\"\r\nB;C;EUR;x;\r\nC;C;EUR;3,00;\r\n")
	wants(t, page, "All 3", "New 2", "6B") // the line of the file on which it begins
	b.start(w, path, page)
	if note := w.Get(1).Invoice.Note; !strings.Contains(strings.ReplaceAll(note, "\r", ""), "one\ntwo; \"quoted\"\nthree\nfour") {
		t.Errorf("the note: %q", note)
	}
}

// trial 51: leading zeros gone although the column was text
func TestTrial51_LeadingZeros(t *testing.T) {
	got, page := taken(t, importHead+"000123,0010,EUR,1.00\n\"123\",\"0010\",EUR,2.00\n")
	onlyRecorded(t, got, map[string]string{"000123": "1.00 EUR", "123": "2.00 EUR"})
	wants(t, page, "Differs from the key in line 2 only by leading zeros")
}

// trial 53: day and month swapped, an impossible date became today
func TestTrial53_DatesOfOneOrder(t *testing.T) {
	w, s := newImportSite(t)
	b := s.signIn("ada")
	path, page := b.uploaded("file.csv", "key,customer_id,currency,amount,issue_date\nA,C,EUR,1.00,09/01/2017\nB,C,EUR,1.00,24/01/2017\nC,C,EUR,1.00,31/02/2017\nD,C,EUR,1.00,\n")
	wants(t, page, "New 2", "Refused 2", "dates day first", "not in the calendar", "The issue date is missing")
	b.start(w, path, page)
	if a, b := w.Get(1).Invoice.IssueDate, w.Get(2).Invoice.IssueDate; a != "2017-01-09" || b != "2017-01-24" {
		t.Errorf("%s, %s", a, b)
	}
}

// trial 55: the file that broke half way was uploaded again
func TestTrial55_MendedAndUploadedAgain(t *testing.T) {
	w, s := newImportSite(t)
	b := s.signIn("ada")
	file := func(sixtieth string) string {
		var f strings.Builder
		f.WriteString(importHead)
		for i := 1; i <= 100; i++ {
			amount := "10.00"
			if i == 60 {
				amount = sixtieth
			}
			fmt.Fprintf(&f, "INV-%03d,C,EUR,%s\n", i, amount)
		}
		return f.String()
	}
	path, page := b.uploaded("a.csv", file("ten"))
	wants(t, b.start(w, path, page), "Imported 99", "Refused 1")
	path, page = b.uploaded("a.csv", file("10.00"))
	wants(t, page, "New 1", "Known 99")
	wants(t, b.start(w, path, page), "Imported 1", "Known 99")
	if got := len(recorded(t, w)); got != 100 {
		t.Errorf("%d on record", got)
	}
}

// trial 56: rows marked as duplicates came in anyway
func TestTrial56_TheButtonSaysWhatIsImported(t *testing.T) {
	for _, show := range []string{"", "?show=known", "?show=todo"} {
		w, s := newImportSite(t)
		b := s.signIn("ada")
		var known, all strings.Builder
		known.WriteString(importHead)
		all.WriteString(importHead)
		for i := range 12 {
			row := fmt.Sprintf("K-%d,C,EUR,1.00\n", i)
			if i < 5 {
				known.WriteString(row)
			}
			all.WriteString(row)
		}
		path, page := b.uploaded("known.csv", known.String())
		b.start(w, path, page)
		path, _ = b.uploaded("all.csv", all.String())
		page = b.get(path + show)
		if promised(page) != 7 {
			t.Fatalf("%q promises %d", show, promised(page))
		}
		wants(t, b.start(w, path, page), "Imported 7", "Known 5")
		if got := len(recorded(t, w)); got != 12 || w.Get(1).Source != "import:1" {
			t.Errorf("%d on record, the first from %s", got, w.Get(1).Source)
		}
	}
}

// A key that another automation uses is refused in the preview already, so that the button keeps its word (trial 56).
func TestTrial56_ReferencesThatAreTaken(t *testing.T) {
	w, s := newImportSite(t)
	r, err := automation.Importer{Intake: w.Proven(), TempDir: t.TempDir()}.Import(t.Context(), strings.NewReader(importHead+"A,C,EUR,1.00\n"),
		automation.ImportOptions{SystemID: rt.SystemID, Automation: "monthly", Source: "x", By: rt.Recorder})
	if err != nil || r.New != 1 {
		t.Fatal(r, err)
	}
	b := s.signIn("ada")
	path, page := b.uploaded("a.csv", importHead+"A,C,EUR,1.00\nB,C,EUR,1.00\n")
	if promised(page) != 1 {
		t.Errorf("promised %d: %s", promised(page), page.visible())
	}
	wants(t, b.start(w, path, page), "Imported 1", "Refused 1", "already in use for another")
}

// trial 57: four thousand rows, and it just stopped. ONEFOLD_IMPORT_ROWS sets how many.
func TestTrial57_ALargeFileInTheBackground(t *testing.T) {
	rows := 12_000
	if n, err := strconv.Atoi(os.Getenv("ONEFOLD_IMPORT_ROWS")); err == nil {
		rows = n
	}
	w, s := newImportSite(t)
	b := s.signIn("ada")
	var file strings.Builder
	file.WriteString("key,customer_id,customer_name,currency,amount,issue_date,description,note\n")
	for i := range rows {
		fmt.Fprintf(&file, "INV-2026-11-%06d,C-%05d,Customer number %d,EUR,%d.50,2026-11-30,Monthly service for November 2026,a note of some length that nobody reads\n", i, i%5000, i%5000, i%900+1)
	}
	began := time.Now()
	path, page := b.uploaded("large.csv", file.String())
	t.Logf("%d rows, %d MB, uploaded after %s", rows, file.Len()>>20, time.Since(began).Round(time.Millisecond))
	wants(t, page, "Being checked")
	before := heap()
	stop := watchHeap()
	began = time.Now()
	if _, err := runner(w, "one").RunOnce(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Logf("checked after %s, heap %d MB and at most %d MB more", time.Since(began).Round(time.Millisecond), before>>20, (stop()-before)>>20)
	page = b.get(path)
	if promised(page) != rows {
		t.Fatalf("promised %d", promised(page))
	}
	b.post(path+"/start", page.form(path+"/start"))
	if _, err := runner(w, "one").RunOnce(t.Context()); err != nil { // and the tab is closed
		t.Fatal(err)
	}
	again := s.signIn("ben").uploadFile("large.csv", file.String())
	if again.location != path+"?did=same" {
		t.Fatalf("the same file meanwhile: %d %s", again.status, again.location)
	}
	file.Reset()
	wants(t, s.signIn("ben").get(again.location), "This file was here already", fmt.Sprintf("%s of %s invoices recorded", count(min(2000, rows)), count(rows)))
	before = heap()
	stop = watchHeap()
	began = time.Now()
	runImports(t, w)
	t.Logf("recorded after %s, heap %d MB and at most %d MB more", time.Since(began).Round(time.Millisecond), before>>20, (stop()-before)>>20)
	wants(t, b.get(path), "Imported "+count(rows))
	var n int64
	n, err := review.New(w.Store, 1).Count(t.Context(), rt.Recorder, review.Query{Tab: review.TabAll}, 1_000_000)
	if err != nil || n != int64(rows) {
		t.Errorf("%d on record, %v", n, err)
	}
	began = time.Now()
	if got := len(b.results(path)); got != rows+1 {
		t.Errorf("%d rows of results", got)
	}
	t.Logf("results after %s", time.Since(began).Round(time.Millisecond))
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// watchHeap notes the largest heap until stop.
func watchHeap() (stop func() uint64) {
	peak := new(uint64)
	end, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			*peak = max(*peak, m.HeapAlloc)
			select {
			case <-end:
				return
			case <-tick.C:
			}
		}
	}()
	return func() uint64 { close(end); <-done; return *peak }
}

// trial 58: yen charged a hundredfold
func TestTrial58_CurrenciesWithoutCents(t *testing.T) {
	got, page := taken(t, importHead+"A,C,JPY,5000\nB,C,KRW,900\nC,C,JPY,100.50\n")
	onlyRecorded(t, got, map[string]string{"A": "5000 JPY", "B": "900 KRW"})
	wants(t, page, "JPY15,000", "KRW1900", "Refused 1")
}

// trial 61: negative totals refused
func TestTrial61_NegativeAmountsAreStoppedOnThePage(t *testing.T) {
	got, page := taken(t, importHead+"A,C,EUR,-45.00\nB,C,EUR,45.00\n")
	onlyRecorded(t, got, map[string]string{"B": "45.00 EUR"})
	wants(t, page, "Refused 1", "credit note")
}

// trial 63: huge sums lost their cents
func TestTrial63_SumsOfAFileAreExact(t *testing.T) {
	var file strings.Builder
	file.WriteString(importHead + "HUGE,C,USD,\"99,999,747,361,065.39\"\nMORE,C,USD,100000000000000.00\n")
	for i := range 1000 {
		fmt.Fprintf(&file, "T-%03d,C,EUR,0.10\n", i)
	}
	got, page := taken(t, file.String())
	if got["HUGE"] != "99999747361065.39 USD" || len(got) != 1001 {
		t.Errorf("%s, %d on record", got["HUGE"], len(got))
	}
	wants(t, page, "EUR1,000100.00", "USD199,999,747,361,065.39", "Refused 1")
}

// trial 121: a customer's name ran as script
func TestTrial121_NamesOfAFileAreShownLiterally(t *testing.T) {
	const evil = `</script><img src=x onerror=alert(1)>`
	_, page := taken(t, "key,customer_id,customer_name,currency,amount,"+evil+"\n"+evil+",C,"+evil+",EUR,1.00,x\nB,C,"+evil+",EUR,bad,x\n")
	if strings.Contains(page.body, "<img") || !strings.Contains(page.body, "&lt;img src=x") {
		t.Error("it is not escaped")
	}
}
