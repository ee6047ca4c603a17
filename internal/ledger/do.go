package ledger

import (
	"context"
	"errors"
	"time"

	"onefold/internal/work"
)

// grace is how long an adapter may take to return after its context has ended.
const grace = 250 * time.Millisecond

// DoSend makes one send and returns its judged answer, never later than the end of ctx (and a short grace), whatever the
// adapter does: a panic, and an adapter that ignores its context, are unknown. What a stray adapter brings later goes to
// late, if that is not nil, on a goroutine of its own.
func DoSend(ctx context.Context, sys System, req Request, late func(work.Answer)) work.Answer {
	if ctx.Err() != nil {
		return work.Answer{Outcome: work.NotSent, Exchange: work.Exchange{Error: "not sent in time, nothing was sent"}}
	}
	broken := work.Answer{Outcome: work.Unknown, Exchange: work.Exchange{Error: "the connection to the accounting system failed inside, outcome unknown"}}
	lost := work.Answer{Outcome: work.Unknown, Exchange: work.Exchange{Error: "the accounting system did not answer in time, outcome unknown"}}
	return guard(ctx, broken, lost, func() work.Answer {
		return JudgeAnswer(req.Invoice, req.Reference, sys.Send(ctx, req), sys.Capabilities())
	}, late)
}

// DoFind makes one lookup and returns its judged result, with the same guarantees as DoSend. A result that comes too late
// is dropped: the next lookup will see the same.
func DoFind(ctx context.Context, sys System, q Query, asked work.Invoice) work.Lookup {
	broken := work.Lookup{Finding: work.CouldNotTell, Exchange: work.Exchange{Error: "the connection to the accounting system failed inside, could not check"}}
	lost := work.Lookup{Finding: work.CouldNotTell, Unreached: true, Exchange: work.Exchange{Error: "the accounting system did not answer in time, could not check"}}
	return guard(ctx, broken, lost, func() work.Lookup {
		return Judge(asked, q.Reference, sys.Find(ctx, q), sys.Capabilities())
	}, nil)
}

// DoIdentity reads the identity of the books with the same guarantees.
func DoIdentity(ctx context.Context, sys System) (string, error) {
	type result struct {
		identity string
		err      error
	}
	broken := result{err: errors.New("the connection to the accounting system failed inside")}
	lost := result{err: errors.New("the accounting system did not answer in time")}
	r := guard(ctx, broken, lost, func() result {
		id, err := sys.Identity(ctx)
		if err == nil && Short(id, maxField) == "" {
			err = errors.New("the accounting system did not tell whose books it keeps")
		}
		return result{Short(id, maxField), err}
	}, nil)
	return r.identity, r.err
}

// guard runs call and returns its result; broken if it panics, lost if it outlives ctx.
func guard[T any](ctx context.Context, broken, lost T, call func() T, late func(T)) T {
	done := make(chan T, 1)
	go func() {
		result := broken
		defer func() {
			_ = recover() // the value may hold anything, a secret too: it is not kept
			done <- result
		}()
		result = call()
	}()
	select {
	case result := <-done:
		return result
	case <-ctx.Done():
	}
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case result := <-done:
		return result
	case <-timer.C:
	}
	if late != nil {
		go func() { late(<-done) }()
	}
	return lost
}
