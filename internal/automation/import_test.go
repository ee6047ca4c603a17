package automation_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"

	"onefold/internal/automation"
	"onefold/internal/work"
)

const heading = "key,customer_id,currency,amount\n"

var intoBooks = automation.ImportOptions{SystemID: "books", Automation: "monthly", Source: "import:1",
	By: work.Actor{Kind: work.Console, ID: "test"}}

// importing is one import into an empty memory, or into a given one.
func importing(t *testing.T, m automation.IntakeStore, csv string, o automation.ImportOptions) (automation.ImportReport, error) {
	t.Helper()
	dir := t.TempDir()
	report, err := automation.Importer{Intake: automation.Intake{Store: m}, TempDir: dir}.Import(t.Context(), strings.NewReader(csv), o)
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("the upload was left behind: %v", left)
	}
	return report, err
}

// imported imports a file that must not be refused.
func imported(t *testing.T, csv string) (*intakeMemory, automation.ImportReport) {
	t.Helper()
	m := newIntakeMemory()
	report, err := importing(t, m, csv, intoBooks)
	if err != nil {
		t.Fatal(err)
	}
	return m, report
}

// refused imports a file that must be refused as a whole, and returns why.
func refused(t *testing.T, csv string) string {
	t.Helper()
	m := newIntakeMemory()
	_, err := importing(t, m, csv, intoBooks)
	var fe *automation.FileError
	if !errors.As(err, &fe) {
		t.Fatalf("the file was not refused: %v", err)
	}
	if len(m.items) != 0 {
		t.Errorf("%d items of a refused file are on record", len(m.items))
	}
	return fe.Error()
}

// onRecord lists what is on record by key, as told by f.
func onRecord(m *intakeMemory, f func(work.Item) string) map[string]string {
	out := map[string]string{}
	for _, it := range m.items {
		out[it.BusinessKey] = f(it)
	}
	return out
}

func amountOf(it work.Item) string { return it.Invoice.Total.String() }

func wantRecord(t *testing.T, got, want map[string]string) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%d on record, want %d: %v", len(got), len(want), got)
	}
	for k, v := range want {
		if got[k] != v {
			t.Errorf("%s: %q on record, want %q", k, got[k], v)
		}
	}
}

// wantProblem checks that exactly one problem begins at the line and that it says so much.
func wantProblem(t *testing.T, r automation.ImportReport, line int, says string) {
	t.Helper()
	n := 0
	for _, p := range r.Problems {
		if p.Line == line {
			n++
			if !strings.Contains(p.Reason, says) {
				t.Errorf("line %d: %q does not say %q", line, p.Reason, says)
			}
		}
	}
	if n != 1 {
		t.Errorf("line %d is named %d times in %v", line, n, r.Problems)
	}
}

// 46. 9,00 became 900
func TestTrial46_OneNumberFormatPerFile(t *testing.T) {
	m, r := imported(t, "key;customer_id;currency;amount\na;C;EUR;9,00\nb;C;EUR;583,28\nc;C;EUR;1.234,56\n")
	wantRecord(t, onRecord(m, amountOf), map[string]string{"a": "9.00 EUR", "b": "583.28 EUR", "c": "1234.56 EUR"})
	if r.Format.Decimal != ',' || r.Totals[0].Amount.String() != "1826.84 EUR" {
		t.Errorf("decimal %q, total %s", r.Format.Decimal, r.Totals[0].Amount)
	}
	m, _ = imported(t, heading+"a,C,EUR,\"1,234.56\"\n")
	wantRecord(t, onRecord(m, amountOf), map[string]string{"a": "1234.56 EUR"})

	if why := refused(t, heading+"a,C,EUR,\"1,234\"\n"); !strings.Contains(why, "1,234") || !strings.Contains(why, "two ways") {
		t.Errorf("1,234 alone must ask: %s", why)
	}
	for decimal, want := range map[rune]string{'.': "1234.00 EUR", ',': ""} { // 1.234 has more decimals than euros have
		o := intoBooks
		o.Decimal = decimal
		m = newIntakeMemory()
		if _, err := importing(t, m, heading+"a,C,EUR,\"1,234\"\n", o); err != nil {
			t.Fatal(err)
		}
		if got := onRecord(m, amountOf)["a"]; got != want {
			t.Errorf("with %q: %q, want %q", decimal, got, want)
		}
	}
	if why := refused(t, heading+"a,C,EUR,\"9,00\"\nb,C,EUR,9.00\n"); !strings.Contains(why, "line 2") || !strings.Contains(why, "line 3") {
		t.Errorf("two formats in one file must be named: %s", why)
	}
	o := intoBooks
	o.CheckOnly = true
	m = newIntakeMemory()
	r, err := importing(t, m, heading+"a,C,EUR,9.00\nb,C,USD,1.50\nc,C,EUR,x\n", o)
	if err != nil || len(m.items) != 0 || r.Good != 2 || r.Bad != 1 || len(r.Totals) != 2 || r.Totals[1].Amount.String() != "1.50 USD" {
		t.Errorf("totals before the import: %+v, %v, %d items", r, err, len(m.items))
	}
}

