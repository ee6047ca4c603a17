package automation

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"onefold/internal/ledger"
	"onefold/internal/work"
)

// link is how a lane reaches its system: the adapter as it was made from the settings and credentials of one moment.
type link struct {
	made    string        // what it was made from
	sys     ledger.System // nil: it could not be made
	at      time.Time     // when it was made or tried
	checked atomic.Bool   // the books that it reaches were seen to be the right ones
	control control
}

// tryLinkAgain is how long a connection that could not be made is left alone, unless its settings change.
const tryLinkAgain = 10 * time.Second

// reach returns the link to the system as it is set up now. If address, settings or credentials have changed since the
// last one, by whatever server, the adapter is made anew; calls on their way end as they began. If it cannot be made the
// link has no adapter, and the system's owner is told.
func (l *lane) reach(ctx context.Context, s work.System) (*link, error) {
	made, now := madeFrom(s), l.Now()
	was := l.link.Load()
	if was != nil && was.made == made && (was.sys != nil || now.Sub(was.at) < tryLinkAgain) {
		return was, nil
	}
	is := &link{made: made, at: now}
	sys, err := l.Connect(s)
	if err == nil {
		is.sys = sys
	}
	l.link.Store(is)
	if was != nil && was.sys != nil && was.sys != is.sys {
		closeAdapter(was.sys)
	}
	if err == nil {
		if was != nil {
			l.Log.Info("the accounting system is connected anew", "system", l.id)
		}
		return is, nil
	}
	if was != nil && was.made == made {
		return is, nil // it was told already
	}
	l.Log.Error("the accounting system cannot be connected", "system", l.id, "error", err)
	if s.LoginProblem != "" {
		return is, nil
	}
	return is, l.Store.SetLogin(ctx, l.id, err.Error())
}

// tally counts what calls brought back until it is written.
type tally struct {
	mu    sync.Mutex
	n     work.Calls
	since time.Time // when it was written last
}

// writeCallsEach is how often the numbers of calls are written: they are for people.
const writeCallsEach = 2 * time.Second

func (t *tally) count(ev work.Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.n.All++
	switch ev := ev.(type) {
	case work.SendClosed:
		switch ev.Answer.Outcome {
		case work.Rejected:
			t.n.Refused++
		case work.Unknown:
			t.n.Unanswered++
		case work.NotSent:
			t.n.NotSent++
		case work.Deferred:
			switch {
			case ev.Answer.Unreached && ev.Answer.Exchange.HTTPStatus == 0: // not even the login was to be had
				t.n.NotSent++
			case ev.Answer.Login || ev.Answer.Unreached:
				t.n.Unanswered++
			}
		}
	case work.FindClosed:
		if ev.Lookup.Finding == work.CouldNotTell || ev.Lookup.Login || ev.Lookup.Unreached {
			t.n.Unanswered++
		}
	}
}

// take returns what is to be written now, which is nothing most of the time.
func (t *tally) take(now time.Time, all bool) work.Calls {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.n.All == 0 || !all && now.Sub(t.since) < writeCallsEach {
		return work.Calls{}
	}
	n := t.n
	t.n, t.since = work.Calls{}, now
	return n
}

// flushCalls writes the numbers of calls. They are not worth stopping for.
func (l *lane) flushCalls(ctx context.Context, all bool) {
	n := l.tally.take(l.Now(), all)
	if n.All == 0 {
		return
	}
	if err := l.Store.AddCalls(ctx, l.id, n); err != nil && ctx.Err() == nil {
		l.Log.Warn("the numbers of calls could not be written", "system", l.id, "error", err)
	}
}
