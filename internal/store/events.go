package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gorm.io/gorm"

	"onefold/internal/auth"
	"onefold/internal/automation/events"
	"onefold/internal/work"
)

const senderColumns = "kind, id, company_id, name, system_id, automation, secrets, secret_n, changed_at, changed_by"

func (s *Store) senders(ctx context.Context, where string, args ...any) (list []events.Sender, err error) {
	r, err := s.db.query(ctx, "SELECT "+senderColumns+" FROM event_senders WHERE "+where, args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	for r.Next() {
		var sn events.Sender
		if err := r.Scan((*string)(&sn.Kind), &sn.ID, &sn.CompanyID, &sn.Name, &sn.SystemID, &sn.Automation, &sn.Sealed, &sn.SecretN,
			stamp{&sn.ChangedAt}, &sn.ChangedBy); err != nil {
			return nil, fmt.Errorf("read senders: %w", err)
		}
		list = append(list, sn)
	}
	return list, r.Err()
}

// Senders implements events.Store.
func (s *Store) Senders(ctx context.Context, companyID int64) ([]events.Sender, error) {
	return s.senders(ctx, "company_id = ?1 ORDER BY kind, id", companyID)
}

// Sender implements events.Store.
func (s *Store) Sender(ctx context.Context, companyID int64, kind events.Kind, id string) (events.Sender, bool, error) {
	list, err := s.senders(ctx, "kind = ?1 AND id = ?2 AND company_id = ?3", string(kind), tidy(id, maxShort), companyID)
	if err != nil || len(list) == 0 {
		return events.Sender{}, false, err
	}
	return list[0], true, nil
}

// PutSender implements events.Store.
func (s *Store) PutSender(ctx context.Context, sn events.Sender, by work.Actor, did events.Act) error {
	entry := auth.Entry{CompanyID: sn.CompanyID, By: by, What: string(did), Object: senderObject(sn.Kind, sn.ID), After: sn.Name + " → " + sn.SystemID}
	return s.db.write(ctx, func(tx *gorm.DB) error {
		if err := appendEntry(tx, entry, sn.ChangedAt); err != nil {
			return err
		}
		return tx.Exec("INSERT INTO event_senders ("+senderColumns+") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"+
			" ON CONFLICT (kind, id) DO UPDATE SET name = excluded.name, system_id = excluded.system_id, automation = excluded.automation,"+
			" secrets = excluded.secrets, secret_n = excluded.secret_n, changed_at = excluded.changed_at, changed_by = excluded.changed_by"+
			" WHERE event_senders.company_id = excluded.company_id",
			string(sn.Kind), sn.ID, sn.CompanyID, sn.Name, sn.SystemID, sn.Automation, sn.Sealed, sn.SecretN, moment(sn.ChangedAt), tidy(sn.ChangedBy, maxShort)).Error
	})
}

// RemoveSender implements events.Store.
func (s *Store) RemoveSender(ctx context.Context, companyID int64, kind events.Kind, id string, by work.Actor) error {
	now, err := s.Now(ctx)
	if err != nil {
		return err
	}
	return s.db.write(ctx, func(tx *gorm.DB) error {
		done := tx.Exec("DELETE FROM event_senders WHERE kind = ? AND id = ? AND company_id = ?", string(kind), tidy(id, maxShort), companyID)
		if done.Error != nil || done.RowsAffected == 0 {
			return done.Error
		}
		return appendEntry(tx, auth.Entry{CompanyID: companyID, By: by, What: string(events.DidDisconnect), Object: senderObject(kind, id)}, now)
	})
}

func senderObject(kind events.Kind, id string) string { return "sender:" + string(kind) + " " + id }

const eventColumns = "company_id, kind, sender, event_id, type, subject, digest, happened_at, received_at, times, result, detail, item_id"

func (s *Store) events(ctx context.Context, where string, args ...any) (list []events.Event, err error) {
	r, err := s.db.query(ctx, "SELECT id, "+eventColumns+" FROM events WHERE "+where, args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	for r.Next() {
		var e events.Event
		if err := r.Scan(&e.ID, &e.CompanyID, (*string)(&e.Kind), &e.Sender, &e.EventID, &e.Type, &e.Subject, &e.Digest, stamp{&e.HappenedAt},
			stamp{&e.ReceivedAt}, &e.Times, (*string)(&e.Result), &e.Detail, &e.ItemID); err != nil {
			return nil, fmt.Errorf("read events: %w", err)
		}
		list = append(list, e)
	}
	return list, r.Err()
}

// Event implements events.Store.
func (s *Store) Event(ctx context.Context, companyID int64, kind events.Kind, sender, eventID string) (events.Event, bool, error) {
	list, err := s.events(ctx, "company_id = ?1 AND kind = ?2 AND sender = ?3 AND event_id = ?4", companyID, string(kind), sender, eventID)
	if err != nil || len(list) == 0 {
		return events.Event{}, false, err
	}
	return list[0], true, nil
}

// Events implements events.Store.
func (s *Store) Events(ctx context.Context, companyID int64, limit int) ([]events.Event, error) {
	return s.events(ctx, "company_id = ?1 ORDER BY id DESC LIMIT ?2", companyID, limit)
}

// NewestEvent implements events.Store.
func (s *Store) NewestEvent(ctx context.Context, companyID int64, kind events.Kind, sender, subject string) (t time.Time, err error) {
	_, err = s.maybeRow(ctx, "SELECT happened_at FROM events WHERE company_id = ?1 AND kind = ?2 AND sender = ?3 AND subject = ?4 AND happened_at IS NOT NULL"+
		" ORDER BY happened_at DESC LIMIT 1", []any{companyID, string(kind), sender, tidy(subject, maxShort)}, stamp{&t})
	return t, err
}

// RememberEvent implements events.Store.
func (s *Store) RememberEvent(ctx context.Context, e events.Event) error {
	kept := func(column string) string { // what had its effect stays as it is
		return column + " = CASE WHEN events.result IN ('new', 'known', 'looking', 'outdated', 'noted') THEN events." + column + " ELSE excluded." + column + " END"
	}
	return s.db.write(ctx, func(tx *gorm.DB) error {
		return tx.Exec("INSERT INTO events ("+eventColumns+") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 1, ?, ?, ?)"+
			" ON CONFLICT (company_id, kind, sender, event_id) DO UPDATE SET times = events.times + 1, "+kept("digest")+", "+kept("subject")+", "+
			kept("result")+", "+kept("detail")+", "+kept("item_id"),
			e.CompanyID, string(e.Kind), e.Sender, e.EventID, tidy(e.Type, maxShort), tidy(e.Subject, maxShort), e.Digest, moment(e.HappenedAt),
			moment(e.ReceivedAt), string(e.Result), tidy(e.Detail, maxShort), e.ItemID).Error
	})
}

// ItemsNamed implements events.Store.
func (s *Store) ItemsNamed(ctx context.Context, companyID int64, systemID, reference, recordID string) ([]int64, error) {
	return s.ids(ctx, "SELECT id FROM (SELECT item_id AS id FROM item_keys WHERE lower(reference) = ?4 AND reference = ?3 AND system_id = ?2 AND +company_id = ?1 AND ?3 <> ''"+
		" UNION SELECT id FROM items WHERE lower(external_id) = ?6 AND external_id = ?5 AND status IN ('confirmed', 'resolved') AND external_id <> ''"+
		" AND system_id = ?2 AND +company_id = ?1) t ORDER BY id LIMIT 20",
		companyID, systemID, reference, lowerASCII(reference), recordID, lowerASCII(recordID))
}
