package recurring_test

import (
	"errors"
	"testing"
	"time"

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
