package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"gorm.io/gorm"

	"onefold/internal/review"
	"onefold/internal/work"
)

var _ review.FigureStore = (*Store)(nil)

// countedColumns are the columns of an attempt that figures are made of.
var countedColumns = func() (list []column[work.Attempt]) {
	for _, c := range attemptsTable.columns {
		switch c.name {
		case "item_id", "number", "kind", "late_for", "node", "asked_by", "started_at", "ended_at", "outcome", "finding", "http_status":
			list = append(list, c)
		}
	}
	return list
}()

// HoldFigures implements review.FigureStore.
func (s *Store) HoldFigures(ctx context.Context, node string, hold time.Duration) (at review.FigurePlace, held bool, err error) {
	now, err := s.Now(ctx)
	if err != nil {
		return at, false, err
	}
	err = s.db.write(ctx, func(tx *gorm.DB) error {
		done := tx.Exec("UPDATE figures_place SET held_by = ?, held_until = ? WHERE one = 1 AND (held_until IS NULL OR held_until <= ? OR held_by = ?)",
			tidy(node, maxShort), moment(now.Add(hold)), moment(now), tidy(node, maxShort))
		held = done.RowsAffected == 1
		return done.Error
	})
	if err != nil || !held {
		return at, false, err
	}
	err = s.row(ctx, "SELECT version, started_at, item_id, number, act_id, counted_to FROM figures_place", nil,
		&at.Version, stamp{&at.At}, &at.Last.ItemID, &at.Last.Number, &at.ActID, stamp{&at.CountedTo})
	return at, true, err
}

// ReleaseFigures implements review.FigureStore.
func (s *Store) ReleaseFigures(ctx context.Context, node string) error {
	return s.db.write(ctx, func(tx *gorm.DB) error {
		return tx.Exec("UPDATE figures_place SET held_by = '', held_until = NULL WHERE one = 1 AND held_by = ?", tidy(node, maxShort)).Error
	})
}

// waitingFigures is the attempts a that were open, and countedItems the items i and their keys k by the JSON array in ?1: read
// one by one, whatever a planner believes.
func (s *Store) waitingFigures() string {
	if _, is := s.db.(*postgres); is {
		return "figures_waiting w CROSS JOIN LATERAL (SELECT * FROM attempts WHERE item_id = w.item_id AND number = w.number OFFSET 0) a"
	}
	return "figures_waiting w CROSS JOIN attempts a ON a.item_id = w.item_id AND a.number = w.number"
}

func (s *Store) countedItems() string {
	if _, is := s.db.(*postgres); is {
		return "json_array_elements_text(?1::json) AS h (value) CROSS JOIN LATERAL (SELECT * FROM item_keys WHERE item_id = h.value::bigint OFFSET 0) k" +
			" CROSS JOIN LATERAL (SELECT status FROM items WHERE id = k.item_id OFFSET 0) i"
	}
	return "json_each(?1) h CROSS JOIN item_keys k ON k.item_id = h.value CROSS JOIN items i ON i.id = k.item_id"
}

// FigureBatch implements review.FigureStore.
func (s *Store) FigureBatch(ctx context.Context, at review.FigurePlace, upTo time.Time, most int) (b review.FigureBatch, err error) {
	b.Place = at
	if err := s.figureCalls(ctx, &b, upTo, most); err != nil {
		return b, err
	}
	if err := s.figureActs(ctx, &b, upTo, most); err != nil {
		return b, err
	}
	var ids, telling []int64
	var sends [][2]int64
	for _, a := range b.Calls {
		ids = append(ids, a.ItemID)
		switch always, next := review.NeedsHistory(a); {
		case always:
			telling = append(telling, a.ItemID)
		case next:
			sends = append(sends, [2]int64{a.ItemID, int64(a.Number)})
		}
	}
	for _, d := range b.Acts {
		ids = append(ids, d.ItemID)
		if d.NeedsHistory() {
			telling = append(telling, d.ItemID)
		}
	}
	if err := s.figureItems(ctx, &b, ids); err != nil {
		return b, err
	}
	unsettled, err := s.afterUnknown(ctx, sends)
	if err != nil {
		return b, err
	}
	return b, s.figureHistory(ctx, &b, append(telling, unsettled...))
}

