package store

import (
	"context"
	"fmt"
	"time"

	"gorm.io/gorm"

	"onefold/internal/automation"
	"onefold/internal/work"
)

// SystemLogin returns the login of a system; the zero SystemLogin if no account was ever connected.
func (s *Store) SystemLogin(ctx context.Context, id string) (l automation.SystemLogin, err error) {
	var kind string
	_, err = s.maybeRow(ctx, "SELECT token, expires_at, refused_at, refused_why, version, scopes, connected_kind, connected_id, connected_name, connected_at"+
		" FROM system_logins WHERE system_id = ?1", []any{id}, &l.Sealed, stamp{&l.Expires}, stamp{&l.RefusedAt}, &l.RefusedWhy, &l.Version, &l.Scopes,
		&kind, &l.ConnectedBy.ID, &l.ConnectedBy.Name, stamp{&l.ConnectedAt})
	l.ConnectedBy.Kind = work.ActorKind(kind)
	return l, err
}

// ResealLogin replaces a sealed token by the same one under another key, if it is still what it was. Its version stays: a
// renewal on its way is not disturbed.
func (s *Store) ResealLogin(ctx context.Context, id, was, sealed string) error {
	return s.db.write(ctx, func(tx *gorm.DB) error {
		return tx.Exec("UPDATE system_logins SET token = ? WHERE system_id = ? AND token = ?", sealed, id, was).Error
	})
}

// LeaseRenewal implements automation.AccountStore.
func (s *Store) LeaseRenewal(ctx context.Context, id string, version int64, by string, lasts time.Duration) (taken, unfinished bool, err error) {
	now, err := s.Now(ctx)
	if err != nil {
		return false, false, err
	}
	err = s.db.write(ctx, func(tx *gorm.DB) error {
		var before string
		if err := tx.Raw("SELECT renewing_by FROM system_logins WHERE system_id = ?"+lockRow(tx), id).Scan(&before).Error; err != nil {
			return fmt.Errorf("read the login: %w", err)
		}
		done := tx.Exec("UPDATE system_logins SET renewing_by = ?, renewing_until = ? WHERE system_id = ? AND version = ? AND token <> '' AND refused_at IS NULL"+
			" AND (renewing_until IS NULL OR renewing_until <= ?)", by, moment(now.Add(lasts)), id, version, moment(now))
		taken, unfinished = done.RowsAffected == 1, before != ""
		return done.Error
	})
	return taken && err == nil, unfinished, err
}

// lockRow locks the row that is read; SQLite has one writer at a time.
func lockRow(tx *gorm.DB) string {
	if tx.Name() == "postgres" {
		return " FOR NO KEY UPDATE"
	}
	return ""
}

// EndRenewal implements automation.AccountStore.
func (s *Store) EndRenewal(ctx context.Context, id string, version int64, by string, after time.Duration) error {
	now, err := s.Now(ctx)
	if err != nil {
		return err
	}
	return s.db.write(ctx, func(tx *gorm.DB) error {
		return tx.Exec("UPDATE system_logins SET renewing_until = ? WHERE system_id = ? AND version = ? AND renewing_by = ?",
			moment(now.Add(after)), id, version, by).Error
	})
}

// StoreRenewal implements automation.AccountStore.
func (s *Store) StoreRenewal(ctx context.Context, id string, version int64, sealed string, expires time.Time) (stored bool, err error) {
	err = s.db.write(ctx, func(tx *gorm.DB) error {
		done := tx.Exec("UPDATE system_logins SET token = ?, expires_at = ?, renewing_by = '', renewing_until = NULL, version = version + 1"+
			" WHERE system_id = ? AND version = ? AND token <> '' AND refused_at IS NULL", sealed, moment(expires), id, version)
		stored = done.RowsAffected == 1
		return done.Error
	})
	return stored && err == nil, err
}

// RefuseLogin implements automation.AccountStore.
func (s *Store) RefuseLogin(ctx context.Context, id string, version int64, by, why string) (noted bool, err error) {
	now, err := s.Now(ctx)
	if err != nil {
		return false, err
	}
	err = s.db.write(ctx, func(tx *gorm.DB) error {
		noted = false
		err := changeSystem(tx, id, func(sys *work.System) error {
			done := tx.Exec("UPDATE system_logins SET refused_at = ?, refused_why = ?, renewing_by = '', renewing_until = NULL"+
				" WHERE system_id = ? AND version = ? AND renewing_by = ? AND refused_at IS NULL", moment(now), tidy(why, maxShort), id, version, by)
			if noted = done.RowsAffected == 1; done.Error != nil || !noted {
				return done.Error
			}
			sys.LoginProblem = tidy(why, maxShort)
			sys.CredentialsVersion++ // all servers look again
			return nil
		})
		if err != nil || !noted {
			return err
		}
		return s.wakeOthers(tx, id)
	})
	if err == nil && noted {
		s.hub.wake(map[string]bool{id: true})
	}
	return noted && err == nil, err
}

