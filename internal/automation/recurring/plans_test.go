package recurring_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"onefold/internal/automation/recurring"
	"onefold/internal/work"
)

// changeOf changes the plan's price from a day on.
func (w *world) changeOf(p recurring.Plan, from, price string) recurring.Change {
	w.Helper()
	c := recurring.Change{CustomerName: p.CustomerName, Note: p.Note, PayWithin: p.PayWithin, Prorate: p.Prorate}
	if from != "" {
		c.From, c.Schedule = day(w.T, from), p.Terms[0].Schedule
		c.Lines = []work.Line{{Description: "Rent {period}", Quantity: "1", UnitPrice: price}}
	}
	return c
}

func field(err error) string {
	if bad, ok := recurring.IsField(err); ok {
		return bad.Field
	}
	return fmt.Sprint(err)
}

func TestAPriceChangeFromADay(t *testing.T) {
	eachWorld(t, "2026-01-31T08:00:00Z", time.UTC, func(w *world) {
		p := w.create("P", "2026-01-31")
		w.runs(w.runner)
		if _, err := w.plans.Change(t.Context(), ada, p.ID, p.Version, w.changeOf(p, "2026-01-31", "1.00")); field(err) != "from" {
			t.Errorf("what was made was changed: %v", err)
		}
		if _, err := w.plans.Change(t.Context(), ada, p.ID, p.Version, w.changeOf(p, "2026-03-15", "1.00")); field(err) != "from" || !strings.Contains(err.Error(), "2026-03-31") {
			t.Errorf("a change in the middle: %v", err)
		}
		later, err := w.plans.Change(t.Context(), ada, p.ID, p.Version, w.changeOf(p, "2026-04-30", "150.00"))
		w.must(err)
		_, err = w.plans.Change(t.Context(), ada, p.ID, later.Version, w.changeOf(p, "2026-02-28", "120.00"))
		w.must(err)
		for _, at := range []string{"2026-02-28", "2026-03-31", "2026-04-30", "2026-05-31"} {
			if s := w.run(at + "T08:00:00Z"); s.Recorded != 1 { // the wish for the 31st outlives the changes in short months
				t.Fatalf("on %s: %+v", at, s)
			}
		}
		d := w.get(p.ID)
		var totals []string
		for _, m := range d.Periods {
			totals = append(totals, m.Item.Invoice.Total.Number())
		}
		if got := fmt.Sprint(totals); got != "[150.00 150.00 120.00 120.00 100.00]" {
			t.Error(got)
		}
		if len(d.History) != 3 || d.History[0].By.Name != "Ada Brown" || len(d.History[0].Before.Terms) != 2 || len(d.History[0].After.Terms) != 3 {
			t.Errorf("%+v", d.History)
		}
	})
}

func TestTwoAdminsAtOnce(t *testing.T) {
	eachWorld(t, "2026-01-31T08:00:00Z", time.UTC, func(w *world) {
		p := w.create("P", "2026-01-31")
		first := w.changeOf(p, "2026-02-28", "120.00")
		_, err := w.plans.Change(t.Context(), ada, p.ID, p.Version, first)
		w.must(err)
		_, err = w.plans.Change(t.Context(), ben, p.ID, p.Version, w.changeOf(p, "2026-02-28", "130.00"))
		var stale *recurring.Stale
		if !errors.As(err, &stale) || stale.Last.By.Name != "Ada Brown" {
			t.Errorf("the first change was overwritten: %v", err)
		}
		if _, err = w.plans.Change(t.Context(), ada, p.ID, p.Version, first); err != nil {
			t.Errorf("the same form sent twice: %v", err)
		}
		if n := len(w.get(p.ID).History); n != 2 {
			t.Errorf("%d entries", n)
		}
		for _, by := range []work.Actor{olga, {}} {
			if _, err := w.plans.Pause(t.Context(), by, p.ID, 2, ""); !errors.Is(err, recurring.ErrForbidden) {
				t.Errorf("%s paused it: %v", by.Name, err)
			}
		}
		other := w.plans
		other.CompanyID = 2
		if _, err := other.Get(t.Context(), ada, p.ID); !errors.Is(err, recurring.ErrNotFound) {
			t.Errorf("another company reads it: %v", err)
		}
	})
}

