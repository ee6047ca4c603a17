package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"onefold/internal/review"
	"onefold/internal/work"
)

// Revision implements review.Store.
func (s *Store) Revision(ctx context.Context, itemID int64, number int) (rev work.Revision, err error) {
	r, err := s.db.query(ctx, "SELECT invoice, fingerprint, made_by, made_at FROM revisions WHERE item_id = ?1 AND number = ?2", itemID, number)
	if err != nil {
		return work.Revision{}, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	if !r.Next() {
		if err := r.Err(); err != nil {
			return work.Revision{}, err
		}
		return work.Revision{}, review.ErrNotFound
	}
	rev = work.Revision{ItemID: itemID, Number: number}
	var invoice []byte
	if err := r.Scan(&invoice, &rev.Fingerprint, &rev.By, stamp{&rev.At}); err != nil {
		return work.Revision{}, fmt.Errorf("read revision: %w", err)
	}
	if err := json.Unmarshal(invoice, &rev.Invoice); err != nil {
		return work.Revision{}, fmt.Errorf("revision %d of item %d is damaged: %w", number, itemID, err)
	}
	return rev, nil
}

// Seen implements review.Store.
func (s *Store) Seen(ctx context.Context, itemID int64, above int) (work.Attempt, error) {
	rows, err := readAll(ctx, s, attemptsTable, "item_id = ?1 AND number > ?2 AND record <> '' ORDER BY number DESC LIMIT 1", itemID, above)
	if err != nil {
		return work.Attempt{}, err
	}
	if len(rows) == 0 {
		return work.Attempt{}, review.ErrNotFound
	}
	return rows[0], nil
}
