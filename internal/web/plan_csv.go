package web

import (
	"bufio"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"onefold/internal/auth"
	"onefold/internal/automation/recurring"
	"onefold/internal/review"
	"onefold/web/templates"
)

const planFileSize = 32 << 20

// planExport sends all plans as the import reads them. If a plan cannot be read the connection is broken off, so that nobody
// takes the part for the whole.
func (s *server) planExport(c echo.Context) error {
	ctx, by := c.Request().Context(), person(c)
	e := auth.Entry{CompanyID: s.CompanyID, By: by, From: origin(c), What: auth.DidExport, Object: "plans", Note: c.Request().URL.Path}
	if err := s.Auth.Audit(ctx, e); err != nil {
		return err
	}
	h := c.Response().Header()
	h.Set(echo.HeaderContentType, "text/csv; charset=utf-8")
	h.Set(echo.HeaderContentDisposition, `attachment; filename="onefold-plans.csv"`)
	out := bufio.NewWriterSize(c.Response(), 64<<10) // a failure of the first rows is still answered in words
	err := s.plans.ExportCSV(ctx, by, out)
	switch {
	case err == nil:
		return out.Flush()
	case !c.Response().Committed:
		h.Del(echo.HeaderContentDisposition)
		return planError(err)
	}
	s.Log.ErrorContext(c.Request().Context(), "an export broke off", "request", c.Get(requestIDKey), "error", err)
	panic(http.ErrAbortHandler)
}

func (s *server) planImportPage(c echo.Context) error {
	return s.showPlanImport(c, http.StatusOK, templates.PlanImport{})
}

// planImport adds the plans of a file, or only says what it would do.
func (s *server) planImport(c echo.Context) error {
	by, w := person(c), templates.Plans
	if !recurring.MayChange(by) {
		return review.ErrForbidden
	}
	m := templates.PlanImport{System: c.FormValue("system")}
	head, err := c.FormFile("file")
	if err != nil || head.Size == 0 {
		m.Problem = w.ImportNoFile
		return s.showPlanImport(c, http.StatusUnprocessableEntity, m)
	}
	file, err := head.Open()
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	check := c.FormValue("do") == "check"
	report, err := s.plans.ImportCSV(c.Request().Context(), by, file, recurring.ImportOptions{SystemID: m.System, CheckOnly: check})
	var bad *recurring.FileError
	switch {
	case errors.As(err, &bad):
		m.Problem = sentence(text(bad.Error(), 500))
		return s.showPlanImport(c, http.StatusUnprocessableEntity, m)
	case err != nil:
		return planError(err)
	}
	m.Report = planReport(report, check)
	return s.showPlanImport(c, http.StatusOK, m)
}

func (s *server) showPlanImport(c echo.Context, status int, m templates.PlanImport) error {
	shell, systems, err := s.shell(c, templates.Plans.ImportTitle)
	if err != nil {
		return err
	}
	m.Shell, m.Columns = shell, strings.Join(recurring.Columns, ", ")
	for _, sys := range systems {
		m.Systems = append(m.Systems, templates.Choice{Value: sys.ID, Text: text(sys.Name, 100)})
	}
	return render(c, status, templates.PlanImportPage(m))
}

func planReport(r recurring.ImportReport, check bool) *templates.Report {
	w := templates.Plans.ImportCount
	code := "done"
	switch {
	case check:
		code = "checked"
	case r.New == 0:
		code = "done/none"
	}
	if len(r.Bad) > 0 {
		code += "/bad"
	}
	m := &templates.Report{Title: templates.Pick(w, code, strings.TrimSuffix(code, "/bad"))}
	for _, n := range []struct {
		code string
		n    int
	}{{"plans", r.Plans}, {"new", r.New}, {"known", r.Known}, {"twins", r.Waiting}, {"bad", len(r.Bad)}} {
		m.Counts = append(m.Counts, templates.Fact{Name: w[n.code], Value: thousands(int64(n.n))})
	}
	if len(r.Ignored) > 0 {
		m.Counts = append(m.Counts, templates.Fact{Name: w["ignored"], Value: text(strings.Join(r.Ignored, ", "), 300)})
	}
	for _, p := range r.Bad[:min(len(r.Bad), problemsOnPage)] {
		m.Problems = append(m.Problems, templates.RowProblem{Line: strconv.Itoa(p.Line), Key: text(p.Code, 100), Reason: sentence(text(p.Reason, 300))})
	}
	if rest := len(r.Bad) - problemsOnPage; rest > 0 {
		m.More = say(templates.Words.Fact["more"], "n", thousands(int64(rest)))
	}
	return m
}
