package work

import (
	"math"
	"time"
)

// Bound is between what a limit may be, both ends included, and why: codes that pages put into words.
type Bound struct {
	Min, Max       float64 // durations in nanoseconds
	WhyMin, WhyMax string
}

const week = 7 * 24 * time.Hour

// Bound returns the bounds of a limit where the others are as they are now. An empty automation is the system itself.
func (s System) Bound(name, automation string) Bound {
	r := s.RulesFor(automation)
	c := r.Capabilities
	_, pause, _ := r.Policy.Breaker()
	switch name {
	case "sends":
		return Bound{1, 20, "one", "sends"}
	case "first_delay":
		return Bound{float64(time.Second), float64(week), "hammer", "week"}
	case "growth":
		return Bound{1.1, 10, "grows", "growth"}
	case "longest_delay":
		return Bound{float64(r.Policy.FirstDelay), float64(week), "first_delay", "week"}
	case "jitter":
		return Bound{0, math.Min(1, r.Policy.Growth-1), "none", "jitter"}
	case "request_timeout":
		return Bound{float64(time.Second), float64(10 * time.Minute), "answer", "held"}
	case "lookups":
		return Bound{float64(r.Misses() + 1), 100, "lookups", "looks"}
	case "settle":
		return Bound{float64(c.Linger), float64(24 * time.Hour), orElse(map[bool]string{true: "linger"}[c.Linger > 0], "none"), "day"}
	case "search_lag":
		return Bound{float64(c.SearchLag), float64(24 * time.Hour), orElse(map[bool]string{true: "lag"}[c.SearchLag > 0], "none"), "day"}
	case "misses":
		return Bound{float64(max(c.Misses, 1)), 10, orElse(map[bool]string{true: "misses"}[c.Misses > 1], "one"), "enough"}
	case "settle_within":
		return Bound{float64(time.Minute), float64(30 * 24 * time.Hour), "alerts", "month"}
	case "in_flight":
		return Bound{1, 10000, "one", "sockets"}
	case "per_second":
		return Bound{0, 10000, "unlimited", "sockets"}
	case "breaker_after":
		return Bound{1, 100, "one", "trouble"}
	case "breaker_pause":
		return Bound{float64(time.Second), float64(time.Hour), "hammer", "probe"}
	case "breaker_longest":
		return Bound{float64(pause), float64(24 * time.Hour), "breaker_pause", "probe"}
	}
	return Bound{}
}