// ConnectAccount stores a login that was seen to work. What was refused before, and an open breaker, belong to the one before.
func (s *Store) ConnectAccount(ctx context.Context, id string, a automation.AccountChange) error {
	now, err := s.Now(ctx)
	if err != nil {
		return err
	}
	err = s.db.write(ctx, func(tx *gorm.DB) error {
		var company int64
		err := changeSystem(tx, id, func(sys *work.System) error {
			if automation.ConnectionMark(*sys) != a.Mark {
				return automation.ErrConnectionChanged
			}
			if sys.Identity != "" && a.Identity != sys.Identity {
				return automation.ErrOtherBooks
			}
			company = sys.CompanyID
			sys.Settings, sys.Capabilities, sys.Steps, sys.Identity = a.Settings, a.Capabilities, a.Steps, a.Identity
			sys.LoginProblem = ""
			sys.BreakerUntil, sys.BreakerSince, sys.BreakerReason = time.Time{}, time.Time{}, ""
			sys.CredentialsVersion++
			return sys.Validate()
		})
		if err != nil {
			return err
		}
		err = tx.Exec("INSERT INTO system_logins (system_id, company_id, token, expires_at, refused_at, refused_why, renewing_by, renewing_until, version, scopes,"+
			" connected_kind, connected_id, connected_name, connected_at) VALUES (?, ?, ?, ?, NULL, '', '', NULL, 1, ?, ?, ?, ?, ?)"+
			" ON CONFLICT (system_id) DO UPDATE SET token = excluded.token, expires_at = excluded.expires_at, refused_at = NULL, refused_why = '', renewing_by = '',"+
			" renewing_until = NULL, version = system_logins.version + 1, scopes = excluded.scopes, connected_kind = excluded.connected_kind,"+
			" connected_id = excluded.connected_id, connected_name = excluded.connected_name, connected_at = excluded.connected_at",
			id, company, a.Sealed, moment(a.Expires), tidy(a.Scopes, maxShort), string(a.By.Kind), a.By.ID, tidy(a.By.Name, maxShort), moment(now)).Error
		if err != nil {
			return fmt.Errorf("store the login: %w", err)
		}
		if err := recordSettings(tx, now, id, a.By, a.Records...); err != nil {
			return err
		}
		return s.wakeOthers(tx, id)
	})
	if err == nil {
		s.hub.wake(map[string]bool{id: true})
	}
	return err
}

// DisconnectAccount implements automation.AccountStore.
func (s *Store) DisconnectAccount(ctx context.Context, id string, by work.Actor, problem string) error {
	now, err := s.Now(ctx)
	if err != nil {
		return err
	}
	err = s.db.write(ctx, func(tx *gorm.DB) error {
		return changeSystem(tx, id, func(sys *work.System) error {
			dropped, err := dropLogin(tx, id)
			if err != nil || !dropped {
				return err
			}
			sys.LoginProblem = problem
			sys.CredentialsVersion++
			if err := recordSettings(tx, now, id, by, automation.SettingText{What: "account disconnected"}); err != nil {
				return err
			}
			return s.wakeOthers(tx, id)
		})
	})
	if err == nil {
		s.hub.wake(map[string]bool{id: true})
	}
	return err
}

// dropLogin removes a system's login, if it has one.
func dropLogin(tx *gorm.DB, id string) (dropped bool, err error) {
	done := tx.Exec("UPDATE system_logins SET token = '', expires_at = NULL, refused_at = NULL, refused_why = '', renewing_by = '', renewing_until = NULL,"+
		" version = version + 1 WHERE system_id = ? AND token <> ''", id)
	if done.Error != nil {
		return false, fmt.Errorf("remove the login: %w", done.Error)
	}
	return done.RowsAffected == 1, nil
}

// KeepTrip keeps a trip and drops those that are over.
func (s *Store) KeepTrip(ctx context.Context, t automation.LoginTrip, lasts time.Duration) error {
	now, err := s.Now(ctx)
	if err != nil {
		return err
	}
	return s.db.write(ctx, func(tx *gorm.DB) error {
		if err := tx.Exec("DELETE FROM login_trips WHERE expires_at <= ?", moment(now)).Error; err != nil {
			return fmt.Errorf("drop old trips: %w", err)
		}
		return tx.Exec("INSERT INTO login_trips (id, system_id, person_id, sealed, expires_at) VALUES (?, ?, ?, ?, ?)",
			t.ID, t.SystemID, t.PersonID, t.Sealed, moment(now.Add(lasts))).Error
	})
}

// TakeTrip implements automation.AccountStore.
func (s *Store) TakeTrip(ctx context.Context, id string) (t automation.LoginTrip, found bool, err error) {
	now, err := s.Now(ctx)
	if err != nil {
		return t, false, err
	}
	var row struct{ ID, SystemID, PersonID, Sealed string }
	err = s.db.write(ctx, func(tx *gorm.DB) error {
		return tx.Raw("DELETE FROM login_trips WHERE id = ? AND expires_at > ? RETURNING id, system_id, person_id, sealed", id, moment(now)).Scan(&row).Error
	})
	return automation.LoginTrip(row), row.ID != "" && err == nil, err
}

// Trip implements automation.AccountStore.
func (s *Store) Trip(ctx context.Context, id string) (t automation.LoginTrip, found bool, err error) {
	now, err := s.Now(ctx)
	if err != nil {
		return t, false, err
	}
	found, err = s.maybeRow(ctx, "SELECT id, system_id, person_id, sealed FROM login_trips WHERE id = ?1 AND expires_at > ?2", []any{id, s.db.at(now)},
		&t.ID, &t.SystemID, &t.PersonID, &t.Sealed)
	return t, found, err
}
