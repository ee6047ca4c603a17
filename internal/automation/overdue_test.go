package automation_test

import (
	"strings"
	"testing"
	"time"

	"onefold/internal/automation"
)

// A system that stands still is told of once, not before it matters, and the alert ends by itself.
func TestASystemThatStandsStillIsToldOnce(t *testing.T) {
	eachWorld(t, searchable(), func(w *world) {
		watch := automation.Watch{Store: w.store, Log: quiet}
		check := func(what, want string) {
			t.Helper()
			for range 3 { // every minute
				if _, err := watch.RunOnce(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			open, err := w.store.Alerts(t.Context())
			w.must(err)
			var causes []string
			for _, a := range open {
				if a.Cause != automation.AlertOverdue {
					causes = append(causes, a.Cause)
				}
			}
			if got := strings.Join(causes, " "); got != want {
				t.Errorf("%s: alerts %q, want %q", what, got, want)
			}
		}
		check("all is well", "")
		w.must(w.store.SetLogin(t.Context(), "books", "the token has expired"))
		check("login refused", "disconnected")
		w.must(w.store.SetLogin(t.Context(), "books", ""))
		check("connected again", "")

		open := func() {
			w.must(w.store.SetBreaker(t.Context(), "books", w.clock.Now().Add(5*time.Minute), "not reached"))
		}
		open()
		w.clock.advance(5 * time.Minute)
		open()
		check("not reached for 5 minutes", "")
		w.clock.advance(5 * time.Minute)
		open()
		check("not reached for 10 minutes", "breaker")
		w.must(w.store.SetLogin(t.Context(), "books", "the token has expired"))
		check("the login is refused, so it does answer", "disconnected") // the breaker holds its next probe
		w.must(w.store.SetLogin(t.Context(), "books", ""))
		w.must(w.store.SetBreaker(t.Context(), "books", time.Time{}, ""))
		check("it answers", "")
		w.clock.advance(time.Hour)
		open()
		check("a new silence counts from its own begin", "")
		w.must(w.store.SetBreaker(t.Context(), "books", time.Time{}, ""))

		w.must(w.store.Pause(t.Context(), "books", ada, "month end"))
		w.clock.advance(25 * time.Hour)
		check("paused for a day and nothing waits", "")
		w.record("INV-1")
		check("paused for a day and an invoice waits", "paused")
		w.must(w.store.Resume(t.Context(), "books", ada, ""))
		check("resumed", "")
	})
}
