package work

import "time"

// replanned plans a waiting item's next call anew after its limits have changed, as they would have had it planned when
// the last call ended. It changes no status: what the new limits end is ended by the next claim, which is made due now.
// A time that the accounting system asked for, or a person, stays.
func replanned(it *Item, ev Replanned, r Rules, now time.Time) error {
	switch {
	case it.OpenAttempt != 0:
		return refuse(RefusedOpen) // its close plans
	case it.Attempts != ev.Attempts:
		return refuse(RefusedAttempt) // something happened since, under the new limits
	}
	was := *it
	if it.Status.Open() && !ev.Since.IsZero() {
		it.SettleBy = ev.Since.Add(r.Policy.SettleWithin)
	}
	if ev.Attempts > 0 && it.LookAsked == "" && !it.DueAt.IsZero() {
		replanCalls(it, ev, r, now)
	}
	const nearly = time.Second // what differs by less is the same plan
	if apart(was.DueAt, it.DueAt) < nearly && apart(was.SendAfter, it.SendAfter) < nearly && was.SettleBy.Equal(it.SettleBy) {
		return refuse(RefusedUnchanged)
	}
	return nil
}

func replanCalls(it *Item, ev Replanned, r Rules, now time.Time) {
	last, ended := ev.Last, ev.Last.EndedAt
	deferred := last.Outcome == Deferred || last.Finding == FindDeferred
	own := ev.Send.Outcome == Rejected || ev.Send.Outcome == NotSent || ev.Send.Outcome == Unknown // else the system, or nothing, set it
	if it.Status != Queued && !it.SendAfter.IsZero() && own {
		it.SendAfter = ev.Send.EndedAt.Add(r.Policy.Delay(max(it.SendsUsed, 1), it.seed()))
	}
	switch {
	case it.Status.Settled():
		if it.LastLook == LastLookOwed && it.LookupsUsed == 0 { // never earlier: what is at work is not known to be faster
			it.DueAt = maxTime(it.DueAt, lastLookAt(*it, r, ended))
		}
	case deferred:
	case it.Status == Failed:
		if it.SendsUsed >= r.Policy.Sends {
			it.DueAt = earlier(it.DueAt, now)
		} else if !it.SendAfter.IsZero() {
			it.DueAt = maxTime(it.SendAfter, ended)
		}
	case it.Status != Pending:
	case last.Kind == Send && last.Outcome == Unknown && r.Capabilities.Searchable:
		it.DueAt = maxTime(it.SettledAt(r), ended).Add(lookSpread(*it, last.Number, r.Policy))
	case last.Kind == Send && own && !r.Capabilities.Searchable:
		it.DueAt = maxTime(it.SettledAt(r), it.SendAfter)
	case last.Finding == NotFound:
		it.DueAt = maxTime(nextLook(*it, r), ended)
	case last.Finding == CouldNotTell && it.LookupsUsed >= r.Policy.Lookups:
		it.DueAt = earlier(it.DueAt, now)
	case last.Finding == CouldNotTell:
		it.DueAt = ended.Add(lookupWait(*it, r.Policy))
	}
}

func apart(a, b time.Time) time.Duration { return a.Sub(b).Abs() }

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}
