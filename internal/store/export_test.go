package store

import (
	"context"
	"testing"
	"time"
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

// SetManyHits changes for a test how many matches a list is made from at most before it is walked.
func SetManyHits(t testing.TB, n int) {
	was := mostHits
	mostHits = n
	t.Cleanup(func() { mostHits = was })
}

// SetManyFound changes for a test from how many matches on a page is read in halves.
func SetManyFound(t testing.TB, n int) {
	was := manyFound
	manyFound = n
	t.Cleanup(func() { manyFound = was })
}

// SetKeepFrom changes for a test how many settled keys there must be for their counts to be kept.
func SetKeepFrom(t testing.TB, n int64) {
	was := keepFrom
	keepFrom = n
	t.Cleanup(func() { keepFrom = was })
}

// AgeCounts lets kept counts grow old: to be counted anew beside the pages, or too old to be shown.
func AgeCounts(s *Store, tooOld bool) {
	s.tallies.mu.Lock()
	defer s.tallies.mu.Unlock()
	for id, kept := range s.tallies.kept {
		kept.at = time.Now().Add(-keepFactor*kept.took - time.Millisecond)
		if tooOld {
			kept.at = time.Now().Add(-2 * keepLongest)
		}
		s.tallies.kept[id] = kept
	}
}

// SlowCounts makes every count for a test one that takes long, and that is old at once.
func SlowCounts(t testing.TB) {
	slow, factor := slowCount, keepFactor
	slowCount, keepFactor = 0, 0
	t.Cleanup(func() { slowCount, keepFactor = slow, factor })
}

// AwaitCounts waits for what is counted beside the pages.
func AwaitCounts(s *Store) { s.tallies.running.Wait() }

// SetNewestRows changes for a test in how many of the newest rows a rare short text is looked for.
func SetNewestRows(t testing.TB, n int64) {
	was := newestRows
	newestRows = n
	t.Cleanup(func() { newestRows = was })
}

// SetNewestHits changes for a test how many of the items that a short text finds are shown.
func SetNewestHits(t testing.TB, n int) {
	was := newestHits
	newestHits = n
	t.Cleanup(func() { newestHits = was })
}

// SetRecogniseEvery changes for a test how often the database is compared with the one that we know.
func SetRecogniseEvery(t testing.TB, d time.Duration) {
	was := recogniseEvery
	recogniseEvery = d
	t.Cleanup(func() { recogniseEvery = was })
}

// Recognise compares the database with the one that we know, as is done again and again.
func Recognise(ctx context.Context, s *Store) error { return s.db.(*postgres).recogniseNow(ctx) }

// Telling are the pieces of a text that the index is asked for.
var Telling = telling
