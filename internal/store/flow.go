package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"onefold/internal/work"
)

// InFlight counts the open attempts of each system, over all servers; a system without any is left out.
func (s *Store) InFlight(ctx context.Context) (n map[string]int, err error) {
	r, err := s.db.query(ctx, "SELECT system_id, count(*) FROM items WHERE lease_until IS NOT NULL GROUP BY system_id")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	n = map[string]int{}
	for r.Next() {
		var id string
		var count int
		if err := r.Scan(&id, &count); err != nil {
			return nil, fmt.Errorf("read attempts in flight: %w", err)
		}
		n[id] = count
	}
	return n, r.Err()
}

// Fingerprints returns the fingerprints of all revisions of an item, proposed ones too.
func (s *Store) Fingerprints(ctx context.Context, itemID int64) (list []string, err error) {
	r, err := s.db.query(ctx, "SELECT fingerprint FROM revisions WHERE item_id = ?1 ORDER BY number", itemID)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	for r.Next() {
		var f string
		if err := r.Scan(&f); err != nil {
			return nil, fmt.Errorf("read fingerprints: %w", err)
		}
		list = append(list, f)
	}
	return list, r.Err()
}

// NextDue is when the system's next free item is due; zero if none is.
func (s *Store) NextDue(ctx context.Context, systemID string) (t time.Time, err error) {
	_, err = s.maybeRow(ctx, "SELECT due_at FROM items WHERE system_id = ?1 AND due_at IS NOT NULL AND lease_until IS NULL ORDER BY due_at LIMIT 1",
		[]any{systemID}, stamp{&t})
	return t, err
}

// NewestConfirmed returns the newest items of a step that were confirmed before a time, at most n: records that a search
// must be able to find.
func (s *Store) NewestConfirmed(ctx context.Context, systemID, step string, before time.Time, n int) ([]work.Item, error) {
	sys, err := s.System(ctx, systemID)
	if err != nil {
		return nil, err
	}
	return s.list(ctx, "WHERE i.company_id = ?1 AND i.status = 'confirmed' AND i.system_id = ?2 AND i.step = ?3 AND i.external_id <> ''"+
		" AND i.changed_at < ?5 ORDER BY i.changed_at DESC, i.id DESC LIMIT ?4", sys.CompanyID, systemID, step, n, s.db.at(before))
}

// takenRecords are the items among the moves that would be done by a record which another item has, in the database or
// among the moves themselves.
func (s *Store) takenRecords(ctx context.Context, moves []work.Move) (ids []int64, err error) {
	type record struct{ system, step, id string }
	mine := map[record]bool{}
	for _, m := range moves {
		if !m.Item.Status.Done() || m.Item.ExternalID == "" {
			continue
		}
		r := record{m.Item.SystemID, m.Item.Step, m.Item.ExternalID}
		taken := mine[r]
		mine[r] = true
		if !taken {
			err = s.row(ctx, "SELECT EXISTS (SELECT 1 FROM items WHERE lower(external_id) = ?5 AND external_id = ?1 AND step = ?2 AND system_id = ?3"+
				" AND status IN ('confirmed', 'resolved') AND external_id <> '' AND id <> ?4)", []any{r.id, r.step, r.system, m.Item.ID, lowerASCII(r.id)}, &taken)
			if err != nil {
				return nil, err
			}
		}
		if taken {
			ids = append(ids, m.Item.ID)
		}
	}
	return ids, nil
}

// takenReferences are the references among the new items that another business key of the system has. The same key
// recorded at the same moment is no such case, though the database may name this index first.
func (s *Store) takenReferences(ctx context.Context, moves []work.Move) (refs []string, err error) {
	type reference struct{ system, step, text string }
	mine := map[reference]bool{}
	for _, m := range moves {
		if m.Seen != 0 {
			continue
		}
		r := reference{m.Item.SystemID, m.Item.Step, m.Item.Reference}
		taken := mine[r]
		mine[r] = true
		if !taken {
			err = s.row(ctx, "SELECT EXISTS (SELECT 1 FROM item_keys WHERE lower(reference) = ?4 AND reference = ?1 AND system_id = ?2 AND step = ?3"+
				" AND NOT (folded_key = ?5 AND company_id = ?6 AND automation = ?7))", []any{r.text, r.system, r.step, lowerASCII(r.text),
				work.FoldKey(m.Item.BusinessKey), m.Item.CompanyID, m.Item.Automation}, &taken)
			if err != nil {
				return nil, err
			}
		}
		if taken {
			refs = append(refs, r.text)
		}
	}
	return refs, nil
}
