package work_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"onefold/internal/work"
)

// TestDelaysGrow: no wait is shorter than the one before it or longer than the longest, and the jitter stays in its bounds.
func TestDelaysGrow(t *testing.T) {
	checkMany(t, 2000, 1, func(t *rapid.T) {
		p := work.DefaultPolicy()
		p.FirstDelay = time.Duration(rapid.Int64Range(1, int64(time.Hour)).Draw(t, "first"))
		p.LongestDelay = p.FirstDelay + time.Duration(rapid.Int64Range(0, int64(7*24*time.Hour-time.Hour)).Draw(t, "longer"))
		p.Growth = rapid.Float64Range(1.000001, 10).Draw(t, "growth")
		p.Jitter = rapid.Float64Range(0, math.Min(1, p.Growth-1)).Draw(t, "jitter")
		seed := rapid.String().Draw(t, "seed")
		if err := p.Validate(); err != nil {
			t.Fatal(err)
		}
		before := time.Duration(0)
		for n := 1; n <= 40; n++ {
			d := p.Delay(n, seed)
			exact := float64(p.FirstDelay) * math.Pow(p.Growth, float64(n-1))
			low, high := math.Min(exact, float64(p.LongestDelay)), math.Min(exact*(1+p.Jitter), float64(p.LongestDelay))
			if d < before || d > p.LongestDelay || float64(d) < low*(1-1e-9)-1 || float64(d) > high*(1+1e-9)+1 {
				t.Fatalf("wait %d is %s after %s, exact %s", n, d, before, time.Duration(low))
			}
			if d != p.Delay(n, seed) {
				t.Fatal("the same item waits differently")
			}
			before = d
		}
		if p.Delay(0, seed) != p.Delay(1, seed) || p.Delay(-3, seed) != p.Delay(1, seed) {
			t.Fatal("a wait before the first try is not the first")
		}
	})
}

func TestWhatFailedTogetherComesBackSpread(t *testing.T) { // trial 101
	p, seen := work.DefaultPolicy(), map[time.Duration]bool{}
	for i := range 1000 {
		seen[p.Delay(1, fmt.Sprintf("INV-%d/create/%d", i, i))] = true
	}
	if len(seen) < 900 {
		t.Errorf("1000 items come back at only %d different times", len(seen))
	}
}

func TestPolicyBounds(t *testing.T) {
	type change func(*work.Policy)
	for name, c := range map[string]change{
		"no sends":          func(p *work.Policy) { p.Sends = 0 },
		"too many sends":    func(p *work.Policy) { p.Sends = 21 },
		"no lookups":        func(p *work.Policy) { p.Lookups = 0 },
		"too many lookups":  func(p *work.Policy) { p.Lookups = 101 },
		"no first delay":    func(p *work.Policy) { p.FirstDelay = 0 },
		"longest below":     func(p *work.Policy) { p.LongestDelay = p.FirstDelay - 1 },
		"longest too long":  func(p *work.Policy) { p.LongestDelay = 7*24*time.Hour + 1 },
		"no growth":         func(p *work.Policy) { p.Growth = 1 },
		"growth too big":    func(p *work.Policy) { p.Growth = 10.1 },
		"growth NaN":        func(p *work.Policy) { p.Growth = math.NaN() },
		"jitter negative":   func(p *work.Policy) { p.Jitter = -0.1 },
		"jitter too big":    func(p *work.Policy) { p.Growth, p.Jitter = 1.5, 0.6 },
		"jitter above one":  func(p *work.Policy) { p.Jitter = 1.1 },
		"jitter NaN":        func(p *work.Policy) { p.Jitter = math.NaN() },
		"no timeout":        func(p *work.Policy) { p.RequestTimeout = 0 },
		"timeout too long":  func(p *work.Policy) { p.RequestTimeout = 11 * time.Minute },
		"no window":         func(p *work.Policy) { p.SendWindow = 0 },
		"window too long":   func(p *work.Policy) { p.SendWindow = 2 * time.Minute },
		"negative settle":   func(p *work.Policy) { p.Settle = -1 },
		"settle too long":   func(p *work.Policy) { p.Settle = 25 * time.Hour },
		"negative lag":      func(p *work.Policy) { p.SearchLag = -1 },
		"lag too long":      func(p *work.Policy) { p.SearchLag = 25 * time.Hour },
		"negative misses":   func(p *work.Policy) { p.Misses = -1 },
		"too many misses":   func(p *work.Policy) { p.Misses = 11 },
		"no time to settle": func(p *work.Policy) { p.SettleWithin = 0 },
	} {
		p := work.DefaultPolicy()
		c(&p)
		if p.Validate() == nil {
			t.Errorf("%s is allowed", name)
		}
	}
	if err := work.DefaultPolicy().Validate(); err != nil {
		t.Error(err)
	}
}

