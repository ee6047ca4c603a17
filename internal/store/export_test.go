package store

import (
	"context"
	"testing"
)

// Setting is a setting of the connection that writes, for tests.
func Setting(ctx context.Context, s *Store, name string) (value string) {
	var err error
	switch db := s.db.(type) {
	case *postgres:
		err = db.pool.QueryRow(ctx, "SELECT current_setting($1)", name).Scan(&value)
	case *lite:
		err = db.writer.QueryRowContext(ctx, "PRAGMA "+name).Scan(&value)
	}
	if err != nil {
		return err.Error()
	}
	return value
}

// SetFewIDs changes for a test from how many ids at most a list is made before it is walked.
func SetFewIDs(t testing.TB, n int64) {
	was := fewMost
	fewMost = n
	t.Cleanup(func() { fewMost = was })
}

// SetManyHits changes for a test how many matches a list is made from before it is walked.
func SetManyHits(t testing.TB, n int) {
	was := manyHits
	manyHits = n
	t.Cleanup(func() { manyHits = was })
}
