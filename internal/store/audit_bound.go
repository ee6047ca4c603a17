package store

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"onefold/internal/auth"
)

// trailWindow is the part of time that a page of the trail is about. It is what the indexes know.
func trailWindow(q *pageQuery, f auth.AuditFilter, source string) (c []string) {
	if !f.From.IsZero() {
		c = append(c, "t.at >= "+q.add(q.place(f.From)))
	}
	if !f.To.IsZero() {
		c = append(c, "t.at < "+q.add(q.place(f.To)))
	}
	if after := f.After; after.Source != "" {
		at := q.add(q.place(after.At))
		switch {
		case source < after.Source:
			c = append(c, "t.at <= "+at)
		case source > after.Source:
			c = append(c, "t.at < "+at)
		default:
			c = append(c, "(t.at, t.id) < ("+at+", "+q.add(after.ID)+")")
		}
	}
	return c
}

// trailFloor is how far back a page with a filter looks: what it asks for may be rare, and it must not read the whole history.
// Zero: to the end.
func (s *Store) trailFloor(ctx context.Context, f auth.AuditFilter) (floor auth.Cursor, err error) {
	if f.Who == "" && len(f.What) == 0 && f.Object == "" && f.Text == "" {
		return floor, nil
	}
	q := &pageQuery{place: s.db.at}
	var branches []string
	for _, src := range trailSources {
		if src.name == "act" && (!mayBeAct(f) || trailItem(f) > 0) { // an item's acts are read by its index
			continue
		}
		where := strings.Join(append(trailWindow(q, f, src.name), "t.id > 0"), " AND ")
		branches = append(branches, "SELECT * FROM (SELECT t.at AS at, '"+src.name+"' AS source, t.id AS id FROM "+src.table+" t WHERE "+where+
			" ORDER BY t.at DESC, t.id DESC LIMIT 1 OFFSET "+strconv.Itoa(lookThrough)+") b")
	}
	r, err := s.db.query(ctx, "SELECT at, source, id FROM ("+strings.Join(branches, " UNION ALL ")+") u ORDER BY at DESC, source DESC, id DESC LIMIT 1", q.args...)
	if err != nil {
		return floor, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	if r.Next() {
		if err := r.Scan(stamp{&floor.At}, &floor.Source, &floor.ID); err != nil {
			return auth.Cursor{}, fmt.Errorf("read the audit trail: %w", err)
		}
	}
	return floor, r.Err()
}

// trailItem is the item that the filter asks for; 0: none.
func trailItem(f auth.AuditFilter) int64 {
	rest, is := strings.CutPrefix(f.Object, "item:")
	number, _, _ := strings.Cut(rest, " ")
	id, err := strconv.ParseInt(number, 10, 64)
	if !is || err != nil || id < 1 {
		return 0
	}
	return id
}

// mayBeAct reports whether an act on an item can be what the filter asks for.
func mayBeAct(f auth.AuditFilter) bool {
	if f.Object != "" && trailItem(f) == 0 {
		return false
	}
	for _, what := range f.What {
		if strings.HasPrefix(what, "item_") {
			return true
		}
	}
	return len(f.What) == 0
}
