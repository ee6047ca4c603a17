package automation

import (
	"context"
	"fmt"
	"sync"
	"time"

	"onefold/internal/ledger"
	"onefold/internal/work"
)

// breaker counts calls in a row that did not reach the accounting system. Its state is on the system's row, so that all
// servers stop together and pages can show it. A library does not fit: the clock is injected, and the probe must be a
// read, never the next send.
type breaker struct {
	mu    sync.Mutex
	inRow int
	opens int // how often it opened without a success in between
}

// count takes in one call and reports whether the breaker must open under the policy.
func (b *breaker) count(unreached bool, p work.Policy) (open bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !unreached {
		b.inRow, b.opens = 0, 0
		return false
	}
	b.inRow++
	after, _, _ := p.Breaker()
	return b.inRow >= after
}

// wait is how long the breaker stays open this time.
func (b *breaker) wait(p work.Policy) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	_, pause, longest := p.Breaker()
	d := pause << min(b.opens, 16) // a day at most, so it cannot overflow
	b.opens++
	b.inRow = 0
	return min(d, longest)
}

func (b *breaker) reset() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.inRow, b.opens = 0, 0
}

// judgeHealth looks at what calls brought back: unreached in a row open the breaker, a refused login stops the system.
func (l *lane) judgeHealth(ctx context.Context, done []closing) error {
	open, login, why := false, "", ""
	var policy work.Policy // that of the newest claim: a change holds from the next call on
	for _, c := range done {
		var x work.Exchange
		unreached, answered := false, true
		l.tally.count(c.event)
		switch ev := c.event.(type) {
		case work.SendClosed:
			x = ev.Answer.Exchange
			unreached = ev.Answer.Unreached
			answered = x.HTTPStatus != 0
			if ev.Answer.Login {
				login = orText(x.Error, "the login was refused")
			}
		case work.FindClosed:
			x = ev.Lookup.Exchange
			unreached = ev.Lookup.Unreached
			answered = x.HTTPStatus != 0
			if ev.Lookup.Login {
				login = orText(x.Error, "the login was refused")
			}
		}
		if unreached || answered {
			policy = c.task.picked.Rules.Policy
			if l.breaker.count(unreached, policy) {
				open, why = true, x.Error
			}
		}
	}
	if login != "" || open {
		defer l.lookAgainWhetherReady()
	}
	if login != "" {
		l.Log.Error("the accounting system refused the login", "system", l.id)
		return l.Store.SetLogin(ctx, l.id, login)
	}
	if !open {
		return nil
	}
	now, err := l.Store.Now(ctx)
	if err != nil {
		return err
	}
	wait := l.breaker.wait(policy)
	l.Log.Warn("the accounting system is not reached; calls stop until it answers", "system", l.id, "for", wait)
	return l.Store.SetBreaker(ctx, l.id, now.Add(wait), orText(why, "not reached"))
}

func (l *lane) lookAgainWhetherReady() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.readyAt = time.Time{}
}

// readyLately is ready, asked at most once in the poll interval: the claim itself reads pause and breaker again.
func (l *lane) readyLately(ctx context.Context) (bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.Now()
	if !l.readyAt.IsZero() && now.Sub(l.readyAt) < l.Poll {
		return true, nil
	}
	ok, err := l.ready(ctx)
	if l.readyAt = now; err != nil || !ok {
		l.readyAt = time.Time{}
	}
	return ok, err
}

// ready reports whether calls may begin. If the system was stopped and its time has come, or if it is reached in another
// way than before, it is probed by a read: nothing is sent before the books are known to be the right ones.
func (l *lane) ready(ctx context.Context) (bool, error) {
	l.flushCalls(ctx, false)
	s, err := l.Store.System(ctx, l.id)
	if err != nil {
		return false, err
	}
	reached, err := l.reach(ctx, s)
	if err != nil || reached.sys == nil {
		return false, err
	}
	stopped := !s.BreakerUntil.IsZero() || s.LoginProblem != ""
	if !stopped && s.Identity != "" && reached.checked.Load() {
		return true, nil
	}
	now, err := l.Store.Now(ctx)
	if err != nil {
		return false, err
	}
	if now.Before(s.BreakerUntil) {
		return false, nil
	}
	probe, cancel := context.WithTimeout(ctx, s.Policy.RequestTimeout)
	defer cancel()
	identity, err := ledger.DoIdentity(probe, reached.sys)
	if err == nil && s.Identity != "" && identity != s.Identity {
		err = fmt.Errorf("the address leads to the books %q instead of %q", identity, s.Identity)
	}
	if err != nil {
		l.Log.Warn("the accounting system still does not answer", "system", l.id, "error", err)
		return false, l.Store.SetBreaker(ctx, l.id, now.Add(l.breaker.wait(s.Policy)), err.Error())
	}
	reached.checked.Store(true)
	l.breaker.reset()
	if s.Identity == "" {
		if err := l.Store.SetIdentity(ctx, l.id, identity); err != nil {
			return false, err
		}
	}
	if s.LoginProblem != "" {
		if err := l.Store.SetLogin(ctx, l.id, ""); err != nil {
			return false, err
		}
	}
	if !s.BreakerUntil.IsZero() {
		l.Log.Info("the accounting system answers again", "system", l.id)
		return true, l.Store.SetBreaker(ctx, l.id, time.Time{}, "")
	}
	return true, nil
}

func orText(s, other string) string {
	if s == "" {
		return other
	}
	return s
}
