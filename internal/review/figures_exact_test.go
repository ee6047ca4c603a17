package review_test

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"onefold/internal/review"
	rt "onefold/internal/review/reviewtest"
	"onefold/internal/store/storetest"
	"onefold/internal/work"
)

// told is a store with calls of known durations, that keeps what was counted of them.
type told struct {
	review.FigureStore
	review.OverviewStore
	now   time.Time
	batch review.FigureBatch
	kept  []review.Figure
}

func (s *told) Now(context.Context) (time.Time, error) { return s.now, nil }
func (s *told) HoldFigures(context.Context, string, time.Duration) (review.FigurePlace, bool, error) {
	return review.FigurePlace{}, true, nil
}
func (s *told) ReleaseFigures(context.Context, string) error { return nil }
func (s *told) DropFigures(context.Context, time.Time) error { return nil }
func (s *told) FiguresTo(context.Context) (time.Time, error) { return s.now, nil }
func (s *told) Longest(context.Context, int64) (int64, time.Time, error) {
	return 0, time.Time{}, nil
}
func (s *told) Systems(context.Context) ([]work.System, error) {
	return []work.System{{ID: rt.SystemID, Name: "Books"}}, nil
}

func (s *told) FigureBatch(context.Context, review.FigurePlace, time.Time, int) (review.FigureBatch, error) {
	return s.batch, nil
}

func (s *told) SaveFigures(_ context.Context, _ string, _ time.Duration, _ review.FigurePlace, _ review.FigureBatch, f []review.Figure) error {
	s.kept = f
	return nil
}

func (s *told) Figures(_ context.Context, _ int64, g review.Grain, from, to time.Time) (list []review.Figure, err error) {
	for _, f := range s.kept {
		if f.Grain == g && !f.StartsAt.Before(from) && f.StartsAt.Before(to) {
			list = append(list, f)
		}
	}
	return list, nil
}

// exactly is the duration that the part q of all do not exceed.
func exactly(all []time.Duration, q float64) time.Duration {
	slices.Sort(all)
	return all[int(math.Ceil(q*float64(len(all))))-1]
}

// The median and the 95th percentile of the overview are those of the durations, whatever these are, off by less than 9.1
// percent, and a millisecond at most where it is less than that.
func TestMedianAndP95AreThoseOfTheDurations(t *testing.T) {
	for seed := range uint64(200) {
		rnd := rand.New(rand.NewPCG(seed, 5)) //nolint:gosec // a test
		s := &told{now: time.Date(2026, 11, 29, 10, 30, 0, 0, time.UTC), batch: review.FigureBatch{Items: map[int64]review.CountedItem{}}}
		var confirmed, answered []time.Duration
		for i := range 1 + rnd.IntN(120) {
			some := func() time.Duration { // from 50 microseconds to a day, each power as likely
				return time.Duration(float64(50*time.Microsecond) * math.Pow(float64(24*time.Hour)/float64(50*time.Microsecond), rnd.Float64())).Truncate(time.Microsecond)
			}
			took, waited := some(), some()
			ended := s.now.Add(-10 * time.Minute)
			id := int64(i + 1)
			s.batch.Calls = append(s.batch.Calls, work.Attempt{ItemID: id, Number: 1, Kind: work.Send, Node: "n", Outcome: work.Accepted, HTTPStatus: 201, StartedAt: ended.Add(-took), EndedAt: ended})
			s.batch.Items[id] = review.CountedItem{CompanyID: 1, SystemID: rt.SystemID, RecordedAt: ended.Add(-waited), Confirmed: true}
			confirmed, answered = append(confirmed, waited), append(answered, took)
		}
		if _, err := (review.FigureRunner{Store: s, Node: "n"}).RunOnce(t.Context()); err != nil {
			t.Fatal(err)
		}
		o, err := review.NewOverviews(s, 1, time.UTC).Overview(t.Context(), ada, review.LastDay)
		if err != nil {
			t.Fatal(err)
		}
		near := func(what string, got time.Duration, all []time.Duration, q float64) {
			want := exactly(all, q)
			if off := float64(got)/float64(max(want, time.Millisecond)) - 1; math.Abs(off) >= 0.091 {
				t.Errorf("seed %d: %s of %d is %v, in truth %v", seed, what, len(all), got, want)
			}
		}
		near("the median until confirmed", o.Confirmed.Median, confirmed, 0.5)
		near("the 95th until confirmed", o.Confirmed.P95, confirmed, 0.95)
		near("the median of answers", o.Systems[0].Answering.Median, answered, 0.5)
		near("the 95th of answers", o.Systems[0].Answering.P95, answered, 0.95)
		if int(o.Confirmed.Count) != len(confirmed) || int(o.Systems[0].Answering.Count) != len(answered) {
			t.Errorf("seed %d: %d and %d of %d are counted", seed, o.Confirmed.Count, o.Systems[0].Answering.Count, len(confirmed))
		}
	}
}

// crowd is a store that adds up only when so many have come to look.
type crowd struct {
	review.OverviewStore
	looking sync.WaitGroup
	asked   atomic.Int32
}

func (c *crowd) Now(ctx context.Context) (time.Time, error) {
	defer c.looking.Done()
	return c.OverviewStore.Now(ctx)
}

func (c *crowd) Figures(context.Context, int64, review.Grain, time.Time, time.Time) ([]review.Figure, error) {
	c.looking.Wait()
	c.asked.Add(1)
	return nil, nil
}

// Those who look at the same moment wait for the same sums.
func TestAllWhoLookAtOnceWaitForOneSum(t *testing.T) {
	db := &crowd{OverviewStore: rt.New(t, storetest.SQLite(t)).Store}
	o := review.NewOverviews(db, 1, time.UTC)
	var wg sync.WaitGroup
	db.looking.Add(8)
	for range 8 {
		wg.Go(func() {
			if _, err := o.Overview(t.Context(), ada, review.LastDay); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := db.asked.Load(); n != 2 { // the range, and all time
		t.Errorf("%d sums were added up for eight who look at once", n)
	}
}
