package web

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"onefold/internal/automation/recurring"
	"onefold/internal/review"
	"onefold/internal/work"
	"onefold/web/static"
	"onefold/web/templates"
)

// plansService is what the pages about recurring invoices need: recurring.Plans.
type plansService interface {
	List(ctx context.Context, by work.Actor, q recurring.ListQuery) (recurring.ListPage, error)
	Get(ctx context.Context, by work.Actor, id int64) (recurring.Detail, error)
	Today(ctx context.Context) (time.Time, error)
	Check(ctx context.Context, p recurring.Plan) (recurring.Plan, []*recurring.FieldError)
	Create(ctx context.Context, by work.Actor, p recurring.Plan) (recurring.Plan, error)
	Change(ctx context.Context, by work.Actor, id, version int64, c recurring.Change) (recurring.Plan, error)
	Pause(ctx context.Context, by work.Actor, id, version int64, note string) (recurring.Plan, error)
	Resume(ctx context.Context, by work.Actor, id, version int64) (recurring.Plan, error)
	End(ctx context.Context, by work.Actor, id, version int64, last time.Time, note string) (recurring.Plan, error)
	ApproveTwin(ctx context.Context, by work.Actor, id, version int64, note string) (recurring.Plan, error)
	AgreeCatchUp(ctx context.Context, by work.Actor, id, version int64, upTo time.Time) (recurring.Plan, error)
	LeaveOut(ctx context.Context, by work.Actor, id, version int64, upTo time.Time, note string) (recurring.Plan, error)
	RunNow(ctx context.Context, by work.Actor, id int64) (recurring.Stats, error)
	Preview(ctx context.Context, by work.Actor, month string) (recurring.Month, error)
	ImportCSV(ctx context.Context, by work.Actor, r io.Reader, o recurring.ImportOptions) (recurring.ImportReport, error)
	ExportCSV(ctx context.Context, by work.Actor, w io.Writer) error
}

const (
	plansPath   = "/plans"
	plansOnPage = 50
)

// planRoutes are the pages about recurring invoices.
func (s *server) planRoutes(r *router) {
	r.page(get, plansPath, readers, s.plansPage)
	r.page(get, plansPath+"/new", admins, s.newPlanPage)
	r.page(post, plansPath+"/new", admins, s.newPlan)
	r.page(get, plansPath+"/month", readers, s.planMonthPage)
	r.page(get, plansPath+"/import", admins, s.planImportPage)
	r.add(post, plansPath+"/import", admins, bounds{importTime, planFileSize}, s.planImport)
	r.add(get, plansPath+"/export.csv", readers, bounds{importTime, formSize}, ownLinks(plansPath, s.planExport))
	r.page(get, plansPath+"/:id", readers, s.planPage)
	r.page(get, plansPath+"/:id/change", admins, s.changePlanPage)
	r.page(post, plansPath+"/:id/change", admins, s.changePlan)
	r.page(get, plansPath+"/:id/catch-up", readers, s.catchUpPage)
	r.page(post, plansPath+"/:id/catch-up", admins, s.catchUp)
	r.page(post, plansPath+"/:id/run", admins, s.runPlan)
	r.page(post, plansPath+"/:id/pause", admins, s.pausePlan)
	r.page(post, plansPath+"/:id/resume", admins, s.resumePlan)
	r.page(post, plansPath+"/:id/end", admins, s.endPlan)
	r.page(post, plansPath+"/:id/approve", admins, s.approvePlan)
	r.page(get, plansPath+"/:id/*", readers, func(c echo.Context) error { // the address of a form that was not honoured, opened again
		return c.Redirect(http.StatusSeeOther, plansPath+"/"+url.PathEscape(c.Param("id")))
	})
}

func planPath(id int64) string { return plansPath + "/" + strconv.FormatInt(id, 10) }

// planError turns the service's refusals into those that pages answer.
func planError(err error) error {
	switch {
	case errors.Is(err, recurring.ErrForbidden):
		return review.ErrForbidden
	case errors.Is(err, recurring.ErrNotFound):
		return echo.ErrNotFound
	}
	return err
}

// planShell is the shell of these pages, with their script.
func (s *server) planShell(c echo.Context, title string) (templates.Shell, []review.SystemState, error) {
	shell, systems, err := s.shell(c, title)
	shell.Scripts = append(shell.Scripts, "/static/"+static.Address("plans.js"))
	return shell, systems, err
}

