package review_test

import (
	"context"
	"slices"
	"testing"

	"onefold/internal/review"
	rt "onefold/internal/review/reviewtest"
	"onefold/internal/store/storetest"
	"onefold/internal/work"
)

// pruned is a store from which some attempts were removed as too old.
type pruned struct {
	review.Store
	gone []int
}

func (p pruned) Attempts(ctx context.Context, itemID int64, before, limit int) ([]work.Attempt, error) {
	list, err := p.Store.Attempts(ctx, itemID, before, 1000)
	list = slices.DeleteFunc(list, func(a work.Attempt) bool { return slices.Contains(p.gone, a.Number) })
	return list[:min(len(list), limit)], err
}

// The attempt before and the one after are those that are still there: a link to a removed one would lead nowhere.
func TestNeighboursOfAnAttemptAreThere(t *testing.T) {
	w := rt.New(t, storetest.SQLite(t))
	id := w.One("INV-1")
	w.Until(id, func() { w.Send(id, rt.Refused) })
	n := w.Get(id).Attempts
	if n < 4 {
		t.Fatalf("only %d attempts", n)
	}
	for _, c := range []struct {
		gone              []int
		of, before, after int
	}{{nil, 1, 0, 2}, {nil, 2, 1, 3}, {nil, n, n - 1, 0}, {[]int{2}, 1, 0, 3}, {[]int{2, 3}, 1, 0, 4}, {[]int{1, 2}, 3, 0, 4}, {[]int{n}, n - 1, n - 2, 0}} {
		d, err := review.New(pruned{w.Store, c.gone}, 1).Attempt(t.Context(), rt.Recorder, id, c.of)
		if err != nil || d.Before != c.before || d.After != c.after {
			t.Errorf("without %v, beside %d: %d and %d, %v; want %d and %d", c.gone, c.of, d.Before, d.After, err, c.before, c.after)
		}
	}
}
