package store_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"onefold/internal/review"
	"onefold/internal/store"
	"onefold/internal/work"
)

var errDied = errors.New("the process died")

// dying is a store whose process dies now and then before or after it has written, and holds on to what it held.
type dying struct {
	review.FigureStore
	rnd *rand.Rand
}

func (d dying) SaveFigures(ctx context.Context, node string, hold time.Duration, at review.FigurePlace, b review.FigureBatch, f []review.Figure) error {
	switch d.rnd.IntN(4) {
	case 0:
		return errDied
	case 1:
		if err := d.FigureStore.SaveFigures(ctx, node, hold, at, b, f); err != nil {
			return err
		}
		return errDied
	}
	return d.FigureStore.SaveFigures(ctx, node, hold, at, b, f)
}

func (d dying) ReleaseFigures(ctx context.Context, node string) error {
	if d.rnd.IntN(2) == 0 {
		return errDied
	}
	return d.FigureStore.ReleaseFigures(ctx, node)
}

// life lets random things happen to an item, through the one write door.
type life struct {
	t   *testing.T
	s   *store.Store
	c   *clock
	rnd *rand.Rand
}

func (l life) tick(most time.Duration) {
	l.c.advance(time.Millisecond + time.Duration(l.rnd.Int64N(int64(most))).Truncate(time.Microsecond))
}

// happen ignores refusals: the rule is tested elsewhere.
func (l life) happen(id int64, ev work.Event) {
	if _, err := apply(l.t, l.s, id, ev); err != nil && !errors.As(err, new(*work.Refusal)) {
		l.t.Fatalf("%T: %v", ev, err)
	}
}

func (l life) answer(id int64, status int) work.Answer {
	rec := work.Record{ID: fmt.Sprint("R-", id)}
	all := []work.Answer{{Outcome: work.Accepted, Record: rec, Match: work.MatchSame}, {Outcome: work.Unknown}, {Outcome: work.Unknown}, {Outcome: work.Unknown},
		{Outcome: work.Rejected}, {Outcome: work.NotSent}, {Outcome: work.Deferred}, {Outcome: work.AlreadyExists}}
	a := all[l.rnd.IntN(len(all))]
	if a.Outcome == work.Deferred {
		status = []int{429, 401, 403, 503}[l.rnd.IntN(4)]
	}
	a.Exchange.HTTPStatus = status
	return a
}

