package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"onefold/internal/work"
)

// door is one open transaction of the write door, on either database.
type door interface {
	// now is the clock as it was when the transaction began or, later, when lockSystem had its lock.
	now() time.Time
	// lockSystem locks the system's row against other claims and settings, and reads it afresh. Ended calls are not in flight.
	lockSystem(ctx context.Context, id string, ended []work.EndedCall) (lockedSystem, error)
	// pick reads and locks items. Items that somebody else holds are waited for, or skipped for work.Pick.Expired.
	pick(ctx context.Context, pick work.Pick, now time.Time) ([]work.Item, error)
	// pickDue reads and locks at most limit items that are due and free.
	pickDue(ctx context.Context, due work.PickDue, findOnly bool, now time.Time, limit int) ([]work.Item, error)
	systems(ctx context.Context) ([]work.System, error)
	// update writes the items' state, guarded by id and version, and returns the ids that were written.
	update(ctx context.Context, p *plan) (map[int64]bool, error)
	// record inserts new items and every side row of the plan. Next steps that are there already are set to nil.
	record(ctx context.Context, p *plan) error
	pace(ctx context.Context, systemID string, at time.Time) error
	commit(ctx context.Context) error
	// rollback ends the transaction if it is still open.
	rollback()
}

// lockedSystem is a system under lock, with what a claim needs beside the settings.
type lockedSystem struct {
	work.System
	paced    time.Time // when the rate allows the next call
	inFlight int
}

const tries = 5

// Change is the one write door: one transaction picks items, has decide make moves of them, and writes all of the moves
// or none. It returns the moves that were written, new items with their ids.
//
// Decide gets the time and the items under lock with the rules of their systems. It may move any of the picked items, at
// most once each, and record new ones. It may be called more than once (when others were at the same items or keys) and
// only the moves of the last call for an item count; so it must do nothing but decide. It must not change what it gets.
// Items in hand are not locked first: those that changed meanwhile are read and decided again.
func (s *Store) Change(ctx context.Context, pick work.Pick, decide func(now time.Time, picked []work.Picked) ([]work.Move, error)) ([]work.Move, error) {
	for try := 1; ; try++ {
		moves, err := s.changeOnce(ctx, pick, decide)
		var key *KeyTaken
		if err != nil && try < tries && (errors.As(err, &key) || errors.Is(err, errAgain)) && ctx.Err() == nil {
			continue
		}
		return moves, err
	}
}

func (s *Store) changeOnce(ctx context.Context, pick work.Pick, decide func(now time.Time, picked []work.Picked) ([]work.Move, error)) ([]work.Move, error) {
	d, err := s.open(ctx, pick)
	if err != nil || d == nil {
		return nil, err
	}
	defer d.rollback()
	picked, system, err := s.pick(ctx, d, pick)
	if err != nil || pick.Due != nil && len(picked) == 0 {
		return nil, err
	}
	now := s.doorNow(d)
	moves, err := decide(now, picked)
	if err != nil || len(moves) == 0 {
		return nil, err
	}
	all := &plan{}
	missed, err := s.write(ctx, d, moves, picked, all)
	if err == nil && len(missed) > 0 {
		if len(pick.InHand) == 0 {
			return nil, fmt.Errorf("store: %d locked items were changed by somebody else", len(missed))
		}
		moves, err = s.again(ctx, d, now, moves, missed, decide, all)
	}
	if err != nil {
		return nil, s.explain(ctx, d, err, moves)
	}
	if n := all.opened(); system != nil && n > 0 && system.PerSecond > 0 {
		if err := d.pace(ctx, system.ID, advance(*system, now, n)); err != nil {
			return nil, err
		}
	}
	if err := d.commit(ctx); err != nil {
		return nil, err
	}
	everywhere, here := all.wakes()
	s.hub.wake(everywhere)
	s.hub.wake(here)
	return moves, nil
}

// open opens the door; nil if nothing is due.
func (s *Store) open(ctx context.Context, pick work.Pick) (door, error) {
	if pick.Due == nil {
		return s.db.begin(ctx)
	}
	var now time.Time
	if s.cfg.Clock != nil {
		now = s.cfg.Clock().UTC().Truncate(time.Microsecond)
	}
	return s.db.beginClaim(ctx, pick.Due.SystemID, now)
}

