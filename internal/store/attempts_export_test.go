package store

import (
	"context"
	"testing"

	"gorm.io/gorm"

	"onefold/internal/work"
)

// SetLookThrough changes for a test how many attempts one page looks through, and of how many items it looks at each.
func SetLookThrough(t testing.TB, attempts, items, keys int) {
	a, i, k := lookThrough, lookThroughItems, mostKeys
	lookThrough, lookThroughItems, mostKeys = attempts, items, keys
	t.Cleanup(func() { lookThrough, lookThroughItems, mostKeys = a, i, k })
}

// PutAttempts writes attempts as they are, past the write door.
func PutAttempts(ctx context.Context, s *Store, list []work.Attempt) error {
	return s.db.write(ctx, func(tx *gorm.DB) error {
		for i := range list {
			args := attemptsTable.values(&list[i])
			for j, c := range attemptsTable.columns {
				if c.kind == timeKind && args[j] != nil {
					args[j] = s.db.at(*c.moment(&list[i]))
				}
			}
			if err := tx.Exec(attemptsTable.insertOne(), args...).Error; err != nil {
				return err
			}
		}
		return nil
	})
}