func (l life) step(id int64) {
	it := read(l.t, l.s, id)
	now := l.c.Now()
	switch {
	case it.OpenAttempt != 0 && l.rnd.IntN(5) == 0: // its server is lost
		l.c.advance(max(0, it.LeaseUntil.Sub(now)) + time.Second)
		l.happen(id, work.LeaseExpired{})
	case it.OpenAttempt != 0 && it.OpenKind == work.Send:
		l.tick(20 * time.Second)
		l.happen(id, work.SendClosed{Attempt: it.OpenAttempt, Ended: l.c.Now(), Answer: l.answer(id, 200*l.rnd.IntN(2))})
	case it.OpenAttempt != 0:
		l.tick(20 * time.Second)
		look := work.Lookup{Finding: []work.Finding{work.FoundMatching, work.NotFound, work.NotFound, work.NotFound, work.CouldNotTell, work.FindDeferred, work.FoundDifferent}[l.rnd.IntN(7)]}
		if look.Finding.Found() {
			look.Record, look.Count = work.Record{ID: fmt.Sprint("R-", id)}, 1
		}
		if it.Status.Settled() {
			look.Finding = work.FoundMatching
			look.Record = work.Record{ID: it.ExternalID}
		}
		look.Exchange.HTTPStatus = 200
		l.happen(id, work.FindClosed{Attempt: it.OpenAttempt, Started: it.OpenSince, Ended: l.c.Now(), Lookup: look})
	case it.Status == work.Confirmed:
	case len(it.Unsettled) > 0 && l.rnd.IntN(4) == 0:
		a := l.answer(id, 200)
		if l.rnd.IntN(3) == 0 {
			a = work.Answer{Outcome: work.Accepted, Record: work.Record{ID: fmt.Sprint("R-", id)}, Match: work.MatchSame}
		}
		l.happen(id, work.LateAnswer{Attempt: it.Unsettled[0], Ended: now, Answer: a})
	case len(it.Unsettled) > 0 && l.rnd.IntN(8) == 0: // its report was made long before it was read
		l.happen(id, work.Reported{By: ada, Report: "report:1", Exported: now.Add(-time.Duration(l.rnd.IntN(300)) * time.Minute),
			Lookup: work.Lookup{Finding: work.FoundMatching, Record: work.Record{ID: fmt.Sprint("R-", id)}, Count: 1}})
	case it.Status == work.Review:
		l.happen(id, []work.Event{work.Resolve{By: ada, Reference: fmt.Sprint("R-", id), Note: "seen"}, work.Close{By: ada, Note: "no"}, work.Check{By: ada},
			work.Retry{By: ada}, work.Attest{By: ada, Note: "looked"}}[l.rnd.IntN(5)])
	case it.Status.Settled():
		l.happen(id, work.Reopen{By: ada, Note: "again"})
	default:
		if it.DueAt.After(now) {
			l.c.advance(it.DueAt.Sub(now))
		}
		l.happen(id, work.Claimed{Node: "n", SendBy: l.c.Now().Add(5 * time.Second)})
	}
	l.tick([]time.Duration{time.Second, time.Second, 20 * time.Minute}[l.rnd.IntN(3)])
}

// lost lets an item be sent without an answer, and then be settled in one of the ways.
func (l life) lost(key string, how review.Settled) int64 {
	id := record(l.t, l.s, key, func(n *work.New) {
		if how == review.SettledKey {
			n.SystemID = "keyed"
		}
	}).ID
	accepted := work.Answer{Outcome: work.Accepted, Record: work.Record{ID: fmt.Sprint("R-", id)}, Match: work.MatchSame}
	claim := func() work.Item {
		it := read(l.t, l.s, id)
		l.c.advance(max(0, it.DueAt.Sub(l.c.Now())) + time.Second)
		it, err := apply(l.t, l.s, id, work.Claimed{Node: "n", SendBy: l.c.Now().Add(5 * time.Second)})
		must(l.t, err)
		l.c.advance(time.Second)
		return it
	}
	it := claim()
	l.happen(id, work.SendClosed{Attempt: it.OpenAttempt, Ended: l.c.Now(), Answer: work.Answer{Outcome: work.Unknown}})
	l.c.advance(time.Second)
	switch how {
	case review.SettledLate:
		l.happen(id, work.LateAnswer{Attempt: it.OpenAttempt, Ended: l.c.Now(), Answer: accepted})
		return id
	case review.SettledRefused:
		l.happen(id, work.LateAnswer{Attempt: it.OpenAttempt, Ended: l.c.Now(), Answer: work.Answer{Outcome: work.Rejected}})
		return id
	case review.SettledKey:
		it = claim()
		l.happen(id, work.SendClosed{Attempt: it.OpenAttempt, Ended: l.c.Now(), Answer: accepted})
		return id
	case review.SettledShown: // found while it waited for a person, who then says so
		l.happen(id, work.Hold{By: ada, Note: "wait"})
		l.happen(id, work.Check{By: ada})
		it = claim()
		l.happen(id, work.FindClosed{Attempt: it.OpenAttempt, Started: it.OpenSince, Ended: l.c.Now(), Lookup: work.Lookup{Finding: work.FoundMatching, Record: accepted.Record, Count: 1}})
		l.c.advance(time.Hour)
		l.happen(id, work.Resolve{By: ada, Reference: accepted.Record.ID, Note: "seen"})
		return id
	case review.SettledPerson:
		l.happen(id, work.Hold{By: ada, Note: "wait"})
		l.happen(id, work.Resolve{By: ada, Reference: accepted.Record.ID, Note: "seen"})
		return id
	}
	it = claim()
	l.happen(id, work.FindClosed{Attempt: it.OpenAttempt, Started: it.OpenSince, Ended: l.c.Now(), Lookup: work.Lookup{Finding: work.NotFound}})
	it = claim()
	l.happen(id, work.SendClosed{Attempt: it.OpenAttempt, Ended: l.c.Now(), Answer: accepted})
	return id
}

