package store

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"onefold/internal/review"
)

// keyItem is an item that a search by key means.
type keyItem struct {
	id     int64
	newest int // the number of its newest attempt; 0: it has none
}

// attemptKeys finds the items of the key that the query asks for: that is exactly it, else begins with it. If they are very
// many, or have very many attempts, it returns none and puts a condition into the list.
func (s *Store) attemptKeys(ctx context.Context, l *attemptList) ([]keyItem, review.How, error) {
	const last = "\U0010FFFF"
	const columns = "SELECT k.item_id, coalesce((SELECT max(number) FROM attempts WHERE item_id = k.item_id), 0) FROM item_keys k WHERE "
	folded := newWanted(l.query.Key).folded
	items, err := s.keyItems(ctx, columns+"k.folded_key = ?2 AND k.company_id = ?1", l.query.CompanyID, folded)
	if err != nil || len(items) > 0 {
		return items, review.HowExact, err
	}
	items, err = s.keyItems(ctx, columns+"k.folded_key >= ?2 AND k.folded_key < ?3 AND +k.company_id = ?1 LIMIT "+strconv.Itoa(mostKeys+1),
		l.query.CompanyID, folded, folded+last)
	if err != nil || len(items) == 0 {
		return nil, review.HowNone, err
	}
	attempts := 0
	for _, it := range items {
		attempts += it.newest
	}
	if len(items) > mostKeys || attempts > lookThrough {
		// In a form that no index knows: a planner would walk all such keys again for each attempt.
		l.keys = " AND substr(k.folded_key, 1, " + strconv.Itoa(utf8.RuneCountInString(folded)) + ") = " + l.add(folded)
		return nil, review.HowPrefix, nil
	}
	return items, review.HowPrefix, nil
}

func (s *Store) keyItems(ctx context.Context, text string, args ...any) (list []keyItem, err error) {
	r, err := s.db.query(ctx, text, args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	for r.Next() {
		var it keyItem
		if err := r.Scan(&it.id, &it.newest); err != nil {
			return nil, fmt.Errorf("search keys: %w", err)
		}
		list = append(list, it)
	}
	return list, r.Err()
}

// attemptsOfKeys lists the attempts of some items, of which all are looked at.
func (s *Store) attemptsOfKeys(ctx context.Context, l attemptList, items []keyItem) (review.AttemptPage, error) {
	ids := make([]int64, len(items))
	for i, it := range items {
		ids[i] = it.id
	}
	list, err := json.Marshal(ids)
	if err != nil {
		return review.AttemptPage{}, err
	}
	text := "SELECT " + names(listedColumns, "a.") + " FROM " + l.db.attemptsOf(l.add(string(list))) + " WHERE " + strings.TrimPrefix(l.window(), " AND ") + l.filter()
	return s.attemptPage(ctx, l, text+newestAttempts, review.HowPrefix, review.AttemptCursor{})
}

// attemptsOfKey lists the attempts of the few items of one key, however many they have: the newest item first, and of each
// the newest number. That is the order in which they happened, and the one in which so many numbers can be looked through.
func (s *Store) attemptsOfKey(ctx context.Context, l attemptList, items []keyItem) (review.AttemptPage, error) {
	slices.SortFunc(items, func(a, b keyItem) int { return cmp.Compare(b.id, a.id) })
	var parts []string
	var rest []keyItem // what is left for other pages: each up to this number
	after, room := l.query.After, lookThrough
	for _, it := range items {
		if after != (review.AttemptCursor{}) && it.id >= after.ItemID {
			if it.id > after.ItemID {
				continue
			}
			it.newest = min(it.newest, after.Number-1)
		}
		from := max(it.newest-room, 0)
		if from < it.newest {
			parts = append(parts, "SELECT "+names(listedColumns, "a.")+" FROM attempts a WHERE a.item_id = "+l.add(it.id)+
				" AND a.number > "+l.add(from)+" AND a.number <= "+l.add(it.newest))
			room -= it.newest - from
		}
		if from > 0 {
			rest = append(rest, keyItem{it.id, from})
		}
	}
	if len(parts) == 0 {
		return review.AttemptPage{How: review.HowExact}, nil
	}
	further, err := s.newestOfRest(ctx, rest)
	if err != nil {
		return review.AttemptPage{}, err
	}
	text := "SELECT " + names(listedColumns, "a.") + " FROM (" + strings.Join(parts, " UNION ALL ") + ") a WHERE " + strings.TrimPrefix(l.time()+l.filter(), " AND ")
	return s.attemptPage(ctx, l, text+" ORDER BY a.item_id DESC, a.number DESC", review.HowExact, further)
}

// newestOfRest is the place before the newest attempt that is left, since some numbers were removed; zero if none is.
func (s *Store) newestOfRest(ctx context.Context, rest []keyItem) (at review.AttemptCursor, err error) {
	for _, it := range rest {
		found, err := s.maybeRow(ctx, "SELECT started_at, number FROM attempts WHERE item_id = ?1 AND number <= ?2 ORDER BY number DESC LIMIT 1",
			[]any{it.id, it.newest}, stamp{&at.At}, &at.Number)
		if found || err != nil {
			return review.AttemptCursor{At: at.At, ItemID: it.id, Number: at.Number + 1}, err
		}
	}
	return at, nil
}
