package automation

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"onefold/internal/work"
)

// gather is how long a close waits for others to be written with it. Nothing waits for a close: the slot of a call that is
// over is free already.
const gather = 4 * time.Millisecond

// writeCloses writes what calls brought back, many at once if many came together.
func (l *lane) writeCloses(ctx context.Context, stopping <-chan struct{}) {
	for c := range l.closes {
		batch := []closing{c}
		gathered := time.After(gather)
	more:
		for len(batch) < l.Batch {
			select {
			case c, ok := <-l.closes:
				if !ok {
					break more
				}
				batch = append(batch, c)
			case <-gathered:
				break more
			}
		}
		l.closeSurely(ctx, stopping, batch)
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

const (
	closeTries   = 40               // that may fail though the database is there
	closeStopped = 45 * time.Second // of waiting for it in all, once the server is to stop: service managers give a minute
)

// closeSurely tries again for as long as the database is away: an answer must not be lost. If it takes longer than the lease,
// the sweep has closed the attempt meanwhile and this becomes a late answer. Nothing is claimed meanwhile, so not much waits.
func (l *lane) closeSurely(ctx context.Context, stopping <-chan struct{}, batch []closing) {
	wait := 50 * time.Millisecond
	for n, failed := 1, 0; ; n++ {
		began := l.Now()
		err := l.close(ctx, batch)
		if err == nil {
			return
		}
		l.Log.Error("answers could not be written", "system", l.id, "count", len(batch), "try", n, "error", err)
		if !DatabaseAway(err) {
			failed++
		}
		select {
		case <-stopping:
			l.patience -= wait + l.Now().Sub(began) // to be refused takes time too
		default:
		}
		if failed == closeTries || l.patience <= 0 {
			return // the sweep will count them as unknown, and a lookup will settle them
		}
		l.Sleep(wait)
		wait = min(2*wait, 5*time.Second)
	}
}

// DatabaseAway reports whether err says that the database cannot be reached or takes nothing for now.
func DatabaseAway(err error) bool {
	var a interface{ DatabaseAway() bool }
	return errors.As(err, &a) && a.DatabaseAway()
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
		moves, err := l.Store.Change(ctx, work.Pick{InHand: inHand}, func(now time.Time, picked []work.Picked) ([]work.Move, error) {
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
			if err == nil {
				l.tellClosed(byItem, moves)
			}
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
		l.Log.Error("a result belongs to an attempt that the database does not know", "system", it.SystemID, "item", it.ID, "key", it.BusinessKey,
			"attempt", it.OpenAttempt)
		return nil
	}
	moves, err := l.Store.Change(ctx, work.Pick{IDs: []int64{it.ID}}, func(now time.Time, picked []work.Picked) ([]work.Move, error) {
		return decideAll(picked, now, func(work.Picked) work.Event { return event(now) })
	})
	for i := range moves {
		l.Observer.Late(&moves[i])
	}
	return err
}
