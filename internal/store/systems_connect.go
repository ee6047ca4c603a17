package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"onefold/internal/automation"
	"onefold/internal/work"
)

// Credentials returns the sealed credentials of a system; empty: none are stored.
func (s *Store) Credentials(ctx context.Context, id string) (sealed string, err error) {
	_, err = s.maybeRow(ctx, "SELECT credentials FROM systems WHERE id = ?1", []any{id}, &sealed)
	return sealed, err
}

// Reseal replaces sealed credentials by the same ones under another key, if they are still what they were. Nothing about
// the connection changes, so nothing goes on record.
func (s *Store) Reseal(ctx context.Context, id, was, sealed string) error {
	return s.db.write(ctx, func(tx *gorm.DB) error {
		return tx.Exec("UPDATE systems SET credentials = ? WHERE id = ? AND credentials = ?", sealed, id, was).Error
	})
}

// SystemIDTaken reports whether a system has or had the id: what is on record under it must stay unmistakable.
func (s *Store) SystemIDTaken(ctx context.Context, id string) (bool, error) {
	var one int
	return s.maybeRow(ctx, "SELECT 1 FROM systems WHERE id = ?1 UNION ALL SELECT 1 FROM setting_changes WHERE system_id = ?1 LIMIT 1", []any{id}, &one)
}

// AddSystem adds a system with its sealed credentials, or returns automation.ErrIDTaken.
func (s *Store) AddSystem(ctx context.Context, sys work.System, sealed string, by work.Actor) error {
	if err := sys.Validate(); err != nil {
		return err
	}
	now, err := s.Now(ctx)
	if err != nil {
		return err
	}
	sys.Version = 1
	row, err := newSystemRow(sys)
	if err != nil {
		return err
	}
	said, err := json.Marshal(map[string]string{"name": sys.Name, "kind": sys.Adapter, "address": sys.Address, "books": sys.Identity})
	if err != nil {
		return err
	}
	err = s.db.write(ctx, func(tx *gorm.DB) error {
		if err := looksFirst(tx, &row); err != nil {
			return err
		}
		created := tx.Clauses(clause.OnConflict{DoNothing: true}).Create(&row)
		if created.Error == nil && created.RowsAffected == 0 {
			return automation.ErrIDTaken
		}
		if created.Error != nil {
			return fmt.Errorf("add the system: %w", created.Error)
		}
		if err := tx.Exec("UPDATE systems SET credentials = ? WHERE id = ?", sealed, sys.ID).Error; err != nil {
			return fmt.Errorf("store the credentials: %w", err)
		}
		return recordSettings(tx, now, sys.ID, by, automation.SettingText{What: "system added", After: string(said)})
	})
	if err == nil {
		s.hub.wake(map[string]bool{sys.ID: true})
	}
	return err
}

// recordSettings writes changes of settings, in the transaction that makes them.
func recordSettings(tx *gorm.DB, now time.Time, id string, by work.Actor, changes ...automation.SettingText) error {
	for _, c := range changes {
		row := settingRow{At: moment(now), ActorKind: string(by.Kind), ActorID: by.ID, ActorName: tidy(by.Name, maxShort), SystemID: id, What: c.What,
			Before: tidy(c.Before, maxLong), After: tidy(c.After, maxLong)}
		if err := tx.Create(&row).Error; err != nil {
			return fmt.Errorf("record the change: %w", err)
		}
	}
	return nil
}

