package web

import (
	"iter"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/xuri/excelize/v2"

	"onefold/internal/auth"
	"onefold/internal/review"
	"onefold/internal/work"
	"onefold/web/templates"
)

// monthFile is the list of a month's documents for the auditor.
type monthFile struct {
	period  string
	zone    *time.Location
	systems map[string]string // names by id
}

// periodCSV answers GET /periods/:period/export.csv.
func (s *server) periodCSV(c echo.Context) error {
	f, documents, err := s.beginPeriodExport(c)
	if err != nil {
		return err
	}
	return s.sendCSV(c, f.name(), f.headings(), func(yield func([]string, error) bool) {
		for d, err := range documents {
			if err != nil {
				yield(nil, err)
				return
			}
			var cells []string
			for _, c := range f.row(d) {
				cells = append(cells, c.text)
			}
			if !yield(cells, nil) {
				return
			}
		}
	})
}

// periodXLSX answers GET /periods/:period/export.xlsx.
func (s *server) periodXLSX(c echo.Context) error {
	f, documents, err := s.beginPeriodExport(c)
	if err != nil {
		return err
	}
	book, err := s.newBook(f.headings(), excelize.TotalRows, func(yield func([]bookCell, error) bool) {
		for d, err := range documents {
			if err != nil {
				yield(nil, err)
				return
			}
			if !yield(f.row(d), nil) {
				return
			}
		}
	})
	if err != nil {
		return err
	}
	return s.sendBook(c, f.name(), book)
}

// beginPeriodExport puts on record that the file was taken, and reads its rows while they are asked for.
func (s *server) beginPeriodExport(c echo.Context) (monthFile, iter.Seq2[review.Document, error], error) {
	ctx, by := c.Request().Context(), person(c)
	f := monthFile{period: c.Param("period"), zone: s.Zone, systems: map[string]string{}}
	documents, err := s.periods.Documents(ctx, by, f.period)
	if err != nil {
		return f, nil, err
	}
	systems, err := s.systems.List(ctx, by)
	if err != nil {
		return f, nil, err
	}
	for _, sys := range systems {
		f.systems[sys.ID] = sys.Name
	}
	e := auth.Entry{CompanyID: s.CompanyID, By: by, From: origin(c), What: auth.DidExport, Object: "month:" + f.period, Note: c.Request().URL.Path}
	return f, documents, s.Auth.Audit(ctx, e)
}

func (f monthFile) name() string { return "onefold-month-" + f.period }

// monthFileColumns are the codes of the file's columns, in order.
var monthFileColumns = []string{"month", "automation", "key", "customer_id", "customer", "amount", "currency", "issue_date", "status", "reason", "system", "number",
	"id", "reference", "how", "settled", "by", "note"}

func (f monthFile) headings() []string {
	var all []string
	for _, code := range monthFileColumns {
		all = append(all, say(templates.Period.Head[code], "zone", f.zone.String()))
	}
	return all
}

// row is one document, in the order of the columns.
func (f monthFile) row(d review.Document) []bookCell {
	it, total := d.Item, d.Item.Invoice.Total.Round()
	reason, by := "", ""
	if it.Status == work.Review {
		reason = templates.Words.ReasonShort[string(it.Reason)]
	}
	settled := cell{at: d.SettledAt}
	if !d.SettledAt.IsZero() {
		settled.text = d.SettledAt.In(f.zone).Format("2006-01-02 15:04:05")
		by = orText(d.SettledBy.Name, templates.Period.Automatic)
	}
	words := func(s string) bookCell { return bookCell{cell: cell{text: s}} }
	return []bookCell{words(it.Period), words(it.Automation), words(it.BusinessKey), words(it.Invoice.CustomerID), words(it.Invoice.CustomerName),
		{cell{text: total.Number()}, cellAmount, total.CurrencyCode()}, words(total.CurrencyCode()), {cell{text: it.Invoice.IssueDate}, cellDay, ""},
		words(statusName(it)), words(reason), words(f.system(it)), words(it.ExternalNumber), words(it.ExternalID), words(it.Reference), words(f.how(d)),
		{settled, cellMoment, ""}, words(by), words(d.Note)}
}

func (f monthFile) system(it work.Item) string { return orText(f.systems[it.SystemID], it.SystemID) }

// statusName is the status in words, as its badge says it.
func statusName(it work.Item) string {
	return templates.Pick(templates.Words.StatusName, string(it.Status)+"/"+string(it.OpenKind), string(it.Status))
}

// how says in words how we know what the status says.
func (f monthFile) how(d review.Document) string {
	w, it := templates.Period.How, d.Item
	code := "unknown"
	switch {
	case it.Status == work.Confirmed:
		code = it.Evidence
	case it.Status == work.Resolved, it.Status == work.Closed:
		code = string(it.Status)
	case it.SeenID != "":
		code = "seen"
	case it.Sends == 0:
		code = "never"
	case len(it.Unsettled) == 0 && it.Positive == work.NoEvidence && it.OpenAttempt == 0, it.Status == work.Failed:
		code = "absent"
	}
	return say(templates.Pick(w, code, "unknown"), "system", f.system(it), "who", orText(d.SettledBy.Name, name(it.Evidence)),
		"ref", orText(it.SeenNumber, it.SeenID))
}
