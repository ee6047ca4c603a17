package work

import "time"

// How servers tell of themselves.
const (
	BeatEvery      = 15 * time.Second   // between two signs of life
	SilentAfter    = 50 * time.Second   // without one: three were missed
	ForgetServer   = 7 * 24 * time.Hour // of silence; then it is taken off the page
	ForgetIdle     = 24 * time.Hour     // as above, of one that holds nothing
	ShownServers   = 200                // on the page; servers that end and start under new names may be thousands
	ClockTolerance = 2 * time.Second    // more than that is told to people
	ClockRight     = time.Second        // less than that is over: a clock that wanders is not told each time
	clockMemory    = time.Hour          // how long people are told that a clock was moved
)

// Server is one server on the database, as it last told of itself. Times are by the database's clock.
type Server struct {
	Name     string
	Life     string // another one after each start
	Version  string
	Schema   int64 // the newest migration that it knows
	Stopping bool  // it claims nothing more and lets its calls finish
	Started  time.Time
	Seen     time.Time
	Ahead    time.Duration // of its clock before the database's, no more than is certain; below zero: behind
	Jumped   time.Duration // how far its clock was last moved; zero: never
	JumpedAt time.Time
	TwinAt   time.Time // when another server was last seen under the same name; zero: never
}

// ServerState is what a server is doing.
type ServerState string

// The states of a server.
const (
	ServerRuns   ServerState = "running"
	ServerStops  ServerState = "stopping"
	ServerSilent ServerState = "silent" // it ended without a word, stands still, or does not reach the database
)

// State is what the server is doing at a time of the database's clock.
func (s Server) State(now time.Time) ServerState {
	switch {
	case now.Sub(s.Seen) > SilentAfter:
		return ServerSilent
	case s.Stopping:
		return ServerStops
	}
	return ServerRuns
}

// ClockOff reports whether the server's clock differs from the database's by more than is good for reading its logs.
func (s Server) ClockOff(now time.Time) bool {
	return s.State(now) != ServerSilent && s.Ahead.Abs() > ClockTolerance
}

// ClockMoved reports whether the server's clock was moved lately while it ran.
func (s Server) ClockMoved(now time.Time) bool {
	return s.State(now) != ServerSilent && !s.JumpedAt.IsZero() && now.Sub(s.JumpedAt) < clockMemory
}

// DatabaseClockOff reports whether the wrong clock seems to be the database's own: several servers run, and all of them
// differ from it alike.
func DatabaseClockOff(all []Server, now time.Time) bool {
	run, least, most := 0, time.Duration(0), time.Duration(0)
	for _, s := range all {
		if s.State(now) == ServerSilent {
			continue
		}
		if run++; run == 1 {
			least, most = s.Ahead, s.Ahead
		}
		least, most = min(least, s.Ahead), max(most, s.Ahead)
	}
	return run > 1 && (least > ClockTolerance || most < -ClockTolerance) && most-least <= ClockTolerance
}

// HasTwin reports whether another server was seen under the same name lately.
func (s Server) HasTwin(now time.Time) bool {
	return !s.TwinAt.IsZero() && now.Sub(s.TwinAt) < clockMemory
}

// Beat is a sign of life.
type Beat struct {
	Name, Life, Version string
	First               bool // since the server started
	Stopping            bool
	Ahead               time.Duration
	Jumped              time.Duration // since the last one; zero: not
}
