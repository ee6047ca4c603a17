package review

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"onefold/internal/work"
)

// SystemStore is what the page of the accounting systems needs from the database.
type SystemStore interface {
	// Systems returns every connected accounting system.
	Systems(ctx context.Context) ([]work.System, error)
	// InFlight counts the open attempts of each system, over all servers.
	InFlight(ctx context.Context) (map[string]int, error)
	// Pause stops new sends of a system.
	Pause(ctx context.Context, id string, by work.Actor, reason string) error
	// Resume lets sends go on. The note goes on record.
	Resume(ctx context.Context, id string, by work.Actor, note string) error
	// Alerts returns what people should know now, oldest first.
	Alerts(ctx context.Context) ([]Alert, error)
	// BeginLookFirst begins the mode in which nothing is sent without a lookup, or begins it anew.
	BeginLookFirst(ctx context.Context, id string, by work.Actor, why string) error
	// EndLookFirst ends it. The note goes on record.
	EndLookFirst(ctx context.Context, id string, by work.Actor, note string) error
	// SystemCalls sums up the calls of each system since a time; a system without any is left out.
	SystemCalls(ctx context.Context, since time.Time) (map[string]work.Calls, error)
	// SystemChanges returns the newest changes of a system's settings, newest first, at most n.
	SystemChanges(ctx context.Context, id string, n int) ([]SystemChange, error)
	Now(ctx context.Context) (time.Time, error)
}

// SystemChange is a change of a system's settings as it is on record.
type SystemChange struct {
	At            time.Time
	By            work.Actor
	What          string // stable, for example "pause"
	Before, After string // small JSON or a text; never a secret
}

// Alert is something that people should know about a system, open until its cause is gone.
type Alert struct {
	SystemID string
	Cause    string // stable, for example "overdue"
	Text     string // in the user's words; names the system
	RaisedAt time.Time
}

// Systems is what staff may see and do about accounting systems.
type Systems struct{ store SystemStore }

// NewSystems returns the service.
func NewSystems(store SystemStore) *Systems { return &Systems{store: store} }

// Alerts returns what people should know now, oldest first.
func (s *Systems) Alerts(ctx context.Context, by work.Actor) ([]Alert, error) {
	if !MayRead(by) {
		return nil, ErrForbidden
	}
	return s.store.Alerts(ctx)
}

// SystemState is one accounting system with its calls under way.
type SystemState struct {
	work.System
	InFlight int
}

// List returns all accounting systems.
func (s *Systems) List(ctx context.Context, by work.Actor) ([]SystemState, error) {
	if !MayRead(by) {
		return nil, ErrForbidden
	}
	all, err := s.store.Systems(ctx)
	if err != nil {
		return nil, err
	}
	flying, err := s.store.InFlight(ctx)
	if err != nil {
		return nil, err
	}
	list := make([]SystemState, len(all))
	for i, sys := range all {
		list[i] = SystemState{sys, flying[sys.ID]}
	}
	return list, nil
}

// SystemDetail is one accounting system with what happened to it lately.
type SystemDetail struct {
	SystemState
	Hour, Day work.Calls // of the last hour and the last 24 hours
	Changes   []SystemChange
	// Proven is what the system was last seen to be able to do, and when; nil: never. The verify run will fill it in.
	Proven *Proven
}

// Proven is the result of a run that proves what a system declares.
type Proven struct {
	At           time.Time
	Capabilities work.Capabilities
}

// shownChanges is how many changes of settings the page of a system shows; the trail has all.
const shownChanges = 20

// One returns one accounting system.
func (s *Systems) One(ctx context.Context, by work.Actor, id string) (d SystemDetail, err error) {
	all, err := s.List(ctx, by)
	if err != nil {
		return d, err
	}
	i := slices.IndexFunc(all, func(sys SystemState) bool { return sys.ID == id })
	if i < 0 {
		return d, ErrNoSystem
	}
	d.SystemState = all[i]
	hour, day, err := s.Calls(ctx, by)
	if err != nil {
		return d, err
	}
	d.Hour, d.Day = hour[id], day[id]
	d.Changes, err = s.store.SystemChanges(ctx, id, shownChanges)
	return d, err
}

// Calls are the calls of all systems in the last hour and in the last 24 hours.
func (s *Systems) Calls(ctx context.Context, by work.Actor) (hour, day map[string]work.Calls, err error) {
	if !MayRead(by) {
		return nil, nil, ErrForbidden
	}
	now, err := s.store.Now(ctx)
	if err != nil {
		return nil, nil, err
	}
	if hour, err = s.store.SystemCalls(ctx, now.Add(-time.Hour)); err != nil {
		return nil, nil, err
	}
	day, err = s.store.SystemCalls(ctx, now.Add(-24*time.Hour))
	return hour, day, err
}

// MayPause reports whether the actor may pause and resume systems.
func MayPause(by work.Actor) bool { return by.Can(work.Ops, work.Admin) }

// MayLookFirst reports whether the actor may begin and end look-first.
func MayLookFirst(by work.Actor) bool { return by.Kind == work.Person && by.Can(work.Admin) }

// Pause stops new sends; calls on their way finish.
func (s *Systems) Pause(ctx context.Context, by work.Actor, id, reason string) error {
	if !MayPause(by) {
		return ErrForbidden
	}
	if err := s.known(ctx, id); err != nil {
		return err
	}
	return s.store.Pause(ctx, id, by, Input{Note: reason}.clean().Note)
}

// Resume lets sends go on. The note may be empty.
func (s *Systems) Resume(ctx context.Context, by work.Actor, id, note string) error {
	if !MayPause(by) {
		return ErrForbidden
	}
	if err := s.known(ctx, id); err != nil {
		return err
	}
	return s.store.Resume(ctx, id, by, Input{Note: note}.clean().Note)
}

// BeginLookFirst lets nothing be sent without a look before: only a signed-in admin may, with a reason.
func (s *Systems) BeginLookFirst(ctx context.Context, by work.Actor, id, why string) error {
	if !MayLookFirst(by) {
		return ErrForbidden
	}
	if err := s.known(ctx, id); err != nil {
		return err
	}
	if why = (Input{Note: why}).clean().Note; why == "" {
		return ErrReason
	}
	return s.store.BeginLookFirst(ctx, id, by, why)
}

// EndLookFirst ends look-first: only a signed-in admin may, with a note that says why nothing is missing any more.
func (s *Systems) EndLookFirst(ctx context.Context, by work.Actor, id, note string) error {
	if !MayLookFirst(by) {
		return ErrForbidden
	}
	if err := s.known(ctx, id); err != nil {
		return err
	}
	if note = (Input{Note: note}).clean().Note; note == "" {
		return ErrReason
	}
	return s.store.EndLookFirst(ctx, id, by, note)
}

// ErrReason says that a reason is missing.
var ErrReason = errors.New("a reason is needed")

// ErrNoSystem says that there is no such accounting system.
var ErrNoSystem = fmt.Errorf("no such accounting system: %w", ErrNotFound)

// known returns ErrNoSystem if there is no such system.
func (s *Systems) known(ctx context.Context, id string) error {
	all, err := s.store.Systems(ctx)
	if err == nil && !slices.ContainsFunc(all, func(sys work.System) bool { return sys.ID == id }) {
		err = ErrNoSystem
	}
	return err
}
