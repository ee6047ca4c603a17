package automation

import (
	"context"
	"crypto/rand"
	"log/slog"
	"time"

	"onefold/internal/work"
)

// HeartStore is what the heartbeat needs from the database.
type HeartStore interface {
	Now(ctx context.Context) (time.Time, error)
	// Beat keeps a server's sign of life, with the time of the database's clock.
	Beat(ctx context.Context, b work.Beat) error
	// RemoveServer takes a server off the list, unless another life of it has begun.
	RemoveServer(ctx context.Context, name, life string) error
	// SweepServers takes those off the list that were last seen before a time, and of those that hold nothing all that were
	// last seen before idle.
	SweepServers(ctx context.Context, before, idle time.Time) error
	// Servers returns the servers on the list, by name: of very many those that were seen last.
	Servers(ctx context.Context) ([]work.Server, error)
	// OpenAlert returns what the open alert says, if there is one; RewordAlert lets it say something else.
	OpenAlert(ctx context.Context, systemID, cause string) (text string, err error)
	RewordAlert(ctx context.Context, systemID, cause, text string) error
	RaiseAlert(ctx context.Context, systemID, cause, text string) (bool, error)
	ClearAlerts(ctx context.Context, systemID, cause string) error
}

// Heartbeat tells the others that this server lives, and notices clocks that are wrong. Nothing is decided by a server's
// clock; its logs are read by it.
type Heartbeat struct {
	Store   HeartStore
	Name    string // this server's; unique among the servers
	Version string
	Wall    func() time.Time     // this machine's clock; nil: time.Now
	Uptime  func() time.Duration // of a clock that nobody moves; nil: Go's monotonic one
	Log     *slog.Logger
	Clock   func(ahead time.Duration) // is told each time how far this machine's clock is before the database's; nil: nobody

	life     string
	stopping bool
	lastWall time.Time
	lastUp   time.Duration
	jumped   time.Duration // and not on the list yet
	told     bool          // that the clock is off
}

// RunOnce gives one sign of life.
func (h *Heartbeat) RunOnce(ctx context.Context) error {
	first := h.life == ""
	if first {
		h.begin()
	}
	wall, up := h.Wall(), h.Uptime()
	now, err := h.Store.Now(ctx)
	if err != nil {
		return err
	}
	b := work.Beat{Name: h.Name, Life: h.life, Version: h.Version, First: first, Stopping: h.stopping, Ahead: ahead(wall, h.Uptime()-up, now)}
	if !h.lastWall.IsZero() {
		if moved := wall.Sub(h.lastWall) - (up - h.lastUp); moved.Abs() > work.ClockTolerance {
			h.jumped += moved
			h.Log.Warn("this server's clock was moved", "by", moved)
		}
	}
	h.lastWall, h.lastUp = wall, up
	b.Jumped = h.jumped
	if h.Clock != nil {
		h.Clock(b.Ahead)
	}
	bound := work.ClockTolerance
	if h.told {
		bound = work.ClockRight
	}
	if off := b.Ahead.Abs() > bound; off != h.told {
		h.told = off
		if off {
			h.Log.Warn("this server's clock is not the database's: nothing is decided by it, but the times in its log are wrong", "ahead", b.Ahead)
		} else {
			h.Log.Info("this server's clock agrees with the database's again")
		}
	}
	if err := h.Store.Beat(ctx, b); err != nil {
		if first {
			h.life = "" // the next one is the first
		}
		return err
	}
	h.jumped = 0
	if err := h.Store.SweepServers(ctx, now.Add(-work.ForgetServer), now.Add(-work.ForgetIdle)); err != nil {
		return err
	}
	return h.alert(ctx, now)
}

func (h *Heartbeat) begin() {
	h.life = rand.Text()[:12]
	if h.Wall == nil {
		h.Wall = func() time.Time { return time.Now().Round(0) } // without the monotonic part
	}
	if h.Uptime == nil {
		started := time.Now()
		h.Uptime = func() time.Duration { return time.Since(started) }
	}
	if h.Log == nil {
		h.Log = slog.New(slog.DiscardHandler)
	}
}

// ahead is how far a clock is surely before the database's, which was read between wall and wall + took.
func ahead(wall time.Time, took time.Duration, database time.Time) time.Duration {
	switch early, late := wall.Sub(database), wall.Add(took).Sub(database); {
	case early > 0:
		return early
	case late < 0:
		return late
	}
	return 0
}

// Run gives signs of life until ctx ends; then the server is taken off the list. From when stopping is closed on they say
// that it stops.
func (h *Heartbeat) Run(ctx context.Context, stopping <-chan struct{}) error {
	t := time.NewTicker(work.BeatEvery)
	defer t.Stop()
	for {
		if err := h.RunOnce(ctx); err != nil && ctx.Err() == nil {
			h.Log.Error("this server could not tell that it lives", "error", err)
		}
		select {
		case <-ctx.Done():
			end, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
			defer cancel()
			if err := h.Store.RemoveServer(end, h.Name, h.life); err != nil {
				h.Log.Warn("this server could not say that it ended", "error", err)
			}
			return nil
		case <-stopping:
			h.stopping, stopping = true, nil
		case <-t.C:
		}
	}
}
