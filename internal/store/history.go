package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"onefold/internal/review"
	"onefold/internal/work"
)

// Item implements review.Store.
func (s *Store) Item(ctx context.Context, companyID, id int64) (work.Item, error) {
	items, err := s.list(ctx, "WHERE i.id = ?1 AND i.company_id = ?2", id, companyID)
	if err != nil {
		return work.Item{}, err
	}
	if len(items) == 0 {
		return work.Item{}, review.ErrNotFound
	}
	return items[0], nil
}

func (s *Store) byIDs(ctx context.Context, ids []int64) ([]work.Item, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	list, err := json.Marshal(ids)
	if err != nil {
		return nil, err
	}
	return s.list(ctx, "WHERE i.id IN "+s.db.search().numbers()+" ORDER BY i.id", string(list))
}

// Chain implements review.Store.
func (s *Store) Chain(ctx context.Context, it work.Item) ([]work.Item, error) {
	return s.list(ctx, "WHERE i.id IN (SELECT item_id FROM item_keys WHERE folded_key = ?1 AND company_id = ?2 AND automation = ?3) ORDER BY i.id",
		work.FoldKey(it.BusinessKey), it.CompanyID, it.Automation)
}

// Attempts implements review.Store.
func (s *Store) Attempts(ctx context.Context, itemID int64, before, limit int) ([]work.Attempt, error) {
	return readAll(ctx, s, attemptsTable, "item_id = ?1 AND (?2 = 0 OR number < ?2) ORDER BY number DESC LIMIT ?3", itemID, before, limit)
}

// Acts implements review.Store.
func (s *Store) Acts(ctx context.Context, itemID int64, limit int) ([]work.Act, error) {
	return readAll(ctx, s, actsTable, "item_id = ?1 ORDER BY id DESC LIMIT ?2", itemID, limit)
}

// readAll reads rows of a table.
func readAll[R any](ctx context.Context, s *Store, t table[R], where string, args ...any) (list []R, err error) {
	r, err := s.db.query(ctx, "SELECT "+names(t.columns, "")+" FROM "+t.name+" WHERE "+where, args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	var row R
	dests := t.dests(&row)
	for r.Next() {
		if err := r.Scan(dests...); err != nil {
			return nil, fmt.Errorf("read %s: %w", t.name, err)
		}
		list = append(list, row)
	}
	return list, r.Err()
}

// tallies keeps the counts of finished keys for a while, if they take long to count: they grow with the history.
type tallies struct {
	mu   sync.Mutex
	kept map[int64]tally
}

type tally struct {
	counts map[review.Tab]int64
	until  time.Time // by this process's own clock
}

const (
	countQuickly = 100 * time.Millisecond
	keepFactor   = 20 // a count that takes a second is made every 20 seconds
)

// Counts implements review.Store. All counts are exact; those of finished and closed keys may be some seconds old once
// there are very many.
func (s *Store) Counts(ctx context.Context, companyID int64) (map[review.Tab]int64, error) {
	counts, err := s.count(ctx, companyID, "i.status IN ('review', 'pending', 'queued', 'failed')", "i.status = 'in_progress' AND i.lease_until IS NOT NULL")
	if err != nil {
		return nil, err
	}
	s.tallies.mu.Lock()
	old, ok := s.tallies.kept[companyID]
	s.tallies.mu.Unlock()
	if start := time.Now(); !ok || start.After(old.until) {
		if old.counts, err = s.count(ctx, companyID, "i.status IN ('confirmed', 'resolved', 'closed')"); err != nil {
			return nil, err
		}
		if took := time.Since(start); took > countQuickly {
			old.until = time.Now().Add(keepFactor * took)
			s.tallies.mu.Lock()
			if s.tallies.kept == nil {
				s.tallies.kept = map[int64]tally{}
			}
			s.tallies.kept[companyID] = old
			s.tallies.mu.Unlock()
		}
	}
	all := map[review.Tab]int64{}
	for _, tab := range []review.Tab{review.TabReview, review.TabUnknown, review.TabWaiting, review.TabFinished, review.TabClosed} {
		all[tab] = counts[tab] + old.counts[tab]
		all[review.TabAll] += all[tab]
	}
	return all, nil
}

// count counts the shown rows under each of the conditions, which do not overlap.
func (s *Store) count(ctx context.Context, companyID int64, conditions ...string) (counts map[review.Tab]int64, err error) {
	each := make([]string, len(conditions))
	for i, c := range conditions {
		each[i] = "SELECT i.status, CASE WHEN i.status = 'in_progress' THEN i.open_kind ELSE '' END, count(*) FROM items i" +
			" WHERE i.company_id = ?1 AND " + c + " AND " + shownRow + " GROUP BY 1, 2"
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