// plansPage lists the plans.
func (s *server) plansPage(c echo.Context) error {
	by, q := person(c), recurring.ListQuery{Text: text(c.QueryParam("q"), 200), State: recurring.State(c.QueryParam("state")), After: c.QueryParam("after"), Limit: plansOnPage}
	if q.State != "" && templates.Plans.StateName[string(q.State)] == "" {
		q.State = ""
	}
	shell, _, err := s.shell(c, templates.Plans.Title)
	if err != nil {
		return err
	}
	page, err := s.plans.List(c.Request().Context(), by, q)
	if err != nil {
		return planError(err)
	}
	m := templates.PlansList{Shell: shell, Query: q.Text, State: string(q.State), MayChange: recurring.MayChange(by), Filtered: q.Text != "" || q.State != ""}
	address := func(state, after string) string {
		v := url.Values{}
		for name, value := range map[string]string{"q": q.Text, "state": state, "after": after} {
			if value != "" {
				v.Set(name, value)
			}
		}
		if len(v) == 0 {
			return plansPath
		}
		return plansPath + "?" + v.Encode()
	}
	all := int64(0)
	for _, n := range page.Counts {
		all += n
	}
	m.States = []templates.Tab{{Link: templates.Link{Text: templates.Plans.All, Href: address("", ""), Here: q.State == ""}, Count: thousands(all)}}
	for _, st := range []recurring.State{recurring.Active, recurring.Waiting, recurring.Paused, recurring.Ended} {
		if n := page.Counts[st]; n > 0 || q.State == st {
			m.States = append(m.States, templates.Tab{Link: templates.Link{Text: templates.Plans.StateName[string(st)], Href: address(string(st), ""), Here: q.State == st}, Count: thousands(n)})
		}
	}
	for _, p := range page.Plans {
		m.Rows = append(m.Rows, planRow(p, page.Today))
	}
	if q.After != "" {
		m.First = address(string(q.State), "")
	}
	if page.Next != "" {
		m.More = address(string(q.State), page.Next)
	}
	return render(c, http.StatusOK, templates.PlansPage(m))
}

func planRow(p recurring.Listed, today time.Time) templates.PlanRow {
	r := templates.PlanRow{Href: planPath(p.ID), Code: text(p.Code, 80), Customer: text(orText(p.CustomerName, p.CustomerID), 120), CustomerID: text(p.CustomerID, 60),
		Currency: p.Currency, Badge: planBadge(p.Plan)}
	at := p.CoveredTo
	if p.Upcoming != nil {
		at = p.Upcoming.From
		r.Next, r.NextIn = date(p.Upcoming.From), templates.Plans.Away(daysBetween(today, p.Upcoming.From))
		r.Amount = amountNumber(p.Upcoming.Total)
	}
	term := termAt(p.Plan, at)
	r.Cadence = cadence(term.Schedule, term.From)
	if total, err := p.Total(term); r.Amount == "" && err == nil {
		r.Amount = amountNumber(total)
	}
	if p.Last != nil {
		r.Last = date(p.Last.From)
		if p.Last.Late {
			r.LastNote = templates.Plans.Late
		}
		if p.Last.LeftOut {
			r.LastNote = templates.Plans.LeftOut
		}
	}
	return r
}

// planBadge is the state in words.
func planBadge(p recurring.Plan) templates.Badge {
	b := templates.Badge{Sign: "✓", Tone: "good"}
	code := string(p.Shown())
	switch p.Shown() {
	case recurring.Paused:
		b.Sign, b.Tone = "‖", "wait"
	case recurring.Ended:
		b.Sign, b.Tone = "×", "quiet"
	case recurring.Waiting:
		b.Sign, b.Tone, code = "!", "ask", string(p.Why)
	case recurring.Active:
	}
	b.Text = templates.Pick(templates.Plans.StateName, code, string(p.Shown()))
	return b
}

// termAt is what the plan says on a day; before its start, what it begins with.
func termAt(p recurring.Plan, day time.Time) recurring.Term {
	t := p.Terms[0]
	for _, next := range p.Terms[1:] {
		if !next.From.After(day) {
			t = next
		}
	}
	return t
}
