package recurring_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"onefold/internal/automation/recurring"
	"onefold/internal/work"
)

func day(t *testing.T, text string) time.Time {
	t.Helper()
	d, err := recurring.ParseDay(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func plan(t *testing.T, from string, s recurring.Schedule) recurring.Plan {
	t.Helper()
	return recurring.Plan{Code: "PLAN-042", CompanyID: 1, SystemID: "books", CustomerID: "C-1", Currency: "EUR",
		Terms: []recurring.Term{{From: day(t, from), Schedule: s, Lines: []work.Line{{Description: "Rent {period}", Quantity: "1", UnitPrice: "100.00"}}}}}
}

func starts(t *testing.T, p recurring.Plan, last string) (list []string) {
	t.Helper()
	if err := p.Validate(); err != nil {
		t.Fatal(err)
	}
	periods, err := p.Periods(day(t, last))
	if err != nil {
		t.Fatal(err)
	}
	for _, of := range periods {
		list = append(list, of.From.Format(time.DateOnly))
	}
	return list
}

// Trial 33: a start on the 31st keeps its wish and skips no short month.
func TestTrial33_AStartOnThe31stSkipsNoMonth(t *testing.T) {
	p := plan(t, "2025-01-31", recurring.Schedule{Every: 1, Unit: recurring.Months})
	want := []string{"2025-01-31", "2025-02-28", "2025-03-31", "2025-04-30", "2025-05-31", "2025-06-30", "2025-07-31", "2025-08-31", "2025-09-30",
		"2025-10-31", "2025-11-30", "2025-12-31", "2026-01-31", "2026-02-28", "2026-03-31"}
	if got := starts(t, p, "2026-03-31"); !slices.Equal(got, want) {
		t.Fatalf("got  %v\nwant %v", got, want)
	}
	if got := starts(t, p, "2028-03-31"); got[len(got)-2] != "2028-02-29" || got[len(got)-1] != "2028-03-31" {
		t.Fatalf("in a leap year: %v", got[len(got)-2:])
	}
}

// Trial 31: the day is the firm's, not UTC's.
func TestTrial31_TheDayIsTheFirms(t *testing.T) {
	paris, err := time.LoadLocation("Europe/Paris")
	if err != nil {
		t.Fatal(err)
	}
	p := plan(t, "2023-05-23", recurring.Schedule{Every: 1, Unit: recurring.Weeks})
	for _, tick := range []string{"2023-05-30T20:00:00Z", "2023-05-30T23:00:00Z"} {
		at, err := time.Parse(time.RFC3339, tick)
		if err != nil {
			t.Fatal(err)
		}
		if got := starts(t, p, recurring.Day(at, paris).Format(time.DateOnly)); !slices.Equal(got, []string{"2023-05-23", "2023-05-30"}) {
			t.Errorf("at %s: %v", tick, got)
		}
	}
}

func TestSchedules(t *testing.T) {
	for name, c := range map[string]struct {
		from string
		s    recurring.Schedule
		last string
		want []string
	}{
		"day before the start": {"2026-01-15", recurring.Schedule{Every: 1, Unit: recurring.Months, Day: 1}, "2026-03-10", []string{"2026-02-01", "2026-03-01"}},
		"quarterly":            {"2025-11-30", recurring.Schedule{Every: 3, Unit: recurring.Months}, "2026-09-01", []string{"2025-11-30", "2026-02-28", "2026-05-30", "2026-08-30"}},
		"leap day yearly":      {"2024-02-29", recurring.Schedule{Every: 1, Unit: recurring.Years}, "2028-12-31", []string{"2024-02-29", "2025-02-28", "2026-02-28", "2027-02-28", "2028-02-29"}},
		"every two weeks":      {"2026-11-02", recurring.Schedule{Every: 2, Unit: recurring.Weeks}, "2026-12-01", []string{"2026-11-02", "2026-11-16", "2026-11-30"}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := starts(t, plan(t, c.from, c.s), c.last); !slices.Equal(got, c.want) {
				t.Fatalf("got  %v\nwant %v", got, c.want)
			}
		})
	}
}

// A hundred years of every kind of schedule: periods touch, never overlap, and no two share a key.
func TestAHundredYearsOfPeriods(t *testing.T) {
	for _, unit := range []recurring.Unit{recurring.Weeks, recurring.Months, recurring.Years} {
		for _, every := range []int{1, 2, 3, 6, 12} {
			for _, from := range []string{"2000-02-29", "2026-01-31", "2026-01-30", "2026-12-29", "2027-03-01"} {
				p := plan(t, from, recurring.Schedule{Every: every, Unit: unit})
				last := p.Terms[0].From.AddDate(100, 0, 0)
				periods, err := p.Periods(last)
				if err != nil {
					t.Fatal(err)
				}
				keys := map[string]bool{}
				for i, of := range periods {
					if i > 0 && !periods[i-1].Until.Equal(of.From) {
						t.Fatalf("every %d %s from %s: %s does not touch %s", every, unit, from, periods[i-1].Until, of.From)
					}
					if !of.Until.After(of.From) {
						t.Fatalf("every %d %s from %s: the period from %s is empty", every, unit, from, of.From)
					}
					key := p.Key(of)
					if keys[key] {
						t.Fatalf("every %d %s from %s: two periods are called %s", every, unit, from, key)
					}
					keys[key] = true
				}
				want := map[recurring.Unit]int{recurring.Weeks: 5218, recurring.Months: 1201, recurring.Years: 101}[unit]
				if got := len(periods); got < want/every || got > want/every+1 {
					t.Fatalf("every %d %s from %s: %d periods in a hundred years", every, unit, from, got)
				}
			}
		}
	}
}

// In every zone, over a hundred years with their daylight-saving changes, each day comes, and none is left out. A day may
// come back for an hour (St. John's changed its clocks a minute after midnight): what was taken up stays so.
func TestDaysOfTenZones(t *testing.T) {
	for _, name := range []string{"UTC", "Europe/Berlin", "Europe/London", "America/New_York", "America/Sao_Paulo", "Asia/Kolkata", "Australia/Lord_Howe",
		"Pacific/Apia", "Africa/Casablanca", "America/St_Johns"} {
		t.Run(name, func(t *testing.T) {
			zone, err := time.LoadLocation(name)
			if err != nil {
				t.Fatal(err)
			}
			at := time.Date(1990, 1, 1, 0, 0, 0, 0, time.UTC)
			seen := recurring.Day(at, zone)
			for end := at.AddDate(100, 0, 0); at.Before(end); at = at.Add(time.Hour) {
				switch d := recurring.Day(at, zone); {
				case d.Before(seen):
					if name != "America/St_Johns" || recurring.Day(at.Add(2*time.Hour), zone) != seen {
						t.Fatalf("%s: the day goes back from %s to %s", at, seen, d)
					}
				case d.After(seen.AddDate(0, 0, 2)) || d.After(seen.AddDate(0, 0, 1)) && name != "Pacific/Apia": // Apia had no 30 December 2011
					t.Fatalf("%s: the day jumps from %s to %s", at, seen, d)
				default:
					seen = d
				}
			}
		})
	}
}

func TestChangesBeginWithAPeriod(t *testing.T) {
	p := plan(t, "2026-01-31", recurring.Schedule{Every: 1, Unit: recurring.Months})
	p.Terms = append(p.Terms, recurring.Term{From: day(t, "2026-03-31"), Schedule: p.Terms[0].Schedule, Lines: []work.Line{{Description: "Rent", Quantity: "1", UnitPrice: "120.00"}}})
	if got := starts(t, p, "2026-05-31"); !slices.Equal(got, []string{"2026-01-31", "2026-02-28", "2026-03-31", "2026-04-30", "2026-05-31"}) {
		t.Fatal(got)
	}
	periods, err := p.Periods(day(t, "2026-04-30"))
	if err != nil {
		t.Fatal(err)
	}
	var totals []string
	for _, of := range periods {
		v, err := p.Invoice(of)
		if err != nil {
			t.Fatal(err)
		}
		totals = append(totals, v.Total.Number())
	}
	if got := fmt.Sprint(totals); got != "[100.00 100.00 120.00 120.00]" {
		t.Fatal(got)
	}
	p.Terms[1].From = day(t, "2026-03-15")
	if err := p.Validate(); err == nil {
		t.Fatal("a change in the middle of a period was accepted")
	}
}

func TestProratedStart(t *testing.T) {
	p := plan(t, "2026-11-16", recurring.Schedule{Every: 1, Unit: recurring.Months, Day: 30})
	if got := starts(t, p, "2026-12-31"); !slices.Equal(got, []string{"2026-11-30", "2026-12-30"}) {
		t.Fatalf("without proration: %v", got)
	}
	p.Prorate = true
	periods, err := p.Periods(day(t, "2026-12-31"))
	if err != nil {
		t.Fatal(err)
	}
	if len(periods) != 3 || !periods[0].Part || periods[0].Days != 14 || periods[0].Of != 31 {
		t.Fatalf("%+v", periods)
	}
	v, err := p.Invoice(periods[0])
	if err != nil || v.Total.Number() != "45.16" {
		t.Fatalf("%s, %v", v.Total.Number(), err)
	}
	if a, b := p.Key(periods[0]), p.Key(periods[1]); a == b {
		t.Fatalf("two periods of one month share the key %s", a)
	}
}

func TestTwins(t *testing.T) {
	a := plan(t, "2026-01-01", recurring.Schedule{Every: 1, Unit: recurring.Months})
	b := plan(t, "2026-06-01", recurring.Schedule{Every: 1, Unit: recurring.Months})
	a.ID, b.ID = 1, 2
	if !a.Twin(b) || !b.Twin(a) {
		t.Error("the same customer and lines in common days are twins")
	}
	a.End = day(t, "2026-05-31")
	if a.Twin(b) {
		t.Error("plans without a common day are no twins")
	}
}
