package review

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"time"

	"onefold/internal/work"
)

// BulkRunner carries out bulk runs. Any number of servers may have one: each run is held by one of them at a time, and
// its acts pass the same gate and the same version guard as those of a page.
type BulkRunner struct {
	Store BulkStore
	Node  string       // this server's name; unique among the servers
	Log   *slog.Logger // nil: slog.Default
}

const (
	bulkSlice     = 200             // items of one transaction
	bulkWindow    = 600             // looks that a run awaits at the same time: other items must get their turn
	bulkHold      = 2 * time.Minute // a server that has not finished a step by then is taken for lost
	bulkTick      = time.Second
	preparingTime = 10 * time.Minute // of the version before this one
)

func (b BulkRunner) log() *slog.Logger {
	if b.Log == nil {
		return slog.Default()
	}
	return b.Log
}

// Run calls RunOnce until ctx ends; each second, or at once while there is something to do.
func (b BulkRunner) Run(ctx context.Context) error {
	tick := time.NewTicker(bulkTick)
	defer tick.Stop()
	for {
		worked, err := b.RunOnce(ctx)
		if err != nil && ctx.Err() == nil {
			b.log().Error("a bulk run could not go on", "error", err)
		}
		if worked && err == nil && ctx.Err() == nil {
			continue
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// RunOnce takes each open run that no other server holds one step on. It reports whether any got on; if not, all of them
// wait for looks.
func (b BulkRunner) RunOnce(ctx context.Context) (bool, error) {
	now, err := b.Store.Now(ctx)
	if err != nil {
		return false, err
	}
	if err := b.Store.AbandonBulks(ctx, now.Add(-preparingTime)); err != nil {
		return false, err
	}
	ids, err := b.Store.OpenBulks(ctx)
	worked := false
	for _, id := range ids {
		run, held, holdErr := b.Store.HoldBulk(ctx, id, b.Node, bulkHold)
		if holdErr != nil || !held {
			err = errors.Join(err, holdErr)
			continue
		}
		did, stepErr := b.step(ctx, run)
		worked = worked || did
		// On the way out, too: another server may go on at once.
		err = errors.Join(err, stepErr, b.Store.ReleaseBulk(context.WithoutCancel(ctx), id, b.Node))
	}
	return worked, err
}

// step freezes some more of the set, or judges the looks that have ended, begins with some more items, and ends the run when nothing is left.
func (b BulkRunner) step(ctx context.Context, run BulkRun) (bool, error) {
	switch run.State {
	case BulkStopping:
		return true, b.Store.EndBulk(ctx, run.ID, BulkStopped)
	case BulkPreparing:
		if _, err := freeze(ctx, b.Store, run); err != nil && !unfit(err) && !errors.Is(err, ErrBulkTaken) {
			return false, err
		}
		return true, nil
	}
	got, waiting, err := b.judgeLooks(ctx, run)
	if err != nil {
		return got, err
	}
	n := bulkSlice
	if run.Plan.looks() {
		n = min(n, bulkWindow-waiting)
	}
	began, none, err := b.begin(ctx, run, n)
	if err == nil && none && waiting == 0 {
		err = b.Store.EndBulk(ctx, run.ID, BulkFinished)
	}
	return got || began || none && waiting == 0, err
}

// begin carries out the plan's first action with the next n items. None says that there are no more.
func (b BulkRunner) begin(ctx context.Context, run BulkRun, n int) (did, none bool, err error) {
	if n <= 0 {
		return false, false, nil
	}
	looking := false
	rows, err := b.Store.BulkItems(ctx, run.ID, BulkRows{Limit: n, Only: []BulkOutcome{BulkTodo}, Looking: &looking})
	if err != nil || len(rows) == 0 {
		return false, err == nil, err
	}
	wishes := make([]wish, len(rows))
	for i, row := range rows {
		wishes[i] = wish{row: row, version: row.Version, action: run.Plan.first(), in: run.Input,
			done: BulkUpdate{BulkResult: BulkResult{Outcome: run.Plan.acted()}}}
	}
	updates, err := b.act(ctx, run, wishes)
	if err != nil {
		return false, false, err
	}
	return true, false, b.Store.SaveBulk(ctx, run.ID, updates)
}

// judgeLooks goes on with the items whose look has ended. Waiting is how many are still awaited.
func (b BulkRunner) judgeLooks(ctx context.Context, run BulkRun) (did bool, waiting int, err error) {
	if !run.Plan.looks() {
		return false, 0, nil
	}
	now, err := b.Store.Now(ctx)
	if err != nil {
		return false, 0, err
	}
	looking := true
	for after := 0; ; {
		rows, err := b.Store.BulkItems(ctx, run.ID, BulkRows{After: after, Limit: bulkSlice, Only: []BulkOutcome{BulkTodo}, Looking: &looking})
		if err != nil || len(rows) == 0 {
			return did, waiting, err
		}
		after = rows[len(rows)-1].N
		updates, wishes, err := b.judgeSlice(ctx, run, rows, now)
		if err != nil {
			return did, waiting, err
		}
		more, err := b.act(ctx, run, wishes)
		if err != nil {
			return did, waiting, err
		}
		updates = append(updates, more...)
		settled := 0
		for _, u := range updates {
			if u.Outcome != BulkTodo {
				settled++
			}
		}
		waiting += len(rows) - settled
		if settled > 0 {
			did = true
			if err := b.Store.SaveBulk(ctx, run.ID, updates); err != nil {
				return did, waiting, err
			}
		}
	}
}

// judgeSlice says what follows for items that a look is awaited for: results, and acts to carry out.
func (b BulkRunner) judgeSlice(ctx context.Context, run BulkRun, rows []BulkItem, now time.Time) (updates []BulkUpdate, wishes []wish, err error) {
	items, err := b.Store.ItemsByID(ctx, run.CompanyID, idsOf(rows))
	if err != nil {
		return nil, nil, err
	}
	for _, row := range rows {
		i := slices.IndexFunc(items, func(it work.Item) bool { return it.ID == row.ItemID })
		if i < 0 {
			updates = append(updates, BulkUpdate{N: row.N, BulkResult: BulkResult{Outcome: BulkGone}})
			continue
		}
		it := items[i]
		if awaited(it) && now.Sub(row.Looking) <= maxLooking {
			continue
		}
		acts, err := b.Store.Acts(ctx, it.ID, 1)
		if err != nil {
			return nil, nil, err
		}
		if len(acts) == 0 || !run.did(acts[0]) || acts[0].What != string(Check) {
			// Somebody acted, or this run did and its server was lost before that was written down.
			update, err := b.overtaken(ctx, run, it, row)
			if err != nil {
				return nil, nil, err
			}
			updates = append(updates, update)
			continue
		}
		find, sent, err := b.calls(ctx, it, row.Looking)
		if err != nil {
			return nil, nil, err
		}
		n := afterLook(run.Plan, it, find, sent, row.Looking, now)
		switch {
		case n.action != "":
			w := wish{row: row, version: it.Version, action: n.action, in: n.in, done: BulkUpdate{Looked: true, BulkResult: BulkResult{Outcome: BulkSent}}}
			if n.action == Resolve {
				w.done.BulkResult = BulkResult{Outcome: BulkFound, Detail: n.result.Detail}
			}
			wishes = append(wishes, w)
		case n.result.Outcome != BulkTodo:
			updates = append(updates, BulkUpdate{N: row.N, Looked: n.looked, BulkResult: n.result})
		}
	}
	return updates, wishes, nil
}

// callsSince is how many of the newest calls of an item are read: a look is among them.
const callsSince = 5

// calls returns the newest lookup of an item that was begun since a time and has ended, and whether a send was begun
// after that.
func (b BulkRunner) calls(ctx context.Context, it work.Item, since time.Time) (find *work.Attempt, sent bool, err error) {
	attempts, err := b.Store.Attempts(ctx, it.ID, 0, callsSince)
	if err != nil {
		return nil, false, err
	}
	for i, a := range attempts {
		switch {
		case a.StartedAt.Before(since):
			return nil, sent, nil
		case a.LateFor != 0 || a.EndedAt.IsZero():
		case a.Kind == work.Send:
			sent = true
		default:
			return &attempts[i], sent, nil
		}
	}
	return nil, sent, nil
}

// did reports whether the act is one of the run's own.
func (r BulkRun) did(a work.Act) bool { return a.By.Same(r.By) && strings.HasSuffix(a.Note, r.mark()) }
