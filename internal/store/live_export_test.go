package store

import (
	"context"
	"strings"
	"time"
)

// MarkPlan is how the database would read a mark, for tests.
func MarkPlan(ctx context.Context, s *Store) (string, error) {
	return s.plan(ctx, s.markText(), "[]", 1)
}

// OverduePlan is how it would look for overdue items.
func OverduePlan(ctx context.Context, s *Store) (string, error) {
	return s.plan(ctx, overdueText, s.db.at(time.Now()))
}

// OpenPlan is how it would count what is open.
func OpenPlan(ctx context.Context, s *Store) (string, error) { return s.plan(ctx, openText, 1) }

func (s *Store) plan(ctx context.Context, query string, args ...any) (string, error) {
	explain := "EXPLAIN "
	if _, ok := s.db.(*lite); ok {
		explain = "EXPLAIN QUERY PLAN "
	}
	r, err := s.db.query(ctx, explain+query, args...)
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
