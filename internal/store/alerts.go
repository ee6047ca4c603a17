package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"onefold/internal/automation"
	"onefold/internal/review"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

type alertRow struct {
	ID       int64 `gorm:"primaryKey"`
	SystemID string
	Cause    string
	Words    string
	RaisedAt moment
}

func (alertRow) TableName() string { return "alerts" }

// RaiseAlert opens an alert. It reports false if one of the same cause is open already, which stays as it is.
func (s *Store) RaiseAlert(ctx context.Context, systemID, cause, text string) (isNew bool, err error) {
	now, err := s.Now(ctx)
	if err != nil {
		return false, err
	}
	err = s.db.write(ctx, func(tx *gorm.DB) error {
		row := alertRow{SystemID: systemID, Cause: cause, Words: tidy(text, maxShort), RaisedAt: moment(now)}
		done := tx.Clauses(clause.OnConflict{DoNothing: true}).Create(&row)
		isNew = done.RowsAffected == 1
		return done.Error
	})
	if err != nil {
		return false, fmt.Errorf("raise alert: %w", err)
	}
	return isNew, nil
}

// OpenAlert returns what the system's open alert of the cause says; empty: there is none.
func (s *Store) OpenAlert(ctx context.Context, systemID, cause string) (text string, err error) {
	_, err = s.maybeRow(ctx, "SELECT words FROM alerts WHERE system_id = ?1 AND cause = ?2 AND cleared_at IS NULL", []any{systemID, cause}, &text)
	return text, err
}

// RewordAlert lets the system's open alert of the cause say something else.
func (s *Store) RewordAlert(ctx context.Context, systemID, cause, text string) error {
	return s.db.write(ctx, func(tx *gorm.DB) error {
		return tx.Model(&alertRow{}).Where("system_id = ? AND cause = ? AND cleared_at IS NULL", systemID, cause).Update("words", tidy(text, maxShort)).Error
	})
}

// ClearAlerts closes the system's open alert of the cause, if there is one.
func (s *Store) ClearAlerts(ctx context.Context, systemID, cause string) error {
	now, err := s.Now(ctx)
	if err != nil {
		return err
	}
	return s.db.write(ctx, func(tx *gorm.DB) error {
		return tx.Model(&alertRow{}).Where("system_id = ? AND cause = ? AND cleared_at IS NULL", systemID, cause).Update("cleared_at", moment(now)).Error
	})
}

// Alerts returns the open alerts, oldest first.
func (s *Store) Alerts(ctx context.Context) ([]review.Alert, error) {
	var found []alertRow
	if err := s.db.read(ctx).Where("cleared_at IS NULL").Order("raised_at, id").Find(&found).Error; err != nil {
		return nil, fmt.Errorf("read alerts: %w", err)
	}
	list := make([]review.Alert, len(found))
	for i, r := range found {
		list[i] = review.Alert{SystemID: r.SystemID, Cause: r.Cause, Text: r.Words, RaisedAt: time.Time(r.RaisedAt)}
	}
	return list, nil
}

const (
	late        = "SELECT i.system_id, i.settle_by FROM items i WHERE i.company_id IN (SELECT company_id FROM systems) AND i.settle_by < ?1 AND "
	overdueText = "SELECT o.system_id, count(*), min(o.settle_by) FROM (" + late + openRows + " UNION ALL " + late + callRows + ") o" +
		" GROUP BY o.system_id ORDER BY o.system_id"
)

// Overdue returns the systems with overdue items. It reads the index of what is open and nothing of the history: it is asked all the time.
func (s *Store) Overdue(ctx context.Context, now time.Time) (list []automation.Overdue, err error) {
	r, err := s.db.query(ctx, overdueText, s.db.at(now))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	for r.Next() {
		var o automation.Overdue
		if err := r.Scan(&o.SystemID, &o.Count, stamp{&o.Oldest}); err != nil {
			return nil, fmt.Errorf("read overdue items: %w", err)
		}
		list = append(list, o)
	}
	return list, r.Err()
}
