package web

import (
	"errors"
	"io"
	"iter"
	"net/http"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"onefold/internal/automation"
	"onefold/internal/review"
	"onefold/internal/work"
	"onefold/web/templates"
)

const (
	reportsPath = "/reports"
	reportLines = 100 // on a page
)

// reportRoutes are the pages on which an accounting system's own export is compared with what we know.
func (s *server) reportRoutes(r *router) {
	r.page(get, reportsPath, doers, s.reportsPage)
	r.add(post, reportsPath, doers, bounds{importTime, automation.MaxReport + 1<<20}, s.reportUpload)
	r.page(get, reportsPath+"/:id", doers, s.reportPage)
	r.page(post, reportsPath+"/:id/compare", doers, s.reportCompare)
	r.page(post, reportsPath+"/:id/apply", doers, s.reportApply)
	r.page(post, reportsPath+"/:id/remove", doers, s.reportRemove)
	r.page(get, reportsPath+"/:id/*", doers, func(c echo.Context) error { // the address of a form that was not honoured, opened again
		return c.Redirect(http.StatusSeeOther, reportsPath+"/"+url.PathEscape(c.Param("id")))
	})
	r.add(get, reportsPath+"/:id/results.csv", doers, bounds{importTime, formSize}, ownLinks(reportsPath, s.reportResults))
}

func (s *server) reportsPage(c echo.Context) error {
	return s.showReports(c, http.StatusOK, c.QueryParam("system"), "")
}

func (s *server) showReports(c echo.Context, status int, system, problem string) error {
	shell, systems, err := s.shell(c, templates.Reports.Title)
	if err != nil {
		return err
	}
	all, err := s.reports.List(c.Request().Context(), person(c), "")
	if err != nil {
		return err
	}
	now, err := s.review.Now(c.Request().Context())
	if err != nil {
		return err
	}
	m := templates.ReportsList{Shell: shell, System: system, Problem: problem}
	names := map[string]string{}
	for _, sys := range systems {
		names[sys.ID] = text(sys.Name, 100)
		if m.System == "" && !sys.ReliedOn().Searchable {
			m.System = sys.ID
		}
		m.Systems = append(m.Systems, templates.Choice{Value: sys.ID, Text: text(sys.Name, 100)})
	}
	show := view{s.Zone, now}
	for _, r := range all {
		e := templates.ReportEntry{Href: reportPath(r.ID), Name: text(orText(r.Name, templates.Reports.FileName), 100), System: names[r.SystemID], By: text(name(r.By), 60),
			At: show.ago(r.At), Badge: reportBadge(r)}
		m.Rows = append(m.Rows, e)
	}
	return render(c, status, templates.ReportsPage(m))
}

func reportPath(id int64) string { return reportsPath + "/" + strconv.FormatInt(id, 10) }

func reportBadge(r review.Report) templates.Badge {
	b := templates.Badge{Sign: "○", Tone: "wait", Text: templates.Reports.State[string(r.State)]}
	switch r.State {
	case review.ReportApplying:
		b.Sign, b.Tone = "…", "busy"
	case review.ReportApplied:
		b.Sign, b.Tone = "✓", "good"
	case review.ReportOpen, review.ReportRemoved:
	}
	return b
}

