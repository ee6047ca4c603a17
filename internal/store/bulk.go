package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"onefold/internal/auth"
	"onefold/internal/review"
	"onefold/internal/work"
)

// bulkRow is a bulk run in the database, but for who holds it.
type bulkRow struct {
	ID         int64 `gorm:"primaryKey"`
	CompanyID  int64
	Form       string
	Plan       string
	State      string
	List       string
	Why        string
	Note       string
	AssignTo   string
	ActorKind  string
	ActorID    string
	ActorName  string
	ActorRoles string
	Previewed  int64
	Size       int64
	Looked     int64
	BeganAt    moment
	EndedAt    moment
	StoppedBy  string
	Version    int64
	Freezing   *string // JSON; nil: the set is complete
}

func (bulkRow) TableName() string { return "bulk_runs" }

func (r bulkRow) run() (review.BulkRun, error) {
	roles, _ := auth.ParseRoles(r.ActorRoles) // a role of a newer version gives no right here
	run := review.BulkRun{ID: r.ID, CompanyID: r.CompanyID, Form: r.Form, Plan: review.Plan(r.Plan), State: review.BulkState(r.State), List: r.List,
		Input:     review.Input{Why: r.Why, Note: r.Note, To: r.AssignTo},
		By:        work.Actor{Kind: work.ActorKind(r.ActorKind), ID: r.ActorID, Name: r.ActorName, Roles: roles},
		Previewed: r.Previewed, Size: r.Size, Looked: r.Looked, BeganAt: time.Time(r.BeganAt), EndedAt: time.Time(r.EndedAt),
		StoppedBy: r.StoppedBy, Version: r.Version, Tally: map[review.BulkOutcome]int64{}}
	if r.Freezing == nil {
		return run, nil
	}
	return run, json.Unmarshal([]byte(*r.Freezing), &run.Freezing)
}

// freezingText is what is left of a set, for the database.
func freezingText(f *review.Freezing) (*string, error) {
	if f == nil {
		return nil, nil
	}
	text, err := json.Marshal(f)
	s := string(text)
	return &s, err
}

// bulkTallyRow is how many items of a run came out in one way.
type bulkTallyRow struct {
	RunID   int64 `gorm:"primaryKey"`
	Outcome string
	Items   int64
}

func (bulkTallyRow) TableName() string { return "bulk_tallies" }

// AddBulk implements review.BulkStore.
func (s *Store) AddBulk(ctx context.Context, r review.BulkRun) (run review.BulkRun, isNew bool, err error) {
	row := bulkRow{CompanyID: r.CompanyID, Form: tidy(r.Form, maxShort), Plan: string(r.Plan), State: string(review.BulkPreparing), List: tidy(r.List, maxLong),
		Why: tidy(r.Input.Why, maxShort), Note: tidy(r.Input.Note, maxLong), AssignTo: tidy(r.Input.To, maxShort), ActorKind: string(r.By.Kind), ActorID: r.By.ID,
		ActorName: tidy(r.By.Name, maxShort), ActorRoles: auth.RolesText(r.By.Roles), Previewed: r.Previewed, BeganAt: moment(r.BeganAt), Version: 1}
	if row.Freezing, err = freezingText(r.Freezing); err != nil {
		return run, false, fmt.Errorf("begin a bulk run: %w", err)
	}
	err = s.db.write(ctx, func(tx *gorm.DB) error {
		row.ID = 0
		done := tx.Clauses(clause.OnConflict{DoNothing: true}).Create(&row)
		isNew = done.RowsAffected == 1
		if done.Error != nil || isNew {
			return done.Error
		}
		return tx.Where("company_id = ? AND form = ?", r.CompanyID, row.Form).Take(&row).Error
	})
	if err != nil {
		return run, false, fmt.Errorf("begin a bulk run: %w", err)
	}
	run, err = row.run()
	return run, isNew, err
}

// bulkChange runs a statement about one run; review.ErrNotFound if it is about none.
func (s *Store) bulkChange(ctx context.Context, text string, args ...any) error {
	return s.db.write(ctx, func(tx *gorm.DB) error {
		done := tx.Exec(text, args...)
		if done.Error == nil && done.RowsAffected == 0 {
			return review.ErrNotFound
		}
		return done.Error
	})
}

// AbandonBulks implements review.BulkStore.
func (s *Store) AbandonBulks(ctx context.Context, before time.Time) error {
	lost, err := s.ids(ctx, "SELECT id FROM bulk_runs WHERE ended_at IS NULL AND state = 'preparing' AND freezing IS NULL AND began_at < ?1", s.db.at(before))
	if err != nil {
		return err
	}
	for _, id := range lost {
		if err := s.EndBulk(ctx, id, review.BulkAbandoned); err != nil {
			return err
		}
	}
	return nil
}

