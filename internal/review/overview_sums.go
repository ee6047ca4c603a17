package review

import (
	"context"
	"sync"
	"time"
)

// sumsKept is for how much counted time sums are shown again: the figures are two minutes behind by themselves.
const sumsKept = 30 * time.Second

// sums are the figures of one range, as far as was counted when they were added up.
type sums struct {
	countedTo     time.Time
	figures, ever []Figure
}

// keptSums adds up the tens of thousands of figures of a range once for all who look, and not for each of them, also if they
// look at the same moment. It is safe for concurrent use.
type keptSums struct {
	mu   sync.Mutex
	last map[Range]*keptRange
}

type keptRange struct {
	mu       sync.Mutex // held while they are added up: the others wait for the same sums
	from, to time.Time
	sums
}

func (k *keptSums) kept(r Range) *keptRange {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.last == nil {
		k.last = map[Range]*keptRange{}
	}
	if k.last[r] == nil {
		k.last[r] = &keptRange{}
	}
	return k.last[r]
}

// of returns the sums of a range that begins and ends so; they are at most sumsKept older than what is counted.
func (k *keptSums) of(ctx context.Context, store OverviewStore, companyID int64, r Range, g Grain, from, to time.Time) (sums, error) {
	kept := k.kept(r)
	kept.mu.Lock()
	defer kept.mu.Unlock()
	countedTo, err := store.FiguresTo(ctx)
	if err != nil {
		return sums{}, err
	}
	if newer := countedTo.Sub(kept.countedTo); kept.from.Equal(from) && kept.to.Equal(to) && newer >= 0 && newer < sumsKept {
		return kept.sums, nil
	}
	fresh := sums{countedTo: countedTo}
	if fresh.figures, err = store.Figures(ctx, companyID, g, from, to); err != nil {
		return sums{}, err
	}
	if fresh.ever, err = store.Figures(ctx, companyID, GrainAll, time.Unix(0, 0), time.Unix(1, 0)); err != nil {
		return sums{}, err
	}
	kept.from, kept.to, kept.sums = from, to, fresh
	return fresh, nil
}
