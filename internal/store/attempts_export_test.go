package store

import (
	"context"
	"testing"

	"gorm.io/gorm"

	"onefold/internal/review"
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

// AttemptListWhile is AttemptList without a key, while something else happens between its looks at the database.
func AttemptListWhile(ctx context.Context, s *Store, q review.AttemptQuery, happens func()) (page review.AttemptPage, err error) {
	l := attemptList{db: s.db.search(), query: q, pageQuery: pageQuery{place: s.db.at}}
	to, err := s.reach(ctx, &l)
	if err != nil {
		return page, err
	}
	happens()
	return s.within(ctx, l, to, page.How)
}

// DropAttempt removes one, as too old.
func DropAttempt(ctx context.Context, s *Store, itemID int64, number int) error {
	return s.db.write(ctx, func(tx *gorm.DB) error {
		return tx.Exec("DELETE FROM attempts WHERE item_id = ? AND number = ?", itemID, number).Error
	})
}
