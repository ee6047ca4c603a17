package review

import (
	"context"
	"errors"
	"slices"
	"time"

	"onefold/internal/work"
)

// wish is an act that a run is to carry out with one of its items.
type wish struct {
	row     BulkItem
	version int64 // the act is about the item as it was in this one
	action  Action
	in      Input
	done    BulkUpdate // what to write down afterwards; without an outcome a look is awaited
}

// act carries out wishes in one transaction and returns what came of each. An item that something is wrong with does not
// keep the others from it.
func (b BulkRunner) act(ctx context.Context, run BulkRun, wishes []wish) ([]BulkUpdate, error) {
	if len(wishes) == 0 {
		return nil, nil
	}
	updates, err := b.actTogether(ctx, run, wishes)
	if err == nil {
		return updates, nil
	}
	if _, down := b.Store.Now(ctx); down != nil || ctx.Err() != nil {
		return nil, err // the database is away: later
	}
	updates = updates[:0]
	for _, w := range wishes {
		one, err := b.actTogether(ctx, run, []wish{w})
		if err != nil {
			if _, down := b.Store.Now(ctx); down != nil || ctx.Err() != nil {
				return nil, err
			}
			b.log().Error("an item of a bulk run could not be changed", "run", run.ID, "item", w.row.ItemID, "error", err)
			one = []BulkUpdate{{N: w.row.N, BulkResult: BulkResult{Outcome: BulkFailed}}}
		}
		updates = append(updates, one...)
	}
	return updates, nil
}

func (b BulkRunner) actTogether(ctx context.Context, run BulkRun, wishes []wish) ([]BulkUpdate, error) {
	at := make(map[int64]wish, len(wishes))
	ids := make([]int64, len(wishes))
	for i, w := range wishes {
		at[w.row.ItemID], ids[i] = w, w.row.ItemID
	}
	taken := map[int64]bool{} // their records belong to other items
	for {
		var updates []BulkUpdate
		var stale []work.Item
		missing := map[int64]bool{}
		_, err := b.Store.Change(ctx, work.Pick{IDs: ids}, func(now time.Time, picked []work.Picked) ([]work.Move, error) {
			updates, stale, missing = nil, nil, map[int64]bool{} // a change may be decided more than once
			for _, id := range ids {
				missing[id] = true
			}
			var moves []work.Move
			for _, p := range picked {
				w := at[p.Item.ID]
				if p.Item.CompanyID != run.CompanyID {
					continue
				}
				delete(missing, p.Item.ID)
				if p.Item.Version != w.version {
					stale = append(stale, p.Item)
					continue
				}
				move, update, err := run.decide(w, p, taken[p.Item.ID], now)
				if err != nil {
					return nil, err
				}
				if move != nil {
					moves = append(moves, *move)
				}
				updates = append(updates, update)
			}
			return moves, nil
		})
		var already interface{ TakenBy() int64 }
		if errors.As(err, &already) && !taken[already.TakenBy()] && at[already.TakenBy()].row.N != 0 {
			taken[already.TakenBy()] = true
			continue
		}
		if err != nil {
			return nil, err
		}
		for id := range missing {
			updates = append(updates, BulkUpdate{N: at[id].row.N, BulkResult: BulkResult{Outcome: BulkGone}})
		}
		for _, it := range stale {
			update, err := b.overtaken(ctx, run, it, at[it.ID].row)
			if err != nil {
				return nil, err
			}
			updates = append(updates, update)
		}
		return updates, nil
	}
}

// decide judges one wish: a move with its act, or why there is none.
func (r BulkRun) decide(w wish, p work.Picked, taken bool, now time.Time) (*work.Move, BulkUpdate, error) {
	update, in, note := w.done, w.in, r.note(w.in.Note)
	update.N = w.row.N
	if bulkSettled(r.Plan, p.Item) != nil {
		update.BulkResult = BulkResult{Outcome: BulkSettled}
		return nil, update, nil
	}
	if w.action == Resolve { // the rules ask for a note
		in.Note = note
	}
	move, err := decide(w.action, in, r.By, p.Item, p.Rules, now)
	if err == nil && taken {
		err = &work.Refusal{Code: RefusedTaken}
	}
	var refusal *work.Refusal
	switch {
	case errors.As(err, &refusal):
		update.BulkResult = BulkResult{Outcome: BulkRefused, Detail: string(refusal.Code), At: refusal.Until}
		return nil, update, nil
	case err != nil:
		return nil, update, err
	}
	move.Act.Note = note
	if update.Outcome == BulkTodo {
		update.Looking = now
	}
	return &move, update, nil
}

// overtaken says what became of an item that is not as a wish was about. If the run itself had carried the wish out, and
// its server was lost before that was written down, it is as if it just had.
func (b BulkRunner) overtaken(ctx context.Context, run BulkRun, it work.Item, row BulkItem) (BulkUpdate, error) {
	update := BulkUpdate{N: row.N}
	acts, err := b.Store.Acts(ctx, it.ID, recentActs)
	if err != nil {
		return update, err
	}
	if own := slices.IndexFunc(acts, run.did); own >= 0 {
		switch a := acts[own]; {
		case !run.Plan.looks():
			update.BulkResult = BulkResult{Outcome: run.Plan.acted()}
			return update, nil
		case a.What == string(Resolve):
			update.Looked, update.BulkResult = true, BulkResult{Outcome: BulkFound, Detail: orElse(it.ExternalNumber, a.Detail)}
			return update, nil
		case a.What == string(Retry):
			update.Looked, update.BulkResult = true, BulkResult{Outcome: BulkSent}
			return update, nil
		case own == 0 && row.Looking.IsZero():
			update.Looking = a.At
			return update, nil
		case own == 0: // the automation moved it on: it is judged again
			return update, nil
		}
	}
	attempts, err := b.Store.Attempts(ctx, it.ID, 0, 1)
	if err != nil {
		return update, err
	}
	c := newest(it, acts, attempts)
	if len(acts) > 0 && !acts[0].At.Before(run.BeganAt) { // a colleague counts for more than what followed from it
		c.Act, c.Attempt = &acts[0], nil
	}
	update.Looked = !row.Looking.IsZero()
	update.BulkResult = BulkResult{Outcome: BulkChanged, At: c.At()}
	switch {
	case c.Act != nil:
		update.Who, update.Detail = c.Act.By.Name, c.Act.What
	case c.Attempt != nil:
		update.Detail = string(c.Attempt.Kind)
	}
	return update, nil
}
