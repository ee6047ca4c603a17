package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gorm.io/gorm"

	"onefold/internal/work"
)

// lookFirstEverywhere starts look-first for all systems, and for those that are declared later: what the database forgot
// may have been theirs. Exec runs a text with ?1 parameters in the transaction that noticed; at is the time in the
// database's own form.
func lookFirstEverywhere(exec func(text string, args ...any) error, at any, why string) error {
	if err := exec("INSERT INTO setting_changes (at, actor_kind, actor_id, actor_name, system_id, what, before, after)"+
		" SELECT ?1, 'automation', 'store', 'Onefold', id, 'look first on', look_first_why, ?2 FROM systems", at, why); err != nil {
		return err
	}
	if err := exec("UPDATE systems SET look_first = ?1, look_first_why = ?2, version = version + 1", at, why); err != nil {
		return err
	}
	return exec("UPDATE installation SET look_first = ?1, look_first_why = ?2", at, why)
}

// StartLookFirst stops all sends of the system, or of all systems if id is empty, until each item was looked for. If it
// is on already it starts anew.
func (s *Store) StartLookFirst(ctx context.Context, id, why string) error {
	now, err := s.Now(ctx)
	if err != nil {
		return err
	}
	if id == "" {
		return s.db.write(ctx, func(tx *gorm.DB) error {
			return lookFirstEverywhere(func(text string, args ...any) error {
				_, err := tx.Statement.ConnPool.ExecContext(ctx, s.db.text(text), args...)
				return err
			}, s.db.at(now), why)
		})
	}
	return s.BeginLookFirst(ctx, id, work.Actor{Kind: work.Automation, ID: "store", Name: "Onefold"}, why)
}

// BeginLookFirst stops all sends of the system on somebody's behalf until each item was looked for. If it is on already it
// starts anew.
func (s *Store) BeginLookFirst(ctx context.Context, id string, by work.Actor, why string) error {
	now, err := s.Now(ctx)
	if err != nil {
		return err
	}
	return s.set(ctx, id, by, "look first on", func(sys *work.System) (before, after string, err error) {
		before = sys.LookFirstWhy
		sys.LookFirst, sys.LookFirstWhy = now, why
		return before, why, nil
	})
}

// EndLookFirst lets the system, or all systems if id is empty, send again without looking.
// The note goes on record.
func (s *Store) EndLookFirst(ctx context.Context, id string, by work.Actor, note string) error {
	systems := []work.System{{ID: id}}
	if id == "" {
		var err error
		if systems, err = s.Systems(ctx); err != nil {
			return err
		}
		err = s.db.write(ctx, func(tx *gorm.DB) error {
			return tx.Exec("UPDATE installation SET look_first = NULL, look_first_why = ''").Error
		})
		if err != nil {
			return fmt.Errorf("end look-first: %w", err)
		}
	}
	var errs []error
	for _, sys := range systems {
		errs = append(errs, s.set(ctx, sys.ID, by, "look first off", func(sys *work.System) (before, after string, err error) {
			before = sys.LookFirstWhy
			sys.LookFirst, sys.LookFirstWhy = time.Time{}, ""
			return before, note, nil
		}))
	}
	return errors.Join(errs...)
}
