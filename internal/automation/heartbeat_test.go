package automation

import (
	"context"
	"errors"
	"log/slog"
	"slices"
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
	says   string // the open alert
	list   []work.Server
	others []work.Server
	broken error // what a beat fails with
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
	if w.broken != nil {
		return w.broken
	}
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

func (w *heartWorld) RemoveServer(context.Context, string, string) error       { return nil }
func (w *heartWorld) SweepServers(context.Context, time.Time, time.Time) error { return nil }

func (w *heartWorld) Servers(context.Context) ([]work.Server, error) {
	list := slices.Clone(w.list)
	for _, o := range w.others {
		if o.Seen.IsZero() {
			o.Seen = w.now
		}
		list = append(list, o)
	}
	return list, nil
}

func (w *heartWorld) OpenAlert(_ context.Context, system, cause string) (string, error) {
	return w.says, nil
}

func (w *heartWorld) RewordAlert(_ context.Context, system, cause, text string) error {
	w.says = text
	return nil
}

func (w *heartWorld) ClearAlerts(_ context.Context, system, cause string) error {
	w.says = ""
	return nil
}

func (w *heartWorld) RaiseAlert(_ context.Context, system, cause, text string) (bool, error) {
	isNew := w.says == ""
	if isNew {
		w.alerts, w.says = append(w.alerts, text), text
	}
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
	if drift.last.Ahead != -3*time.Second || len(drift.alerts) != 1 || !strings.Contains(drift.alerts[0], "the clock of a is behind the database's;") {
		t.Errorf("%+v %v", drift.last, drift.alerts)
	}
	drift.off = -work.ClockRight
	drift.beat(t, work.BeatEvery)
	if drift.says != "" {
		t.Error("the clock is right again, and nobody is told")
	}

	w.off = time.Hour // moved while it runs
	w.beat(t, work.BeatEvery)
	if w.last.Jumped != time.Hour || len(w.alerts) != 1 {
		t.Errorf("%+v %v", w.last, w.alerts)
	}
	w.off = 0
	w.beat(t, work.BeatEvery)
	if w.last.Jumped != -time.Hour || w.last.Ahead != 0 || len(w.alerts) != 1 || w.says == "" {
		t.Errorf("%+v %v", w.last, w.alerts)
	}
	w.beat(t, 2*time.Hour)
	if w.says != "" {
		t.Error("the alert stays")
	}
}

// A clock that wanders about the bound is one alert, not one each time; and no line in the log each time.
func TestAClockAtTheBoundIsToldOnce(t *testing.T) {
	w := newHeartWorld()
	var log strings.Builder
	w.Log = slog.New(slog.NewTextHandler(&log, nil))
	for i := range 20 {
		w.off = work.ClockTolerance + time.Duration(1-2*(i%2))*100*time.Millisecond
		w.beat(t, work.BeatEvery)
		if w.says == "" {
			t.Fatalf("it is over after %d", i)
		}
	}
	if n := strings.Count(log.String(), "\n"); len(w.alerts) != 1 || n != 1 {
		t.Errorf("%d alerts, %d lines: %s", len(w.alerts), n, log.String())
	}
}

// The alert says what is true now: not the server that is mended, but the one that went wrong since; and of many a few.
func TestTheAlertNamesWhatIsWrongNow(t *testing.T) {
	w := newHeartWorld()
	w.others = []work.Server{{Name: "b", Ahead: -3 * time.Second}}
	w.beat(t, 0)
	if !strings.Contains(w.says, "the clock of b is behind") {
		t.Fatal(w.says)
	}
	w.others = []work.Server{{Name: "b"}, {Name: "c", Ahead: time.Hour}, {Name: "gone", Ahead: time.Hour, Seen: w.now.Add(-time.Hour)}}
	w.beat(t, work.BeatEvery)
	if strings.Contains(w.says, "of b") || strings.Contains(w.says, "gone") || !strings.Contains(w.says, "the clock of c is ahead") || len(w.alerts) != 1 {
		t.Errorf("%s %v", w.says, w.alerts)
	}
	w.others = []work.Server{{Name: "node-1", Ahead: 1500 * time.Millisecond}, {Name: "node-12", Ahead: time.Hour}}
	for range 2 { // the name of the one is part of the other's
		w.beat(t, work.BeatEvery)
	}
	if !strings.Contains(w.says, "node-12") || strings.Contains(w.says, "node-1 ") {
		t.Error(w.says)
	}
	w.others = nil
	for range 40 {
		w.others = append(w.others, work.Server{Name: strings.Repeat("ä", 300), Ahead: time.Hour})
	}
	w.beat(t, work.BeatEvery)
	if n := len([]rune(w.says)); n > 300+60 || !strings.Contains(w.says, "and of 37 more") {
		t.Errorf("%d characters: %s", n, w.says)
	}
	w.others = nil
	w.beat(t, work.BeatEvery)
	if w.says != "" {
		t.Error(w.says)
	}
}

// Where all servers are off alike it is not said that each of them is wrong.
func TestTheDatabasesClockIsTold(t *testing.T) {
	w := newHeartWorld()
	w.off = time.Hour
	w.others = []work.Server{{Name: "b", Ahead: time.Hour + time.Second}, {Name: "gone", Seen: w.now.Add(-time.Hour)}}
	w.beat(t, 0)
	if !strings.Contains(w.says, "probably the database's") || strings.Contains(w.says, "of b") {
		t.Error(w.says)
	}
	w.others[0].Ahead = 0
	w.beat(t, work.BeatEvery)
	if strings.Contains(w.says, "probably") || !strings.Contains(w.says, "the clock of a is ahead") {
		t.Error(w.says)
	}
	w.others = nil // who is alone cannot know which of the two it is
	w.beat(t, work.BeatEvery)
	if strings.Contains(w.says, "probably") || w.says == "" {
		t.Error(w.says)
	}
}

// A clock that was moved while the database took no sign of life is told with the next one.
func TestAMoveIsNotForgotten(t *testing.T) {
	w := newHeartWorld()
	w.beat(t, 0)
	w.off, w.broken = time.Hour, errors.New("the database is away")
	w.now, w.up = w.now.Add(work.BeatEvery), w.up+work.BeatEvery
	if err := w.RunOnce(t.Context()); err == nil {
		t.Fatal("it was taken")
	}
	w.broken = nil
	w.beat(t, work.BeatEvery)
	if w.last.Jumped != time.Hour {
		t.Errorf("%+v", w.last)
	}
	w.beat(t, work.BeatEvery)
	if w.last.Jumped != 0 {
		t.Errorf("told twice: %+v", w.last)
	}
}

// Alert rules can see what the page of the servers says, also that the clock is right again.
func TestTheMetricsAreToldOfTheClock(t *testing.T) {
	w := newHeartWorld()
	var told []time.Duration
	w.Clock = func(ahead time.Duration) { told = append(told, ahead) }
	w.beat(t, 0)
	w.off = -3 * time.Second
	w.beat(t, work.BeatEvery)
	w.off = 0
	w.beat(t, work.BeatEvery)
	if len(told) != 3 || told[0] != 0 || told[1] != -3*time.Second || told[2] != 0 {
		t.Errorf("told %v", told)
	}
}
