package work

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"math"
	"time"

	"github.com/bojanz/currency"
)

// Policy is what admins tune for one system. All durations are bounded by [Policy.Validate].
type Policy struct {
	Sends          int              `json:"sends"`                     // most sends in one allowance; deferred ones do not count
	FirstDelay     time.Duration    `json:"first_delay"`               // wait after the first failed send
	Growth         float64          `json:"growth"`                    // each wait is the one before times this
	LongestDelay   time.Duration    `json:"longest_delay"`             // no wait is longer
	Jitter         float64          `json:"jitter"`                    // share added at random; at most Growth-1, so that waits still grow
	RequestTimeout time.Duration    `json:"request_timeout"`           // total time for one call to the accounting system
	SendWindow     time.Duration    `json:"send_window"`               // a claimed send that has not begun within it is not begun at all
	Lookups        int              `json:"lookups"`                   // most lookups in one allowance
	Settle         time.Duration    `json:"settle"`                    // how long after we hung up a request may still be at work; raises the system's floor
	SearchLag      time.Duration    `json:"search_lag"`                // how long a new record may stay invisible to search; raises the system's floor
	Misses         int              `json:"misses"`                    // misses in a row that prove absence; raises the system's floor
	SettleWithin   time.Duration    `json:"settle_within"`             // an open item older than this is overdue
	BreakerAfter   int              `json:"breaker_after,omitempty"`   // calls in a row that do not reach the system before it is left alone; 0: 5
	BreakerPause   time.Duration    `json:"breaker_pause,omitempty"`   // for how long at first; each time twice as long; 0: 10 seconds
	BreakerLongest time.Duration    `json:"breaker_longest,omitempty"` // never longer; 0: 5 minutes
	ApprovalLimit  *currency.Amount `json:"approval_limit,omitempty"`  // above it an item waits for approval; nil: never
}

// LeaseMargin is added to the send window and the request timeout to get the lease of an attempt.
const LeaseMargin = 2 * time.Second

// DefaultPolicy is the policy of a newly connected system.
func DefaultPolicy() Policy {
	return Policy{Sends: 5, FirstDelay: 30 * time.Second, Growth: 2.5, LongestDelay: 2 * time.Hour, Jitter: 0.2,
		RequestTimeout: 30 * time.Second, SendWindow: 5 * time.Second, Lookups: 12, Settle: 2 * time.Minute, Misses: 2,
		SettleWithin: 4 * time.Hour, BreakerAfter: 5, BreakerPause: 10 * time.Second, BreakerLongest: 5 * time.Minute}
}

// Breaker returns after how many calls in a row that did not reach the system it is left alone, for how long at first and
// for how long at most. Policies that were stored before these could be set have the defaults.
func (p Policy) Breaker() (after int, pause, longest time.Duration) {
	d := DefaultPolicy()
	return cmp.Or(p.BreakerAfter, d.BreakerAfter), cmp.Or(p.BreakerPause, d.BreakerPause), cmp.Or(p.BreakerLongest, d.BreakerLongest)
}

// Validate returns an error in the user's words if a value is out of bounds.
func (p Policy) Validate() error {
	switch {
	case p.Sends < 1 || p.Sends > 20:
		return fmt.Errorf("the number of sends must be between 1 and 20, not %d", p.Sends)
	case p.Lookups < 1 || p.Lookups > 100:
		return fmt.Errorf("the number of lookups must be between 1 and 100, not %d", p.Lookups)
	case p.Lookups <= p.Misses:
		return fmt.Errorf("the number of lookups (%d) must be above the misses that prove absence (%d)", p.Lookups, p.Misses)
	case p.FirstDelay <= 0 || p.LongestDelay < p.FirstDelay || p.LongestDelay > 7*24*time.Hour:
		return fmt.Errorf("the first delay (%s) must be above zero and not above the longest (%s), which may be 7 days at most", p.FirstDelay, p.LongestDelay)
	case p.Growth <= 1 || p.Growth > 10 || math.IsNaN(p.Growth):
		return fmt.Errorf("the growth must be above 1 and at most 10, so that each wait is longer than the last, not %g", p.Growth)
	case p.Jitter < 0 || p.Jitter > p.Growth-1 || p.Jitter > 1 || math.IsNaN(p.Jitter):
		return fmt.Errorf("the jitter must be between 0 and %g, so that each wait is longer than the last, not %g", math.Min(1, p.Growth-1), p.Jitter)
	case p.RequestTimeout <= 0 || p.RequestTimeout > 10*time.Minute:
		return fmt.Errorf("the request timeout must be above zero and at most 10 minutes, not %s", p.RequestTimeout)
	case p.SendWindow <= 0 || p.SendWindow > time.Minute:
		return fmt.Errorf("the send window must be above zero and at most a minute, not %s", p.SendWindow)
	case p.Settle < 0 || p.Settle > 24*time.Hour || p.SearchLag < 0 || p.SearchLag > 24*time.Hour:
		return fmt.Errorf("the settle time and the search lag must be between 0 and 24 hours, not %s and %s", p.Settle, p.SearchLag)
	case p.Misses < 0 || p.Misses > 10:
		return fmt.Errorf("the misses that prove absence must be at most 10, not %d", p.Misses)
	case p.SettleWithin <= 0:
		return fmt.Errorf("the time within which an item should be settled must be above zero")
	}
	if after, pause, longest := p.Breaker(); after < 1 || after > 100 || pause <= 0 || longest < pause || longest > 24*time.Hour {
		return fmt.Errorf("a system that is not reached must be left alone after 1 to 100 calls (%d), for more than zero (%s) and at most a day (%s)", after, pause, longest)
	}
	return nil
}

