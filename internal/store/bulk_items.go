package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"gorm.io/gorm"

	"onefold/internal/review"
	"onefold/internal/work"
)

// bulkItemRow is one item of a run's frozen set, as it is written first.
type bulkItemRow struct {
	RunID   int64
	N       int
	ItemID  int64
	Version int64
}

func (bulkItemRow) TableName() string { return "bulk_items" }

// ItemsByID implements review.BulkStore.
func (s *Store) ItemsByID(ctx context.Context, companyID int64, ids []int64) ([]work.Item, error) {
	found, err := s.byIDs(ctx, ids)
	if err != nil {
		return nil, err
	}
	items := found[:0]
	for _, it := range found {
		if it.CompanyID == companyID {
			items = append(items, it)
		}
	}
	return items, nil
}

// FillBulk implements review.BulkStore.
func (s *Store) FillBulk(ctx context.Context, run review.BulkRun, items []review.BulkItem, left *review.Freezing) (review.BulkRun, error) {
	text, err := freezingText(left)
	if err != nil {
		return run, fmt.Errorf("freeze the set of a bulk run: %w", err)
	}
	after := run
	err = s.db.write(ctx, func(tx *gorm.DB) error {
		rows, err := newBulkItems(tx, s.db.search(), run, items)
		if err != nil {
			return err
		}
		after.Size, after.Freezing, after.Version = run.Size+int64(len(rows)), left, run.Version+1
		if after.Size > review.MaxBulk {
			return review.ErrBulkLarge
		}
		if left == nil {
			after.State = review.BulkRunning
		}
		done := tx.Exec("UPDATE bulk_runs SET state = ?, size = ?, freezing = ?, version = ? WHERE id = ? AND version = ? AND state = 'preparing'",
			string(after.State), after.Size, text, after.Version, run.ID, run.Version)
		switch {
		case done.Error != nil:
			return done.Error
		case done.RowsAffected == 0:
			return review.ErrBulkTaken
		case len(rows) == 0:
			return nil
		}
		return tx.CreateInBatches(rows, 500).Error
	})
	if err != nil {
		return run, fmt.Errorf("freeze the set of a bulk run: %w", err)
	}
	return after, nil
}

// newBulkItems numbers those of the items that are not in the run's set yet.
func newBulkItems(tx *gorm.DB, db searcher, run review.BulkRun, items []review.BulkItem) ([]bulkItemRow, error) {
	ids := make([]int64, len(items))
	for i, it := range items {
		ids[i] = it.ItemID
	}
	list, err := json.Marshal(ids)
	if err != nil {
		return nil, err
	}
	// One after the other by the index: a list of thousands PostgreSQL would hold against each row of the run.
	var taken []int64
	err = tx.Raw("SELECT f.item_id FROM ("+db.ids("?")+") f WHERE (SELECT 1 FROM bulk_items b WHERE b.run_id = ? AND b.item_id = f.item_id LIMIT 1) = 1",
		string(list), run.ID).Scan(&taken).Error
	if err != nil {
		return nil, err
	}
	in := make(map[int64]bool, len(items))
	for _, id := range taken {
		in[id] = true
	}
	rows := make([]bulkItemRow, 0, len(items))
	for _, it := range items {
		if !in[it.ItemID] {
			in[it.ItemID] = true
			rows = append(rows, bulkItemRow{RunID: run.ID, N: int(run.Size) + len(rows) + 1, ItemID: it.ItemID, Version: it.Version})
		}
	}
	return rows, nil
}

// BulkItems implements review.BulkStore.
func (s *Store) BulkItems(ctx context.Context, id int64, q review.BulkRows) (list []review.BulkItem, err error) {
	b := &pageQuery{place: s.db.at}
	text := "SELECT n, item_id, version, looking, outcome, detail, who, at FROM bulk_items WHERE run_id = " + b.add(id) + " AND n > " + b.add(q.After)
	if len(q.Only) > 0 {
		names := make([]string, len(q.Only))
		for i, o := range q.Only {
			names[i] = "'" + string(o) + "'" // constants, so that the partial indexes serve
		}
		text += " AND outcome IN (" + strings.Join(names, ", ") + ")"
		if len(names) == 1 {
			text += " AND outcome = " + names[0]
		}
	}
	switch {
	case q.Looking == nil:
	case *q.Looking:
		text += " AND looking IS NOT NULL"
	default:
		text += " AND looking IS NULL"
	}
	r, err := s.db.query(ctx, text+" ORDER BY n LIMIT "+strconv.Itoa(q.Limit), b.args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	for r.Next() {
		var it review.BulkItem
		if err := r.Scan(&it.N, &it.ItemID, &it.Version, stamp{&it.Looking}, (*string)(&it.Outcome), &it.Detail, &it.Who, stamp{&it.At}); err != nil {
			return nil, fmt.Errorf("read the items of a bulk run: %w", err)
		}
		list = append(list, it)
	}
	return list, r.Err()
}

// SaveBulk implements review.BulkStore. Results and tallies change in one transaction, so that the sums are always those
// of the items.
func (s *Store) SaveBulk(ctx context.Context, id int64, updates []review.BulkUpdate) error {
	if len(updates) == 0 {
		return nil
	}
	err := s.db.write(ctx, func(tx *gorm.DB) error {
		tally, looked := map[review.BulkOutcome]int64{}, int64(0)
		for _, u := range updates {
			if u.Outcome == review.BulkTodo && u.Looking.IsZero() {
				continue
			}
			done := saveBulkItem(tx, id, u)
			if done.Error != nil {
				return done.Error
			}
			if done.RowsAffected == 1 && u.Outcome != review.BulkTodo {
				tally[u.Outcome]++
				if u.Looked {
					looked++
				}
			}
		}
		for outcome, n := range tally {
			if err := tx.Exec("INSERT INTO bulk_tallies (run_id, outcome, items) VALUES (?, ?, ?) ON CONFLICT (run_id, outcome) DO UPDATE"+
				" SET items = bulk_tallies.items + excluded.items", id, string(outcome), n).Error; err != nil {
				return err
			}
		}
		return tx.Exec("UPDATE bulk_runs SET looked = looked + ?, version = version + 1 WHERE id = ?", looked, id).Error
	})
	if err != nil {
		return fmt.Errorf("write down the results of a bulk run: %w", err)
	}
	return nil
}

func saveBulkItem(tx *gorm.DB, id int64, u review.BulkUpdate) *gorm.DB {
	if u.Outcome == review.BulkTodo {
		return tx.Exec("UPDATE bulk_items SET looking = ? WHERE run_id = ? AND n = ? AND outcome = '' AND looking IS NULL", moment(u.Looking), id, u.N)
	}
	return tx.Exec("UPDATE bulk_items SET outcome = ?, detail = ?, who = ?, at = ? WHERE run_id = ? AND n = ? AND outcome = ''",
		string(u.Outcome), tidy(u.Detail, maxShort), tidy(u.Who, maxShort), moment(orNever(u.At)), id, u.N)
}

// orNever keeps times that a database cannot hold out of it.
func orNever(t time.Time) time.Time {
	if t.Year() < 1970 || t.Year() > 9999 {
		return time.Time{}
	}
	return t
}
