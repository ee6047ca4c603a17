package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"onefold/internal/review"
	"onefold/internal/work"
)

// tallies keeps the counts of finished keys for a while, if there are many: they grow with the history.
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

type tally struct {
	counts   map[review.Tab]int64
	at       time.Time // by this process's own clock
	until    time.Time // then they are counted anew
	counting bool
}

var keepFrom int64 = 20_000 // fewer settled keys are counted with every page

const (
	keepFactor   = 20              // a count that takes a second is made every 20 seconds
	keepLongest  = 2 * time.Minute // older counts are not shown
	countTimeout = time.Minute
	keepOpen     = 30 * time.Second // a mark is no proof that nothing has changed
)

const (
	openRows    = "i.status IN ('review', 'pending', 'queued', 'failed') AND i.id > 0"
	callRows    = "i.status = 'in_progress' AND i.lease_until IS NOT NULL"
	settledRows = "i.status IN ('confirmed', 'resolved', 'closed') AND i.status <> 'in_progress'"
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
	counts, err := s.count(ctx, companyID, noneBefore, openRows, callRows)
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

// settledCounts are those that are kept, if they are young enough.
func (s *Store) settledCounts(ctx context.Context, companyID int64) (map[review.Tab]int64, error) {
	now := time.Now()
	s.tallies.mu.Lock()
	old, ok := s.tallies.kept[companyID]
	again := ok && now.After(old.until) && !old.counting
	if again && now.Sub(old.at) < keepLongest {
		old.counting = true
		s.tallies.kept[companyID] = old
		s.tallies.running.Add(1)
	}
	s.tallies.mu.Unlock()
	if !ok || now.Sub(old.at) >= keepLongest {
		return s.countSettled(ctx, companyID)
	}
	if again {
		go func() {
			defer s.tallies.running.Done()
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), countTimeout)
			defer cancel()
			if _, err := s.countSettled(ctx, companyID); err != nil {
				s.tallies.mu.Lock()
				defer s.tallies.mu.Unlock()
				old.counting = false
				s.tallies.kept[companyID] = old // the next page tries again
			}
		}()
	}
	return old.counts, nil
}

// countSettled counts what is finished and closed, and keeps it if that is much.
func (s *Store) countSettled(ctx context.Context, companyID int64) (map[review.Tab]int64, error) {
	start := time.Now()
	counts, err := s.count(ctx, companyID, shownRow, settledRows)
	if err != nil {
		return nil, err
	}
	s.tallies.mu.Lock()
	defer s.tallies.mu.Unlock()
	if counts[review.TabFinished]+counts[review.TabClosed] >= keepFrom {
		if s.tallies.kept == nil {
			s.tallies.kept = map[int64]tally{}
		}
		s.tallies.kept[companyID] = tally{counts: counts, at: start, until: time.Now().Add(keepFactor * time.Since(start))}
	} else {
		delete(s.tallies.kept, companyID)
	}
	return counts, nil
}

// count counts the shown rows under each of the conditions, which do not overlap.
func (s *Store) count(ctx context.Context, companyID int64, shown string, conditions ...string) (counts map[review.Tab]int64, err error) {
	each := make([]string, len(conditions))
	for i, c := range conditions {
		kind := "''" // a constant is not sorted by
		if c == callRows {
			kind = "i.open_kind"
		}
		each[i] = "SELECT i.status, " + kind + ", count(*) FROM items i" +
			" WHERE i.company_id = ?1 AND " + c + " AND " + shown + " GROUP BY 1, 2"
	}
	r, err := s.db.query(ctx, strings.Join(each, " UNION ALL "), companyID)
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
