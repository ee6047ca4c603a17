package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"gorm.io/gorm"

	"onefold/internal/automation/recurring"
	"onefold/internal/work"
)

var (
	_ recurring.Store     = (*Store)(nil)
	_ recurring.PlanStore = (*Store)(nil)
)

// dayNo is a day in the database: days since 1970-01-01. The zero time is none.
func dayNo(day time.Time) *int64 {
	if day.IsZero() {
		return nil
	}
	n := day.Unix() / (24 * 60 * 60)
	return &n
}

func dayOf(n *int64) time.Time {
	if n == nil {
		return time.Time{}
	}
	return time.Unix(*n*24*60*60, 0).UTC()
}

// planRow is a plan without its terms.
type planRow struct {
	ID           int64 `gorm:"primaryKey"`
	CompanyID    int64
	Code         string
	FoldedCode   string
	SystemID     string
	CustomerID   string
	CustomerName string
	Currency     string
	EndOn        *int64
	PayWithin    int
	Prorate      bool
	Note         string
	State        string
	Why          string
	CaughtUpTo   *int64
	CoveredTo    *int64
	NextOn       *int64
	Words        string
	CreatedKind  string
	CreatedID    string
	CreatedName  string
	CreatedAt    moment
	ChangedKind  string
	ChangedID    string
	ChangedName  string
	Version      int64
}

func (planRow) TableName() string { return "plans" }

// newPlanRow also works out when the next period begins, so that the loop finds the plan then.
func newPlanRow(p recurring.Plan) (planRow, error) {
	next, err := p.NextFrom(p.CoveredTo)
	if err != nil {
		return planRow{}, fmt.Errorf("plan %s: %w", p.Code, err)
	}
	return planRow{ID: p.ID, CompanyID: p.CompanyID, Code: p.Code, FoldedCode: work.FoldKey(p.Code), SystemID: p.SystemID, CustomerID: p.CustomerID,
		CustomerName: p.CustomerName, Currency: p.Currency, EndOn: dayNo(p.End), PayWithin: p.PayWithin, Prorate: p.Prorate, Note: p.Note,
		State: string(p.State), Why: string(p.Why), CaughtUpTo: dayNo(p.CaughtUpTo), CoveredTo: dayNo(p.CoveredTo), NextOn: dayNo(next),
		Words:       work.FoldKey(p.Code) + "\n" + work.FoldKey(p.CustomerID) + "\n" + work.FoldKey(p.CustomerName),
		CreatedKind: string(p.CreatedBy.Kind), CreatedID: p.CreatedBy.ID, CreatedName: tidy(p.CreatedBy.Name, maxShort), CreatedAt: moment(p.CreatedAt),
		ChangedKind: string(p.ChangedBy.Kind), ChangedID: p.ChangedBy.ID, ChangedName: tidy(p.ChangedBy.Name, maxShort), Version: p.Version}, nil
}

func (r planRow) plan() recurring.Plan {
	return recurring.Plan{ID: r.ID, CompanyID: r.CompanyID, Code: r.Code, SystemID: r.SystemID, CustomerID: r.CustomerID, CustomerName: r.CustomerName,
		Currency: r.Currency, End: dayOf(r.EndOn), PayWithin: r.PayWithin, Prorate: r.Prorate, Note: r.Note, State: recurring.State(r.State),
		Why: recurring.Why(r.Why), CaughtUpTo: dayOf(r.CaughtUpTo), CoveredTo: dayOf(r.CoveredTo), Next: dayOf(r.NextOn), Version: r.Version,
		CreatedBy: work.Actor{Kind: work.ActorKind(r.CreatedKind), ID: r.CreatedID, Name: r.CreatedName}, CreatedAt: time.Time(r.CreatedAt),
		ChangedBy: work.Actor{Kind: work.ActorKind(r.ChangedKind), ID: r.ChangedID, Name: r.ChangedName}}
}

type termRow struct {
	PlanID   int64 `gorm:"primaryKey"`
	StartsOn int64 `gorm:"primaryKey;autoIncrement:false"`
	Every    int
	Unit     string
	Day      int
	Lines    string
}

func (termRow) TableName() string { return "plan_terms" }

