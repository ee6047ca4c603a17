package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

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
