package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"

	"onefold/internal/review"
	"onefold/internal/work"
)

// newestOf is how many of the newest rows of each status a mark looks at. More than one: a transaction that began earlier
// and ends later puts its rows below others that are known already.
const newestOf = 20

// Mark implements review.MarkStore. Each change of an item gives it a new version and puts it on top of its status; what a
// person does is a new act besides.
func (s *Store) Mark(ctx context.Context, companyID int64, items []int64) (mark review.Mark, err error) {
	list, err := json.Marshal(append([]int64{}, items...))
	if err != nil {
		return mark, err
	}
	r, err := s.db.query(ctx, s.markText(), string(list), companyID)
	if err != nil {
		return mark, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	all := fnv.New64a()
	mark.Items = make(map[int64]int64, len(items))
	for r.Next() {
		var what, id, version int64
		if err := r.Scan(&what, &id, &version); err != nil {
			return mark, fmt.Errorf("read the mark: %w", err)
		}
		if what == 2 {
			mark.Items[id] = version
		} else {
			fmt.Fprint(all, id, ":", version, " ")
		}
	}
	mark.All = strconv.FormatUint(all.Sum64(), 36)
	return mark, r.Err()
}

// markText is the query of a mark; its parameters are the items' ids and the company.
func (s *Store) markText() string {
	var parts []string
	// The second condition names the index: SQLite does not conclude it from the first.
	for _, status := range work.Statuses {
		if status != work.InProgress {
			parts = append(parts, "SELECT * FROM (SELECT 1, id, version FROM items WHERE company_id = ?2 AND status = '"+string(status)+
				"' AND status <> 'in_progress' ORDER BY changed_at DESC, id DESC LIMIT "+strconv.Itoa(newestOf)+") s")
		}
	}
	parts = append(parts, "SELECT 1, count(*), coalesce(max(version), 0) FROM items WHERE company_id = ?2 AND lease_until IS NOT NULL",
		"SELECT * FROM (SELECT 1, id, item_id FROM acts ORDER BY id DESC LIMIT "+strconv.Itoa(newestOf)+") s",
		"SELECT 1, count(*), coalesce(sum(version), 0) FROM systems", "SELECT 1, count(*), coalesce(sum(version), 0) FROM proofs",
		"SELECT 1, count(*), coalesce(max(id), 0) FROM alerts WHERE cleared_at IS NULL",
		"SELECT 2, id, version FROM items WHERE company_id = ?2 AND id IN "+s.db.search().numbers())
	return strings.Join(parts, " UNION ALL ")
}
