package web

import (
	"errors"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"onefold/internal/automation/recurring"
	"onefold/web/templates"
)

// fromStart is the choice to change a plan that has made nothing yet from its beginning, which may be moved.
const fromStart = "start"

// changePlanPage offers the plan's terms to be changed from a period on.
func (s *server) changePlanPage(c echo.Context) error {
	d, err := s.planDetail(c)
	if err != nil {
		return err
	}
	f := typedPlan(d.Plan, termAt(d.Plan, firstChange(d)))
	f.Set("start", d.Terms[0].From.Format(dayFormat))
	if f.Set("from", firstChange(d).Format(dayFormat)); d.CoveredTo.IsZero() {
		f.Set("from", fromStart)
	}
	var notice *templates.Notice
	kept, is, err := s.takeTyped(c)
	if err != nil {
		return err
	}
	if is && kept.Path == planPath(d.ID)+"/change" {
		f.Values, notice = kept.Fields, &templates.Notice{Say: templates.Say(templates.Plans.Did["restored"], nil)}
	} else {
		f.Set("version", strconv.FormatInt(d.Version, 10))
	}
	return s.showPlanChange(c, http.StatusOK, d, f, notice)
}

func (s *server) planDetail(c echo.Context) (recurring.Detail, error) {
	id, err := pathID(c, "id")
	if err != nil {
		return recurring.Detail{}, err
	}
	d, err := s.plans.Get(c.Request().Context(), person(c), id)
	return d, planError(err)
}

// firstChange is the first day on which a change may begin; the plan's start if none may.
func firstChange(d recurring.Detail) time.Time {
	if len(d.ChangeDays) == 0 {
		return d.Terms[0].From
	}
	return d.ChangeDays[0]
}

// changeOf reads the form as a change of the plan. Terms that stay as they are are none.
func changeOf(d recurring.Detail, f *planForm) recurring.Change {
	f.stood = numbersOf(d.Plan)
	f.Set("currency", d.Currency) // it cannot be changed: the amounts of the lines are in it
	p := f.plan()
	c := recurring.Change{CustomerName: p.CustomerName, Note: p.Note, PayWithin: p.PayWithin, Prorate: p.Prorate, From: p.Terms[0].From, Schedule: p.Terms[0].Schedule, Lines: p.Terms[0].Lines,
		DropLater: f.Get("drop_later") != ""}
	if f.Get("from") == fromStart && d.CoveredTo.IsZero() {
		c.MoveStart = true
	} else if c.From = f.day("from"); c.From.IsZero() {
		f.fault("from", "from")
	}
	was := termAt(d.Plan, c.From)
	if !c.DropLater && slices.Equal(was.Lines, c.Lines) && was.Schedule == c.Schedule && (!c.MoveStart || c.From.Equal(d.Terms[0].From)) {
		c.From, c.MoveStart = time.Time{}, false
	}
	return c
}

// numbersOf are the numbers that stand in a plan's lines.
func numbersOf(p recurring.Plan) (list []string) {
	for _, t := range p.Terms {
		for _, l := range t.Lines {
			list = append(list, l.Quantity, l.UnitPrice)
		}
	}
	return list
}

// changed is the plan as it would be, for the preview.
func changed(d recurring.Detail, c recurring.Change) recurring.Plan {
	p := d.Plan
	p.CustomerName, p.Note, p.PayWithin, p.Prorate = c.CustomerName, c.Note, c.PayWithin, c.Prorate
	if c.From.IsZero() {
		return p
	}
	term := recurring.Term{From: c.From, Schedule: c.Schedule, Lines: c.Lines}
	if c.MoveStart {
		p.Terms = []recurring.Term{term}
		return p
	}
	p.Terms = slices.DeleteFunc(slices.Clone(p.Terms), func(t recurring.Term) bool { return t.From.Equal(c.From) || c.DropLater && t.From.After(c.From) })
	p.Terms = append(p.Terms, term)
	slices.SortFunc(p.Terms, func(a, b recurring.Term) int { return a.From.Compare(b.From) })
	return p
}

