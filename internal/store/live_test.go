package store_test

import (
	"strings"
	"testing"
	"time"

	"onefold/internal/review"
	"onefold/internal/store"
	"onefold/internal/work"
)

// No change may go unseen by the pages that are open: each gives another mark, also one whose transaction began before
// others that were seen already.
func TestMarkTellsEveryChange(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store.Store, c *clock) {
		mark := func(items ...int64) review.Mark {
			t.Helper()
			m, err := s.Mark(t.Context(), 1, items)
			must(t, err)
			return m
		}
		last := mark().All
		changed := func(what string, want bool) {
			t.Helper()
			now := mark().All
			if now == "" || (now != last) != want {
				t.Errorf("%s: the mark was %s and is %s", what, last, now)
			}
			last = now
		}
		changed("nothing happened", false)
		recordMany(t, s, 0, 30)
		changed("30 items recorded", true)
		first := listed(t, s).Items[29]
		if m := mark(first.ID, 999999); len(m.Items) != 1 || m.Items[first.ID] != first.Version || m.Of(first.ID) == "" || m.Of(999999) != "" {
			t.Errorf("%+v", m)
		}
		for range 3 { // in the same moment as everything else
			happens(t, s, first.ID, work.Assign{By: ada, To: "Ada"})
			changed("an item was assigned", true)
			happens(t, s, first.ID, work.Assign{By: ada})
			changed("and released", true)
		}
		if was, is := first.Version, mark(first.ID).Items[first.ID]; is <= was {
			t.Errorf("the item's version was %d and is %d", was, is)
		}
		c.advance(time.Minute)
		open := claim(t, s, 2)
		changed("two are being sent", true)
		closeAll(t, s, open)
		changed("they are confirmed", true)
		must(t, s.Pause(t.Context(), "books", ada, "Month end"))
		changed("the system is paused", true)
		must(t, s.Resume(t.Context(), "books", ada, ""))
		changed("it goes on", true)
		changed("nothing happened", false)
		if other, err := s.Mark(t.Context(), 2, []int64{first.ID}); err != nil || len(other.Items) != 0 {
			t.Errorf("another company sees %v, %v", other.Items, err)
		}
	})
}

// A mark is read every second: it must never walk all items.
func TestMarkWalksNoTable(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store.Store, _ *clock) {
		plan, err := store.MarkPlan(t.Context(), s)
		must(t, err)
		for line := range strings.Lines(plan) {
			line = strings.TrimSpace(line)
			if line == "SCAN items" || strings.HasPrefix(line, "SCAN items ") && !strings.Contains(line, "items_leased") || strings.Contains(line, "ORDER BY") {
				t.Errorf("%s", line)
			}
		}
		if n := strings.Count(plan, "items_list"); n != 7 {
			t.Errorf("the index serves %d statuses, not 7:\n%s", n, plan)
		}
	})
}

func listed(t *testing.T, s *store.Store) review.Page {
	t.Helper()
	p, err := s.Search(t.Context(), review.Query{CompanyID: 1, Limit: 200})
	must(t, err)
	return p
}

func happens(t *testing.T, s *store.Store, id int64, ev work.Event) {
	t.Helper()
	_, err := s.Change(t.Context(), work.Pick{IDs: []int64{id}}, func(now time.Time, p []work.Picked) ([]work.Move, error) {
		mv, err := work.Decide(p[0].Item, ev, p[0].Rules, now)
		return []work.Move{mv}, err
	})
	must(t, err)
}
