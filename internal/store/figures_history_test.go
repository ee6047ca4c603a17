package store_test

import (
	"context"
	"testing"
	"time"

	"onefold/internal/review"
	"onefold/internal/store"
	"onefold/internal/work"
)

// histories counts how much of the history of items counting takes into its hands.
type histories struct {
	review.FigureStore
	times, rows int
}

func (h *histories) FigureBatch(ctx context.Context, at review.FigurePlace, upTo time.Time, most int) (review.FigureBatch, error) {
	b, err := h.FigureStore.FigureBatch(ctx, at, upTo, most)
	for _, list := range b.Attempts {
		h.times++
		h.rows += len(list)
	}
	return b, err
}

// An item that was looked for and put off thousands of times costs counting no more than its few telling attempts, and
// they are counted as ever.
func TestALongHistoryIsNotReadAtEachOfItsCalls(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store.Store, c *clock) {
		id := record(t, s, "LONG").ID
		var list []work.Attempt
		add := func(n int, a work.Attempt) {
			for range n {
				c.advance(time.Second)
				a.ItemID, a.Number, a.Node, a.Revision, a.Reference, a.StartedAt = id, len(list)+1, "n", 1, "LONG", c.Now()
				if a.Kind == work.Send {
					a.Key, a.SendBy = "LONG", c.Now().Add(time.Second)
				}
				a.EndedAt = c.Now().Add(time.Millisecond)
				list = append(list, a)
			}
		}
		find := func(f work.Finding) work.Attempt { return work.Attempt{Kind: work.Find, Finding: f} }
		send := func(o work.Outcome) work.Attempt { return work.Attempt{Kind: work.Send, Outcome: o} }
		add(1, send(work.Unknown))
		add(1000, find(work.CouldNotTell))
		add(500, find(work.FindDeferred))
		add(500, find(work.NotFound))
		add(1000, send(work.Deferred))
		add(1, send(work.Unknown))
		add(1000, find(work.FindDeferred))
		add(1, find(work.FoundMatching))
		must(t, store.PutAttempts(t.Context(), s, list))
		c.advance(5 * time.Minute)

		seen := &histories{FigureStore: s}
		for more := true; more; {
			var err error
			more, err = review.FigureRunner{Store: seen, Node: "n", Most: 100}.RunOnce(t.Context())
			must(t, err)
		}
		// The send after the first unknown one, and what was found: nothing else asks for what was before.
		if seen.times > 2 || seen.rows > 2*12 {
			t.Errorf("the history was read %d times, %d attempts were kept", seen.times, seen.rows)
		}
		got := map[review.Measure]int64{}
		for f, n := range counted(t, s) {
			if f.Grain == review.GrainAll {
				got[f.Measure] += n
			}
		}
		for m, want := range map[review.Measure]int64{review.SentWith(work.Unknown): 2, review.SentWith(work.Deferred): 1000, review.LookedWith(work.FindDeferred): 1500,
			review.LookedWith(work.NotFound): 500, review.SettledBy(review.SettledAbsent): 1, review.SettledBy(review.SettledShown): 1} {
			if got[m] != want {
				t.Errorf("%s: %d, in truth %d", m, got[m], want)
			}
		}
	})
}
