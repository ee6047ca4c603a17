package recurring_test

import (
	"errors"
	"sync"
	"testing"
	"time"

	"onefold/internal/automation"
	"onefold/internal/automation/recurring"
	"onefold/internal/store"
	"onefold/internal/work"
)

// Trial 31: two ticks around midnight of UTC are one day of the firm, and one invoice.
func TestTrial31_AheadOfUTC(t *testing.T) {
	eachWorld(t, "2023-05-23T08:00:00Z", zone(t, "Europe/Paris"), func(w *world) {
		w.create("P", "2023-05-23", weekly)
		w.run("2023-05-23T08:00:00Z")
		w.run("2023-05-30T20:00:00Z")
		if s := w.run("2023-05-30T23:00:00Z"); s.Recorded != 0 {
			t.Errorf("the second tick recorded %d", s.Recorded)
		}
		w.wantKeys("P-2023-05-23", "P-2023-05-30")
	})
}

// Trial 33: fifteen months from 31 January, one invoice each, the wish for the 31st kept.
func TestTrial33_OnTheStore(t *testing.T) {
	eachWorld(t, "2025-01-31T08:00:00Z", time.UTC, func(w *world) {
		p := w.create("P", "2025-01-31")
		day := time.Date(2025, 1, 31, 8, 0, 0, 0, time.UTC)
		for ; day.Before(time.Date(2026, 4, 1, 0, 0, 0, 0, time.UTC)); day = day.AddDate(0, 0, 1) {
			w.run(day.Format(time.RFC3339))
		}
		made := w.get(p.ID).Periods
		if len(made) != 15 || made[0].From.Format(time.DateOnly) != "2026-03-31" || made[13].From.Format(time.DateOnly) != "2025-02-28" {
			t.Fatalf("%d periods: %+v", len(made), made)
		}
		for _, m := range made {
			if m.Late || m.Item.Invoice.IssueDate != m.From.Format(time.DateOnly) {
				t.Errorf("%s: late %t, issued %s", m.Key, m.Late, m.Item.Invoice.IssueDate)
			}
		}
	})
}

// Trial 35: a late run does not move the days after it, and is marked.
func TestTrial35_ALateRunMovesNothing(t *testing.T) {
	eachWorld(t, "2026-04-01T08:00:00Z", time.UTC, func(w *world) {
		p := w.create("P", "2026-04-01")
		w.run("2026-04-01T08:00:00Z")
		if s := w.run("2026-05-02T08:00:00Z"); s.Recorded != 1 || s.Late != 1 {
			t.Fatalf("%+v", s)
		}
		d := w.get(p.ID)
		if m := d.Periods[0]; m.Key != "P-2026-05" || !m.Late || m.Item.Invoice.IssueDate != "2026-05-01" {
			t.Errorf("%+v", m)
		}
		if d.Next.Format(time.DateOnly) != "2026-06-01" {
			t.Errorf("next due %s", d.Next)
		}
	})
}

// Trial 36: the day without an hour has its run, and the day with one twice has one.
func TestTrial36_DaysOfClockChanges(t *testing.T) {
	for _, day := range []string{"2025-03-30", "2025-10-26"} {
		for _, name := range []string{"Europe/Berlin", "America/Sao_Paulo", "Australia/Lord_Howe", "America/St_Johns", "Pacific/Apia"} {
			t.Run(name+" "+day, func(t *testing.T) {
				eachWorld(t, day+"T00:00:00Z", zone(t, name), func(w *world) {
					first, err := recurring.ParseDay(day)
					w.must(err)
					w.clock.set(t, first.AddDate(0, 0, -9).Format(time.RFC3339))
					p := w.create("P", first.AddDate(0, 0, -7).Format(time.DateOnly), weekly)
					for _, at := range hours(t, first.AddDate(0, 0, -8).Format(time.RFC3339), first.AddDate(0, 0, 3).Format(time.RFC3339)) {
						w.run(at)
					}
					made := w.get(p.ID).Periods
					if len(made) != 2 || made[0].From.Format(time.DateOnly) != day || made[0].Late {
						t.Errorf("%+v", made)
					}
				})
			})
		}
	}
}

// Trial 37: after ten days of silence the missed day is made, marked late and dated to its own day.
func TestTrial37_TenDaysOfSilence(t *testing.T) {
	eachWorld(t, "2026-03-10T08:00:00Z", time.UTC, func(w *world) {
		p := w.create("P", "2026-03-10")
		w.run("2026-03-10T08:00:00Z")
		w.run("2026-04-11T08:00:00Z")
		w.run("2026-04-11T09:00:00Z")
		w.wantKeys("P-2026-03", "P-2026-04")
		if m := w.get(p.ID).Periods[0]; !m.Late || m.Item.Invoice.IssueDate != "2026-04-10" {
			t.Errorf("%+v", m)
		}
	})
}

