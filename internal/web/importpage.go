package web

import (
	"errors"
	"iter"
	"maps"
	"mime/multipart"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"onefold/internal/auth"
	"onefold/internal/automation"
	"onefold/internal/review"
	"onefold/internal/work"
	"onefold/web/templates"
)

// invoicesAutomation is the automation of invoices that people or programs bring in one by one or by file.
const invoicesAutomation = "invoices"

const (
	importPath   = "/import"
	importsShown = 30

	problemsOnPage = 200
)

// importRoutes are the pages on which files are brought in.
func (s *server) importRoutes(r *router) {
	r.page(get, importPath, doers, s.importsPage)
	r.add(post, importPath, doers, fileBounds, s.importUpload)
	r.page(get, importPath+"/:id", doers, s.importPage)
	r.page(post, importPath+"/:id/read", doers, s.importRead)
	r.page(post, importPath+"/:id/start", doers, s.importStart)
	r.page(post, importPath+"/:id/hold", doers, s.importHold)
	r.page(post, importPath+"/:id/remove", doers, s.importRemove)
	r.page(get, importPath+"/:id/*", doers, func(c echo.Context) error { // the address of a form that was not honoured, opened again
		return c.Redirect(http.StatusSeeOther, importPath+"/"+url.PathEscape(c.Param("id")))
	})
	r.add(get, importPath+"/:id/results.csv", doers, bounds{importTime, formSize}, ownLinks(importPath, s.importResults))
}

func importAddress(id int64) string { return importPath + "/" + strconv.FormatInt(id, 10) }

// importError is what a page answers to an error of the imports.
func importError(err error) error {
	switch {
	case errors.Is(err, automation.ErrImportForbidden):
		return review.ErrForbidden
	case errors.Is(err, automation.ErrImportUnknown):
		return echo.ErrNotFound
	}
	return err
}

func (s *server) importsPage(c echo.Context) error {
	return s.showImports(c, http.StatusOK, c.QueryParam("system"), "")
}

func (s *server) showImports(c echo.Context, status int, system, problem string) error {
	before, err := numberOr(c.QueryParam("before"), 0)
	if err != nil {
		return err
	}
	list, err := s.imports.List(c.Request().Context(), person(c), before, importsShown+1)
	if err != nil {
		return importError(err)
	}
	shell, systems, err := s.shell(c, templates.Imports.Title)
	if err != nil {
		return err
	}
	now, err := s.review.Now(c.Request().Context())
	if err != nil {
		return err
	}
	m := templates.ImportList{Shell: shell, System: system, Problem: problem}
	names := map[string]string{}
	for _, sys := range systems {
		names[sys.ID] = text(sys.Name, 100)
		m.Systems = append(m.Systems, templates.Choice{Value: sys.ID, Text: text(sys.Name, 100)})
	}
	if before > 0 {
		m.First = importPath
	}
	if len(list) > importsShown {
		list = list[:importsShown]
		m.Next = importPath + "?before=" + strconv.FormatInt(list[importsShown-1].ID, 10)
	}
	for _, i := range list {
		m.Rows = append(m.Rows, importView{view: view{s.Zone, now}, item: i, system: names[i.SystemID]}.entry())
	}
	return render(c, status, templates.ImportsPage(m))
}

// importUpload takes a file in. Nothing of it is recorded before somebody has seen what is in it.
func (s *server) importUpload(c echo.Context) error {
	ctx, by := c.Request().Context(), person(c)
	if !review.MayRecord(by) {
		return review.ErrForbidden
	}
	system := c.FormValue("system")
	head, err := c.FormFile("file")
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return err
	case err != nil || head.Size == 0:
		return s.showImports(c, http.StatusUnprocessableEntity, system, templates.Imports.NoFile)
	}
	file, err := head.Open()
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	i, isNew, err := s.imports.Upload(ctx, by, system, invoicesAutomation, fileName(head), file)
	var problem *automation.FileError
	switch {
	case errors.As(err, &problem):
		return s.showImports(c, http.StatusUnprocessableEntity, system, sentence(problem.Error()))
	case err != nil:
		return importError(err)
	}
	at := importAddress(i.ID)
	if !isNew {
		at += "?did=same"
		if i.State == automation.ImportReady { // what was shown may be old
			if again, err := s.imports.Read(ctx, by, i.ID, i.Version, i.Asked); err == nil {
				i = again
			} else if !errors.Is(err, automation.ErrImportChanged) {
				return importError(err)
			}
		}
	}
	if err := s.checkNow(c, i); err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, at)
}

