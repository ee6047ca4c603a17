package store

import (
	"context"
	"fmt"
	"strings"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"onefold/internal/auth"
	"onefold/internal/automation/recurring"
	"onefold/internal/work"
)

// unprovenRow says that a person let an automation run on a system that was never proven.
type unprovenRow struct {
	CompanyID  int64  `gorm:"primaryKey;autoIncrement:false"`
	Automation string `gorm:"primaryKey"`
	SystemID   string `gorm:"primaryKey"`
}

func (unprovenRow) TableName() string { return "unproven_runs" }

// NeverProven implements review.AutomationStore.
func (s *Store) NeverProven(ctx context.Context, companyID int64, automation string) (list []work.System, err error) {
	plans := ""
	if automation == recurring.Automation {
		plans = " UNION SELECT system_id FROM plans WHERE company_id = ?1 AND state = 'active'"
	}
	ids, err := s.texts(ctx, "SELECT s.id FROM systems s WHERE s.company_id = ?1 AND s.id IN (SELECT system_id FROM event_senders WHERE company_id = ?1 AND automation = ?2"+plans+")"+
		" AND "+notBegun+" ORDER BY s.id", companyID, automation)
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	return s.notProven(ctx, companyID, ids)
}

// notBegun says of a system that the automation never recorded anything for it and that nobody let it.
const notBegun = "NOT EXISTS (SELECT 1 FROM item_keys k WHERE k.company_id = ?1 AND k.automation = ?2 AND k.system_id = s.id)" +
	" AND NOT EXISTS (SELECT 1 FROM unproven_runs u WHERE u.company_id = ?1 AND u.automation = ?2 AND u.system_id = s.id)"

// BeginsUnproven implements automation.IntakeStore.
func (s *Store) BeginsUnproven(ctx context.Context, companyID int64, automation, systemID string) (bool, error) {
	ids, err := s.texts(ctx, "SELECT s.id FROM systems s WHERE s.company_id = ?1 AND s.id = ?3 AND "+notBegun, companyID, automation, systemID)
	if err != nil || len(ids) == 0 {
		return false, err
	}
	never, err := s.notProven(ctx, companyID, ids)
	return len(never) > 0, err
}

// notProven are those of the systems that were never proven as they are connected now.
func (s *Store) notProven(ctx context.Context, companyID int64, ids []string) (list []work.System, err error) {
	last, err := s.LastProofs(ctx, companyID)
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		sys, err := s.System(ctx, id)
		if err != nil {
			return nil, err
		}
		if r, proven := last[id]; !proven || r.Reached != sys.Reached() {
			list = append(list, sys)
		}
	}
	return list, nil
}

// didAllowUnproven is what the audit trail calls it.
const didAllowUnproven = "automation_on_unproven"

// AllowUnproven implements review.AutomationStore.
func (s *Store) AllowUnproven(ctx context.Context, companyID int64, automation string, ids []string, by work.Actor) error {
	now, err := s.Now(ctx)
	if err != nil {
		return err
	}
	return s.db.write(ctx, func(tx *gorm.DB) error {
		var agreed []string // somebody else may have agreed to the others meanwhile
		for _, id := range ids {
			done := tx.Clauses(clause.OnConflict{DoNothing: true}).Create(&unprovenRow{companyID, automation, id})
			if done.Error != nil {
				return fmt.Errorf("let the automation run: %w", done.Error)
			}
			if done.RowsAffected > 0 {
				agreed = append(agreed, id)
			}
		}
		if len(agreed) == 0 {
			return nil
		}
		return appendEntry(tx, auth.Entry{CompanyID: companyID, By: by, What: didAllowUnproven, Object: "automation:" + automation, After: strings.Join(agreed, ", ")}, now)
	})
}
