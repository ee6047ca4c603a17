package auth

import (
	"fmt"
	"sync"
	"time"
)

// Throttled says that there were too many wrong tries. After the wait the next one is looked at.
type Throttled struct{ Wait time.Duration }

func (t *Throttled) Error() string { return fmt.Sprintf("too many wrong tries, wait %s", t.Wait) }

// throttle slows down guessing: after a few failures each further one doubles the wait, up to a bound, so that nobody is
// locked out for good. It is kept in memory, by each server for itself.
type throttle struct {
	mu    sync.Mutex
	tries map[string]tries
}

type tries struct {
	failed int
	until  time.Time // nothing is looked at before
	forget time.Time
}

// bound is one way in which tries are counted.
type bound struct {
	key     string
	free    int // failures without a wait
	longest time.Duration
}

const (
	firstWait     = 5 * time.Second
	longestWait   = 30 * time.Second
	forgetAfter   = time.Hour
	mostThrottled = 20_000 // entries; beyond it, those without a wait are dropped first
)

// passwordBounds count the tries for one login from one address, for the login from anywhere, and from the address for
// any login. Where the person has signed in from before, a flood from elsewhere does not count.
func passwordBounds(from, login string, known bool) []bound {
	list := []bound{{"pair\x00" + from + "\x00" + login, 5, longestWait}, {"from\x00" + from, 30, longestWait}}
	if !known {
		list = append(list, bound{"login\x00" + login, 10, longestWait})
	}
	return list
}

// stepBounds count wrong codes of one person. Only somebody who has the password comes so far, so the wait grows longer.
func stepBounds(user string) []bound { return []bound{{"step\x00" + user, 5, 15 * time.Minute}} }

func newThrottle() *throttle { return &throttle{tries: map[string]tries{}} }

// enter counts a try as failed before it is looked at, so that many at once are no way around, unless it must wait.
func (t *throttle) enter(now time.Time, bounds []bound) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	var wait time.Duration
	for _, b := range bounds {
		wait = max(wait, t.tries[b.key].until.Sub(now))
	}
	if wait > 0 {
		return &Throttled{wait}
	}
	t.makeRoom(now)
	for _, b := range bounds {
		e := t.tries[b.key]
		if now.After(e.forget) {
			e = tries{}
		}
		e.failed++
		e.forget = now.Add(forgetAfter)
		if over := e.failed - b.free; over >= 0 {
			e.until = now.Add(min(firstWait<<min(over, 20), b.longest))
		}
		t.tries[b.key] = e
	}
	return nil
}

// passed takes the counted failure back, and forgets those for the first of the bounds.
func (t *throttle) passed(bounds []bound) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i, b := range bounds {
		e := t.tries[b.key]
		e.failed--
		e.until = time.Time{}
		if t.tries[b.key] = e; i == 0 || e.failed <= 0 {
			delete(t.tries, b.key)
		}
	}
}

func (t *throttle) makeRoom(now time.Time) {
	if len(t.tries) < mostThrottled {
		return
	}
	for _, keep := range []func(tries) bool{
		func(e tries) bool { return now.Before(e.forget) },
		func(e tries) bool { return now.Before(e.until) },
		func(tries) bool { return false },
	} {
		for k, e := range t.tries {
			if !keep(e) {
				delete(t.tries, k)
			}
		}
		if len(t.tries) < mostThrottled {
			return
		}
	}
}
