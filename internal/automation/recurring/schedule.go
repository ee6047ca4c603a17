// Package recurring plans invoices that come again: which periods a plan has, what the invoice of each says, and the loop
// that records those that are due. Recording is automation.Intake's: a period that is run twice meets its own key.
package recurring

import (
	"fmt"
	"time"

	"github.com/teambition/rrule-go"
)

// Unit is what a schedule counts.
type Unit string

const (
	Weeks  Unit = "week"
	Months Unit = "month" // a quarter is three of them
	Years  Unit = "year"
)

// Schedule says when periods begin. Days are midnight UTC, whatever zone they are meant in.
type Schedule struct {
	Every int  // 1: each unit; 3 with Months: quarterly. 1 to 120
	Unit  Unit //
	Day   int  // of the month, 1 to 31, for Months and Years: a shorter month ends with its last day; 0: that of the start
}

// maxEvery bounds a schedule: nobody plans an invoice every eleven years.
const maxEvery = 120

// Validate returns an error in the user's words.
func (s Schedule) Validate() error { return asError(s.check()) }

func (s Schedule) check() *FieldError {
	switch {
	case s.Unit != Weeks && s.Unit != Months && s.Unit != Years:
		return wrong("unit", "choose weeks, months or years, not %q", s.Unit)
	case s.Every < 1 || s.Every > maxEvery:
		return wrong("every", "every how many must be between 1 and %d, not %d", maxEvery, s.Every)
	case s.Day < 0 || s.Day > 31:
		return wrong("day", "the day of the month must be between 1 and 31, not %d", s.Day)
	}
	return nil
}

// settled names the day of the month that a schedule from the day means, so that a later term keeps the wish for the
// 31st although it begins in a shorter month.
func (s Schedule) settled(from time.Time) Schedule {
	if s.Unit == Weeks {
		s.Day = 0
	} else if s.Day == 0 {
		s.Day = from.Day()
	}
	return s
}

// Period is one stretch of days of a plan: from From, without Until.
type Period struct {
	From, Until time.Time
	Part        bool // it begins with the plan, not with the schedule; only for plans that prorate
	Days, Of    int  // of Part: days in it, and in the whole period it is a part of
}

// rule is the schedule from a day on. The day of a month that is too short for it becomes its last day: of the days up to
// the wanted one that the month has, the last (RFC 5545, BYSETPOS=-1).
func (s Schedule) rule(from time.Time) (*rrule.RRule, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	o := rrule.ROption{Dtstart: from, Interval: s.Every}
	day := s.Day
	if day == 0 {
		day = from.Day()
	}
	switch s.Unit {
	case Weeks:
		o.Freq = rrule.WEEKLY
	case Months:
		o.Freq = rrule.MONTHLY
	case Years:
		o.Freq, o.Bymonth = rrule.YEARLY, []int{int(from.Month())}
	}
	if s.Unit != Weeks {
		for d := min(day, 28); d <= day; d++ {
			o.Bymonthday = append(o.Bymonthday, d)
		}
		o.Bysetpos = []int{-1}
	}
	return rrule.NewRRule(o)
}

// Starts returns the days on which periods begin, from the day `from` on, which anchors the count, up to and including
// `last`, at most limit of them.
func (s Schedule) Starts(from, last time.Time, limit int) ([]time.Time, error) {
	rule, err := s.rule(from)
	if err != nil {
		return nil, err
	}
	var days []time.Time
	for next := rule.Iterator(); len(days) < limit; {
		day, ok := next()
		if !ok || day.After(last) {
			break
		}
		days = append(days, day)
	}
	return days, nil
}

// Day is a day as schedules use it: midnight UTC of the date that t shows in the zone.
func Day(t time.Time, zone *time.Location) time.Time {
	y, m, d := t.In(zone).Date()
	return time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
}

// ParseDay reads 2006-01-02.
func ParseDay(text string) (time.Time, error) {
	day, err := time.Parse(time.DateOnly, text)
	if err != nil {
		return time.Time{}, fmt.Errorf("%q is not a date: write it like 2026-11-30", text)
	}
	return day, nil
}
