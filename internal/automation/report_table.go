package automation

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/xuri/excelize/v2"
)

const (
	// MaxReport is the largest report file, in bytes.
	MaxReport     = 24 << 20
	maxReportRows = 200_000
	maxUnpacked   = 512 << 20 // of a workbook
	preambleRows  = 20        // before the heading
)

// tableRow is one row as it stands in the file.
type tableRow struct {
	line   int
	fields []string
	broken error
}

// table is a file as rows of text.
type table struct {
	heading tableRow
	rows    []tableRow // after the heading, without empty ones
	format  string
	excel   bool
	date04  bool // the workbook counts days from 1904
	made    time.Time
}

// readTable reads a CSV file or an Excel workbook. It returns a *FileError if it cannot.
func readTable(content []byte, delimiter rune) (table, error) {
	switch {
	case len(content) == 0:
		return table{}, fileErrorf(0, "the file is empty")
	case len(content) > MaxReport:
		return table{}, fileErrorf(0, "the file is larger than %d MB: export a shorter period", MaxReport>>20)
	case bytes.HasPrefix(content, []byte("PK\x03\x04")):
		return readWorkbook(content)
	case bytes.HasPrefix(content, []byte("\xD0\xCF\x11\xE0")):
		return table{}, fileErrorf(0, "this is an old or a protected Excel workbook: save it as .xlsx without a password, or as CSV")
	}
	up, err := spool(bytes.NewReader(content), "", "")
	if err != nil {
		return table{}, forReport(err)
	}
	defer up.close()
	mark, err := delimiterOf(up, delimiter)
	if err != nil {
		return table{}, forReport(err)
	}
	var all []tableRow
	err = up.records(mark, func(rec record) error {
		if rec.blank() {
			return nil
		}
		fields := make([]string, len(rec.fields))
		for i, f := range rec.fields {
			fields[i] = strings.Clone(f)
		}
		all = append(all, tableRow{rec.line, fields, rec.broken})
		return tooManyRows(len(all))
	})
	if err != nil {
		return table{}, forReport(err)
	}
	t := table{format: ImportFormat{Encoding: up.name, Delimiter: mark}.written()}
	return t, t.split(all)
}

// written is how the text of a file is written, without its numbers and dates.
func (f ImportFormat) written() string {
	text, _, _ := strings.Cut(f.String(), ", decimal")
	return text
}

func tooManyRows(n int) error {
	if n > maxReportRows {
		return fileErrorf(0, "the report has more than %d rows: export a shorter period", maxReportRows)
	}
	return nil
}

// forReport takes what is only true of imports out of an error about a file.
func forReport(err error) error {
	var fe *FileError
	if !errors.As(err, &fe) {
		return err
	}
	reason := strings.TrimSuffix(fe.Reason, ". Nothing was imported")
	return &FileError{Line: fe.Line, Reason: strings.ReplaceAll(reason, "and import that", "and upload that")}
}

func readWorkbook(content []byte) (t table, err error) {
	f, err := excelize.OpenReader(bytes.NewReader(content), excelize.Options{RawCellValue: true, UnzipSizeLimit: maxUnpacked})
	if err != nil {
		return t, fileErrorf(0, "this Excel workbook cannot be read: open it, save it again as .xlsx without a password, or as CSV")
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	t.excel = true
	if props, err := f.GetWorkbookProps(); err == nil && props.Date1904 != nil {
		t.date04 = *props.Date1904
	}
	if props, err := f.GetDocProps(); err == nil {
		// Not the time of the last change: saving a report again makes it no younger.
		t.made, _ = time.Parse(time.RFC3339, props.Created)
	}
	var all []tableRow
	for _, sheet := range f.GetSheetList() {
		if all, err = sheetRows(f, sheet); err != nil {
			return t, err
		}
		if len(all) > 1 {
			t.format = fmt.Sprintf("Excel, sheet %q", sheet)
			break
		}
	}
	return t, t.split(all)
}

func sheetRows(f *excelize.File, sheet string) (all []tableRow, err error) {
	rows, err := f.Rows(sheet)
	if err != nil {
		return nil, fileErrorf(0, "the sheet %q cannot be read: save the workbook again, or as CSV", shown(sheet))
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for line := 1; rows.Next(); line++ {
		fields, err := rows.Columns()
		if err != nil {
			return nil, fileErrorf(line, "the row cannot be read: save the workbook again, or as CSV")
		}
		if strings.TrimSpace(strings.Join(fields, "")) == "" {
			continue
		}
		all = append(all, tableRow{line: line, fields: fields})
		if err := tooManyRows(len(all)); err != nil {
			return nil, err
		}
	}
	if rows.Error() != nil {
		return nil, fileErrorf(0, "the sheet %q cannot be read to its end: save the workbook again, or as CSV", shown(sheet))
	}
	return all, nil
}

// split finds the heading: of the first rows the one with most names that we know, else the widest. Titles and dates
// that exports like to put above it are left out.
func (t *table) split(all []tableRow) error {
	best, bestKnown, bestWidth := -1, 0, 0
	for i, r := range all[:min(len(all), preambleRows)] {
		known, width := knownReportHeadings(r.fields), 0
		for _, f := range r.fields {
			if strings.TrimSpace(f) != "" {
				width++
			}
		}
		if r.broken == nil && width > 1 && (known > bestKnown || known == bestKnown && width > bestWidth) {
			best, bestKnown, bestWidth = i, known, width
		}
	}
	switch {
	case best < 0:
		return fileErrorf(0, "the file has no heading with at least two columns")
	case best == len(all)-1:
		return fileErrorf(all[best].line, "the report has a heading but no rows")
	}
	t.heading, t.rows = all[best], all[best+1:]
	return nil
}