// naiveBucket goes up from bucket to bucket.
func naiveBucket(d time.Duration) (b int) {
	for float64(time.Millisecond)*math.Pow(2, float64(b)/4)*(1+1e-9) < float64(d) {
		b++
	}
	return b
}

// naiveFigures goes through the whole history of every item in the order of time, and counts.
func naiveFigures(t *testing.T, s *store.Store, ids []int64, zone *time.Location) map[review.Figure]int64 {
	t.Helper()
	sums := map[review.Figure]int64{}
	for _, id := range ids {
		it := read(t, s, id)
		attempts, err := s.Attempts(t.Context(), id, 0, 10_000)
		must(t, err)
		acts, err := s.Acts(t.Context(), id, 10_000)
		must(t, err)
		add := func(at time.Time, m review.Measure, bucket int) {
			in := at.In(zone)
			for _, g := range []review.Grain{review.GrainHour, review.GrainDay, review.GrainMonth, review.GrainAll} {
				begin := time.Unix(0, 0)
				switch g {
				case review.GrainHour: // zones here are whole hours from UTC
					begin = at.Truncate(time.Hour)
				case review.GrainDay:
					begin = time.Date(in.Year(), in.Month(), in.Day(), 0, 0, 0, 0, zone)
				case review.GrainMonth:
					begin = time.Date(in.Year(), in.Month(), 1, 0, 0, 0, 0, zone)
				}
				sums[review.Figure{CompanyID: 1, Grain: g, StartsAt: begin.UTC(), Measure: m, SystemID: it.SystemID, Bucket: bucket}]++
			}
		}
		type moment struct {
			at time.Time
			do func()
		}
		var story []moment
		open := map[int]time.Time{} // unknown sends and when they ended
		sends, missed, attested, confirmed := 0, false, false, false
		settle := func(at time.Time, how review.Settled) {
			if how.Prevents() && it.Status != work.Confirmed { // a person had to settle it
				how = review.SettledShown
			}
			for n, ended := range open {
				add(at, review.SettledBy(how), naiveBucket(at.Sub(ended)))
				delete(open, n)
			}
		}
		proof := func(at time.Time) {
			if it.Status == work.Confirmed && !confirmed {
				add(at, review.Confirmed, naiveBucket(at.Sub(it.RecordedAt)))
				add(at, review.Sends, min(sends, 5))
			}
			confirmed = true
		}
		for _, a := range attempts {
			if a.Kind == work.Send && a.LateFor == 0 {
				story = append(story, moment{a.StartedAt, func() {
					sends++
					how := review.SettledKey
					switch {
					case attested:
						how = review.SettledPerson
					case missed:
						how = review.SettledAbsent
					}
					settle(a.StartedAt, how)
					missed, attested = false, false
				}})
			}
			if a.EndedAt.IsZero() {
				continue
			}
			story = append(story, moment{a.EndedAt, func() {
				if a.LateFor != 0 {
					ended, is := open[a.LateFor]
					delete(open, a.LateFor)
					switch {
					case a.Outcome == work.Accepted:
						proof(a.EndedAt)
						how := review.SettledLate
						if it.Status != work.Confirmed {
							how = review.SettledShown
						}
						if is {
							add(a.EndedAt, review.SettledBy(how), naiveBucket(a.EndedAt.Sub(ended)))
						}
					case a.Outcome.SettlesAbsent() && is:
						add(a.EndedAt, review.SettledBy(review.SettledRefused), naiveBucket(a.EndedAt.Sub(ended)))
					case is:
						open[a.LateFor] = ended
					}
					return
				}
				if !a.FromReport() {
					if a.Kind == work.Send {
						add(a.EndedAt, review.SentWith(a.Outcome), 0)
					} else {
						add(a.EndedAt, review.LookedWith(a.Finding), 0)
					}
					if a.HTTPStatus > 0 {
						add(a.EndedAt, review.Answered, naiveBucket(a.EndedAt.Sub(a.StartedAt)))
					}
					if a.HTTPStatus == 429 {
						add(a.EndedAt, review.Limited, 0)
					}
					if (a.HTTPStatus == 401 || a.HTTPStatus == 403) && a.Outcome == work.Deferred {
						add(a.EndedAt, review.Barred, 0)
					}
				}
				switch {
				case a.Outcome == work.Unknown:
					open[a.Number] = a.EndedAt
				case a.Outcome == work.Accepted:
					proof(a.EndedAt)
				case a.Finding == work.FoundMatching && a.FromReport():
					proof(a.EndedAt)
					settle(a.EndedAt, review.SettledReport)
				case a.Finding == work.FoundMatching:
					proof(a.EndedAt)
					settle(a.EndedAt, review.SettledFound)
				case a.Finding == work.NotFound:
					missed = true
				}
			}})
		}
		for _, d := range acts {
			story = append(story, moment{d.At, func() {
				attested = attested || d.What == "attest"
				if d.To == work.Resolved || d.To == work.Closed {
					settle(d.At, review.SettledPerson)
				}
			}})
		}
		slices.SortStableFunc(story, func(a, b moment) int { return a.at.Compare(b.at) })
		for _, m := range story {
			m.do()
		}
	}
	return sums
}

