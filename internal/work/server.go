package work

import "time"

// How servers tell of themselves.
const (
	BeatEvery      = 15 * time.Second   // between two signs of life
	SilentAfter    = 50 * time.Second   // without one: three were missed
	ForgetServer   = 7 * 24 * time.Hour // of silence; then it is taken off the page
	ClockTolerance = 2 * time.Second    // more than that is told to people
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
