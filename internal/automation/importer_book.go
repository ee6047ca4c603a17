package automation

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/xuri/excelize/v2"
)

const bookMark = "PK\x03\x04" // how a workbook begins

const maxBook = 32 << 20 // bytes of a workbook, which is packed: excelize holds that much in memory

// book is an Excel workbook whose rows are read one after the other.
type book struct {
	file  *excelize.File
	path  string // of the file: the types of its cells are read beside their values
	sheet string // that is read
	day0  time.Time
	style map[int]cellStyle
}

// openBook opens the file if it is a workbook; nil if it is something else.
func openBook(f *os.File) (*book, error) {
	head := make([]byte, 4)
	if n, err := f.ReadAt(head, 0); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read the file: %w", err)
	} else if !bytes.Equal(head[:n], []byte(bookMark)) {
		return nil, nil
	}
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("read the file: %w", err)
	}
	if info.Size() > maxBook {
		return nil, fileErrorf(0, "the workbook is larger than %d MB: split it, or save it as \"CSV UTF-8\"", maxBook>>20)
	}
	x, err := excelize.OpenFile(f.Name(), excelize.Options{RawCellValue: true, UnzipSizeLimit: maxUnpacked, UnzipXMLSizeLimit: 4 << 20})
	if err != nil {
		return nil, fileErrorf(0, "this Excel workbook cannot be read: open it, save it again as .xlsx without a password, or as \"CSV UTF-8\", and import that")
	}
	b := &book{file: x, path: f.Name(), day0: time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC), style: map[int]cellStyle{}}
	if props, err := x.GetWorkbookProps(); err == nil && props.Date1904 != nil && *props.Date1904 {
		b.day0 = time.Date(1904, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	return b, nil
}

// choose settles which sheet is read: the one asked for, else the first with rows.
func (b *book) choose(asked string) error {
	sheets := b.file.GetSheetList()
	if asked != "" {
		if !slices.Contains(sheets, asked) {
			return fileErrorf(0, "the workbook has no sheet %q", shown(asked))
		}
		b.sheet = asked
		return nil
	}
	for _, b.sheet = range sheets {
		n := 0
		err := b.records(0, func(rec record) error {
			if !rec.blank() {
				n++
			}
			if n == 2 {
				return errEnough
			}
			return nil
		})
		if err != nil {
			return err
		}
		if n == 2 {
			return nil
		}
	}
	if len(sheets) == 0 {
		return fileErrorf(0, "the workbook has no sheet")
	}
	b.sheet = sheets[0]
	return nil
}

// records calls f for the heading, which is the first row from the line on, and each row after it. Lines are the numbers
// of the rows. The fields are good only until f returns.
func (b *book) records(from int, f func(record) error) (err error) {
	broken := fileErrorf(0, "the sheet %q cannot be read: save the workbook again, or as \"CSV UTF-8\", and import that", shown(b.sheet))
	rows, err := b.file.Rows(b.sheet)
	if err != nil {
		return broken
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	types, err := openTypes(b.path, b.sheet)
	if err != nil {
		return broken
	}
	defer types.close()
	heading, width := true, 0
	for line := 1; rows.Next(); line++ {
		fields, err := rows.Columns()
		if err != nil {
			return broken
		}
		cells, err := types.row(line)
		if err != nil {
			return broken
		}
		if line < from {
			continue
		}
		rec := record{heading: heading, line: line, fields: fields, numbers: make([]bool, len(fields))}
		for i, value := range fields {
			if len(value) > maxRecord {
				rec.broken = fmt.Errorf("a cell of this row is too long")
			}
			if i < len(cells) && cells[i].number {
				rec.fields[i], rec.numbers[i] = b.number(value, cells[i].style)
			}
		}
		if heading && rec.blank() {
			continue
		}
		if heading {
			heading, width = false, len(fields)
		}
		for len(rec.fields) < width { // empty cells at the end of a row are not in the file
			rec.fields, rec.numbers = append(rec.fields, ""), append(rec.numbers, false)
		}
		for n := len(rec.fields); n > width && rec.fields[n-1] == ""; n-- {
			rec.fields, rec.numbers = rec.fields[:n-1], rec.numbers[:n-1]
		}
		switch err := f(rec); {
		case errors.Is(err, errEnough):
			return nil
		case err != nil:
			return err
		}
	}
	if rows.Error() != nil {
		return broken
	}
	return nil
}

// number is a number cell as text: a date as 2026-11-30, a number with a point and all its digits, with leading zeros if
// the cell's format shows them.
func (b *book) number(value string, style int) (text string, isNumber bool) {
	n, err := strconv.ParseFloat(value, 64)
	if err != nil {
		return value, false
	}
	s := b.styleOf(style)
	switch {
	case s.date && n >= 1 && n < 2_958_466:
		return b.day0.AddDate(0, 0, int(n)).Format(time.DateOnly), false // its time of day says nothing here
	case s.zeros > 0 && n >= 0 && n == float64(int64(n)):
		return fmt.Sprintf("%0*d", s.zeros, int64(n)), false
	}
	return plainDigits(n), true
}

// plainDigits writes a number without the noise of calculations behind its fifteenth digit, which spreadsheets do not show.
func plainDigits(n float64) string {
	exact := strconv.FormatFloat(n, 'f', -1, 64)
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(n, 'g', 15, 64), 64)
	if err != nil || rounded-n > 1e-6 || n-rounded > 1e-6 {
		return exact // cents of a very large sum are no noise
	}
	return strconv.FormatFloat(rounded, 'f', -1, 64)
}

const bookDigits = 15 // of a number: spreadsheets cut the others off without a word

// cutOff reports whether digits of a number of a workbook may have been cut off.
func cutOff(number string) bool {
	digits := strings.TrimLeft(strings.ReplaceAll(strings.TrimLeft(number, "-"), ".", ""), "0")
	return len(strings.TrimRight(digits, "0")) >= bookDigits
}

// cellStyle is what a cell's number format tells.
type cellStyle struct {
	date  bool
	zeros int // digits that are always shown, with zeros in front; 0: as many as there are
}

func (b *book) styleOf(id int) cellStyle {
	if s, ok := b.style[id]; ok {
		return s
	}
	var s cellStyle
	if x, err := b.file.GetStyle(id); err == nil {
		switch n := x.NumFmt; {
		case x.CustomNumFmt != nil:
			s = styleOfCode(*x.CustomNumFmt)
		case n >= 14 && n <= 17, n == 22, n >= 27 && n <= 31, n == 36, n >= 50 && n <= 58:
			s.date = true
		}
	}
	b.style[id] = s
	return s
}

// styleOfCode reads a format such as dd/mm/yyyy, [$-407]d. mmmm yyyy or 000000.
func styleOfCode(code string) cellStyle {
	var bare strings.Builder
	inText, inBrackets, escaped := false, false, false
	for _, r := range code {
		switch {
		case escaped:
			escaped = false
		case r == '\\' || r == '_' || r == '*':
			escaped = true
		case r == '"':
			inText = !inText
		case inText:
		case r == '[':
			inBrackets = true
		case r == ']':
			inBrackets = false
		case !inBrackets:
			bare.WriteRune(r)
		}
	}
	text, _, _ := strings.Cut(strings.ToLower(bare.String()), ";")
	if text != "" && strings.Trim(text, "0") == "" {
		return cellStyle{zeros: len(text)}
	}
	return cellStyle{date: text != "general" && strings.ContainsAny(text, "yd")}
}
