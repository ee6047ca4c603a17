package ledger

import "time"

// Deadline is the last moment at which a byte of a write may be handed over, by two clocks, whichever passes first: the
// wall clock goes on while a machine sleeps, the monotonic clock does not jump when the wall clock is set.
type Deadline struct {
	start  time.Time // with monotonic reading
	window time.Duration
}

// NewDeadline ends window after start. Start must come from time.Now on this machine (or a test's clock) and be taken
// before the claim began.
func NewDeadline(start time.Time, window time.Duration) Deadline { return Deadline{start, window} }

// Passed reports whether the deadline has passed at now. A zero Deadline never passes.
func (d Deadline) Passed(now time.Time) bool {
	if d.start.IsZero() {
		return false
	}
	return now.Sub(d.start) >= d.window || now.Round(0).Sub(d.start.Round(0)) >= d.window
}
