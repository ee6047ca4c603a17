package store

import (
	"encoding/json"
	"fmt"
	"strings"

	"onefold/internal/work"
)

// The start of a query for whole items, from items i and item_keys k; a WHERE clause follows. Side rows are read in a
// way that no planner, however stale its statistics, can turn into a scan of the history.
var (
	pgItems     = "SELECT " + itemColumns + " FROM items i CROSS JOIN LATERAL (SELECT * FROM item_keys WHERE item_id = i.id OFFSET 0) k "
	sqliteItems = "SELECT " + itemColumns + " FROM items i CROSS JOIN item_keys k ON k.item_id = i.id "
)

var itemColumns = func() string {
	var b strings.Builder
	b.WriteString("i.id, i.version, i.previous_id, k.company_id, k.automation, k.business_key, k.step, k.steps, k.system_id, k.reference, " +
		"k.idem_key, k.source, k.period, k.recorder_kind, k.recorder_id, k.recorder_name, k.recorded_at")
	for _, c := range columns {
		b.WriteString(", i." + c.name)
	}
	b.WriteString(", (SELECT r.invoice FROM revisions r WHERE r.item_id = i.id AND r.number = i.revision)" +
		", (SELECT p.status FROM items p WHERE p.id = i.previous_id)" +
		", (SELECT p.external_id FROM items p WHERE p.id = i.previous_id)")
	return b.String()
}()

// rows is what both databases' result sets have in common.
type rows interface {
	Next() bool
	Scan(dest ...any) error
	Err() error
}

// itemScanner reads items row by row without a new set of pointers for each.
type itemScanner struct {
	it                work.Item
	steps             string
	invoice           []byte
	prevStatus, prevX *string
	dest              []any
}

func newItemScanner() *itemScanner {
	s := &itemScanner{}
	it := &s.it
	s.dest = []any{&it.ID, &it.Version, linkTo{&it.PreviousID}, &it.CompanyID, &it.Automation, &it.BusinessKey, &it.Step, &s.steps, &it.SystemID,
		&it.Reference, &it.Key, &it.Source, &it.Period, (*string)(&it.RecordedBy.Kind), &it.RecordedBy.ID, &it.RecordedBy.Name, stamp{&it.RecordedAt}}
	s.dest = append(s.dest, table[work.Item]{columns: columns}.dests(it)...)
	s.dest = append(s.dest, &s.invoice, &s.prevStatus, &s.prevX)
	return s
}

func (s *itemScanner) scan(r rows) (work.Item, error) {
	s.it.Invoice = work.Invoice{}
	if err := r.Scan(s.dest...); err != nil {
		return work.Item{}, fmt.Errorf("read item: %w", err)
	}
	it := s.it
	it.Steps = strings.Split(s.steps, ",")
	it.PreviousStatus, it.PreviousExternalID = "", ""
	if s.prevStatus != nil && s.prevX != nil {
		it.PreviousStatus, it.PreviousExternalID = work.Status(*s.prevStatus), *s.prevX
	}
	if err := json.Unmarshal(s.invoice, &it.Invoice); err != nil {
		return work.Item{}, fmt.Errorf("the stored invoice of item %d is damaged: %w", it.ID, err)
	}
	return it, nil
}

func scanItems(r rows) ([]work.Item, error) {
	var list []work.Item
	s := newItemScanner()
	for r.Next() {
		it, err := s.scan(r)
		if err != nil {
			return nil, err
		}
		list = append(list, it)
	}
	return list, r.Err()
}
