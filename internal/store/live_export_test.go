package store

import (
	"context"
	"strings"
)

// MarkPlan is how the database would read a mark, for tests.
func MarkPlan(ctx context.Context, s *Store) (string, error) {
	explain := "EXPLAIN "
	if _, ok := s.db.(*lite); ok {
		explain = "EXPLAIN QUERY PLAN "
	}
	r, err := s.db.query(ctx, explain+s.markText(), "[]", 1)
	if err != nil {
		return "", err
	}
	defer r.Close() //nolint:errcheck // read to its end
	var lines []string
	for r.Next() {
		var line string
		var n int
		if explain == "EXPLAIN " {
			err = r.Scan(&line)
		} else {
			err = r.Scan(&n, &n, &n, &line)
		}
		if err != nil {
			return "", err
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n"), r.Err()
}