// Trial 37: more than one missed period is listed and asked about; nothing is made before a person agrees, and then what
// they agreed to.
func TestTrial37_MoreThanOneIsAskedAbout(t *testing.T) {
	eachWorld(t, "2026-01-10T08:00:00Z", time.UTC, func(w *world) {
		p := w.create("P", "2026-01-10")
		w.run("2026-01-10T08:00:00Z")
		if s := w.run("2026-04-11T08:00:00Z"); s.Asked != 1 || s.Recorded != 0 {
			t.Fatalf("%+v", s)
		}
		w.run("2026-04-11T08:01:00Z")
		w.wantKeys("P-2026-01")
		d := w.get(p.ID)
		if d.State != recurring.Waiting || d.Why != recurring.CatchUp || len(d.Due) != 3 || d.Due[0].Key != "P-2026-02" || !d.Due[0].Late {
			t.Fatalf("%s %s %+v", d.State, d.Why, d.Due)
		}
		robot := ada
		robot.Kind = work.Token
		for _, by := range []work.Actor{olga, robot} {
			if _, err := w.plans.AgreeCatchUp(t.Context(), by, p.ID, d.Version, d.Today); !errors.Is(err, recurring.ErrForbidden) {
				t.Errorf("%s agreed: %v", by.Kind, err)
			}
		}
		q, err := w.plans.AgreeCatchUp(t.Context(), ada, p.ID, d.Version, day(t, "2026-02-28"))
		w.must(err)
		w.runs(w.runner)
		w.wantKeys("P-2026-01", "P-2026-02")
		if s := w.runs(w.runner); s.Asked != 1 {
			t.Errorf("two more are late, and nobody was asked: %+v", s)
		}
		if q, err = w.plans.AgreeCatchUp(t.Context(), ada, p.ID, q.Version+1, day(t, "2026-04-11")); err != nil {
			t.Fatal(err, q)
		}
		w.runs(w.runner)
		w.wantKeys("P-2026-01", "P-2026-02", "P-2026-03", "P-2026-04")
		for _, m := range w.get(p.ID).Periods[:3] {
			if !m.Late {
				t.Errorf("%s is not marked late", m.Key)
			}
		}
	})
}

func TestWhatIsLeftOutIsNeverMade(t *testing.T) {
	eachWorld(t, "2026-01-10T08:00:00Z", time.UTC, func(w *world) {
		p := w.create("P", "2026-01-10")
		w.run("2026-01-10T08:00:00Z")
		w.run("2026-04-11T08:00:00Z")
		q, err := w.plans.LeaveOut(t.Context(), ada, p.ID, w.get(p.ID).Version, day(t, "2026-03-10"), "the hall was closed")
		w.must(err)
		w.runs(w.runner)
		w.wantKeys("P-2026-01", "P-2026-04")
		d := w.get(p.ID)
		if len(d.Periods) != 4 || !d.Periods[1].LeftOut || d.Version != q.Version || d.History[0].Note != "the hall was closed" {
			t.Errorf("%+v", d.Periods)
		}
	})
}

// Trial 25 and 28: many servers, and the loop wired twice in one, make each invoice once.
func TestTrial28_TheLoopIsWiredTwice(t *testing.T) {
	eachWorld(t, "2026-11-01T08:00:00Z", time.UTC, func(w *world) {
		const plans, servers = 40, 3
		for i := range plans {
			w.create(numbered(i), "2026-11-01", weekly)
		}
		stores := []*store.Store{w.store, w.db.Open(t, store.Config{Clock: w.clock.Now}), w.store}
		for _, at := range []string{"2026-11-01T08:00:00Z", "2026-11-08T08:00:00Z", "2026-11-15T08:00:00Z"} {
			w.clock.set(t, at)
			var wg sync.WaitGroup
			var stats [servers]recurring.Stats
			var errs [servers]error
			for i, st := range stores {
				wg.Go(func() {
					stats[i], errs[i] = recurring.Runner{Store: st, Intake: automation.Intake{Store: st}, Zone: time.UTC}.RunOnce(t.Context())
				})
			}
			wg.Wait()
			n := 0
			for i, s := range stats {
				n += s.Recorded
				w.must(errors.Join(append(s.Problems, errs[i])...))
			}
			if n != plans {
				t.Errorf("at %s: %d recorded, want %d", at, n, plans)
			}
		}
		if got := len(w.keys()); got != 3*plans {
			t.Errorf("%d on record, want %d", got, 3*plans)
		}
	})
}

