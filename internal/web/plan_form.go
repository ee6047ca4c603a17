package web

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"onefold/internal/automation/recurring"
	"onefold/internal/review"
	"onefold/internal/work"
	"onefold/web/templates"
)

// What the buttons of the form do; "remove-3" removes the fourth line.
const (
	planShow   = "show"
	planAdd    = "add"
	planRemove = "remove-"
)

// planForm is a plan as it is being typed.
type planForm struct {
	url.Values
	faults []*recurring.FieldError // what must be mended, by field
	rows   []int                   // which row of the form each line of the plan comes from
	stood  []string                // the numbers of the plan that is being changed
}

var planLineNames = []string{"description", "quantity", "price", "tax"}

func (f *planForm) fault(field, code string) {
	f.faults = append(f.faults, &recurring.FieldError{Field: field, Text: templates.Plans.Problem[code]})
}

// count is how many rows of lines the form has.
func (f *planForm) count() int { return min(len(f.Values["description"]), maxPlanLines) }

const maxPlanLines = 100

func (f *planForm) cell(name string, row int) string {
	if all := f.Values[name]; row < len(all) {
		return all[row]
	}
	return ""
}

// number reads a whole number; empty is what is given for it.
func (f *planForm) number(field string, empty int) int {
	s := strings.TrimSpace(f.Get(field))
	if s == "" {
		return empty
	}
	n, err := strconv.Atoi(s)
	if err != nil {
		f.fault(field, "number")
		return empty // so that the other fields are looked at too
	}
	return n
}

func (f *planForm) day(field string) time.Time {
	s := strings.TrimSpace(f.Get(field))
	if s == "" {
		return time.Time{}
	}
	day, err := recurring.ParseDay(s)
	if err != nil {
		f.fault(field, "date")
	}
	return day
}

func (f *planForm) schedule() recurring.Schedule {
	return scheduleOf(f.Get("unit"), f.number("every", 1), f.number("day", 0))
}

// lines are the rows in which anything but a quantity stands. A number that cannot be read is left as it was typed.
func (f *planForm) lines() (lines []work.Line) {
	f.rows = nil
	for row := range f.count() {
		l := work.Line{Description: strings.TrimSpace(f.cell("description", row)), Quantity: strings.TrimSpace(f.cell("quantity", row)),
			UnitPrice: strings.TrimSpace(f.cell("price", row)), TaxCode: strings.TrimSpace(f.cell("tax", row))}
		if l.Description == "" && l.UnitPrice == "" && l.TaxCode == "" {
			continue
		}
		if l.Quantity == "" {
			l.Quantity = "1"
		}
		l.Quantity, _ = f.decimal(l.Quantity)
		l.UnitPrice, _ = f.decimal(l.UnitPrice)
		lines, f.rows = append(lines, l), append(f.rows, row)
	}
	return lines
}

// decimal reads a number of a line: what cannot be read stays, with the problem.
func (f *planForm) decimal(typed string) (number, problem string) {
	number, problem = formNumber(typed, strings.ToUpper(strings.TrimSpace(f.Get("currency"))), f.stood)
	if problem != "" {
		return typed, problem
	}
	return number, ""
}

// faultsOf are the numbers in the lines that cannot be read.
func (f *planForm) faultsOf(lines []work.Line) (faults []*recurring.FieldError) {
	for i, l := range lines {
		for _, typed := range []string{l.UnitPrice, l.Quantity} {
			if _, problem := f.decimal(typed); typed != "" && problem != "" {
				faults = append(faults, &recurring.FieldError{Field: "lines", Line: i + 1, Text: problem})
			}
		}
	}
	return faults
}

// plan reads the whole form. What cannot be read is in faults.
func (f *planForm) plan() recurring.Plan {
	f.faults = nil
	lines := f.lines()
	f.faults = append(f.faults, f.faultsOf(lines)...)
	return recurring.Plan{Code: f.Get("code"), SystemID: f.Get("system"), CustomerID: f.Get("customer"), CustomerName: f.Get("name"), Currency: f.Get("currency"),
		Terms: []recurring.Term{{From: f.day("start"), Schedule: f.schedule(), Lines: lines}}, End: f.day("end"), PayWithin: f.number("pay_within", 0),
		Prorate: f.Get("prorate") != "", Note: strings.ReplaceAll(f.Get("note"), "\r\n", "\n")}
}

// edited carries out a button that only changes the form, and reports whether it was one.
func (f *planForm) edited(do string) bool {
	row, isRow := strings.CutPrefix(do, planRemove)
	n, err := strconv.Atoi(row)
	switch {
	case do == planShow:
	case do == planAdd:
		for _, name := range planLineNames {
			for len(f.Values[name]) < f.count() {
				f.Values[name] = append(f.Values[name], "")
			}
		}
		if f.count() < maxPlanLines {
			for i, empty := range []string{"", "1", "", ""} {
				f.Values[planLineNames[i]] = append(f.Values[planLineNames[i]], empty)
			}
		}
	case isRow && err == nil:
		for _, name := range planLineNames {
			if all := f.Values[name]; n >= 0 && n < len(all) {
				f.Values[name] = slices.Delete(slices.Clone(all), n, n+1)
			}
		}
	default:
		return false
	}
	return true
}

