package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"

	"github.com/bojanz/currency"

	"onefold/internal/review"
	"onefold/internal/work"
)

// exactSum adds up r.total in the columns decimals, whole, high and low. PostgreSQL has exact decimals. SQLite would add
// up floats: there each total is a whole number of its smallest decimal, added up in two halves that cannot overflow.
const (
	pgExactSum     = "0 AS decimals, sum(r.total)::text AS whole, 0::bigint AS high, 0::bigint AS low"
	sqliteExactSum = "length(ltrim(r.total, '0123456789')) AS decimals, '' AS whole," +
		" sum(CAST(replace(r.total, '.', '') AS INTEGER) / 1000000000) AS high, sum(CAST(replace(r.total, '.', '') AS INTEGER) % 1000000000) AS low"
)

func exactSum(b backend) string {
	if _, ok := b.(*postgres); ok {
		return pgExactSum
	}
	return sqliteExactSum
}

// PeriodCounts implements review.PeriodStore.
func (s *Store) PeriodCounts(ctx context.Context, companyID int64, period string) (list []review.PeriodCount, err error) {
	r, err := s.db.query(ctx, "SELECT k.automation, r.currency, i.status, i.open_kind, i.reason, count(*), "+exactSum(s.db)+
		" FROM item_keys k JOIN items i ON i.id = k.item_id JOIN revisions r ON r.item_id = i.id AND r.number = i.revision"+
		" WHERE k.company_id = ?1 AND k.period = ?2 AND "+shownRow+" GROUP BY 1, 2, 3, 4, 5, 7", companyID, period)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	for r.Next() {
		var c review.PeriodCount
		var code, whole string
		var points int
		var high, low int64
		if err := r.Scan(&c.Automation, &code, (*string)(&c.Status), (*string)(&c.OpenKind), (*string)(&c.Reason), &c.Count, &points, &whole, &high, &low); err != nil {
			return nil, fmt.Errorf("add up %s: %w", period, err)
		}
		if whole == "" {
			whole = decimalText(high, low, points-1)
		}
		if c.Total, err = currency.NewAmount(whole, code); err != nil {
			return nil, fmt.Errorf("add up %s: %s %q: %w", period, code, whole, err)
		}
		list = append(list, c)
	}
	return list, r.Err()
}

// decimalText is high × 10⁹ + low, of which the last so many digits are decimals.
func decimalText(high, low int64, decimals int) string {
	n := new(big.Int).Mul(big.NewInt(high), big.NewInt(1_000_000_000))
	text := n.Add(n, big.NewInt(low)).String()
	if decimals <= 0 {
		return text
	}
	text = fmt.Sprintf("%0*s", decimals+1, text)
	return text[:len(text)-decimals] + "." + text[len(text)-decimals:]
}

// Periods implements review.PeriodStore. It jumps from month to month in the index.
func (s *Store) Periods(ctx context.Context, companyID int64) (list []string, err error) {
	r, err := s.db.query(ctx, "WITH RECURSIVE m (period) AS (SELECT max(period) FROM item_keys WHERE company_id = ?1"+
		" UNION ALL SELECT (SELECT max(k.period) FROM item_keys k WHERE k.company_id = ?1 AND k.period < m.period) FROM m WHERE m.period IS NOT NULL)"+
		" SELECT period FROM m WHERE period IS NOT NULL AND period <> ''", companyID)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	for r.Next() {
		var p string
		if err := r.Scan(&p); err != nil {
			return nil, fmt.Errorf("read the months: %w", err)
		}
		list = append(list, p)
	}
	return list, r.Err()
}

// PeriodDocuments implements review.PeriodStore. It walks by the documents' first items, which never change places.
func (s *Store) PeriodDocuments(ctx context.Context, companyID int64, period string, after review.PeriodCursor, limit int) ([]review.Document, review.PeriodCursor, error) {
	places, err := s.periodPlaces(ctx, companyID, period, after, limit)
	if err != nil || len(places) == 0 {
		return nil, review.PeriodCursor{}, err
	}
	next := review.PeriodCursor{}
	if len(places) == limit {
		next = places[limit-1]
	}
	shown, err := s.shownSteps(ctx, places)
	if err != nil {
		return nil, next, err
	}
	ids := make([]int64, 0, len(places))
	for _, p := range places {
		ids = append(ids, shown[p.ID])
	}
	items, err := s.byIDs(ctx, ids)
	if err != nil {
		return nil, next, err
	}
	at := make(map[int64]work.Item, len(items))
	for _, it := range items {
		at[it.ID] = it
	}
	documents := make([]review.Document, 0, len(places))
	for _, id := range ids {
		if it, ok := at[id]; ok {
			documents = append(documents, review.Document{Item: it})
		}
	}
	return documents, next, s.settled(ctx, documents)
}

// periodPlaces are the first items of a month's documents.
func (s *Store) periodPlaces(ctx context.Context, companyID int64, period string, after review.PeriodCursor, limit int) (list []review.PeriodCursor, err error) {
	r, err := s.db.query(ctx, "SELECT k.automation, k.item_id FROM item_keys k WHERE k.company_id = ?1 AND k.period = ?2 AND (k.automation, k.item_id) > (?3, ?4)"+
		" AND NOT EXISTS (SELECT 1 FROM items p WHERE p.id = k.item_id AND p.previous_id IS NOT NULL) ORDER BY k.automation, k.item_id LIMIT ?5",
		companyID, period, after.Automation, after.ID, limit)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	for r.Next() {
		var c review.PeriodCursor
		if err := r.Scan(&c.Automation, &c.ID); err != nil {
			return nil, fmt.Errorf("read the documents of %s: %w", period, err)
		}
		list = append(list, c)
	}
	return list, r.Err()
}

// shownSteps maps the first item of each document to the one that stands for it.
func (s *Store) shownSteps(ctx context.Context, firsts []review.PeriodCursor) (shown map[int64]int64, err error) {
	ids := make([]int64, len(firsts))
	for i, p := range firsts {
		ids[i] = p.ID
	}
	list, err := json.Marshal(ids)
	if err != nil {
		return nil, err
	}
	from, is := s.db.search().chains("?1")
	r, err := s.db.query(ctx, "SELECT CAST(h.value AS bigint), i.id FROM "+from+" WHERE "+is, string(list))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	shown = make(map[int64]int64, len(ids))
	for r.Next() {
		var first, id int64
		if err := r.Scan(&first, &id); err != nil {
			return nil, fmt.Errorf("read steps: %w", err)
		}
		shown[first] = id
	}
	return shown, r.Err()
}
