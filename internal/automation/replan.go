package automation

import (
	"context"
	"time"

	"onefold/internal/work"
)

// Replan is a system whose limits were changed and whose waiting items are not all planned anew yet. It is done twice:
// the calls that are on their way when limits change still end under those that held when they were claimed.
type Replan struct {
	SystemID string
	ChangeID int64     // the newest change; with it everything begins anew
	AgainAt  time.Time // when such calls are over
	Again    bool      // the first time is done
	After    int64     // items up to this id are done
}

// LastCalls is what Replanned needs to know of an item.
type LastCalls struct {
	ItemID     int64
	Attempts   int
	Last, Send work.Attempt // the last call and the last send; zero: none
	Fresh      time.Time    // when a person last let it go on from the start; zero: never
}

const (
	replanRead  = 5000
	replanWrite = 500
)

// Replan plans waiting items anew whose limits were changed; it returns how many were. Any server does it, in slices, and
// goes on where another one stopped.
func (e *Engine) Replan(ctx context.Context) (int, error) {
	list, err := e.Store.Replans(ctx)
	if err != nil || len(list) == 0 {
		return 0, err
	}
	now, err := e.Store.Now(ctx)
	if err != nil {
		return 0, err
	}
	total := 0
	for _, r := range list {
		for done := r.Again && now.Before(r.AgainAt); !done; {
			n := 0
			if r, n, done, err = e.replanSlice(ctx, r); err != nil {
				return total, err
			}
			total += n
		}
	}
	return total, nil
}

// replanSlice plans one slice; it returns how far it came.
func (e *Engine) replanSlice(ctx context.Context, r Replan) (_ Replan, n int, done bool, err error) {
	calls, err := e.Store.LastCalls(ctx, r, replanRead)
	if err != nil {
		return r, 0, false, err
	}
	for i := 0; i < len(calls); i += replanWrite {
		slice := calls[i:min(i+replanWrite, len(calls))]
		moves, err := e.replan(ctx, slice)
		if err != nil {
			return r, n, false, err
		}
		n += len(moves)
	}
	done = len(calls) < replanRead
	after := r.After
	if len(calls) > 0 {
		after = calls[len(calls)-1].ItemID
	}
	err = e.Store.Replanned(ctx, r, after, done)
	r.After = after
	return r, n, done, err
}

func (e *Engine) replan(ctx context.Context, calls []LastCalls) ([]work.Move, error) {
	ids, of := make([]int64, len(calls)), make(map[int64]LastCalls, len(calls))
	for i, c := range calls {
		ids[i], of[c.ItemID] = c.ItemID, c
	}
	return e.Store.Change(ctx, work.Pick{IDs: ids}, func(now time.Time, picked []work.Picked) ([]work.Move, error) {
		return decideAll(picked, now, func(p work.Picked) work.Event {
			c := of[p.Item.ID]
			since := p.Item.RecordedAt
			if c.Fresh.After(since) {
				since = c.Fresh
			}
			return work.Replanned{Attempts: c.Attempts, Last: c.Last, Send: c.Send, Since: since}
		})
	})
}

func (e *Engine) replanAndLog(ctx context.Context) {
	switch n, err := e.Replan(ctx); {
	case err != nil && ctx.Err() == nil:
		e.Log.Error("waiting items could not be planned anew", "error", err)
	case n > 0:
		e.Log.Info("limits were changed; waiting items are planned anew", "count", n)
	}
}
