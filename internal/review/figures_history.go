package review

import "onefold/internal/work"

// NeedsHistory reports whether a call that ended may have confirmed its item or settled what an earlier send had left open:
// then what was before it must be known. Next says that it is so only if the send before it had an unknown outcome. Most
// calls of a long outage are looks that learned nothing, and sends that were put off: they need nothing.
func NeedsHistory(a work.Attempt) (always, next bool) {
	switch {
	case a.Number <= 1:
		return false, false
	case a.LateFor != 0, a.Finding == work.FoundMatching, a.Outcome == work.Accepted:
		return true, false
	}
	return false, a.Kind == work.Send
}

// NeedsHistory reports the same of a decision.
func (d Decision) NeedsHistory() bool {
	return d.To == work.Resolved || d.To == work.Closed || d.What == (work.Reported{}).Name()
}

// Telling tells which attempts of items figures depend on, in the order of items and numbers. However often an item was
// looked for or put off, these are few. The zero Telling is ready.
type Telling struct {
	item            int64
	sends           int
	unknown, missed bool // of the last send, and since it
}

// Keep reports whether the next attempt is one of them.
func (t *Telling) Keep(a work.Attempt) bool {
	if a.ItemID != t.item {
		*t = Telling{item: a.ItemID}
	}
	switch {
	case a.LateFor != 0 || a.Finding == work.FoundMatching:
		return true
	case a.Kind == work.Send:
		keep := a.Outcome != work.Deferred || t.unknown || t.sends < mostSends
		t.sends, t.unknown, t.missed = t.sends+1, a.Outcome == work.Unknown, false
		return keep
	case a.Finding == work.NotFound && !t.missed:
		t.missed = true
		return true
	}
	return false
}
