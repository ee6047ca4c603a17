package store

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"onefold/internal/automation/recurring"
)

// openPeriods are those that were taken up and not recorded.
const openPeriods = "item_id IS NULL AND NOT left_out"

const duePlanIDs = "SELECT id FROM (SELECT id FROM plans WHERE state = 'active' AND next_on <= ?1" +
	" UNION SELECT p.id FROM plan_periods o JOIN plans p ON p.id = o.plan_id WHERE o.item_id IS NULL AND NOT o.left_out AND p.state = 'active') d"

// DuePlans implements recurring.Store.
func (s *Store) DuePlans(ctx context.Context, today time.Time, after int64, limit int) ([]recurring.DuePlan, error) {
	ids, err := s.ids(ctx, duePlanIDs+" WHERE id > ?2 ORDER BY id LIMIT ?3", *dayNo(today), after, limit)
	if err != nil {
		return nil, err
	}
	return s.duePlans(ctx, ids)
}

// DuePlan implements recurring.Store.
func (s *Store) DuePlan(ctx context.Context, planID int64, today time.Time) (p recurring.DuePlan, due bool, err error) {
	ids, err := s.ids(ctx, duePlanIDs+" WHERE id = ?2", *dayNo(today), planID)
	if err != nil {
		return p, false, err
	}
	list, err := s.duePlans(ctx, ids)
	if err != nil || len(list) == 0 {
		return p, false, err
	}
	return list[0], true, nil
}

func (s *Store) duePlans(ctx context.Context, ids []int64) ([]recurring.DuePlan, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	tx := s.db.read(ctx)
	list, err := plans(tx, tx.Where("id IN ?", ids).Order("id"))
	if err != nil {
		return nil, err
	}
	open, err := periodsOf(tx.Where("plan_id IN ? AND "+openPeriods, ids).Order("plan_id, starts_on"))
	if err != nil {
		return nil, err
	}
	due := make([]recurring.DuePlan, len(list))
	for i, p := range list {
		due[i] = recurring.DuePlan{Plan: p, Open: open[p.ID]}
	}
	return due, nil
}

// Cover implements recurring.Store. Periods of a plan are taken up in their order only, so that none is passed over.
func (s *Store) Cover(ctx context.Context, list []recurring.Taking) (refused []error, err error) {
	now, err := s.Now(ctx)
	if err != nil {
		return nil, err
	}
	ids := make([]int64, 0, len(list))
	for _, t := range list {
		ids = append(ids, t.Plan.ID)
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	err = s.db.write(ctx, func(tx *gorm.DB) error {
		refused = make([]error, len(list))
		var rows []planRow
		if err := tx.Clauses(clause.Locking{Strength: "NO KEY UPDATE"}).Where("id IN ?", ids).Order("id").Find(&rows).Error; err != nil {
			return fmt.Errorf("lock plans: %w", err)
		}
		locked := make(map[int64]*planRow, len(rows))
		for i := range rows {
			locked[rows[i].ID] = &rows[i]
		}
		for i, t := range list {
			if refused[i], err = coverNext(tx, locked[t.Plan.ID], t, now); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return refused, nil
}

// coverNext takes up a period if it is the next one of its locked plan as the plan was read.
func coverNext(tx *gorm.DB, p *planRow, t recurring.Taking, now time.Time) (refused, err error) {
	if p == nil || p.Version != t.Plan.Version || p.State != string(recurring.Active) || !dayOf(p.NextOn).Equal(t.Period.From) {
		return recurring.ErrMoved, nil
	}
	switch ours, err := cover(tx, t, false, now); {
	case err != nil:
		return nil, err
	case !ours:
		return recurring.ErrCovered, nil
	}
	next, err := t.Plan.NextFrom(t.Period.Until)
	if err != nil {
		return nil, err
	}
	p.CoveredTo, p.NextOn = dayNo(t.Period.Until), dayNo(next)
	if err := tx.Exec("UPDATE plans SET covered_to = ?, next_on = ? WHERE id = ?", p.CoveredTo, p.NextOn, p.ID).Error; err != nil {
		return nil, fmt.Errorf("take up a period: %w", err)
	}
	return nil, nil
}

// cover writes a period under its plan's lock. Ours is false if the database refused it: days of it were taken up before.
func cover(tx *gorm.DB, t recurring.Taking, leftOut bool, now time.Time) (ours bool, err error) {
	row := planPeriodRow{PlanID: t.Plan.ID, StartsOn: *dayNo(t.Period.From), EndsOn: *dayNo(t.Period.Until), Key: t.Key, Late: t.Late, LeftOut: leftOut, At: moment(now)}
	done := tx.Clauses(clause.OnConflict{DoNothing: true}).Create(&row)
	if done.Error != nil && strings.Contains(done.Error.Error(), "plan_periods_overlap") { // SQLite's trigger
		return false, nil
	}
	if done.Error != nil {
		return false, fmt.Errorf("take up a period: %w", done.Error)
	}
	return done.RowsAffected == 1, nil
}

// CoveredBy implements recurring.Store. An item that was noted stays.
func (s *Store) CoveredBy(ctx context.Context, list []recurring.Became) error {
	return s.db.write(ctx, func(tx *gorm.DB) error {
		for _, b := range list {
			var item *int64
			if b.ItemID != 0 {
				item = &b.ItemID
			}
			err := tx.Exec("UPDATE plan_periods SET item_id = ?, problem = ? WHERE plan_id = ? AND starts_on = ? AND "+openPeriods,
				item, tidy(b.Problem, maxShort), b.PlanID, *dayNo(b.From)).Error
			if err != nil {
				return fmt.Errorf("note what a period became: %w", err)
			}
		}
		return nil
	})
}

// AskCatchUp implements recurring.Store.
func (s *Store) AskCatchUp(ctx context.Context, p recurring.Plan) (asked bool, err error) {
	now, err := s.Now(ctx)
	if err != nil {
		return false, err
	}
	err = s.db.write(ctx, func(tx *gorm.DB) error {
		was, err := lockedPlan(tx, p.CompanyID, p.ID)
		if err != nil || was.Version != p.Version || was.State != recurring.Active {
			return err
		}
		is := was
		is.State, is.Why, is.Version = recurring.Waiting, recurring.CatchUp, was.Version+1
		_, err = changePlan(tx, recurring.Move{Plan: is, What: recurring.Asked, By: recurring.Self}, was, now)
		asked = err == nil
		return err
	})
	return asked, err
}
