package store

import (
	"context"
	"errors"

	"onefold/internal/review"
)

// EachFigure returns the figures of a company and grain as they are kept, for tests.
func EachFigure(ctx context.Context, s *Store, companyID int64, g review.Grain) (list []review.Figure, err error) {
	r, err := s.db.query(ctx, "SELECT starts_at, measure, system_id, automation, bucket, count FROM figures WHERE company_id = ?1 AND grain = ?2", companyID, string(g))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	for r.Next() {
		f := review.Figure{CompanyID: companyID, Grain: g}
		if err := r.Scan(stamp{&f.StartsAt}, (*string)(&f.Measure), &f.SystemID, &f.Automation, &f.Bucket, &f.Count); err != nil {
			return nil, err
		}
		list = append(list, f)
	}
	return list, r.Err()
}