// pick reads the items of the pick with their rules; the system is set for a claim.
func (s *Store) pick(ctx context.Context, d door, pick work.Pick) ([]work.Picked, *lockedSystem, error) {
	if pick.InHand != nil {
		return pick.InHand, nil, nil
	}
	if pick.Due != nil {
		sys, err := d.lockSystem(ctx, pick.Due.SystemID, pick.Due.Ended)
		if err != nil {
			return nil, nil, err
		}
		now := s.doorNow(d)
		limit := min(pick.Due.Limit, sys.MaxInFlight-sys.inFlight, allowed(sys, now))
		if limit <= 0 {
			return nil, nil, nil
		}
		rules := sys.Rules()
		items, err := d.pickDue(ctx, *pick.Due, rules.NoSends, now, limit)
		picked := make([]work.Picked, len(items))
		for i := range items {
			picked[i] = work.Picked{Item: items[i], Rules: rules}
		}
		return picked, &sys, err
	}
	items, err := d.pick(ctx, pick, s.doorNow(d))
	if err != nil {
		return nil, nil, err
	}
	picked, err := withRules(ctx, d, items)
	return picked, nil, err
}

// withRules joins items with the rules of their systems.
func withRules(ctx context.Context, d door, items []work.Item) ([]work.Picked, error) {
	if len(items) == 0 {
		return nil, nil
	}
	systems, err := d.systems(ctx)
	if err != nil {
		return nil, err
	}
	rules := make(map[string]work.Rules, len(systems))
	for _, sys := range systems {
		rules[sys.ID] = sys.Rules()
	}
	picked := make([]work.Picked, len(items))
	for i, it := range items {
		r, ok := rules[it.SystemID]
		if !ok {
			return nil, fmt.Errorf("%w: %q of item %d", ErrSystemUnknown, it.SystemID, it.ID)
		}
		picked[i] = work.Picked{Item: it, Rules: r}
	}
	return picked, nil
}

// write writes the moves and adds what was written to all; missed are the items that the guard refused.
func (s *Store) write(ctx context.Context, d door, moves []work.Move, picked []work.Picked, all *plan) (missed []int64, err error) {
	p, err := newPlan(moves, picked)
	if err != nil {
		return nil, err
	}
	if len(p.updates) > 0 {
		written, err := d.update(ctx, p)
		if err != nil {
			return nil, err
		}
		if len(written) < len(p.updates) {
			missed = p.keep(written)
		}
	}
	if err := d.record(ctx, p); err != nil {
		return nil, err
	}
	all.updates, all.inserts = append(all.updates, p.updates...), append(all.inserts, p.inserts...)
	return missed, nil
}

// again reads the items that changed while they were in hand, and decides once more for just those.
func (s *Store) again(ctx context.Context, d door, now time.Time, moves []work.Move, missed []int64,
	decide func(now time.Time, picked []work.Picked) ([]work.Move, error), all *plan) ([]work.Move, error) {
	items, err := d.pick(ctx, work.Pick{IDs: missed}, now)
	if err != nil {
		return moves, err
	}
	picked, err := withRules(ctx, d, items)
	if err != nil {
		return moves, err
	}
	gone := make(map[int64]bool, len(missed))
	for _, id := range missed {
		gone[id] = true
	}
	written := make([]work.Move, 0, len(moves))
	for _, m := range moves {
		if !gone[m.Item.ID] {
			written = append(written, m)
		}
	}
	if len(picked) == 0 {
		return written, nil
	}
	more, err := decide(now, picked)
	if err != nil {
		return moves, err
	}
	if missed, err = s.write(ctx, d, more, picked, all); err == nil && len(missed) > 0 {
		err = fmt.Errorf("store: %d locked items were changed by somebody else", len(missed))
	}
	return append(written, more...), err
}

func (s *Store) doorNow(d door) time.Time {
	if s.cfg.Clock != nil {
		return s.cfg.Clock().UTC().Truncate(time.Microsecond)
	}
	return d.now()
}

// explain turns the refusal of a unique index into a typed error, by asking the database who holds the name.
func (s *Store) explain(ctx context.Context, d door, err error, moves []work.Move) error {
	var c *conflict
	if !errors.As(err, &c) {
		return err
	}
	d.rollback()
	switch c.index {
	case "items_external":
		ids, qerr := s.takenRecords(ctx, moves)
		if qerr != nil {
			return qerr
		}
		if len(ids) > 0 {
			return &RecordTaken{ItemID: ids[0], ItemIDs: ids}
		}
		return fmt.Errorf("%w: %w", errAgain, err) // who held it let it go meanwhile
	case "item_keys_reference":
		refs, qerr := s.takenReferences(ctx, moves)
		if qerr != nil {
			return qerr
		}
		if len(refs) > 0 {
			return &ReferenceTaken{Reference: refs[0], References: refs}
		}
		return fmt.Errorf("%w: %w", errAgain, err)
	}
	return err
}