func TestAServerThatDiesInBetween(t *testing.T) {
	for name, f := range map[string]*failing{"before recording": {before: true}, "after recording": {after: true}} {
		t.Run(name, func(t *testing.T) {
			eachWorld(t, "2026-11-01T08:00:00Z", time.UTC, func(w *world) {
				p := w.create("P", "2026-11-01")
				broken := w.runner
				broken.Intake = &failing{Intake: automation.Intake{Store: w.store}, before: f.before, after: f.after}
				if _, err := broken.RunOnce(t.Context()); !errors.Is(err, errCrash) {
					t.Fatal(err)
				}
				if m := w.get(p.ID).Periods; len(m) != 1 || m[0].ItemID != 0 {
					t.Fatalf("%+v", m)
				}
				// Meanwhile the plan changes from the next period on: the one that was taken up keeps its price.
				c := w.changeOf(p, "2026-12-01", "150.00")
				_, err := w.plans.Change(t.Context(), ada, p.ID, p.Version, c)
				w.must(err)
				w.runs(w.runner)
				w.runs(w.runner)
				w.wantKeys("P-2026-11")
				m := w.get(p.ID).Periods
				if len(m) != 1 || m[0].ItemID == 0 || m[0].Item.Invoice.Total.Number() != "100.00" {
					t.Fatalf("%+v", m)
				}
			})
		})
	}
}

// A key that somebody else's item holds is no invoice of the plan: the plan says so, and the others go on.
func TestAForeignKeyIsAProblemOfOnePlan(t *testing.T) {
	eachWorld(t, "2026-11-01T08:00:00Z", time.UTC, func(w *world) {
		other := w.draft("P", "2026-11-01")
		other.CompanyID = 1
		periods, err := other.Periods(day(t, "2026-11-01"))
		w.must(err)
		foreign, err := other.New(periods[0])
		w.must(err)
		foreign.Source, foreign.Invoice.CustomerID = "api", "somebody else"
		_, err = automation.Intake{Store: w.store}.Record(t.Context(), []work.New{foreign})
		w.must(err)
		p := w.create("P", "2026-11-01")
		w.create("Q", "2026-11-01")
		s, err := w.runner.RunOnce(t.Context())
		if err != nil || len(s.Problems) != 1 || s.Recorded != 1 {
			t.Fatalf("%+v %v", s, err)
		}
		if m := w.get(p.ID).Periods[0]; m.ItemID != 0 || m.Problem == "" {
			t.Errorf("%+v", m)
		}
	})
}

func TestAClosedItemIsNotMadeAgain(t *testing.T) {
	eachWorld(t, "2026-11-01T08:00:00Z", time.UTC, func(w *world) {
		p := w.create("P", "2026-11-01")
		w.runs(w.runner)
		id := w.get(p.ID).Periods[0].ItemID
		for _, ev := range []work.Event{work.Hold{By: ada, Note: "no"}, work.Close{By: ada, Note: "not this month"}} {
			_, err := w.store.Change(t.Context(), work.Pick{IDs: []int64{id}}, func(now time.Time, picked []work.Picked) ([]work.Move, error) {
				m, err := work.Decide(picked[0].Item, ev, picked[0].Rules, now)
				return []work.Move{m}, err
			})
			w.must(err)
		}
		w.run("2026-11-02T08:00:00Z")
		w.wantKeys("P-2026-11")
		if m := w.get(p.ID).Periods; len(m) != 1 || m[0].Item.Status != work.Closed {
			t.Errorf("%+v", m)
		}
	})
}

// The clock of the database goes back over a boundary, and the firm moves to another zone: nothing comes twice.
func TestClocksThatJump(t *testing.T) {
	eachWorld(t, "2026-11-01T08:00:00Z", time.UTC, func(w *world) {
		w.create("P", "2026-11-01")
		west := w.runner
		west.Zone = zone(t, "Pacific/Pago_Pago")
		for _, at := range []string{"2026-11-01T08:00:00Z", "2026-12-01T00:00:01Z", "2026-11-30T23:00:00Z", "2026-12-01T00:00:01Z", "2026-10-01T00:00:00Z", "2026-12-02T00:00:00Z"} {
			w.run(at)
			w.runs(west)
		}
		w.wantKeys("P-2026-11", "P-2026-12")
	})
}

func TestFiveThousandPlansOnOneDay(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	eachWorld(t, "2026-10-15T08:00:00Z", time.UTC, func(w *world) {
		const plans = 5000
		for i := range plans {
			w.create(numbered(i), "2026-11-01")
		}
		w.clock.set(t, "2026-11-01T08:00:00Z")
		began := time.Now()
		s := w.runs(w.runner)
		t.Logf("%s: %d plans recorded in %s", w.db.Name, s.Recorded, time.Since(began).Round(time.Millisecond))
		if s.Recorded != plans {
			t.Errorf("%d recorded", s.Recorded)
		}
		began = time.Now()
		if s = w.runs(w.runner); s.Recorded != 0 {
			t.Errorf("again: %d recorded", s.Recorded)
		}
		t.Logf("%s: nothing to do takes %s", w.db.Name, time.Since(began).Round(time.Microsecond))
	})
}