func TestNumberFormats(t *testing.T) {
	for cell, want := range map[string]string{
		"1'234.50": "1234.50", "1’234.50": "1234.50", "1 234,50": "1234.50", "1\u00a0234\u202f567,5": "1234567.50",
		"12,34,567.00": "1234567.00", "+5": "5.00", ".5": "0.50", "1,234,567": "1234567.00", "1.234.567": "1234567.00",
	} {
		m, _ := imported(t, "key;customer_id;currency;amount\na;C;EUR;"+cell+"\n")
		wantRecord(t, onRecord(m, amountOf), map[string]string{"a": want + " EUR"})
	}
	for _, cell := range []string{"1e5", "NaN", "Infinity", "0x10", "1 23", "12.34.56", "1,2,3.4.5", "EUR 5", "--5", "5-", "", "1..5", "'", "１"} {
		m, r := imported(t, "key;customer_id;currency;amount\na;C;EUR;"+cell+"\n")
		if len(m.items) != 0 || r.Bad != 1 {
			t.Errorf("%q was taken as %v", cell, onRecord(m, amountOf))
		}
	}
}

// 47. An invisible mark swallowed the first column
func TestTrial47_InvisibleMark(t *testing.T) {
	for _, mark := range []string{"", "\uFEFF"} {
		for _, first := range []string{"key", `"key"`, "Business Key", "BUSINESS_KEY"} {
			m, _ := imported(t, mark+first+",customer_id,currency,amount\nA-1,C,EUR,5.00\n")
			wantRecord(t, onRecord(m, amountOf), map[string]string{"A-1": "5.00 EUR"})
		}
	}
	if why := refused(t, "ky,customer_id,currency,amount\nA-1,C,EUR,5.00\n"); !strings.Contains(why, "no column key") || !strings.Contains(why, `"ky"`) {
		t.Errorf("a missing key column must stop the import: %s", why)
	}
	m, r := imported(t, heading+",C,EUR,5.00\nB,C,EUR,5.00\n")
	wantProblem(t, r, 2, "key is missing")
	wantRecord(t, onRecord(m, amountOf), map[string]string{"B": "5.00 EUR"})
}

