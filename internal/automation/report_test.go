package automation_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/xuri/excelize/v2"

	"onefold/internal/automation"
	"onefold/internal/work"
)

// readReport reads a report in which "A-1" and "00123" are references of ours.
func readReport(t *testing.T, content string, s work.ReportSettings) work.ReportTable {
	t.Helper()
	table, err := automation.ReportFiles{}.Read(t.Context(), []byte(content), s, func(cells []string) (n int) {
		for _, c := range cells {
			if c == "A-1" || c == "00123" {
				n++
			}
		}
		return n
	})
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// workbook is an Excel file with these rows.
func workbook(t *testing.T, rows ...[]any) string {
	t.Helper()
	f := excelize.NewFile()
	defer f.Close() //nolint:errcheck // in memory
	for i, row := range rows {
		if err := f.SetSheetRow("Sheet1", fmt.Sprintf("A%d", i+1), &row); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.SetDocProps(&excelize.DocProperties{Created: "2026-11-29T10:00:00Z", Modified: "2026-11-29T12:00:00Z"}); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := f.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func onlyRow(t *testing.T, table work.ReportTable) work.ReportRow {
	t.Helper()
	if table.Problem != "" || len(table.Rows) != 1 {
		t.Fatalf("problem %q, %d rows", table.Problem, len(table.Rows))
	}
	return table.Rows[0]
}

// trial 46, 47 and 48, in reports
func TestReportFormats(t *testing.T) {
	for name, c := range map[string]struct{ content, want string }{
		"decimal comma":        {"Reference;Total;Currency\nA-1;1.234,50;EUR\n", "1234.50 EUR"},
		"decimal point":        {"Reference,Total,Currency\nA-1,\"1,234.50\",EUR\n", "1234.50 EUR"},
		"9,00 is nine":         {"Reference;Total;Currency\nA-1;9,00;EUR\n", "9.00 EUR"},
		"invisible mark":       {"\ufeffReference;Total;Currency\nA-1;9,00;EUR\n", "9.00 EUR"},
		"title above":          {"Invoice list;;\nExported 29.11.2026;;\nReference;Total;Currency\nA-1;9,00;EUR\n", "9.00 EUR"},
		"separator in text":    {"Reference;Memo;Total;Currency\nA-1;bolts, nuts, washers;9,00;EUR\n", "9.00 EUR"},
		"currency in the cell": {"Reference;Total;Currency\nA-1;EUR 1.234,50;EUR\n", "1234.50 EUR"},
		"sign in the cell":     {"Reference;Total;Currency\nA-1;1.234,50 €;EUR\n", "1234.50 EUR"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := onlyRow(t, readReport(t, c.content, work.ReportSettings{})); got.Total.String() != c.want || got.Reference != "A-1" || got.Problem != "" {
				t.Errorf("%s %q %q", got.Total, got.Reference, got.Problem)
			}
		})
	}
	if got := readReport(t, "Reference;Total;Currency\nA-1;1.234;EUR\n", work.ReportSettings{}); !strings.Contains(got.Problem, "two ways") || !strings.Contains(got.Problem, "ine 2") {
		t.Errorf("1.234 was taken without asking: %q", got.Problem)
	}
	if got := onlyRow(t, readReport(t, "Reference;Total;Currency\nA-1;1.234;EUR\n", work.ReportSettings{Decimal: ","})); got.Total.String() != "1234.00 EUR" {
		t.Errorf("as told: %s", got.Total)
	}
	// The column with our references is ours, whatever its heading says.
	if got := readReport(t, "Reference;Zusatz;Total;Currency\nx;A-1;9,00;EUR\n", work.ReportSettings{}); got.Settings.Reference != "Zusatz" {
		t.Errorf("the reference was taken from %q", got.Settings.Reference)
	}
}

// trial 51, in reports
func TestReportReferencesAreText(t *testing.T) {
	if got := onlyRow(t, readReport(t, "Reference;Total;Currency\n00123;9,00;EUR\n", work.ReportSettings{})); got.Reference != "00123" {
		t.Errorf("%q", got.Reference)
	}
	if got := onlyRow(t, readReport(t, workbook(t, []any{"Reference", "Total", "Currency"}, []any{"00123", 9, "EUR"}), work.ReportSettings{})); got.Reference != "00123" || got.Total.String() != "9.00 EUR" {
		t.Errorf("%q %s", got.Reference, got.Total)
	}
	s := work.ReportSettings{Reference: "Reference", Amount: "Total", Currency: "Currency", Chosen: true}
	if got := onlyRow(t, readReport(t, workbook(t, []any{"Reference", "Total", "Currency"}, []any{1.23456789012345e+25, 9, "EUR"}), s)); got.Problem == "" {
		t.Errorf("a reference that became a number was taken: %q", got.Reference)
	}
}

// trial 58, 60 and 63, in reports
func TestReportAmountsAreExact(t *testing.T) {
	s := work.ReportSettings{Reference: "Reference", Amount: "Total", Currency: "Currency", Chosen: true}
	for name, c := range map[string]struct {
		content string
		want    string
	}{
		"yen are not scaled": {"Reference;Total;Currency\nA-1;5000;JPY\n", "5000 JPY"},
		"huge":               {"Reference;Total;Currency\nA-1;99999747361065,39;EUR\n", "99999747361065.39 EUR"},
		"noise of a float":   {workbook(t, []any{"Reference", "Total", "Currency"}, []any{"A-1", 0.1 + 0.2, "EUR"}), "0.30 EUR"},
	} {
		if got := onlyRow(t, readReport(t, c.content, s)); got.Total.String() != c.want || got.Problem != "" {
			t.Errorf("%s: %s %q", name, got.Total, got.Problem)
		}
	}
	// More digits than a spreadsheet keeps are not believed.
	if got := onlyRow(t, readReport(t, workbook(t, []any{"Reference", "Total", "Currency"}, []any{"A-1", 99999747361065.39, "EUR"}), s)); got.Problem == "" {
		t.Errorf("taken as %s", got.Total)
	}
	total := euros(t, "100.00")
	it := work.Item{Reference: "A-1", Invoice: work.Invoice{CustomerID: "C", Total: total}}
	for number, want := range map[string]work.Finding{"100,00": work.FoundMatching, "100,01": work.FoundMatching, "100,02": work.FoundDifferent, "10000,00": work.FoundDifferent} {
		table := readReport(t, "Reference;Total;Currency\nA-1;"+number+";EUR\n", s)
		if got := (automation.ReportFiles{}).Judge(it, table.Rows, work.Capabilities{Tolerance: 1}); got.Finding != want {
			t.Errorf("%s: %s", number, got.Finding)
		}
	}
}

func TestReportDatesAndTheFilesOwnTime(t *testing.T) {
	table := readReport(t, workbook(t, []any{"Reference", "Total", "Currency", "Invoice date"}, []any{"A-1", 9, "EUR", time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC)}), work.ReportSettings{})
	if got := onlyRow(t, table); got.Date != "2026-11-30" || !table.Made.Equal(time.Date(2026, 11, 29, 10, 0, 0, 0, time.UTC)) {
		t.Errorf("%q, made %s", got.Date, table.Made)
	}
	for cell, want := range map[string]string{"30.11.2026": "2026-11-30", "2026-11-30 14:22:05": "2026-11-30", "2026-11-30T14:22:05Z": "2026-11-30", "30/11/2026 14:22": "2026-11-30"} {
		if got := onlyRow(t, readReport(t, "Reference;Total;Currency;Date\nA-1;9,00;EUR;"+cell+"\n", work.ReportSettings{})); got.Date != want {
			t.Errorf("%s: %q %q", cell, got.Date, got.Problem)
		}
	}
}

// Two rows are one document only if they say the same.
func TestRowsWithOneReference(t *testing.T) {
	it := work.Item{Reference: "A-1", Invoice: work.Invoice{CustomerID: "C", CustomerName: "Acme", Total: euros(t, "9.00")}}
	const head = "Reference;Number;Customer;Total;Currency;Status\n"
	for name, c := range map[string]struct {
		rows string
		want work.Finding
	}{
		"one":                      {"A-1;7;Acme;9,00;EUR;Open\n", work.FoundMatching},
		"customer's name in other": {"A-1;7;ACME;9,00;EUR;Open\n", work.FoundMatching},
		"another customer":         {"A-1;7;Globex;9,00;EUR;Open\n", work.FoundDifferent},
		"the same twice":           {"A-1;7;Acme;9,00;EUR;Open\nA-1;7;Acme;9,00;EUR;Open\n", work.FoundMatching},
		"two numbers":              {"A-1;7;Acme;9,00;EUR;Open\nA-1;8;Acme;9,00;EUR;Open\n", work.FoundSeveral},
		"no number, twice":         {"A-1;;Acme;9,00;EUR;Open\nA-1;;Acme;9,00;EUR;Open\n", work.FoundSeveral},
		"lines of one document":    {"A-1;7;Acme;9,00;EUR;Open\nA-1;7;Acme;5,00;EUR;Open\n", work.FoundDifferent},
		"void":                     {"A-1;7;Acme;9,00;EUR;Storniert\n", work.FoundVoid},
		"void and again":           {"A-1;7;Acme;9,00;EUR;void\nA-1;8;Acme;9,00;EUR;Open\n", work.FoundMatching},
		"unreadable":               {"A-1;7;Acme;nine;EUR;Open\n", work.CouldNotTell},
	} {
		table := readReport(t, head+c.rows, work.ReportSettings{})
		if got := (automation.ReportFiles{}).Judge(it, table.Rows, work.Capabilities{}); got.Finding != c.want {
			t.Errorf("%s: %s %s (%s)", name, got.Finding, got.Remark, table.Problem)
		}
	}
}
