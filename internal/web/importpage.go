package web

import (
	"errors"
	"net/http"
	"strconv"

	"github.com/labstack/echo/v4"

	"onefold/internal/automation"
	"onefold/internal/review"
	"onefold/internal/work"
	"onefold/web/templates"
)

// invoicesAutomation is the automation of invoices that people or programs bring in one by one or by file.
const invoicesAutomation = "invoices"

func (s *server) importPage(c echo.Context) error {
	return s.showImport(c, http.StatusOK, templates.Import{})
}

func (s *server) importForm(c echo.Context) error {
	by := person(c)
	if !review.MayRecord(by) {
		return review.ErrForbidden
	}
	m := templates.Import{System: c.FormValue("system")}
	head, err := c.FormFile("file")
	if err != nil {
		return echo.NewHTTPError(http.StatusBadRequest)
	}
	file, err := head.Open()
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	report, err := s.Importer.Import(c.Request().Context(), file, automation.ImportOptions{SystemID: m.System,
		Automation: invoicesAutomation, Source: "import", By: by})
	var fileProblem *automation.FileError
	switch {
	case errors.As(err, &fileProblem):
		m.Problem = fileProblem.Error()
		return s.showImport(c, http.StatusUnprocessableEntity, m)
	case err != nil:
		return err
	}
	m.Report = importReport(report)
	return s.showImport(c, http.StatusOK, m)
}

func (s *server) showImport(c echo.Context, status int, m templates.Import) error {
	shell, systems, err := s.shell(c, templates.Words.Import)
	if err != nil {
		return err
	}
	m.Shell = shell
	for _, sys := range systems {
		m.Systems = append(m.Systems, templates.Choice{Value: sys.ID, Text: text(sys.Name, 100)})
	}
	return render(c, status, templates.ImportPage(m))
}

const problemsOnPage = 200

func importReport(r automation.ImportReport) *templates.Report {
	w := templates.Words.Fact
	m := &templates.Report{Title: w["imported"]}
	switch {
	case r.Bad+r.Conflict > 0:
		m.Title = w["imported/bad"]
	case r.New == 0:
		m.Title = w["imported/none"]
	}
	for _, n := range []struct {
		code string
		n    int
	}{{"rows", r.Rows}, {"new", r.New}, {"known", r.Known}, {"conflict", r.Conflict}, {"bad", r.Bad}} {
		m.Counts = append(m.Counts, templates.Fact{Name: w[n.code], Value: thousands(int64(n.n))})
	}
	for _, t := range r.Totals {
		m.Totals = append(m.Totals, templates.Fact{Name: t.Currency, Value: amountNumber(t.Amount)})
	}
	rows := func(from []automation.RowProblem) (out []templates.RowProblem) {
		for _, p := range from[:min(len(from), problemsOnPage)] {
			out = append(out, templates.RowProblem{Line: strconv.Itoa(p.Line), Key: text(p.Key, 100), Reason: text(p.Reason, 300)})
		}
		return out
	}
	m.Problems, m.Hints = rows(r.Problems), rows(r.Hints)
	if rest := len(r.Problems) - problemsOnPage; rest > 0 {
		m.More = templates.Say(w["more"], map[string]any{"n": thousands(int64(rest))}).String()
	}
	return m
}

// onlySystem is the accounting system to use when none is named: the one there is.
func onlySystem(systems []work.System) string {
	if len(systems) == 1 {
		return systems[0].ID
	}
	return ""
}