func TestEncodings(t *testing.T) {
	const text = "key,customer_id,customer_name,currency,amount\nMÜ-1,C,Müller & Søn €,EUR,5.00\n"
	utf16, err := unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewEncoder().String(text)
	if err != nil {
		t.Fatal(err)
	}
	big, _ := unicode.UTF16(unicode.BigEndian, unicode.UseBOM).NewEncoder().String(text)
	ansi, _ := charmap.Windows1252.NewEncoder().String(text)
	latin2, _ := charmap.ISO8859_2.NewEncoder().String(strings.ReplaceAll(text, "Müller & Søn €", "Łódź"))
	for name, c := range map[string]struct{ file, asked, want, customer string }{
		"UTF-8":     {text, "", "UTF-8", "Müller & Søn €"},
		"UTF-16 LE": {utf16, "", "UTF-16", "Müller & Søn €"},
		"UTF-16 BE": {big, "", "UTF-16", "Müller & Søn €"},
		"ANSI":      {ansi, "", "Windows-1252", "Müller & Søn €"},
		"asked":     {latin2, "iso-8859-2", "iso-8859-2", "Łódź"},
	} {
		o := intoBooks
		o.Encoding = c.asked
		m := newIntakeMemory()
		r, err := importing(t, m, c.file, o)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if r.Format.Encoding != c.want || m.items[0].Invoice.CustomerName != c.customer || m.items[0].BusinessKey != "MÜ-1" {
			t.Errorf("%s: read as %s, %+v", name, r.Format.Encoding, m.items[0])
		}
	}
	for name, file := range map[string]string{"workbook": "PK\x03\x04xl/workbook", "binary": "key\x00", "empty": "", "heading only": heading} {
		t.Log(name, refused(t, file))
	}
	m, r := imported(t, "\uFEFF"+heading+"A\xff,C,EUR,5.00\nB,C,EUR,5.00\n") // marked as UTF-8, and is not
	wantProblem(t, r, 2, "cannot be read")
	wantRecord(t, onRecord(m, amountOf), map[string]string{"B": "5.00 EUR"})
}

// 48. Commas in the text fooled the separator guess
func TestTrial48_SeparatorFromTheRecords(t *testing.T) {
	const rows = "A;C;EUR;1,50;bolts, nuts, washers;x\nB;C;EUR;2,50;red, blue, green;y\n"
	why := refused(t, "key;customer_id;currency;amount;description\n"+rows)
	if !strings.Contains(why, "line 1") || !strings.Contains(why, "5 fields") || !strings.Contains(why, "line 2 with 6") {
		t.Errorf("the short heading must be reported: %s", why)
	}
	m, r := imported(t, "key;customer_id;currency;amount;description;note\n"+rows+"C;C;EUR;3,50;one; two;z\n")
	wantRecord(t, onRecord(m, amountOf), map[string]string{"A": "1.50 EUR", "B": "2.50 EUR"})
	wantProblem(t, r, 4, "7 fields, the heading has 6")
	if r.Format.Delimiter != ';' {
		t.Errorf("separated by %q", r.Format.Delimiter)
	}
	for file, want := range map[string]rune{
		"key\tcustomer_id\tcurrency\tamount\tnote\nA\tC\tEUR\t1.50\ta,b;c\n": '\t',
		"sep=;\nkey;customer_id;currency;amount\nA;C;EUR;1,50\n":             ';',
	} {
		m, r := imported(t, file)
		if r.Format.Delimiter != want || len(m.items) != 1 {
			t.Errorf("separated by %q, want %q", r.Format.Delimiter, want)
		}
	}
	_, r = imported(t, "sep=;\nkey;customer_id;currency;amount\nA;C;EUR;1,50\nB;C;EUR\n")
	wantProblem(t, r, 4, "3 fields") // the "sep=" line counts as a line of the file
}

// 49. A line break in a cell made extra rows
func TestTrial49_QuotedBreaksAreKept(t *testing.T) {
	const note = "first; line\r\nsays \"\"no\"\"\r\nthird; line\r\nfourth"
	m, r := imported(t, "key;customer_id;currency;amount;note\r\nA;C;EUR;1,00;\r\nB;C;EUR;2,00;\""+note+"\"\r\n\r\nC;C;EUR;x;\r\nD;C;EUR;3,00;\r\n")
	wantRecord(t, onRecord(m, func(it work.Item) string { return it.Invoice.Note }),
		map[string]string{"A": "", "B": "first; line\nsays \"no\"\nthird; line\nfourth", "D": ""})
	wantProblem(t, r, 8, "not a number")

	_, r = imported(t, heading+"A,C,EUR,1.00\nB,\"C\"x,EUR,1.00\nC,C,EUR,1.00\n")
	wantProblem(t, r, 3, "quotation mark")
	if r.New != 2 {
		t.Errorf("%d new, want the two around the bad one", r.New)
	}
	_, r = imported(t, heading+"A,C,EUR,1.00\nB,\"C,EUR,1.00\nC,C,EUR,1.00\n")
	wantProblem(t, r, 3, "lines 3 to 4 were not read")
	long := heading + "A,\"C,EUR,1.00\n" + strings.Repeat("B,C,EUR,1.00\n", 100_000)
	if why := refused(t, long); !strings.Contains(why, "not closed") {
		t.Errorf("a quotation mark that swallows the file must refuse it: %s", why)
	}
}

