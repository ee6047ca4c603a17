package web

import (
	"encoding/csv"
	"iter"
	"net/http"

	"github.com/labstack/echo/v4"

	"onefold/internal/automation"
)

// sendCSV sends a table for spreadsheets while it is read; each cell is guarded against being taken for a formula. If a
// row cannot be read the connection is broken off, so that nobody takes the part for the whole.
func (s *server) sendCSV(c echo.Context, name string, headings []string, rows iter.Seq2[[]string, error]) error {
	h := c.Response().Header()
	h.Set(echo.HeaderContentType, "text/csv; charset=utf-8")
	h.Set(echo.HeaderContentDisposition, `attachment; filename="`+name+`.csv"`)
	out := csv.NewWriter(c.Response()) // buffered: a failure of the first rows is still answered in words
	marked := append([]string{"\ufeff" + headings[0]}, headings[1:]...)
	err := out.Write(marked) // spreadsheets know UTF-8 by the mark
	for row, rowErr := range rows {
		if err = rowErr; err != nil {
			break
		}
		cells := make([]string, len(row))
		for i, cell := range row {
			cells[i] = automation.Guard(cell)
		}
		if err = out.Write(cells); err != nil {
			break
		}
	}
	switch {
	case err == nil:
		out.Flush()
		return out.Error()
	case !c.Response().Committed:
		h.Del(echo.HeaderContentDisposition)
		return err
	}
	s.Log.ErrorContext(c.Request().Context(), "an export broke off", "request", c.Get(requestIDKey), "error", err)
	panic(http.ErrAbortHandler)
}
