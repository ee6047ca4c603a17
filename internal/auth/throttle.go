package auth

import (
	"sync"
	"time"
)

// throttle slows down guessing: after a few failures from one address for one login each further one doubles the wait.
// It is bound to both, so that nobody can lock a colleague out from elsewhere; an address that tries many logins is
// slowed down by itself.
type throttle struct {
	mu    sync.Mutex
	tries map[string]tries
}

type tries struct {
	failed int
	until  time.Time // no sign-in before
	forget time.Time
}

const (
	freeTries     = 5  // for one login from one address
	freeAddress   = 30 // for any login from one address
	firstWait     = 5 * time.Second
	longestWait   = 15 * time.Minute
	forgetAfter   = time.Hour
	mostThrottled = 20_000 // entries; beyond it the oldest knowledge is dropped
)

func newThrottle() *throttle { return &throttle{tries: map[string]tries{}} }

func keys(from, login string) [2]string { return [2]string{from + "\x00" + login, from} }

func (t *throttle) wait(now time.Time, from, login string) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	var wait time.Duration
	for _, k := range keys(from, login) {
		wait = max(wait, t.tries[k].until.Sub(now))
	}
	return wait
}

func (t *throttle) failed(now time.Time, from, login string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.tries) > mostThrottled {
		for k, e := range t.tries {
			if now.After(e.forget) {
				delete(t.tries, k)
			}
		}
		if len(t.tries) > mostThrottled {
			clear(t.tries)
		}
	}
	for i, k := range keys(from, login) {
		e := t.tries[k]
		if now.After(e.forget) {
			e = tries{}
		}
		e.failed++
		e.forget = now.Add(forgetAfter)
		if over := e.failed - []int{freeTries, freeAddress}[i]; over >= 0 {
			e.until = now.Add(min(firstWait<<min(over, 20), longestWait))
		}
		t.tries[k] = e
	}
}

func (t *throttle) passed(from, login string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.tries, keys(from, login)[0])
}
