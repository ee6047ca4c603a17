package automation

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/bojanz/currency"

	"onefold/internal/work"
)

// Importer brings invoices in from CSV files and Excel workbooks, one invoice a row. It may be repeated: what is on record is recognised.
type Importer struct {
	Intake  Intake
	TempDir string // where an upload is kept while it is read twice; empty: the system's
}

// ImportOptions say where the invoices go and how the file is written. What is left out of the format is found out from
// the whole file, and asked for if the file leaves it open.
type ImportOptions struct {
	SystemID   string
	Automation string
	Source     string // recorded with each item, for example "import:7"
	By         work.Actor

	Encoding  string    // for example "iso-8859-2"; empty: UTF-8, UTF-16 with its mark, else Windows-1252
	Delimiter rune      // 0: comma, semicolon or tab, whichever the records show
	Decimal   rune      // '.' or ','; 0: as the numbers show
	DateOrder DateOrder // empty: as the dates show

	// What was chosen for the last file of this kind. It counts only where this file leaves it open.
	LastDecimal rune
	LastOrder   DateOrder

	Heading int            // the line on which the heading begins; 0: the first row that looks like one
	Sheet   string         // of a workbook; empty: the first that has rows
	Columns map[string]int // place of each column, from 1, by its name; nil: as the heading names them

	CheckOnly bool                 // read, judge and add up, but record nothing
	Progress  func(ImportProgress) // called after each batch; may be nil
}

// ImportProgress is how far an import has come.
type ImportProgress struct {
	Rows, Of                     int // rows dealt with, of all data rows
	New, Known, Conflicting, Bad int
}

// ImportReport is what an import did.
type ImportReport struct {
	Format   ImportFormat
	Ignored  []string // headings that are not known
	Checked  bool     // CheckOnly: nothing was recorded
	Rows     int      // data rows, without empty ones
	Good     int      // rows that can be issued; with CheckOnly that is all that is known of them
	New      int
	Known    int
	Conflict int           // the key is on record with another content or spelling, or its reference is taken
	Bad      int           // cannot be issued or cannot be read
	Totals   []ImportTotal // by currency, in order of code
	Problems []RowProblem  // every bad or conflicting row, in order
	Hints    []RowProblem  // rows that were taken but look odd
}

// ImportFormat is how the file was read.
type ImportFormat struct {
	Encoding  string
	Delimiter rune
	Decimal   rune
	DateOrder DateOrder // empty: no date needed it
	Sheet     string    // of a workbook, which has no encoding and no delimiter
	Heading   int       // the line on which the heading begins
}

// ImportTotal adds up the good rows of one currency.
type ImportTotal struct {
	Currency string
	Rows     int
	Amount   currency.Amount // all good rows that do not conflict
	New      currency.Amount // of these, recorded by this import
}

// RowProblem names a row by the line of the file on which it begins, counted from 1.
type RowProblem struct {
	Line     int
	Key      string // may be empty
	Reason   string // in the user's words
	Conflict bool   // the row is fine by itself but does not agree with what is on record
}

// FileError says why a file is not imported at all. Nothing of it was recorded.
type FileError struct {
	Line   int // 0: the file as a whole
	Reason string
}

func (e *FileError) Error() string {
	if e.Line == 0 {
		return e.Reason
	}
	return fmt.Sprintf("line %d: %s", e.Line, e.Reason)
}

func fileErrorf(line int, format string, args ...any) error {
	return &FileError{Line: line, Reason: fmt.Sprintf(format, args...)}
}

// Import reads the file from r and records its good rows. The whole file is read and checked once before anything is
// recorded; a *FileError, or an *Unproven, says that nothing was. Any other error comes with the report so far: import the same file again.
func (im Importer) Import(ctx context.Context, r io.Reader, o ImportOptions) (ImportReport, error) {
	switch {
	case o.SystemID == "" || o.Automation == "":
		return ImportReport{}, errors.New("an import needs an accounting system and an automation")
	case o.Decimal != 0 && o.Decimal != '.' && o.Decimal != ',':
		return ImportReport{}, fmt.Errorf("the decimal mark must be a point or a comma, not %q", o.Decimal)
	case !o.DateOrder.known():
		return ImportReport{}, fmt.Errorf("the date order must be dmy, mdy or ymd, not %q", o.DateOrder)
	}
	if err := im.Intake.mayImport(ctx, o.SystemID, o.Automation); err != nil {
		return ImportReport{}, err
	}
	up, err := spool(r, im.TempDir, o.Encoding)
	if err != nil {
		return ImportReport{}, err
	}
	defer up.close()
	sheet, err := survey(ctx, up, o)
	if err != nil {
		return ImportReport{}, err
	}
	if !o.CheckOnly {
		if err := im.Intake.mayBeginImport(ctx, o.SystemID, o.Automation); err != nil {
			return ImportReport{}, err
		}
	}
	run := importRun{intake: im.Intake, options: o, sheet: sheet, totals: map[string]*ImportTotal{}, numeric: map[string]string{}}
	run.report = ImportReport{Format: sheet.format, Ignored: sheet.ignored, Checked: o.CheckOnly}
	err = run.rows(ctx, up)
	slices.SortStableFunc(run.report.Problems, func(a, b RowProblem) int { return a.Line - b.Line })
	for _, code := range slices.Sorted(maps.Keys(run.totals)) {
		run.report.Totals = append(run.report.Totals, *run.totals[code])
	}
	return run.report, err
}

