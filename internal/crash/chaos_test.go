//go:build unix

package crash

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"
)

// chaos kills and freezes.
type chaos struct {
	servers []*server
	outside *outside
	every   time.Duration // between two disturbances, on average
	outages int           // how often the accounting system is killed

	kills, stops, long, outsideKills atomic.Int64
	mu                               sync.Mutex
	problems                         []string
	running                          sync.WaitGroup
}

// run disturbs until ctx ends and enough is killed. It returns when every server runs again and the accounting system too.
func (c *chaos) run(ctx context.Context, enough int, seed uint64) {
	rnd := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // a test
	var next time.Time                    // when the accounting system is killed next
	for n := 0; ; n++ {
		wait := time.Duration(float64(c.every) * (0.3 + 1.4*rnd.Float64()))
		if !pause(ctx, wait) && int(c.kills.Load()) >= enough {
			break
		}
		if ctx.Err() != nil { // not enough yet: go on without the context's help
			pause(context.Background(), wait)
		}
		if n > 2 && int(c.outsideKills.Load()) < c.outages && time.Now().After(next) && rnd.IntN(3) == 0 {
			next = time.Now().Add(30 * time.Second) // the breaker must close in between
			c.killOutside(time.Duration(rnd.IntN(300)) * time.Millisecond)
			continue
		}
		s := c.servers[rnd.IntN(len(c.servers))]
		dice, part := rnd.IntN(100), rnd.Float64()
		if !s.take() {
			continue
		}
		c.running.Go(func() {
			defer s.release()
			switch {
			case dice < 40: // killed and started again at once
				c.kill(s, 0)
			case dice < 65: // started again later
				c.kill(s, time.Duration(part*float64(3*time.Second)))
			case dice < 80: // longer than a lease
				c.long.Add(1)
				c.stop(s, lease+time.Duration(part*float64(2*time.Second)))
			case dice < 87: // until others may have looked, not found it and sent it again
				c.long.Add(1)
				c.stop(s, lease+settle+time.Duration((1+2*part)*float64(time.Second)))
			default: // long enough for a send to be too late, too short for anybody to notice
				c.stop(s, sendWindow+time.Duration(part*float64(requestTimeout)))
			}
		})
	}
	c.running.Wait()
}

func (c *chaos) kill(s *server, down time.Duration) {
	if !s.alive() {
		c.report("%s had ended by itself", s.name)
	}
	s.kill()
	c.kills.Add(1)
	pause(context.Background(), down)
	if err := s.start(); err != nil {
		c.report("%s could not be started again: %v", s.name, err)
	}
}

func (c *chaos) stop(s *server, d time.Duration) {
	c.stops.Add(1)
	s.standStill(d, func(d time.Duration) bool { return pause(context.Background(), d) })
	if !s.alive() {
		c.report("%s ended after it had been frozen", s.name)
	}
}

func (c *chaos) killOutside(down time.Duration) {
	c.outside.kill()
	c.outsideKills.Add(1)
	pause(context.Background(), down)
	if err := c.outside.start(); err != nil {
		c.report("the accounting system could not be started again: %v", err)
	}
}

func (c *chaos) report(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.problems = append(c.problems, fmt.Sprintf(format, args...))
}

func (c *chaos) String() string {
	return fmt.Sprintf("%d servers killed, %d frozen (%d longer than a lease), the accounting system killed %d times", c.kills.Load(), c.stops.Load(),
		c.long.Load(), c.outsideKills.Load())
}