// Trial 28: a second schedule for the same customer, lines and days runs only after somebody else approved it.
func TestTrial28_TwoSchedulesForOneCustomer(t *testing.T) {
	eachWorld(t, "2026-11-01T08:00:00Z", time.UTC, func(w *world) {
		same := func(p *recurring.Plan) { p.CustomerID = "C-1" }
		spelt := func(p *recurring.Plan) {
			p.CustomerID = " C-1 "
			p.Terms[0].Lines = []work.Line{{Description: "rent  {PERIOD}", Quantity: "1.0", UnitPrice: "100"}}
		}
		a := w.create("A", "2026-11-01", same)
		b := w.create("B", "2026-11-01", spelt)
		w.runs(w.runner)
		w.wantKeys("A-2026-11")
		d := w.get(b.ID)
		if a.State != recurring.Active || d.State != recurring.Waiting || d.Why != recurring.Twin || len(d.Twins) != 1 || d.Twins[0].Code != "A" {
			t.Fatalf("%s, %s %s %v", a.State, d.State, d.Why, d.Twins)
		}
		// No way around: pausing and resuming, a catch-up, the one who made it.
		b, err := w.plans.Pause(t.Context(), ada, b.ID, b.Version, "")
		w.must(err)
		b, err = w.plans.Resume(t.Context(), ada, b.ID, b.Version)
		w.must(err)
		if b.State != recurring.Waiting {
			t.Errorf("after a pause it is %s", b.State)
		}
		if _, err := w.plans.AgreeCatchUp(t.Context(), ada, b.ID, b.Version, d.Today); !errors.Is(err, recurring.ErrNotWaiting) {
			t.Error(err)
		}
		if _, err := w.plans.ApproveTwin(t.Context(), ada, b.ID, b.Version, ""); !errors.Is(err, recurring.ErrSamePerson) {
			t.Error(err)
		}
		_, err = w.plans.ApproveTwin(t.Context(), ben, b.ID, b.Version, "two halls")
		w.must(err)
		w.runs(w.runner)
		w.wantKeys("A-2026-11", "B-2026-11")
	})
}

func TestAPlanThatBecomesATwinWaits(t *testing.T) {
	eachWorld(t, "2026-11-01T08:00:00Z", time.UTC, func(w *world) {
		same := func(p *recurring.Plan) { p.CustomerID = "C-1" }
		w.create("A", "2026-11-01", same)
		b := w.create("B", "2026-11-01", same, func(p *recurring.Plan) { p.Terms[0].Lines[0].UnitPrice = "7.00" })
		b, err := w.plans.Change(t.Context(), ada, b.ID, b.Version, w.changeOf(b, "2026-12-01", "100.00"))
		w.must(err)
		if b.State != recurring.Waiting || b.Why != recurring.Twin {
			t.Fatalf("%s %s", b.State, b.Why)
		}
		b, err = w.plans.Change(t.Context(), ada, b.ID, b.Version, w.changeOf(b, "2026-12-01", "8.00"))
		w.must(err)
		if b.State != recurring.Active || b.Why != "" {
			t.Fatalf("%s %s", b.State, b.Why)
		}
	})
}

// Two people set the same up at the same moment: one of the two plans waits.
func TestTwinsAtTheSameMoment(t *testing.T) {
	eachWorld(t, "2026-11-01T08:00:00Z", time.UTC, func(w *world) {
		var wg sync.WaitGroup
		var made [6]recurring.Plan
		var errs [6]error
		for i := range made {
			d := w.draft(numbered(i), "2026-11-01", func(p *recurring.Plan) { p.CustomerID = "C-1" })
			wg.Go(func() { made[i], errs[i] = w.plans.Create(t.Context(), ada, d) })
		}
		wg.Wait()
		w.must(errors.Join(errs[:]...))
		active := 0
		for _, p := range made {
			if p.State == recurring.Active {
				active++
			}
		}
		if active != 1 {
			t.Errorf("%d of six run at once", active)
		}
	})
}

func TestCodesAreTakenOnce(t *testing.T) {
	eachWorld(t, "2026-11-01T08:00:00Z", time.UTC, func(w *world) {
		p := w.create("Plan-1", "2026-11-01")
		if again := w.create("Plan-1", "2026-11-01"); again.ID != p.ID || again.Version != 1 {
			t.Errorf("the form sent twice made plan %d beside %d", again.ID, p.ID)
		}
		d := w.draft("PLAN-1", "2026-11-01")
		if _, err := w.plans.Create(t.Context(), ada, d); field(err) != "code" {
			t.Errorf("the same code, spelt differently: %v", err)
		}
		d = w.draft("Plan-1", "2026-11-01")
		if _, err := w.plans.Create(t.Context(), ben, d); field(err) != "code" {
			t.Errorf("somebody else's: %v", err)
		}
	})
}

