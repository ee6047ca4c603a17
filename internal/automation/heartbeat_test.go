package automation

import (
	"context"
	"strings"
	"testing"
	"time"

	"onefold/internal/work"
)

// heartWorld is a database with a clock of its own, and one server with two.
type heartWorld struct {
	Heartbeat
	now    time.Time // the database's
	off    time.Duration
	up     time.Duration
	takes  time.Duration // of an answer of the database
	last   work.Beat
	alerts []string
	open   bool
	list   []work.Server
}

func newHeartWorld() *heartWorld {
	w := &heartWorld{now: time.Date(2026, 11, 30, 10, 0, 0, 0, time.UTC)}
	w.Heartbeat = Heartbeat{Store: w, Name: "a", Wall: func() time.Time { return w.now.Add(w.off) }, Uptime: func() time.Duration { return w.up }}
	return w
}

func (w *heartWorld) Now(context.Context) (time.Time, error) {
	w.up += w.takes
	w.now = w.now.Add(w.takes)
	return w.now, nil
}

func (w *heartWorld) Beat(_ context.Context, b work.Beat) error {
	w.last = b
	one := work.Server{Name: b.Name, Life: b.Life, Seen: w.now, Ahead: b.Ahead}
	if len(w.list) > 0 {
		one.Jumped, one.JumpedAt = w.list[0].Jumped, w.list[0].JumpedAt
	}
	if b.Jumped != 0 {
		one.Jumped, one.JumpedAt = b.Jumped, w.now
	}
	w.list = []work.Server{one}
	return nil
}

func (w *heartWorld) RemoveServer(context.Context, string, string) error { return nil }
func (w *heartWorld) SweepServers(context.Context, time.Time) error      { return nil }
func (w *heartWorld) Servers(context.Context) ([]work.Server, error)     { return w.list, nil }
func (w *heartWorld) ClearAlerts(_ context.Context, system, cause string) error {
	w.open = false
	return nil
}

func (w *heartWorld) RaiseAlert(_ context.Context, system, cause, text string) (bool, error) {
	isNew := !w.open
	if isNew {
		w.alerts = append(w.alerts, text)
	}
	w.open = true
	return isNew, nil
}

func (w *heartWorld) beat(t *testing.T, later time.Duration) {
	t.Helper()
	w.now, w.up = w.now.Add(later), w.up+later
	if err := w.RunOnce(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// A clock that is wrong is told once, and told to be right again; a slow answer of the database is no wrong clock.
func TestAWrongClockIsNoticed(t *testing.T) {
	w := newHeartWorld()
	w.beat(t, 0)
	w.takes = 5 * time.Second
	w.beat(t, work.BeatEvery)
	if w.last.Ahead != 0 || w.last.Jumped != 0 || len(w.alerts) > 0 || w.last.First {
		t.Fatalf("a slow answer is taken for a wrong clock: %+v %v", w.last, w.alerts)
	}
	w.takes = 0

	drift := newHeartWorld()
	drift.off = -3 * time.Second
	for range 3 {
		drift.beat(t, work.BeatEvery)
	}
	if drift.last.Ahead != -3*time.Second || len(drift.alerts) != 1 || !strings.Contains(drift.alerts[0], "the clock of a is 3s slow") {
		t.Errorf("%+v %v", drift.last, drift.alerts)
	}
	drift.off = -time.Second
	drift.beat(t, work.BeatEvery)
	if drift.open {
		t.Error("the clock is right again, and nobody is told")
	}

	w.off = time.Hour // moved while it runs
	w.beat(t, work.BeatEvery)
	if w.last.Jumped != time.Hour || len(w.alerts) != 1 {
		t.Errorf("%+v %v", w.last, w.alerts)
	}
	w.off = 0
	w.beat(t, work.BeatEvery)
	if w.last.Jumped != -time.Hour || w.last.Ahead != 0 || len(w.alerts) != 1 || !w.open {
		t.Errorf("%+v %v", w.last, w.alerts)
	}
	w.beat(t, 2*time.Hour)
	if w.open {
		t.Error("the alert stays")
	}
}
