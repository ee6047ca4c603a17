package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"onefold/internal/automation"
	"onefold/internal/review"
	"onefold/internal/work"
)

// limitsRow is a change of limits among the changes of settings.
type limitsRow struct {
	ID         int64 `gorm:"primaryKey"`
	At         moment
	ActorKind  string
	ActorID    string
	ActorName  string
	SystemID   string
	What       string
	Before     string
	After      string
	Automation string
	Note       string
}

func (limitsRow) TableName() string { return "setting_changes" }

const limitsChange = "limits"

// replanRow is a system whose waiting items are to be planned anew.
type replanRow struct {
	SystemID string `gorm:"primaryKey"`
	ChangeID int64
	AgainAt  moment
	Again    bool
	AfterID  int64
}

func (replanRow) TableName() string { return "replans" }

// SetLimits implements review.LimitsStore.
func (s *Store) SetLimits(ctx context.Context, id string, by work.Actor, of, note string, decide func(work.System) (work.System, error)) error {
	now, err := s.Now(ctx)
	if err != nil {
		return err
	}
	changed := false
	err = s.db.write(ctx, func(tx *gorm.DB) error {
		var was, is work.System
		err := changeSystem(tx, id, func(sys *work.System) (err error) {
			was = *sys
			is, err = decide(was)
			*sys = is
			return err
		})
		if err != nil {
			return err
		}
		before, after := was.Limits(of).Differ(is.Limits(of))
		if changed = len(after) > 0; !changed {
			return nil
		}
		row := limitsRow{At: moment(now), ActorKind: string(by.Kind), ActorID: by.ID, ActorName: tidy(by.Name, maxShort), SystemID: id, What: limitsChange,
			Automation: of, Note: tidy(note, maxShort)}
		if row.Before, row.After, err = limitTexts(before, after); err != nil {
			return err
		}
		if err := tx.Create(&row).Error; err != nil {
			return fmt.Errorf("record the change: %w", err)
		}
		again := replanRow{SystemID: id, ChangeID: row.ID, AgainAt: moment(now.Add(longestLease(was)))}
		if err := tx.Clauses(clause.OnConflict{Columns: []clause.Column{{Name: "system_id"}}, UpdateAll: true}).Create(&again).Error; err != nil {
			return fmt.Errorf("have waiting items planned anew: %w", err)
		}
		if tx.Name() == "postgres" {
			return tx.Exec("SELECT pg_notify(?, ?)", wakeChannel, id).Error
		}
		return nil
	})
	if err == nil && changed {
		s.hub.wake(map[string]bool{id: true})
	}
	return err
}

func limitTexts(before, after work.Limits) (string, string, error) {
	was, err := json.Marshal(before)
	if err != nil {
		return "", "", err
	}
	is, err := json.Marshal(after)
	return string(was), string(is), err
}

// longestLease is for how long a call may go on that was claimed under the system's rules.
func longestLease(sys work.System) time.Duration {
	lease := sys.Rules().Lease()
	for of := range sys.Overrides {
		lease = max(lease, sys.RulesFor(of).Lease())
	}
	return lease
}

// LimitChanges implements review.LimitsStore.
func (s *Store) LimitChanges(ctx context.Context, systemID string, most int) ([]review.LimitChange, error) {
	var found []limitsRow
	if err := s.db.read(ctx).Where("system_id = ? AND what = ?", systemID, limitsChange).Order("id DESC").Limit(most).Find(&found).Error; err != nil {
		return nil, fmt.Errorf("read changes of limits: %w", err)
	}
	list := make([]review.LimitChange, len(found))
	for i, r := range found {
		list[i] = review.LimitChange{ID: r.ID, At: time.Time(r.At), By: work.Actor{Kind: work.ActorKind(r.ActorKind), ID: r.ActorID, Name: r.ActorName},
			Automation: r.Automation, Note: r.Note}
		if err := errors.Join(json.Unmarshal([]byte(r.Before), &list[i].Before), json.Unmarshal([]byte(r.After), &list[i].After)); err != nil {
			return nil, fmt.Errorf("the change of limits %d is damaged: %w", r.ID, err)
		}
	}
	return list, nil
}

// Replans implements automation.Store.
func (s *Store) Replans(ctx context.Context) ([]automation.Replan, error) {
	var found []replanRow
	if err := s.db.read(ctx).Order("system_id").Find(&found).Error; err != nil {
		return nil, fmt.Errorf("read what is to be planned anew: %w", err)
	}
	list := make([]automation.Replan, len(found))
	for i, r := range found {
		list[i] = automation.Replan{SystemID: r.SystemID, ChangeID: r.ChangeID, AgainAt: time.Time(r.AgainAt), Again: r.Again, After: r.AfterID}
	}
	return list, nil
}

// Replanned implements automation.Store.
func (s *Store) Replanned(ctx context.Context, r automation.Replan, after int64, done bool) error {
	return s.db.write(ctx, func(tx *gorm.DB) error {
		// Another server may have been faster, or the limits may have changed once more.
		same := tx.Where("system_id = ? AND change_id = ? AND again = ? AND after_id = ?", r.SystemID, r.ChangeID, r.Again, r.After)
		switch {
		case !done:
			return same.Model(&replanRow{}).Update("after_id", after).Error
		case !r.Again:
			return same.Model(&replanRow{}).Updates(map[string]any{"again": true, "after_id": 0}).Error
		}
		return same.Delete(&replanRow{}).Error
	})
}
