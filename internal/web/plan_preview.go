package web

import (
	"strconv"
	"strings"
	"time"

	"onefold/internal/automation/recurring"
	"onefold/web/templates"
)

const runsShown = 12

// previewPlan says and draws what a plan will do that is being typed; it shows what can be told already.
func (s *server) previewPlan(p recurring.Plan, today time.Time) templates.PlanPreview {
	w := templates.Plans
	m := templates.PlanPreview{Zone: say(w.Zone, "zone", s.Zone.String())}
	t := p.Terms[0]
	p.Currency = strings.ToUpper(strings.TrimSpace(p.Currency))
	total, totalErr := p.Total(t)
	if totalErr == nil {
		m.Total = say(w.EachInvoice, "amount", amount(total))
	}
	if t.From.IsZero() || t.From.Year() < 1990 || t.From.Year() > 2100 || t.Schedule.Validate() != nil || !p.End.IsZero() && p.End.Before(t.From) {
		return m
	}
	periods, err := p.Upcoming(t.From, runsShown)
	if err != nil {
		return m
	}
	if len(periods) == 0 {
		m.Says = []string{w.Says["new/none"]}
		return m
	}
	code := "new"
	if totalErr != nil || orText(p.CustomerName, p.CustomerID) == "" {
		code = "new/bare"
	}
	m.Says = append(m.Says, say(w.Says[code], "who", text(orText(p.CustomerName, p.CustomerID), 100), "amount", amount(total), "cadence", cadence(t.Schedule, t.From), "next", longDay(periods[0].From)))
	if due, err := p.Due(today); err == nil {
		switch n := len(due); {
		case n == 1 && due[0].From.Before(today):
			m.Says = append(m.Says, say(w.Says["new/one"], "next", longDay(due[0].From)))
		case n > 1:
			m.Says = append(m.Says, say(w.Says["new/late"], "n", strconv.Itoa(n)))
		}
	}
	m.Runs = calendarRuns(p, periods, today)
	m.Title = say(w.CalendarSay, "n", strconv.Itoa(len(m.Runs)))
	m.Ends = len(periods) < runsShown
	return m
}

// missingFields are the fields that still stand in the way.
func missingFields(faults []*recurring.FieldError) (list []string) {
	for _, e := range faults {
		list = append(list, faultText(e))
	}
	return list
}
