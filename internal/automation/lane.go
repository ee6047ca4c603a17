package automation

import (
	"context"
	"errors"
	"maps"
	"slices"
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
	sys     ledger.System
	breaker breaker
	control control

	mu      sync.Mutex // guards what follows, and ended
	readyAt time.Time  // when the system was last seen ready; zero: look again

	wakeup  chan struct{}
	running atomic.Int64            // calls on their way
	ended   map[work.EndedCall]bool // calls that are over, whose close is not known to be written
	closes  chan closing
}

// task is one claimed attempt.
type task struct {
	picked   work.Picked // as claimed
	deadline ledger.Deadline
}

// closing is what a call brought back.
type closing struct {
	task  task
	event work.Event // SendClosed or FindClosed
}

func newLane(e *Engine, id string, sys ledger.System) *lane {
	return &lane{Engine: e, id: id, sys: sys, wakeup: make(chan struct{}, 1), closes: make(chan closing, 4*e.Batch),
		ended: map[work.EndedCall]bool{}}
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
	tasks, err := l.claim(ctx)
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

// run claims and calls until ctx ends; then it waits for the calls on their way and writes down their answers.
func (l *lane) run(ctx context.Context) error {
	var calls sync.WaitGroup
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		l.writeCloses(context.WithoutCancel(ctx))
	}()
	for ctx.Err() == nil {
		n, err := l.step(ctx, &calls)
		if err != nil && ctx.Err() == nil {
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
	return nil
}

// step claims once and starts the calls; it returns how many.
func (l *lane) step(ctx context.Context, calls *sync.WaitGroup) (int, error) {
	if ok, err := l.readyLately(ctx); err != nil || !ok {
		return 0, err
	}
	tasks, err := l.claim(ctx)
	if err != nil {
		return 0, err
	}
	l.running.Add(int64(len(tasks)))
	for _, t := range tasks {
		calls.Go(func() {
			c := l.call(context.WithoutCancel(ctx), t) // a stopping server lets its calls finish
			l.running.Add(-1)
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
	case <-l.wakeup:
	case <-t.C:
	}
}

// claim takes what is due, as much as the system's free slots and its rate allow. The attempts are opened in the same
// transaction; from here on each of them counts as sent until it is closed.
func (l *lane) claim(ctx context.Context) ([]task, error) {
	begun := l.Now() // send-by counts from before the claim
	rules := map[int64]work.Rules{}
	stale := false
	pick := work.Pick{Due: &work.PickDue{SystemID: l.id, Node: l.Node, Limit: l.Batch, Ended: l.endedCalls()}}
	moves, err := l.Store.Change(ctx, pick, func(now time.Time, picked []work.Picked) ([]work.Move, error) {
		clear(rules)
		// A claim that had to wait for its turn would only spend tries: nothing could be sent in time.
		if stale = len(picked) > 0 && 2*l.Now().Sub(begun) > picked[0].Rules.Policy.SendWindow; stale {
			return nil, nil
		}
		for _, p := range picked {
			rules[p.Item.ID] = p.Rules
		}
		return decideAll(picked, now, func(p work.Picked) work.Event {
			return work.Claimed{Node: l.Node, SendBy: now.Add(sendWindow(p, now))}
		})
	})
	if err != nil {
		return nil, err
	}
	if stale {
		l.signal() // again, with a fresh send-by
		return nil, nil
	}
	tasks := make([]task, 0, len(moves))
	for _, m := range moves {
		if m.Op != work.OpenAttempt {
			continue // it went to a person, or waits
		}
		p := work.Picked{Item: m.Item, Rules: rules[m.Item.ID]}
		tasks = append(tasks, task{picked: p, deadline: ledger.NewDeadline(begun, sendWindow(p, m.Item.OpenSince))})
	}
	return tasks, nil
}

// sendWindow is the time in which a claimed send must have begun; it never reaches beyond the life of its key.
func sendWindow(p work.Picked, now time.Time) time.Duration {
	window := p.Rules.Policy.SendWindow
	if expiry, expires := p.Rules.KeyExpiry(p.Item.FirstSentAt); expires && len(p.Item.Unsettled) > 0 {
		window = min(window, expiry.Sub(now)-p.Rules.Policy.RequestTimeout)
	}
	return max(window, 0)
}

// writeCloses writes what calls brought back, many at once if many came together.
func (l *lane) writeCloses(ctx context.Context) {
	for c := range l.closes {
		batch := []closing{c}
	more:
		for len(batch) < l.Batch {
			select {
			case c, ok := <-l.closes:
				if !ok {
					break more
				}
				batch = append(batch, c)
			default:
				break more
			}
		}
		l.closeSurely(ctx, batch)
		l.closesWritten(batch)
		if err := l.judgeHealth(ctx, batch); err != nil {
			l.Log.Error("the system's state could not be written", "system", l.id, "error", err)
		}
		l.signal()
	}
}

func (t task) ended() work.EndedCall {
	return work.EndedCall{ItemID: t.picked.Item.ID, Attempt: t.picked.Item.OpenAttempt}
}

func (l *lane) callEnded(t task) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended[t.ended()] = true
}

func (l *lane) endedCalls() []work.EndedCall {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Collect(maps.Keys(l.ended))
}

func (l *lane) closesWritten(batch []closing) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range batch {
		delete(l.ended, c.task.ended())
	}
}

// closeSurely tries again while the database is away: an answer must not be lost. If it takes longer than the lease,
// the sweep has closed the attempt meanwhile and this becomes a late answer.
func (l *lane) closeSurely(ctx context.Context, batch []closing) {
	const tries = 40
	wait := 50 * time.Millisecond
	for n := 1; ; n++ {
		err := l.close(ctx, batch)
		if err == nil {
			return
		}
		l.Log.Error("answers could not be written", "system", l.id, "count", len(batch), "try", n, "error", err)
		if n == tries {
			return // the sweep will count them as unknown, and a lookup will settle them
		}
		time.Sleep(wait)
		wait = min(2*wait, 5*time.Second)
	}
}

// close writes the ends of attempts.
func (l *lane) close(ctx context.Context, batch []closing) error {
	byItem := make(map[int64]*closing, len(batch))
	inHand := make([]work.Picked, 0, len(batch))
	for i := range batch {
		byItem[batch[i].task.picked.Item.ID] = &batch[i]
		inHand = append(inHand, batch[i].task.picked)
	}
	for range len(batch) + 1 {
		var late []*closing
		_, err := l.Store.Change(ctx, work.Pick{InHand: inHand}, func(now time.Time, picked []work.Picked) ([]work.Move, error) {
			late = late[:0]
			moves := make([]work.Move, 0, len(picked))
			for _, p := range picked {
				c := byItem[p.Item.ID]
				m, err := decideClose(p, *c, now)
				var refusal *work.Refusal
				switch {
				case errors.As(err, &refusal):
					late = append(late, c) // its attempt was given up meanwhile
				case err != nil:
					return nil, err
				default:
					moves = append(moves, m)
				}
			}
			return moves, nil
		})
		var taken RecordTaken
		if !errors.As(err, &taken) {
			for _, c := range late {
				err = errors.Join(err, l.keepLate(ctx, *c))
			}
			return err
		}
		// The record belongs to another item: decide again, knowing that.
		c := byItem[taken.TakenBy()]
		if c == nil {
			return err
		}
		c.event = markTaken(c.event)
	}
	return errors.New("records kept being taken by other items")
}

// RecordTaken is the store's error when an item would be confirmed by a record that another item owns.
type RecordTaken interface {
	error
	TakenBy() int64 // the id of the item that cannot have it
}

func markTaken(ev work.Event) work.Event {
	switch ev := ev.(type) {
	case work.SendClosed:
		ev.Answer.Taken = true
		return ev
	case work.FindClosed:
		ev.Lookup.Taken = true
		return ev
	}
	return ev
}

// decideClose closes the attempt. It is refused if another attempt is open, or one with the same number in a database that
// forgot ours.
func decideClose(p work.Picked, c closing, now time.Time) (work.Move, error) {
	if !p.Item.OpenSince.Equal(c.task.picked.Item.OpenSince) {
		return work.Move{}, &work.Refusal{Code: work.RefusedAttempt}
	}
	ev := c.event
	switch e := ev.(type) {
	case work.SendClosed:
		e.Ended = now
		ev = e
	case work.FindClosed:
		e.Started, e.Ended = p.Item.OpenSince, now
		ev = e
	}
	return work.Decide(p.Item, ev, p.Rules, now)
}

// keepLate keeps what a call brought back whose attempt had been given up.
func (l *lane) keepLate(ctx context.Context, c closing) error {
	it := c.task.picked.Item
	switch e := c.event.(type) {
	case work.SendClosed:
		return l.late(ctx, it, func(now time.Time) work.Event {
			return work.LateAnswer{Attempt: e.Attempt, Ended: now, Answer: e.Answer}
		})
	case work.FindClosed:
		return l.late(ctx, it, func(now time.Time) work.Event {
			return work.LateLookup{Attempt: e.Attempt, Ended: now, Lookup: e.Lookup}
		})
	}
	return nil
}

// late writes a late result beside its attempt. If the database does not know the attempt (an older copy was put back) the
// result is dropped: its number may belong to another attempt now, and everything is looked up before it is sent.
func (l *lane) late(ctx context.Context, it work.Item, event func(now time.Time) work.Event) error {
	rows, err := l.Store.Attempts(ctx, it.ID, it.OpenAttempt+1, 1)
	if err != nil {
		return err
	}
	if len(rows) != 1 || rows[0].Number != it.OpenAttempt || !rows[0].StartedAt.Equal(it.OpenSince) {
		l.Log.Error("a result belongs to an attempt that the database does not know", "item", it.ID, "attempt", it.OpenAttempt)
		return nil
	}
	_, err = l.Store.Change(ctx, work.Pick{IDs: []int64{it.ID}}, func(now time.Time, picked []work.Picked) ([]work.Move, error) {
		return decideAll(picked, now, func(work.Picked) work.Event { return event(now) })
	})
	return err
}