func (s *server) reportUpload(c echo.Context) error {
	if !review.MayReport(person(c)) {
		return review.ErrForbidden
	}
	system := c.FormValue("system")
	head, err := c.FormFile("file")
	if err != nil || head.Size == 0 {
		return s.showReports(c, http.StatusUnprocessableEntity, system, templates.Reports.NoFile)
	}
	file, err := head.Open()
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	content, err := io.ReadAll(io.LimitReader(file, automation.MaxReport+1))
	if err != nil {
		return err
	}
	if len(content) > automation.MaxReport {
		return echo.NewHTTPError(http.StatusRequestEntityTooLarge)
	}
	r, err := s.reports.Upload(c.Request().Context(), person(c), system, text(filepath.Base(strings.ReplaceAll(head.Filename, `\`, "/")), 200), content)
	if err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, reportPath(r.ID))
}

// reportID is the report in the address.
func reportID(c echo.Context) (int64, error) {
	id, err := strconv.ParseInt(c.Param("id"), 10, 64)
	if err != nil || id < 1 {
		return 0, echo.ErrNotFound
	}
	return id, nil
}

func (s *server) reportPage(c echo.Context) error {
	return s.showReport(c, http.StatusOK, nil, "", nil)
}

// showReport shows a report; typed is what somebody said about it that was not taken, and why.
func (s *server) showReport(c echo.Context, status int, typed *review.ReportInput, problem string, notice *templates.Notice) error {
	id, err := reportID(c)
	if err != nil {
		return err
	}
	ctx, by := c.Request().Context(), person(c)
	r, err := s.reports.Report(ctx, by, id)
	if errors.Is(err, review.ErrNotFound) {
		return echo.ErrNotFound
	}
	if err != nil {
		return err
	}
	shell, systems, err := s.shell(c, text(r.Name, 80))
	if err != nil {
		return err
	}
	shell.Notice = notice
	now, err := s.review.Now(ctx)
	if err != nil {
		return err
	}
	p := reportView{view: view{s.Zone, now}, report: r, typed: typed, problem: problem}
	for _, sys := range systems {
		if sys.ID == r.SystemID {
			p.system = text(sys.Name, 100)
		}
	}
	if p.results, err = s.reports.Results(ctx, by, id); err != nil {
		return err
	}
	number, _ := strconv.ParseInt(c.QueryParam("after"), 10, 32) // one that is too large is the largest
	after, kind := max(int(number), 0), p.kind(review.LineKind(c.QueryParam("show")))
	lines, err := s.reports.Lines(ctx, by, id, kind, after, reportLines+1)
	if err != nil {
		return err
	}
	m := p.page(kind, lines, after)
	m.Shell = shell
	return render(c, status, templates.ReportView(m))
}

func (s *server) reportCompare(c echo.Context) error {
	id, err := reportID(c)
	if err != nil {
		return err
	}
	in, wrong := s.reportInput(c)
	if wrong != "" {
		return s.showReport(c, http.StatusUnprocessableEntity, &in, templates.Reports.Refusal[wrong], nil)
	}
	_, err = s.reports.Compare(c.Request().Context(), person(c), id, formVersion(c), in)
	var refusal *work.Refusal
	if errors.As(err, &refusal) {
		return s.showReport(c, http.StatusUnprocessableEntity, &in, templates.Pick(templates.Reports.Refusal, string(refusal.Code)), nil)
	}
	return s.reportDone(c, id, err, &in)
}

func formVersion(c echo.Context) int64 {
	version, _ := strconv.ParseInt(c.FormValue("version"), 10, 64)
	return version
}

// reportDone answers a form: what was not done is said on the page, with what was typed still there.
func (s *server) reportDone(c echo.Context, id int64, err error, typed *review.ReportInput) error {
	switch {
	case errors.Is(err, review.ErrReportChanged):
		return s.showReport(c, http.StatusConflict, typed, "", &templates.Notice{Say: templates.Say(templates.Reports.Changed, nil)})
	case errors.Is(err, review.ErrReportNotReady):
		return s.showReport(c, http.StatusUnprocessableEntity, typed, "", &templates.Notice{Say: templates.Say(templates.Reports.Refusal["not_ready"], nil)})
	case errors.Is(err, review.ErrNotFound):
		return echo.ErrNotFound
	case err != nil:
		return err
	}
	return c.Redirect(http.StatusSeeOther, reportPath(id))
}

const wallTime = "2006-01-02T15:04"

// reportInput reads what somebody says about a report; wrong is the code of what cannot be right.
func (s *server) reportInput(c echo.Context) (in review.ReportInput, wrong string) {
	cell := func(field string) string { return strings.TrimSpace(c.FormValue(field)) }
	form, _ := c.FormParams()
	in = review.ReportInput{From: cell("from"), To: cell("to"), Everything: cell("everything") == "yes", Settings: work.ReportSettings{
		Reference: cell("reference"), Number: cell("number"), Customer: cell("customer"), Amount: cell("amount"), Currency: cell("currency"),
		Status: cell("status"), Date: cell("date"), Code: cell("code"), Void: form["void"], Chosen: true,
		Delimiter: c.FormValue("delimiter"), Decimal: known(cell("decimal"), templates.Reports.Point), DateOrder: known(cell("date_order"), templates.Reports.Order)}}
	made := cell("made")
	if made == "" {
		return in, ""
	}
	for _, layout := range []string{wallTime, wallTime + ":05", "2006-01-02 15:04"} {
		if t, ok := wallClock(layout, made, s.Zone); ok {
			in.Made = t
			return in, ""
		}
	}
	return in, "made"
}

func known(value string, of map[string]string) string {
	if _, ok := of[value]; !ok {
		return ""
	}
	return value
}

// wallClock reads a time of the zone. One that the clock shows twice is the earlier one: a report is not taken for younger
// than it is. One that the clock never shows is none.
func wallClock(layout, value string, zone *time.Location) (time.Time, bool) {
	t, err := time.ParseInLocation(layout, value, zone)
	if err != nil || t.Format(layout) != value {
		return time.Time{}, false
	}
	for _, back := range []time.Duration{2 * time.Hour, time.Hour, 30 * time.Minute} {
		if earlier := t.Add(-back); earlier.Format(layout) == value {
			return earlier.UTC(), true
		}
	}
	return t.UTC(), true
}

func (s *server) reportApply(c echo.Context) error {
	id, err := reportID(c)
	if err != nil {
		return err
	}
	return s.reportDone(c, id, s.reports.Apply(c.Request().Context(), person(c), id, formVersion(c)), nil)
}

func (s *server) reportRemove(c echo.Context) error {
	id, err := reportID(c)
	if err != nil {
		return err
	}
	if err := s.reports.Remove(c.Request().Context(), person(c), id, formVersion(c)); err != nil {
		return s.reportDone(c, id, err, nil)
	}
	return c.Redirect(http.StatusSeeOther, reportsPath)
}

var reportHeadings = []string{"shows", "key", "customer", "currency", "amount", "report_number", "report_amount", "rows", "remark", "reason", "result"}

// reportResults sends every line with what came of it.
func (s *server) reportResults(c echo.Context) error {
	id, err := reportID(c)
	if err != nil {
		return err
	}
	ctx, by := c.Request().Context(), person(c)
	r, err := s.reports.Report(ctx, by, id)
	if errors.Is(err, review.ErrNotFound) {
		return echo.ErrNotFound
	}
	if err != nil {
		return err
	}
	now, err := s.review.Now(ctx)
	if err != nil {
		return err
	}
	p := reportView{view: view{s.Zone, now}, report: r}
	rows := iter.Seq2[[]string, error](func(yield func([]string, error) bool) {
		for after := 0; ; {
			lines, err := s.reports.Lines(ctx, by, id, "", after, 500)
			if err != nil {
				yield(nil, err)
				return
			}
			for _, l := range lines {
				if !yield(p.cells(l), nil) {
					return
				}
				after = l.Number
			}
			if len(lines) == 0 {
				return
			}
		}
	})
	return s.sendCSV(c, "onefold-report-"+strconv.FormatInt(id, 10), reportHeadings, rows)
}
