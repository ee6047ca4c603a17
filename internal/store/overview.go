package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"onefold/internal/review"
)

var _ review.OverviewStore = (*Store)(nil)

// Figures implements review.OverviewStore. The database adds up what it can: a day of hours may have tens of thousands of
// rows.
func (s *Store) Figures(ctx context.Context, companyID int64, g review.Grain, from, to time.Time) (list []review.Figure, err error) {
	const byStretch = "measure = 'confirmed' OR measure LIKE 'send:%'"
	r, err := s.db.query(ctx, "SELECT CASE WHEN "+byStretch+" THEN starts_at ELSE ?3 END, measure, CASE WHEN measure = 'confirmed' THEN '' ELSE system_id END,"+
		" bucket, CAST(sum(count) AS bigint) FROM figures WHERE company_id = ?1 AND grain = ?2 AND starts_at >= ?3 AND starts_at < ?4 GROUP BY 1, 2, 3, 4",
		companyID, string(g), s.db.at(from), s.db.at(to))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	for r.Next() {
		f := review.Figure{CompanyID: companyID, Grain: g}
		if err := r.Scan(stamp{&f.StartsAt}, (*string)(&f.Measure), &f.SystemID, &f.Bucket, &f.Count); err != nil {
			return nil, fmt.Errorf("read figures: %w", err)
		}
		list = append(list, f)
	}
	return list, r.Err()
}

// FiguresTo implements review.OverviewStore.
func (s *Store) FiguresTo(ctx context.Context) (to time.Time, err error) {
	return to, s.row(ctx, "SELECT counted_to FROM figures_place", nil, stamp{&to})
}

// Longest implements review.OverviewStore. The list of what waits is a few seconds behind; what is not on it yet is no old
// item, unless the list is new itself: then it is the one that was not touched for the longest.
func (s *Store) Longest(ctx context.Context, companyID int64) (id int64, since time.Time, err error) {
	found, err := s.maybeRow(ctx, "SELECT n.item_id, n.noticed_at FROM notice_items n WHERE n.company_id = ?1"+
		" AND (SELECT i.status FROM items i WHERE i.id = n.item_id) = 'review' ORDER BY n.round LIMIT 1", []any{companyID}, &id, stamp{&since})
	if err != nil || found {
		return id, since, err
	}
	_, err = s.maybeRow(ctx, "SELECT id, changed_at FROM items WHERE company_id = ?1 AND status = 'review' AND status <> 'in_progress'"+
		" ORDER BY changed_at, id LIMIT 1", []any{companyID}, &id, stamp{&since})
	return id, since, err
}
