package review

import (
	"context"
	"time"

	"onefold/internal/work"
)

// Detail is everything that the page of one item shows.
type Detail struct {
	Item      work.Item
	System    work.System
	Chain     []work.Item    // all recorded steps of the document, in order
	Attempts  []work.Attempt // newest first
	Older     bool           // there are attempts before these
	Acts      []work.Act     // what people did last, newest first
	History   []Line         // this part of what happened, newest first
	Next      Place          // where the part before it begins; zero: there is none
	PrunedAt  time.Time      // when attempts were last removed as too old; zero: none were, or there is an older part
	Pruned    int64          // how many
	Corrected []Corrected    // newest first
	Offers    []Offered
	Settled   time.Time      // when the last unsettled send counts as settled; zero: nothing is unsettled
	Seen      *Sighting      // what the accounting system was last seen to hold; nil: nothing was seen
	Accepted  *Accepted      // the same difference was let count at an earlier step; nil: it was not
	Proposal  *work.Revision // the correction that waits; nil: none
	Now       time.Time
}

// Detail reads one item for its page, with the part of its history that begins there, or ErrNotFound.
func (s *Service) Detail(ctx context.Context, by work.Actor, id int64, from Place) (Detail, error) {
	if !MayRead(by) {
		return Detail{}, ErrForbidden
	}
	var d Detail
	var err error
	// The clock first: what a form was shown must not be younger than the form.
	if d.Now, err = s.store.Now(ctx); err != nil {
		return Detail{}, err
	}
	if d.Item, err = s.store.Item(ctx, s.company, id); err != nil {
		return Detail{}, err
	}
	if d.System, err = s.store.System(ctx, d.Item.SystemID); err != nil {
		return Detail{}, err
	}
	if d.Chain, err = s.store.Chain(ctx, d.Item); err != nil {
		return Detail{}, err
	}
	if err = s.part(ctx, &d, from); err != nil {
		return Detail{}, err
	}
	if d.Next == (Place{}) {
		if d.PrunedAt, d.Pruned, err = s.store.PrunedAttempts(ctx, id); err != nil {
			return Detail{}, err
		}
	}
	if d.Seen, err = s.sighting(ctx, d.Item); err != nil {
		return Detail{}, err
	}
	if d.Accepted, err = s.accepted(ctx, d.Item, d.Seen, d.Chain); err != nil {
		return Detail{}, err
	}
	if d.Corrected, err = s.corrections(ctx, d.Item); err != nil {
		return Detail{}, err
	}
	if d.Item.Proposed > 0 {
		proposal, err := s.store.Revision(ctx, id, d.Item.Proposed)
		if err != nil {
			return Detail{}, err
		}
		d.Proposal = &proposal
	}
	rules := d.System.RulesFor(d.Item.Automation)
	d.Offers, d.Settled = Offer(d.Item, by, rules, d.Now), d.Item.SettledAt(rules)
	return d, nil
}

// Moved is what happened to the item last, if it is not as it was in the version that somebody saw; else nil.
func (d Detail) Moved(seen int64) *Conflict {
	if d.Item.Version == seen {
		return nil
	}
	return newest(d.Item, d.Acts, d.Attempts)
}

// beside is how long somebody who did something to an item counts as being at it.
const beside = 10 * time.Minute

// Colleague is the newest act of another person within the last minutes: they may still be at it. Nil: nobody.
func (d Detail) Colleague(by work.Actor) *work.Act {
	for i := range d.Acts {
		a := &d.Acts[i]
		if d.Now.Sub(a.At) > beside {
			return nil
		}
		if a.By.Kind == work.Person && !a.By.Same(by) {
			return a
		}
	}
	return nil
}
