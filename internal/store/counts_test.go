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

// Counts of open items are kept only while nothing changes, whatever it is that changes.
func TestOpenCountsFollowEveryChange(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store.Store, _ *clock) {
		counted := func(waiting, finished int64) {
			t.Helper()
			for range 2 {
				counts, err := s.Counts(t.Context(), 1)
				must(t, err)
				if counts[review.TabWaiting] != waiting || counts[review.TabFinished] != finished {
					t.Errorf("counted %v, want %d waiting and %d finished", counts, waiting, finished)
				}
			}
		}
		counted(0, 0)
		record(t, s, "INV-1")
		counted(1, 0)
		record(t, s, "INV-2")
		counted(2, 0)
		closeAll(t, s, claim(t, s, 1))
		counted(1, 1)
		claimed := claim(t, s, 1)
		counted(1, 1)
		closeAll(t, s, claimed)
		counted(0, 2)
	})
}
