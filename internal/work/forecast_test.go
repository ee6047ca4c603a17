package work

import (
	"math/rand/v2"
	"reflect"
	"testing"
	"time"
)

// goes follows the course with the real Next, for one item, and returns what happened and how it would be foreseen.
func goes(t *testing.T, c Course, r Rules, it Item) (sends, looks []time.Duration, end time.Duration, why Reason) {
	t.Helper()
	start := time.Date(2026, 11, 29, 10, 0, 0, 0, time.UTC)
	now := start
	it.Status, it.DueAt = Queued, now
	do := func(ev Event) {
		t.Helper()
		var err error
		if it, err = Next(it, ev, r, now); err != nil {
			t.Fatalf("%s: %v", ev.Name(), err)
		}
	}
	for range 1000 {
		if it.Status == Review {
			return sends, looks, now.Sub(start), it.Reason
		}
		now = maxTime(now, it.DueAt)
		do(Claimed{Node: "one", SendBy: now.Add(time.Second)})
		begun := now
		switch {
		case it.OpenKind == Send && c == RefusedCourse:
			sends = append(sends, now.Sub(start))
			do(SendClosed{it.OpenAttempt, now, Answer{Outcome: Rejected}})
		case it.OpenKind == Send:
			sends = append(sends, now.Sub(start))
			now = now.Add(r.Policy.RequestTimeout)
			do(SendClosed{it.OpenAttempt, now, Answer{Outcome: Unknown}})
		case it.OpenKind == Find && c == LostCourse:
			looks = append(looks, now.Sub(start))
			do(FindClosed{it.OpenAttempt, begun, now, Lookup{Finding: NotFound}})
		case it.OpenKind == Find:
			looks = append(looks, now.Sub(start))
			now = now.Add(r.Policy.RequestTimeout)
			do(FindClosed{it.OpenAttempt, begun, now, Lookup{Finding: CouldNotTell}})
		}
	}
	t.Fatal("it never reaches a person")
	return nil, nil, 0, ""
}

// A forecast that differs from what Next does would be a lie on the page: thousands of random policies and systems, each
// item to the nanosecond.
func TestForecastsAreWhatNextDoes(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 13))
	tried := map[Course]int{}
	within, same := 0, 0
	for tried[LostCourse] < 3000 {
		r := randomRules(rnd)
		if (System{ID: "s", Adapter: "a", Steps: []string{"create"}, MaxInFlight: 1, Policy: r.Policy, Capabilities: r.Capabilities}).Validate() != nil {
			continue
		}
		it := Item{ID: rnd.Int64N(1e6), Reference: "INV", Step: "create", Steps: []string{"create"}, Revision: 1}
		for _, c := range Courses(r.Capabilities) {
			tried[c]++
			sends, looks, end, why := goes(t, c, r, it)
			f := foresee(c, r, func(series string, n int) float64 { return spread(it.seed()+series, n) })
			if !reflect.DeepEqual(f.sends, sends) || !reflect.DeepEqual(f.looks, looks) || f.now != end || f.reason != why {
				t.Fatalf("%s with %+v:\nforeseen sends %v looks %v, %v %s\nhappened sends %v looks %v, %v %s", c, r, f.sends, f.looks, f.now, f.reason, sends, looks, end, why)
			}
			// Where the jitter decides only about times, every item is within the range that is shown.
			shown := Foresee(c, r)
			if len(shown.Reasons) > 1 || len(shown.Sends) != len(sends) || len(shown.Looks) != len(looks) {
				continue
			}
			same++
			if end >= shown.Person.Earliest && end <= shown.Person.Latest {
				within++
			}
			for i, at := range sends {
				if at < shown.Sends[i].Earliest || at > shown.Sends[i].Latest {
					t.Fatalf("%s with %+v: send %d at %v is not within %v", c, r, i+1, at, shown.Sends[i])
				}
			}
		}
	}
	// A proof that must be renewed before a send is a jump in time that neither end of the range need have.
	if same < 8000 || within < same*99/100 {
		t.Errorf("%d of %d items reached a person within the range", within, same)
	}
	for c, n := range tried {
		t.Logf("%s: %d", c, n)
	}
}

func randomRules(rnd *rand.Rand) Rules {
	upTo := func(d time.Duration) time.Duration { return time.Duration(rnd.Int64N(int64(d))) }
	p := DefaultPolicy()
	p.Sends, p.Lookups, p.Misses = 1+rnd.IntN(8), 2+rnd.IntN(30), rnd.IntN(4)
	p.FirstDelay, p.Growth, p.Jitter = 1+upTo(5*time.Minute), 1.1+rnd.Float64()*3, 0
	p.LongestDelay = p.FirstDelay + upTo(3*time.Hour)
	if rnd.IntN(4) > 0 {
		p.Jitter = rnd.Float64() * min(1, p.Growth-1)
	}
	p.RequestTimeout, p.Settle = 1+upTo(time.Minute), upTo(10*time.Minute)
	c := Capabilities{Searchable: rnd.IntN(4) > 0, HonoursKeys: rnd.IntN(2) > 0, Linger: upTo(5 * time.Minute), Misses: rnd.IntN(3)}
	if rnd.IntN(2) > 0 {
		p.SearchLag, c.SearchLag = upTo(2*time.Minute), upTo(2*time.Minute)
	}
	if rnd.IntN(2) > 0 {
		c.KeyLifetime = 1 + upTo(24*time.Hour)
	}
	return Rules{Policy: p, Capabilities: c}
}

func TestForecastOfTheDefaultPolicy(t *testing.T) {
	p := DefaultPolicy()
	p.Jitter = 0
	f := Foresee(RefusedCourse, Rules{Policy: p, Capabilities: Capabilities{Searchable: true}})
	want := []time.Duration{0, 30 * time.Second, 105 * time.Second, 292500 * time.Millisecond, 761250 * time.Millisecond}
	for i, s := range f.Sends {
		if s.Earliest != want[i] || s.Latest != want[i] {
			t.Errorf("send %d at %v, want %v", i+1, s, want[i])
		}
	}
	if len(f.Sends) != 5 || f.Person != (Span{want[4], want[4]}) || f.Reasons[0] != ReasonRejected {
		t.Errorf("%+v", f)
	}
}
