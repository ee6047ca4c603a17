package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"gorm.io/gorm"

	"onefold/internal/auth"
	"onefold/internal/automation/outcome"
	"onefold/internal/work"
)

// told are the items of the plan whose new status others may want to be told of: settled, or in need of a person. A look
// that leaves an item as it was is no news.
func (p *plan) told(inserted []*work.Item) (items []*work.Item) {
	news := func(s work.Status) bool { return s.Settled() || s == work.Review }
	for i, m := range p.updates {
		was, is := p.before[i], &m.Item
		if !news(is.Status) || was.Status == is.Status && was.Reason == is.Reason {
			continue
		}
		if was.OpenAttempt != 0 && is.OpenAttempt == 0 && was.Before == is.Status && was.Reason == is.Reason && was.Status == work.InProgress {
			continue
		}
		items = append(items, is)
	}
	for _, it := range inserted {
		if news(it.Status) {
			items = append(items, it)
		}
	}
	return items
}

const outcomeColumns = "endpoint_id, company_id, item_id, item_version, status, reason, external_id, external_number, external_url, made_at, state, tries, next_at, leased_by, last_error, asked_by"

const outcomeSelect = "SELECT e.id, i.company_id, i.id, i.version, i.status, i.reason, i.external_id, i.external_number, i.external_url, i.changed_at, 'waiting', 0, i.changed_at, '', '', ''"

// Who is told is decided in the transaction itself, so that no server has to hear of a new endpoint first.
const (
	pgOutcomes = "INSERT INTO outcomes (" + outcomeColumns + ") " + outcomeSelect + " FROM outcome_endpoints e" +
		" JOIN unnest($1::bigint[], $2::bigint[], $3::text[]) AS u (id, company_id, automation) ON u.company_id = e.company_id AND u.automation = e.automation" +
		" CROSS JOIN LATERAL (SELECT * FROM items WHERE id = u.id OFFSET 0) i WHERE e.removed_at IS NULL"
	sqliteAnyEndpoint = "SELECT EXISTS (SELECT 1 FROM outcome_endpoints WHERE removed_at IS NULL)"
	sqliteOutcome     = "INSERT INTO outcomes (" + outcomeColumns + ") " + outcomeSelect + " FROM outcome_endpoints e JOIN items i ON i.id = ?1" +
		" WHERE e.company_id = ?2 AND e.automation = ?3 AND e.removed_at IS NULL"
)

// outcomes writes what others are told of, after the items.
func (w *pgWrites) outcomes(items []*work.Item) {
	if len(items) == 0 {
		return
	}
	ids, companies, automations := make([]int64, len(items)), make([]int64, len(items)), make([]string, len(items))
	for i, it := range items {
		ids[i], companies[i], automations[i] = it.ID, it.CompanyID, it.Automation
	}
	w.Queue(pgOutcomes, ids, companies, automations)
}

// Endpoints implements outcome.Store.
func (s *Store) Endpoints(ctx context.Context, companyID int64) (list []outcome.Endpoint, err error) {
	r, err := s.db.query(ctx, "SELECT id, company_id, name, automation, address, secret, changed_at, changed_by FROM outcome_endpoints"+
		" WHERE company_id = ?1 AND removed_at IS NULL ORDER BY automation, id", companyID)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	for r.Next() {
		var e outcome.Endpoint
		if err := r.Scan(&e.ID, &e.CompanyID, &e.Name, &e.Automation, &e.Address, &e.Sealed, stamp{&e.ChangedAt}, &e.ChangedBy); err != nil {
			return nil, fmt.Errorf("read outcome endpoints: %w", err)
		}
		list = append(list, e)
	}
	return list, r.Err()
}

// PutEndpoint implements outcome.Store.
func (s *Store) PutEndpoint(ctx context.Context, e outcome.Endpoint, by work.Actor) error {
	entry := auth.Entry{CompanyID: e.CompanyID, By: by, What: outcome.DidConnect, Object: "endpoint:" + e.Name, After: e.Automation + " → " + e.Address}
	return s.db.write(ctx, func(tx *gorm.DB) error {
		if err := appendEntry(tx, entry, e.ChangedAt); err != nil {
			return err
		}
		return tx.Exec("INSERT INTO outcome_endpoints (company_id, name, automation, address, secret, changed_at, changed_by) VALUES (?, ?, ?, ?, ?, ?, ?)"+
			" ON CONFLICT (company_id, automation, address) WHERE removed_at IS NULL DO UPDATE SET name = excluded.name, secret = excluded.secret,"+
			" changed_at = excluded.changed_at, changed_by = excluded.changed_by",
			e.CompanyID, e.Name, e.Automation, e.Address, e.Sealed, moment(e.ChangedAt), tidy(e.ChangedBy, maxShort)).Error
	})
}

// RemoveEndpoint implements outcome.Store.
func (s *Store) RemoveEndpoint(ctx context.Context, companyID, id int64, by work.Actor) error {
	now, err := s.Now(ctx)
	if err != nil {
		return err
	}
	return s.db.write(ctx, func(tx *gorm.DB) error {
		done := tx.Exec("UPDATE outcome_endpoints SET removed_at = ? WHERE id = ? AND company_id = ? AND removed_at IS NULL", moment(now), id, companyID)
		if done.Error != nil || done.RowsAffected == 0 {
			return done.Error
		}
		var e struct{ Name, Automation, Address string }
		if err := tx.Raw("SELECT name, automation, address FROM outcome_endpoints WHERE id = ?", id).Scan(&e).Error; err != nil {
			return err
		}
		if err := appendEntry(tx, auth.Entry{CompanyID: companyID, By: by, What: outcome.DidRemove, Object: "endpoint:" + e.Name, Before: e.Automation + " → " + e.Address}, now); err != nil {
			return err
		}
		return tx.Exec("UPDATE outcomes SET state = 'dropped', closed_at = ? WHERE endpoint_id = ? AND state = 'waiting'", moment(now), id).Error
	})
}