func fileName(head *multipart.FileHeader) string {
	return text(filepath.Base(strings.ReplaceAll(head.Filename, `\`, "/")), 200)
}

// checkNow checks a small file before the page is shown.
func (s *server) checkNow(c echo.Context, i automation.Import) error {
	id, _ := c.Get(requestIDKey).(string)
	return s.imports.CheckNow(c.Request().Context(), i, "page:"+id)
}

// importID is the import in the address.
func importID(c echo.Context) (int64, error) {
	id, err := strconv.ParseInt(c.Param("id"), 10, 64)
	if err != nil || id < 1 {
		return 0, echo.ErrNotFound
	}
	return id, nil
}

func (s *server) importPage(c echo.Context) error {
	var notice *templates.Notice
	switch c.QueryParam("did") {
	case "same":
		notice = &templates.Notice{Good: true, Say: templates.Say(templates.Imports.Same, nil)}
	case "start":
		notice = &templates.Notice{Good: true, Say: templates.Say(templates.Imports.Begun, nil)}
	case "hold":
		notice = &templates.Notice{Good: true, Say: templates.Say(templates.Imports.HoldBegun, nil)}
	}
	return s.showImport(c, http.StatusOK, notice, importTyped{})
}

// importTyped is what somebody sent that was not taken.
type importTyped struct {
	note, problem string
	notAgreed     bool // it was to begin on a system that was never proven
}

const importRows = 100 // on a page

func (s *server) showImport(c echo.Context, status int, notice *templates.Notice, typed importTyped) error {
	id, err := importID(c)
	if err != nil {
		return err
	}
	ctx, by := c.Request().Context(), person(c)
	i, err := s.imports.Import(ctx, by, id)
	if err != nil {
		return importError(err)
	}
	shell, systems, err := s.shell(c, text(i.Name, 80))
	if err != nil {
		return err
	}
	now, err := s.review.Now(ctx)
	if err != nil {
		return err
	}
	shell.Notice = notice
	if notice != nil && c.QueryParam("did") == "start" && i.State == automation.ImportDone {
		notice.Say = templates.Say(templates.Imports.Ended, nil)
	}
	v := importView{view: view{s.Zone, now}, item: i, typed: typed}
	for _, sys := range systems {
		if sys.ID == i.SystemID {
			v.system = text(sys.Name, 100)
		}
	}
	after, err := numberOr(c.QueryParam("after"), 0)
	outcome := automation.ImportOutcome(c.QueryParam("show"))
	if err != nil || outcome != "" && !slices.Contains(automation.ImportOutcomes, outcome) {
		return echo.NewHTTPError(http.StatusBadRequest)
	}
	var rows []automation.ImportRow
	if v.hasRows() {
		q := automation.ImportRowQuery{Outcome: outcome, After: int(min(after, 1<<30)), Limit: importRows + 1}
		if rows, err = s.imports.Rows(ctx, by, id, q); err != nil {
			return importError(err)
		}
	}
	m := v.page(outcome, rows, int(min(after, 1<<30)))
	m.Shell = shell
	if m.Import != "" {
		if err := s.askImport(c, i, v, &m); err != nil {
			return err
		}
	}
	return render(c, status, templates.ImportView(m))
}

// importDone answers a form: what was not done is said on the page.
func (s *server) importDone(c echo.Context, id int64, err error, did string) error {
	switch {
	case errors.Is(err, automation.ErrImportChanged):
		return s.showImport(c, http.StatusConflict, &templates.Notice{Say: templates.Say(templates.Imports.Changed, nil)}, importTyped{})
	case err != nil:
		return importError(err)
	}
	if did != "" {
		did = "?did=" + did
	}
	return c.Redirect(http.StatusSeeOther, importAddress(id)+did)
}

func (s *server) importRead(c echo.Context) error {
	id, err := importID(c)
	if err != nil {
		return err
	}
	ctx, by := c.Request().Context(), person(c)
	before, err := s.imports.Import(ctx, by, id)
	if err != nil {
		return importError(err)
	}
	i, err := s.imports.Read(ctx, by, id, formVersion(c), importSettings(c, before))
	if err == nil {
		err = s.checkNow(c, i)
	}
	return s.importDone(c, id, err, "")
}

// importSettings reads how a file is to be read. Columns count as chosen only if they are not those that were shown, and
// not if the headings they were chosen from are others now.
func importSettings(c echo.Context, before automation.Import) automation.ImportSettings {
	w, cell := templates.Imports, func(field string) string { return strings.TrimSpace(c.FormValue(field)) }
	s := automation.ImportSettings{Encoding: known(cell("encoding"), w.Code), Decimal: known(cell("decimal"), w.Point), DateOrder: automation.DateOrder(known(cell("date_order"), w.Order)),
		Delimiter: strings.Replace(known(cell("delimiter"), w.Separator), "tab", "\t", 1)}
	if slices.Contains(before.Found.Sheets, cell("sheet")) {
		s.Sheet = cell("sheet")
	}
	if n, err := strconv.Atoi(cell("heading")); err == nil && n > 0 && n < 1_000_000 && (n != before.Found.Format.Heading || before.Asked.Heading != 0) {
		s.Heading = n
	}
	chosen := map[string]int{}
	for _, name := range automation.ColumnNames() {
		if n, err := strconv.Atoi(c.FormValue("column_" + name)); err == nil && n > 0 && n <= len(before.Found.Headings) {
			chosen[name] = n
		}
	}
	asked := before.Asked
	switch {
	case s.Encoding != asked.Encoding || s.Delimiter != asked.Delimiter || s.Sheet != asked.Sheet || s.Heading != asked.Heading:
	case before.Problem != "" || !maps.Equal(chosen, before.Found.Columns):
		s.Columns = chosen
	default:
		s.Columns = asked.Columns
	}
	return s
}

func (s *server) importStart(c echo.Context) error {
	id, err := importID(c)
	if err != nil {
		return err
	}
	ctx, by := c.Request().Context(), person(c)
	before, err := s.imports.Import(ctx, by, id)
	if err != nil {
		return importError(err)
	}
	if before.State == automation.ImportReady {
		if err := s.agreed(c, before.Automation); err != nil {
			return err
		}
	}
	i, err := s.imports.Start(ctx, by, id, formVersion(c))
	var unproven *automation.Unproven
	if errors.As(err, &unproven) {
		return s.showImport(c, http.StatusUnprocessableEntity, nil, importTyped{notAgreed: true})
	}
	if errors.Is(err, automation.ErrImportChanged) {
		// The same form sent twice has one effect and the same answer.
		if i, err := s.imports.Import(ctx, by, id); err == nil && i.BegunBy.Same(by) {
			return c.Redirect(http.StatusSeeOther, importAddress(id)+"?did=start")
		}
	}
	if err == nil {
		err = s.auditImport(c, auth.DidStartImport, i)
	}
	return s.importDone(c, id, err, "start")
}

func (s *server) importHold(c echo.Context) error {
	id, err := importID(c)
	if err != nil {
		return err
	}
	note := c.FormValue("note")
	if len([]rune(note)) > review.MaxNote {
		return s.showImport(c, http.StatusUnprocessableEntity, nil, importTyped{note: note, problem: templates.Imports.Refusal["too_long"]})
	}
	i, err := s.imports.Hold(c.Request().Context(), person(c), id, note)
	var refusal *work.Refusal
	if errors.As(err, &refusal) {
		return s.showImport(c, http.StatusUnprocessableEntity, nil, importTyped{note: note, problem: templates.Pick(templates.Imports.Refusal, string(refusal.Code), "note")})
	}
	if errors.Is(err, automation.ErrImportChanged) {
		return s.showImport(c, http.StatusConflict, &templates.Notice{Say: templates.Say(templates.Imports.Changed, nil)}, importTyped{note: note})
	}
	if err == nil {
		err = s.auditImport(c, auth.DidHoldImport, i)
	}
	return s.importDone(c, id, err, "hold")
}

func (s *server) importRemove(c echo.Context) error {
	id, err := importID(c)
	if err != nil {
		return err
	}
	if err := s.imports.Remove(c.Request().Context(), person(c), id, formVersion(c)); err != nil {
		return s.importDone(c, id, err, "")
	}
	return c.Redirect(http.StatusSeeOther, importPath)
}

// auditImport puts on record what somebody did with a whole file.
func (s *server) auditImport(c echo.Context, what string, i automation.Import) error {
	return s.Auth.Audit(c.Request().Context(), auth.Entry{CompanyID: s.CompanyID, By: person(c), From: origin(c), What: what,
		Object: automation.SourceOfImport(i.ID), Note: text(i.Name, 200)})
}

var importHeadings = []string{"line", "key", "customer", "currency", "amount", "result", "detail"}

// importResults sends every row with what came of it. That it was taken is on record.
func (s *server) importResults(c echo.Context) error {
	id, err := importID(c)
	if err != nil {
		return err
	}
	ctx, by := c.Request().Context(), person(c)
	i, err := s.imports.Import(ctx, by, id)
	if err != nil {
		return importError(err)
	}
	if err := s.auditImport(c, auth.DidExport, i); err != nil {
		return err
	}
	v := importView{item: i}
	rows := iter.Seq2[[]string, error](func(yield func([]string, error) bool) {
		for after := 0; ; {
			list, err := s.imports.Rows(ctx, by, id, automation.ImportRowQuery{After: after, Limit: 1000})
			if err != nil {
				yield(nil, err)
				return
			}
			for _, r := range list {
				if !yield(v.cells(r), nil) {
					return
				}
				after = r.N
			}
			if len(list) == 0 {
				return
			}
		}
	})
	return s.sendCSV(c, "onefold-import-"+strconv.FormatInt(id, 10), importHeadings, rows)
}

// onlySystem is the accounting system to use when none is named: the one there is.
func onlySystem(systems []work.System) string {
	if len(systems) == 1 {
		return systems[0].ID
	}
	return ""
}
