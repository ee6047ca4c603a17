package store

import (
	"context"
	"errors"
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
func (s *Store) Cover(ctx context.Context, list []recurring.Taking) ([]error, error) {
	now, err := s.Now(ctx)
	if err != nil {
		return nil, err
	}
	refused := make([]error, len(list))
	err = s.coverAll(ctx, list, refused, now, writePeriods)
	if errors.Is(err, recurring.ErrCovered) { // one of them holds up the others: one by one then, to know which
		err = s.coverAll(ctx, list, refused, now, writeEachPeriod)
	}
	if err != nil {
		return nil, err
	}
	return refused, nil
}

// coverAll locks the plans, finds out which periods may be taken up and hands them to write, which notes in refused what the
// database does not take.
func (s *Store) coverAll(ctx context.Context, list []recurring.Taking, refused []error, now time.Time, write func(tx *gorm.DB, list []recurring.Taking, refused []error, now time.Time) error) error {
	ids := make([]int64, 0, len(list))
	for _, t := range list {
		ids = append(ids, t.Plan.ID)
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	return s.db.write(ctx, func(tx *gorm.DB) error {
		var rows []planRow
		if err := tx.Clauses(clause.Locking{Strength: "NO KEY UPDATE"}).Where("id IN ?", ids).Order("id").Find(&rows).Error; err != nil {
			return fmt.Errorf("lock plans: %w", err)
		}
		locked := make(map[int64]*planRow, len(rows))
		for i := range rows {
			locked[rows[i].ID] = &rows[i]
		}
		for i, t := range list {
			p := locked[t.Plan.ID]
			refused[i] = nil
			if p == nil || p.Version != t.Plan.Version || p.State != string(recurring.Active) || !dayOf(p.NextOn).Equal(t.Period.From) {
				refused[i] = recurring.ErrMoved
				continue
			}
			next, err := t.Plan.NextFrom(t.Period.Until)
			if err != nil {
				return err
			}
			p.CoveredTo, p.NextOn = dayNo(t.Period.Until), dayNo(next)
		}
		if err := write(tx, list, refused, now); err != nil {
			return err
		}
		kept := map[int64]bool{}
		for i, t := range list {
			kept[t.Plan.ID] = kept[t.Plan.ID] || errors.Is(refused[i], recurring.ErrCovered)
		}
		args := make([]any, 0, 3*len(rows))
		for _, r := range rows {
			if !kept[r.ID] {
				args = append(args, r.ID, r.CoveredTo, r.NextOn)
			}
		}
		return updateFrom(tx, "UPDATE plans SET covered_to = v.column2, next_on = v.column3", "WHERE plans.id = v.column1", []string{"bigint", "integer", "integer"}, args)
	})
}

// updateFrom runs an update that is joined with a table v of the values, whose columns are called column1 and so on.
func updateFrom(tx *gorm.DB, set, where string, types []string, args []any) error {
	if len(args) == 0 {
		return nil
	}
	row := "(CAST(? AS " + strings.Join(types, "), CAST(? AS ") + "))"
	all := strings.Repeat(", "+row, len(args)/len(types))[2:]
	if err := tx.Exec(set+" FROM (VALUES "+all+") AS v "+where, args...).Error; err != nil {
		return fmt.Errorf("write plans: %w", err)
	}
	return nil
}

func newPlanPeriodRow(t recurring.Taking, leftOut bool, now time.Time) planPeriodRow {
	return planPeriodRow{PlanID: t.Plan.ID, StartsOn: *dayNo(t.Period.From), EndsOn: *dayNo(t.Period.Until), Key: t.Key, Late: t.Late, LeftOut: leftOut, At: moment(now)}
}

// writePeriods writes all that is not refused, or returns ErrCovered.
func writePeriods(tx *gorm.DB, list []recurring.Taking, refused []error, now time.Time) error {
	var rows []planPeriodRow
	for i, t := range list {
		if refused[i] == nil {
			rows = append(rows, newPlanPeriodRow(t, false, now))
		}
	}
	if len(rows) == 0 {
		return nil
	}
	return createPeriods(tx, rows)
}

// writeEachPeriod writes them one by one and notes in refused what the database does not take.
func writeEachPeriod(tx *gorm.DB, list []recurring.Taking, refused []error, now time.Time) error {
	for i, t := range list {
		if refused[i] != nil {
			continue
		}
		switch err := cover(tx, t, false, now); {
		case errors.Is(err, recurring.ErrCovered):
			refused[i] = err
		case err != nil:
			return err
		}
	}
	return nil
}

// cover writes a period under its plan's lock, or returns ErrCovered: the database knows that days of it were taken up.
func cover(tx *gorm.DB, t recurring.Taking, leftOut bool, now time.Time) error {
	return createPeriods(tx, []planPeriodRow{newPlanPeriodRow(t, leftOut, now)})
}

func createPeriods(tx *gorm.DB, rows []planPeriodRow) error {
	done := tx.Clauses(clause.OnConflict{DoNothing: true}).Create(&rows)
	switch {
	case done.Error != nil && strings.Contains(done.Error.Error(), "plan_periods_overlap"): // SQLite's trigger
		return recurring.ErrCovered
	case done.Error != nil:
		return fmt.Errorf("take up periods: %w", done.Error)
	case done.RowsAffected != int64(len(rows)):
		return recurring.ErrCovered
	}
	return nil
}

// CoveredBy implements recurring.Store. An item that was noted stays.
func (s *Store) CoveredBy(ctx context.Context, list []recurring.Became) error {
	return s.db.write(ctx, func(tx *gorm.DB) error {
		for some := range slices.Chunk(list, 2000) {
			args := make([]any, 0, 4*len(some))
			for _, b := range some {
				var item *int64
				if b.ItemID != 0 {
					item = &b.ItemID
				}
				args = append(args, b.PlanID, *dayNo(b.From), item, tidy(b.Problem, maxShort))
			}
			err := updateFrom(tx, "UPDATE plan_periods SET item_id = v.column3, problem = v.column4",
				"WHERE plan_id = v.column1 AND starts_on = v.column2 AND "+openPeriods+" AND (v.column3 IS NOT NULL OR problem <> v.column4)",
				[]string{"bigint", "integer", "bigint", "text"}, args)
			if err != nil {
				return err
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