// typedPlan is a plan as the form shows it.
func typedPlan(p recurring.Plan, t recurring.Term) *planForm {
	unit, every := unitOf(t.Schedule)
	v := url.Values{"code": {p.Code}, "system": {p.SystemID}, "customer": {p.CustomerID}, "name": {p.CustomerName}, "currency": {p.Currency}, "note": {p.Note},
		"unit": {orText(unit, string(recurring.Months))}, "every": {strconv.Itoa(max(every, 1))}, "pay_within": {strconv.Itoa(p.PayWithin)}}
	if t.Schedule.Day > 0 {
		v.Set("day", strconv.Itoa(t.Schedule.Day))
	}
	for name, day := range map[string]time.Time{"start": t.From, "end": p.End} {
		if !day.IsZero() {
			v.Set(name, day.Format(dayFormat))
		}
	}
	if p.Prorate {
		v.Set("prorate", "yes")
	}
	for _, l := range t.Lines {
		for i, cell := range []string{l.Description, l.Quantity, l.UnitPrice, l.TaxCode} {
			v[planLineNames[i]] = append(v[planLineNames[i]], cell)
		}
	}
	return &planForm{Values: v}
}

// newPlanPage offers an empty plan: monthly, on the first, from the next month on.
func (s *server) newPlanPage(c echo.Context) error {
	today, err := s.plans.Today(c.Request().Context())
	if err != nil {
		return err
	}
	first := time.Date(today.Year(), today.Month()+1, 1, 0, 0, 0, 0, time.UTC)
	f := typedPlan(recurring.Plan{PayWithin: 30}, recurring.Term{From: first, Schedule: recurring.Schedule{Every: 1, Unit: recurring.Months, Day: 1}, Lines: []work.Line{{Quantity: "1"}}})
	var notice *templates.Notice
	kept, is, err := s.takeTyped(c)
	if err != nil {
		return err
	}
	if is && kept.Path == plansPath+"/new" {
		f.Values, notice = kept.Fields, &templates.Notice{Say: templates.Say(templates.Plans.Did["restored"], nil)}
	}
	return s.showNewPlan(c, http.StatusOK, f, notice)
}

// newPlan saves the plan, or shows what it means.
func (s *server) newPlan(c echo.Context) error {
	f := &planForm{Values: c.Request().PostForm}
	do := f.Get("do")
	if f.edited(do) {
		if do == planShow {
			_, f.faults = s.checkPlan(c, f)
		}
		return s.showNewPlan(c, http.StatusOK, f, nil)
	}
	p, faults := s.checkPlan(c, f)
	if f.faults = faults; len(faults) > 0 {
		return s.showNewPlan(c, http.StatusUnprocessableEntity, f, nil)
	}
	p, err := s.plans.Create(c.Request().Context(), person(c), p)
	if bad, is := recurring.IsField(err); is {
		f.faults = append(f.faults, bad)
		return s.showNewPlan(c, http.StatusUnprocessableEntity, f, nil)
	}
	return backTo(c, planError(err), planPath(p.ID)+"?did=created")
}

// checkPlan reads the form and returns all that must be mended: what cannot be read first, and once a field.
func (s *server) checkPlan(c echo.Context, f *planForm) (recurring.Plan, []*recurring.FieldError) {
	p, more := s.plans.Check(c.Request().Context(), f.plan())
	return p, onePerField(append(f.faults, more...))
}

func onePerField(all []*recurring.FieldError) (list []*recurring.FieldError) {
	for _, e := range all {
		if !slices.ContainsFunc(list, func(o *recurring.FieldError) bool { return o.Field == e.Field && o.Line == e.Line }) {
			list = append(list, e)
		}
	}
	return list
}

func (s *server) showNewPlan(c echo.Context, status int, f *planForm, notice *templates.Notice) error {
	shell, systems, err := s.planShell(c, templates.Plans.NewTitle)
	if err != nil {
		return err
	}
	shell.Notice = notice
	today, err := s.plans.Today(c.Request().Context())
	if err != nil {
		return err
	}
	if f.Get("system") == "" && len(systems) == 1 {
		f.Set("system", systems[0].ID)
	}
	w := templates.Plans
	m := templates.PlanForm{Shell: shell, New: true, Proratable: true, Heading: w.NewTitle, Post: plansPath + "/new", Back: plansPath, BackText: w.Title, Save: w.Save}
	m.Who = []templates.PlanField{f.field("code"), f.choice("system", systemChoices(systems)), f.field("customer"), f.field("name"), f.field("currency")}
	m.When = []templates.PlanField{f.field("start"), f.field("end")}
	f.fill(&m)
	typed := *f // its faults stay those that were asked for
	plan := typed.plan()
	if slices.ContainsFunc(typed.faults, func(p *recurring.FieldError) bool { return p.Field == "every" || p.Field == "day" }) {
		plan.Terms[0].Schedule = recurring.Schedule{} // nothing is foretold from what cannot be read
	}
	m.Preview = s.previewPlan(plan, today)
	_, missing := s.checkPlan(c, &typed)
	m.Preview.Missing = missingFields(missing)
	return render(c, status, templates.PlanFormPage(m))
}

func systemChoices(systems []review.SystemState) []templates.Choice {
	list := []templates.Choice{}
	if len(systems) != 1 {
		list = append(list, templates.Choice{Text: templates.Plans.ChooseSystem})
	}
	for _, sys := range systems {
		list = append(list, templates.Choice{Value: sys.ID, Text: text(sys.Name, 100)})
	}
	return list
}
