package web

import (
	"net/http"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"onefold/internal/auth"
	"onefold/internal/review"
	"onefold/internal/work"
)

// The names of the first columns are those that the import asks for; it leaves the others out.
var exportHeadings = []string{"key", "customer_id", "customer_name", "currency", "amount", "issue_date", "due_date", "note", "status", "reason",
	"automation", "system", "step", "external_number", "external_id", "our_reference", "attempts", "last_error", "assigned_to", "recorded_at", "changed_at"}

// export answers GET /export.csv with all rows of the list at the same address.
func (s *server) export(c echo.Context) error {
	ctx, by := c.Request().Context(), person(c)
	q, ok := listQuery(c.QueryParams())
	if !ok {
		return echo.NewHTTPError(http.StatusBadRequest)
	}
	items, err := s.review.Export(ctx, by, q)
	if err != nil {
		return err
	}
	e := auth.Entry{CompanyID: s.CompanyID, By: by, From: origin(c), What: auth.DidExport, Object: "items", Note: listAddress(q.Text, q.Tab, q.Filter.Status, review.Cursor{})}
	if err := s.Auth.Audit(ctx, e); err != nil {
		return err
	}
	now, err := s.review.Now(ctx)
	if err != nil {
		return err
	}
	return s.sendCSV(c, "onefold-"+now.In(s.Zone).Format("2006-01-02-1504"), exportHeadings, func(yield func([]string, error) bool) {
		for it, err := range items {
			if !yield(s.exportRow(it), err) {
				return
			}
		}
	})
}

func (s *server) exportRow(it work.Item) []string {
	when := func(t time.Time) string {
		if t.IsZero() {
			return ""
		}
		return t.In(s.Zone).Format(time.RFC3339)
	}
	v := it.Invoice
	return []string{it.BusinessKey, v.CustomerID, v.CustomerName, v.Total.CurrencyCode(), v.Total.Number(), v.IssueDate, v.DueDate, v.Note,
		string(it.Status), string(it.Reason), it.Automation, it.SystemID, it.Step, it.ExternalNumber, it.ExternalID, it.Reference,
		strconv.Itoa(it.Attempts), it.LastError, it.AssignedTo, when(it.RecordedAt), when(it.ChangedAt)}
}
