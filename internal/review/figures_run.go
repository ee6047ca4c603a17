package review

import (
	"context"
	"errors"
	"log/slog"
	"time"
)

// FigureRunner counts what the overview shows, in the background: every attempt once, in the hour in which it ended, whatever
// happens in between. Any number may run on one database; one counts at a time. It goes on where it stopped, and the first
// time it begins with the oldest attempt.
type FigureRunner struct {
	Store FigureStore
	Node  string
	Zone  *time.Location // of days and months; a change holds for what is counted from then on
	Every time.Duration  // from the end of one go to the next; 0: 10 seconds
	Most  int            // attempts in one step; 0: 2,000
	Log   *slog.Logger   // nil: silent
}

const (
	// figuresBehind is how far counting stays behind the clock. What begins or ends is written after the time that it carries;
	// something that took longer to be written than this is not counted.
	figuresBehind = 2 * time.Minute
	figuresHold   = time.Minute
	figuresSteps  = 25 // in one go, with a rest after it: a long past is counted while the engine works
	hoursKept     = 35 * 24 * time.Hour
)

// Run counts until ctx ends.
func (w FigureRunner) Run(ctx context.Context) error {
	every := w.Every
	if every == 0 {
		every = 10 * time.Second
	}
	for {
		if _, err := w.RunOnce(ctx); err != nil && ctx.Err() == nil && w.Log != nil {
			w.Log.Error("the figures of the overview could not be counted", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(every):
		}
	}
}

// RunOnce counts on, in bounded steps. It reports whether there is more; it is false too while another server counts.
func (w FigureRunner) RunOnce(ctx context.Context) (more bool, err error) {
	at, held, err := w.Store.HoldFigures(ctx, w.Node, figuresHold)
	if err != nil || !held {
		return false, err
	}
	defer func() {
		if e := w.Store.ReleaseFigures(context.WithoutCancel(ctx), w.Node); err == nil {
			err = e
		}
	}()
	now, err := w.Store.Now(ctx)
	if err != nil {
		return false, err
	}
	for range figuresSteps {
		if at, more, err = w.step(ctx, at, now.Add(-figuresBehind)); err != nil || !more {
			break
		}
	}
	switch {
	case errors.Is(err, ErrFiguresLost):
		return false, nil
	case err != nil:
		return more, err
	}
	return more, w.Store.DropFigures(ctx, now.Add(-hoursKept))
}

func (w FigureRunner) step(ctx context.Context, at FigurePlace, upTo time.Time) (FigurePlace, bool, error) {
	most, zone := w.Most, w.Zone
	if most == 0 {
		most = 2000
	}
	if zone == nil {
		zone = time.UTC
	}
	b, err := w.Store.FigureBatch(ctx, at, upTo, most)
	if err != nil {
		return at, false, err
	}
	if err := w.Store.SaveFigures(ctx, w.Node, figuresHold, at, b, countBatch(b, zone, upTo.Add(-hoursKept))); err != nil {
		return at, false, err
	}
	next := b.Place
	next.Version = at.Version + 1
	return next, b.More, nil
}
