package store

import (
	"context"
	"fmt"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"onefold/internal/automation/recurring"
	"onefold/internal/work"
)

// planLock is the number under which PostgreSQL lets one transaction at a time add or change plans: a twin is seen by
// whoever comes second. SQLite has one writer anyway.
const planLock = 0x706c616e73 // "plans"

func lockPlans(tx *gorm.DB) error {
	if tx.Name() != "postgres" {
		return nil
	}
	return tx.Exec("SELECT pg_advisory_xact_lock(?)", int64(planLock)).Error
}

// AddPlan implements recurring.PlanStore.
func (s *Store) AddPlan(ctx context.Context, p recurring.Plan, decide func(now time.Time, there *recurring.Plan, near []recurring.Plan) (recurring.Move, error)) (is recurring.Plan, err error) {
	now, err := s.Now(ctx)
	if err != nil {
		return is, err
	}
	err = s.db.write(ctx, func(tx *gorm.DB) error {
		if err := lockPlans(tx); err != nil {
			return err
		}
		var there *recurring.Plan
		found, err := plans(tx, tx.Where("company_id = ? AND folded_code = ?", p.CompanyID, work.FoldKey(p.Code)))
		if err != nil {
			return err
		}
		if len(found) > 0 {
			there = &found[0]
		}
		others, err := near(tx, p)
		if err != nil {
			return err
		}
		m, err := decide(now, there, others)
		if is = m.Plan; err != nil || m.What == "" {
			return err
		}
		row, err := newPlanRow(m.Plan)
		if err != nil {
			return err
		}
		if err := tx.Create(&row).Error; err != nil {
			return fmt.Errorf("write the plan: %w", err)
		}
		m.Plan.ID, m.Plan.Next = row.ID, dayOf(row.NextOn)
		is = m.Plan
		return writePlanMove(tx, m, nil, now)
	})
	return is, err
}

// ChangePlan implements recurring.PlanStore.
func (s *Store) ChangePlan(ctx context.Context, companyID, id int64, decide func(now time.Time, was recurring.Plan, near []recurring.Plan) (recurring.Move, error)) (is recurring.Plan, err error) {
	now, err := s.Now(ctx)
	if err != nil {
		return is, err
	}
	err = s.db.write(ctx, func(tx *gorm.DB) error {
		if err := lockPlans(tx); err != nil {
			return err
		}
		was, err := lockedPlan(tx, companyID, id)
		if err != nil {
			return err
		}
		others, err := near(tx, was)
		if err != nil {
			return err
		}
		m, err := decide(now, was, others)
		if is = m.Plan; err != nil || m.What == "" {
			return err
		}
		is, err = changePlan(tx, m, was, now)
		return err
	})
	return is, err
}

// lockedPlan reads a plan under a lock that keeps other changes and Cover out.
func lockedPlan(tx *gorm.DB, companyID, id int64) (recurring.Plan, error) {
	list, err := plans(tx, tx.Clauses(clause.Locking{Strength: "NO KEY UPDATE"}).Where("company_id = ? AND id = ?", companyID, id))
	if err == nil && len(list) == 0 {
		err = recurring.ErrNotFound
	}
	if err != nil {
		return recurring.Plan{}, err
	}
	return list[0], nil
}

// changePlan writes a decided change of a locked plan.
func changePlan(tx *gorm.DB, m recurring.Move, was recurring.Plan, now time.Time) (recurring.Plan, error) {
	for _, t := range m.LeaveUp {
		if err := cover(tx, t, true, now); err != nil {
			return was, err
		}
		m.Plan.CoveredTo = t.Period.Until
	}
	row, err := newPlanRow(m.Plan)
	if err != nil {
		return was, err
	}
	if err := tx.Select("*").Updates(&row).Error; err != nil {
		return was, fmt.Errorf("write the plan: %w", err)
	}
	if err := tx.Where("plan_id = ?", m.Plan.ID).Delete(&termRow{}).Error; err != nil {
		return was, fmt.Errorf("write the plan's terms: %w", err)
	}
	m.Plan.Next = dayOf(row.NextOn)
	return m.Plan, writePlanMove(tx, m, &was, now)
}

// writePlanMove writes the terms and the history of a plan that was written.
func writePlanMove(tx *gorm.DB, m recurring.Move, was *recurring.Plan, now time.Time) error {
	terms, err := newTermRows(m.Plan)
	if err != nil {
		return err
	}
	if err := tx.Create(&terms).Error; err != nil {
		return fmt.Errorf("write the plan's terms: %w", err)
	}
	entry, err := newPlanChangeRow(m, was, now)
	if err != nil {
		return err
	}
	if err := tx.Create(&entry).Error; err != nil {
		return fmt.Errorf("record the change: %w", err)
	}
	return nil
}
