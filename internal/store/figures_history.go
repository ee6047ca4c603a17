package store

import (
	"context"
	"encoding/json"

	"onefold/internal/review"
	"onefold/internal/work"
)

// afterUnknown returns the items of those sends, by item and number, before which the last one had an unknown outcome.
func (s *Store) afterUnknown(ctx context.Context, sends [][2]int64) ([]int64, error) {
	if len(sends) == 0 {
		return nil, nil
	}
	list, err := json.Marshal(sends)
	if err != nil {
		return nil, err
	}
	from := "(SELECT json_extract(value, '$[0]') AS id, json_extract(value, '$[1]') AS number FROM json_each(?1)) c"
	if _, is := s.db.(*postgres); is {
		from = "(SELECT (value ->> 0)::bigint AS id, (value ->> 1)::integer AS number FROM json_array_elements(?1::json) AS h (value)) c"
	}
	return s.ids(ctx, "SELECT c.id FROM "+from+" WHERE (SELECT a.outcome FROM attempts a WHERE a.item_id = c.id AND a.number < c.number"+
		" AND a.kind = 'send' AND a.late_for = 0 ORDER BY a.number DESC LIMIT 1) = 'unknown'", string(list))
}

// figureHistory reads what figures depend on of the history of items.
func (s *Store) figureHistory(ctx context.Context, b *review.FigureBatch, ids []int64) error {
	if len(ids) == 0 {
		return nil
	}
	list, err := json.Marshal(once(ids))
	if err != nil {
		return err
	}
	var telling review.Telling
	history, err := s.countedAttempts(ctx, telling.Keep, "SELECT "+names(countedColumns, "a.")+" FROM "+s.db.search().attemptsOf("?1")+
		" WHERE a.kind = 'send' OR a.late_for <> 0 OR a.finding IN ('found_matching', 'not_found') ORDER BY a.item_id, a.number", string(list))
	if err != nil {
		return err
	}
	b.Attempts, b.Decided = map[int64][]work.Attempt{}, map[int64][]review.Decision{}
	for _, a := range history {
		b.Attempts[a.ItemID] = append(b.Attempts[a.ItemID], a)
	}
	acts, err := s.decisions(ctx, "SELECT "+decisionColumns+" FROM acts WHERE item_id IN "+s.db.search().numbers()+
		" AND (what = ?2 OR to_status IN ('resolved', 'closed')) ORDER BY item_id, id", string(list), (work.Attest{}).Name())
	for _, d := range acts {
		b.Decided[d.ItemID] = append(b.Decided[d.ItemID], d)
	}
	return err
}
