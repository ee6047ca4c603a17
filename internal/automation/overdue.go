package automation

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"onefold/internal/work"
)

// OverdueStore is what the watch needs from the database.
type OverdueStore interface {
	Now(ctx context.Context) (time.Time, error)
	Systems(ctx context.Context) ([]work.System, error)
	// Overdue counts the open items of a system that should have been settled before now, and the oldest such time.
	Overdue(ctx context.Context, systemID string, now time.Time) (count int, oldest time.Time, err error)
	// RaiseAlert records an alert unless the same one is open; it reports whether it is new.
	RaiseAlert(ctx context.Context, systemID, cause, text string) (bool, error)
	// ClearAlerts ends the system's alerts of a cause.
	ClearAlerts(ctx context.Context, systemID, cause string) error
}

// Watch tells people when items are overdue. It does not depend on the engine: it lives on when nothing is carried out.
type Watch struct {
	Store OverdueStore
	Log   *slog.Logger
}

// AlertOverdue is the cause of the alerts that Watch raises.
const AlertOverdue = "overdue"

// RunOnce raises one alert for each system with overdue items and ends it once there are none. It returns how many new
// alerts it raised.
func (w Watch) RunOnce(ctx context.Context) (int, error) {
	now, err := w.Store.Now(ctx)
	if err != nil {
		return 0, err
	}
	systems, err := w.Store.Systems(ctx)
	if err != nil {
		return 0, err
	}
	raised := 0
	for _, s := range systems {
		n, oldest, err := w.Store.Overdue(ctx, s.ID, now)
		if err != nil {
			return raised, err
		}
		if n == 0 {
			if err := w.Store.ClearAlerts(ctx, s.ID, AlertOverdue); err != nil {
				return raised, err
			}
			continue
		}
		text := fmt.Sprintf("%s: %d not settled in time, the oldest since %s (%s)", s.Name, n, oldest.UTC().Format("2 January 15:04 MST"), StoppedBecause(s))
		isNew, err := w.Store.RaiseAlert(ctx, s.ID, AlertOverdue, text)
		if err != nil {
			return raised, err
		}
		if isNew {
			raised++
			w.Log.Warn("items are overdue", "system", s.ID, "count", n, "oldest", oldest)
		}
	}
	return raised, nil
}

// Run calls RunOnce each minute until ctx ends.
func (w Watch) Run(ctx context.Context) error {
	return every(ctx, time.Minute, func() {
		if _, err := w.RunOnce(ctx); err != nil && ctx.Err() == nil {
			w.Log.Error("overdue items could not be counted", "error", err)
		}
	})
}

// StoppedBecause says in plain words why a system's items may be waiting.
func StoppedBecause(s work.System) string {
	switch {
	case !s.PausedAt.IsZero():
		return "paused by " + s.PausedBy + ": " + s.PauseReason
	case s.LoginProblem != "":
		return "reconnect: the login is refused"
	case !s.BreakerUntil.IsZero():
		return "the accounting system does not answer"
	case !s.LookFirst.IsZero():
		return "everything is looked up first"
	}
	return "the automation is not getting through"
}
