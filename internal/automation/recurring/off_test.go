package recurring_test

import (
	"errors"
	"testing"
	"time"

	"onefold/internal/automation/recurring"
	"onefold/internal/review"
	"onefold/internal/work"
)

// While recurring invoices are switched off no period is taken up. Switched on again, what is late is asked about, and
// nothing is skipped or made twice.
func TestSwitchedOffPlansTakeNothingUp(t *testing.T) {
	eachWorld(t, "2026-01-01T08:00:00Z", time.UTC, func(w *world) {
		p := w.create("P", "2026-01-01")
		w.run("2026-01-01T08:00:00Z")
		service := review.NewAutomations(w.store, 1, nil)
		w.must(service.Switch(w.Context(), ada, "recurring", false, 0, "The prices are being changed."))
		for _, at := range []string{"2026-02-01T08:00:00Z", "2026-03-01T08:00:00Z"} {
			w.clock.set(w.T, at)
			s, err := w.runner.RunOnce(w.Context())
			w.must(err)
			if s.Recorded != 0 || s.Asked != 0 || len(s.Problems) != 0 {
				w.Fatalf("off: %+v", s)
			}
		}
		var off *work.SwitchedOff
		if s, err := w.plans.RunNow(w.Context(), ada, p.ID); !errors.As(err, &off) || off.Switch.OffBy.Name != "Ada Brown" || s.Recorded != 0 {
			w.Errorf("run now: %+v %v", s, err)
		}
		w.wantKeys("P-2026-01")
		if d, err := w.store.NextPlanDay(w.Context(), 1); err != nil || d.Format(time.DateOnly) != "2026-02-01" {
			w.Errorf("next on %v %v", d, err)
		}
		w.must(service.Switch(w.Context(), ada, "recurring", true, 1, ""))
		if s := w.run("2026-03-01T09:00:00Z"); s.Asked != 1 || s.Recorded != 0 {
			w.Errorf("on again: %+v", s)
		}
		w.wantKeys("P-2026-01")
	})
}

// Nothing begins by itself on a system that was never proven: its plans wait until a person agrees, and the others run.
func TestNothingBeginsOnASystemThatWasNeverProven(t *testing.T) {
	eachWorld(t, "2026-03-01T08:00:00Z", time.UTC, func(w *world) {
		w.must(w.store.DeclareSystem(t.Context(), work.System{ID: "till", CompanyID: 1, Name: "Till", Adapter: "stub", Policy: work.DefaultPolicy(),
			Capabilities: work.Capabilities{Searchable: true, Misses: 1}, Steps: []string{"create"}, MaxInFlight: 100}))
		waiting, err := w.plans.Create(t.Context(), ada, w.draft("WAITS", "2026-03-01", func(p *recurring.Plan) { p.SystemID = "till" }))
		w.must(err)
		_, err = w.plans.Create(t.Context(), ada, w.draft("RUNS", "2026-03-01", func(p *recurring.Plan) { p.CustomerID = "other" }))
		w.must(err)
		stats, err := w.runner.RunOnce(t.Context())
		var unproven *recurring.Unproven
		if err != nil || stats.Recorded != 1 || len(stats.Problems) != 1 || !errors.As(stats.Problems[0], &unproven) || unproven.System.ID != "till" {
			t.Fatalf("%+v %v", stats, err)
		}
		if _, err := w.runner.RunPlan(t.Context(), waiting.ID); !errors.As(err, &unproven) {
			t.Fatalf("one plan by hand: %v", err)
		}
		w.must(w.store.AllowUnproven(t.Context(), 1, recurring.Automation, []string{"till"}, ada))
		if stats, err := w.runner.RunOnce(t.Context()); err != nil || stats.Recorded != 1 || len(stats.Problems) != 0 {
			t.Errorf("agreed: %+v %v", stats, err)
		}
	})
}
