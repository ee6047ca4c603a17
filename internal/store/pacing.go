package store

import (
	"math"
	"time"
)

// The rate of a system over all servers is kept as one time on its row (the generic cell rate algorithm): when the next
// call would be due if calls came evenly. A quarter of a second's calls may come at once, so that a claim can take
// several.

func pacingStep(perSecond float64) time.Duration {
	return time.Duration(float64(time.Second) / perSecond)
}

// allowed is how many calls may begin at now.
func allowed(s lockedSystem, now time.Time) int {
	if s.PerSecond <= 0 {
		return math.MaxInt
	}
	step := pacingStep(s.PerSecond)
	burst := time.Duration(max(1, math.Floor(s.PerSecond/4))) * step
	ahead := max(s.paced.Sub(now), 0)
	return int(max(burst-ahead, 0) / step)
}

// advance is the system's time after n calls that begin at now.
func advance(s lockedSystem, now time.Time, n int) time.Time {
	from := now
	if s.paced.After(now) {
		from = s.paced
	}
	return from.Add(time.Duration(n) * pacingStep(s.PerSecond))
}
