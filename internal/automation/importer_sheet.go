package automation

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
)

// sheet is what the first reading of a file found out.
type sheet struct {
	format  ImportFormat
	columns columns
	width   int // fields of the heading
	ignored []string
	rows    int
}

// survey reads the whole file once and settles how it is to be read, or says why it cannot be.
func survey(ctx context.Context, up *upload, o ImportOptions) (sheet, error) {
	s := sheet{format: ImportFormat{Encoding: up.name}}
	var err error
	if s.format.Delimiter, err = up.begin(o); err != nil {
		return s, err
	}
	s.format.Heading = up.heading
	if up.book != nil {
		s.format.Sheet = up.book.sheet
	}
	var decimals evidence[rune]
	var orders evidence[DateOrder]
	widths := map[int]where{} // the first row of each width that is not the heading's
	uneven, heading := 0, 0
	err = up.records(s.format.Delimiter, func(rec record) error {
		switch {
		case rec.heading && rec.broken != nil:
			return fileErrorf(rec.line, "the heading cannot be read: %v", rec.broken)
		case rec.heading:
			s.width, heading = len(rec.fields), rec.line
			if o.Columns != nil {
				s.columns, s.ignored, err = chosenColumns(rec, o.Columns)
			} else {
				s.columns, s.ignored, err = readHeading(rec)
			}
			return err
		case rec.blank():
			return nil
		}
		s.rows++
		if s.rows%10000 == 0 && ctx.Err() != nil {
			return fmt.Errorf("the import was stopped: %w", ctx.Err())
		}
		if rec.broken != nil {
			return nil
		}
		if len(rec.fields) != s.width {
			uneven++
			if _, ok := widths[len(rec.fields)]; !ok {
				widths[len(rec.fields)] = where{line: rec.line}
			}
			return nil
		}
		for _, c := range []column{colAmount, colQuantity, colUnitPrice} {
			w := where{rec.line, s.columns.of(rec, c)}
			if s.columns.isNumber(rec, c) {
				continue // of a workbook: there is nothing to be found out
			}
			switch mark := decimalOf(w.cell); mark {
			case '.', ',':
				decimals.add(mark, w)
			case '?':
				decimals.addUnclear(w)
			}
		}
		for _, c := range []column{colIssueDate, colDueDate} {
			w := where{rec.line, s.columns.of(rec, c)}
			if order, unclear := orderOf(w.cell); order != "" {
				orders.add(order, w)
			} else if unclear {
				orders.addUnclear(w)
			}
		}
		return nil
	})
	switch {
	case err != nil:
		return s, err
	case heading == 0:
		return s, fileErrorf(0, "the file has no heading")
	case s.rows == 0:
		return s, fileErrorf(0, "the file has a heading but no rows")
	case uneven*2 > s.rows:
		return s, unevenError(heading, s.width, widths)
	}
	if s.format.Decimal, err = decideDecimal(decimals, o.Decimal, o.LastDecimal); err != nil {
		return s, err
	}
	s.format.DateOrder, err = decideOrder(orders, o.DateOrder, o.LastOrder)
	return s, err
}

func unevenError(heading, width int, widths map[int]where) error {
	first, fields := 0, 0
	for n, w := range widths {
		if first == 0 || w.line < first {
			first, fields = w.line, n
		}
	}
	return fileErrorf(heading, "the heading has %d fields but most rows have another number, for example line %d with %d. Nothing was imported", width, first, fields)
}

// of returns the row's cell in a column, trimmed, with the guard of our own export undone; empty if there is none.
func (cols columns) of(rec record, c column) string {
	i := cols[c]
	if i < 0 || i >= len(rec.fields) {
		return ""
	}
	return unguard(strings.TrimSpace(rec.fields[i]))
}

// isNumber reports whether the row's cell in a column is a number of a workbook, written with a point.
func (cols columns) isNumber(rec record, c column) bool {
	i := cols[c]
	return i >= 0 && i < len(rec.numbers) && rec.numbers[i]
}

