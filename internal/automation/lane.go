package automation

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"onefold/internal/ledger"
	"onefold/internal/work"
)

// lane carries out the items of one system on this server.
type lane struct {
	*Engine
	id      string
	link    atomic.Pointer[link] // how the system is reached now; replaced by ready
	breaker breaker
	tally   tally

	mu      sync.Mutex // guards what follows, and ended
	readyAt time.Time  // when the system was last seen ready; zero: look again

	gone   chan struct{} // closed when the system was removed
	wakeup chan struct{}
	ended  map[work.EndedCall]bool // calls that are over, whose close is not known to be written
	closes chan closing

	from   time.Time // what was due before it this server has claimed; zero: not known. Of run alone
	looked time.Time // when a claim last looked through all that is due

	patience time.Duration // left to writeCloses once the server is to stop
}

// lookAll is how long claims may pass over what became due before the last one: an item may be recorded, or let go by another server, late.
const lookAll = time.Second

// task is one claimed attempt.
type task struct {
	picked   work.Picked // as claimed
	link     *link       // as it was when it was claimed
	deadline ledger.Deadline

	begun, claimed time.Time // when its claim began and was written
}

// closing is what a call brought back.
type closing struct {
	task  task
	event work.Event // SendClosed or FindClosed
}

func newLane(e *Engine, id string) *lane {
	return &lane{Engine: e, id: id, gone: make(chan struct{}), wakeup: make(chan struct{}, 1), closes: make(chan closing, 4*e.Batch),
		ended: map[work.EndedCall]bool{}, patience: closeStopped}
}

func (l *lane) signal() {
	select {
	case l.wakeup <- struct{}{}:
	default: // it is awake already
	}
}

func (l *lane) runOnce(ctx context.Context) (Stats, error) {
	var s Stats
	if ok, err := l.ready(ctx); err != nil || !ok {
		return s, err
	}
	tasks, _, err := l.claim(ctx, time.Time{})
	if err != nil || len(tasks) == 0 {
		return s, err
	}
	done := make([]closing, len(tasks))
	var wg sync.WaitGroup
	for i, t := range tasks {
		wg.Go(func() { done[i] = l.call(ctx, t) })
		if t.picked.Item.OpenKind == work.Send {
			s.Sent++
		} else {
			s.Looked++
		}
	}
	wg.Wait()
	s.Claimed = len(tasks)
	return s, errors.Join(l.close(ctx, done), l.judgeHealth(ctx, done))
}

// run claims and calls until ctx ends or the system is removed; then it waits for the calls on their way and writes down their answers.
func (l *lane) run(ctx context.Context) error {
	var calls sync.WaitGroup
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		l.writeCloses(context.WithoutCancel(ctx), ctx.Done())
	}()
	for ctx.Err() == nil && !l.isGone() {
		n, err := l.step(ctx, &calls)
		if err != nil && ctx.Err() == nil && !l.isGone() {
			l.Log.Error("no work could be claimed", "system", l.id, "error", err)
			l.pause(ctx, time.Second)
			continue
		}
		if n < l.Batch {
			l.pause(ctx, l.Poll)
		}
	}
	calls.Wait()
	close(l.closes)
	<-closed
	l.flushCalls(context.WithoutCancel(ctx), true)
	return nil
}

func (l *lane) isGone() bool {
	select {
	case <-l.gone:
		return true
	default:
		return false
	}
}

// step claims once and starts the calls; it returns how many.
func (l *lane) step(ctx context.Context, calls *sync.WaitGroup) (int, error) {
	if ok, err := l.readyLately(ctx); err != nil || !ok {
		return 0, err
	}
	if l.Now().Sub(l.looked) >= lookAll {
		l.from = time.Time{}
	}
	if l.from.IsZero() {
		l.looked = l.Now()
	}
	tasks, from, err := l.claim(ctx, l.from)
	if err != nil {
		return 0, err
	}
	l.from = from
	for _, t := range tasks {
		calls.Go(func() {
			c := l.call(context.WithoutCancel(ctx), t) // a stopping server lets its calls finish
			l.callEnded(t)
			l.closes <- c
			l.signal()
		})
	}
	return len(tasks), nil
}

// pause waits until there may be something to do.
func (l *lane) pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-l.gone:
	case <-l.wakeup:
	case <-t.C:
	}
}

// claim takes what is due since from, as much as the system's free slots and its rate allow. The attempts are opened in the same
// transaction; from here on each of them counts as sent until it is closed. Next is where the next claim may begin to look.
func (l *lane) claim(ctx context.Context, from time.Time) (tasks []task, next time.Time, err error) {
	begun := l.Now() // send-by counts from before the claim
	rules := map[int64]work.Rules{}
	stale := false
	pick := work.Pick{Due: &work.PickDue{SystemID: l.id, Node: l.Node, Limit: l.Batch, From: from, Ended: l.endedCalls()}}
	moves, err := l.Store.Change(ctx, pick, func(now time.Time, picked []work.Picked) ([]work.Move, error) {
		clear(rules)
		// A claim that had to wait for its turn would only spend tries: nothing could be sent in time.
		if stale = len(picked) > 0 && 2*l.Now().Sub(begun) > picked[0].Rules.Policy.SendWindow; stale {
			return nil, nil
		}
		next = time.Time{}
		if len(picked) > 0 {
			next = picked[0].Item.DueAt
		}
		for _, p := range picked {
			rules[p.Item.ID] = p.Rules
		}
		return decideAll(picked, now, func(p work.Picked) work.Event {
			return work.Claimed{Node: l.Node, SendBy: now.Add(sendWindow(p, now))}
		})
	})
	claimed := l.Now()
	if err != nil {
		l.Observer.Claimed(l.id, 0, claimed.Sub(begun), err)
		return nil, time.Time{}, err
	}
	if stale {
		l.signal() // again, with a fresh send-by
		return nil, time.Time{}, nil
	}
	reached := l.link.Load()
	tasks = make([]task, 0, len(moves))
	for _, m := range moves {
		if m.Op != work.OpenAttempt {
			continue // it went to a person, or waits
		}
		p := work.Picked{Item: m.Item, Rules: rules[m.Item.ID]}
		tasks = append(tasks, task{picked: p, link: reached, deadline: ledger.NewDeadline(begun, sendWindow(p, m.Item.OpenSince)), begun: begun, claimed: claimed})
	}
	l.Observer.Claimed(l.id, len(tasks), claimed.Sub(begun), nil)
	return tasks, next, nil
}

// sendWindow is the time in which a claimed send must have begun. Where the key opened the gate it never reaches beyond its
// life; a system that can be searched is sent to again after a lookup, however old the key is.
func sendWindow(p work.Picked, now time.Time) time.Duration {
	window := p.Rules.Policy.SendWindow
	if expiry, expires := p.Rules.KeyExpiry(p.Item.FirstSentAt); expires && len(p.Item.Unsettled) > 0 && !p.Rules.Capabilities.Searchable {
		window = min(window, expiry.Sub(now)-p.Rules.Policy.RequestTimeout)
	}
	return max(window, 0)
}
