package work_test

import (
	"slices"
	"time"

	"pgregory.net/rapid"

	"onefold/internal/work"
)

// looked reports whether an admin may end look-first: what the database knows of its items is true again, but for those that
// could not be looked for. A person has these, and nobody has to deal with them first. What somebody saw before look-first
// began is too old by then to prove anything.
func (w *world) looked() bool {
	calm := w.rules.LookFirst.Add(max(w.rules.Lease()+w.rules.Settle(), work.ProofLife+1))
	if w.rules.LookFirst.IsZero() || w.now.Before(calm) || len(w.calls) > 0 {
		return false
	}
	for _, q := range w.out.requests {
		known := slices.ContainsFunc(w.db.state.items, func(it work.Item) bool { return it.Step == q.step && it.Reference == q.ref })
		if !known && !w.out.absent(q.step, q.ref) {
			return false
		}
	}
	return !slices.ContainsFunc(w.db.state.items, func(it work.Item) bool {
		return it.Positive == work.NoEvidence && !w.out.absent(it.Step, it.Reference) && !unlooked(it)
	})
}

func unlooked(it work.Item) bool {
	return it.Status == work.Review && it.Reason == work.ReasonCannotLookUp && it.AbsentAt.IsZero() && it.Attempts == it.Sends
}

func (w *world) endLookFirst(*rapid.T) {
	w.rules.LookFirst = time.Time{}
	for _, it := range w.db.state.items {
		if unlooked(it) {
			w.seen.unlooked++
		}
	}
}
