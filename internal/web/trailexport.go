package web

import (
	"iter"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"onefold/internal/auth"
	"onefold/web/templates"
)

// trailExport sends what the page lists, complete, for spreadsheets. That it was taken is on record.
func (s *server) trailExport(c echo.Context) error {
	f, problem := s.trailFilter(c.QueryParams())
	if problem != "" {
		return echo.NewHTTPError(http.StatusBadRequest)
	}
	records, err := s.Auth.ExportAudit(c.Request().Context(), person(c), origin(c), f)
	if err != nil {
		return err
	}
	w := templates.People
	headings := []string{w.TrailAt, w.TrailWho, w.TrailWhoID, w.TrailWhat, w.TrailCode, w.TrailObject, w.TrailBefore, w.TrailAfter, templates.Words.Note,
		w.TrailOrigin, w.Browser}
	return s.sendCSV(c, "onefold-trail-"+s.Auth.Clock().In(s.Zone).Format(dayFormat), headings, s.trailLines(records))
}

func (s *server) trailLines(records iter.Seq2[auth.Record, error]) iter.Seq2[[]string, error] {
	return func(yield func([]string, error) bool) {
		for r, err := range records {
			who := ""
			if r.By.Kind != "" {
				who = string(r.By.Kind) + ":" + r.By.ID
			}
			if r.Source == "plan" {
				r.Before, r.After = planTrail(r)
			}
			line := []string{r.At.In(s.Zone).Format(time.RFC3339), r.By.Name, who, didText(r.What), r.What, r.Object, r.Before, r.After, r.Note, r.From.Address, r.From.UserAgent}
			if !yield(line, err) {
				return
			}
		}
	}
}