func (s *server) changePlan(c echo.Context) error {
	d, err := s.planDetail(c)
	if err != nil {
		return err
	}
	f := &planForm{Values: c.Request().PostForm}
	if do := f.Get("do"); f.edited(do) {
		if do == planShow {
			ch := changeOf(d, f)
			f.faults = onePerField(append(f.faults, changed(d, ch).Problems()...))
		}
		return s.showPlanChange(c, http.StatusOK, d, f, nil)
	}
	ch := changeOf(d, f)
	if f.faults = onePerField(append(f.faults, changed(d, ch).Problems()...)); len(f.faults) > 0 {
		return s.showPlanChange(c, http.StatusUnprocessableEntity, d, f, nil)
	}
	_, err = s.plans.Change(c.Request().Context(), person(c), d.ID, formVersion(c), ch)
	var stale *recurring.Stale
	if bad, is := recurring.IsField(err); is {
		f.faults = append(f.faults, bad)
		return s.showPlanChange(c, http.StatusUnprocessableEntity, d, f, nil)
	}
	if errors.As(err, &stale) {
		if d, err = s.planDetail(c); err != nil {
			return err
		}
		f.Set("version", strconv.FormatInt(stale.Plan.Version, 10))
		return s.showPlanChange(c, http.StatusConflict, d, f, &templates.Notice{Say: templates.Say(templates.Plans.Stale, map[string]any{"who": staleBy(stale)})})
	}
	return backTo(c, planError(err), planPath(d.ID)+"?did=changed")
}

func (s *server) showPlanChange(c echo.Context, status int, d recurring.Detail, f *planForm, notice *templates.Notice) error {
	w, title := templates.Plans, say(templates.Plans.ChangeTitle, "code", text(d.Code, 80))
	shell, _, err := s.planShell(c, title)
	if err != nil {
		return err
	}
	shell.Notice = notice
	f.stood = numbersOf(d.Plan)
	f.Set("currency", d.Currency)
	m := templates.PlanForm{Shell: shell, Heading: title, Post: planPath(d.ID) + "/change", Back: planPath(d.ID), BackText: text(d.Code, 80), Save: w.ChangeSave, Version: text(f.Get("version"), 20),
		Who: []templates.PlanField{f.field("name")}, Proratable: d.CoveredTo.IsZero(), DropLater: f.Get("drop_later") != ""}
	var days []templates.Choice
	if d.CoveredTo.IsZero() {
		days = append(days, templates.Choice{Value: fromStart, Text: w.FromStart})
		m.When = []templates.PlanField{f.field("start")}
	}
	for _, day := range d.ChangeDays {
		days = append(days, templates.Choice{Value: day.Format(dayFormat), Text: longDay(day)})
	}
	from := f.choice("from", days)
	m.From = &from
	if last := d.Terms[len(d.Terms)-1].From; last.After(firstChange(d)) {
		m.Later = say(w.Planned, "day", longDay(last))
	}
	f.fill(&m)
	typed := *f
	ch := changeOf(d, &typed)
	m.Preview = s.previewChange(d, ch)
	m.Preview.Missing = missingFields(onePerField(append(typed.faults, changed(d, ch).Problems()...)))
	return render(c, status, templates.PlanFormPage(m))
}

// previewChange says and draws what the plan will do once it is changed.
func (s *server) previewChange(d recurring.Detail, ch recurring.Change) templates.PlanPreview {
	w := templates.Plans
	p := changed(d, ch)
	m := templates.PlanPreview{Zone: say(w.Zone, "zone", s.Zone.String())}
	term := termAt(p, ch.From)
	if total, err := p.Total(term); err == nil {
		m.Total = say(w.EachInvoice, "amount", amount(total))
		if code := "change"; !ch.From.IsZero() {
			m.Says = append(m.Says, say(w.Says[code], "next", longDay(ch.From), "amount", amount(total), "cadence", cadence(term.Schedule, term.From)))
		}
	}
	if ch.From.IsZero() {
		m.Says = append(m.Says, w.Says["change/none"])
	}
	for _, t := range p.Terms {
		if t.Schedule.Validate() != nil || t.From.IsZero() {
			return m
		}
	}
	if periods, err := p.Upcoming(p.CoveredTo, runsShown); err == nil {
		m.Runs, m.Ends = calendarRuns(p, periods, d.Today), len(periods) < runsShown
		m.Title = say(w.CalendarSay, "n", strconv.Itoa(len(m.Runs)))
	}
	return m
}
