package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"gorm.io/gorm"

	"onefold/internal/notice"
)

// addDelivery writes a message that is to be sent.
func addDelivery(tx *gorm.DB, d notice.Delivery) error {
	message, err := json.Marshal(d.Message)
	if err != nil {
		return err
	}
	return tx.Exec("INSERT INTO notice_deliveries (company_id, recipient, name, address, kind, message, status, tries, unclear, made_at, next_at, leased_by, last_error)"+
		" VALUES (?, ?, ?, ?, ?, ?, ?, 0, 0, ?, ?, '', '')", d.CompanyID, d.Recipient, tidy(d.Name, maxShort), tidy(d.Address, maxShort), string(d.Kind),
		string(message), string(d.Status), moment(d.MadeAt), moment(d.NextAt)).Error
}

// AddNotice implements notice.PageStore.
func (s *Store) AddNotice(ctx context.Context, d notice.Delivery, since time.Time) (added bool, err error) {
	err = s.db.write(ctx, func(tx *gorm.DB) error {
		// One at a time, so that two clicks make one message.
		if err := tx.Exec("UPDATE notice_round SET number = number WHERE one = 1").Error; err != nil {
			return err
		}
		var there int64
		if err := tx.Table("notice_deliveries").Where("recipient = ? AND kind = ? AND made_at > ?", d.Recipient, string(d.Kind), moment(since)).
			Limit(1).Count(&there).Error; err != nil {
			return err
		}
		if added = there == 0; !added {
			return nil
		}
		return addDelivery(tx, d)
	})
	if err != nil {
		return false, fmt.Errorf("record a message: %w", err)
	}
	return added, nil
}

const deliveryColumns = "id, company_id, recipient, name, address, kind, message, status, tries, unclear, made_at, next_at, closed_at, last_error"

// deliveries reads messages.
func (s *Store) deliveries(ctx context.Context, where string, args ...any) (list []notice.Delivery, err error) {
	r, err := s.db.query(ctx, "SELECT "+deliveryColumns+" FROM notice_deliveries WHERE "+where, args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	for r.Next() {
		var d notice.Delivery
		var message string
		if err := r.Scan(&d.ID, &d.CompanyID, &d.Recipient, &d.Name, &d.Address, (*string)(&d.Kind), &message, (*string)(&d.Status), &d.Tries, &d.Unclear,
			stamp{&d.MadeAt}, stamp{&d.NextAt}, stamp{&d.ClosedAt}, &d.LastError); err != nil {
			return nil, fmt.Errorf("read messages: %w", err)
		}
		if err := json.Unmarshal([]byte(message), &d.Message); err != nil {
			return nil, fmt.Errorf("the stored message %d is damaged: %w", d.ID, err)
		}
		list = append(list, d)
	}
	return list, r.Err()
}

// Notices implements notice.PageStore.
func (s *Store) Notices(ctx context.Context, companyID int64, recipient string, limit int) ([]notice.Delivery, error) {
	if recipient != "" {
		return s.deliveries(ctx, "recipient = ?1 AND company_id = ?2 ORDER BY id DESC LIMIT ?3", recipient, companyID, limit)
	}
	return s.deliveries(ctx, "company_id = ?1 ORDER BY id DESC LIMIT ?2", companyID, limit)
}

// ClaimNotice implements notice.Store.
func (s *Store) ClaimNotice(ctx context.Context, node string, lease time.Duration, mail bool, webhooks []string) (*notice.Delivery, error) {
	for {
		now, err := s.Now(ctx)
		if err != nil {
			return nil, err
		}
		b := &pageQuery{place: s.db.at}
		at := b.add(s.db.at(now))
		var to []string
		if mail {
			to = append(to, "recipient LIKE 'person:%'")
		}
		for _, name := range webhooks {
			to = append(to, "recipient = "+b.add("webhook:"+name))
		}
		if len(to) == 0 {
			return nil, nil
		}
		due, err := s.deliveries(ctx, "status = 'waiting' AND next_at <= "+at+" AND (lease_until IS NULL OR lease_until <= "+at+")"+
			" AND ("+strings.Join(to, " OR ")+") ORDER BY next_at, id LIMIT 1", b.args...)
		if err != nil || len(due) == 0 {
			return nil, err
		}
		d := due[0]
		// A lease that is still there was never closed: nobody knows whether that try arrived.
		var mine bool
		err = s.db.write(ctx, func(tx *gorm.DB) error {
			done := tx.Exec("UPDATE notice_deliveries SET tries = tries + 1, unclear = unclear + CASE WHEN lease_until IS NULL THEN 0 ELSE 1 END,"+
				" lease_until = ?, leased_by = ? WHERE id = ? AND tries = ? AND status = 'waiting' AND (lease_until IS NULL OR lease_until <= ?)",
				moment(now.Add(lease)), node, d.ID, d.Tries, moment(now))
			mine = done.RowsAffected == 1
			return done.Error
		})
		if err != nil {
			return nil, fmt.Errorf("claim a message: %w", err)
		}
		if !mine { // another server was faster
			continue
		}
		list, err := s.deliveries(ctx, "id = ?1", d.ID)
		if err != nil || len(list) == 0 {
			return nil, err
		}
		return &list[0], nil
	}
}

// CloseNotice implements notice.Store.
func (s *Store) CloseNotice(ctx context.Context, node string, d notice.Delivery) error {
	err := s.db.write(ctx, func(tx *gorm.DB) error {
		return tx.Exec("UPDATE notice_deliveries SET address = ?, status = ?, unclear = ?, next_at = ?, closed_at = ?, last_error = ?, lease_until = NULL, leased_by = ''"+
			" WHERE id = ? AND tries = ? AND leased_by = ? AND status = 'waiting'", tidy(d.Address, maxShort), string(d.Status), d.Unclear, moment(d.NextAt),
			moment(d.ClosedAt), tidy(d.LastError, maxShort), d.ID, d.Tries, node).Error
	})
	if err != nil {
		return fmt.Errorf("record what became of a message: %w", err)
	}
	return nil
}

// SweepNotices implements notice.Store.
func (s *Store) SweepNotices(ctx context.Context, giveUp, remove time.Time) error {
	now, err := s.Now(ctx)
	if err != nil {
		return err
	}
	return s.db.write(ctx, func(tx *gorm.DB) error {
		return errors.Join(
			tx.Exec("UPDATE notice_deliveries SET status = 'dropped', closed_at = ? WHERE status = 'waiting' AND made_at < ?"+
				" AND (lease_until IS NULL OR lease_until < ?)", moment(now), moment(giveUp), moment(now)).Error,
			tx.Exec("DELETE FROM notice_deliveries WHERE status <> 'waiting' AND made_at < ?", moment(remove)).Error,
			tx.Exec("DELETE FROM notice_alerts WHERE over_at < ?", moment(remove)).Error)
	})
}
