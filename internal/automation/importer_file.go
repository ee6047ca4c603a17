package automation

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
)

// ErrRowsLeftOut says that a file was imported but not every row of it.
var ErrRowsLeftOut = errors.New("not every row was imported")

// ImportFile imports the file at path and prints a report for people to w. It returns ErrRowsLeftOut, wrapped, if rows
// were bad or did not agree with what is on record.
func ImportFile(ctx context.Context, im Importer, path string, o ImportOptions, w io.Writer) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("the file cannot be opened: %w", err)
	}
	defer f.Close() //nolint:errcheck // only read
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return fmt.Errorf("%s is a folder, not a file", path)
	}
	report, err := im.Import(ctx, f, o)
	var fe *FileError
	if errors.As(err, &fe) {
		return fmt.Errorf("%s: %w", path, err)
	}
	if report.Rows > 0 {
		if perr := report.Print(w, path); perr != nil && err == nil {
			err = fmt.Errorf("print the report: %w", perr)
		}
	}
	if left := report.Bad + report.Conflict; err == nil && left > 0 {
		return fmt.Errorf("%w: %d of %d left out", ErrRowsLeftOut, left, report.Rows)
	}
	return err
}

// Print writes the report as tables for people, under the file's name.
func (r ImportReport) Print(w io.Writer, name string) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "%s (%s)\n", name, r.Format)
	if len(r.Ignored) > 0 {
		fmt.Fprintf(t, "Columns that were not used: %s\n", strings.Join(r.Ignored, ", "))
	}
	fmt.Fprintf(t, "\nRows\t%d\n", r.Rows)
	if r.Checked {
		fmt.Fprintf(t, "Good\t%d\t(only checked, nothing was recorded)\n", r.Good)
	} else {
		fmt.Fprintf(t, "New\t%d\nAlready on record\t%d\nNot as on record\t%d\n", r.New, r.Known, r.Conflict)
	}
	fmt.Fprintf(t, "Bad\t%d\n", r.Bad)
	if err := t.Flush(); err != nil {
		return err
	}
	if len(r.Totals) > 0 {
		fmt.Fprintln(w)
		sums := tabwriter.NewWriter(w, 0, 0, 3, ' ', tabwriter.AlignRight)
		fmt.Fprint(sums, "Currency\tInvoices\tAmount\tOf which new\t\n")
		for _, c := range r.Totals {
			fmt.Fprintf(sums, "%s\t%d\t%s\t%s\t\n", c.Currency, c.Rows, c.Amount.Number(), c.New.Number())
		}
		if err := sums.Flush(); err != nil {
			return err
		}
	}
	if err := printRows(w, "Rows that were left out", r.Problems); err != nil {
		return err
	}
	return printRows(w, "Rows to look at", r.Hints)
}

func printRows(w io.Writer, title string, rows []RowProblem) error {
	if len(rows) == 0 {
		return nil
	}
	fmt.Fprintf(w, "\n%s:\n", title)
	for _, p := range rows {
		key := ""
		if p.Key != "" {
			key = p.Key + ": "
		}
		if _, err := fmt.Fprintf(w, "  line %-6d %s%s\n", p.Line, key, p.Reason); err != nil {
			return err
		}
	}
	return nil
}

// String says how a file was read, for people.
func (f ImportFormat) String() string {
	if f.Sheet != "" {
		return fmt.Sprintf("Excel, sheet %q", shown(f.Sheet)) + f.dates()
	}
	delimiter := map[rune]string{',': "commas", ';': "semicolons", '\t': "tabs"}[f.Delimiter]
	if delimiter == "" {
		delimiter = fmt.Sprintf("%q", f.Delimiter)
	}
	s := fmt.Sprintf("%s, separated by %s, decimal %s", f.Encoding, delimiter, markName(f.Decimal))
	return s + f.dates()
}

func (f ImportFormat) dates() string {
	switch f.DateOrder {
	case DayMonthYear:
		return ", dates day first"
	case MonthDayYear:
		return ", dates month first"
	}
	return ""
}
