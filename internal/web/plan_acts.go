package web

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"onefold/internal/automation/recurring"
	"onefold/internal/work"
	"onefold/web/templates"
)

// planDone answers an act on a plan's page: what was not done is said on the page.
func (s *server) planDone(c echo.Context, err error, did string) error {
	var stale *recurring.Stale
	bad, isField := recurring.IsField(err)
	switch {
	case errors.As(err, &stale):
		return s.showPlan(c, http.StatusConflict, planSaid{notice: &templates.Notice{Say: templates.Say(templates.Plans.StaleAct, map[string]any{"who": staleBy(stale)})}})
	case errors.Is(err, recurring.ErrSamePerson):
		return s.showPlan(c, http.StatusUnprocessableEntity, planSaid{problem: templates.Plans.Says["own"]})
	case errors.Is(err, recurring.ErrNotWaiting):
		return s.showPlan(c, http.StatusConflict, planSaid{problem: templates.Plans.Problem["not_waiting"]})
	case isField && bad.Field == "end":
		return s.showPlan(c, http.StatusUnprocessableEntity, planSaid{endDay: c.FormValue("end"), endProblem: sentence(bad.Text)})
	case isField:
		return s.showPlan(c, http.StatusUnprocessableEntity, planSaid{problem: faultText(bad)})
	}
	id, idErr := pathID(c, "id")
	return backTo(c, errors.Join(planError(err), idErr), planPath(id)+"?did="+did)
}

func staleBy(e *recurring.Stale) string {
	return orText(text(e.Last.By.Name, 60), templates.Plans.Somebody)
}

func (s *server) pausePlan(c echo.Context) error {
	id, err := pathID(c, "id")
	if err == nil {
		_, err = s.plans.Pause(c.Request().Context(), person(c), id, formVersion(c), c.FormValue("note"))
	}
	return s.planDone(c, err, "paused")
}

func (s *server) resumePlan(c echo.Context) error {
	id, err := pathID(c, "id")
	if err == nil {
		_, err = s.plans.Resume(c.Request().Context(), person(c), id, formVersion(c))
	}
	return s.planDone(c, err, "resumed")
}

// endPlan sets the last day; an empty one takes the end back.
func (s *server) endPlan(c echo.Context) error {
	id, err := pathID(c, "id")
	if err != nil {
		return err
	}
	f := planForm{Values: c.Request().PostForm}
	last := f.day("end")
	if len(f.faults) > 0 {
		return s.planDone(c, f.faults[0], "")
	}
	_, err = s.plans.End(c.Request().Context(), person(c), id, formVersion(c), last, c.FormValue("note"))
	did := "ended"
	if last.IsZero() {
		did = "not_ended"
	}
	return s.planDone(c, err, did)
}

func (s *server) approvePlan(c echo.Context) error {
	id, err := pathID(c, "id")
	if err == nil {
		_, err = s.plans.ApproveTwin(c.Request().Context(), person(c), id, formVersion(c), c.FormValue("note"))
	}
	return s.planDone(c, err, "approved")
}

// runPlan records what is due. It makes nothing twice, however often it is pressed.
func (s *server) runPlan(c echo.Context) error {
	id, err := pathID(c, "id")
	if err != nil {
		return err
	}
	stats, err := s.plans.RunNow(c.Request().Context(), person(c), id)
	var off *work.SwitchedOff
	if errors.As(err, &off) {
		return s.showPlan(c, http.StatusConflict, planSaid{problem: say(templates.Plans.Problem["off"], "who", orText(text(off.Switch.OffBy.Name, 60), templates.Plans.Somebody))})
	}
	var unproven *recurring.Unproven
	if errors.As(err, &unproven) {
		return s.showPlan(c, http.StatusConflict, planSaid{problem: unprovenPlan(unproven.System)})
	}
	if err != nil {
		return planError(err)
	}
	if len(stats.Problems) > 0 {
		return s.showPlan(c, http.StatusConflict, planSaid{problem: say(templates.Plans.Did["run/problem"], "text", text(errors.Join(stats.Problems...).Error(), 500))})
	}
	did := url.Values{"did": {"run"}, "n": {strconv.Itoa(stats.Recorded)}}
	if stats.Asked > 0 {
		did.Set("did", "run_asks")
	}
	return c.Redirect(http.StatusSeeOther, planPath(id)+"?"+did.Encode())
}

// unprovenPlan says why a plan waits for its system to be proven.
func unprovenPlan(sys work.System) string {
	return say(templates.Plans.Problem["unproven"], "system", text(sys.Name, 60), "automations", templates.Automations.Nav)
}

// planDid says what the last act did.
func planDid(c echo.Context, d recurring.Detail, lead string) *templates.Notice {
	did, good := c.QueryParam("did"), true
	switch did {
	case "run":
		if n, err := strconv.Atoi(c.QueryParam("n")); err == nil && n >= 0 && n <= 1 {
			did += "/" + strconv.Itoa(n)
		}
	case "run_asks":
		good = false
	}
	pattern := templates.Plans.Did[did]
	if pattern == "" || strings.HasPrefix(did, "run/problem") {
		return nil
	}
	n, _ := strconv.Atoi(c.QueryParam("n"))
	return &templates.Notice{Good: good, Say: templates.Say(pattern, map[string]any{"n": strconv.Itoa(n), "says": lead, "end": longDay(d.End)})}
}