// begin finds the delimiter and the heading, and returns the delimiter; 0 for a workbook.
func (up *upload) begin(o ImportOptions) (delimiter rune, err error) {
	if up.book != nil {
		err = up.book.choose(o.Sheet)
	} else {
		delimiter, err = delimiterOf(up, o.Delimiter)
	}
	if err != nil {
		return 0, err
	}
	up.heading = o.Heading
	if up.heading <= 0 {
		up.heading, err = headingOf(up, delimiter)
	}
	return delimiter, err
}

// headingOf is the line of the heading: of the first rows the one with most names that we know, else the first that is
// not empty.
func headingOf(up *upload, delimiter rune) (line int, err error) {
	up.heading = 0
	best, n := 0, 0
	err = up.records(delimiter, func(rec record) error {
		if n++; n > preambleRows {
			return errEnough
		}
		if known := knownHeadings(rec.fields); known > best || line == 0 && !rec.blank() {
			line, best = rec.line, known
		}
		return nil
	})
	return line, err
}

func knownHeadings(fields []string) (n int) {
	for _, h := range fields {
		if _, rank := columnOf(foldHeading(h)); rank >= 0 {
			n++
		}
	}
	return n
}

const sample = 200 // rows that are read to find the delimiter

// delimiterOf finds the delimiter, from the "sep=" line that spreadsheets write or from the heading and the first rows.
func delimiterOf(up *upload, asked rune) (rune, error) {
	text, err := up.text()
	if err != nil {
		return 0, err
	}
	first, err := text.ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, bufio.ErrBufferFull) {
		return 0, fmt.Errorf("read the file: %w", err)
	}
	if mark, ok := strings.CutPrefix(strings.ToLower(strings.TrimRight(first, "\r\n")), "sep="); ok {
		up.skip = 1
		if r := []rune(mark); len(r) == 1 && asked == 0 {
			asked = r[0]
		}
	}
	switch {
	case asked == '"' || asked == '\r' || asked == '\n' || asked == '\uFFFD':
		return 0, fmt.Errorf("%q cannot separate fields", asked)
	case asked != 0:
		return asked, nil
	}
	best, bestScore, tie := rune(0), score{}, false
	for _, d := range []rune{',', ';', '\t'} {
		s, err := scoreOf(up, d)
		var fe *FileError
		if err != nil && !errors.As(err, &fe) {
			return 0, err
		}
		switch {
		case s.better(bestScore):
			best, bestScore, tie = d, s, false
		case s == bestScore:
			tie = true
		}
	}
	if best == 0 || tie {
		return 0, fileErrorf(1, "it cannot be told what separates the fields: say whether it is a comma, a semicolon or a tab. Nothing was imported")
	}
	return best, nil
}

// score says how well a delimiter explains a file.
type score struct {
	known int // headings that we know
	even  int // rows, in a hundred, that have the most frequent number of fields; 0 if that is one
	width int // the most frequent number of fields
}

func (s score) better(o score) bool {
	if s.known != o.known {
		return s.known > o.known
	}
	if s.even != o.even {
		return s.even > o.even
	}
	return s.width > o.width
}

func scoreOf(up *upload, delimiter rune) (score, error) {
	var s score
	first, rows, widths := 0, 0, map[int]int{}
	err := up.records(delimiter, func(rec record) error {
		if first++; first <= preambleRows {
			known := knownHeadings(rec.fields)
			s.known = max(s.known, known)
			if rec.heading || known > 0 {
				return nil
			}
		}
		if rec.blank() {
			return nil
		}
		rows++
		if rec.broken == nil {
			widths[len(rec.fields)]++
		}
		if rows == sample {
			return errEnough
		}
		return nil
	})
	for width, n := range widths {
		if even := n * 100 / rows; width > 1 && (even > s.even || even == s.even && width > s.width) {
			s.even, s.width = even, width
		}
	}
	return s, err
}
