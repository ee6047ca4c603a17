package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"onefold/internal/work"
)

// theStore is who begins look-first where nobody did.
var theStore = work.Actor{Kind: work.Automation, ID: "store", Name: "Onefold"}

// everywhere is look-first of all systems, and of those that are declared later: what the database forgot may have been
// theirs.
type everywhere struct {
	by  work.Actor
	why string
	now time.Time
	at  func(time.Time) any // a time in the database's own form
}

// begin runs in the transaction that noticed; exec runs a text with ?1 parameters in it. The installation comes first, as
// wherever it is locked beside systems.
func (e everywhere) begin(exec func(text string, args ...any) error) error {
	at, why := e.at(e.now), tidy(e.why, maxLong)
	if err := exec("UPDATE installation SET look_first = ?1, look_first_why = ?2", at, why); err != nil {
		return err
	}
	if err := exec("INSERT INTO setting_changes (at, actor_kind, actor_id, actor_name, system_id, what, before, after)"+
		" SELECT ?1, ?2, ?3, ?4, id, 'look first on', look_first_why, ?5 FROM systems", at, string(e.by.Kind), e.by.ID, tidy(e.by.Name, maxShort), why); err != nil {
		return err
	}
	if err := exec("UPDATE systems SET look_first = ?1, look_first_why = ?2, version = version + 1", at, why); err != nil {
		return err
	}
	// Proofs of before are void. Another machine's clock may have been ahead of this one, so that they would count again when
	// it comes to where that one was. They are aged, not removed: a failed item must have one.
	aged := e.at(e.now.Add(-work.ProofLife - time.Microsecond))
	for _, which := range []string{"status IN ('review', 'pending', 'queued', 'failed') AND id > 0", "lease_until IS NOT NULL"} {
		if err := exec("UPDATE items SET absent_at = ?1, version = version + 1 WHERE absent_at > ?1 AND "+which, aged); err != nil {
			return err
		}
	}
	return nil
}

// StartLookFirst stops all sends of the system, or of all systems if id is empty, until each item was looked for. If it
// is on already it starts anew.
func (s *Store) StartLookFirst(ctx context.Context, id, why string) error {
	if id == "" {
		return s.LookFirstEverywhere(ctx, theStore, why)
	}
	return s.BeginLookFirst(ctx, id, theStore, why)
}

// LookFirstEverywhere stops all sends of all systems on somebody's behalf until each item was looked for. If it is on already
// it starts anew.
func (s *Store) LookFirstEverywhere(ctx context.Context, by work.Actor, why string) error {
	now, err := s.Now(ctx)
	if err != nil {
		return err
	}
	err = s.db.write(ctx, func(tx *gorm.DB) error {
		return everywhere{by, why, now, s.db.at}.begin(func(text string, args ...any) error {
			_, err := tx.Statement.ConnPool.ExecContext(ctx, s.db.text(text), args...)
			return err
		})
	})
	if err != nil {
		return fmt.Errorf("begin look-first: %w", err)
	}
	return nil
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

// EndLookFirst lets the system, or all systems if id is empty, send again without looking. The note goes on record. With the
// last of them it ends for systems that are connected later too.
func (s *Store) EndLookFirst(ctx context.Context, id string, by work.Actor, note string) error {
	systems := []work.System{{ID: id}}
	if id == "" {
		var err error
		if systems, err = s.Systems(ctx); err != nil {
			return err
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
	errs = append(errs, s.db.write(ctx, endedEverywhere))
	return errors.Join(errs...)
}

// endedEverywhere ends look-first of the installation, if no system looks first any more. Under lock, so that one that begins
// meanwhile stays.
func endedEverywhere(tx *gorm.DB) error {
	var one struct{ ID string }
	if err := tx.Clauses(clause.Locking{Strength: "UPDATE"}).Table("installation").Select("id").Take(&one).Error; err != nil {
		return fmt.Errorf("end look-first: %w", err)
	}
	err := tx.Exec("UPDATE installation SET look_first = NULL, look_first_why = '' WHERE NOT EXISTS (SELECT 1 FROM systems WHERE look_first IS NOT NULL)").Error
	if err != nil {
		return fmt.Errorf("end look-first: %w", err)
	}
	return nil
}
