package store

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"gorm.io/gorm"

	"onefold/internal/automation"
)

// importLineRow is one row of a file.
type importLineRow struct {
	ImportID int64 `gorm:"primaryKey;autoIncrement:false"`
	N        int   `gorm:"primaryKey;autoIncrement:false"`
	Line     int
	Outcome  string
	Key      string
	Customer string
	Currency string
	Amount   string
	Detail   string
	Who      string
	ItemID   int64
	Content  string
}

func (importLineRow) TableName() string { return "import_rows" }

// ImportRows implements automation.ImportStore.
func (s *Store) ImportRows(ctx context.Context, id int64, q automation.ImportRowQuery) (list []automation.ImportRow, err error) {
	content := "''"
	if q.Content {
		content = "content"
	}
	args := []any{id, q.After}
	where := "import_id = ?1 AND n > ?2"
	if q.Outcome != "" {
		where += " AND outcome = ?3"
		args = append(args, string(q.Outcome))
	}
	r, err := s.db.query(ctx, "SELECT n, line, outcome, key, customer, currency, amount, detail, who, item_id, "+content+" FROM import_rows WHERE "+where+
		" ORDER BY n LIMIT "+strconv.Itoa(q.Limit), args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	for r.Next() {
		var row automation.ImportRow
		if err := r.Scan(&row.N, &row.Line, (*string)(&row.Outcome), &row.Key, &row.Customer, &row.Currency, &row.Amount, &row.Detail, &row.Who, &row.ItemID, &row.Content); err != nil {
			return nil, fmt.Errorf("read the rows of an import: %w", err)
		}
		list = append(list, row)
	}
	return list, r.Err()
}

// OpenImports implements automation.ImportStore.
func (s *Store) OpenImports(ctx context.Context, uploading, ready time.Time) ([]int64, error) {
	old, err := s.ids(ctx, "SELECT id FROM imports WHERE state = 'uploading' AND made_at < ?1 UNION ALL SELECT id FROM imports WHERE state = 'ready' AND checked_at < ?2",
		s.db.at(uploading), s.db.at(ready))
	if err != nil {
		return nil, err
	}
	for _, id := range old {
		err := s.db.write(ctx, func(tx *gorm.DB) error {
			i, err := lockImport(tx, "id = ? AND (state = 'uploading' AND made_at < ? OR state = 'ready' AND checked_at < ?)", id, moment(uploading), moment(ready))
			if errors.Is(err, automation.ErrImportUnknown) {
				return nil
			}
			if err != nil {
				return err
			}
			i.State = automation.ImportRemoved
			return saveImport(tx, &i)
		})
		if err != nil {
			return nil, err
		}
	}
	return s.ids(ctx, "SELECT id FROM imports WHERE state IN ('checking', 'importing', 'holding') ORDER BY id")
}

// HoldImport implements automation.ImportStore.
func (s *Store) HoldImport(ctx context.Context, id int64, node string, hold time.Duration) (i automation.Import, held bool, err error) {
	now, err := s.Now(ctx)
	if err != nil {
		return i, false, err
	}
	err = s.db.write(ctx, func(tx *gorm.DB) error {
		done := tx.Exec("UPDATE imports SET held_by = ?, held_until = ? WHERE id = ? AND state IN ('checking', 'importing', 'holding')"+
			" AND (held_until IS NULL OR held_until <= ?)", tidy(node, maxShort), moment(now.Add(hold)), id, moment(now))
		if done.Error != nil || done.RowsAffected == 0 {
			return done.Error
		}
		held = true
		i, err = lockImport(tx, "id = ?", id)
		return err
	})
	if err != nil {
		return i, false, fmt.Errorf("take an import: %w", err)
	}
	return i, held, nil
}

// ReleaseImport implements automation.ImportStore.
func (s *Store) ReleaseImport(ctx context.Context, id int64, node string) error {
	return s.db.write(ctx, func(tx *gorm.DB) error {
		return tx.Exec("UPDATE imports SET held_by = '', held_until = NULL WHERE id = ? AND held_by = ?", id, tidy(node, maxShort)).Error
	})
}

// WorkImport implements automation.ImportStore.
func (s *Store) WorkImport(ctx context.Context, id int64, node string, hold time.Duration, w automation.ImportWork) (i automation.Import, err error) {
	now, err := s.Now(ctx)
	if err != nil {
		return i, err
	}
	err = s.db.write(ctx, func(tx *gorm.DB) error {
		i, err = lockImport(tx, "id = ? AND held_by = ? AND held_until > ?", id, tidy(node, maxShort), moment(now))
		if errors.Is(err, automation.ErrImportUnknown) {
			err = automation.ErrImportLost
		}
		if err != nil {
			return err
		}
		if w.Clear {
			if err := tx.Where("import_id = ?", id).Delete(&importLineRow{}).Error; err != nil {
				return err
			}
		}
		if err := addImportRows(tx, id, w.Add); err != nil {
			return err
		}
		if err := settleImportRows(tx, id, w.Settle); err != nil {
			return err
		}
		if err := w.Change(&i); err != nil {
			return err
		}
		if err := saveImport(tx, &i); err != nil {
			return err
		}
		return tx.Exec("UPDATE imports SET held_until = ? WHERE id = ?", moment(now.Add(hold)), id).Error
	})
	return i, err
}

func addImportRows(tx *gorm.DB, id int64, rows []automation.ImportRow) error {
	if len(rows) == 0 {
		return nil
	}
	list := make([]importLineRow, len(rows))
	for k, r := range rows {
		list[k] = importLineRow{ImportID: id, N: r.N, Line: r.Line, Outcome: string(r.Outcome), Key: tidy(r.Key, maxShort), Customer: tidy(r.Customer, maxShort),
			Currency: tidy(r.Currency, maxShort), Amount: tidy(r.Amount, maxShort), Detail: tidy(r.Detail, maxShort), Who: tidy(r.Who, maxShort), ItemID: r.ItemID, Content: r.Content}
	}
	return tx.CreateInBatches(list, 500).Error
}

// settleImportRows writes what became of rows that were to do. Nearly all became new: they are written at once.
func settleImportRows(tx *gorm.DB, id int64, rows []automation.ImportRow) error {
	if len(rows) == 0 {
		return nil
	}
	for _, r := range rows {
		if r.Outcome == automation.RowNew {
			continue
		}
		err := tx.Exec("UPDATE import_rows SET outcome = ?, detail = ?, who = ?, item_id = ?, content = '' WHERE import_id = ? AND n = ? AND outcome = 'todo'",
			string(r.Outcome), tidy(r.Detail, maxShort), tidy(r.Who, maxShort), r.ItemID, id, r.N).Error
		if err != nil {
			return err
		}
	}
	// The rows are all that were to do in their range: the others of it are settled by now.
	return tx.Exec("UPDATE import_rows SET outcome = 'new', content = '' WHERE import_id = ? AND outcome = 'todo' AND n BETWEEN ? AND ?",
		id, rows[0].N, rows[len(rows)-1].N).Error
}
