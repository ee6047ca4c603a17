package store

import (
	"context"

	"gorm.io/gorm"

	"onefold/internal/automation/recurring"
)

// TakeUp takes up a period whatever the plan says: only the database's own constraints are asked. ErrCovered.
func (s *Store) TakeUp(ctx context.Context, t recurring.Taking) error {
	now, err := s.Now(ctx)
	if err != nil {
		return err
	}
	return s.db.write(ctx, func(tx *gorm.DB) error { return cover(tx, t, false, now) })
}
