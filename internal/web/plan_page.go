package web

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"onefold/internal/automation/recurring"
	"onefold/internal/work"
	"onefold/web/templates"
)

// planPage shows one plan.
func (s *server) planPage(c echo.Context) error { return s.showPlan(c, http.StatusOK, planSaid{}) }

// planSaid is what an act on the plan's page came to, if it did not lead back to it.
type planSaid struct {
	problem, endDay, endProblem string
	notice                      *templates.Notice
}

func (s *server) showPlan(c echo.Context, status int, said planSaid) error {
	ctx, by, w := c.Request().Context(), person(c), templates.Plans
	id, err := pathID(c, "id")
	if err != nil {
		return err
	}
	d, err := s.plans.Get(ctx, by, id)
	if err != nil {
		return planError(err)
	}
	shell, systems, err := s.shell(c, text(d.Code, 80))
	if err != nil {
		return err
	}
	now, err := s.review.Now(ctx)
	if err != nil {
		return err
	}
	show := view{s.Zone, now}
	system := d.SystemID
	for _, sys := range systems {
		if sys.ID == d.SystemID {
			system = sys.Name
		}
	}
	next, err := d.Upcoming(d.CoveredTo, runsShown)
	if err != nil {
		return err
	}
	term := termAt(d.Plan, d.CoveredTo)
	if len(next) > 0 {
		term = termAt(d.Plan, next[0].From)
	}
	m := templates.PlanPage{Shell: shell, Code: text(d.Code, 80), Customer: text(orText(d.CustomerName, d.CustomerID), 200), Badge: planBadge(d.Plan), Cadence: cadence(term.Schedule, term.From),
		Path: planPath(id), Version: strconv.FormatInt(d.Version, 10), Problem: said.problem, AllHref: "/?tab=all&q=" + d.Code}
	if total, err := d.Total(term); err == nil {
		m.Amount = amount(total)
	}
	lead := planLead(d)
	m.Lead, m.LeadTone = lead, planBadge(d.Plan).Tone
	if m.Notice = said.notice; m.Notice == nil && said.problem == "" {
		m.Notice = planDid(c, d, lead)
	}
	if d.Shown() == recurring.Active {
		never, err := s.Store.NeverProven(ctx, s.CompanyID, recurring.Automation)
		if err != nil {
			return err
		}
		for _, sys := range never {
			if sys.ID == d.SystemID {
				m.Lead, m.LeadTone = unprovenPlan(sys), "ask"
			}
		}
	}
	for _, o := range d.Twins {
		m.Twins = append(m.Twins, templates.Link{Text: text(o.Code, 80), Href: planPath(o.ID)})
	}
	m.Calendar = templates.PlanPreview{Runs: calendarRuns(d.Plan, next, d.Today), Ends: len(next) < runsShown, Zone: say(w.Zone, "zone", s.Zone.String())}
	for _, of := range d.Periods {
		m.Periods = append(m.Periods, show.planPeriod(of))
	}
	if len(d.Periods) >= periodsShown {
		m.PeriodsMore = say(w.CoveredMore, "n", strconv.Itoa(len(d.Periods)))
	}
	for _, e := range d.History {
		m.Changes = append(m.Changes, show.planChange(e))
	}
	m.Facts = planFacts(d, text(system, 100), term, s.Zone.String())
	m.Lines = planSold(d.Plan, term)
	m.Do = planActs(d, by, said)
	return render(c, status, templates.PlanPageOf(m))
}

const periodsShown = 60 // recurring's detailRows

// planLead says in one sentence what the plan will do next.
func planLead(d recurring.Detail) string {
	w := templates.Plans.Says
	values := []string{"who", text(orText(d.CustomerName, d.CustomerID), 100), "n", strconv.Itoa(len(d.Due)), "by", text(d.CreatedBy.Name, 60)}
	if next, err := d.Expect(d.CoveredTo, 1, d.Today); err == nil && len(next) > 0 {
		values = append(values, "next", longDay(next[0].From), "amount", amount(next[0].Total), "key", text(next[0].Key, 80))
	}
	code := ""
	switch d.Shown() {
	case recurring.Ended:
		if code = "ended"; !d.End.IsZero() {
			code, values = "ended/on", append(values, "end", longDay(d.End))
		}
	case recurring.Paused:
		code = "paused"
	case recurring.Waiting:
		code = string(d.Why)
		if d.Why == recurring.Twin {
			var twins []string
			for _, o := range d.Twins {
				twins = append(twins, text(o.Code, 80))
			}
			if code = "twin/any"; len(twins) > 0 {
				code, values = "twin", append(values, "twins", strings.Join(twins, ", "))
			}
		}
	case recurring.Active:
		switch n := len(d.Due); {
		case n == 0:
			code = "active"
		case !d.Due[0].From.After(d.CaughtUpTo):
			code = "agreed"
		case n > 1:
			code = "catch_up"
		case d.Due[0].Late:
			code = "one"
		default:
			code = "today"
		}
	}
	return say(w[code], values...)
}

