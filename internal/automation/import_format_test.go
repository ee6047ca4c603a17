package automation_test

import (
	"slices"
	"strings"
	"testing"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"

	"onefold/internal/automation"
	"onefold/internal/work"
)

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
	for name, file := range map[string]string{"workbook": "PK\x03\x04xl/workbook", "binary": "key\x00", "empty": "", "heading only": heading, "old line ends": strings.ReplaceAll(heading+"A,C,EUR,1.00\n", "\n", "\r")} {
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