func counted(t *testing.T, s *store.Store) map[review.Figure]int64 {
	t.Helper()
	sums := map[review.Figure]int64{}
	for _, g := range []review.Grain{review.GrainHour, review.GrainDay, review.GrainMonth, review.GrainAll} {
		list, err := store.EachFigure(t.Context(), s, 1, g)
		must(t, err)
		for _, f := range list {
			n := f.Count
			f.Count, f.Automation = 0, ""
			sums[f] += n
		}
		sameSums(t, s, g, list)
	}
	return sums
}

// sameSums compares what the overview reads with what is kept.
func sameSums(t *testing.T, s *store.Store, g review.Grain, kept []review.Figure) {
	t.Helper()
	from := time.Unix(0, 0).UTC()
	got, want := map[review.Figure]int64{}, map[review.Figure]int64{}
	list, err := s.Figures(t.Context(), 1, g, from, time.Unix(1<<33, 0))
	must(t, err)
	for _, f := range list {
		n := f.Count
		f.Count, f.StartsAt = 0, f.StartsAt.UTC()
		if got[f] != 0 {
			t.Errorf("%+v is there twice", f)
		}
		got[f] = n
	}
	for _, f := range kept {
		n := f.Count
		f.Count, f.Automation, f.StartsAt = 0, "", f.StartsAt.UTC()
		switch {
		case f.Measure == review.Confirmed:
			f.SystemID = ""
		case !strings.HasPrefix(string(f.Measure), string(review.SentWith(""))):
			f.StartsAt = from
		}
		want[f] += n
	}
	sameFigures(t, got, want)
}

