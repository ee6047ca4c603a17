package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"gorm.io/gorm"

	"onefold/internal/auth"
	"onefold/internal/review"
	"onefold/internal/work"
)

// didKeep is the act of changing how long history is kept, in the audit trail.
const didKeep = "retention_changed"

// Retention implements review.RetentionStore.
func (s *Store) Retention(ctx context.Context, companyID int64) (set review.Retention, err error) {
	r, err := s.db.query(ctx, "SELECT kind, months FROM retention_settings WHERE company_id = ?1", companyID)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	set = review.Retention{}
	for r.Next() {
		var kind string
		var months int
		if err := r.Scan(&kind, &months); err != nil {
			return nil, fmt.Errorf("read how long history is kept: %w", err)
		}
		set[review.HistoryKind(kind)] = months
	}
	return set, r.Err()
}

// SetRetention implements review.RetentionStore.
func (s *Store) SetRetention(ctx context.Context, companyID int64, from, to review.Retention, by work.Actor) error {
	now, err := s.Now(ctx)
	if err != nil {
		return err
	}
	return s.db.write(ctx, func(tx *gorm.DB) error {
		for _, k := range review.Histories {
			err := tx.Exec("INSERT INTO retention_settings (company_id, kind, months) VALUES (?, ?, ?)"+
				" ON CONFLICT (company_id, kind) DO UPDATE SET months = excluded.months", companyID, string(k), to[k]).Error
			if err != nil {
				return fmt.Errorf("write how long history is kept: %w", err)
			}
		}
		return appendEntry(tx, auth.Entry{CompanyID: companyID, By: by, What: didKeep, Object: "retention", Before: from.String(), After: to.String()}, now)
	})
}

// HoldRetention implements review.RetentionStore.
func (s *Store) HoldRetention(ctx context.Context, node string, until time.Time) (held bool, err error) {
	now, err := s.Now(ctx)
	if err != nil {
		return false, err
	}
	err = s.db.write(ctx, func(tx *gorm.DB) error {
		done := tx.Exec("UPDATE retention_hold SET held_by = ?, held_until = ? WHERE held_by = ? OR held_until IS NULL OR held_until <= ?",
			tidy(node, maxShort), moment(until), tidy(node, maxShort), moment(now))
		held = done.RowsAffected == 1
		return done.Error
	})
	return held, err
}

// Removed implements review.RetentionStore.
func (s *Store) Removed(ctx context.Context, companyID int64) (gone map[review.HistoryKind]review.Removed, err error) {
	r, err := s.db.query(ctx, "SELECT walk, removed, moved_at FROM retention_walks WHERE company_id = ?1 AND removed > 0", companyID)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	gone = map[review.HistoryKind]review.Removed{}
	for r.Next() {
		var walk string
		var n int64
		var at time.Time
		if err := r.Scan(&walk, &n, stamp{&at}); err != nil {
			return nil, fmt.Errorf("read what was removed: %w", err)
		}
		kind, _, _ := strings.Cut(walk, "/")
		sum := gone[review.HistoryKind(kind)]
		sum.Rows += n
		if at.After(sum.At) {
			sum.At = at
		}
		gone[review.HistoryKind(kind)] = sum
	}
	return gone, r.Err()
}

// walkPlace is how far a walk came.
type walkPlace struct {
	at time.Time
	id int64
}

func (s *Store) walkPlace(ctx context.Context, companyID int64, walk string) (p walkPlace, err error) {
	_, err = s.maybeRow(ctx, "SELECT after_at, after_id FROM retention_walks WHERE company_id = ?1 AND walk = ?2", []any{companyID, walk}, stamp{&p.at}, &p.id)
	return p, err
}

// walkOn remembers in the transaction how far a walk came, and how many rows went on this stretch.
func walkOn(tx *gorm.DB, companyID int64, walk string, p walkPlace, removed int64, now time.Time) error {
	// The time tells when rows last went, not when the walk was last on its feet.
	err := tx.Exec("INSERT INTO retention_walks (company_id, walk, after_at, after_id, removed, moved_at) VALUES (?, ?, ?, ?, ?, ?)"+
		" ON CONFLICT (company_id, walk) DO UPDATE SET after_at = excluded.after_at, after_id = excluded.after_id, removed = retention_walks.removed + excluded.removed,"+
		" moved_at = CASE WHEN excluded.removed > 0 THEN excluded.moved_at ELSE retention_walks.moved_at END",
		companyID, walk, moment(p.at), p.id, removed, moment(now)).Error
	if err != nil {
		return fmt.Errorf("remember how far history is removed: %w", err)
	}
	return nil
}

// RemoveAged implements review.RetentionStore.
func (s *Store) RemoveAged(ctx context.Context, companyID int64, k review.HistoryKind, before time.Time, limit int) (removed int64, more bool, err error) {
	now, err := s.Now(ctx)
	if err != nil {
		return 0, false, err
	}
	w := remover{s, companyID, before, now, limit}
	switch k {
	case review.Excerpts, review.Attempts:
		return w.ofItems(ctx, k)
	case review.Received, review.Outcomes, review.Messages:
		return w.rows(ctx, k)
	case review.BulkSets, review.FileRows:
		return w.parts(ctx, k)
	}
	return 0, false, fmt.Errorf("store: there is no history of the kind %q", k)
}

// Aged implements review.RetentionStore.
func (s *Store) Aged(ctx context.Context, companyID int64, k review.HistoryKind, before time.Time, most int64) (n int64, err error) {
	count := func(from string, args ...any) error {
		var some int64
		args = append([]any{companyID, s.db.at(before), most - n}, args...)
		if err := s.row(ctx, "SELECT count(*) FROM (SELECT 1 AS one FROM "+from+" LIMIT ?3) c", args, &some); err != nil {
			return err
		}
		n += some
		return nil
	}
	switch k {
	case review.Excerpts, review.Attempts:
		for _, status := range settledStatuses {
			p, err := s.walkPlace(ctx, companyID, string(k)+"/"+string(status))
			if err == nil && n < most {
				err = count("items WHERE company_id = ?1 AND status = '"+string(status)+"' AND changed_at < ?2 AND (changed_at, id) > (?4, ?5)", s.db.at(p.from()), p.id)
			}
			if err != nil {
				return n, err
			}
		}
		return n, nil
	case review.Received, review.Outcomes, review.Messages:
		t := agedRows[k]
		p, err := s.walkPlace(ctx, companyID, string(k)) // what stays behind it is not counted again
		if err != nil {
			return 0, err
		}
		return n, count("(SELECT "+t.at+" AS at, "+t.over+" AS gone FROM "+t.table+" WHERE company_id = ?1 AND id > ?4 ORDER BY id LIMIT ?3) t WHERE at < ?2 AND gone", p.id)
	default:
		t := agedParts[k]
		p, err := s.walkPlace(ctx, companyID, headsWalk(k))
		if err != nil {
			return 0, err
		}
		return n, count(t.table+" WHERE company_id = ?1 AND id > ?4 AND "+t.due(), p.id)
	}
}

// from is a time that compares with others also where the walk has not begun.
func (p walkPlace) from() time.Time {
	if p.at.IsZero() {
		return time.Unix(0, 0).UTC()
	}
	return p.at
}

// PrunedAttempts tells when attempts of an item were last removed, and how many are gone; zero: none are.
func (s *Store) PrunedAttempts(ctx context.Context, itemID int64) (at time.Time, n int64, err error) {
	_, err = s.maybeRow(ctx, "SELECT at, attempts FROM pruned_items WHERE item_id = ?1", []any{itemID}, stamp{&at}, &n)
	return at, n, err
}
