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
	"onefold/internal/automation/proof"
	"onefold/internal/work"
)

var _ proof.Store = (*Store)(nil)

// proofRow is a proof in the database, but for who holds it.
type proofRow struct {
	ID        int64 `gorm:"primaryKey"`
	CompanyID int64
	SystemID  string
	State     string
	Version   int64
	MadeBy    string
	MadeAt    moment
	EndedAt   moment
	Live      bool
	Reached   string
	Body      string
}

func (proofRow) TableName() string { return "proofs" }

func newProofRow(r proof.Run) (proofRow, error) {
	by, err := storedActor(r.By)
	if err != nil {
		return proofRow{}, err
	}
	body, err := storedJSON(r.Body)
	return proofRow{ID: r.ID, CompanyID: r.CompanyID, SystemID: r.SystemID, State: string(r.State), Version: r.Version, MadeBy: by, MadeAt: moment(r.At),
		EndedAt: moment(r.EndedAt), Live: r.Live, Reached: r.Reached, Body: body}, err
}

func (row proofRow) run() (proof.Run, error) {
	r := proof.Run{ID: row.ID, CompanyID: row.CompanyID, SystemID: row.SystemID, State: proof.State(row.State), Version: row.Version, At: time.Time(row.MadeAt),
		EndedAt: time.Time(row.EndedAt), Live: row.Live, Reached: row.Reached}
	if err := errors.Join(json.Unmarshal([]byte(row.MadeBy), &r.By), json.Unmarshal([]byte(row.Body), &r.Body)); err != nil {
		return r, fmt.Errorf("the stored proof %d is damaged: %w", row.ID, err)
	}
	return r, nil
}

// AddProof implements proof.Store.
func (s *Store) AddProof(ctx context.Context, r proof.Run) (proof.Run, error) {
	r.ID, r.Version = 0, 1
	row, err := newProofRow(r)
	if err != nil {
		return r, err
	}
	err = s.db.write(ctx, func(tx *gorm.DB) error {
		done := tx.Clauses(clause.OnConflict{DoNothing: true}).Create(&row) // of the index proofs_once
		if done.Error == nil && done.RowsAffected == 0 {
			return proof.ErrRunning
		}
		return done.Error
	})
	r.ID = row.ID
	return r, err
}

// Proof implements proof.Store.
func (s *Store) Proof(ctx context.Context, companyID, id int64) (proof.Run, error) {
	list, err := proofs(s.db.read(ctx).Where("company_id = ? AND id = ?", companyID, id))
	if err == nil && len(list) == 0 {
		err = proof.ErrUnknown
	}
	if err != nil {
		return proof.Run{}, err
	}
	return list[0], nil
}

// Proofs implements proof.Store.
func (s *Store) Proofs(ctx context.Context, companyID int64, systemID string, n int) ([]proof.Run, error) {
	return proofs(s.db.read(ctx).Where("company_id = ? AND system_id = ?", companyID, systemID).Order("id DESC").Limit(n))
}

// LastProofs implements proof.Store.
func (s *Store) LastProofs(ctx context.Context, companyID int64) (map[string]proof.Run, error) {
	list, err := proofs(s.db.read(ctx).Where("id IN (SELECT max(id) FROM proofs WHERE company_id = ? AND state = 'proven' GROUP BY system_id)", companyID))
	last := make(map[string]proof.Run, len(list))
	for _, r := range list {
		last[r.SystemID] = r
	}
	return last, err
}

