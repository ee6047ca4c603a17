package review_test

import (
	"context"
	"testing"
	"time"

	"onefold/internal/review"
	rt "onefold/internal/review/reviewtest"
	"onefold/internal/store/storetest"
	"onefold/internal/work"
)

// counted is a store whose figures are counted up to a time, and grow with it: one unknown send a second.
type counted struct {
	review.OverviewStore
	to    time.Time
	asked int
}

func (c *counted) FiguresTo(context.Context) (time.Time, error) { return c.to, nil }

func (c *counted) Figures(_ context.Context, _ int64, g review.Grain, from, _ time.Time) ([]review.Figure, error) {
	c.asked++
	return []review.Figure{{Grain: g, StartsAt: from, Measure: review.SentWith(work.Unknown), Count: c.to.Unix()}}, nil
}

// The figures are added up once for all who look, and what is shown says up to when it is counted; it is never more than
// half a minute behind what is counted, nor of another day or range.
func TestTheOverviewIsAddedUpOnce(t *testing.T) {
	w := rt.New(t, storetest.SQLite(t))
	w.Later(w.Clock().Truncate(time.Hour).Add(time.Hour).Sub(w.Clock()) + time.Minute) // no new hour meanwhile
	db := &counted{OverviewStore: w.Store, to: w.Clock()}
	o := review.NewOverviews(db, 1, time.UTC)
	asked := 0
	for _, c := range []struct {
		says  string
		do    func()
		r     review.Range
		fresh bool
	}{
		{"first", func() {}, review.LastDay, true},
		{"again", func() {}, review.LastDay, false},
		{"a little later", func() { db.to = db.to.Add(29 * time.Second) }, review.LastDay, false},
		{"another range", func() {}, review.LastWeek, true},
		{"half a minute later", func() { db.to = db.to.Add(time.Second) }, review.LastDay, true},
		{"after an older backup", func() { db.to = db.to.Add(-time.Second) }, review.LastDay, true},
		{"in the next hour, with nothing counted", func() { w.Later(time.Hour) }, review.LastDay, true},
	} {
		c.do()
		got, err := o.Overview(t.Context(), ada, c.r)
		if err != nil {
			t.Fatal(err)
		}
		if fresh := db.asked > asked; fresh != c.fresh {
			t.Errorf("%s: added up again: %t", c.says, fresh)
		}
		asked = db.asked
		if got.Unknown != got.CountedTo.Unix() || db.to.Sub(got.CountedTo) >= 30*time.Second || got.CountedTo.After(db.to) {
			t.Errorf("%s: %d are said to be counted to %v, where %v is counted", c.says, got.Unknown, got.CountedTo, db.to)
		}
	}
}
