package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
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

const partOfAttempts = "item_id = ?1 AND number < ?2 ORDER BY number DESC LIMIT ?3"

// Attempts implements review.Store.
func (s *Store) Attempts(ctx context.Context, itemID int64, before, limit int) ([]work.Attempt, error) {
	if before <= 0 || before > math.MaxInt32 { // of all; no number is larger
		before = math.MaxInt32
	}
	return readAll(ctx, s, attemptsTable, partOfAttempts, itemID, before, limit)
}

// Acts implements review.Store.
func (s *Store) Acts(ctx context.Context, itemID int64, limit int) ([]work.Act, error) {
	return readAll(ctx, s, actsTable, "item_id = ?1 ORDER BY id DESC LIMIT ?2", itemID, limit)
}

// ActsBefore implements review.Store.
func (s *Store) ActsBefore(ctx context.Context, itemID, id int64, at time.Time, limit int) (list []review.NumberedAct, err error) {
	if id <= 0 {
		id = math.MaxInt64
	}
	where, args := "item_id = ?1 AND id < ?2", []any{itemID, id, limit}
	if !at.IsZero() {
		where, args = where+" AND at < ?4", append(args, s.db.at(at))
	}
	r, err := s.db.query(ctx, "SELECT id, "+names(actsTable.columns, "")+" FROM acts WHERE "+where+" ORDER BY id DESC LIMIT ?3", args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	var a review.NumberedAct
	dests := append([]any{&a.ID}, actsTable.dests(&a.Act)...)
	for r.Next() {
		if err := r.Scan(dests...); err != nil {
			return nil, fmt.Errorf("read acts: %w", err)
		}
		list = append(list, a)
	}
	return list, r.Err()
}

// readAll reads rows of a table.
func readAll[R any](ctx context.Context, s *Store, t table[R], where string, args ...any) ([]R, error) {
	return readFrom(ctx, s, t, "SELECT "+names(t.columns, "")+" FROM "+t.name+" WHERE "+where, args...)
}

// readFrom reads rows of a table by a statement for its columns.
func readFrom[R any](ctx context.Context, s *Store, t table[R], text string, args ...any) (list []R, err error) {
	r, err := s.db.query(ctx, text, args...)
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