// importRun is the second reading of a file.
type importRun struct {
	intake  Intake
	options ImportOptions
	sheet   sheet
	report  ImportReport
	totals  map[string]*ImportTotal

	numeric map[string]string // the keys that are all digits, by their digits without leading zeros

	batch []work.New
	lines []int      // of the rows in batch
	ahead *recording // the batch before, being recorded while this one is read; nil: none
}

// recording is one batch on its way to the database.
type recording struct {
	batch   []work.New
	lines   []int
	results []Recorded
	err     error
	done    chan struct{}
}

func (run *importRun) rows(ctx context.Context, up *upload) error {
	err := up.records(run.sheet.format.Delimiter, func(rec record) error {
		if rec.heading || rec.blank() {
			return nil
		}
		run.report.Rows++
		n, err := run.sheet.row(rec)
		if err != nil {
			run.bad(rec.line, n.BusinessKey, err)
			return nil
		}
		n.SystemID, n.Automation, n.Source, n.By = run.options.SystemID, run.options.Automation, run.options.Source, run.options.By
		run.looksLike(rec.line, n.BusinessKey)
		run.batch = append(run.batch, n)
		run.lines = append(run.lines, rec.line)
		if len(run.batch) == maxIntake {
			return run.flush(ctx)
		}
		return nil
	})
	if err == nil {
		err = run.flush(ctx)
	}
	return errors.Join(err, run.await())
}

// looksLike notes keys that are the same but for leading zeros, which spreadsheets like to lose.
func (run *importRun) looksLike(line int, key string) {
	bare := strings.TrimLeft(key, "0")
	if strings.Trim(key, "0123456789") != "" {
		return
	}
	if other, ok := run.numeric[bare]; ok && other != key {
		run.report.Hints = append(run.report.Hints, RowProblem{Line: line, Key: key, Reason: fmt.Sprintf("differs from the key %s only by leading zeros: both were taken as two invoices", other)})
		return
	}
	run.numeric[bare] = key
}

func (run *importRun) bad(line int, key string, why error) {
	run.report.Bad++
	run.report.Problems = append(run.report.Problems, RowProblem{Line: line, Key: shown(key), Reason: why.Error()})
}

// flush hands the batch to the database and goes on reading; before that it waits for the batch before.
func (run *importRun) flush(ctx context.Context) error {
	if err := run.await(); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("the import was stopped: %w", err)
	}
	if run.options.CheckOnly {
		for _, n := range run.batch {
			run.report.Good++
			run.add(n.Invoice.Total, false)
		}
		run.batch, run.lines = run.batch[:0], run.lines[:0]
		run.progress()
		return nil
	}
	r := &recording{batch: run.batch, lines: run.lines, done: make(chan struct{})}
	run.ahead, run.batch, run.lines = r, nil, nil
	go func() {
		defer close(r.done)
		r.results, r.err = run.intake.Record(ctx, r.batch)
	}()
	return nil
}

// await adds the batch that is being recorded to the report.
func (run *importRun) await() error {
	r := run.ahead
	if r == nil {
		return nil
	}
	<-r.done
	run.ahead = nil
	for i, result := range r.results {
		run.recorded(r.lines[i], r.batch[i], result)
	}
	if r.err != nil {
		return fmt.Errorf("the import stopped before line %d, import the file again to go on: %w", r.lines[len(r.results)], r.err)
	}
	run.progress()
	return nil
}

func (run *importRun) progress() {
	if run.options.Progress != nil {
		r := run.report
		run.options.Progress(ImportProgress{Rows: r.Rows, Of: run.sheet.rows, New: r.New, Known: r.Known, Conflicting: r.Conflict, Bad: r.Bad})
	}
}

func (run *importRun) recorded(line int, n work.New, r Recorded) {
	switch r.Result {
	case IntakeNew:
		run.report.New++
	case IntakeKnown:
		run.report.Known++
	case IntakeRefused:
		run.bad(line, n.BusinessKey, r.Err)
		return
	default:
		run.report.Good++
		run.report.Conflict++
		run.report.Problems = append(run.report.Problems, RowProblem{Line: line, Key: shown(n.BusinessKey), Reason: r.Err.Error(), Conflict: true})
		return
	}
	run.report.Good++
	run.add(n.Invoice.Total, r.Result == IntakeNew)
}

func (run *importRun) add(amount currency.Amount, isNew bool) {
	code := amount.CurrencyCode()
	t := run.totals[code]
	if t == nil {
		zero, _ := currency.NewAmountFromInt64(0, code)
		t = &ImportTotal{Currency: code, Amount: zero, New: zero}
		run.totals[code] = t
	}
	t.Rows++
	t.Amount, _ = t.Amount.Add(amount) // the same currency: cannot fail
	if isNew {
		t.New, _ = t.New.Add(amount)
	}
}
