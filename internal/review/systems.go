package review

import (
	"context"
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
	// Resume lets sends go on.
	Resume(ctx context.Context, id string, by work.Actor) error
	// Alerts returns what people should know now, oldest first.
	Alerts(ctx context.Context) ([]Alert, error)
	// EndLookFirst ends the mode in which nothing is sent without a lookup.
	EndLookFirst(ctx context.Context, id string, by work.Actor) error
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

// MayPause reports whether the actor may pause and resume systems.
func MayPause(by work.Actor) bool { return by.Can(work.Ops, work.Admin) }

// MayEndLookFirst reports whether the actor may end look-first.
func MayEndLookFirst(by work.Actor) bool { return by.Kind == work.Person && by.Can(work.Admin) }

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

// Resume lets sends go on.
func (s *Systems) Resume(ctx context.Context, by work.Actor, id string) error {
	if !MayPause(by) {
		return ErrForbidden
	}
	if err := s.known(ctx, id); err != nil {
		return err
	}
	return s.store.Resume(ctx, id, by)
}

// EndLookFirst ends look-first: only a signed-in admin may.
func (s *Systems) EndLookFirst(ctx context.Context, by work.Actor, id string) error {
	if !MayEndLookFirst(by) {
		return ErrForbidden
	}
	if err := s.known(ctx, id); err != nil {
		return err
	}
	return s.store.EndLookFirst(ctx, id, by)
}

// known returns ErrNotFound if there is no such system.
func (s *Systems) known(ctx context.Context, id string) error {
	all, err := s.store.Systems(ctx)
	if err == nil && !slices.ContainsFunc(all, func(sys work.System) bool { return sys.ID == id }) {
		err = ErrNotFound
	}
	return err
}
