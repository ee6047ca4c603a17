package store

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"onefold/internal/work"
)

// Systems returns all accounting systems, by id.
func (s *Store) Systems(ctx context.Context) (list []work.System, err error) {
	r, err := s.db.query(ctx, "SELECT "+systemColumns+" FROM systems ORDER BY id")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	return scanSystems(r)
}

// System returns one accounting system, or ErrSystemUnknown.
func (s *Store) System(ctx context.Context, id string) (sys work.System, err error) {
	r, err := s.db.query(ctx, "SELECT "+systemColumns+" FROM systems WHERE id = ?1", id)
	if err != nil {
		return sys, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	list, err := scanSystems(r)
	if err == nil && len(list) == 0 {
		err = fmt.Errorf("%w: %q", ErrSystemUnknown, id)
	}
	if err != nil {
		return sys, err
	}
	return list[0], nil
}

// DeclareSystem connects a system, or brings name, adapter, address, settings, capabilities and steps of a connected one
// up to date. What admins tuned stays. It refuses an identity other than the stored one.
func (s *Store) DeclareSystem(ctx context.Context, sys work.System) error {
	if err := sys.Validate(); err != nil {
		return err
	}
	sys.Version = 1
	row, err := newSystemRow(sys)
	if err != nil {
		return err
	}
	return s.db.write(ctx, func(tx *gorm.DB) error {
		if err := looksFirst(tx, &row); err != nil {
			return err
		}
		created := tx.Clauses(clause.OnConflict{DoNothing: true}).Create(&row)
		if created.Error != nil || created.RowsAffected == 1 {
			return created.Error
		}
		return changeSystem(tx, sys.ID, func(was *work.System) error {
			if sys.Identity != "" && was.Identity != "" && sys.Identity != was.Identity {
				return fmt.Errorf("%w (%q instead of %q)", ErrIdentityChanged, sys.Identity, was.Identity)
			}
			was.Name, was.Adapter, was.Address, was.Settings = sys.Name, sys.Adapter, sys.Address, sys.Settings
			was.Capabilities, was.Steps, was.Typed = sys.Capabilities, sys.Steps, sys.Typed
			return nil
		})
	})
}

// looksFirst sets look-first on a new system while the whole installation looks first.
func looksFirst(tx *gorm.DB, row *systemRow) error {
	var known struct {
		LookFirst    moment
		LookFirstWhy string
	}
	if err := tx.Table("installation").Select("look_first", "look_first_why").Take(&known).Error; err != nil {
		return fmt.Errorf("read the installation: %w", err)
	}
	if time.Time(known.LookFirst).After(time.Time(row.LookFirst)) {
		row.LookFirst, row.LookFirstWhy = known.LookFirst, known.LookFirstWhy
	}
	return nil
}

// changeSystem locks a system against claims, changes it and counts its version on, if anything differs.
func changeSystem(tx *gorm.DB, id string, f func(*work.System) error) error {
	var row systemRow
	err := tx.Clauses(clause.Locking{Strength: "NO KEY UPDATE"}).Where("id = ?", id).Take(&row).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return fmt.Errorf("%w: %q", ErrSystemUnknown, id)
	}
	if err != nil {
		return fmt.Errorf("read the system: %w", err)
	}
	was, err := row.system()
	if err != nil {
		return err
	}
	is := was
	if err := f(&is); err != nil || reflect.DeepEqual(was, is) {
		return err
	}
	is.Version++
	if row, err = newSystemRow(is); err != nil {
		return err
	}
	if err := tx.Select("*").Updates(&row).Error; err != nil {
		return fmt.Errorf("write the system: %w", err)
	}
	return nil
}

type settingRow struct {
	At        moment
	ActorKind string
	ActorID   string
	ActorName string
	SystemID  string
	What      string
	Before    string
	After     string
}

func (settingRow) TableName() string { return "setting_changes" }

