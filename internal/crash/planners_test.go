//go:build unix

package crash

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"
)

// plan is everything that is to be recorded in a run: business keys spread over the systems.
func newPlan(systems []string, prefix string, n int) []invoice {
	list := make([]invoice, n)
	for i := range list {
		// Some keys do not fit the accounting system as they are, and travel shortened.
		name := fmt.Sprintf("%s-%05d", prefix, i)
		switch i % 10 {
		case 7:
			name = fmt.Sprintf("%s %05d Müller & Söhne / 株式会社", prefix, i)
		case 8:
			name = fmt.Sprintf("%s-%05d-with-a-name-that-is-longer-than-any-reference-in-these-books", prefix, i)
		}
		list[i] = newInvoice(systems[i%len(systems)], name, i)
	}
	return list
}

// planners are two automations that know nothing of each other and record the same things: each must be recorded once.
type planners struct {
	mu       sync.Mutex
	problems []string
	retries  int
	done     sync.WaitGroup
}

// startPlanners records the list in batches, spread over the time, each planner in its own order and against any server.
// A batch that no server took is posted again, as a real client does.
func startPlanners(ctx context.Context, servers []*server, list []invoice, over time.Duration) *planners {
	p := &planners{}
	const batch = 10
	for who := range 2 {
		p.done.Go(func() {
			rnd := rand.New(rand.NewPCG(*seed, uint64(100+who))) //nolint:gosec // a test
			gap := over * batch / time.Duration(max(len(list), 1))
			for start := 0; start < len(list); start += batch {
				part := append([]invoice{}, list[start:min(start+batch, len(list))]...)
				rnd.Shuffle(len(part), func(i, j int) { part[i], part[j] = part[j], part[i] })
				if !p.surely(ctx, servers, rnd, part) || !pause(ctx, time.Duration(float64(gap)*2*rnd.Float64())) {
					return
				}
			}
		})
	}
	return p
}

// patience is how long a batch is posted again.
const patience = 90 * time.Second

func (p *planners) surely(ctx context.Context, servers []*server, rnd *rand.Rand, part []invoice) bool {
	deadline := time.Now().Add(patience)
	for {
		err := record(servers, rnd, part)
		if err == nil {
			return true
		}
		var final refusedError
		over := errors.As(err, &final) || time.Now().After(deadline)
		p.mu.Lock()
		p.retries++
		if over {
			p.problems = append(p.problems, fmt.Sprintf("a batch was not taken: %v", err))
		}
		p.mu.Unlock()
		if over || !pause(ctx, 100*time.Millisecond) {
			return false
		}
	}
}

// wait returns when everything is recorded.
func (p *planners) wait(t *testing.T) {
	t.Helper()
	p.done.Wait()
	for _, s := range p.problems {
		t.Error(s)
	}
	if len(p.problems) > 0 {
		t.FailNow()
	}
}
