package store_test

import (
	"fmt"
	"testing"

	"onefold/internal/review"
	"onefold/internal/store"
)

// Counts of a long history may be some seconds old, never older; those of open items are always exact.
func TestKeptCountsAreRefreshed(t *testing.T) {
	store.SetKeepFrom(t, 0)
	eachStore(t, func(t *testing.T, s *store.Store, _ *clock) {
		n := 0
		confirm := func() {
			n++
			record(t, s, fmt.Sprintf("INV-%d", n))
			closeAll(t, s, claim(t, s, 1))
		}
		counted := func(finished, waiting int64) {
			t.Helper()
			counts, err := s.Counts(t.Context(), 1)
			must(t, err)
			if counts[review.TabFinished] != finished || counts[review.TabWaiting] != waiting || counts[review.TabAll] != finished+waiting {
				t.Errorf("counted %v, want %d finished and %d waiting", counts, finished, waiting)
			}
		}
		confirm()
		counted(1, 0)
		confirm()
		store.AgeCounts(s, false)
		record(t, s, "OPEN-1")
		counted(1, 1) // and counts anew
		store.AwaitCounts(s)
		counted(2, 1)
		confirm()
		store.AgeCounts(s, true)
		counted(3, 1)
	})
}