// TestCapabilitiesAreFloors: a policy can raise what a system asks for, never lower it.
func TestCapabilitiesAreFloors(t *testing.T) {
	for _, c := range []struct{ policy, system, want time.Duration }{{0, time.Minute, time.Minute}, {time.Hour, time.Minute, time.Hour}} {
		r := work.Rules{Policy: work.Policy{Settle: c.policy, SearchLag: c.policy}, Capabilities: work.Capabilities{Linger: c.system, SearchLag: c.system}}
		if r.Settle() != c.want || r.SearchLag() != c.want {
			t.Errorf("settle %s, lag %s; want %s", r.Settle(), r.SearchLag(), c.want)
		}
	}
	for _, c := range []struct{ policy, system, want int }{{0, 0, 1}, {0, 3, 3}, {4, 3, 4}} {
		r := work.Rules{Policy: work.Policy{Misses: c.policy}, Capabilities: work.Capabilities{Misses: c.system}}
		if r.Misses() != c.want {
			t.Errorf("misses %d, want %d", r.Misses(), c.want)
		}
	}
	r := work.Rules{Policy: work.DefaultPolicy()}
	if r.Lease() < r.Policy.SendWindow+r.Policy.RequestTimeout+work.LeaseMargin {
		t.Errorf("the lease of %s is too short", r.Lease())
	}
}

// TestDeferredWaits: what a system asks for is kept, nonsense gets the default, absurd values are cut (trial 97). A
// deferral spends no try and never comes back early (trial 99).
func TestDeferredWaits(t *testing.T) {
	for _, c := range []struct{ asked, low, high time.Duration }{
		{40000 * time.Second, 40000 * time.Second, 40005 * time.Second},
		{59800 * time.Millisecond, 59800 * time.Millisecond, 66 * time.Second},
		{0, time.Minute, 66 * time.Second},
		{-5 * time.Second, time.Minute, 66 * time.Second},
		{5000 * time.Hour, 24 * time.Hour, 24*time.Hour + 5*time.Second},
		{math.MaxInt64, 24 * time.Hour, 24*time.Hour + 5*time.Second},
		{math.MinInt64, time.Minute, 66 * time.Second},
	} {
		r := work.Rules{Policy: work.DefaultPolicy(), Capabilities: work.Capabilities{Searchable: true}}
		it := work.Item{Status: work.InProgress, Before: work.Queued, OpenKind: work.Send, OpenAttempt: 1, Attempts: 1, Sends: 1, SendsUsed: 1, Reference: "INV-1"}
		next, err := work.Next(it, work.SendClosed{Attempt: 1, Ended: noon, Answer: work.Answer{Outcome: work.Deferred, RetryAfter: c.asked}}, r, noon)
		if err != nil {
			t.Fatal(err)
		}
		if w := next.DueAt.Sub(noon); w < c.low || w > c.high || !next.SendAfter.Equal(next.DueAt) {
			t.Errorf("asked for %s, waits %s", c.asked, w)
		}
		if next.SendsUsed != 0 || next.Status != work.Queued {
			t.Errorf("a deferral spent a try or changed the status: %d, %s", next.SendsUsed, next.Status)
		}
	}
}
