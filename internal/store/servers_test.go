package store_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"onefold/internal/review"
	"onefold/internal/store"
	"onefold/internal/store/storetest"
	"onefold/internal/work"
)

// What a server tells of itself is kept by the database's clock; a second one under its name is noticed, and the end of one
// life does not end the next.
func TestServersTellThatTheyLive(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db storetest.DB) {
		now := time.Date(2026, 11, 30, 10, 0, 0, 0, time.UTC)
		s := db.Open(t, store.Config{Clock: func() time.Time { return now }})
		beat := func(b work.Beat) {
			t.Helper()
			must(t, s.Beat(t.Context(), b))
		}
		only := func() work.Server {
			t.Helper()
			list, err := s.Servers(t.Context())
			must(t, err)
			if len(list) != 1 {
				t.Fatalf("%+v", list)
			}
			return list[0]
		}
		beat(work.Beat{Name: "a", Life: "1", Version: "v1", First: true, Ahead: -3 * time.Second})
		begun := now
		now = now.Add(work.BeatEvery)
		beat(work.Beat{Name: "a", Life: "1", Version: "v1", Jumped: time.Minute})
		got := only()
		want := work.Server{Name: "a", Life: "1", Version: "v1", Schema: got.Schema, Started: begun, Seen: now, Jumped: time.Minute, JumpedAt: now}
		if got != want || got.Schema < 20 {
			t.Errorf("%+v", got)
		}
		if got.HasTwin(now) || !got.ClockMoved(now) || got.ClockOff(now) || got.State(now) != work.ServerRuns || got.State(now.Add(time.Minute)) != work.ServerSilent {
			t.Errorf("%+v", got)
		}
		// It is started again: another life, nothing of the first.
		beat(work.Beat{Name: "a", Life: "2", First: true, Stopping: true})
		if got = only(); got.Life != "2" || !got.Started.Equal(now) || got.HasTwin(now) || got.Jumped != 0 || got.State(now) != work.ServerStops {
			t.Errorf("%+v", got)
		}
		beat(work.Beat{Name: "a", Life: "1"}) // the first one is not over at all
		if got = only(); !got.HasTwin(now) {
			t.Errorf("nobody notices two servers of one name: %+v", got)
		}
		must(t, s.RemoveServer(t.Context(), "a", "2"))
		must(t, s.SweepServers(t.Context(), now, now))
		only()
		must(t, s.SweepServers(t.Context(), now.Add(time.Microsecond), now))
		if list, err := s.Servers(t.Context()); err != nil || len(list) != 0 {
			t.Errorf("%v %v", list, err)
		}
	})
}

// A server that is silent stays on the list while it holds something; one that holds nothing goes sooner.
func TestSilentServersAreSwept(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store.Store, c *clock) {
		long := c.Now()
		recordMany(t, s, 0, 1)
		holder := claim(t, s, 1)[0].Item.OpenNode
		for _, name := range []string{holder, "counts", "removes", "idle"} {
			must(t, s.Beat(t.Context(), work.Beat{Name: name, Life: "1", First: true}))
		}
		c.advance(time.Minute)
		if _, held, err := s.HoldFigures(t.Context(), "counts", time.Minute); err != nil || !held {
			t.Fatal(held, err)
		}
		if held, err := s.HoldRetention(t.Context(), "removes", c.Now().Add(time.Minute)); err != nil || !held {
			t.Fatal(held, err)
		}
		runs, err := s.HeldRuns(t.Context())
		must(t, err)
		want := []review.HeldRun{{Server: "counts", Kind: "figures", Until: c.Now().Add(time.Minute)}, {Server: "removes", Kind: "retention", Until: c.Now().Add(time.Minute)}}
		if !slices.Equal(runs, want) {
			t.Errorf("%+v", runs)
		}
		must(t, s.SweepServers(t.Context(), long, c.Now()))
		list, err := s.Servers(t.Context())
		must(t, err)
		var names []string
		for _, one := range list {
			names = append(names, one.Name)
		}
		if left := []string{holder, "counts", "removes"}; len(names) != 3 || slices.Contains(names, "idle") {
			t.Errorf("%v, not %v", names, left)
		}
		c.advance(time.Minute)
		if runs, err = s.HeldRuns(t.Context()); err != nil || len(runs) != 0 {
			t.Errorf("held no more: %v %v", runs, err)
		}
		must(t, s.SweepServers(t.Context(), c.Now(), c.Now()))
		if list, err = s.Servers(t.Context()); err != nil || len(list) != 0 {
			t.Errorf("after a week: %v %v", list, err)
		}
	})
}

// A server that ends hard each ten seconds under a new name leaves thousands: those that live are read, and not all.
func TestTheListOfServersIsBounded(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store.Store, c *clock) {
		for i := range work.ShownServers + 20 {
			must(t, s.Beat(t.Context(), work.Beat{Name: fmt.Sprintf("crash-%d", i), Life: "1", First: true}))
			c.advance(time.Second)
		}
		must(t, s.Beat(t.Context(), work.Beat{Name: "alive", Life: "1", First: true}))
		list, err := s.Servers(t.Context())
		must(t, err)
		if len(list) != work.ShownServers || list[0].Name != "alive" || list[0].State(c.Now()) != work.ServerRuns {
			t.Errorf("%d, the first is %+v", len(list), list[0])
		}
	})
}

// An open alert can be made to say something else; it stays the same alert.
func TestAnAlertIsReworded(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store.Store, _ *clock) {
		says := func(want string) {
			t.Helper()
			if got, err := s.OpenAlert(t.Context(), "", "clock"); err != nil || got != want {
				t.Errorf("%q, not %q: %v", got, want, err)
			}
		}
		must(t, s.RewordAlert(t.Context(), "", "clock", "none is open"))
		says("")
		if _, err := s.RaiseAlert(t.Context(), "", "clock", "a is wrong"); err != nil {
			t.Fatal(err)
		}
		must(t, s.RewordAlert(t.Context(), "", "clock", "b is wrong"))
		must(t, s.RewordAlert(t.Context(), "books", "clock", "another one"))
		says("b is wrong")
		if list, err := s.Alerts(t.Context()); err != nil || len(list) != 1 {
			t.Errorf("%v %v", list, err)
		}
		must(t, s.ClearAlerts(t.Context(), "", "clock"))
		says("")
	})
}
