package review

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"onefold/internal/work"
)

// Results of a line, beside the codes of refusals and the statuses that items have come to.
const (
	ResultChanged = "changed" // the item changed after it was compared: nothing was done
	ResultGone    = "gone"    // there is no such item
	ResultAbsent  = "absent"  // proven not there; a person may send it again
)

// ReportRunner applies reports in the background, in slices, through the one write door. Any number may run on one
// database, and what one has begun another one may end.
type ReportRunner struct {
	Store ReportStore
	Every time.Duration // between two looks for work; 0: 2 seconds
	Log   *slog.Logger  // nil: silent
}

const slice = 100

// Run applies what is to be applied until ctx ends.
func (w ReportRunner) Run(ctx context.Context) error {
	every := w.Every
	if every == 0 {
		every = 2 * time.Second
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		if err := w.RunOnce(ctx); err != nil && ctx.Err() == nil && w.Log != nil {
			w.Log.Error("a report could not be applied", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// RunOnce applies everything that is to be applied now. Each item is done once, also after a restart in between.
func (w ReportRunner) RunOnce(ctx context.Context) error {
	reports, err := w.Store.ReportsToApply(ctx)
	if err != nil {
		return err
	}
	var errs []error
	for _, r := range reports {
		errs = append(errs, w.apply(ctx, r))
	}
	return errors.Join(errs...)
}

func (w ReportRunner) apply(ctx context.Context, r Report) error {
	for {
		lines, err := w.Store.LinesToApply(ctx, r.ID, slice)
		if err != nil {
			return err
		}
		if len(lines) == 0 {
			err := w.Store.MoveReport(ctx, r.CompanyID, r.ID, r.Version, ReportApplying, ReportApplied, work.Actor{})
			if errors.Is(err, ErrReportChanged) { // another server was at it, too
				err = nil
			}
			return err
		}
		results, err := w.some(ctx, r, lines)
		if err != nil {
			return err
		}
		if err := w.Store.SetLineResults(ctx, r.ID, results); err != nil {
			return err
		}
	}
}

// some applies a slice of lines. If a record turns out to belong to another item, each line is applied by itself, and the one
// that is concerned goes to a person.
func (w ReportRunner) some(ctx context.Context, r Report, lines []ReportLine) (map[int]string, error) {
	results, err := w.change(ctx, r, lines)
	var taken interface{ TakenBy() int64 }
	if !errors.As(err, &taken) {
		return results, err
	}
	if len(lines) == 1 {
		lines[0].Why = "taken"
		return w.change(ctx, r, lines)
	}
	results = map[int]string{}
	for i := range lines {
		one, err := w.some(ctx, r, lines[i:i+1])
		if err != nil {
			return nil, err
		}
		for n, result := range one {
			results[n] = result
		}
	}
	return results, nil
}

func (w ReportRunner) change(ctx context.Context, r Report, lines []ReportLine) (map[int]string, error) {
	at := make(map[int64]*ReportLine, len(lines))
	ids := make([]int64, len(lines))
	for i := range lines {
		at[lines[i].ItemID], ids[i] = &lines[i], lines[i].ItemID
	}
	var results map[int]string
	var moved []*ReportLine
	_, err := w.Store.Change(ctx, work.Pick{IDs: ids}, func(now time.Time, picked []work.Picked) ([]work.Move, error) {
		results, moved = map[int]string{}, nil // a change may be decided more than once
		var moves []work.Move
		for _, l := range lines {
			results[l.Number] = ResultGone
		}
		for _, p := range picked {
			l := at[p.Item.ID]
			if p.Item.Version != l.Version || p.Item.CompanyID != r.CompanyID {
				results[l.Number] = ResultChanged
				moved = append(moved, l)
				continue
			}
			m, err := work.Decide(p.Item, l.event(&r), p.Rules, now)
			var refusal *work.Refusal
			switch {
			case errors.As(err, &refusal):
				results[l.Number] = string(refusal.Code)
			case err != nil:
				return nil, err
			default:
				results[l.Number] = l.came(m.Item.Status)
				moves = append(moves, m)
			}
		}
		return moves, nil
	})
	if err != nil {
		return nil, err
	}
	for _, l := range moved {
		if err := w.mine(ctx, r, l, results); err != nil {
			return nil, err
		}
	}
	return results, nil
}

// came is the result of a line whose item has come to the status.
func (l *ReportLine) came(to work.Status) string {
	if l.Kind == LineAbsent && to == work.Review {
		return ResultAbsent
	}
	return string(to)
}

// mine tells an item that this very report has changed, before its result could be kept, from one that others changed.
func (w ReportRunner) mine(ctx context.Context, r Report, l *ReportLine, results map[int]string) error {
	acts, err := w.Store.Acts(ctx, l.ItemID, recentActs)
	if err != nil {
		return err
	}
	for _, a := range acts {
		if a.What == (work.Reported{}).Name() && a.Detail == r.label() {
			results[l.Number] = l.came(a.To)
			return nil
		}
	}
	return nil
}
