package web

import (
	"archive/zip"
	"fmt"
	"io"
	"iter"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/bojanz/currency"
	"github.com/labstack/echo/v4"
	"github.com/xuri/excelize/v2"

	"onefold/internal/work"
	"onefold/web/templates"
)

const xlsxType = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"

// exactDigits is how many digits of a number a spreadsheet keeps: it calculates in binary.
const exactDigits = 15

// exportXLSX answers GET /export.xlsx with all rows of the list at the same address. Rows wait on disk until the last one was
// read, so a list that cannot be read whole gives no file at all.
func (s *server) exportXLSX(c echo.Context) error {
	items, name, err := s.beginExport(c)
	if err != nil {
		return err
	}
	book, err := s.workbook(items, excelize.TotalRows)
	if err != nil {
		return err
	}
	return s.sendBook(c, name, book)
}

// sendBook sends a workbook as a file of the name, and closes it.
func (s *server) sendBook(c echo.Context, name string, book *excelize.File) error {
	defer func() {
		if err := book.Close(); err != nil {
			s.Log.WarnContext(c.Request().Context(), "a workbook's files could not be removed", "error", err)
		}
	}()
	h := c.Response().Header()
	h.Set(echo.HeaderContentType, xlsxType)
	h.Set(echo.HeaderContentDisposition, `attachment; filename="`+name+`.xlsx"`)
	// Straight to the browser: the library would gather the file in memory first.
	book.SetZipWriter(func(io.Writer) excelize.ZipWriter { return zip.NewWriter(c.Response()) })
	_, err := book.WriteTo(io.Discard)
	switch {
	case err == nil:
		return nil
	case !c.Response().Committed:
		h.Del(echo.HeaderContentDisposition)
		return err
	}
	s.Log.ErrorContext(c.Request().Context(), "an export broke off", "request", c.Get(requestIDKey), "error", err)
	panic(http.ErrAbortHandler)
}

// workbook writes the items to sheets of so many rows. Whoever gets it closes it.
func (s *server) workbook(items iter.Seq2[work.Item, error], rows int) (*excelize.File, error) {
	return s.newBook(s.exportHeadings(), rows, func(yield func([]bookCell, error) bool) {
		for it, err := range items {
			line := make([]bookCell, len(exportColumns))
			for i, c := range exportColumns {
				line[i] = bookCell{c.of(it), c.kind, it.Invoice.Total.CurrencyCode()}
			}
			if !yield(line, err) {
				return
			}
		}
	})
}

// bookCell is one value of a workbook; the currency is that of an amount.
type bookCell struct {
	cell
	kind     cellKind
	currency string
}

// newBook writes lines under their headings to sheets of so many rows. Whoever gets it closes it.
func (s *server) newBook(headings []string, rows int, lines iter.Seq2[[]bookCell, error]) (book *excelize.File, err error) {
	w := &bookWriter{file: excelize.NewFile(), zone: s.Zone, headings: headings, rows: rows, styles: map[string]int{}}
	defer func() {
		if err != nil {
			_ = w.file.Close()
		}
	}()
	if err = w.sheet(); err != nil {
		return nil, err
	}
	for line, lineErr := range lines {
		if err = lineErr; err == nil {
			err = w.line(line)
		}
		if err != nil {
			return nil, err
		}
	}
	return w.file, w.stream.Flush()
}

// bookWriter writes lines to a workbook, on as many sheets as are needed.
type bookWriter struct {
	file     *excelize.File
	stream   *excelize.StreamWriter
	zone     *time.Location
	headings []string
	rows     int // of a sheet
	sheets   int
	row      int // the last one written
	styles   map[string]int
}

// style is the number of a cell's format.
func (w *bookWriter) style(format string) (int, error) {
	if id, ok := w.styles[format]; ok {
		return id, nil
	}
	id, err := w.file.NewStyle(&excelize.Style{CustomNumFmt: &format})
	w.styles[format] = id
	return id, err
}

// sheet begins the next sheet: its headings stay in view.
func (w *bookWriter) sheet() error {
	w.sheets++
	name := templates.Lists.Column["sheet"]
	if w.sheets == 1 {
		if err := w.file.SetSheetName("Sheet1", name); err != nil {
			return fmt.Errorf("workbook: %w", err)
		}
	} else {
		if err := w.stream.Flush(); err != nil {
			return fmt.Errorf("workbook: %w", err)
		}
		name = templates.Say(templates.Lists.Column["more"], map[string]any{"n": strconv.Itoa(w.sheets)}).String()
		if _, err := w.file.NewSheet(name); err != nil {
			return fmt.Errorf("workbook: %w", err)
		}
	}
	stream, err := w.file.NewStreamWriter(name)
	if err != nil {
		return fmt.Errorf("workbook: %w", err)
	}
	bold, err := w.file.NewStyle(&excelize.Style{Font: &excelize.Font{Bold: true}})
	if err != nil {
		return fmt.Errorf("workbook: %w", err)
	}
	if err := stream.SetColWidth(1, len(w.headings), 20); err != nil {
		return fmt.Errorf("workbook: %w", err)
	}
	if err := stream.SetPanes(&excelize.Panes{Freeze: true, YSplit: 1, TopLeftCell: "A2", ActivePane: "bottomLeft"}); err != nil {
		return fmt.Errorf("workbook: %w", err)
	}
	cells := make([]any, len(w.headings))
	for i, h := range w.headings {
		cells[i] = excelize.Cell{StyleID: bold, Value: h}
	}
	w.stream, w.row = stream, 1
	return stream.SetRow("A1", cells)
}

func (w *bookWriter) line(line []bookCell) error {
	if w.row == w.rows {
		if err := w.sheet(); err != nil {
			return err
		}
	}
	cells := make([]any, len(line))
	for i, c := range line {
		value, format := w.cell(c.kind, c.cell, c.currency)
		id, err := w.style(format)
		if err != nil {
			return fmt.Errorf("workbook: %w", err)
		}
		cells[i] = excelize.Cell{StyleID: id, Value: value}
	}
	w.row++
	if err := w.stream.SetRow("A"+strconv.Itoa(w.row), cells); err != nil {
		return fmt.Errorf("workbook: %w", err)
	}
	return nil
}

const asText = "@" // stays a text when somebody edits the cell: it never becomes a formula

// cell is a value as a spreadsheet holds it, and its format.
func (w *bookWriter) cell(kind cellKind, c cell, code string) (value any, format string) {
	switch kind {
	case cellNumber, cellAmount:
		number, err := strconv.ParseFloat(c.text, 64)
		if err != nil || len(strings.Trim(strings.ReplaceAll(c.text, ".", ""), "-0")) > exactDigits { // it would lose cents
			return c.text, asText
		}
		if kind == cellNumber {
			return number, "0"
		}
		digits, known := currency.GetDigits(code)
		if !known || digits == 0 {
			return number, "#,##0"
		}
		return number, "#,##0." + strings.Repeat("0", int(digits))
	case cellDay:
		if day, err := time.Parse(time.DateOnly, c.text); err == nil {
			return day, "yyyy-mm-dd"
		}
	case cellMoment:
		if !c.at.IsZero() {
			return c.at.In(w.zone), "yyyy-mm-dd hh:mm:ss"
		}
	}
	if c.text == "" {
		return nil, asText
	}
	return text(c.text, excelize.TotalCellChars), asText
}
