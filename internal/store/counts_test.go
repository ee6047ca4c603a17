package store_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"onefold/internal/review"
	"onefold/internal/store"
	"onefold/internal/store/storetest"
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

// No page waits for a count that takes long, however old the last one is, and a server that starts has the one that another
// server has made.
func TestSlowCountsAreShared(t *testing.T) {
	store.SetKeepFrom(t, 0)
	store.SlowCounts(t)
	storetest.Each(t, func(t *testing.T, db storetest.DB) {
		c := newClock()
		one, two := db.Open(t, store.Config{Clock: c.Now}), db.Open(t, store.Config{Clock: c.Now})
		must(t, one.DeclareSystem(t.Context(), books()))
		counted := func(s *store.Store, finished int64) {
			t.Helper()
			counts, err := s.Counts(t.Context(), 1)
			must(t, err)
			if counts[review.TabFinished] != finished {
				t.Errorf("counted %v, want %d finished", counts, finished)
			}
			store.AwaitCounts(s) // beside the page it is counted anew
		}
		confirm := func(key string) {
			record(t, one, key)
			closeAll(t, one, claim(t, one, 1))
		}
		confirm("INV-1")
		counted(one, 1)
		confirm("INV-2")
		counted(two, 1)
		counted(two, 2)
		confirm("INV-3")
		store.AgeCounts(one, true)
		counted(one, 1)
		counted(one, 3)
	})
}

// What is settled is counted as it is listed, whatever became of the steps before and after.
func TestSettledIsCountedAsListed(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store.Store, c *clock) {
		all := randomItems(t, s, c, rand.New(rand.NewPCG(11, 7)), 150)
		counts, err := s.Counts(t.Context(), 1)
		must(t, err)
		for _, tab := range allTabs {
			if listed := len(walk(t, s, review.Query{CompanyID: 1, Tab: tab, Limit: 50}, len(all))); int64(listed) != counts[tab] {
				t.Errorf("%s: %d are counted and %d listed", tab, counts[tab], listed)
			}
		}
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
