package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"onefold/internal/automation"
	"onefold/internal/review"
	"onefold/internal/work"
)

var _ automation.HeartStore = (*Store)(nil)

type serverRow struct {
	Name       string `gorm:"primaryKey"`
	Life       string
	Version    string
	Schema     int64
	State      string
	StartedAt  moment
	SeenAt     moment
	ClockAhead int64
	Jumped     int64
	JumpedAt   moment
	Twin       string
	TwinAt     moment
}

func (serverRow) TableName() string { return "servers" }

// Beat implements automation.HeartStore.
func (s *Store) Beat(ctx context.Context, b work.Beat) error {
	now, err := s.Now(ctx)
	if err != nil {
		return err
	}
	err = s.db.write(ctx, func(tx *gorm.DB) error {
		row := serverRow{Name: tidy(b.Name, maxShort)}
		err := tx.Clauses(clause.Locking{Strength: "UPDATE"}).Where("name = ?", row.Name).Take(&row).Error
		if err != nil && !errors.Is(err, gorm.ErrRecordNotFound) {
			return err
		}
		switch {
		case b.First || row.Life == "":
			row = serverRow{Name: row.Name, StartedAt: moment(now)}
		case row.Life != b.Life: // we had written ours
			row.Twin, row.TwinAt = row.Life, moment(now)
		}
		row.Life, row.Version, row.Schema, row.SeenAt = tidy(b.Life, maxShort), tidy(b.Version, maxShort), newestMigration, moment(now)
		row.State = string(work.ServerRuns)
		if b.Stopping {
			row.State = string(work.ServerStops)
		}
		row.ClockAhead = b.Ahead.Microseconds()
		if b.Jumped != 0 {
			row.Jumped, row.JumpedAt = b.Jumped.Microseconds(), moment(now)
		}
		return tx.Clauses(clause.OnConflict{UpdateAll: true}).Create(&row).Error
	})
	if err != nil {
		return fmt.Errorf("keep the sign of life: %w", err)
	}
	return nil
}

// RemoveServer implements automation.HeartStore.
func (s *Store) RemoveServer(ctx context.Context, name, life string) error {
	return s.db.write(ctx, func(tx *gorm.DB) error {
		return tx.Exec("DELETE FROM servers WHERE name = ? AND life = ?", tidy(name, maxShort), life).Error
	})
}

// SweepServers implements automation.HeartStore.
func (s *Store) SweepServers(ctx context.Context, before time.Time) error {
	old, err := s.ids(ctx, "SELECT count(*) FROM servers WHERE seen_at < ?1", s.db.at(before))
	if err != nil || old[0] == 0 {
		return err
	}
	return s.db.write(ctx, func(tx *gorm.DB) error { return tx.Exec("DELETE FROM servers WHERE seen_at < ?", moment(before)).Error })
}

// Servers returns all servers on the list, by name.
func (s *Store) Servers(ctx context.Context) ([]work.Server, error) {
	var rows []serverRow
	if err := s.db.read(ctx).Order("name").Find(&rows).Error; err != nil {
		return nil, fmt.Errorf("read the servers: %w", err)
	}
	list := make([]work.Server, len(rows))
	for i, r := range rows {
		list[i] = work.Server{Name: r.Name, Life: r.Life, Version: r.Version, Schema: r.Schema, Stopping: r.State == string(work.ServerStops),
			Started: time.Time(r.StartedAt), Seen: time.Time(r.SeenAt), Ahead: time.Duration(r.ClockAhead) * time.Microsecond,
			Jumped: time.Duration(r.Jumped) * time.Microsecond, JumpedAt: time.Time(r.JumpedAt), TwinAt: time.Time(r.TwinAt)}
	}
	return list, nil
}

// HeldCalls returns the open attempts of each server, by system. Its cost follows the open attempts.
func (s *Store) HeldCalls(ctx context.Context) (list []review.HeldCalls, err error) {
	r, err := s.db.query(ctx, "SELECT open_node, system_id, count(*), max(lease_until) FROM items WHERE lease_until IS NOT NULL"+
		" GROUP BY open_node, system_id ORDER BY open_node, system_id")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	for r.Next() {
		var h review.HeldCalls
		if err := r.Scan(&h.Server, &h.SystemID, &h.Count, stamp{&h.Until}); err != nil {
			return nil, fmt.Errorf("read open attempts: %w", err)
		}
		list = append(list, h)
	}
	return list, r.Err()
}

// HeldRuns returns what each server does in the background: only of what is not ended.
func (s *Store) HeldRuns(ctx context.Context) (list []review.HeldRun, err error) {
	r, err := s.db.query(ctx, "SELECT held_by, 'bulk', id, held_until FROM bulk_runs WHERE ended_at IS NULL AND held_by <> ''"+
		" UNION ALL SELECT held_by, 'import', id, held_until FROM imports WHERE state IN ('uploading', 'checking', 'ready', 'importing', 'holding') AND held_by <> ''"+
		" UNION ALL SELECT held_by, 'proof', id, held_until FROM proofs WHERE ended_at IS NULL AND held_by <> '' ORDER BY 1, 2, 3")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	for r.Next() {
		var h review.HeldRun
		if err := r.Scan(&h.Server, &h.Kind, &h.ID, stamp{&h.Until}); err != nil {
			return nil, fmt.Errorf("read background runs: %w", err)
		}
		list = append(list, h)
	}
	return list, r.Err()
}
