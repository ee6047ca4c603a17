package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"onefold/internal/review"
	"onefold/internal/work"
)

// settled fills in when the settled ones among the documents were, and by whom.
func (s *Store) settled(ctx context.Context, documents []review.Document) error {
	var confirmed, decided []int64
	for _, d := range documents {
		switch it := d.Item; {
		case it.Status == work.Confirmed:
			confirmed = append(confirmed, it.ID)
		case it.Status.Settled():
			decided = append(decided, it.ID)
		}
	}
	calls, err := s.settlingCalls(ctx, confirmed)
	if err != nil {
		return err
	}
	acts, err := s.settlingActs(ctx, decided)
	if err != nil {
		return err
	}
	for i := range documents {
		d := &documents[i]
		switch it := d.Item; {
		case it.Status == work.Confirmed:
			d.SettledAt = calls[it.ID].settledAt(it.Evidence)
		case it.Status.Settled():
			act := acts[it.ID]
			d.SettledAt, d.SettledBy, d.Note = act.At, act.By, act.Note
		}
		if d.Item.Status.Settled() && d.SettledAt.IsZero() {
			d.SettledAt = d.Item.ChangedAt
		}
	}
	return nil
}

// settlingActs are the newest decisions of people that settled the items.
func (s *Store) settlingActs(ctx context.Context, ids []int64) (map[int64]work.Act, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	list, err := json.Marshal(ids)
	if err != nil {
		return nil, err
	}
	acts, err := readAll(ctx, s, actsTable, "item_id IN "+s.db.search().numbers()+
		" AND to_status IN ('resolved', 'closed') AND from_status <> to_status ORDER BY item_id, id", string(list))
	if err != nil {
		return nil, err
	}
	last := make(map[int64]work.Act, len(ids))
	for _, a := range acts {
		last[a.ItemID] = a
	}
	return last, nil
}

// settlingCall is what may have confirmed an item.
type settlingCall struct{ answer, lookup, late time.Time }

func (c settlingCall) settledAt(evidence string) time.Time {
	switch evidence {
	case "answer":
		return c.answer
	case "lookup":
		return c.lookup
	case "late answer":
		return c.late
	}
	return time.Time{}
}

// settlingCalls are the calls that confirmed the items: the last accepted send, and the first lookup after the last send
// that found it. Later lookups only confirm what was known.
func (s *Store) settlingCalls(ctx context.Context, ids []int64) (calls map[int64]settlingCall, err error) {
	if len(ids) == 0 {
		return nil, nil
	}
	list, err := json.Marshal(ids)
	if err != nil {
		return nil, err
	}
	r, err := s.db.query(ctx, "SELECT item_id, kind, late_for, outcome, finding, ended_at FROM attempts WHERE item_id IN "+s.db.search().numbers()+
		" AND ended_at IS NOT NULL AND (kind = 'send' OR finding = 'found_matching') ORDER BY item_id, number", string(list))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	calls = make(map[int64]settlingCall, len(ids))
	for r.Next() {
		var a work.Attempt
		if err := r.Scan(&a.ItemID, (*string)(&a.Kind), &a.LateFor, (*string)(&a.Outcome), (*string)(&a.Finding), stamp{&a.EndedAt}); err != nil {
			return nil, fmt.Errorf("read calls: %w", err)
		}
		c := calls[a.ItemID]
		switch {
		case a.Finding == work.FoundMatching && c.lookup.IsZero():
			c.lookup = a.EndedAt
		case a.Kind != work.Send:
		case a.LateFor > 0 && a.Outcome == work.Accepted:
			c.late = a.EndedAt
		case a.LateFor == 0:
			c.lookup = time.Time{}
			if a.Outcome == work.Accepted {
				c.answer = a.EndedAt
			}
		}
		calls[a.ItemID] = c
	}
	return calls, r.Err()
}