func sameFigures(t *testing.T, got, want map[review.Figure]int64) {
	t.Helper()
	all := maps.Clone(want)
	maps.Copy(all, got)
	keys := slices.SortedFunc(maps.Keys(all), func(a, b review.Figure) int {
		return cmp.Or(cmp.Compare(a.Grain, b.Grain), a.StartsAt.Compare(b.StartsAt), cmp.Compare(a.Measure, b.Measure))
	})
	for _, f := range keys {
		if got[f] != want[f] {
			t.Errorf("%s %s %s %d: %d, in truth %d", f.Grain, f.StartsAt.Format(time.RFC3339), f.Measure, f.Bucket, got[f], want[f])
		}
	}
}

// Whatever happens to the items and to the servers that count, every attempt and every settled outcome is counted once, in
// the hour in which it ended. The histories go over the end of summer time.
func TestFiguresAreThoseOfANaiveCount(t *testing.T) {
	zone, err := time.LoadLocation("Europe/Berlin")
	must(t, err)
	eachStore(t, func(t *testing.T, s *store.Store, c *clock) {
		c.advance(time.Date(2026, 10, 24, 12, 0, 0, 0, zone).Sub(c.Now()))
		rnd := rand.New(rand.NewPCG(7, 1)) //nolint:gosec // a test
		l := life{t, s, c, rnd}
		var ids []int64
		runners := []review.FigureRunner{{Node: "a"}, {Node: "b"}}
		for i := range runners {
			runners[i].Store, runners[i].Zone, runners[i].Most = dying{s, rnd}, zone, 7
		}
		keyed := books()
		keyed.ID, keyed.Name, keyed.Capabilities = "keyed", "Keyed", work.Capabilities{HonoursKeys: true, KeyLifetime: 24 * time.Hour}
		must(t, s.DeclareSystem(t.Context(), keyed))
		for _, how := range []review.Settled{review.SettledLate, review.SettledAbsent, review.SettledPerson, review.SettledKey, review.SettledRefused, review.SettledShown} {
			ids = append(ids, l.lost("LOST-"+string(how), how))
		}
		for range 250 {
			if len(ids) < 60 && rnd.IntN(3) == 0 {
				ids = append(ids, record(t, s, fmt.Sprint("INV-", len(ids))).ID)
			}
			id := ids[rnd.IntN(len(ids))]
			for range 1 + rnd.IntN(8) { // a proof of absence does not last
				l.step(id)
			}
			if rnd.IntN(5) == 0 {
				if _, err := runners[rnd.IntN(2)].RunOnce(t.Context()); err != nil && !errors.Is(err, errDied) {
					t.Fatal(err)
				}
			}
		}
		for _, id := range ids { // nothing is left open
			if it := read(t, s, id); it.OpenAttempt != 0 {
				c.advance(max(0, it.LeaseUntil.Sub(c.Now())) + time.Second)
				l.happen(id, work.LeaseExpired{})
			}
		}
		c.advance(5 * time.Minute)
		last := review.FigureRunner{Store: s, Node: "c", Zone: zone}
		for more := true; more; {
			more, err = last.RunOnce(t.Context())
			must(t, err)
		}
		want := naiveFigures(t, s, ids, zone)
		sameFigures(t, counted(t, s), want)
		for _, how := range review.SettledWays { // the histories are rich enough to mean something
			found := false
			for f := range want {
				found = found || f.Measure == review.SettledBy(how)
			}
			if !found {
				t.Errorf("no outcome was settled by %s", how)
			}
		}
		if to, err := s.FiguresTo(t.Context()); err != nil || !to.Equal(c.Now().Add(-2*time.Minute)) {
			t.Errorf("counted to %v, %v", to, err)
		}
		// Counting again adds nothing.
		_, err = last.RunOnce(t.Context())
		must(t, err)
		sameFigures(t, counted(t, s), want)
	})
}

