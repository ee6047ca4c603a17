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

// keptSums adds up the tens of thousands of figures of a range once for all who look, and not for each of them. It is safe
// for concurrent use.
type keptSums struct {
	mu   sync.Mutex
	last map[Range]keptRange
}

type keptRange struct {
	from, to time.Time
	sums
}

// of returns the sums of a range that begins and ends so; they are at most sumsKept older than what is counted.
func (k *keptSums) of(ctx context.Context, store OverviewStore, companyID int64, r Range, g Grain, from, to time.Time) (sums, error) {
	countedTo, err := store.FiguresTo(ctx)
	if err != nil {
		return sums{}, err
	}
	k.mu.Lock()
	kept, is := k.last[r]
	k.mu.Unlock()
	if newer := countedTo.Sub(kept.countedTo); is && kept.from.Equal(from) && kept.to.Equal(to) && newer >= 0 && newer < sumsKept {
		return kept.sums, nil
	}
	kept = keptRange{from, to, sums{countedTo: countedTo}}
	if kept.figures, err = store.Figures(ctx, companyID, g, from, to); err != nil {
		return sums{}, err
	}
	if kept.ever, err = store.Figures(ctx, companyID, GrainAll, time.Unix(0, 0), time.Unix(1, 0)); err != nil {
		return sums{}, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.last == nil {
		k.last = map[Range]keptRange{}
	}
	k.last[r] = kept
	return kept.sums, nil
}