// ChangeConnection changes how a system is reached. The new connection was seen to work, so a login that was refused and an
// open breaker belong to the one before.
func (s *Store) ChangeConnection(ctx context.Context, id string, c automation.ConnectionChange) error {
	now, err := s.Now(ctx)
	if err != nil {
		return err
	}
	err = s.db.write(ctx, func(tx *gorm.DB) error {
		err := changeSystem(tx, id, func(sys *work.System) error {
			if automation.ConnectionMark(*sys) != c.Mark {
				return automation.ErrConnectionChanged
			}
			if c.Identity != "" && sys.Identity != "" && c.Identity != sys.Identity {
				return automation.ErrOtherBooks
			}
			sys.Name, sys.Address, sys.Settings, sys.Capabilities, sys.Steps = c.Name, c.Address, c.Settings, c.Capabilities, c.Steps
			if c.Identity != "" {
				sys.Identity, sys.LoginProblem = c.Identity, ""
				sys.BreakerUntil, sys.BreakerSince, sys.BreakerReason = time.Time{}, time.Time{}, ""
			}
			if c.Problem != "" {
				sys.LoginProblem = tidy(c.Problem, maxShort)
			}
			if c.Sealed != nil || c.DropLogin {
				sys.CredentialsVersion++
			}
			return sys.Validate()
		})
		if err != nil {
			return err
		}
		if c.Sealed != nil {
			if err := tx.Exec("UPDATE systems SET credentials = ? WHERE id = ?", *c.Sealed, id).Error; err != nil {
				return fmt.Errorf("store the credentials: %w", err)
			}
		}
		if c.DropLogin {
			if _, err := dropLogin(tx, id); err != nil {
				return err
			}
		}
		if err := recordSettings(tx, now, id, c.By, c.Records...); err != nil {
			return err
		}
		return s.wakeOthers(tx, id)
	})
	if err == nil {
		s.hub.wake(map[string]bool{id: true})
	}
	return err
}

// wakeOthers tells the other servers, when the transaction is committed.
func (s *Store) wakeOthers(tx *gorm.DB, id string) error {
	if tx.Name() != "postgres" {
		return nil
	}
	return tx.Exec("SELECT pg_notify(?, ?)", wakeChannel, id).Error
}

// users of a system besides its items: what would be left without it.
var systemUsers = []struct{ table, says string }{
	{"item_keys", "invoices were recorded for it, and what was recorded is never deleted"},
	{"reports", "reports of it were uploaded: remove them first"},
	{"plans", "recurring invoices go to it: end them or let them go to another system first"},
	{"imports", "files were imported for it, and what became of them is kept"},
	{"event_senders", "senders of events are connected to it: end them first, on the page about events"},
}

// RemoveSystem removes a system that nothing depends on; else the error wraps automation.ErrSystemUsed and says what does.
func (s *Store) RemoveSystem(ctx context.Context, id string, by work.Actor) error {
	now, err := s.Now(ctx)
	if err != nil {
		return err
	}
	return s.db.write(ctx, func(tx *gorm.DB) error {
		var name string
		if err := changeSystem(tx, id, func(sys *work.System) error { name = sys.Name; return nil }); err != nil { // locks it
			return err
		}
		for _, user := range systemUsers {
			var n int64
			if err := tx.Raw("SELECT count(*) FROM (SELECT 1 FROM "+user.table+" WHERE system_id = ? LIMIT 1) t", id).Scan(&n).Error; err != nil {
				return fmt.Errorf("look for what uses the system: %w", err)
			}
			if n > 0 {
				return fmt.Errorf("%w: %s", automation.ErrSystemUsed, user.says)
			}
		}
		if err := tx.Exec("UPDATE alerts SET cleared_at = ? WHERE system_id = ? AND cleared_at IS NULL", moment(now), id).Error; err != nil {
			return fmt.Errorf("end the system's alerts: %w", err)
		}
		for _, statement := range []string{"DELETE FROM system_calls WHERE system_id = ?", "DELETE FROM systems WHERE id = ?"} {
			if err := tx.Exec(statement, id).Error; err != nil {
				if isForeignKey(err) {
					return fmt.Errorf("%w: something that was recorded just now belongs to it", automation.ErrSystemUsed)
				}
				return fmt.Errorf("remove the system: %w", err)
			}
		}
		return recordSettings(tx, now, id, by, automation.SettingText{What: "system removed", Before: name})
	})
}

// isForeignKey reports whether a row is still pointed at.
func isForeignKey(err error) bool {
	var pe *pgconn.PgError
	return errors.As(err, &pe) && pe.Code == "23503" || strings.Contains(err.Error(), "FOREIGN KEY constraint failed")
}
