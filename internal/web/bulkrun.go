package web

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/labstack/echo/v4"

	"onefold/internal/auth"
	"onefold/internal/review"
	"onefold/internal/work"
	"onefold/web/templates"
)

const runsOnPage = 30

// bulkRunsPage lists the runs, newest first.
func (s *server) bulkRunsPage(c echo.Context) error {
	ctx, w := c.Request().Context(), templates.BulkWords
	before, err := numberOr(c.QueryParam("before"), 0)
	if err != nil {
		return err
	}
	runs, err := s.bulk.Runs(ctx, person(c), before, runsOnPage+1)
	if err != nil {
		return err
	}
	shell, _, err := s.shell(c, w.Runs)
	if err != nil {
		return err
	}
	now, err := s.review.Now(ctx)
	if err != nil {
		return err
	}
	show := view{s.Zone, now}
	m := templates.BulkRuns{Shell: shell}
	if before > 0 {
		m.First = bulkPath
	}
	if len(runs) > runsOnPage {
		runs = runs[:runsOnPage]
		m.Next = bulkPath + "?before=" + strconv.FormatInt(runs[runsOnPage-1].ID, 10)
	}
	for _, r := range runs {
		m.Rows = append(m.Rows, templates.BulkRow{Href: bulkAddress(r.ID), Number: templates.Say(w.Number, map[string]any{"n": strconv.FormatInt(r.ID, 10)}).String(), Plan: w.Plan[string(r.Plan)], Badge: bulkBadge(r),
			By: text(r.By.Name, 60), Began: show.ago(r.BeganAt), Size: thousands(bulkView{run: r}.chosen()), Says: bulkSays(r)})
	}
	return render(c, http.StatusOK, templates.BulkRunsPage(m))
}

