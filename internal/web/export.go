package web

import (
	"iter"
	"net/http"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"onefold/internal/auth"
	"onefold/internal/review"
	"onefold/internal/work"
	"onefold/web/templates"
)

// exportFormats are the kinds of files, by the endings of their addresses.
var exportFormats = []string{"csv", "xlsx"}

// cellKind says what a cell of an export is.
type cellKind int

const (
	cellText   cellKind = iota
	cellNumber          // a count
	cellAmount          // in the row's currency
	cellDay             // 2006-01-02
	cellMoment          // in the firm's zone
)

// cell is one value of an export, as text; a moment is in at.
type cell struct {
	text string
	at   time.Time
}

// exportColumn is one column of an export.
type exportColumn struct {
	name string
	kind cellKind
	of   func(it work.Item) cell
}

func textColumn(name string, of func(it work.Item) string) exportColumn {
	return exportColumn{name, cellText, func(it work.Item) cell { return cell{text: of(it)} }}
}

func dayColumn(name string, of func(it work.Item) string) exportColumn {
	return exportColumn{name, cellDay, func(it work.Item) cell { return cell{text: of(it)} }}
}

func momentColumn(name string, of func(it work.Item) time.Time) exportColumn {
	return exportColumn{name, cellMoment, func(it work.Item) cell { return cell{at: of(it)} }}
}

// exportColumns are those of both kinds of files. The names of the first ones are those that the import asks for; it leaves
// the others out.
var exportColumns = []exportColumn{
	textColumn("key", func(it work.Item) string { return it.BusinessKey }),
	textColumn("customer_id", func(it work.Item) string { return it.Invoice.CustomerID }),
	textColumn("customer_name", func(it work.Item) string { return it.Invoice.CustomerName }),
	textColumn("currency", func(it work.Item) string { return it.Invoice.Total.CurrencyCode() }),
	{"amount", cellAmount, func(it work.Item) cell { return cell{text: it.Invoice.Total.Number()} }},
	dayColumn("issue_date", func(it work.Item) string { return it.Invoice.IssueDate }),
	dayColumn("due_date", func(it work.Item) string { return it.Invoice.DueDate }),
	textColumn("note", func(it work.Item) string { return it.Invoice.Note }),
	textColumn("period", func(it work.Item) string { return it.Period }),
	textColumn("status", func(it work.Item) string { return templates.Words.StatusName[string(it.Status)] }),
	textColumn("reason", func(it work.Item) string { return templates.Words.ReasonShort[string(it.Reason)] }),
	textColumn("automation", func(it work.Item) string { return it.Automation }),
	textColumn("system", func(it work.Item) string { return it.SystemID }),
	textColumn("step", func(it work.Item) string { return it.Step }),
	textColumn("external_number", func(it work.Item) string { return it.ExternalNumber }),
	textColumn("external_id", func(it work.Item) string { return it.ExternalID }),
	textColumn("our_reference", func(it work.Item) string { return it.Reference }),
	{"attempts", cellNumber, func(it work.Item) cell { return cell{text: strconv.Itoa(it.Attempts)} }},
	momentColumn("last_try", func(it work.Item) time.Time { return it.LastTryAt }),
	textColumn("last_error", func(it work.Item) string { return it.LastError }),
	textColumn("assigned_to", func(it work.Item) string { return it.AssignedTo }),
	textColumn("source", func(it work.Item) string { return it.Source }),
	momentColumn("recorded_at", func(it work.Item) time.Time { return it.RecordedAt }),
	momentColumn("changed_at", func(it work.Item) time.Time { return it.ChangedAt }),
}

// exportHeadings are the columns' names; those of moments name the zone as well.
func (s *server) exportHeadings() []string {
	var out []string
	for _, c := range exportColumns {
		name := c.name
		if c.kind == cellMoment {
			name = templates.Say(templates.Lists.Column["zone"], map[string]any{"name": name, "zone": s.Zone.String()}).String()
		}
		out = append(out, name)
	}
	return out
}

// beginExport reads the whole list at the request's address, and puts on record that it was taken. It also returns the name
// of the file. An address that is not understood gives no file: it would hold more than was asked for.
func (s *server) beginExport(c echo.Context) (items iter.Seq2[work.Item, error], name string, err error) {
	ctx, by := c.Request().Context(), person(c)
	now, err := s.review.Now(ctx)
	if err != nil {
		return nil, "", err
	}
	l := listQuery(c.QueryParams(), by, now)
	if len(l.problems) > 0 {
		return nil, "", echo.NewHTTPError(http.StatusBadRequest)
	}
	l.query.After = review.Cursor{} // a file is always of the whole list
	if items, err = s.review.Export(ctx, by, l.query); err != nil {
		return nil, "", err
	}
	e := auth.Entry{CompanyID: s.CompanyID, By: by, From: origin(c), What: auth.DidExport, Object: "items", Note: l.address()}
	return items, "onefold-" + now.In(s.Zone).Format("2006-01-02-1504"), s.Auth.Audit(ctx, e)
}

// exportCSV answers GET /export.csv with all rows of the list at the same address.
func (s *server) exportCSV(c echo.Context) error {
	items, name, err := s.beginExport(c)
	if err != nil {
		return err
	}
	return s.sendCSV(c, name, s.exportHeadings(), func(yield func([]string, error) bool) {
		for it, err := range items {
			if !yield(s.exportLine(it), err) {
				return
			}
		}
	})
}

func (s *server) exportLine(it work.Item) []string {
	line := make([]string, len(exportColumns))
	for i, c := range exportColumns {
		v := c.of(it)
		if line[i] = v.text; !v.at.IsZero() {
			line[i] = v.at.In(s.Zone).Format(time.DateTime) // what spreadsheets take for a date
		}
	}
	return line
}