// 51. Leading zeros gone although the column was text
func TestTrial51_KeysAndIDsAreText(t *testing.T) {
	m, r := imported(t, heading+"000123,0010,EUR,1.00\n\"123\",\"0010\",EUR,2.00\n1.50,1e3,EUR,3.00\n")
	wantRecord(t, onRecord(m, func(it work.Item) string { return it.Invoice.CustomerID }),
		map[string]string{"000123": "0010", "123": "0010", "1.50": "1e3"})
	if len(r.Hints) != 1 || r.Hints[0].Line != 3 || !strings.Contains(r.Hints[0].Reason, "000123") {
		t.Errorf("a near match must be hinted at: %v", r.Hints)
	}
}

// 53. Day and month swapped, an impossible date became today
func TestTrial53_OneDateOrder(t *testing.T) {
	const head = "key,customer_id,currency,amount,issue_date\n"
	issued := func(it work.Item) string { return it.Invoice.IssueDate }
	m, r := imported(t, head+"A,C,EUR,1.00,09/01/2017\nB,C,EUR,1.00,24/01/2017\nC,C,EUR,1.00,31/02/2017\nD,C,EUR,1.00,\n")
	wantRecord(t, onRecord(m, issued), map[string]string{"A": "2017-01-09", "B": "2017-01-24"})
	wantProblem(t, r, 4, "not in the calendar")
	wantProblem(t, r, 5, "issue date is missing")

	m, _ = imported(t, head+"A,C,EUR,1.00,09/01/2017\nB,C,EUR,1.00,01/24/2017\n")
	wantRecord(t, onRecord(m, issued), map[string]string{"A": "2017-09-01", "B": "2017-01-24"})
	m, _ = imported(t, head+"A,C,EUR,1.00,9.1.2017\nB,C,EUR,1.00,2017-01-24\n")
	wantRecord(t, onRecord(m, issued), map[string]string{"A": "2017-01-09", "B": "2017-01-24"})

	if why := refused(t, head+"A,C,EUR,1.00,09/01/2017\n"); !strings.Contains(why, "09/01/2017") {
		t.Errorf("an unclear date must ask: %s", why)
	}
	if why := refused(t, head+"A,C,EUR,1.00,13/01/2017\nB,C,EUR,1.00,01/13/2017\n"); !strings.Contains(why, "line 2") || !strings.Contains(why, "line 3") {
		t.Errorf("two orders in one file must be named: %s", why)
	}
	o := intoBooks
	o.DateOrder = automation.DayMonthYear
	m = newIntakeMemory()
	r, err := importing(t, m, head+"A,C,EUR,1.00,09/01/2017\nB,C,EUR,1.00,01/24/2017\nC,C,EUR,1.00,45992\nD,C,EUR,1.00,24/01/17\n", o)
	if err != nil || r.Bad != 3 {
		t.Errorf("%d bad, error %v", r.Bad, err)
	}
	wantRecord(t, onRecord(m, issued), map[string]string{"A": "2017-01-09"})
}