func numberOr(s string, other int64) (int64, error) {
	if s == "" {
		return other, nil
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 0 {
		return 0, echo.NewHTTPError(http.StatusBadRequest)
	}
	return n, nil
}

func bulkBadge(r review.BulkRun) templates.Badge {
	w, state := templates.BulkWords, string(r.State)
	return templates.Badge{Sign: w.StateSign[state], Tone: w.StateTone[state], Text: w.State[state]}
}

// bulkSays is how far a run is, in short: "Done 12, skipped 3".
func bulkSays(r review.BulkRun) string {
	var says string
	if r.Freezing != nil {
		return "" // its items are not all chosen yet
	}
	for _, class := range review.Classes {
		if n := r.Count(class); n > 0 {
			if says != "" {
				says += " · "
			}
			says += className(r, class) + " " + thousands(n)
		}
	}
	return says
}

// bulkClasses are the tabs over the results.
func bulkClasses(run review.BulkRun, here review.BulkClass, address func(review.BulkClass, int) string) []templates.BulkClass {
	w := templates.BulkWords
	all := []templates.BulkClass{{Link: templates.Link{Text: w.All, Href: address("", 0), Here: here == ""}, Count: thousands(run.Size)}}
	for _, k := range review.Classes {
		all = append(all, templates.BulkClass{Link: templates.Link{Text: className(run, k), Href: address(k, 0), Here: here == k},
			Count: thousands(run.Count(k)), Sign: w.ClassSign[string(k)], Tone: w.ClassTone[string(k)]})
	}
	return all
}

func className(r review.BulkRun, class review.BulkClass) string {
	w, code := templates.BulkWords, string(class)
	if r.State.Ended() {
		return templates.Pick(w.Class, code+"/ended", code)
	}
	return w.Class[code]
}

func (s *server) bulkRun(c echo.Context) (review.BulkRun, error) {
	id, err := strconv.ParseInt(c.Param("id"), 10, 64)
	if err != nil {
		return review.BulkRun{}, echo.ErrNotFound
	}
	run, err := s.bulk.Run(c.Request().Context(), person(c), id)
	if err == review.ErrNotFound { //nolint:errorlint // there is no such run, which is no invoice
		return run, echo.ErrNotFound
	}
	return run, err
}

// bulkPage shows one run and what came of its items.
func (s *server) bulkPage(c echo.Context) error {
	ctx, w := c.Request().Context(), templates.BulkWords
	run, err := s.bulkRun(c)
	if err != nil {
		return err
	}
	after, err := numberOr(c.QueryParam("after"), 0)
	class := review.BulkClass(c.QueryParam("show"))
	if err != nil || class != "" && !slices.Contains(review.Classes, class) {
		return echo.NewHTTPError(http.StatusBadRequest)
	}
	lines, err := s.bulk.Results(ctx, person(c), run, class, int(min(after, review.MaxBulk)), rowsOnPage+1)
	if err != nil {
		return err
	}
	id := strconv.FormatInt(run.ID, 10)
	plan := w.Plan[string(run.Plan)]
	shell, systems, err := s.shell(c, templates.Say(w.RunTitle, map[string]any{"n": id, "plan": plan}).String())
	if err != nil {
		return err
	}
	now, err := s.review.Now(ctx)
	if err != nil {
		return err
	}
	show := bulkView{view{s.Zone, now}, run, systemsByID(systems)}
	address := func(class review.BulkClass, after int) string {
		v := url.Values{}
		if class != "" {
			v.Set("show", string(class))
		}
		if after > 0 {
			v.Set("after", strconv.Itoa(after))
		}
		if len(v) == 0 {
			return bulkAddress(run.ID)
		}
		return bulkAddress(run.ID) + "?" + v.Encode()
	}
	m := templates.Bulk{Shell: shell, Version: strconv.FormatInt(run.Version, 10), Open: !run.State.Ended(), Title: shell.Title, Badge: bulkBadge(run), Say: show.says(),
		Note: text(run.Input.Note, review.MaxNote), List: run.List, Bar: show.bar(), Sums: show.sums(), Here: address(class, int(after)), RunsHref: bulkPath,
		Export: bulkAddress(run.ID) + "/results.csv", Nothing: w.NoResults}
	switch c.QueryParam("did") {
	case "start":
		if run.State == review.BulkAbandoned {
			break // nothing good to tell
		}
		m.Notice = &templates.Notice{Good: true, Say: templates.Say(w.Started, nil)}
		if !m.Open {
			m.Notice.Say = templates.Say(w.StartedEnded, nil)
		}
	case "stop":
		if m.Open {
			m.Notice = &templates.Notice{Good: true, Say: templates.Say(w.DidStop, nil)}
		}
	}
	if run.State == review.BulkRunning || run.State == review.BulkPreparing {
		m.Stop = bulkAddress(run.ID) + "/stop"
	}
	if run.Freezing == nil { // before that, they would count what is written down
		m.Classes = bulkClasses(run, class, address)
	}
	if after > 0 {
		m.First = address(class, 0)
	}
	if len(lines) > rowsOnPage {
		lines = lines[:rowsOnPage]
		m.Next = address(class, lines[rowsOnPage-1].N)
	}
	for _, l := range lines {
		m.Results = append(m.Results, show.result(l))
	}
	return render(c, http.StatusOK, templates.BulkPage(m))
}

func systemsByID(systems []review.SystemState) map[string]work.System {
	all := make(map[string]work.System, len(systems))
	for _, sys := range systems {
		all[sys.ID] = sys.System
	}
	return all
}

// bulkStop asks for the end of a run.
func (s *server) bulkStop(c echo.Context) error {
	run, err := s.bulkRun(c)
	if err != nil {
		return err
	}
	if err := s.bulk.Stop(c.Request().Context(), person(c), run.ID); err != nil {
		return err
	}
	if err := s.auditBulk(c, auth.DidStopBulk, run); err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, bulkAddress(run.ID)+"?did=stop")
}

var bulkHeadings = []string{"number", "key", "customer", "currency", "amount", "system", "result", "detail", "status_now", "external_number", "item"}

// bulkResults sends a run's results, one row for each item. That they were taken is on record.
func (s *server) bulkResults(c echo.Context) error {
	ctx, by := c.Request().Context(), person(c)
	run, err := s.bulkRun(c)
	if err != nil {
		return err
	}
	systems, err := s.systems.List(ctx, by)
	if err != nil {
		return err
	}
	now, err := s.review.Now(ctx)
	if err != nil {
		return err
	}
	show := bulkView{view{s.Zone, now}, run, systemsByID(systems)}
	if err := s.auditBulk(c, auth.DidExport, run); err != nil {
		return err
	}
	return s.sendCSV(c, "onefold-bulk-"+strconv.FormatInt(run.ID, 10), bulkHeadings, func(yield func([]string, error) bool) {
		s.eachResult(ctx, by, run, func(l review.BulkLine, err error) bool {
			if err != nil {
				return yield(nil, err)
			}
			return yield(show.line(l), nil)
		})
	})
}

// eachResult reads all results in slices.
func (s *server) eachResult(ctx context.Context, by work.Actor, run review.BulkRun, yield func(review.BulkLine, error) bool) {
	for after := 0; ; {
		lines, err := s.bulk.Results(ctx, by, run, "", after, 200)
		if err != nil {
			yield(review.BulkLine{}, err)
			return
		}
		for _, l := range lines {
			if !yield(l, nil) {
				return
			}
			after = l.N
		}
		if len(lines) == 0 {
			return
		}
	}
}
