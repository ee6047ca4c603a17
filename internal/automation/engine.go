// Package automation moves items: it claims what is due, calls the accounting system and writes down what came back.
// It is the only caller of ledger. The ways in (intake, CSV import) and the automations that plan work are here too.
//
// Every loop is a RunOnce under a ticker, with an injected clock; tests call RunOnce and never sleep.
package automation

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"onefold/internal/ledger"
	"onefold/internal/work"
)

// Store is what the engine needs from the database.
type Store interface {
	// Change is the one write door.
	Change(ctx context.Context, pick work.Pick, decide func(now time.Time, picked []work.Picked) ([]work.Move, error)) ([]work.Move, error)
	Now(ctx context.Context) (time.Time, error)
	Systems(ctx context.Context) ([]work.System, error)
	System(ctx context.Context, id string) (work.System, error)
	// Attempts returns an item's attempts with a number below before, newest first, at most limit.
	Attempts(ctx context.Context, itemID int64, before, limit int) ([]work.Attempt, error)
	// SetBreaker stops the system's calls until a probe after until succeeds; a zero until lets them go on.
	SetBreaker(ctx context.Context, id string, until time.Time, reason string) error
	// SetLogin notes that the system refused our login; an empty problem lets calls go on.
	SetLogin(ctx context.Context, id, problem string) error
	// SetIdentity keeps the books that the system reached when it was connected.
	SetIdentity(ctx context.Context, id, identity string) error
	// NewestConfirmed returns the n newest items of a step that were confirmed before a time.
	NewestConfirmed(ctx context.Context, systemID, step string, before time.Time, n int) ([]work.Item, error)
	// AddCalls adds what calls brought back to the numbers that people see.
	AddCalls(ctx context.Context, systemID string, n work.Calls) error
	// Replans returns the systems whose waiting items are to be planned anew.
	Replans(ctx context.Context) ([]Replan, error)
	// LastCalls returns the waiting items that the Replan is to do next, at most so many, by id.
	LastCalls(ctx context.Context, r Replan, most int) ([]LastCalls, error)
	// Replanned notes that items up to an id are done, and with done that all are, unless the Replan is not as it was.
	Replanned(ctx context.Context, r Replan, after int64, done bool) error
	// Wakeups yields the ids of systems that have new work.
	Wakeups() <-chan string
}

// Config says how an engine runs.
type Config struct {
	Store   Store
	Connect func(work.System) (ledger.System, error) // makes the adapter of a system, without a call to the outside
	Node    string                                   // this server's name; unique among the servers
	Now     func() time.Time                         // this machine's clock; nil: time.Now
	Sleep   func(time.Duration)                      // waits; nil: time.Sleep
	Poll    time.Duration                            // how often to look for due work without being woken; 0: 250ms
	Batch   int                                      // most items in one claim; 0: 500
	Log     *slog.Logger                             // nil: slog.Default

	Observer Observer // nil: none
}

// Engine carries out the items of all systems on this server.
type Engine struct {
	Config
	mu    sync.Mutex
	lanes map[string]*lane
}

// NewEngine returns an engine that is not running yet.
func NewEngine(c Config) *Engine {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Sleep == nil {
		c.Sleep = time.Sleep
	}
	if c.Poll == 0 {
		c.Poll = 250 * time.Millisecond
	}
	if c.Batch == 0 {
		c.Batch = 500
	}
	if c.Log == nil {
		c.Log = slog.Default()
	}
	if c.Observer == nil {
		c.Observer = unobserved{}
	}
	return &Engine{Config: c, lanes: map[string]*lane{}}
}

// Stats counts what one RunOnce did.
type Stats struct{ Claimed, Sent, Looked, Swept int }