// 55. The file that broke half way was uploaded again
func TestTrial55_RepeatRecognisesWhatIsThere(t *testing.T) {
	file := func(sixtieth string) string {
		var b strings.Builder
		b.WriteString(heading)
		for i := 1; i <= 100; i++ {
			amount := "10.00"
			if i == 60 {
				amount = sixtieth
			}
			fmt.Fprintf(&b, "INV-%03d,C,EUR,%s\n", i, amount)
		}
		return b.String()
	}
	m := newIntakeMemory()
	r, err := importing(t, m, file("ten"), intoBooks)
	if err != nil || r.New != 99 || r.Bad != 1 {
		t.Fatalf("first: %+v, %v", r, err)
	}
	wantProblem(t, r, 61, `"ten" is not a number`)
	r, err = importing(t, m, file("10.00"), intoBooks)
	if err != nil || r.New != 1 || r.Known != 99 || r.Bad != 0 || len(m.items) != 100 {
		t.Errorf("again: %d new, %d known, %d bad, %d items, %v", r.New, r.Known, r.Bad, len(m.items), err)
	}
	if got := r.Totals[0]; got.Rows != 100 || got.Amount.String() != "1000.00 EUR" || got.New.String() != "10.00 EUR" {
		t.Errorf("totals %+v", got)
	}
}

func TestImportStopsWithTheDatabaseAndGoesOn(t *testing.T) {
	var b strings.Builder
	b.WriteString(heading)
	for i := range 1200 {
		fmt.Fprintf(&b, "INV-%d,C,EUR,1.00\n", i)
	}
	m := newIntakeMemory()
	m.failAfter = 1
	r, err := importing(t, m, b.String(), intoBooks)
	if err == nil || !strings.Contains(err.Error(), "before line 502") || r.New != 500 || len(m.items) != 500 {
		t.Fatalf("%d new, %d items, %v", r.New, len(m.items), err)
	}
	m.failAfter = 0
	var steps []automation.ImportProgress
	o := intoBooks
	o.Progress = func(p automation.ImportProgress) { steps = append(steps, p) }
	r, err = importing(t, m, b.String(), o)
	if err != nil || r.New != 700 || r.Known != 500 || len(m.items) != 1200 {
		t.Errorf("again: %d new, %d known, %d items, %v", r.New, r.Known, len(m.items), err)
	}
	if last := steps[len(steps)-1]; len(steps) != 3 || last != (automation.ImportProgress{Rows: 1200, Of: 1200, New: 700, Known: 500}) {
		t.Errorf("progress %+v", steps)
	}
}

// 58. Yen charged a hundredfold, and the check agreed
func TestTrial58_DecimalsOfTheCurrency(t *testing.T) {
	m, r := imported(t, heading+"A,C,JPY,5000\nB,C,KRW,900\nC,C,JPY,100.50\nD,C,KWD,1.234\nE,C,jpy,7000.00\n")
	wantRecord(t, onRecord(m, amountOf), map[string]string{"A": "5000 JPY", "B": "900 KRW", "D": "1.234 KWD", "E": "7000 JPY"})
	wantProblem(t, r, 4, "more decimals than JPY allows")
}

// 61. Negative totals refused
func TestTrial61_NegativeIsStoppedWithAdvice(t *testing.T) {
	m, r := imported(t, heading+"A,C,EUR,-45.00\nB,C,EUR,45.00\nC,C,EUR,\u221245.00\n")
	wantRecord(t, onRecord(m, amountOf), map[string]string{"B": "45.00 EUR"})
	wantProblem(t, r, 2, "credit note")
	wantProblem(t, r, 4, "credit note")
}

// 63. Huge sums lost their cents
func TestTrial63_HugeSumsAreExact(t *testing.T) {
	var b strings.Builder
	b.WriteString(heading + "A,C,EUR,\"99,999,747,361,065.39\"\nB,C,EUR,100000000000000.00\n")
	for i := range 1000 {
		fmt.Fprintf(&b, "T-%d,C,USD,0.10\n", i)
	}
	b.WriteString("A2,C,EUR,\"99,999,747,361,065.39\"\n")
	m, r := imported(t, b.String())
	if got := onRecord(m, amountOf)["A"]; got != "99999747361065.39 EUR" {
		t.Errorf("on record: %s", got)
	}
	wantProblem(t, r, 3, "above the limit of 99999999999999.99")
	if r.Totals[0].Amount.String() != "199999494722130.78 EUR" || r.Totals[1].Amount.String() != "100.00 USD" {
		t.Errorf("totals %v", r.Totals)
	}
}

