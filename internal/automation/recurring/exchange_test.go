package recurring_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"onefold/internal/automation/recurring"
	"onefold/internal/work"
)

func (w *world) importing(text string) recurring.ImportReport {
	w.Helper()
	r, err := w.plans.ImportCSV(w.Context(), ada, strings.NewReader(text), recurring.ImportOptions{SystemID: "books"})
	w.must(err)
	return r
}

func (w *world) export() string {
	w.Helper()
	var b strings.Builder
	w.must(w.plans.ExportCSV(w.Context(), olga, &b))
	return b.String()
}

// What is exported comes back as it was: formulas stay text, and a second import adds nothing.
func TestPlansGoOutAndIn(t *testing.T) {
	eachWorld(t, "2026-01-01T08:00:00Z", time.UTC, func(w *world) {
		p := w.create("=1+1", "2026-01-31", func(p *recurring.Plan) {
			p.CustomerName, p.Note, p.PayWithin, p.End = "@Müller; \"Söhne\"", "two\nlines", 14, day(t, "2027-01-31")
			p.Terms[0].Lines = append(p.Terms[0].Lines, work.Line{Description: "-Discount", Quantity: "1", UnitPrice: "-10.00", TaxCode: "+19"})
		})
		_, err := w.plans.Change(t.Context(), ada, p.ID, p.Version, w.changeOf(p, "2026-03-31", "120.00"))
		w.must(err)
		q := w.create("Q", "2026-02-01", weekly)
		_, err = w.plans.Pause(t.Context(), ada, q.ID, q.Version, "")
		w.must(err)
		out := w.export()
		for _, row := range strings.Split(out, "\n")[1:] {
			if strings.HasPrefix(row, "=") || strings.Contains(row, ",@") || strings.Contains(row, ",-D") {
				t.Errorf("a spreadsheet would run this: %s", row)
			}
		}
		if r := w.importing(out); r.Known != 2 || r.New != 0 || len(r.Bad) != 0 {
			t.Fatalf("here: %+v", r)
		}
		eachWorld(t, "2026-01-01T08:00:00Z", time.UTC, func(there *world) {
			if r := there.importing(out); r.New != 2 || len(r.Bad) != 0 {
				t.Fatalf("elsewhere: %+v", r)
			}
			if again := there.export(); again != out {
				t.Errorf("it came back as\n%s\nwant\n%s", again, out)
			}
			if r := there.importing(out); r.Known != 2 || r.New != 0 || len(r.Bad) != 0 {
				t.Fatalf("elsewhere again: %+v", r)
			}
		})
	})
}

// Every bad row is named by its line; a plan with a bad row is not added, the others are.
func TestEveryBadRowIsNamed(t *testing.T) {
	eachWorld(t, "2026-01-01T08:00:00Z", time.UTC, func(w *world) {
		r := w.importing("code;customer_id;currency;start;description;unit_price;every;unit\r\n" +
			"GOOD;C1;EUR;2026-02-01;Rent;100,50;1;months\r\n" + // 2
			"GOOD;C1;EUR;2026-02-01;Water;20;1;month\r\n" +
			"BAD1;C2;EUR;2026-02-30;Rent;100;1;month\r\n" + // 4
			"BAD2;C3;EUR;2026-02-01;Rent;1.000,50;1;month\r\n" +
			"BAD2;C3;EUR;2026-02-01;Water;1,000;1;month\r\n" +
			"BAD3;C4;XYZ;2026-02-01;Rent;100;1;month\r\n" + // 7
			"GOOD;C1;EUR;2026-02-01;Late;1;1;month\r\n" +
			"BAD4;C5;EUR;2026-02-01;Rent;100\r\n" + // 9
			"\r\n" +
			"TWIN;C1;EUR;2026-03-01;Rent;100.5;1;month\r\n" + // 11
			"TWIN;C1;EUR;2026-03-01;Water;20.00;1;month\r\n")
		var lines []string
		for _, b := range r.Bad {
			lines = append(lines, fmt.Sprint(b.Line, b.Code))
		}
		if got := strings.Join(lines, " "); got != "4BAD1 5BAD2 6BAD2 7BAD3 8GOOD 9BAD4" || r.New != 2 || r.Waiting != 1 {
			t.Errorf("%s, %d new, %d waiting: %+v", got, r.New, r.Waiting, r.Bad)
		}
		p, err := w.plans.List(t.Context(), ada, recurring.ListQuery{Limit: 10})
		w.must(err)
		if len(p.Plans) != 2 || p.Plans[0].Upcoming.Total.Number() != "120.50" {
			t.Errorf("%+v", p.Plans)
		}
		if _, err := w.plans.ImportCSV(t.Context(), olga, strings.NewReader(""), recurring.ImportOptions{}); !errors.Is(err, recurring.ErrForbidden) {
			t.Errorf("an operator imported: %v", err)
		}
		for _, file := range []string{"", "a,b\n1,2\n", "code,customer_id,currency,start,description,unit_price,code\n", "\xff\xfe"} {
			var bad *recurring.FileError
			if _, err := w.plans.ImportCSV(t.Context(), ada, strings.NewReader(file), recurring.ImportOptions{}); !errors.As(err, &bad) {
				t.Errorf("%q: %v", file, err)
			}
		}
	})
}

// While the automation is switched off nothing is taken up, and afterwards a plan with more than one late period asks.
func TestSwitchedOff(t *testing.T) {
	eachWorld(t, "2026-01-01T08:00:00Z", time.UTC, func(w *world) {
		p := w.create("P", "2026-01-01")
		w.must(w.store.SwitchAutomation(t.Context(), work.AutomationSwitch{CompanyID: 1, Name: recurring.Automation, OffAt: w.clock.Now(), OffBy: ada, Version: 1}, ada, ""))
		w.run("2026-01-01T08:00:00Z")
		w.run("2026-02-01T08:00:00Z")
		var off *work.SwitchedOff
		if _, err := w.plans.RunNow(t.Context(), ada, p.ID); !errors.As(err, &off) {
			t.Errorf("run now: %v", err)
		}
		if d := w.get(p.ID); len(d.Periods) != 0 {
			t.Errorf("%+v", d.Periods)
		}
		w.must(w.store.SwitchAutomation(t.Context(), work.AutomationSwitch{CompanyID: 1, Name: recurring.Automation, Version: 2}, ada, ""))
		if s := w.runs(w.runner); s.Asked != 1 || s.Recorded != 0 {
			t.Errorf("%+v", s)
		}
	})
}

func TestRunNowTwice(t *testing.T) {
	eachWorld(t, "2026-01-01T08:00:00Z", time.UTC, func(w *world) {
		p := w.create("P", "2026-01-01")
		for _, want := range []int{1, 0} {
			s, err := w.plans.RunNow(t.Context(), ada, p.ID)
			if err != nil || s.Recorded != want {
				t.Errorf("%+v %v, want %d", s, err, want)
			}
		}
		if _, err := w.plans.RunNow(t.Context(), olga, p.ID); !errors.Is(err, recurring.ErrForbidden) {
			t.Error(err)
		}
		w.wantKeys("P-2026-01")
	})
}