func newTermRows(p recurring.Plan) ([]termRow, error) {
	rows := make([]termRow, len(p.Terms))
	for i, t := range p.Terms {
		lines, err := json.Marshal(t.Lines)
		if err != nil {
			return nil, err
		}
		rows[i] = termRow{PlanID: p.ID, StartsOn: *dayNo(t.From), Every: t.Schedule.Every, Unit: string(t.Schedule.Unit), Day: t.Schedule.Day, Lines: string(lines)}
	}
	return rows, nil
}

func (r termRow) term() (recurring.Term, error) {
	t := recurring.Term{From: dayOf(&r.StartsOn), Schedule: recurring.Schedule{Every: r.Every, Unit: recurring.Unit(r.Unit), Day: r.Day}}
	if err := json.Unmarshal([]byte(r.Lines), &t.Lines); err != nil {
		return t, fmt.Errorf("the stored lines of plan %d are damaged: %w", r.PlanID, err)
	}
	return t, nil
}

// plans reads the plans of a query with their terms, in the order of the query.
func plans(tx, q *gorm.DB) ([]recurring.Plan, error) {
	var rows []planRow
	if err := q.Find(&rows).Error; err != nil {
		return nil, fmt.Errorf("read plans: %w", err)
	}
	list, ids := make([]recurring.Plan, len(rows)), make([]int64, len(rows))
	at := make(map[int64]int, len(rows))
	for i, r := range rows {
		list[i], ids[i], at[r.ID] = r.plan(), r.ID, i
	}
	if len(ids) == 0 {
		return list, nil
	}
	var terms []termRow
	if err := tx.Where("plan_id IN ?", ids).Order("plan_id, starts_on").Find(&terms).Error; err != nil {
		return nil, fmt.Errorf("read the terms of plans: %w", err)
	}
	for _, r := range terms {
		t, err := r.term()
		if err != nil {
			return nil, err
		}
		p := &list[at[r.PlanID]]
		p.Terms = append(p.Terms, t)
	}
	return list, nil
}

// Plan implements recurring.PlanStore.
func (s *Store) Plan(ctx context.Context, companyID, id int64) (recurring.Plan, error) {
	tx := s.db.read(ctx)
	list, err := plans(tx, tx.Where("company_id = ? AND id = ?", companyID, id))
	if err == nil && len(list) == 0 {
		err = recurring.ErrNotFound
	}
	if err != nil {
		return recurring.Plan{}, err
	}
	return list[0], nil
}

// NearPlans implements recurring.PlanStore.
func (s *Store) NearPlans(ctx context.Context, p recurring.Plan) ([]recurring.Plan, error) {
	return near(s.db.read(ctx), p)
}

func near(tx *gorm.DB, p recurring.Plan) ([]recurring.Plan, error) {
	return plans(tx, tx.Where("company_id = ? AND system_id = ? AND customer_id = ? AND id <> ?", p.CompanyID, p.SystemID, p.CustomerID, p.ID).Order("id"))
}

// PlanList implements recurring.PlanStore.
func (s *Store) PlanList(ctx context.Context, companyID int64, q recurring.ListQuery) ([]recurring.Plan, error) {
	tx := s.db.read(ctx)
	find := tx.Where("company_id = ? AND folded_code > ?", companyID, work.FoldKey(q.After))
	if words := work.FoldKey(q.Text); words != "" {
		find = find.Where(s.db.search().contains("words", "?"), words)
	}
	switch q.State {
	case "":
	case recurring.Ended:
		find = find.Where("next_on IS NULL")
	default:
		find = find.Where("next_on IS NOT NULL AND state = ?", string(q.State))
	}
	return plans(tx, find.Order("folded_code").Limit(q.Limit))
}

// PlanCounts implements recurring.PlanStore.
func (s *Store) PlanCounts(ctx context.Context, companyID int64) (n map[recurring.State]int64, err error) {
	r, err := s.db.query(ctx, "SELECT CASE WHEN next_on IS NULL THEN 'ended' ELSE state END, count(*) FROM plans WHERE company_id = ?1 GROUP BY 1", companyID)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	n = map[recurring.State]int64{}
	for r.Next() {
		var state string
		var count int64
		if err := r.Scan(&state, &count); err != nil {
			return nil, fmt.Errorf("count plans: %w", err)
		}
		n[recurring.State(state)] = count
	}
	return n, r.Err()
}
