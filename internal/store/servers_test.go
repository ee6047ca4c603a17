package store_test

import (
	"testing"
	"time"

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
		must(t, s.SweepServers(t.Context(), now))
		only()
		must(t, s.SweepServers(t.Context(), now.Add(time.Microsecond)))
		if list, err := s.Servers(t.Context()); err != nil || len(list) != 0 {
			t.Errorf("%v %v", list, err)
		}
	})
}
