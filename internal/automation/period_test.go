package automation_test

import (
	"strings"
	"testing"
	"time"

	"onefold/internal/automation"
	"onefold/internal/work"
)

// 31. Ahead of UTC: what names neither a month nor an issue date belongs to the month of the firm's zone
func TestTrial31_RecordedInTheMonthOfTheFirm(t *testing.T) {
	m := newIntakeMemory()
	for key, hours := range map[string]int{"AHEAD": 14, "UTC": 0, "BEHIND": -12} {
		zone := time.FixedZone(key, hours*3600)
		got, err := automation.Intake{Store: m, Zone: zone}.Record(t.Context(), []work.New{newItem(t, key, "1.00")})
		if err != nil {
			t.Fatal(err)
		}
		if want := work.PeriodOf(got[0].Item.RecordedAt.In(zone)); got[0].Item.Period != want || got[0].Item.RecordedAt.IsZero() {
			t.Errorf("recorded %s: in %q, not %q", got[0].Item.RecordedAt, got[0].Item.Period, want)
		}
	}
}

// A month that is named and differs from the one on record must not be passed over in silence.
func TestAnotherMonthIsAConflict(t *testing.T) {
	m := newIntakeMemory()
	n := newItem(t, "INV-1", "1.00")
	n.Invoice.IssueDate, n.Period = "2026-12-02", "2026-11"
	got := recordAll(t, m, n)
	wantResults(t, got, automation.IntakeNew)
	if got[0].Item.Period != "2026-11" {
		t.Errorf("in %q", got[0].Item.Period)
	}
	n.Period = "" // says nothing about the month: it is the same invoice
	wantResults(t, recordAll(t, m, n), automation.IntakeKnown)
	n.Period = "2026-12"
	got = recordAll(t, m, n)
	wantResults(t, got, automation.IntakeConflict)
	if why := got[0].Err.Error(); !strings.Contains(why, "recorded 2026-11") || !strings.Contains(why, "given 2026-12") {
		t.Errorf("says %s", why)
	}
	n.Period = "2026-13"
	wantResults(t, recordAll(t, m, n), automation.IntakeRefused)
	n.Period, n.Invoice.IssueDate = "", "x"
	wantResults(t, recordAll(t, m, n), automation.IntakeRefused)
}

func TestImportedMonths(t *testing.T) {
	month := func(it work.Item) string { return it.Period }
	m, r := imported(t, "key,customer_id,currency,amount,issue_date,Billing Month\nA,C,EUR,1.00,2026-12-01,2026-11\nB,C,EUR,1.00,2026-12-01,11/2026\n"+
		"C,C,EUR,1.00,2026-12-01,November 2026\nD,C,EUR,1.00,2026-12-01,\nE,C,EUR,1.00,2026-12-01,13/2026\nF,C,EUR,1.00,2026-12-01,Nov-26\n"+
		"G,C,EUR,1.00,2026-12-01,2026-11-30\nH,C,EUR,1.00,2026-12-01,11/0026\n")
	wantRecord(t, onRecord(m, month), map[string]string{"A": "2026-11", "B": "2026-11", "C": "2026-11", "D": "2026-12"})
	for line := 6; line <= 9; line++ {
		wantProblem(t, r, line, "must be a month")
	}
	for _, heading := range []string{"period", "month"} {
		m, _ = imported(t, "key,customer_id,currency,amount,"+heading+"\nA,C,EUR,1.00,2026-11\n")
		wantRecord(t, onRecord(m, month), map[string]string{"A": "2026-11"})
	}
}
