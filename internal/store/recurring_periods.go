package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"gorm.io/gorm"

	"onefold/internal/automation/recurring"
	"onefold/internal/review"
	"onefold/internal/work"
)

// planPeriodRow is a period that was taken up.
type planPeriodRow struct {
	PlanID   int64 `gorm:"primaryKey"`
	StartsOn int64 `gorm:"primaryKey;autoIncrement:false"`
	EndsOn   int64
	Key      string
	Late     bool
	LeftOut  bool
	ItemID   *int64
	Problem  string
	At       moment
}

func (planPeriodRow) TableName() string { return "plan_periods" }

func (r planPeriodRow) covered() recurring.Covered {
	c := recurring.Covered{Period: recurring.Period{From: dayOf(&r.StartsOn), Until: dayOf(&r.EndsOn)}, Key: r.Key, Late: r.Late, LeftOut: r.LeftOut,
		Problem: r.Problem, At: time.Time(r.At)}
	if r.ItemID != nil {
		c.ItemID = *r.ItemID
	}
	return c
}

// periodsOf reads what a query finds, by plan.
func periodsOf(q *gorm.DB) (map[int64][]recurring.Covered, error) {
	var rows []planPeriodRow
	if err := q.Find(&rows).Error; err != nil {
		return nil, fmt.Errorf("read periods of plans: %w", err)
	}
	of := map[int64][]recurring.Covered{}
	for _, r := range rows {
		of[r.PlanID] = append(of[r.PlanID], r.covered())
	}
	return of, nil
}

// LastCovered implements recurring.PlanStore.
func (s *Store) LastCovered(ctx context.Context, planIDs []int64) (map[int64]recurring.Covered, error) {
	last := map[int64]recurring.Covered{}
	if len(planIDs) == 0 {
		return last, nil
	}
	of, err := periodsOf(s.db.read(ctx).Where("plan_id IN ? AND starts_on = (SELECT max(n.starts_on) FROM plan_periods n WHERE n.plan_id = plan_periods.plan_id)", planIDs))
	for id, list := range of {
		last[id] = list[0]
	}
	return last, err
}

// CoveredBetween implements recurring.PlanStore.
func (s *Store) CoveredBetween(ctx context.Context, companyID int64, first, last time.Time) (map[int64][]recurring.Covered, error) {
	return periodsOf(s.db.read(ctx).Where("starts_on BETWEEN ? AND ? AND plan_id IN (SELECT id FROM plans WHERE company_id = ?)", *dayNo(first), *dayNo(last), companyID).
		Order("plan_id, starts_on"))
}

// PlanPeriods implements recurring.PlanStore.
func (s *Store) PlanPeriods(ctx context.Context, companyID, planID int64, before time.Time, limit int) ([]recurring.Made, error) {
	q := s.db.read(ctx).Where("plan_id = (SELECT id FROM plans WHERE id = ? AND company_id = ?)", planID, companyID)
	if !before.IsZero() {
		q = q.Where("starts_on < ?", *dayNo(before))
	}
	of, err := periodsOf(q.Order("starts_on DESC").Limit(limit))
	if err != nil {
		return nil, err
	}
	var firsts []review.PeriodCursor
	for _, c := range of[planID] {
		if c.ItemID != 0 {
			firsts = append(firsts, review.PeriodCursor{ID: c.ItemID})
		}
	}
	shown, err := s.shownSteps(ctx, firsts)
	if err != nil {
		return nil, err
	}
	ids := make([]int64, 0, len(shown))
	for _, id := range shown {
		ids = append(ids, id)
	}
	items, err := s.byIDs(ctx, ids)
	if err != nil {
		return nil, err
	}
	at := make(map[int64]work.Item, len(items))
	for _, it := range items {
		at[it.ID] = it
	}
	made := make([]recurring.Made, 0, len(of[planID]))
	for _, c := range of[planID] {
		made = append(made, recurring.Made{Covered: c, Item: at[shown[c.ItemID]]})
	}
	return made, nil
}

// planChangeRow is one entry of a plan's history.
type planChangeRow struct {
	ID        int64 `gorm:"primaryKey"`
	PlanID    int64
	At        moment
	ActorKind string
	ActorID   string
	ActorName string
	What      string
	Note      string
	Before    string
	After     string
}

func (planChangeRow) TableName() string { return "plan_changes" }

func newPlanChangeRow(m recurring.Move, was *recurring.Plan, now time.Time) (row planChangeRow, err error) {
	row = planChangeRow{PlanID: m.Plan.ID, At: moment(now), ActorKind: string(m.By.Kind), ActorID: m.By.ID, ActorName: tidy(m.By.Name, maxShort),
		What: string(m.What), Note: tidy(m.Note, maxLong)}
	if was != nil {
		before, err := json.Marshal(was)
		if err != nil {
			return row, err
		}
		row.Before = string(before)
	}
	after, err := json.Marshal(m.Plan)
	row.After = string(after)
	return row, err
}

func (r planChangeRow) entry() (recurring.Entry, error) {
	e := recurring.Entry{ID: r.ID, At: time.Time(r.At), By: work.Actor{Kind: work.ActorKind(r.ActorKind), ID: r.ActorID, Name: r.ActorName},
		What: recurring.What(r.What), Note: r.Note}
	if r.Before != "" {
		e.Before = &recurring.Plan{}
		if err := json.Unmarshal([]byte(r.Before), e.Before); err != nil {
			return e, fmt.Errorf("the history of plan %d is damaged: %w", r.PlanID, err)
		}
	}
	if err := json.Unmarshal([]byte(r.After), &e.After); err != nil {
		return e, fmt.Errorf("the history of plan %d is damaged: %w", r.PlanID, err)
	}
	return e, nil
}

// PlanHistory implements recurring.PlanStore.
func (s *Store) PlanHistory(ctx context.Context, companyID, planID, before int64, limit int) ([]recurring.Entry, error) {
	q := s.db.read(ctx).Where("plan_id = (SELECT id FROM plans WHERE id = ? AND company_id = ?)", planID, companyID)
	if before > 0 {
		q = q.Where("id < ?", before)
	}
	var rows []planChangeRow
	if err := q.Order("id DESC").Limit(limit).Find(&rows).Error; err != nil {
		return nil, fmt.Errorf("read the history of a plan: %w", err)
	}
	list := make([]recurring.Entry, len(rows))
	for i, r := range rows {
		var err error
		if list[i], err = r.entry(); err != nil {
			return nil, err
		}
	}
	return list, nil
}
