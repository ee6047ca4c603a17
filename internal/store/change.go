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
	// now is the clock as it was when the transaction began or, for a claim, when it had its lock.
	now() time.Time
	// pick reads and locks items. Items that somebody else holds are waited for, or skipped for work.Pick.Expired.
	pick(ctx context.Context, pick work.Pick, now time.Time) ([]work.Item, error)
	// pickDue reads and locks at most limit items that are due and free.
	pickDue(ctx context.Context, due work.PickDue, findOnly bool, now time.Time, limit int) ([]work.Item, error)
	systems(ctx context.Context) ([]work.System, error)
	// write writes the items' state, guarded by id and version, inserts new items, and writes every side row of the plan.
	// Next steps that are there already are set to nil. It returns errMissed if the guard refused an item.
	write(ctx context.Context, p *plan) error
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
// Items in hand are not locked first: if any of them changed meanwhile, all are read under lock and decided again.
func (s *Store) Change(ctx context.Context, pick work.Pick, decide func(now time.Time, picked []work.Picked) ([]work.Move, error)) ([]work.Move, error) {
	for try := 1; ; try++ {
		moves, err := s.changeOnce(ctx, pick, decide)
		if errors.Is(err, errMissed) && pick.InHand != nil {
			pick = pick.Locked()
			continue
		}
		var key *KeyTaken
		if err != nil && try < tries && (errors.As(err, &key) || errors.Is(err, errAgain)) && ctx.Err() == nil {
			continue
		}
		return moves, err
	}
}

func (s *Store) changeOnce(ctx context.Context, pick work.Pick, decide func(now time.Time, picked []work.Picked) ([]work.Move, error)) ([]work.Move, error) {
	d, system, err := s.open(ctx, pick)
	if err != nil || d == nil {
		return nil, err
	}
	defer d.rollback()
	picked, err := s.pick(ctx, d, pick, system)
	if err != nil || pick.Due != nil && len(picked) == 0 {
		return nil, err
	}
	now := s.doorNow(d)
	moves, err := decide(now, picked)
	if err != nil || len(moves) == 0 {
		return nil, err
	}
	p, err := newPlan(moves, picked)
	if err != nil {
		return nil, err
	}
	if err := d.write(ctx, p); err != nil {
		return nil, s.explain(ctx, d, err, moves)
	}
	if n := p.opened(); system != nil && n > 0 && system.PerSecond > 0 {
		if err := d.pace(ctx, system.ID, advance(*system, now, n)); err != nil {
			return nil, err
		}
	}
	if err := d.commit(ctx); err != nil {
		return nil, err
	}
	everywhere, here := p.wakes()
	s.hub.wake(everywhere)
	s.hub.wake(here)
	return moves, nil
}

// open opens the door, for a claim with the system under lock; nil if nothing is due.
func (s *Store) open(ctx context.Context, pick work.Pick) (door, *lockedSystem, error) {
	if pick.Due == nil {
		d, err := s.db.begin(ctx)
		return d, nil, err
	}
	var now time.Time
	if s.cfg.Clock != nil {
		now = s.cfg.Clock().UTC().Truncate(time.Microsecond)
	}
	return s.db.beginClaim(ctx, *pick.Due, now)
}

// pick reads the items of the pick with their rules.
func (s *Store) pick(ctx context.Context, d door, pick work.Pick, sys *lockedSystem) ([]work.Picked, error) {
	if pick.InHand != nil {
		return pick.InHand, nil
	}
	if pick.Due != nil {
		now := s.doorNow(d)
		limit := min(pick.Due.Limit, sys.MaxInFlight-sys.inFlight, allowed(*sys, now))
		if limit <= 0 {
			return nil, nil
		}
		items, err := d.pickDue(ctx, *pick.Due, sys.Rules().NoSends, now, limit)
		picked := make([]work.Picked, len(items))
		for i := range items {
			picked[i] = work.Picked{Item: items[i], Rules: sys.RulesFor(items[i].Automation)}
		}
		return picked, err
	}
	items, err := d.pick(ctx, pick, s.doorNow(d))
	if err != nil {
		return nil, err
	}
	return withRules(ctx, d, items)
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
	byID := make(map[string]work.System, len(systems))
	for _, sys := range systems {
		byID[sys.ID] = sys
	}
	picked := make([]work.Picked, len(items))
	for i, it := range items {
		sys, ok := byID[it.SystemID]
		if !ok {
			return nil, fmt.Errorf("%w: %q of item %d", ErrSystemUnknown, it.SystemID, it.ID)
		}
		picked[i] = work.Picked{Item: it, Rules: sys.RulesFor(it.Automation)}
	}
	return picked, nil
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
