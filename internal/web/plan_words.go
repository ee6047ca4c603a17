package web

import (
	"strconv"
	"strings"
	"time"

	"onefold/internal/automation/recurring"
	"onefold/web/templates"
)

// date is a day as pages show it. Days have no zone.
func date(day time.Time) templates.Date {
	if day.IsZero() {
		return templates.Date{}
	}
	return templates.Date{ISO: day.Format(dayFormat), Text: dayText(day)}
}

func dayText(day time.Time) string {
	return say(templates.Plans.DateText, "day", strconv.Itoa(day.Day()), "month", templates.Period.Months[day.Month()-1][:3], "year", day.Format("2006"))
}

// longDay is a day in a sentence: 1 December 2026.
func longDay(day time.Time) string {
	return say(templates.Plans.DateText, "day", strconv.Itoa(day.Day()), "month", templates.Period.Months[day.Month()-1], "year", day.Format("2006"))
}

func daysBetween(from, to time.Time) int {
	return int(to.Sub(from).Round(time.Hour) / (24 * time.Hour))
}

// cadence is a schedule that begins on a day in words: "every month on the 31st (last day in shorter months)".
func cadence(s recurring.Schedule, from time.Time) string {
	w := templates.Plans
	unit, every := unitOf(s)
	day := s.Day
	if day == 0 {
		day = from.Day()
	}
	code := unit
	if every == 1 {
		code += "/1"
	}
	says := ""
	if unit == "quarter" && every > 1 {
		code, every = "month", s.Every
	}
	monthDay := w.Ordinal(day)
	if unit == "year" {
		monthDay = strconv.Itoa(day)
	}
	says = say(templates.Pick(w.Cadences, code), "n", strconv.Itoa(every), "day", monthDay, "weekday", w.Weekdays[from.Weekday()],
		"month", templates.Period.Months[max(from.Month(), 1)-1])
	switch {
	case unit == "week" || day <= 28:
	case unit != "year":
		says += w.Cadences["clamped"]
	case from.Month() == time.February:
		says += w.Cadences["leap"]
	}
	return says
}

// unitOf names what the form calls the unit: three months are a quarter.
func unitOf(s recurring.Schedule) (unit string, every int) {
	if s.Unit == recurring.Months && s.Every > 0 && s.Every%3 == 0 {
		return "quarter", s.Every / 3
	}
	return string(s.Unit), s.Every
}

// scheduleOf is the reverse.
func scheduleOf(unit string, every, day int) recurring.Schedule {
	if unit == "quarter" {
		return recurring.Schedule{Every: every * 3, Unit: recurring.Months, Day: day}
	}
	return recurring.Schedule{Every: every, Unit: recurring.Unit(unit), Day: day}
}

// calendarRuns are the runs as they are drawn. A run whose amount cannot be told yet has none.
func calendarRuns(p recurring.Plan, periods []recurring.Period, today time.Time) []templates.PlanRun {
	w := templates.Plans
	var runs []templates.PlanRun
	before := ""
	for _, of := range periods {
		r := templates.PlanRun{Date: date(of.From), Month: say(w.MonthShort, "month", templates.Period.Months[of.From.Month()-1][:3], "year", of.From.Format("2006")),
			Day: strconv.Itoa(of.From.Day()), Weekday: w.ShortDays[of.From.Weekday()],
			Period: say(w.DayRange, "from", dayText(of.From), "to", dayText(of.Until.AddDate(0, 0, -1)))}
		if v, err := p.Invoice(of); err == nil {
			r.Amount = strings.ReplaceAll(amount(v.Total), "\u00a0", " ") // it may break in a narrow leaf
		}
		term := termAt(p, of.From)
		want := term.Schedule.Day
		if want == 0 {
			want = term.From.Day()
		}
		switch {
		case of.Part:
			r.Marks = append(r.Marks, say(w.PartOf, "days", strconv.Itoa(of.Days), "of", strconv.Itoa(of.Of)))
		case term.Schedule.Unit != recurring.Weeks && want > of.From.Day():
			r.Marks = append(r.Marks, say(w.Instead, "day", w.Ordinal(want)))
		}
		if before != "" && r.Amount != before && !of.Part {
			r.Marks, r.Tone = append(r.Marks, w.NewPrice), "busy"
		}
		switch {
		case of.From.Before(today):
			r.Marks, r.Tone = append(r.Marks, w.Begun), "ask"
		case of.From.Equal(today):
			r.Marks, r.Tone = append(r.Marks, w.Today), "good"
		}
		if before = r.Amount; of.Part {
			before = ""
		}
		runs = append(runs, r)
	}
	return runs
}