// Bulk implements review.BulkStore.
func (s *Store) Bulk(ctx context.Context, companyID, id int64) (review.BulkRun, error) {
	runs, err := s.bulks(ctx, s.db.read(ctx).Where("company_id = ? AND id = ?", companyID, id))
	if err == nil && len(runs) == 0 {
		return review.BulkRun{}, review.ErrNotFound
	}
	if err != nil {
		return review.BulkRun{}, err
	}
	return runs[0], nil
}

// Bulks implements review.BulkStore. Runs of which nothing was ever frozen are left out.
func (s *Store) Bulks(ctx context.Context, companyID, before int64, limit int) ([]review.BulkRun, error) {
	q := s.db.read(ctx).Where("company_id = ? AND (state <> 'abandoned' OR size > 0)", companyID)
	if before > 0 {
		q = q.Where("id < ?", before)
	}
	return s.bulks(ctx, q.Order("id DESC").Limit(limit))
}

// bulks reads runs with their tallies.
func (s *Store) bulks(ctx context.Context, q *gorm.DB) ([]review.BulkRun, error) {
	var rows []bulkRow
	if err := q.Find(&rows).Error; err != nil {
		return nil, fmt.Errorf("read bulk runs: %w", err)
	}
	runs, ids := make([]review.BulkRun, len(rows)), make([]int64, len(rows))
	at := make(map[int64]int, len(rows))
	for i, r := range rows {
		run, err := r.run()
		if err != nil {
			return nil, fmt.Errorf("read bulk runs: %w", err)
		}
		runs[i], ids[i], at[r.ID] = run, r.ID, i
	}
	var tallies []bulkTallyRow
	if len(ids) > 0 {
		if err := s.db.read(ctx).Where("run_id IN ?", ids).Find(&tallies).Error; err != nil {
			return nil, fmt.Errorf("read bulk runs: %w", err)
		}
	}
	for _, t := range tallies {
		runs[at[t.RunID]].Tally[review.BulkOutcome(t.Outcome)] = t.Items
	}
	return runs, nil
}

// StopBulk implements review.BulkStore.
func (s *Store) StopBulk(ctx context.Context, companyID, id int64, by work.Actor) error {
	err := s.bulkChange(ctx, "UPDATE bulk_runs SET state = 'stopping', stopped_by = ?, version = version + 1 WHERE id = ? AND company_id = ? AND state IN ('preparing', 'running')",
		tidy(by.Name, maxShort), id, companyID)
	if errors.Is(err, review.ErrNotFound) { // it has ended, or was stopped already
		_, err = s.Bulk(ctx, companyID, id)
	}
	return err
}

// OpenBulks implements review.BulkStore.
func (s *Store) OpenBulks(ctx context.Context) ([]int64, error) {
	return s.ids(ctx, "SELECT id FROM bulk_runs WHERE ended_at IS NULL AND (state <> 'preparing' OR freezing IS NOT NULL) ORDER BY id")
}

// HoldBulk implements review.BulkStore.
func (s *Store) HoldBulk(ctx context.Context, id int64, node string, hold time.Duration) (run review.BulkRun, held bool, err error) {
	now, err := s.Now(ctx)
	if err != nil {
		return run, false, err
	}
	err = s.bulkChange(ctx, "UPDATE bulk_runs SET held_by = ?, held_until = ? WHERE id = ? AND ended_at IS NULL AND (state <> 'preparing' OR freezing IS NOT NULL)"+
		" AND (held_until IS NULL OR held_until <= ?)", tidy(node, maxShort), moment(now.Add(hold)), id, moment(now))
	if errors.Is(err, review.ErrNotFound) {
		return run, false, nil
	}
	if err != nil {
		return run, false, fmt.Errorf("take a bulk run: %w", err)
	}
	runs, err := s.bulks(ctx, s.db.read(ctx).Where("id = ?", id))
	if err != nil || len(runs) == 0 {
		return run, false, err
	}
	return runs[0], true, nil
}

// ReleaseBulk implements review.BulkStore.
func (s *Store) ReleaseBulk(ctx context.Context, id int64, node string) error {
	return s.db.write(ctx, func(tx *gorm.DB) error {
		return tx.Exec("UPDATE bulk_runs SET held_by = '', held_until = NULL WHERE id = ? AND held_by = ?", id, tidy(node, maxShort)).Error
	})
}

// EndBulk implements review.BulkStore.
func (s *Store) EndBulk(ctx context.Context, id int64, state review.BulkState) error {
	now, err := s.Now(ctx)
	if err != nil {
		return err
	}
	return s.db.write(ctx, func(tx *gorm.DB) error {
		return tx.Exec("UPDATE bulk_runs SET state = ?, ended_at = ?, version = version + 1 WHERE id = ? AND ended_at IS NULL", string(state), moment(now), id).Error
	})
}
