package statedoc

import (
	"time"

	"onefold/internal/work"
)

// replans are what changed limits do to an item that waits: its times, never its status.
func (l *list) replans(status work.Status) {
	ended := Now.Add(-time.Minute)
	sent := func(o work.Outcome) work.Event {
		a := work.Attempt{Number: 1, Kind: work.Send, Outcome: o, EndedAt: ended}
		return work.Replanned{Attempts: 1, Last: a, Send: a, Since: ended}
	}
	if status == work.Queued {
		l.add(status, work.Replanned{Since: ended}, "never sent")
		l.add(status, work.Replanned{}, "nothing changes for it")
		return
	}
	l.add(status, sent(work.Rejected), "")
	switch status {
	case work.InProgress, work.Review:
		return
	case work.Failed:
		l.add(status, sent(work.Rejected), "send limit reached", sendLimit)
	case work.Pending:
		l.add(status, sent(work.Unknown), "lookup limit reached", func(it *work.Item, r *work.Rules) { it.LookupsUsed = r.Policy.Lookups })
	}
	l.add(status, work.Replanned{Attempts: 2}, "something happened since")
}
