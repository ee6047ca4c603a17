package automation

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"onefold/internal/work"
)

// OverdueStore is what the watch needs from the database.
type OverdueStore interface {
	Now(ctx context.Context) (time.Time, error)
	Systems(ctx context.Context) ([]work.System, error)
	// Overdue returns the systems with open items that should have been settled before now.
	Overdue(ctx context.Context, now time.Time) ([]Overdue, error)
	// Waiting reports whether items of the system wait for the automation.
	Waiting(ctx context.Context, systemID string) (bool, error)
	// RaiseAlert records an alert unless the same one is open; it reports whether it is new.
	RaiseAlert(ctx context.Context, systemID, cause, text string) (bool, error)
	// ClearAlerts ends the system's alerts of a cause.
	ClearAlerts(ctx context.Context, systemID, cause string) error
}

// Overdue tells how many open items of a system should have been settled by now.
type Overdue struct {
	SystemID string
	Count    int64
	Oldest   time.Time // the earliest time by which one of them should have been settled
}

// Watch tells people when items are overdue. It does not depend on the engine: it lives on when nothing is carried out.
type Watch struct {
	Store OverdueStore
	Log   *slog.Logger
}

// Causes of the alerts that Watch raises.
const (
	AlertOverdue      = "overdue"
	AlertDisconnected = "disconnected" // the login is refused, or the system cannot be connected
	AlertBreaker      = "breaker"      // the system has not answered for some time
	AlertPaused       = "paused"       // for longer than anybody means to, while items wait
)

// How long a state lasts before people are told: short ones end by themselves.
const (
	breakerLong = 10 * time.Minute
	forgotten   = 24 * time.Hour // of a pause
)

// standsStill are the alerts that follow from a system's own state: by cause the text, empty where there is nothing to tell.
func (w Watch) standsStill(ctx context.Context, s work.System, now time.Time) (map[string]string, error) {
	says := map[string]string{AlertDisconnected: "", AlertBreaker: "", AlertPaused: ""}
	if s.LoginProblem != "" {
		says[AlertDisconnected] = s.Name + ": an admin must connect it again, its login does not work"
	}
	if since := s.BreakerSince; s.NotReached() && !since.IsZero() && now.Sub(since) >= breakerLong {
		says[AlertBreaker] = fmt.Sprintf("%s: the accounting system has not answered since %s", s.Name, since.UTC().Format(alertTime))
	}
	if !s.PausedAt.IsZero() && now.Sub(s.PausedAt) >= forgotten {
		waiting, err := w.Store.Waiting(ctx, s.ID)
		if err != nil {
			return nil, err
		}
		if waiting {
			says[AlertPaused] = fmt.Sprintf("%s: paused since %s by %s, and invoices wait", s.Name, s.PausedAt.UTC().Format(alertTime), label(s.PausedBy))
		}
	}
	return says, nil
}

const alertTime = "2 January 15:04 MST"

// label is the name in a recorded label: "person:7 Ada Brown".
func label(by string) string {
	if _, name, found := strings.Cut(by, " "); found {
		return name
	}
	return by
}

// RunOnce raises one alert for each system with overdue items, and for each that stands still, and ends it once that is
// over. It returns how many new alerts it raised.
func (w Watch) RunOnce(ctx context.Context) (int, error) {
	now, err := w.Store.Now(ctx)
	if err != nil {
		return 0, err
	}
	systems, err := w.Store.Systems(ctx)
	if err != nil {
		return 0, err
	}
	overdue, err := w.Store.Overdue(ctx, now)
	if err != nil {
		return 0, err
	}
	bySystem := map[string]Overdue{}
	for _, o := range overdue {
		bySystem[o.SystemID] = o
	}
	raised := 0
	for _, s := range systems {
		stands, err := w.standsStill(ctx, s, now)
		if err != nil {
			return raised, err
		}
		for cause, text := range stands {
			if text == "" {
				if err := w.Store.ClearAlerts(ctx, s.ID, cause); err != nil {
					return raised, err
				}
				continue
			}
			isNew, err := w.Store.RaiseAlert(ctx, s.ID, cause, text)
			if err != nil {
				return raised, err
			}
			if isNew {
				raised++
				w.Log.Warn("an accounting system stands still", "system", s.ID, "cause", cause)
			}
		}
		o := bySystem[s.ID]
		if o.Count == 0 {
			if err := w.Store.ClearAlerts(ctx, s.ID, AlertOverdue); err != nil {
				return raised, err
			}
			continue
		}
		text := fmt.Sprintf("%s: %d not settled in time, the oldest since %s (%s)", s.Name, o.Count, o.Oldest.UTC().Format(alertTime), StoppedBecause(s))
		isNew, err := w.Store.RaiseAlert(ctx, s.ID, AlertOverdue, text)
		if err != nil {
			return raised, err
		}
		if isNew {
			raised++
			w.Log.Warn("items are overdue", "system", s.ID, "count", o.Count, "oldest", o.Oldest)
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
		return "paused by " + label(s.PausedBy) + ": " + s.PauseReason
	case s.LoginProblem != "":
		return "reconnect: the login is refused"
	case !s.BreakerUntil.IsZero():
		return "the accounting system does not answer"
	case !s.LookFirst.IsZero():
		return "everything is looked up first"
	}
	return "the automation is not getting through"
}