// RunOnce sweeps expired leases, claims what is due in every system, makes the calls and writes down the answers. It
// returns when all of it is done.
func (e *Engine) RunOnce(ctx context.Context) (Stats, error) {
	var total Stats
	swept, err := e.Sweep(ctx)
	if err != nil {
		return total, err
	}
	total.Swept = swept
	if _, err := e.Replan(ctx); err != nil {
		return total, err
	}
	lanes, err := e.refresh(ctx)
	if err != nil {
		return total, err
	}
	var mu sync.Mutex
	g, ctx := errgroup.WithContext(ctx)
	for _, l := range lanes {
		g.Go(func() error {
			s, err := l.runOnce(ctx)
			mu.Lock()
			defer mu.Unlock()
			total.Claimed += s.Claimed
			total.Sent += s.Sent
			total.Looked += s.Looked
			return err
		})
	}
	return total, g.Wait()
}

// Run works until ctx ends; then it claims nothing more, lets running calls finish and writes down their answers.
func (e *Engine) Run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	running := map[*lane]bool{}
	start := func() {
		lanes, err := e.refresh(ctx)
		if err != nil {
			if ctx.Err() == nil {
				e.Log.Error("systems could not be read", "error", err)
			}
			return
		}
		for _, l := range lanes {
			if !running[l] {
				running[l] = true
				g.Go(func() error { return l.run(ctx) })
			}
		}
	}
	g.Go(func() error { return every(ctx, time.Second, func() { e.sweepAndLog(ctx) }) })
	g.Go(func() error { return every(ctx, time.Second, func() { e.replanAndLog(ctx) }) })
	g.Go(func() error {
		start()
		systems := time.NewTicker(2 * time.Second)
		defer systems.Stop()
		for {
			select {
			case <-ctx.Done():
				return nil
			case id := <-e.Store.Wakeups():
				e.Observer.Woken()
				e.wake(id)
			case <-systems.C:
				start()
			}
		}
	})
	return g.Wait()
}

// Sweep closes the attempts of lost workers; it returns how many.
func (e *Engine) Sweep(ctx context.Context) (int, error) {
	total := 0
	for {
		moves, err := e.Store.Change(ctx, work.Pick{Expired: 200}, func(now time.Time, picked []work.Picked) ([]work.Move, error) {
			return decideAll(picked, now, func(work.Picked) work.Event { return work.LeaseExpired{} })
		})
		total += len(moves)
		if err != nil || len(moves) < 200 {
			e.Observer.Swept(total)
			return total, err
		}
	}
}

func (e *Engine) sweepAndLog(ctx context.Context) {
	switch n, err := e.Sweep(ctx); {
	case err != nil && ctx.Err() == nil:
		e.Log.Error("lost attempts could not be swept", "error", err)
	case n > 0:
		e.Log.Warn("attempts of a lost server are taken over", "count", n)
	}
}

// decideAll decides each picked item with the event that event names; what is refused is left out.
func decideAll(picked []work.Picked, now time.Time, event func(work.Picked) work.Event) ([]work.Move, error) {
	moves := make([]work.Move, 0, len(picked))
	for _, p := range picked {
		m, err := work.Decide(p.Item, event(p), p.Rules, now)
		var refusal *work.Refusal
		switch {
		case errors.As(err, &refusal):
			continue
		case err != nil:
			return nil, fmt.Errorf("item %d: %w", p.Item.ID, err)
		}
		moves = append(moves, m)
	}
	return moves, nil
}

// refresh makes a lane for every system, and ends those of systems that were removed.
func (e *Engine) refresh(ctx context.Context) ([]*lane, error) {
	systems, err := e.Store.Systems(ctx)
	if err != nil {
		return nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	lanes, there := make([]*lane, 0, len(systems)), map[string]bool{}
	for _, s := range systems {
		l := e.lanes[s.ID]
		if l == nil {
			l = newLane(e, s.ID)
			e.lanes[s.ID] = l
		}
		lanes, there[s.ID] = append(lanes, l), true
	}
	for id, l := range e.lanes {
		if !there[id] {
			close(l.gone)
			delete(e.lanes, id)
		}
	}
	return lanes, nil
}

func (e *Engine) wake(id string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, l := range e.lanes {
		if id == "" || id == l.id {
			l.signal()
		}
	}
}

// every calls f each interval until ctx ends.
func every(ctx context.Context, interval time.Duration, f func()) error {
	t := time.NewTicker(interval)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-t.C:
			f()
		}
	}
}
