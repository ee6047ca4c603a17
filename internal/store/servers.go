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
func (s *Store) SweepServers(ctx context.Context, before, idle time.Time) error {
	gone := func(tx *gorm.DB) *gorm.DB {
		return tx.Where("seen_at < ? OR seen_at < ? AND name NOT IN (SELECT open_node FROM items WHERE lease_until IS NOT NULL)"+
			" AND name NOT IN (SELECT h.held_by FROM ("+holders+") h)", moment(before), moment(idle))
	}
	var n int64
	if err := gone(s.db.read(ctx).Model(&serverRow{})).Count(&n).Error; err != nil {
		return fmt.Errorf("look for servers that are gone: %w", err)
	}
	if n == 0 {
		return nil
	}
	return s.db.write(ctx, func(tx *gorm.DB) error { return gone(tx).Delete(&serverRow{}).Error })
}

// Servers returns the servers on the list, by name: of very many those that were seen last.
func (s *Store) Servers(ctx context.Context) ([]work.Server, error) {
	var rows []serverRow
	if err := s.db.read(ctx).Order("seen_at DESC, name").Limit(work.ShownServers).Find(&rows).Error; err != nil {
		return nil, fmt.Errorf("read the servers: %w", err)
	}
	slices.SortFunc(rows, func(a, b serverRow) int { return strings.Compare(a.Name, b.Name) })
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

// holders is who does what in the background: only of what is not ended.
const holders = "SELECT held_by, 'bulk' AS kind, id, held_until FROM bulk_runs WHERE ended_at IS NULL AND held_by <> ''" +
	" UNION ALL SELECT held_by, 'import', id, held_until FROM imports WHERE state IN ('uploading', 'checking', 'ready', 'importing', 'holding') AND held_by <> ''" +
	" UNION ALL SELECT held_by, 'proof', id, held_until FROM proofs WHERE ended_at IS NULL AND held_by <> ''" +
	" UNION ALL SELECT held_by, 'figures', 0, held_until FROM figures_place WHERE held_by <> ''" +
	" UNION ALL SELECT held_by, 'retention', 0, held_until FROM retention_hold WHERE held_by <> ''"

// HeldRuns returns what each server does in the background.
func (s *Store) HeldRuns(ctx context.Context) (list []review.HeldRun, err error) {
	now, err := s.Now(ctx)
	if err != nil {
		return nil, err
	}
	// Nobody waits for the counting and the removing whose time is over: the next one takes them.
	r, err := s.db.query(ctx, "SELECT h.held_by, h.kind, h.id, h.held_until FROM ("+holders+") h WHERE h.id > 0 OR h.held_until > ?1 ORDER BY 1, 2, 3", s.db.at(now))
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
