package review

import (
	"context"
	"errors"
	"slices"
	"time"

	"onefold/internal/work"
)

// LimitsStore is what the page of the limits needs from the database.
type LimitsStore interface {
	Now(ctx context.Context) (time.Time, error)
	Systems(ctx context.Context) ([]work.System, error)
	// Automations returns the names under which items were recorded.
	Automations(ctx context.Context, companyID int64) ([]string, error)
	// SetLimits has decide change the limits of a system or of one of its automations while nobody else can, and puts what
	// changed on record. Waiting items are planned anew after it. If nothing changed, nothing is recorded.
	SetLimits(ctx context.Context, systemID string, by work.Actor, automation, note string, decide func(work.System) (work.System, error)) error
	// LimitChanges returns the newest changes of a system's limits, newest first.
	LimitChanges(ctx context.Context, systemID string, most int) ([]LimitChange, error)
	// PastItems returns the items of a system that were recorded since a time, of the newest most items in all; an empty
	// automation is all of them.
	PastItems(ctx context.Context, companyID int64, systemID, automation string, since time.Time, most int) (PastItems, error)
}

// LimitChange is one change of limits on record.
type LimitChange struct {
	ID         int64
	At         time.Time
	By         work.Actor
	Automation string      // empty: of the system
	Before     work.Limits // only what differs; an empty text: none, or as the system has it
	After      work.Limits
	Note       string
}

// LimitsStale says that somebody else changed the limits since they were shown. Nothing was changed.
type LimitsStale struct {
	Was, Is work.Limits  // what differs: as it was shown, and as it is now
	Last    *LimitChange // the newest change, if one is known
}

func (e *LimitsStale) Error() string { return "the limits were changed meanwhile" }

// Limits are the limits of accounting systems and automations, for admins.
type Limits struct {
	store   LimitsStore
	company int64
}

// NewLimits returns the service.
func NewLimits(store LimitsStore, companyID int64) *Limits { return &Limits{store, companyID} }

// MayTune reports whether the actor may see and change limits: a signed-in admin.
func MayTune(by work.Actor) bool { return by.Kind == work.Person && by.Can(work.Admin) }

// TunedSystem is an accounting system with those who use it and what was changed.
type TunedSystem struct {
	work.System
	Automations []string // those that there are, or that have limits of their own here
	Changes     []LimitChange
}

// changesShown is how many changes a page shows.
const changesShown = 20

// List returns every system, by id.
func (l *Limits) List(ctx context.Context, by work.Actor) ([]TunedSystem, error) {
	if !MayTune(by) {
		return nil, ErrForbidden
	}
	all, err := l.store.Systems(ctx)
	if err != nil {
		return nil, err
	}
	list := make([]TunedSystem, len(all))
	for i, sys := range all {
		if list[i], err = l.tuned(ctx, sys, 1); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// System returns one system with the newest changes, or ErrNotFound.
func (l *Limits) System(ctx context.Context, by work.Actor, id string) (TunedSystem, error) {
	if !MayTune(by) {
		return TunedSystem{}, ErrForbidden
	}
	sys, err := l.system(ctx, id)
	if err != nil {
		return TunedSystem{}, err
	}
	return l.tuned(ctx, sys, changesShown)
}

func (l *Limits) system(ctx context.Context, id string) (work.System, error) {
	all, err := l.store.Systems(ctx)
	if err != nil {
		return work.System{}, err
	}
	for _, sys := range all {
		if sys.ID == id {
			return sys, nil
		}
	}
	return work.System{}, ErrNotFound
}

func (l *Limits) tuned(ctx context.Context, sys work.System, changes int) (t TunedSystem, err error) {
	t.System = sys
	if t.Changes, err = l.store.LimitChanges(ctx, sys.ID, changes); err != nil {
		return t, err
	}
	if t.Automations, err = l.store.Automations(ctx, l.company); err != nil {
		return t, err
	}
	for name := range sys.Overrides {
		if !slices.Contains(t.Automations, name) {
			t.Automations = append(t.Automations, name)
		}
	}
	slices.Sort(t.Automations)
	return t, nil
}

// Change puts these limits in the place of those of the system, or of one automation, if they are still as the admin saw
// them. It returns ErrForbidden, ErrNotFound, *LimitsStale, work.LimitsRefused or work.LimitsImpossible.
func (l *Limits) Change(ctx context.Context, by work.Actor, id, automation string, seen, limits work.Limits, note string) error {
	if !MayTune(by) {
		return ErrForbidden
	}
	return l.set(ctx, by, id, automation, note, func(sys work.System) (work.System, error) {
		if was, is := seen.Differ(sys.Limits(automation)); len(is) > 0 {
			return sys, &LimitsStale{Was: was, Is: is}
		}
		return sys.WithLimits(automation, limits)
	})
}

// Undo puts back what a change on record changed, as a new change. It returns *LimitsStale if something of it was changed
// again since, and otherwise as Change.
func (l *Limits) Undo(ctx context.Context, by work.Actor, id string, change int64, note string) error {
	if !MayTune(by) {
		return ErrForbidden
	}
	undone, err := l.change(ctx, id, change)
	if err != nil {
		return err
	}
	return l.set(ctx, by, id, undone.Automation, note, func(sys work.System) (work.System, error) {
		limits := sys.Limits(undone.Automation)
		now := work.Limits{}
		for name := range undone.After {
			now[name] = limits[name]
		}
		if was, is := undone.After.Differ(now); len(is) > 0 {
			return sys, &LimitsStale{Was: was, Is: is}
		}
		for name, text := range undone.Before {
			limits[name] = text
		}
		return sys.WithLimits(undone.Automation, limits)
	})
}

func (l *Limits) set(ctx context.Context, by work.Actor, id, automation, note string, decide func(work.System) (work.System, error)) error {
	if _, err := l.system(ctx, id); err != nil {
		return err
	}
	err := l.store.SetLimits(ctx, id, by, automation, Input{Note: note}.clean().Note, decide)
	var stale *LimitsStale
	if errors.As(err, &stale) {
		changes, readErr := l.store.LimitChanges(ctx, id, changesShown)
		if readErr != nil {
			return readErr
		}
		for i := range changes {
			if changes[i].Automation == automation && touches(changes[i], stale.Is) {
				stale.Last = &changes[i]
				break
			}
		}
	}
	return err
}

// touches reports whether the change is about one of the limits.
func touches(c LimitChange, limits work.Limits) bool {
	for name := range limits {
		if _, is := c.After[name]; is {
			return true
		}
	}
	return false
}

func (l *Limits) change(ctx context.Context, systemID string, id int64) (LimitChange, error) {
	changes, err := l.store.LimitChanges(ctx, systemID, undoable)
	if err != nil {
		return LimitChange{}, err
	}
	for _, c := range changes {
		if c.ID == id {
			return c, nil
		}
	}
	return LimitChange{}, ErrNotFound
}

// undoable is how many changes back one may be undone.
const undoable = 200
