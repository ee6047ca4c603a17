package store

import (
	"context"
	"time"

	"gorm.io/gorm"

	"onefold/internal/review"
)

// tally is a count of what is settled. It grows with the history: if that is much it is kept, and made anew beside the pages.
type tally struct {
	counts   map[review.Tab]int64
	at       time.Time // by this process's own clock
	took     time.Duration
	counting bool
}

var (
	keepFrom  int64 = 20_000      // fewer settled keys are counted with every page
	slowCount       = time.Second // no page waits for a count that takes as long, and the servers share it

	keepFactor time.Duration = 20 // a count that takes a second is made every 20 seconds
)

const (
	keepLongest  = 2 * time.Minute // an older count is shown only if it is slow
	countTimeout = 10 * time.Minute
)

func (t tally) old() bool { return time.Since(t.at) > keepFactor*t.took }

// settledCounts are those that are kept, if they are young enough.
func (s *Store) settledCounts(ctx context.Context, companyID int64) (map[review.Tab]int64, error) {
	s.tallies.mu.Lock()
	kept, ok := s.tallies.kept[companyID]
	s.tallies.mu.Unlock()
	if !ok {
		var err error
		if kept, ok, err = s.savedTally(ctx, companyID); err != nil {
			return nil, err
		}
		if ok {
			s.keepTally(companyID, kept)
		}
	}
	if !ok || time.Since(kept.at) >= keepLongest && kept.took < slowCount {
		return s.countSettled(ctx, companyID)
	}
	if kept.old() {
		s.countBeside(ctx, companyID)
	}
	return kept.counts, nil
}

func (s *Store) keepTally(companyID int64, t tally) {
	s.tallies.mu.Lock()
	defer s.tallies.mu.Unlock()
	if s.tallies.kept == nil {
		s.tallies.kept = map[int64]tally{}
	}
	s.tallies.kept[companyID] = t
}

// countBeside counts anew, unless that is being done; or takes what another server has counted meanwhile.
func (s *Store) countBeside(ctx context.Context, companyID int64) {
	s.tallies.mu.Lock()
	defer s.tallies.mu.Unlock()
	kept := s.tallies.kept[companyID]
	if kept.counting {
		return
	}
	kept.counting = true
	s.tallies.kept[companyID] = kept
	s.tallies.running.Add(1)
	go func() {
		defer s.tallies.running.Done()
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), countTimeout)
		defer cancel()
		saved, ok, err := s.savedTally(ctx, companyID)
		switch {
		case err == nil && ok && !saved.old():
			s.keepTally(companyID, saved)
		case err == nil:
			_, err = s.countSettled(ctx, companyID)
		}
		if err != nil {
			kept.counting = false
			s.keepTally(companyID, kept) // the next page tries again
		}
	}()
}

// countSettled counts what is finished and closed, and keeps it if that is much.
func (s *Store) countSettled(ctx context.Context, companyID int64) (map[review.Tab]int64, error) {
	const rows = "i.company_id = ?1 AND i.status IN ('confirmed', 'resolved', 'closed') AND i.status <> 'in_progress'"
	start := time.Now()
	// All settled rows, from the index alone, less those that do not stand for their document: few have a step before or
	// after them.
	counts, err := s.tally(ctx, "SELECT i.status, '', count(*) FROM items i WHERE "+rows+" GROUP BY i.status"+
		" UNION ALL SELECT i.status, '', -count(*) FROM items i WHERE i.previous_id IS NOT NULL AND "+rows+" AND NOT ("+shownAlone+") GROUP BY i.status"+
		" UNION ALL SELECT i.status, '', -count(*) FROM (SELECT DISTINCT previous_id FROM items WHERE previous_id IS NOT NULL) n JOIN items i ON i.id = n.previous_id"+
		" WHERE i.previous_id IS NULL AND i.status <> 'closed' AND "+rows+" GROUP BY i.status", companyID)
	if err != nil {
		return nil, err
	}
	t := tally{counts: counts, at: start, took: time.Since(start)}
	if counts[review.TabFinished]+counts[review.TabClosed] < keepFrom {
		s.tallies.mu.Lock()
		defer s.tallies.mu.Unlock()
		delete(s.tallies.kept, companyID)
		return counts, nil
	}
	s.keepTally(companyID, t)
	if t.took >= slowCount {
		if err := s.saveTally(ctx, companyID, t); err != nil {
			s.cfg.Log.Warn("a count of settled items could not be kept for the other servers", "error", err)
		}
	}
	return counts, nil
}

// savedTally is the count that a server has saved last, if any was slow.
func (s *Store) savedTally(ctx context.Context, companyID int64) (t tally, ok bool, err error) {
	var finished, closed, micros int64
	var at time.Time
	ok, err = s.maybeRow(ctx, "SELECT finished, closed, took, counted_at FROM settled_counts WHERE company_id = ?1", []any{companyID}, &finished, &closed, &micros, stamp{&at})
	if err != nil || !ok {
		return t, false, err
	}
	now, err := s.Now(ctx)
	if err != nil {
		return t, false, err
	}
	return tally{counts: map[review.Tab]int64{review.TabFinished: finished, review.TabClosed: closed}, at: time.Now().Add(at.Sub(now)),
		took: time.Duration(micros) * time.Microsecond}, true, nil
}

func (s *Store) saveTally(ctx context.Context, companyID int64, t tally) error {
	now, err := s.Now(ctx)
	if err != nil {
		return err
	}
	return s.db.write(ctx, func(tx *gorm.DB) error {
		return tx.Exec("INSERT INTO settled_counts (company_id, finished, closed, took, counted_at) VALUES (?, ?, ?, ?, ?) ON CONFLICT (company_id)"+
			" DO UPDATE SET finished = excluded.finished, closed = excluded.closed, took = excluded.took, counted_at = excluded.counted_at",
			companyID, t.counts[review.TabFinished], t.counts[review.TabClosed], t.took.Microseconds(), moment(now.Add(-time.Since(t.at)))).Error
	})
}
