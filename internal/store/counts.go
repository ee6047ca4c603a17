package store

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"onefold/internal/review"
	"onefold/internal/work"
)

// tallies keeps counts for a while.
type tallies struct {
	mu      sync.Mutex
	kept    map[int64]tally
	open    map[int64]openTally
	running sync.WaitGroup
}

// openTally is the count of what is open, as long as nothing has changed.
type openTally struct {
	counts map[review.Tab]int64
	mark   string
	at     time.Time // by this process's own clock
}

const keepOpen = 30 * time.Second // a mark is no proof that nothing has changed

const (
	openRows = "i.status IN ('review', 'pending', 'queued', 'failed') AND i.id > 0"
	callRows = "i.status = 'in_progress' AND i.lease_until IS NOT NULL"
)

// Counts implements review.Store. Those of what is open are counted whenever the mark has moved, at the latest after
// keepOpen; those of finished and closed keys may be some seconds old once there are very many, and are then counted anew
// beside the pages.
func (s *Store) Counts(ctx context.Context, companyID int64) (map[review.Tab]int64, error) {
	counts, err := s.openCounts(ctx, companyID)
	if err != nil {
		return nil, err
	}
	old, err := s.settledCounts(ctx, companyID)
	if err != nil {
		return nil, err
	}
	all := map[review.Tab]int64{}
	for _, tab := range []review.Tab{review.TabReview, review.TabUnknown, review.TabWaiting, review.TabFinished, review.TabClosed} {
		all[tab] = counts[tab] + old[tab]
		all[review.TabAll] += all[tab]
	}
	return all, nil
}

// openCounts are those of what is open: counted anew, unless nothing has changed since.
func (s *Store) openCounts(ctx context.Context, companyID int64) (map[review.Tab]int64, error) {
	mark, err := s.Mark(ctx, companyID, nil) // before the counting: what changes meanwhile is counted again
	if err != nil {
		return nil, err
	}
	s.tallies.mu.Lock()
	old := s.tallies.open[companyID]
	s.tallies.mu.Unlock()
	if old.mark == mark.All && time.Since(old.at) < keepOpen {
		return old.counts, nil
	}
	start := time.Now()
	counts, err := s.countOpen(ctx, companyID)
	if err != nil {
		return nil, err
	}
	s.tallies.mu.Lock()
	defer s.tallies.mu.Unlock()
	if s.tallies.open == nil {
		s.tallies.open = map[int64]openTally{}
	}
	s.tallies.open[companyID] = openTally{counts, mark.All, start}
	return counts, nil
}

func (s *Store) countOpen(ctx context.Context, companyID int64) (map[review.Tab]int64, error) {
	each := func(kind, rows string) string {
		return "SELECT i.status, " + kind + ", count(*) FROM items i WHERE i.company_id = ?1 AND " + rows + " AND " + noneBefore + " GROUP BY 1, 2"
	}
	return s.tally(ctx, each("''", openRows)+" UNION ALL "+each("i.open_kind", callRows), companyID) // a constant is not sorted by
}

// tally adds up what a statement counts by status and kind of open call.
func (s *Store) tally(ctx context.Context, text string, args ...any) (counts map[review.Tab]int64, err error) {
	r, err := s.db.query(ctx, text, args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	counts = map[review.Tab]int64{}
	for r.Next() {
		var status, kind string
		var n int64
		if err := r.Scan(&status, &kind, &n); err != nil {
			return nil, fmt.Errorf("count: %w", err)
		}
		counts[tabOf(work.Status(status), work.Kind(kind))] += n
	}
	return counts, r.Err()
}

// tabOf is the one list besides "all" that an item is on.
func tabOf(status work.Status, open work.Kind) review.Tab {
	switch status {
	case work.Review:
		return review.TabReview
	case work.Pending:
		return review.TabUnknown
	case work.InProgress:
		if open == work.Find {
			return review.TabUnknown
		}
		return review.TabWaiting
	case work.Queued, work.Failed:
		return review.TabWaiting
	case work.Closed:
		return review.TabClosed
	case work.Confirmed, work.Resolved:
		return review.TabFinished
	}
	return review.TabAll
}
