package review_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

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

// rare is a store in whose list one part holds a row; each look takes some time.
type rare struct {
	review.Store
	now   time.Time
	took  time.Duration
	parts int // how many the list has; the newest is 1
	row   int // the part that holds the row; 0: none
	looks int
}

func (r *rare) Now(context.Context) (time.Time, error) { return r.now, nil }

func (r *rare) AttemptList(_ context.Context, q review.AttemptQuery) (page review.AttemptPage, err error) {
	r.now = r.now.Add(r.took)
	r.looks++
	part := q.After.Number + 1
	if part == r.row {
		page.Rows = []review.AttemptRow{{}}
	} else if part < r.parts {
		page.Further = review.AttemptCursor{At: r.now, Number: part}
	}
	return page, nil
}

// One wish to look further back goes on by itself to the next row, and never for longer than was said.
func TestLookingFurtherBackGoesOnByItself(t *testing.T) {
	w := rt.New(t, storetest.SQLite(t))
	for name, c := range map[string]struct {
		took              time.Duration
		parts, row, begin int
		want, looks       int
	}{
		"to the row":                {50 * time.Millisecond, 5000, 30, 1, 29, 29},
		"to the end":                {50 * time.Millisecond, 20, 0, 1, 19, 19},
		"until the time has passed": {50 * time.Millisecond, 5000, 0, 1, 41, 41},
		"at least one part":         {time.Minute, 5000, 0, 1, 2, 2},
		"the row is where it began": {50 * time.Millisecond, 5000, 2, 1, 1, 1},
	} {
		s := &rare{Store: w.Store, now: w.Clock(), took: c.took, parts: c.parts, row: c.row}
		got, err := review.New(s, 1).AttemptsFurther(t.Context(), rt.Recorder, review.AttemptQuery{After: review.AttemptCursor{At: w.Clock(), Number: c.begin}}, 2*time.Second)
		if err != nil || got.Number != c.want || s.looks != c.looks {
			t.Errorf("%s: at %d after %d looks, %v; want %d after %d", name, got.Number, s.looks, err, c.want, c.looks)
		}
	}
	s := &rare{Store: w.Store, now: w.Clock(), parts: 3}
	if _, err := review.New(s, 1).AttemptsFurther(t.Context(), work.Actor{Kind: work.Person, ID: "x"}, review.AttemptQuery{}, time.Second); !errors.Is(err, review.ErrForbidden) || s.looks > 0 {
		t.Errorf("whoever may not read: %v, %d looks", err, s.looks)
	}
}