// set changes a setting on somebody's behalf and records it. F returns the setting before and after, as text.
func (s *Store) set(ctx context.Context, id string, by work.Actor, what string, f func(*work.System) (before, after string, err error)) error {
	now, err := s.Now(ctx)
	if err != nil {
		return err
	}
	err = s.db.write(ctx, func(tx *gorm.DB) error {
		row := settingRow{At: moment(now), ActorKind: string(by.Kind), ActorID: by.ID, ActorName: tidy(by.Name, maxShort), SystemID: id, What: what}
		err := changeSystem(tx, id, func(sys *work.System) (err error) {
			row.Before, row.After, err = f(sys)
			return err
		})
		if err != nil {
			return err
		}
		row.Before, row.After = tidy(row.Before, maxLong), tidy(row.After, maxLong)
		if err := tx.Create(&row).Error; err != nil {
			return fmt.Errorf("record the change: %w", err)
		}
		if tx.Name() == "postgres" {
			return tx.Exec("SELECT pg_notify(?, ?)", wakeChannel, id).Error
		}
		return nil
	})
	if err == nil {
		s.hub.wake(map[string]bool{id: true})
	}
	return err
}

// Pause lets no more sends begin. Pausing a paused system changes nothing but is recorded.
func (s *Store) Pause(ctx context.Context, id string, by work.Actor, reason string) error {
	now, err := s.Now(ctx)
	if err != nil {
		return err
	}
	return s.set(ctx, id, by, "pause", func(sys *work.System) (string, string, error) {
		before := sys.PauseReason
		if sys.PausedAt.IsZero() {
			sys.PausedAt, sys.PausedBy, sys.PauseReason = now, by.Label(), reason
		}
		return before, reason, nil
	})
}

// Resume lets sends begin again. The note, which may be empty, goes on record.
func (s *Store) Resume(ctx context.Context, id string, by work.Actor, note string) error {
	return s.set(ctx, id, by, "resume", func(sys *work.System) (string, string, error) {
		before := sys.PauseReason
		sys.PausedAt, sys.PausedBy, sys.PauseReason = time.Time{}, "", ""
		return before, note, nil
	})
}

// adjust changes what the engine learned about a system; nobody decided it, so it is not recorded.
func (s *Store) adjust(ctx context.Context, id string, f func(*work.System)) error {
	return s.db.write(ctx, func(tx *gorm.DB) error {
		return changeSystem(tx, id, func(sys *work.System) error {
			f(sys)
			return nil
		})
	})
}

// SetBreaker opens the system's breaker until a probe after the time succeeds; the zero time closes it.
func (s *Store) SetBreaker(ctx context.Context, id string, until time.Time, reason string) error {
	now, err := s.Now(ctx)
	if err != nil {
		return err
	}
	return s.adjust(ctx, id, func(sys *work.System) {
		sys.BreakerUntil, sys.BreakerReason = until.UTC().Truncate(time.Microsecond), reason
		switch {
		case until.IsZero():
			sys.BreakerUntil, sys.BreakerSince, sys.BreakerReason = time.Time{}, time.Time{}, ""
		case sys.BreakerSince.IsZero():
			sys.BreakerSince = now
		}
	})
}

// SetLogin notes what the system said when it refused our login; empty: the login works.
func (s *Store) SetLogin(ctx context.Context, id, problem string) error {
	return s.adjust(ctx, id, func(sys *work.System) { sys.LoginProblem = tidy(problem, maxShort) })
}

// SetIdentity notes which books the system reached when it was connected. It refuses another one later.
func (s *Store) SetIdentity(ctx context.Context, id, identity string) error {
	return s.db.write(ctx, func(tx *gorm.DB) error {
		return changeSystem(tx, id, func(sys *work.System) error {
			if sys.Identity != "" && sys.Identity != identity {
				return fmt.Errorf("%w (%q instead of %q)", ErrIdentityChanged, identity, sys.Identity)
			}
			sys.Identity = identity
			return nil
		})
	})
}