// figureCalls reads what has ended: of the attempts that waited for it, and of those that began after the place.
func (s *Store) figureCalls(ctx context.Context, b *review.FigureBatch, upTo time.Time, most int) error {
	over, err := s.countedAttempts(ctx, everyOne, "SELECT "+names(countedColumns, "a.")+" FROM "+s.waitingFigures()+" WHERE a.ended_at < ?1 LIMIT "+strconv.Itoa(most), s.db.at(upTo))
	if err != nil {
		return err
	}
	b.Calls, b.More = over, len(over) == most
	for _, a := range over {
		b.Waited = append(b.Waited, review.CallID{ItemID: a.ItemID, Number: a.Number})
	}
	after := ""
	args := []any{s.db.at(upTo)}
	if !b.Place.At.IsZero() {
		after = " AND (started_at, item_id, number) > (?2, ?3, ?4)"
		args = append(args, s.db.at(b.Place.At), b.Place.Last.ItemID, b.Place.Last.Number)
	}
	begun, err := s.countedAttempts(ctx, everyOne, "SELECT "+names(countedColumns, "")+" FROM attempts WHERE started_at < ?1"+after+
		" ORDER BY started_at, item_id, number LIMIT "+strconv.Itoa(most), args...)
	if err != nil {
		return err
	}
	for _, a := range begun {
		b.Place.At, b.Place.Last = a.StartedAt, review.CallID{ItemID: a.ItemID, Number: a.Number}
		switch {
		case a.FromReport(): // it is counted with the decision that left it: it may begin before what is counted already
		case a.EndedAt.IsZero() || !a.EndedAt.Before(upTo):
			b.Waiting = append(b.Waiting, b.Place.Last)
		default:
			b.Calls = append(b.Calls, a)
		}
	}
	if len(begun) == most {
		b.More, b.Place.CountedTo = true, b.Place.At
	} else {
		b.Place.CountedTo = upTo
	}
	return nil
}

func everyOne(work.Attempt) bool { return true }

// countedAttempts reads those that are kept; the others are never all in memory.
func (s *Store) countedAttempts(ctx context.Context, keep func(work.Attempt) bool, text string, args ...any) (list []work.Attempt, err error) {
	r, err := s.db.query(ctx, text, args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	var a work.Attempt
	dests := table[work.Attempt]{columns: countedColumns}.dests(&a)
	for r.Next() {
		if err := r.Scan(dests...); err != nil {
			return nil, fmt.Errorf("read attempts: %w", err)
		}
		if keep(a) {
			list = append(list, a)
		}
	}
	return list, r.Err()
}

const decisionColumns = "id, item_id, at, what, from_status, to_status"

func (s *Store) decisions(ctx context.Context, text string, args ...any) (list []review.Decision, err error) {
	r, err := s.db.query(ctx, text, args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	for r.Next() {
		var d review.Decision
		if err := r.Scan(&d.ID, &d.ItemID, stamp{&d.At}, &d.What, (*string)(&d.From), (*string)(&d.To)); err != nil {
			return nil, fmt.Errorf("read decisions: %w", err)
		}
		list = append(list, d)
	}
	return list, r.Err()
}

func (s *Store) figureActs(ctx context.Context, b *review.FigureBatch, upTo time.Time, most int) error {
	list, err := s.decisions(ctx, "SELECT "+decisionColumns+" FROM acts WHERE id > ?1 ORDER BY id LIMIT "+strconv.Itoa(most), b.Place.ActID)
	if err != nil {
		return err
	}
	for i, d := range list {
		if !d.At.Before(upTo) {
			return nil
		}
		b.Acts, b.Place.ActID = append(b.Acts, d), d.ID
		if i+1 == most {
			b.More = true
		}
	}
	return nil
}

func (s *Store) figureItems(ctx context.Context, b *review.FigureBatch, ids []int64) (err error) {
	b.Items = map[int64]review.CountedItem{}
	if len(ids) == 0 {
		return nil
	}
	list, err := json.Marshal(once(ids))
	if err != nil {
		return err
	}
	r, err := s.db.query(ctx, "SELECT k.item_id, k.company_id, k.system_id, k.automation, k.recorded_at, i.status FROM "+s.countedItems(), string(list))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	for r.Next() {
		var id int64
		var it review.CountedItem
		var status work.Status
		if err := r.Scan(&id, &it.CompanyID, &it.SystemID, &it.Automation, stamp{&it.RecordedAt}, (*string)(&status)); err != nil {
			return fmt.Errorf("read counted items: %w", err)
		}
		it.Confirmed = status == work.Confirmed
		b.Items[id] = it
	}
	return r.Err()
}

// once is the ids in order, without those that come again.
func once(ids []int64) []int64 {
	slices.Sort(ids)
	return slices.Compact(ids)
}
