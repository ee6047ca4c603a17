package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"onefold/internal/auth"
	"onefold/internal/review"
	"onefold/internal/work"
)

var _ review.AutomationStore = (*Store)(nil)

// automationRow is an automation that somebody switched.
type automationRow struct {
	CompanyID int64  `gorm:"primaryKey;autoIncrement:false"`
	Name      string `gorm:"primaryKey"`
	OffAt     moment
	OffKind   string
	OffID     string
	OffName   string
	OffNote   string
	Version   int64
}

func (automationRow) TableName() string { return "automations" }

func (r automationRow) automation() work.AutomationSwitch {
	return work.AutomationSwitch{CompanyID: r.CompanyID, Name: r.Name, OffAt: time.Time(r.OffAt), OffNote: r.OffNote, Version: r.Version,
		OffBy: work.Actor{Kind: work.ActorKind(r.OffKind), ID: r.OffID, Name: r.OffName}}
}

// AutomationSwitches implements review.AutomationStore.
func (s *Store) AutomationSwitches(ctx context.Context, companyID int64) ([]work.AutomationSwitch, error) {
	var rows []automationRow
	if err := s.db.read(ctx).Where("company_id = ?", companyID).Order("name").Find(&rows).Error; err != nil {
		return nil, fmt.Errorf("read the automations: %w", err)
	}
	list := make([]work.AutomationSwitch, len(rows))
	for i, r := range rows {
		list[i] = r.automation()
	}
	return list, nil
}

// What the audit trail calls a switched automation.
const (
	didSwitchOff = "automation_off"
	didSwitchOn  = "automation_on"
)

// SwitchAutomation implements review.AutomationStore.
func (s *Store) SwitchAutomation(ctx context.Context, to work.AutomationSwitch, by work.Actor, note string) error {
	now, err := s.Now(ctx)
	if err != nil {
		return err
	}
	row := automationRow{CompanyID: to.CompanyID, Name: to.Name, OffAt: moment(to.OffAt), OffKind: string(to.OffBy.Kind), OffID: tidy(to.OffBy.ID, maxShort),
		OffName: tidy(to.OffBy.Name, maxShort), OffNote: tidy(to.OffNote, maxShort), Version: to.Version}
	entry := auth.Entry{CompanyID: to.CompanyID, By: by, What: didSwitchOn, Object: "automation:" + to.Name, Before: "off", After: "on", Note: note}
	if to.Off() {
		entry.What, entry.Before, entry.After = didSwitchOff, "on", "off"
	}
	return s.db.write(ctx, func(tx *gorm.DB) error {
		var done *gorm.DB
		if to.Version == 1 {
			done = tx.Clauses(clause.OnConflict{DoNothing: true}).Create(&row)
		} else {
			done = tx.Where("version = ?", to.Version-1).Select("*").Updates(&row)
		}
		if done.Error != nil {
			return fmt.Errorf("write the automation: %w", done.Error)
		}
		if done.RowsAffected == 0 {
			return review.ErrAutomationChanged
		}
		return appendEntry(tx, entry, now)
	})
}

// AutomationTargets implements review.AutomationStore. It jumps from pair to pair in the index, and reads one document of each.
func (s *Store) AutomationTargets(ctx context.Context, companyID int64) (list []review.AutomationTarget, err error) {
	names, err := s.Automations(ctx, companyID)
	if err != nil {
		return nil, err
	}
	systems, err := s.texts(ctx, "SELECT id FROM systems WHERE company_id = ?1 ORDER BY id", companyID)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		for _, id := range systems {
			t := review.AutomationTarget{Automation: name, SystemID: id}
			var steps string
			found, err := s.maybeRow(ctx, "SELECT k.steps, k.recorded_at FROM item_keys k WHERE k.company_id = ?1 AND k.automation = ?2 AND k.system_id = ?3"+
				" ORDER BY k.item_id DESC LIMIT 1", []any{companyID, name, id}, &steps, stamp{&t.LastAt})
			if err != nil {
				return nil, errors.Join(errors.New("read the automations' systems"), err)
			}
			if found {
				t.Steps = strings.Split(steps, ",")
				list = append(list, t)
			}
		}
	}
	return list, nil
}

// NextPlanDay is the first day on which a period of an active plan begins that was not taken up; zero: there is none.
func (s *Store) NextPlanDay(ctx context.Context, companyID int64) (time.Time, error) {
	var day *int64
	err := s.row(ctx, "SELECT min(next_on) FROM plans WHERE company_id = ?1 AND state = 'active' AND next_on IS NOT NULL", []any{companyID}, &day)
	return dayOf(day), err
}
