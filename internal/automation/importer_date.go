package automation

import (
	"fmt"
	"regexp"
	"strconv"
	"time"

	"onefold/internal/work"
)

// DateOrder is the order of day, month and year in a file.
type DateOrder string

const (
	DayMonthYear DateOrder = "dmy"
	MonthDayYear DateOrder = "mdy"
	YearMonthDay DateOrder = "ymd"
)

func (o DateOrder) known() bool {
	return o == "" || o == DayMonthYear || o == MonthDayYear || o == YearMonthDay
}

var (
	isoDate   = regexp.MustCompile(`^([0-9]{4})[-/.]([0-9]{1,2})[-/.]([0-9]{1,2})(?:[T ]00:00(?::00)?Z?)?$`)
	otherDate = regexp.MustCompile(`^([0-9]{1,2})([-/. ])\s?([0-9]{1,2})[-/. ]\s?([0-9]{4})(?: 00:00(?::00)?)?$`)
)

// orderOf says which order a date shows; empty if it shows none, unclear if it could be day or month first.
func orderOf(cell string) (order DateOrder, unclear bool) {
	m := otherDate.FindStringSubmatch(cell)
	if m == nil {
		return "", false // year first is the same in every order, and nonsense tells nothing
	}
	first, _ := strconv.Atoi(m[1])
	second, _ := strconv.Atoi(m[3])
	switch {
	case m[2] == "." || first > 12 && second <= 12: // 9.1.2017 is written day first wherever it is written
		return DayMonthYear, false
	case second > 12 && first <= 12:
		return MonthDayYear, false
	}
	return "", first <= 12 && second <= 12 && first != second
}

// parseDate reads a date in the file's order and returns it as 2006-01-02. A date that is not in the calendar is an
// error, never another day.
func parseDate(cell string, order DateOrder) (string, error) {
	var year, month, day string
	if m := isoDate.FindStringSubmatch(cell); m != nil {
		year, month, day = m[1], m[2], m[3]
	} else if m := otherDate.FindStringSubmatch(cell); m != nil && order != YearMonthDay {
		year, month, day = m[4], m[3], m[1]
		if order == MonthDayYear {
			month, day = m[1], m[3]
		}
	} else {
		return "", fmt.Errorf("%q is not a date: write it as 2026-11-30, or as 30/11/2026", shown(cell))
	}
	d, err := time.Parse("2006-1-2", year+"-"+month+"-"+day)
	if err != nil {
		return "", fmt.Errorf("%q is not in the calendar%s", shown(cell), orderHint(order))
	}
	if d.Year() < 1990 || d.Year() > 2100 {
		return "", fmt.Errorf("the year of %q cannot be right", shown(cell))
	}
	return d.Format(time.DateOnly), nil
}

var otherMonth = regexp.MustCompile(`^([0-9]{1,2})[-/.]([0-9]{4})$|^([0-9]{4})[-/.]([0-9]{1,2})$`)

// parseMonth reads a month, written like 2026-11, 11/2026 or November 2026, and returns it as 2006-01. An empty cell is
// none. What could be a day as well, such as Nov-26, is refused.
func parseMonth(cell string) (string, error) {
	if cell == "" {
		return "", nil
	}
	year, month := "", ""
	if m := otherMonth.FindStringSubmatch(cell); m != nil {
		year, month = m[2]+m[3], m[1]+m[4]
	}
	for _, layout := range []string{"January 2006", "Jan 2006"} {
		if t, err := time.Parse(layout, cell); err == nil {
			year, month = t.Format("2006"), t.Format("01")
		}
	}
	t, err := time.Parse("2006-1", year+"-"+month)
	if err == nil {
		t, err = work.ParsePeriod(work.PeriodOf(t))
	}
	if err != nil {
		return "", fmt.Errorf("the period %q must be a month: write it as 2026-11, or as 11/2026", shown(cell))
	}
	return work.PeriodOf(t), nil
}

func orderHint(o DateOrder) string {
	switch o {
	case DayMonthYear:
		return " (the file's dates are day, month, year)"
	case MonthDayYear:
		return " (the file's dates are month, day, year)"
	}
	return ""
}

// decideOrder settles the order of the dates in the file or asks.
func decideOrder(e evidence[DateOrder], asked, last DateOrder) (DateOrder, error) {
	dmy, isDMY := e.seen[DayMonthYear]
	mdy, isMDY := e.seen[MonthDayYear]
	switch {
	case asked != "":
		return asked, nil
	case isDMY && isMDY:
		return "", fileErrorf(0, "dates are written in two ways: %s in line %d has the day first, %s in line %d the month. Say which the file uses. Nothing was imported",
			shown(dmy.cell), dmy.line, shown(mdy.cell), mdy.line)
	case isDMY:
		return DayMonthYear, nil
	case isMDY:
		return MonthDayYear, nil
	case e.unclear.line != 0 && last != "":
		return last, nil
	case e.unclear.line != 0:
		return "", fileErrorf(e.unclear.line, "%s can be read in two ways and no other date in the file tells which: say whether the day or the month comes first. Nothing was imported",
			shown(e.unclear.cell))
	}
	return "", nil
}
