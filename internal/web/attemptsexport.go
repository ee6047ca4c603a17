package web

import (
	"net/http"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"onefold/internal/auth"
	"onefold/internal/review"
	"onefold/web/templates"
)

// attemptColumn is one column of the file; a moment is written in the firm's zone, which its heading names.
type attemptColumn struct {
	name   string
	text   func(r review.AttemptRow) string
	moment func(r review.AttemptRow) time.Time
}

var attemptColumns = []attemptColumn{
	{name: "key", text: func(r review.AttemptRow) string { return r.BusinessKey }},
	{name: "step", text: func(r review.AttemptRow) string { return r.Step }},
	{name: "attempt", text: func(r review.AttemptRow) string { return strconv.Itoa(r.Number) }},
	{name: "kind", text: func(r review.AttemptRow) string { return string(review.KindOf(r.Attempt)) }},
	{name: "result", text: func(r review.AttemptRow) string { return review.ResultOf(r.Attempt) }},
	{name: "http_status", text: func(r review.AttemptRow) string {
		if r.HTTPStatus == 0 {
			return ""
		}
		return strconv.Itoa(r.HTTPStatus)
	}},
	{name: "began", moment: func(r review.AttemptRow) time.Time { return r.StartedAt }},
	{name: "ended", moment: func(r review.AttemptRow) time.Time { return r.EndedAt }},
	{name: "took_ms", text: func(r review.AttemptRow) string {
		d, known := took(r.Attempt)
		if !known {
			return ""
		}
		return strconv.FormatInt(d.Milliseconds(), 10)
	}},
	{name: "automation", text: func(r review.AttemptRow) string { return r.Automation }},
	{name: "system", text: func(r review.AttemptRow) string { return r.SystemID }},
	{name: "server", text: func(r review.AttemptRow) string { return r.Node }},
	{name: "asked_by", text: func(r review.AttemptRow) string { return name(r.AskedBy) }},
	{name: "late_for", text: func(r review.AttemptRow) string {
		if r.LateFor == 0 {
			return ""
		}
		return strconv.Itoa(r.LateFor)
	}},
	{name: "our_reference", text: func(r review.AttemptRow) string { return r.Reference }},
	{name: "request_key", text: func(r review.AttemptRow) string { return r.Key }},
	{name: "external_number", text: func(r review.AttemptRow) string { return r.ExternalNo }},
	{name: "external_id", text: func(r review.AttemptRow) string { return r.ExternalID }},
	{name: "books", text: func(r review.AttemptRow) string { return r.Identity }},
	{name: "error", text: func(r review.AttemptRow) string { return r.Error }},
}

// attemptsCSV answers with all attempts of the list at the same address, however far back, while they are read. That they
// were taken is on record. An address that is not understood gives no file: it would hold more than was asked for.
func (s *server) attemptsCSV(c echo.Context) error {
	ctx, by := c.Request().Context(), person(c)
	l := attemptQuery(c.QueryParams(), by, s.Zone)
	if len(l.problems) > 0 {
		return echo.NewHTTPError(http.StatusBadRequest)
	}
	rows, err := s.review.ExportAttempts(ctx, by, l.query)
	if err != nil {
		return err
	}
	now, err := s.review.Now(ctx)
	if err != nil {
		return err
	}
	e := auth.Entry{CompanyID: s.CompanyID, By: by, From: origin(c), What: auth.DidExport, Object: "attempts", Note: l.address()}
	if err := s.Auth.Audit(ctx, e); err != nil {
		return err
	}
	var headings []string
	for _, col := range attemptColumns {
		heading := col.name
		if col.moment != nil {
			heading = say(templates.Lists.Column["zone"], "name", col.name, "zone", s.Zone.String())
		}
		headings = append(headings, heading)
	}
	return s.sendCSV(c, "onefold-attempts-"+now.In(s.Zone).Format("2006-01-02-1504"), headings, func(yield func([]string, error) bool) {
		for r, err := range rows {
			if !yield(s.attemptLine(r), err) {
				return
			}
		}
	})
}

func (s *server) attemptLine(r review.AttemptRow) []string {
	line := make([]string, len(attemptColumns))
	for i, col := range attemptColumns {
		if col.moment == nil {
			line[i] = col.text(r)
		} else if at := col.moment(r); !at.IsZero() {
			line[i] = at.In(s.Zone).Format("2006-01-02 15:04:05.000")
		}
	}
	return line
}
