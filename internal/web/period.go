package web

import (
	"net/http"
	"net/url"
	"slices"

	"github.com/labstack/echo/v4"

	"onefold/internal/review"
	"onefold/internal/work"
	"onefold/web/templates"
)

// periodsPage leads to the month that was chosen, else to the newest one with anything in it that has begun.
func (s *server) periodsPage(c echo.Context) error {
	period := c.QueryParam("month")
	if period == "" {
		now, err := s.review.Now(c.Request().Context())
		if err != nil {
			return err
		}
		months, err := s.periods.List(c.Request().Context(), person(c))
		if err != nil {
			return err
		}
		period = work.PeriodOf(now.In(s.Zone))
		if i := slices.IndexFunc(months, func(m string) bool { return m <= period }); i >= 0 {
			period = months[i]
		}
	}
	return c.Redirect(http.StatusSeeOther, periodAddress(period))
}

func periodAddress(period string) string { return "/periods/" + url.PathEscape(period) }

// periodPage answers whether a month is complete.
func (s *server) periodPage(c echo.Context) error {
	ctx, by := c.Request().Context(), person(c)
	m, err := s.periods.Month(ctx, by, c.Param("period"))
	if err != nil {
		return err
	}
	months, err := s.periods.List(ctx, by)
	if err != nil {
		return err
	}
	now, err := s.review.Now(ctx)
	if err != nil {
		return err
	}
	model := monthModel(m, work.PeriodOf(now.In(s.Zone)), months)
	if model.Shell, _, err = s.shell(c, model.Name); err != nil {
		return err
	}
	return render(c, http.StatusOK, templates.MonthPage(model))
}

// monthName is a month in words; what is no month stays as it is.
func monthName(period string) string {
	first, err := work.ParsePeriod(period)
	if err != nil {
		return text(period, 20)
	}
	return say(templates.Period.Month, "month", templates.Period.Months[first.Month()-1], "year", first.Format("2006"))
}

// say fills a pattern with texts.
func say(pattern string, names ...string) string {
	values := map[string]any{}
	for i := 0; i+1 < len(names); i += 2 {
		values[names[i]] = names[i+1]
	}
	return templates.Say(pattern, values).String()
}

func monthModel(m review.Month, current string, months []string) templates.Month {
	w := templates.Period
	name := monthName(m.Period)
	model := templates.Month{Name: name, Value: m.Period, Question: say(w.Question, "month", name), EmptyTitle: say(w.EmptyTitle, "month", name),
		Previous: monthLink(m.Period, -1), Next: monthLink(m.Period, 1),
		CSV: periodAddress(m.Period) + "/export.csv", Excel: periodAddress(m.Period) + "/export.xlsx"}
	model.Badge, model.Answer = monthAnswer(m, name, current)
	if !slices.Contains(months, m.Period) {
		months = append([]string{m.Period}, months...)
		slices.Sort(months)
		slices.Reverse(months)
	}
	for _, p := range months {
		model.Months = append(model.Months, templates.Choice{Value: p, Text: monthName(p)})
	}
	if m.All.Expected.Count == 0 {
		return model
	}
	model.Shares = monthShares(m)
	for _, l := range m.Lines {
		model.Lines = append(model.Lines, monthLine(m.Period, l))
	}
	if len(m.Lines) > 1 {
		model.Lines = append(model.Lines, monthLine(m.Period, m.All))
	}
	return model
}

func monthLink(period string, months int) templates.Link {
	first, err := work.ParsePeriod(period)
	if err != nil {
		return templates.Link{}
	}
	to := work.PeriodOf(first.AddDate(0, months, 0))
	return templates.Link{Text: monthName(to), Href: periodAddress(to)}
}

// monthAnswer says in a sentence or two whether the month is complete. One that is not over may still get more.
func monthAnswer(m review.Month, name, current string) (templates.Badge, string) {
	w, all := templates.Period.Answer, m.All
	count := func(code string, n int64) string {
		if one, ok := w[code+"/one"]; ok && n == 1 {
			return say(one, "n", thousands(all.Expected.Count), "month", name)
		}
		return say(w[code], "n", thousands(all.Expected.Count), "open", thousands(n), "person", thousands(n), "closed", thousands(n), "month", name)
	}
	switch closed := all.Tabs[review.TabClosed].Count; {
	case all.Expected.Count == 0:
		return templates.Badge{}, say(w["none"], "month", name)
	case m.Complete():
		code := "complete"
		if m.Period >= current {
			code = "running"
		}
		answer := count(code, all.Expected.Count)
		if closed > 0 {
			answer += " " + count("closed", closed)
		}
		return templates.Badge{Sign: templates.Words.Sign["confirmed"], Tone: "good"}, answer
	}
	answer := count("open", all.Open())
	if n := all.Tabs[review.TabReview].Count; n > 0 {
		switch {
		case n == all.Open() && n == 1:
			answer += " " + w["person/it"]
		case n == all.Open():
			answer += " " + w["person/all"]
		default:
			answer += " " + count("person", n)
		}
		return templates.Badge{Sign: templates.Words.Sign["review"], Tone: "ask"}, answer
	}
	return templates.Badge{Sign: templates.Words.Sign["queued"], Tone: "wait"}, answer
}
