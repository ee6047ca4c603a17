package review_test

import (
	"testing"

	"onefold/internal/review"
	rt "onefold/internal/review/reviewtest"
)

// A number on the page must be the number of rows of the list that it opens.
func TestMonthAgreesWithTheLists(t *testing.T) {
	eachMonth(t, func(t *testing.T, w *rt.World, p *review.Periods) {
		everyState(w)
		s := review.New(w.Store, 1)
		rows := func(q review.Query) int64 {
			q.Limit, q.Filter.Period = 200, "2026-11"
			page, err := s.Search(t.Context(), viewer, q)
			if err != nil {
				t.Fatal(err)
			}
			return int64(len(page.Items))
		}
		m := month(t, p, "2026-11")
		for _, l := range append(m.Lines, m.All) {
			all := review.Query{Tab: review.TabAll, Filter: review.Filter{Automation: l.Automation}}
			if n := rows(all); n != l.Expected.Count {
				t.Errorf("%q: %d expected, the list has %d", l.Automation, l.Expected.Count, n)
			}
			for _, tab := range review.MonthTabs {
				all.Tab = tab
				if n := rows(all); n != l.Tabs[tab].Count {
					t.Errorf("%q %s: %d, the list has %d", l.Automation, tab, l.Tabs[tab].Count, n)
				}
			}
			all.Tab = review.TabReview
			for reason, sum := range l.Differing {
				all.Filter.Reason = reason
				if n := rows(all); n != sum.Count {
					t.Errorf("%q %s: %d, the list has %d", l.Automation, reason, sum.Count, n)
				}
			}
		}
	})
}
