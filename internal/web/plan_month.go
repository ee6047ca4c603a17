package web

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/bojanz/currency"
	"github.com/labstack/echo/v4"

	"onefold/internal/automation/recurring"
	"onefold/internal/work"
	"onefold/web/templates"
)

// plansOfMonth is how many invoices of a month are listed. The totals count all.
const plansOfMonth = 1000

// planMonthPage shows the invoices that a month will bring, before they are made.
func (s *server) planMonthPage(c echo.Context) error {
	ctx, w := c.Request().Context(), templates.Plans
	month := c.QueryParam("month")
	if _, err := work.ParsePeriod(month); err != nil {
		today, err := s.plans.Today(ctx)
		if err != nil {
			return err
		}
		month = work.PeriodOf(today)
	}
	m, err := s.plans.Preview(ctx, person(c), month)
	if err != nil {
		return planError(err)
	}
	name := monthName(month)
	shell, _, err := s.shell(c, say(w.MonthTitle, "month", name))
	if err != nil {
		return err
	}
	p := templates.PlanMonth{Shell: shell, Name: name, EmptyTitle: say(w.MonthEmpty, "month", name), Previous: planMonthLink(month, -1), Next: planMonthLink(month, 1), Zone: say(w.Zone, "zone", s.Zone.String()), Totals: planTotals(m)}
	for _, e := range m.Invoices[:min(len(m.Invoices), plansOfMonth)] {
		p.Rows = append(p.Rows, planMonthRow(e))
	}
	if len(m.Invoices) > plansOfMonth {
		p.More = say(w.MonthMore, "n", thousands(plansOfMonth), "all", thousands(int64(len(m.Invoices))))
	}
	for _, bad := range m.Problems[:min(len(m.Problems), 20)] {
		p.Problems = append(p.Problems, sentence(text(bad.Error(), 300)))
	}
	return render(c, http.StatusOK, templates.PlanMonthPage(p))
}

func planMonthLink(month string, by int) templates.Link {
	first, err := work.ParsePeriod(month)
	if err != nil {
		return templates.Link{}
	}
	to := work.PeriodOf(first.AddDate(0, by, 0))
	return templates.Link{Text: monthName(to), Href: plansPath + "/month?month=" + url.QueryEscape(to)}
}

func planMonthRow(e recurring.Expected) templates.PlanPeriodDue {
	w := templates.Plans
	r := templates.PlanPeriodDue{From: date(e.From), Code: text(e.Code, 80), Href: planPath(e.PlanID), Customer: text(orText(e.CustomerName, e.CustomerID), 120), Key: text(e.Key, 100),
		Amount: amountNumber(e.Total), Cur: e.Total.CurrencyCode(), Late: e.Late && e.Stage() != recurring.Skipped}
	stage := e.Stage()
	r.Badge = templates.Badge{Sign: "○", Tone: "wait", Text: w.MonthState[string(stage)]}
	switch stage {
	case recurring.Recorded:
		r.Badge.Sign, r.Badge.Tone, r.Item = "✓", "good", itemAddress(e.Covered.ItemID)
	case recurring.Held:
		r.Badge.Sign, r.Badge.Tone = "‖", "ask"
	case recurring.Stuck:
		r.Badge.Sign, r.Badge.Tone, r.Problem = "!", "ask", sentence(text(e.Covered.Problem, 300))
	case recurring.Skipped:
		r.Badge.Sign, r.Badge.Tone = "×", "quiet"
	case recurring.Coming:
	}
	return r
}

// planTotals adds up what was recorded and what is still to come, by currency. What was left out counts in neither.
func planTotals(m recurring.Month) (list []templates.PlanTotal) {
	stages := []recurring.Stage{recurring.Recorded, recurring.Coming, recurring.Held, recurring.Stuck}
	var codes []string
	for _, t := range m.Totals {
		if !slices.Contains(codes, t.Currency) {
			codes = append(codes, t.Currency)
		}
	}
	for _, code := range codes {
		all, err := currency.NewAmount("0", code)
		if err != nil {
			continue
		}
		row, n := templates.PlanTotal{Currency: code}, 0
		for _, stage := range stages {
			cell := templates.Figure{Column: templates.Plans.MonthState[string(stage)], Nil: true, Text: "0"}
			for _, t := range m.Totals {
				if t.Currency == code && t.Stage == stage {
					cell.Nil, cell.Text = false, amountNumber(t.Amount)
					n += t.Invoices
					if all, err = all.Add(t.Amount); err != nil {
						continue
					}
				}
			}
			row.Stages = append(row.Stages, cell)
		}
		row.Together, row.Count = amountNumber(all), strconv.Itoa(n)
		list = append(list, row)
	}
	return list
}