// 120. The guard of our own export is undone
func TestTrial120_GuardIsUndone(t *testing.T) {
	m, _ := imported(t, "key,customer_id,customer_name,currency,amount\nA,C,'=1+1 Ltd,EUR,1.00\nB,C,'+49 30 1,EUR,1.00\nC,C,'@home,EUR,1.00\nD,C,'s-Gravenhage BV,EUR,1.00\n")
	wantRecord(t, onRecord(m, func(it work.Item) string { return it.Invoice.CustomerName }),
		map[string]string{"A": "=1+1 Ltd", "B": "+49 30 1", "C": "@home", "D": "'s-Gravenhage BV"})
}

func TestHeadings(t *testing.T) {
	m, r := imported(t, "Invoice No;Customer Number;Ccy;Total;Invoice-Date;QTY;Unit Price;Colour;Text\nA;C;EUR;10,00;24.12.2026;2;5,00;red;Bolts\n")
	it := m.items[0].Invoice
	if it.CustomerID != "C" || it.IssueDate != "2026-12-24" || len(it.Lines) != 1 || it.Lines[0] != (work.Line{Description: "Bolts", Quantity: "2", UnitPrice: "5.00"}) {
		t.Errorf("read as %+v", it)
	}
	if !slices.Equal(r.Ignored, []string{"Colour"}) {
		t.Errorf("not used: %v", r.Ignored)
	}
	_, r = imported(t, "reference,key,customer_id,currency,amount\nx,A,C,EUR,1.00\n") // our own name wins
	if !slices.Equal(r.Ignored, []string{"reference"}) || r.New != 1 {
		t.Errorf("not used: %v, %d new", r.Ignored, r.New)
	}
	if why := refused(t, "invoice no,order no,customer_id,currency,amount\nx,A,C,EUR,1.00\n"); !strings.Contains(why, "both name the key") {
		t.Errorf("two key columns must be refused: %s", why)
	}
	_, r = imported(t, "key,customer_id,currency,amount,quantity,unit_price\nA,C,EUR,1.00,2,\nB,C,EUR,1.00,,\n,,,,,\n")
	wantProblem(t, r, 2, "fill in both")
	if r.Rows != 2 {
		t.Errorf("%d rows, the empty one is none", r.Rows)
	}
}

func TestImportFileReportsForPeople(t *testing.T) {
	var out bytes.Buffer
	m := newIntakeMemory()
	im := automation.Importer{Intake: automation.Intake{Store: m}, TempDir: t.TempDir()}
	example := filepath.Join("..", "..", "examples", "invoices-2026-11.csv")
	err := automation.ImportFile(t.Context(), im, example, intoBooks, &out)
	if !errors.Is(err, automation.ErrRowsLeftOut) || !strings.Contains(err.Error(), "8 of 240") {
		t.Errorf("error %v", err)
	}
	for _, want := range []string{"New                228", "Already on record  4", "Not as on record   1", "Bad                7", "INV-2026-11-BRIGHTON", "432.60 GBP", "482.60 GBP"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the report does not say %q:\n%s", want, out.String())
		}
	}
	if len(m.items) != 228 {
		t.Errorf("%d items, want 228", len(m.items))
	}
	out.Reset()
	_ = automation.ImportFile(t.Context(), im, example, intoBooks, &out)
	if len(m.items) != 228 || !strings.Contains(out.String(), "Already on record  232") {
		t.Errorf("again: %d items\n%s", len(m.items), out.String())
	}
	if err := automation.ImportFile(t.Context(), im, filepath.Join(t.TempDir(), "none.csv"), intoBooks, &out); err == nil {
		t.Error("a missing file must be an error")
	}
}
