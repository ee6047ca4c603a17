package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gorm.io/gorm"

	"onefold/internal/review"
	"onefold/internal/work"
)

const (
	callSlot = 5 * time.Minute
	// keepCalls is how long the numbers of calls are kept: the page shows a day.
	keepCalls = 48 * time.Hour
)

// AddCalls adds what calls brought back to the numbers of this moment. Nothing depends on them but the page.
func (s *Store) AddCalls(ctx context.Context, id string, n work.Calls) error {
	now, err := s.Now(ctx)
	if err != nil {
		return err
	}
	slot := now.Truncate(callSlot)
	return s.db.write(ctx, func(tx *gorm.DB) error {
		added := tx.Exec("INSERT INTO system_calls (system_id, slot, calls, unanswered, not_sent, refused) VALUES (?, ?, ?, ?, ?, ?)"+
			" ON CONFLICT (system_id, slot) DO UPDATE SET calls = system_calls.calls + excluded.calls,"+
			" unanswered = system_calls.unanswered + excluded.unanswered, not_sent = system_calls.not_sent + excluded.not_sent, refused = system_calls.refused + excluded.refused",
			id, moment(slot), n.All, n.Unanswered, n.NotSent, n.Refused)
		if added.Error != nil {
			return fmt.Errorf("count the calls: %w", added.Error)
		}
		return tx.Exec("DELETE FROM system_calls WHERE system_id = ? AND slot < ?", id, moment(now.Add(-keepCalls))).Error
	})
}

// SystemCalls sums up the calls of each system since a time, to five minutes; a system without any is left out.
func (s *Store) SystemCalls(ctx context.Context, since time.Time) (list map[string]work.Calls, err error) {
	r, err := s.db.query(ctx, "SELECT system_id, CAST(sum(calls) AS bigint), CAST(sum(unanswered) AS bigint), CAST(sum(not_sent) AS bigint), CAST(sum(refused) AS bigint)"+
		" FROM system_calls WHERE slot >= ?1 GROUP BY system_id", s.db.at(since.Truncate(callSlot)))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	list = map[string]work.Calls{}
	for r.Next() {
		var id string
		var c work.Calls
		if err := r.Scan(&id, &c.All, &c.Unanswered, &c.NotSent, &c.Refused); err != nil {
			return nil, fmt.Errorf("read the calls: %w", err)
		}
		list[id] = c
	}
	return list, r.Err()
}

// SystemChanges returns the newest changes of a system's settings, newest first, at most n.
func (s *Store) SystemChanges(ctx context.Context, id string, n int) (list []review.SystemChange, err error) {
	r, err := s.db.query(ctx, "SELECT at, actor_kind, actor_id, actor_name, what, before, after FROM setting_changes WHERE system_id = ?1 ORDER BY id DESC LIMIT ?2", id, n)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	for r.Next() {
		var c review.SystemChange
		if err := r.Scan(stamp{&c.At}, (*string)(&c.By.Kind), &c.By.ID, &c.By.Name, &c.What, &c.Before, &c.After); err != nil {
			return nil, fmt.Errorf("read the changes of a system: %w", err)
		}
		list = append(list, c)
	}
	return list, r.Err()
}

// Waiting reports whether items of the system wait for the automation.
func (s *Store) Waiting(ctx context.Context, id string) (bool, error) {
	due, err := s.NextDue(ctx, id)
	return !due.IsZero(), err
}
