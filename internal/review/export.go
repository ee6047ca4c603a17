package review

import (
	"context"
	"iter"
	"time"

	"onefold/internal/work"
)

const (
	exportPage   = 200
	exportRounds = 5
)

// Export returns all rows that the query lists, newest change first, by the same filter and rights as Search. A row that
// changes meanwhile moves to the top of the list: such rows are looked for again at the end, so that none is missing, and
// none comes twice. Nothing but the ids of the rows is held in memory.
func (s *Service) Export(ctx context.Context, by work.Actor, q Query) (iter.Seq2[work.Item, error], error) {
	if !MayRead(by) {
		return nil, ErrForbidden
	}
	q.Limit = exportPage
	return func(yield func(work.Item, error) bool) {
		done := map[int64]struct{}{}
		var since time.Time // rows that have not changed since then were seen
		for range exportRounds {
			began, err := s.Now(ctx)
			if err != nil {
				yield(work.Item{}, err)
				return
			}
			more, goOn := s.exportRound(ctx, by, q, since, done, yield)
			if !goOn || more == 0 && !since.IsZero() {
				return
			}
			since = began
		}
	}, nil
}

// exportRound yields what changed after the time and is not done, and returns how many rows that were.
func (s *Service) exportRound(ctx context.Context, by work.Actor, q Query, since time.Time, done map[int64]struct{}, yield func(work.Item, error) bool) (n int, goOn bool) {
	for q.After = (Cursor{}); ; {
		page, err := s.Search(ctx, by, q)
		if err != nil {
			return n, yield(work.Item{}, err) && false
		}
		for _, it := range page.Items {
			if it.ChangedAt.Before(since) {
				return n, true
			}
			if _, twice := done[it.ID]; twice {
				continue
			}
			done[it.ID] = struct{}{}
			if n++; !yield(it, nil) {
				return n, false
			}
		}
		if page.Next == (Cursor{}) {
			return n, true
		}
		q.After = page.Next
	}
}
