package work_test

import (
	"strings"
	"testing"
	"time"

	"onefold/internal/work"
)

func TestAMonthIsWrittenInOneWay(t *testing.T) {
	for _, good := range []string{"2026-11", "1990-01", "2100-12"} {
		first, err := work.ParsePeriod(good)
		if err != nil || work.PeriodOf(first) != good || first.Day() != 1 {
			t.Errorf("%s: %v %v", good, first, err)
		}
	}
	for _, bad := range []string{"", "2026", "2026-13", "2026-00", "2026-1", "11-2026", "2026-11-30", " 2026-11", "0026-11", "2101-01", "２０２６-11", "'; DROP"} {
		if _, err := work.ParsePeriod(bad); err == nil || !strings.Contains(err.Error(), bad) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// 31. Ahead of UTC: the last evening of a month in New York is the next month in Paris
func TestTrial31_TheMonthIsThatOfTheZone(t *testing.T) {
	n := work.New{CompanyID: 1, Automation: "monthly", BusinessKey: "K", SystemID: "books", Steps: []string{"create"}, Invoice: work.Invoice{CustomerID: "C1", Total: mustAmount("10", "EUR")}}
	at := time.Date(2026, 11, 30, 23, 30, 0, 0, time.UTC)
	for zone, want := range map[string]string{"UTC": "2026-11", "Europe/Paris": "2026-12", "America/New_York": "2026-11"} {
		loc, err := time.LoadLocation(zone)
		if err != nil {
			t.Fatal(err)
		}
		if it, err := work.NewItem(n, work.Capabilities{}, at.In(loc)); err != nil || it.Period != want {
			t.Errorf("%s: %q %v", zone, it.Period, err)
		}
	}
	// A date has no zone: it is the month that it names, wherever it is read.
	n.Invoice.IssueDate = "2026-11-30"
	if it, err := work.NewItem(n, work.Capabilities{}, at.Add(time.Hour)); err != nil || it.Period != "2026-11" {
		t.Errorf("by the issue date: %q %v", it.Period, err)
	}
	n.Period = "2026-10"
	if it, err := work.NewItem(n, work.Capabilities{}, at); err != nil || it.Period != "2026-10" {
		t.Errorf("as given: %q %v", it.Period, err)
	}
	n.Period = "2026-13"
	if _, err := work.NewItem(n, work.Capabilities{}, at); err == nil {
		t.Error("a month that does not exist was taken")
	}
	n.Period, n.Invoice.IssueDate = "", "soon"
	if _, err := work.NewItem(n, work.Capabilities{}, at); err == nil {
		t.Error("a day that does not exist was taken")
	}
}
