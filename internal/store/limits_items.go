package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/bojanz/currency"

	"onefold/internal/automation"
	"onefold/internal/review"
	"onefold/internal/work"
)

// LastCalls implements automation.Store.
func (s *Store) LastCalls(ctx context.Context, r automation.Replan, most int) (list []automation.LastCalls, err error) {
	// What settles is not due, unless it owes a look; review has no time but the one to be settled by.
	found, err := s.db.query(ctx, "SELECT id, attempts FROM (SELECT id, attempts FROM items WHERE system_id = ?1 AND id > ?2 AND due_at IS NOT NULL"+
		" UNION SELECT id, attempts FROM items WHERE system_id = ?1 AND id > ?2 AND status = 'review') w ORDER BY id LIMIT ?3", r.SystemID, r.After, most)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, found.Close()) }()
	at := map[int64]*automation.LastCalls{}
	var ids []int64
	for found.Next() {
		var c automation.LastCalls
		if err := found.Scan(&c.ItemID, &c.Attempts); err != nil {
			return nil, fmt.Errorf("read waiting items: %w", err)
		}
		list, ids = append(list, c), append(ids, c.ItemID)
	}
	if err := found.Err(); err != nil || len(ids) == 0 {
		return nil, err
	}
	for i := range list {
		at[list[i].ItemID] = &list[i]
	}
	text, err := json.Marshal(ids)
	if err != nil {
		return nil, err
	}
	calls, err := readFrom(ctx, s, attemptsTable, s.lastCallsText(), string(text))
	if err != nil {
		return nil, err
	}
	for _, a := range calls {
		c := at[a.ItemID]
		if a.Kind == work.Send {
			c.Send = a
		}
		if a.Number > c.Last.Number {
			c.Last = a
		}
	}
	return list, s.freshSince(ctx, string(text), at)
}

// lastCallsText asks each item, and not each of its attempts, for its last call and its last send. A late answer and a report
// are no calls: they have no server.
func (s *Store) lastCallsText() string {
	last := func(more string) string {
		return "(SELECT n.number FROM attempts n WHERE n.item_id = i.item_id AND n.node <> ''" + more + " ORDER BY n.number DESC LIMIT 1)"
	}
	return "WITH l AS MATERIALIZED (SELECT i.item_id, " + last("") + " AS call, " + last(" AND n.kind = 'send'") + " AS send FROM (" + s.db.search().ids("?1") + ") i)" +
		" SELECT " + names(attemptsTable.columns, "a.") + " FROM (SELECT item_id, call AS number FROM l UNION SELECT item_id, send FROM l) c" +
		" JOIN attempts a ON a.item_id = c.item_id AND a.number = c.number"
}

// freshSince fills in when a person last let items go on from the start.
func (s *Store) freshSince(ctx context.Context, ids string, at map[int64]*automation.LastCalls) (err error) {
	r, err := s.db.query(ctx, "SELECT item_id, max(at) FROM acts WHERE item_id IN "+s.db.search().numbers()+
		" AND from_status = 'review' AND to_status = 'queued' GROUP BY item_id", ids)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	for r.Next() {
		var id int64
		var t time.Time
		if err := r.Scan(&id, stamp{&t}); err != nil {
			return fmt.Errorf("read acts: %w", err)
		}
		at[id].Fresh = t
	}
	return r.Err()
}

// PastItems implements review.LimitsStore.
func (s *Store) PastItems(ctx context.Context, companyID int64, systemID, of string, since time.Time, most int) (p review.PastItems, err error) {
	p.Since = since
	r, err := s.db.query(ctx, "SELECT i.id, i.company_id, i.system_id, i.automation, i.step, i.previous_id, i.attempts, i.status, k.reference, k.recorded_at,"+
		" CAST(r.total AS text), r.currency FROM (SELECT * FROM items ORDER BY id DESC LIMIT ?1) i JOIN item_keys k ON k.item_id = i.id"+
		" JOIN revisions r ON r.item_id = i.id AND r.number = 1 ORDER BY i.id DESC", most)
	if err != nil {
		return p, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	var ids []int64
	read := 0
	for r.Next() {
		var it work.Past
		var company int64
		var previous *int64
		var system, status, total, code string
		var attempts int
		var recorded time.Time
		if err := r.Scan(&it.ID, &company, &system, &it.Automation, &it.Step, &previous, &attempts, &status, &it.Reference, stamp{&recorded}, &total, &code); err != nil {
			return p, fmt.Errorf("read the past: %w", err)
		}
		if recorded.Before(since) {
			break
		}
		if read++; read == most {
			p.Since, p.Cut = recorded, true
		}
		if company != companyID || system != systemID || of != "" && it.Automation != of {
			continue
		}
		it.Later = previous != nil
		if it.Invoice.Total, err = currency.NewAmount(total, code); err != nil {
			return p, fmt.Errorf("the stored total of item %d is damaged: %w", it.ID, err)
		}
		if attempts > 1 || attempts == 1 && work.Status(status) != work.Confirmed {
			ids = append(ids, it.ID)
		}
		p.Items = append(p.Items, it)
	}
	if err := r.Err(); err != nil || len(ids) == 0 {
		return p, err
	}
	return p, s.pastCalls(ctx, &p, ids)
}

// pastCallsText looks for the hand once for each item, and not for each of its attempts.
func (s *Store) pastCallsText() string {
	return "WITH p AS MATERIALIZED (SELECT i.item_id, (SELECT min(d.at) FROM acts d WHERE d.item_id = i.item_id AND d.what NOT IN ('note', 'assign')) AS hand FROM (" +
		s.db.search().ids("?1") + ") i) SELECT a.item_id, a.kind, a.started_at, a.ended_at, a.outcome, a.finding, a.asked_by, a.external_id FROM p JOIN attempts a ON a.item_id = p.item_id" +
		" WHERE a.node <> '' AND a.ended_at IS NOT NULL AND (p.hand IS NULL OR p.hand >= a.started_at) ORDER BY a.item_id DESC, a.number"
}

// pastCalls fills in what calls brought back, until a person had a hand in it.
func (s *Store) pastCalls(ctx context.Context, p *review.PastItems, ids []int64) (err error) {
	text, err := json.Marshal(ids)
	if err != nil {
		return err
	}
	r, err := s.db.query(ctx, s.pastCallsText(), string(text))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	i, asked := 0, int64(0)
	for r.Next() {
		var a work.Attempt
		if err := r.Scan(&a.ItemID, (*string)(&a.Kind), stamp{&a.StartedAt}, stamp{&a.EndedAt}, (*string)(&a.Outcome), (*string)(&a.Finding), &a.AskedBy, &a.ExternalID); err != nil {
			return fmt.Errorf("read the past: %w", err)
		}
		if a.AskedBy != "" {
			asked = a.ItemID
		}
		if a.ItemID == asked {
			continue
		}
		for p.Items[i].ID != a.ItemID { // both are in the order of the ids
			i++
		}
		p.Items[i].Calls = append(p.Items[i].Calls, a)
	}
	return r.Err()
}
