package statedoc

import (
	"time"

	"onefold/internal/work"
)

func (l *list) newItem() {
	l.add("", work.Recorded{}, "up to the approval limit")
	l.add("", work.Recorded{}, "above the approval limit", func(it *work.Item, _ *work.Rules) { it.Invoice = invoice("900") })
	for _, status := range work.Statuses {
		l.add(status, work.Recorded{}, "")
	}
}

func (l *list) claims(status work.Status) {
	ev := work.Claimed{Node: "n1", SendBy: Now.Add(time.Second)}
	switch status {
	case work.Queued:
		l.add(status, ev, "gate open")
		l.add(status, ev, "not due", notDue)
		l.add(status, ev, "sends are paused", paused)
		l.add(status, ev, "look first", lookFirst)
		l.add(status, ev, "look first, cannot be searched", lookFirst, unsearchable)
		l.add(status, ev, "previous step not done", previousOpen)
		l.add(status, ev, "a check was asked for", lookAsked)
		l.add(status, ev, "a correction waits", proposed)
	case work.Failed:
		l.add(status, ev, "gate open")
		l.add(status, ev, "absent by lookup", unsettled, proven)
		l.add(status, ev, "the lookup is too old", unsettled, provenLongAgo)
		l.add(status, ev, "before its time", sendLater)
		l.add(status, ev, "send limit reached", sendLimit)
	case work.Pending:
		l.add(status, ev, "can be searched")
		l.add(status, ev, "sends are paused", paused)
		l.add(status, ev, "lookup limit reached", lookLimit)
		l.add(status, ev, "cannot be searched, no keys", unsearchable)
		l.add(status, ev, "cannot be searched, key alive", unsearchable, keys)
		l.add(status, ev, "cannot be searched, key alive, settling", unsearchable, keys, justSent)
		l.add(status, ev, "cannot be searched, key alive, send limit reached", unsearchable, keys, sendLimit)
		l.add(status, ev, "cannot be searched, key expired", unsearchable, keys, keyExpired)
	case work.InProgress:
		l.add(status, ev, "")
	case work.Review:
		l.add(status, ev, "a check was asked for", lookAsked)
		l.add(status, ev, "nothing asked for", due)
	default:
		l.add(status, ev, "last look owed", lookOwed)
		l.add(status, ev, "last look owed, lookup limit reached", lookOwed, lookLimit)
		l.add(status, ev, "nothing owed", due)
	}
}

func sendClosed(a work.Answer) work.Event {
	return work.SendClosed{Attempt: 1, Ended: Now, Answer: a}
}

func accepted(id string, m work.Match) work.Answer {
	return work.Answer{Outcome: work.Accepted, Record: work.Record{ID: id}, Match: m}
}

func (l *list) sends(status work.Status) {
	if status != work.InProgress {
		l.add(status, sendClosed(accepted("R1", work.MatchSame)), "")
		return
	}
	again := func(it *work.Item, _ *work.Rules) { // the second send; the first is still unknown
		opened(work.Send, work.Pending)(it, nil)
		it.OpenAttempt, it.Attempts, it.Unsettled = 1, 2, []int{2}
	}
	add := func(a work.Answer, when string, changes ...change) { l.add(status, sendClosed(a), when, changes...) }
	add(accepted("R1", work.MatchSame), "accepted, same")
	add(accepted("R1", work.MatchIDOnly), "accepted, id only")
	add(accepted("R1", work.MatchDifferent), "accepted, different")
	add(accepted("", work.MatchSame), "accepted without an id")
	add(accepted("R1", work.MatchSame), "accepted, a correction waits", proposed)
	add(work.Answer{Outcome: work.Accepted, Record: work.Record{ID: "R1"}, Match: work.MatchSame, Taken: true}, "accepted, the record belongs to another item")
	add(accepted("R2", work.MatchSame), "accepted, a late answer named another record", lateRecord)
	for _, o := range []work.Outcome{work.Rejected, work.NotSent} {
		a := work.Answer{Outcome: o}
		add(a, string(o))
		add(a, string(o)+", send limit reached", sendLimit)
		add(a, string(o)+", an earlier send is unknown", again)
		add(a, string(o)+", a correction waits", proposed)
		add(a, string(o)+", a late answer named a record", lateRecord)
	}
	final := work.Answer{Outcome: work.Rejected, Final: true}
	add(final, "rejected for good")
	add(final, "rejected for good, an earlier send is unknown, cannot be searched", again, unsearchable)
	for _, before := range []work.Status{work.Queued, work.Failed, work.Pending} {
		add(work.Answer{Outcome: work.Deferred}, "deferred, claimed from "+string(before), func(it *work.Item, _ *work.Rules) {
			opened(work.Send, before)(it, nil)
			it.OpenAttempt = 1
		})
	}
	add(work.Answer{Outcome: work.AlreadyExists}, "already_exists")
	add(work.Answer{Outcome: work.AlreadyExists}, "already_exists, cannot be searched", unsearchable)
	for _, a := range []work.Answer{{Outcome: work.Unknown}} {
		add(a, "unknown")
		add(a, "unknown, cannot be searched, no keys", unsearchable)
		add(a, "unknown, cannot be searched, key alive", unsearchable, keys)
		add(a, "unknown, cannot be searched, key alive, send limit reached", unsearchable, keys, sendLimit)
		add(a, "unknown, cannot be searched, key expired", unsearchable, keys, keyExpired)
		add(a, "unknown, cannot be searched, look first", unsearchable, keys, lookFirst)
	}
	add(work.Answer{Outcome: work.Unknown, Positive: true}, "unknown, but success was claimed, cannot be searched", unsearchable, keys)
	l.add(status, work.SendClosed{Attempt: 7, Ended: Now, Answer: accepted("R1", work.MatchSame)}, "of another attempt")
	l.add(status, sendClosed(accepted("R1", work.MatchSame)), "a lookup is open", opened(work.Find, work.Failed))
}

func (l *list) leases(status work.Status) {
	ev := work.LeaseExpired{}
	switch status {
	case work.InProgress:
		l.add(status, ev, "of a send")
		l.add(status, ev, "of a send, cannot be searched, no keys", unsearchable)
		l.add(status, ev, "of a send, cannot be searched, key alive", unsearchable, keys)
		l.add(status, ev, "of a lookup", opened(work.Find, work.Pending))
		l.add(status, ev, "of a lookup, lookup limit reached", opened(work.Find, work.Pending), lookLimit)
		l.add(status, ev, "of a lookup in review", opened(work.Find, work.Review))
		l.add(status, ev, "not yet", func(it *work.Item, _ *work.Rules) { it.LeaseUntil = Now.Add(time.Second) })
	case work.Confirmed, work.Resolved, work.Closed:
		l.add(status, ev, "of a last look", lookOwed, opened(work.Find, status))
		l.add(status, ev, "nothing open")
	default:
		l.add(status, ev, "")
	}
}
