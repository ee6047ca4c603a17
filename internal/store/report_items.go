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

// textsIn is the texts of a JSON array in the parameter, as rows with one column named value.
func (s *Store) textsIn(parameter string) string {
	if _, file := filePath(s.cfg.URL); file {
		return "(SELECT value FROM json_each(" + parameter + "))"
	}
	return `(SELECT value COLLATE "C" FROM json_array_elements_text(` + parameter + "::json) AS j (value))"
}

func textList(list []string) (string, error) {
	clean := make([]string, len(list))
	for i, t := range list {
		clean[i] = tidy(t, maxShort)
	}
	text, err := json.Marshal(clean)
	return string(text), err
}

// ItemsByReference implements review.ReportStore.
func (s *Store) ItemsByReference(ctx context.Context, companyID int64, systemID string, references []string) ([]work.Item, error) {
	list, err := textList(references)
	if err != nil || len(references) == 0 {
		return nil, err
	}
	lowered := make([]string, len(references))
	for i, ref := range references {
		lowered[i] = lowerASCII(ref)
	}
	low, err := textList(lowered)
	if err != nil {
		return nil, err
	}
	return s.list(ctx, "WHERE i.id IN (SELECT item_id FROM item_keys WHERE lower(reference) IN "+s.textsIn("?1")+" AND reference IN "+s.textsIn("?2")+
		" AND company_id = ?3 AND system_id = ?4) ORDER BY i.id", low, list, companyID, systemID)
}

// UnknownItems implements review.ReportStore.
func (s *Store) UnknownItems(ctx context.Context, companyID int64, systemID string, limit int) ([]work.Item, error) {
	return s.list(ctx, "WHERE i.company_id = ?1 AND i.system_id = ?2 AND i.status IN ('pending', 'review') ORDER BY i.id LIMIT ?3", companyID, systemID, limit)
}

// KnownItems implements review.ReportStore.
func (s *Store) KnownItems(ctx context.Context, companyID int64, systemID string, since time.Time, f func(review.KnownItem) error) (err error) {
	r, err := s.db.query(ctx, "SELECT i.id, k.business_key, k.reference, i.external_id, i.external_number, v.customer_name, CAST(v.total AS text), v.currency,"+
		" coalesce(v.invoice ->> 'issue_date', ''), k.recorded_at FROM items i JOIN item_keys k ON k.item_id = i.id"+
		" JOIN revisions v ON v.item_id = i.id AND v.number = i.revision"+
		" WHERE i.company_id = ?1 AND i.system_id = ?2 AND i.status = 'confirmed' AND i.previous_id IS NULL AND i.changed_at <= ?3 ORDER BY i.id",
		companyID, systemID, s.db.at(since))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	for r.Next() {
		var k review.KnownItem
		if err := r.Scan(&k.ID, &k.Key, &k.Reference, &k.ExternalID, &k.ExternalNumber, &k.Customer, &k.Total, &k.Currency, &k.IssueDate, stamp{&k.RecordedAt}); err != nil {
			return fmt.Errorf("read the confirmed items: %w", err)
		}
		if err := f(k); err != nil {
			return err
		}
	}
	return r.Err()
}

// TakenRecords implements review.ReportStore.
func (s *Store) TakenRecords(ctx context.Context, companyID int64, systemID string, records []string) (taken map[string]int64, err error) {
	list, err := textList(records)
	if err != nil || len(records) == 0 {
		return nil, err
	}
	r, err := s.db.query(ctx, "SELECT i.id, i.external_id, i.external_number FROM items i WHERE (lower(i.external_id) IN (SELECT lower(value) FROM "+s.textsIn("?1")+" t)"+
		" AND i.external_id <> '' OR lower(i.external_number) IN (SELECT lower(value) FROM "+s.textsIn("?1")+" t) AND i.external_number <> '')"+
		" AND i.company_id = ?2 AND i.system_id = ?3 AND i.status IN ('confirmed', 'resolved') AND i.previous_id IS NULL", list, companyID, systemID)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	taken = map[string]int64{}
	for r.Next() {
		var id int64
		var external, number string
		if err := r.Scan(&id, &external, &number); err != nil {
			return nil, fmt.Errorf("read whose the records are: %w", err)
		}
		taken[external], taken[number] = id, id
	}
	delete(taken, "")
	return taken, r.Err()
}
