package automation_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

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
	for i := range 4800 {
		fmt.Fprintf(&b, "INV-%d,C,EUR,1.00\n", i)
	}
	m := newIntakeMemory()
	m.failAfter = 1
	r, err := importing(t, m, b.String(), intoBooks)
	if err == nil || !strings.Contains(err.Error(), "before line 2002") || r.New != 2000 || len(m.items) != 2000 {
		t.Fatalf("%d new, %d items, %v", r.New, len(m.items), err)
	}
	m.failAfter = 0
	var steps []automation.ImportProgress
	o := intoBooks
	o.Progress = func(p automation.ImportProgress) { steps = append(steps, p) }
	r, err = importing(t, m, b.String(), o)
	if err != nil || r.New != 2800 || r.Known != 2000 || len(m.items) != 4800 {
		t.Errorf("again: %d new, %d known, %d items, %v", r.New, r.Known, len(m.items), err)
	}
	if last := steps[len(steps)-1]; len(steps) != 3 || last != (automation.ImportProgress{Rows: 4800, Of: 4800, New: 2800, Known: 2000}) {
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

// Whatever the file holds: no panic, nothing recorded that was not reported, nothing recorded twice by a repeat.
func FuzzImport(f *testing.F) {
	example, err := os.ReadFile(filepath.Join("..", "..", "examples", "invoices-2026-11.csv"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(example[:4000]))
	f.Add("sep=;\nkey;customer_id;currency;amount;issue_date\n'=A;C;EUR;1.234,50;24.12.2026\n\"B;C\n")
	f.Add("\xff\xfek\x00e\x00y\x00")
	f.Add(heading + "A,C,EUR,\"1,234\"\nB,C,JPY,5\n")
	f.Fuzz(func(t *testing.T, file string) {
		m := newIntakeMemory()
		first, err := importing(t, m, file, intoBooks)
		if first.New != len(m.items) || first.Good+first.Bad != first.Rows && err == nil || first.New+first.Known+first.Conflict != first.Good {
			t.Fatalf("%d items, %+v, %v", len(m.items), first, err)
		}
		if err != nil {
			return
		}
		again, err := importing(t, m, file, intoBooks)
		if err != nil || again.New != 0 || len(m.items) != first.New || again.Known != first.New+first.Known {
			t.Fatalf("again: %+v, %v", again, err)
		}
	})
}
