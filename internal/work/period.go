package work

import (
	"fmt"
	"time"
)

// PeriodOf is the month that the moment belongs to, in the moment's own zone: "2026-11".
func PeriodOf(t time.Time) string { return t.Format(periodLayout) }

const periodLayout = "2006-01"

// ParsePeriod reads a month written like 2026-11 and returns its first day, in UTC. Errors are in the user's words.
func ParsePeriod(s string) (time.Time, error) {
	t, err := time.Parse(periodLayout, s)
	if err != nil {
		return time.Time{}, fmt.Errorf("the period %q must be a month, written like 2026-11", s)
	}
	if t.Year() < 1990 || t.Year() > 2100 {
		return time.Time{}, fmt.Errorf("the year of the period %q cannot be right", s)
	}
	return t, nil
}

// period is the month of a new item; empty if only the moment of its recording can tell and that is not known yet.
func period(n New, now time.Time) (string, error) {
	switch {
	case n.Period != "":
		_, err := ParsePeriod(n.Period)
		return n.Period, err
	case n.Invoice.IssueDate != "":
		issued, err := time.Parse(time.DateOnly, n.Invoice.IssueDate)
		if err != nil {
			return "", fmt.Errorf("the issue date %q must be a day, written like 2026-11-30", n.Invoice.IssueDate)
		}
		return PeriodOf(issued), nil
	case now.IsZero():
		return "", nil
	}
	return PeriodOf(now), nil
}
