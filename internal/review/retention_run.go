package review

import (
	"context"
	"log/slog"
	"time"
)

// RetentionRunner removes history that is old enough, in small batches in the background. Any number of servers may have one:
// one of them removes at a time.
type RetentionRunner struct {
	Store     RetentionStore
	CompanyID int64
	Node      string                    // this server's name; unique among the servers
	Pause     func(ctx context.Context) // between batches, so that others come first; nil: a tenth of a second
	Log       *slog.Logger
}

const (
	retentionTick  = time.Minute
	retentionHold  = 3 * time.Minute // a server that has not come back by then is taken for lost
	retentionBatch = 500             // items or rows that one batch looks at
	retentionRound = 200             // batches of one round
)

// RunOnce removes for a round, if no other server does. It returns how many rows went, and whether there may be more to
// remove at once.
func (r RetentionRunner) RunOnce(ctx context.Context) (removed int64, more bool, err error) {
	now, err := r.Store.Now(ctx)
	if err != nil {
		return 0, false, err
	}
	settings, err := retention(ctx, r.Store, r.CompanyID)
	if err != nil {
		return 0, false, err
	}
	batches := 0
	for _, k := range Histories {
		before, ends := settings.Before(k, now)
		for again := ends; again; batches++ {
			if batches == retentionRound {
				return removed, true, nil
			}
			if batches > 0 {
				r.pause(ctx)
			}
			// Before each batch: a slow database must not make two servers of one.
			if now, err = r.Store.Now(ctx); err != nil {
				return removed, false, err
			}
			held, err := r.Store.HoldRetention(ctx, r.Node, now.Add(retentionHold))
			if err != nil || !held {
				return removed, false, err
			}
			n, left, err := r.Store.RemoveAged(ctx, r.CompanyID, k, before, retentionBatch)
			if removed += n; err != nil {
				return removed, false, err
			}
			again = left && ctx.Err() == nil
		}
	}
	return removed, false, ctx.Err()
}

func (r RetentionRunner) pause(ctx context.Context) {
	if r.Pause != nil {
		r.Pause(ctx)
		return
	}
	timer := time.NewTimer(100 * time.Millisecond)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// Run calls RunOnce each minute, or at once while there is more to remove, until ctx ends.
func (r RetentionRunner) Run(ctx context.Context) error {
	tick := time.NewTicker(retentionTick)
	defer tick.Stop()
	for {
		removed, more, err := r.RunOnce(ctx)
		if err != nil && ctx.Err() == nil {
			r.Log.Error("old history could not be removed", "error", err)
		}
		if removed > 0 {
			r.Log.Info("old history was removed", "rows", removed)
		}
		if more && err == nil && ctx.Err() == nil {
			r.pause(ctx)
			continue
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}