func TestPauseAndEnd(t *testing.T) {
	eachWorld(t, "2026-01-01T08:00:00Z", time.UTC, func(w *world) {
		p := w.create("P", "2026-01-01")
		w.runs(w.runner)
		p, err := w.plans.Pause(t.Context(), ada, p.ID, p.Version, "the contract is being checked")
		w.must(err)
		w.run("2026-02-01T08:00:00Z")
		w.wantKeys("P-2026-01")
		p, err = w.plans.Resume(t.Context(), ada, p.ID, p.Version)
		w.must(err)
		w.runs(w.runner)
		w.wantKeys("P-2026-01", "P-2026-02")
		p, err = w.plans.End(t.Context(), ada, p.ID, p.Version, day(t, "2026-03-15"), "")
		w.must(err)
		w.run("2026-03-01T08:00:00Z")
		w.run("2026-04-01T08:00:00Z")
		w.wantKeys("P-2026-01", "P-2026-02", "P-2026-03")
		if d := w.get(p.ID); d.Shown() != recurring.Ended {
			t.Errorf("%s, next %s", d.Shown(), d.Next)
		}
		never := w.create("Q", "2026-06-01")
		_, err = w.plans.End(t.Context(), ada, never.ID, never.Version, day(t, "2026-05-01"), "")
		w.must(err)
		w.run("2026-06-01T08:00:00Z")
		w.wantKeys("P-2026-01", "P-2026-02", "P-2026-03")
	})
}

func TestAMonthBeforeItRuns(t *testing.T) {
	eachWorld(t, "2026-11-15T08:00:00Z", time.UTC, func(w *world) {
		w.create("A", "2026-11-10")
		w.create("B", "2026-11-20", func(p *recurring.Plan) { p.Currency = "JPY"; p.Terms[0].Lines[0].UnitPrice = "900" })
		w.create("C", "2026-11-20", weekly)
		paused := w.create("D", "2026-11-20")
		_, err := w.plans.Pause(t.Context(), ada, paused.ID, paused.Version, "")
		w.must(err)
		w.create("E", "2026-12-01")
		w.runs(w.runner)
		m, err := w.plans.Preview(t.Context(), olga, "2026-11")
		w.must(err)
		var got []string
		for _, total := range m.Totals {
			got = append(got, fmt.Sprintf("%s %s %d %s", total.Currency, total.Stage, total.Invoices, total.Amount.Number()))
		}
		if want := "EUR coming 2 200.00; EUR recorded 1 100.00; EUR held 1 100.00; JPY coming 1 900"; strings.Join(got, "; ") != want {
			t.Errorf("%s\nwant %s", strings.Join(got, "; "), want)
		}
		if len(m.Invoices) != 5 || m.Invoices[0].Key != "A-2026-11" || m.Invoices[0].Covered == nil || m.Invoices[0].Covered.ItemID == 0 {
			t.Errorf("%+v", m.Invoices)
		}
		list, err := w.plans.List(t.Context(), olga, recurring.ListQuery{Text: "c-", State: recurring.Active, Limit: 2})
		w.must(err)
		if len(list.Plans) != 2 || list.Next != "B" || list.Plans[0].Last == nil || list.Plans[0].Upcoming.Key != "A-2026-12" || list.Counts[recurring.Paused] != 1 {
			t.Errorf("%+v", list)
		}
		cal, err := w.plans.Calendar(t.Context(), olga, list.Plans[0].ID, 3)
		w.must(err)
		if len(cal) != 3 || cal[2].Key != "A-2027-02" || cal[2].Total.Number() != "100.00" {
			t.Errorf("%+v", cal)
		}
	})
}