// planActs are the buttons that the person may press now.
func planActs(d recurring.Detail, by work.Actor, said planSaid) templates.PlanActs {
	if !recurring.MayChange(by) {
		return templates.PlanActs{}
	}
	st, ended := d.State, d.Shown() == recurring.Ended
	a := templates.PlanActs{Any: true, Run: st == recurring.Active && !ended, Change: len(d.ChangeDays) > 0, Pause: st != recurring.Paused && !ended, Resume: st == recurring.Paused && !ended,
		End: true, EndDay: said.endDay, EndProblem: said.endProblem,
		CatchUp: st == recurring.Waiting && d.Why == recurring.CatchUp || st == recurring.Paused && len(d.Due) > 0}
	if a.EndDay == "" && said.endProblem == "" && !d.End.IsZero() {
		a.EndDay = d.End.Format(dayFormat)
	}
	if d.Why == recurring.Twin {
		if a.Approve = !by.Same(d.CreatedBy) && !by.Same(d.ChangedBy); !a.Approve {
			a.Refused = templates.Plans.Says["own"]
		}
	}
	return a
}

func (v view) planPeriod(of recurring.Made) templates.PlanPeriod {
	w := templates.Plans
	p := templates.PlanPeriod{From: date(of.From), To: date(of.Until.AddDate(0, 0, -1)), Key: text(of.Key, 100), Problem: sentence(text(of.Problem, 300)), Late: of.Late}
	switch {
	case of.LeftOut:
		p.Badge, p.Late = templates.Badge{Sign: "×", Tone: "quiet", Text: w.LeftOut}, false
	case of.Item.ID != 0:
		p.Href, p.Badge = itemAddress(of.Item.ID), v.badge(of.Item, "")
	case of.Problem != "":
		p.Badge = templates.Badge{Sign: "!", Tone: "ask", Text: w.MonthState["stuck"]}
	default:
		p.Badge = templates.Badge{Sign: "…", Tone: "busy", Text: w.NotYet}
	}
	return p
}

func itemAddress(id int64) string { return "/items/" + strconv.FormatInt(id, 10) }

func planFacts(d recurring.Detail, system string, term recurring.Term, zone string) []templates.Fact {
	w := templates.Plans.Fact
	end, pay := w["end/none"], w["pay_within/0"]
	if !d.End.IsZero() {
		end = dayText(d.End)
	}
	if d.PayWithin > 0 {
		pay = strconv.Itoa(d.PayWithin)
	}
	facts := []templates.Fact{{Name: w["cadence"], Value: cadence(term.Schedule, term.From)}, {Name: w["start"], Value: dayText(d.Terms[0].From)}, {Name: w["end"], Value: end},
		{Name: w["system"], Value: system}, {Name: w["customer"], Value: text(d.CustomerID, 100)}, {Name: w["pay_within"], Value: pay},
		{Name: w["prorate"], Value: map[bool]string{true: templates.Plans.Yes, false: templates.Plans.No}[d.Prorate]}, {Name: w["zone"], Value: zone},
		{Name: w["made"], Value: text(d.CreatedBy.Name, 60)}}
	if d.Note != "" {
		facts = append(facts, templates.Fact{Name: w["note"], Value: text(d.Note, 500)})
	}
	return facts
}

func planSold(p recurring.Plan, t recurring.Term) (rows []templates.PlanSold) {
	for _, l := range t.Lines {
		r := templates.PlanSold{Description: text(l.Description, 300), Quantity: text(l.Quantity, 30), Price: price(l.UnitPrice, p.Currency), Tax: text(l.TaxCode, 60)}
		if total, err := p.Total(recurring.Term{Lines: []work.Line{l}}); err == nil {
			r.Amount = amountNumber(total)
		}
		rows = append(rows, r)
	}
	return rows
}
