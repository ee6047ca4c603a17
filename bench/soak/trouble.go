package soak

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"onefold/internal/ledger/sandbox/server"
)

// trouble is what happens beside the faults. The schedule fits into any length: a soak of 30 minutes has a kill every
// two and a half.
type trouble struct {
	servers  []*onefold // those that may be killed
	outside  *outside
	database *database

	counts   map[string]int
	problems []string
}

const rounds = 12

// happening is one disturbance.
type happening struct {
	what string
	do   func(ctx context.Context) error
}

// run disturbs for the time. When it returns, everything runs again.
func (t *trouble) run(ctx context.Context, lasts time.Duration, rnd *rand.Rand) {
	t.counts = map[string]int{}
	begun, unit := time.Now(), lasts/rounds
	short := min(unit/5, 10*time.Second) // what is away is back before the next thing happens
	some := func() time.Duration { return time.Duration(float64(short) * rnd.Float64()) }
	databases := []happening{
		{"all connections to the database cut", func(ctx context.Context) error { return t.database.cut(ctx) }},
		{"database closed for a while", func(ctx context.Context) error { return t.database.away(ctx, min(short, 5*time.Second)) }},
	}
	outsides := []happening{
		{"accounting system killed", func(ctx context.Context) error {
			return t.again(ctx, t.outside.process, some()/4, "/control/health", t.outside.address)
		}},
		{"its search blind for a while", func(ctx context.Context) error { return t.blind(ctx, short) }},
		{"it answered 503 for a while", func(ctx context.Context) error {
			return t.outside.control(ctx, fmt.Sprintf("outage?seconds=%.1f", min(short, 5*time.Second).Seconds()), nil)
		}},
	}
	for n := 1; n < rounds; n++ {
		s := t.servers[n%len(t.servers)]
		killed := happening{"server killed", func(ctx context.Context) error { return t.again(ctx, s.process, some(), "/healthz", s.url) }}
		for part, h := range []happening{killed, databases[n%len(databases)], outsides[n%len(outsides)]} {
			at := begun.Add(time.Duration(n)*unit + time.Duration(part)*unit/3)
			if !pause(ctx, time.Until(at)) {
				return
			}
			t.counts[h.what]++
			if err := h.do(ctx); err != nil && ctx.Err() == nil {
				t.problems = append(t.problems, fmt.Sprintf("%s: %v", h.what, err))
			}
		}
	}
	pause(ctx, time.Until(begun.Add(lasts)))
}

// again kills a process and starts it again after a while.
func (t *trouble) again(ctx context.Context, p *process, down time.Duration, health, url string) error {
	if pid, _ := p.running(); pid == 0 {
		t.problems = append(t.problems, p.name+" had ended by itself: see "+p.log)
	}
	p.kill()
	pause(ctx, down)
	if err := p.start(); err != nil {
		return err
	}
	return p.answering(ctx, url+health)
}

// blind lets every search find nothing for a while, and say that it searched.
func (t *trouble) blind(ctx context.Context, d time.Duration) error {
	if err := t.outside.misbehave(ctx, server.Rule{Fault: server.SearchEmpty, Kind: server.Find}); err != nil {
		return err
	}
	pause(ctx, d)
	return t.outside.misbehave(ctx)
}

// String lists how often what happened.
func (t *trouble) String() string {
	var parts []string
	for what, n := range t.counts {
		parts = append(parts, fmt.Sprintf("%s %d ×", what, n))
	}
	slices.Sort(parts)
	return join(parts)
}