// Random days, runs and decisions: periods touch, each has one item or was left out, and the next day is never passed over.
func TestRandomLives(t *testing.T) {
	eachWorld(t, "2026-01-01T08:00:00Z", time.UTC, func(w *world) {
		for seed := range uint64(8) {
			random := rand.New(rand.NewPCG(seed, 1))
			at := time.Date(2026, 1, 1, 8, 0, 0, 0, time.UTC)
			w.clock.set(t, at.Format(time.RFC3339))
			p := w.create(numbered(int(seed)), at.AddDate(0, 0, random.IntN(40)).Format(time.DateOnly), func(p *recurring.Plan) {
				p.Prorate = random.IntN(2) == 0
				p.Terms[0].Schedule = recurring.Schedule{Every: 1 + random.IntN(2), Unit: []recurring.Unit{recurring.Weeks, recurring.Months}[random.IntN(2)], Day: random.IntN(32)}
			})
			for range 40 {
				at = at.Add(time.Duration(random.IntN(24*20)) * time.Hour)
				w.clock.set(t, at.Format(time.RFC3339))
				w.runs(w.runner)
				w.live(random, p.ID)
			}
			w.runs(w.runner)
			d := w.get(p.ID)
			if d.Why == recurring.CatchUp {
				_, err := w.plans.AgreeCatchUp(t.Context(), ada, d.ID, d.Version, d.Today)
				w.must(err)
			}
			if d.State == recurring.Paused {
				_, err := w.plans.Resume(t.Context(), ada, d.ID, d.Version)
				w.must(err)
			}
			for range 3 {
				w.runs(w.runner)
				if d = w.get(p.ID); d.Why == recurring.CatchUp {
					_, err := w.plans.AgreeCatchUp(t.Context(), ada, d.ID, d.Version, d.Today)
					w.must(err)
				}
			}
			w.judge(w.get(p.ID))
		}
	})
}

// live does something to a plan that a person may do.
func (w *world) live(random *rand.Rand, id int64) {
	w.Helper()
	d := w.get(id)
	var err error
	switch random.IntN(5) {
	case 0:
		_, err = w.plans.Pause(w.Context(), ada, id, d.Version, "")
	case 1:
		_, err = w.plans.Resume(w.Context(), ada, id, d.Version)
	case 2:
		c := w.changeOf(d.Plan, d.ChangeDays[random.IntN(3)].Format(time.DateOnly), fmt.Sprint(1+random.IntN(900)))
		c.Schedule = recurring.Schedule{Every: 1 + random.IntN(3), Unit: []recurring.Unit{recurring.Weeks, recurring.Months}[random.IntN(2)]}
		c.DropLater = true
		_, err = w.plans.Change(w.Context(), ada, id, d.Version, c)
		if _, ok := recurring.IsField(err); ok { // the month's day of the terms before
			err = nil
		}
	case 3:
		if d.Why == recurring.CatchUp {
			_, err = w.plans.AgreeCatchUp(w.Context(), ada, id, d.Version, d.Due[random.IntN(len(d.Due))].From)
		}
	case 4:
		if d.Why == recurring.CatchUp {
			_, err = w.plans.LeaveOut(w.Context(), ada, id, d.Version, d.Due[random.IntN(len(d.Due))].From, "")
		}
	}
	w.must(err)
}

// judge compares what was taken up with what the plan says now.
func (w *world) judge(d recurring.Detail) {
	w.Helper()
	want, err := d.Plan.Periods(d.Today)
	w.must(err)
	made, err := w.store.PlanPeriods(w.Context(), 1, d.ID, time.Time{}, 1000)
	w.must(err)
	if len(made) != len(want) || len(d.Due) != 0 {
		w.Fatalf("plan %s (%s %s): %d periods taken up, want %d, due %d", d.Code, d.State, d.Why, len(made), len(want), len(d.Due))
	}
	for i, m := range made {
		of := want[len(want)-1-i]
		if !m.From.Equal(of.From) || !m.Until.Equal(of.Until) || m.LeftOut == (m.ItemID != 0) {
			w.Fatalf("plan %s: %+v, want %+v", d.Code, m, of)
		}
	}
	if next, err := d.NextFrom(d.CoveredTo); err != nil || !next.Equal(d.Next) {
		w.Errorf("plan %s: next %s, want %s %v", d.Code, d.Next, next, err)
	}
}

// Every line that is wrong is named, not only the first.
func TestEveryWrongLineIsNamed(t *testing.T) {
	p := plan(t, "2026-01-01", recurring.Schedule{Every: 1, Unit: recurring.Months})
	p.Terms[0].Lines = []work.Line{{Description: "x", Quantity: "one", UnitPrice: "1.00"}, {Description: "ok", Quantity: "1", UnitPrice: "1.00"}, {Description: "", Quantity: "1", UnitPrice: "2.00"}}
	var lines []int
	for _, e := range p.Problems() {
		lines = append(lines, e.Line)
	}
	if !slices.Equal(lines, []int{1, 3}) {
		t.Errorf("lines %v: %v", lines, p.Problems())
	}
}