// Delay is the wait after the n-th try (n from 1), never shorter than the one before and never above LongestDelay.
// The jitter comes from seed, so that the same item always waits the same.
func (p Policy) Delay(n int, seed string) time.Duration {
	if n < 1 {
		n = 1
	}
	return p.delay(n, spread(seed, n))
}

// delay is Delay with the jitter at this part of its range, from 0 to 1.
func (p Policy) delay(n int, part float64) time.Duration {
	d := float64(p.FirstDelay) * math.Pow(p.Growth, float64(n-1)) * (1 + p.Jitter*part)
	if d > float64(p.LongestDelay) || math.IsInf(d, 1) {
		return p.LongestDelay
	}
	return time.Duration(d)
}

// spread maps seed and n to [0, 1).
func spread(seed string, n int) float64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%s/%d", seed, n)
	return float64(h.Sum64()>>11) / (1 << 53)
}

// Capabilities say what an accounting system lets us rely on. They come from its adapter and set floors that a policy
// can only raise.
type Capabilities struct {
	HonoursKeys      bool          `json:"honours_keys"`                // a repeat with the same idempotency key makes no second record
	KeyLifetime      time.Duration `json:"key_lifetime,omitempty"`      // how long a key is remembered from its first use; 0 with HonoursKeys: for ever
	Searchable       bool          `json:"searchable"`                  // records can be found by our reference, in every state
	SearchLag        time.Duration `json:"search_lag,omitempty"`        // how long a new record may stay invisible to the search
	Linger           time.Duration `json:"linger,omitempty"`            // how long a request may still be at work after we hung up
	Misses           int           `json:"misses,omitempty"`            // misses in a row that prove absence; at least 1
	UniqueReferences bool          `json:"unique_references,omitempty"` // the system refuses a second record with our reference
	MaxReference     int           `json:"max_reference,omitempty"`     // longest reference, in characters; 0: no limit
	MaxKey           int           `json:"max_key,omitempty"`           // longest idempotency key; 0: no limit
	PlainReference   bool          `json:"plain_reference,omitempty"`   // references must be in [A-Z0-9-]: the system trims, upper-cases or cannot escape
	Tolerance        int           `json:"tolerance,omitempty"`         // rounding difference of the total that still matches, in the currency's smallest units
}

// Rules are what Next and Gate need to know about an item's system at one moment: the policy that admins tuned, the
// system's capabilities and its look-first mode.
type Rules struct {
	Policy       Policy
	Capabilities Capabilities
	LookFirst    time.Time // nothing is sent without a lookup that began after this; zero: mode is off
	Identity     string    // the books that the system reached when it was connected; empty: not known
	NoSends      bool      // the system is paused, its breaker is open or its login is refused: only lookups begin
}

// Settle is how long after a send ended it counts as settled.
func (r Rules) Settle() time.Duration { return max(r.Policy.Settle, r.Capabilities.Linger) }

// SearchLag is how long a record may stay invisible.
func (r Rules) SearchLag() time.Duration { return max(r.Policy.SearchLag, r.Capabilities.SearchLag) }

// Misses is how many misses in a row prove absence.
func (r Rules) Misses() int { return max(r.Policy.Misses, r.Capabilities.Misses, 1) }

// Lease is how long a worker holds an attempt.
func (r Rules) Lease() time.Duration {
	return r.Policy.SendWindow + r.Policy.RequestTimeout + LeaseMargin
}

// KeyExpiry is when the key first used at first must be taken as forgotten; ok is false if it never expires or the
// system honours no keys.
func (r Rules) KeyExpiry(first time.Time) (t time.Time, ok bool) {
	c := r.Capabilities
	if !c.HonoursKeys || c.KeyLifetime == 0 || first.IsZero() {
		return time.Time{}, false
	}
	return first.Add(c.KeyLifetime - max(c.KeyLifetime/10, min(30*time.Second, c.KeyLifetime/2))), true
}

// keyLives reports whether the key first used at first is still honoured when a send that is claimed at begin is through:
// written, given up and, at the latest, no longer at work.
func (r Rules) keyLives(first, begin time.Time) bool {
	expiry, expires := r.KeyExpiry(first)
	return !expires || !begin.Add(r.Policy.SendWindow+r.Policy.RequestTimeout+r.Settle()).After(expiry)
}
