package work

import "time"

// Past is what happened to one item by itself, until a person did something with it or now.
type Past struct {
	ID         int64
	Automation string
	Reference  string
	Step       string
	Later      bool      // not the first step of its document: no approval limit applies
	Invoice    Invoice   // the total is enough
	Calls      []Attempt // closed ones in order, all by the automation
}

// Replayed is how an item would have gone under some limits if the same answers had come in the same order.
type Replayed struct {
	Reason Reason        // why a person would have got it; empty: nobody
	After  time.Duration // how long after it was recorded
	Open   bool          // more calls would have been made than there were: nobody can say what they had brought
}

// Replay goes through an item's past again, with Next and under these rules. Sends get the answers that sends got, lookups
// those that lookups got, and each takes as long as it took.
func Replay(p Past, r Rules) Replayed {
	r.LookFirst, r.NoSends = time.Time{}, false
	start := time.Unix(0, 0).UTC()
	it := Item{ID: p.ID, Reference: p.Reference, Step: p.Step, Steps: []string{p.Step}, Invoice: p.Invoice, RecordedAt: start}
	if p.Later {
		it.PreviousID, it.PreviousStatus = 1, Confirmed
	}
	now := start
	it, err := Next(it, Recorded{}, r, now)
	sends, looks := byKind(p.Calls)
	for err == nil && !it.Status.Settled() {
		if it.Status == Review {
			return Replayed{Reason: it.Reason, After: now.Sub(start)}
		}
		now = maxTime(now, it.DueAt)
		if it, err = Next(it, Claimed{SendBy: now.Add(time.Minute)}, r, now); err != nil || it.OpenAttempt == 0 {
			continue
		}
		left := &sends
		if it.OpenKind == Find {
			left = &looks
		}
		if len(*left) == 0 {
			return Replayed{Open: true, After: now.Sub(start)}
		}
		call := (*left)[0]
		*left = (*left)[1:]
		begun := now
		now = now.Add(max(call.took, 0))
		it, err = Next(it, call.event(it.OpenAttempt, begun, now), r, now)
	}
	return Replayed{After: now.Sub(start), Open: err != nil}
}

// pastCall is one call with how long it took, and how long it was until the next one.
type pastCall struct {
	Attempt
	took, until time.Duration
}

func byKind(calls []Attempt) (sends, looks []pastCall) {
	for i, a := range calls {
		c := pastCall{Attempt: a, took: a.EndedAt.Sub(a.StartedAt)}
		if i+1 < len(calls) {
			c.until = max(calls[i+1].StartedAt.Sub(a.EndedAt), 0)
		}
		if a.Kind == Send {
			sends = append(sends, c)
		} else {
			looks = append(looks, c)
		}
	}
	return sends, looks
}

// event is what the call brought back. What was asked for by a deferral is on record as the time until the next call.
func (c pastCall) event(number int, begun, ended time.Time) Event {
	rec := Record{ID: orElse(c.ExternalID, "there"), Number: c.ExternalNo}
	if c.Kind == Send {
		return SendClosed{number, ended, Answer{Outcome: c.Outcome, Record: rec, Match: MatchSame, RetryAfter: c.until}}
	}
	return FindClosed{number, begun, ended, Lookup{Finding: c.Finding, Record: rec, Count: 1, RetryAfter: c.until}}
}