func TestTwoServersCountOnce(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store.Store, c *clock) {
		var ids []int64
		for i := range 40 {
			id := record(t, s, fmt.Sprint("INV-", i)).ID
			it, err := apply(t, s, id, work.Claimed{Node: "n", SendBy: c.Now().Add(5 * time.Second)})
			must(t, err)
			c.advance(time.Second)
			_, err = apply(t, s, id, work.SendClosed{Attempt: it.OpenAttempt, Ended: c.Now(), Answer: work.Answer{Outcome: work.Accepted, Record: work.Record{ID: fmt.Sprint(id)}, Match: work.MatchSame}})
			must(t, err)
			ids = append(ids, id)
		}
		c.advance(10 * time.Minute)
		var wg sync.WaitGroup
		for _, node := range []string{"a", "b", "c"} {
			wg.Go(func() {
				for range 4 {
					if _, err := (review.FigureRunner{Store: s, Node: node, Most: 3}).RunOnce(t.Context()); err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		sameFigures(t, counted(t, s), naiveFigures(t, s, ids, time.UTC))

		// A server that was away for longer than it may hold the counting writes nothing.
		at, held, err := s.HoldFigures(t.Context(), "a", time.Minute)
		if err != nil || !held {
			t.Fatal(held, err)
		}
		if _, held, err := s.HoldFigures(t.Context(), "b", time.Minute); err != nil || held {
			t.Errorf("two servers hold it: %v", err)
		}
		c.advance(2 * time.Minute)
		if _, held, err := s.HoldFigures(t.Context(), "b", time.Minute); err != nil || !held {
			t.Errorf("nobody takes over: %v", err)
		}
		if err := s.SaveFigures(t.Context(), "a", time.Minute, at, review.FigureBatch{Place: at}, nil); !errors.Is(err, review.ErrFiguresLost) {
			t.Errorf("a server that lost it writes: %v", err)
		}
	})
}

// A past of any length is counted in bounded steps, and hours are dropped when they are old; days and months stay.
func TestAnOldDatabaseIsCountedInSteps(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store.Store, c *clock) {
		id := record(t, s, "INV-1").ID
		it, err := apply(t, s, id, work.Claimed{Node: "n", SendBy: c.Now().Add(5 * time.Second)})
		must(t, err)
		_, err = apply(t, s, id, work.SendClosed{Attempt: it.OpenAttempt, Ended: c.Now(), Answer: work.Answer{Outcome: work.Accepted, Record: work.Record{ID: "1"}, Match: work.MatchSame}})
		must(t, err)
		for i := range 60 {
			record(t, s, fmt.Sprint("INV-2-", i))
		}
		w := review.FigureRunner{Store: s, Node: "a", Most: 2}
		for i := range 60 {
			_, err := apply(t, s, id+1+int64(i), work.Claimed{Node: "n", SendBy: c.Now().Add(5 * time.Second)})
			must(t, err)
		}
		c.advance(40 * 24 * time.Hour)
		if more, err := w.RunOnce(t.Context()); err != nil || !more {
			t.Fatalf("61 attempts at once: %v %v", more, err)
		}
		if more, err := w.RunOnce(t.Context()); err != nil || more {
			t.Fatalf("%v %v", more, err)
		}
		got := map[review.Grain]int64{}
		for f, n := range counted(t, s) {
			if f.Measure == review.SentWith(work.Accepted) {
				got[f.Grain] += n
			}
		}
		if want := (map[review.Grain]int64{review.GrainDay: 1, review.GrainMonth: 1, review.GrainAll: 1}); !maps.Equal(got, want) {
			t.Errorf("%v", got)
		}
		// What was open then is counted when it has ended.
		for i := range 60 {
			_, err := apply(t, s, id+1+int64(i), work.LeaseExpired{})
			must(t, err)
		}
		for range 3 {
			_, err := w.RunOnce(t.Context())
			must(t, err)
		}
		var unknown int64
		for f, n := range counted(t, s) {
			if f.Grain == review.GrainAll && f.Measure == review.SentWith(work.Unknown) {
				unknown += n
			}
		}
		if unknown != 60 {
			t.Errorf("%d of 60 sends that were never answered are counted", unknown)
		}
	})
}