const deliverySelect = "SELECT o.id, o.endpoint_id, e.name, e.address, o.state, o.tries, o.made_at, o.next_at, o.closed_at, o.last_error, o.asked_by," +
	" o.item_id, o.item_version, o.status, o.reason, o.external_id, o.external_number, o.external_url," +
	" k.company_id, k.automation, k.business_key, k.step, k.steps, k.system_id, k.reference" +
	" FROM outcomes o JOIN outcome_endpoints e ON e.id = o.endpoint_id JOIN item_keys k ON k.item_id = o.item_id WHERE "

func (s *Store) outcomes(ctx context.Context, where string, args ...any) (list []outcome.Delivery, err error) {
	r, err := s.db.query(ctx, deliverySelect+where, args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	for r.Next() {
		var d outcome.Delivery
		var steps string
		it := &d.Item
		if err := r.Scan(&d.ID, &d.EndpointID, &d.Endpoint, &d.Address, (*string)(&d.State), &d.Tries, stamp{&d.MadeAt}, stamp{&d.NextAt}, stamp{&d.ClosedAt},
			&d.LastError, &d.AskedBy, &it.ID, &it.Version, (*string)(&it.Status), (*string)(&it.Reason), &it.ExternalID, &it.ExternalNumber, &it.ExternalURL,
			&it.CompanyID, &it.Automation, &it.BusinessKey, &it.Step, &steps, &it.SystemID, &it.Reference); err != nil {
			return nil, fmt.Errorf("read outcomes: %w", err)
		}
		it.Steps = strings.Split(steps, ",")
		list = append(list, d)
	}
	return list, r.Err()
}

// Outcomes implements outcome.Store.
func (s *Store) Outcomes(ctx context.Context, companyID int64, failedOnly bool, limit int) ([]outcome.Delivery, error) {
	failed := ""
	if failedOnly {
		failed = " AND o.state = 'failed'"
	}
	return s.outcomes(ctx, "o.company_id = ?1"+failed+" ORDER BY o.id DESC LIMIT ?2", companyID, limit)
}

// ClaimOutcome implements outcome.Store.
func (s *Store) ClaimOutcome(ctx context.Context, node string, lease time.Duration, endpointID int64) (*outcome.Delivery, error) {
	for {
		now, err := s.Now(ctx)
		if err != nil {
			return nil, err
		}
		due, err := s.outcomes(ctx, "o.endpoint_id = ?1 AND o.state = 'waiting' AND o.next_at <= ?2 AND (o.lease_until IS NULL OR o.lease_until <= ?2)"+
			" ORDER BY o.next_at, o.id LIMIT 1", endpointID, s.db.at(now))
		if err != nil || len(due) == 0 {
			return nil, err
		}
		d := due[0]
		var mine bool
		err = s.db.write(ctx, func(tx *gorm.DB) error {
			done := tx.Exec("UPDATE outcomes SET tries = tries + 1, lease_until = ?, leased_by = ? WHERE id = ? AND tries = ? AND state = 'waiting'"+
				" AND (lease_until IS NULL OR lease_until <= ?)", moment(now.Add(lease)), node, d.ID, d.Tries, moment(now))
			mine = done.RowsAffected == 1
			return done.Error
		})
		if err != nil {
			return nil, fmt.Errorf("claim an outcome: %w", err)
		}
		if mine { // else another server was faster
			d.Tries++
			return &d, nil
		}
	}
}

// CloseOutcome implements outcome.Store.
func (s *Store) CloseOutcome(ctx context.Context, node string, d outcome.Delivery) error {
	return s.db.write(ctx, func(tx *gorm.DB) error {
		return tx.Exec("UPDATE outcomes SET state = ?, next_at = ?, closed_at = ?, last_error = ?, lease_until = NULL, leased_by = ''"+
			" WHERE id = ? AND tries = ? AND leased_by = ? AND state = 'waiting'", string(d.State), moment(d.NextAt), moment(d.ClosedAt),
			tidy(d.LastError, maxShort), d.ID, d.Tries, node).Error
	})
}

// OutcomeAgain implements outcome.Store.
func (s *Store) OutcomeAgain(ctx context.Context, companyID, id int64, by string) (done bool, err error) {
	now, err := s.Now(ctx)
	if err != nil {
		return false, err
	}
	err = s.db.write(ctx, func(tx *gorm.DB) error {
		// A message that waits for its next try goes now; one on its way at this moment is left alone.
		r := tx.Exec("UPDATE outcomes SET state = 'waiting', tries = 0, next_at = ?, closed_at = NULL, asked_by = ? WHERE id = ? AND company_id = ?"+
			" AND (lease_until IS NULL OR lease_until <= ?) AND endpoint_id IN (SELECT id FROM outcome_endpoints WHERE removed_at IS NULL)",
			moment(now), tidy(by, maxShort), id, companyID, moment(now))
		done = r.RowsAffected == 1
		return r.Error
	})
	return done, err
}