func proofs(q *gorm.DB) ([]proof.Run, error) {
	var rows []proofRow
	if err := q.Find(&rows).Error; err != nil {
		return nil, fmt.Errorf("read the proofs: %w", err)
	}
	list := make([]proof.Run, len(rows))
	for i, row := range rows {
		var err error
		if list[i], err = row.run(); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// WaitingProofs implements proof.Store.
func (s *Store) WaitingProofs(ctx context.Context) ([]int64, error) {
	return s.ids(ctx, "SELECT id FROM proofs WHERE ended_at IS NULL AND state = 'waiting' ORDER BY id")
}

// heldProof returns the run under lock, if the condition holds.
func heldProof(tx *gorm.DB, where string, args ...any) (r proof.Run, found bool, err error) {
	var row proofRow
	err = tx.Clauses(clause.Locking{Strength: "UPDATE"}).Where(where, args...).Take(&row).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return r, false, nil
	}
	if err == nil {
		r, err = row.run()
	}
	return r, err == nil, err
}

// putProof writes a run that is under lock. An empty node releases it.
func putProof(tx *gorm.DB, r *proof.Run, node string, until time.Time) error {
	r.Version++
	row, err := newProofRow(*r)
	if err != nil {
		return err
	}
	if err := tx.Select("*").Updates(&row).Error; err != nil {
		return fmt.Errorf("write the proof: %w", err)
	}
	return tx.Exec("UPDATE proofs SET held_by = ?, held_until = ? WHERE id = ?", tidy(node, maxShort), moment(until), r.ID).Error
}

// TakeProof implements proof.Store.
func (s *Store) TakeProof(ctx context.Context, id int64, node string, hold time.Duration) (r proof.Run, taken bool, err error) {
	now, err := s.Now(ctx)
	if err != nil {
		return r, false, err
	}
	err = s.db.write(ctx, func(tx *gorm.DB) (err error) {
		if r, taken, err = heldProof(tx, "id = ? AND state = 'waiting'", id); err != nil || !taken {
			return err
		}
		r.State = proof.Running
		return putProof(tx, &r, node, now.Add(hold))
	})
	if err == nil && !taken {
		list, err := proofs(s.db.read(ctx).Where("id = ?", id))
		if err != nil || len(list) == 0 {
			return r, false, errors.Join(err, proof.ErrUnknown)
		}
		return list[0], false, nil
	}
	return r, taken && err == nil, err
}

// SaveProof implements proof.Store.
func (s *Store) SaveProof(ctx context.Context, r *proof.Run, node string, hold time.Duration) error {
	now, err := s.Now(ctx)
	if err != nil {
		return err
	}
	return s.db.write(ctx, func(tx *gorm.DB) error {
		_, held, err := heldProof(tx, "id = ? AND state = 'running' AND held_by = ?", r.ID, node)
		if err == nil && !held {
			err = proof.ErrLost
		}
		if err != nil {
			return err
		}
		return putProof(tx, r, node, now.Add(hold))
	})
}

// EndProof implements proof.Store.
func (s *Store) EndProof(ctx context.Context, r *proof.Run, node string) error {
	now, err := s.Now(ctx)
	if err != nil {
		return err
	}
	err = s.db.write(ctx, func(tx *gorm.DB) error {
		_, held, err := heldProof(tx, "id = ? AND state = 'running' AND held_by = ?", r.ID, node)
		if err == nil && !held {
			err = proof.ErrLost
		}
		if err != nil {
			return err
		}
		r.EndedAt = now
		if err := putProof(tx, r, "", time.Time{}); err != nil {
			return err
		}
		return keepSeen(tx, *r)
	})
	if err == nil {
		s.hub.wake(map[string]bool{r.SystemID: true})
	}
	return err
}

// keepSeen keeps on the system what a run saw: nothing, unless it proved it. A system that is reached in another way since,
// or that was removed, keeps what it has.
func keepSeen(tx *gorm.DB, r proof.Run) error {
	err := changeSystem(tx, r.SystemID, func(sys *work.System) error {
		if sys.Reached() != r.Reached {
			return nil
		}
		sys.Seen = work.Seen{}
		if r.State == proof.Proven {
			sys.Seen = work.Seen{On: r.Reached, Keys: r.Seen.Keys, Search: r.Seen.Search}
		}
		return nil
	})
	if errors.Is(err, ErrSystemUnknown) {
		return nil
	}
	return err
}

// InterruptProofs implements proof.Store.
func (s *Store) InterruptProofs(ctx context.Context) (int, error) {
	now, err := s.Now(ctx)
	if err != nil {
		return 0, err
	}
	ids, err := s.ids(ctx, "SELECT id FROM proofs WHERE ended_at IS NULL AND state = 'running' AND held_until <= ?1", s.db.at(now))
	if err != nil {
		return 0, err
	}
	n := 0
	for _, id := range ids {
		err := s.db.write(ctx, func(tx *gorm.DB) error {
			r, found, err := heldProof(tx, "id = ? AND state = 'running' AND held_until <= ?", id, moment(now))
			if err != nil || !found {
				return err
			}
			n++
			r.Interrupt()
			r.EndedAt = now
			if err := putProof(tx, &r, "", time.Time{}); err != nil {
				return err
			}
			return keepSeen(tx, r)
		})
		if err != nil {
			return n, fmt.Errorf("end the lost proof %d: %w", id, err)
		}
	}
	return n, nil
}

// AdoptCaution implements proof.Store.
func (s *Store) AdoptCaution(ctx context.Context, r proof.Run, by work.Actor) error {
	now, err := s.Now(ctx)
	if err != nil {
		return err
	}
	err = s.db.write(ctx, func(tx *gorm.DB) error {
		run, found, err := heldProof(tx, "id = ? AND company_id = ?", r.ID, r.CompanyID)
		if err != nil || !found || run.Adopted {
			return err
		}
		record := automation.SettingText{What: "caution"}
		err = changeSystem(tx, run.SystemID, func(sys *work.System) error {
			before, err := storedJSON(sys.Caution)
			if err != nil {
				return err
			}
			sys.Caution = sys.Caution.With(run.Offer)
			after, err := storedJSON(sys.Caution)
			record.Before, record.After = before, after
			return err
		})
		if err != nil {
			return err
		}
		if err := recordSettings(tx, now, run.SystemID, by, record); err != nil {
			return err
		}
		run.Adopted = true
		if err := putProof(tx, &run, "", time.Time{}); err != nil {
			return err
		}
		return s.wakeOthers(tx, run.SystemID)
	})
	if err == nil {
		s.hub.wake(map[string]bool{r.SystemID: true})
	}
	return err
}
