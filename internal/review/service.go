package review

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"onefold/internal/work"
)

// ErrForbidden says that the actor has no right to see or do this.
var ErrForbidden = errors.New("not allowed")

// Seen names the item and how it was when the person decided: the version and the time of the page.
type Seen struct {
	ID      int64
	Version int64
	At      time.Time // by the database's clock
}

// Done says what came of an action.
type Done struct {
	Item  work.Item
	At    time.Time
	Again bool // the same form had been honoured before; nothing was done this time
}

// Conflict says that the item changed after the person had seen it: nothing was done. Act or Attempt is the newest
// thing that happened, if any is known.
type Conflict struct {
	Item    work.Item // as it is now
	Act     *work.Act
	Attempt *work.Attempt
}

func (c *Conflict) Error() string {
	switch {
	case c.Act != nil:
		return fmt.Sprintf("already handled by %s (%s) at %s", c.Act.By.Name, c.Act.What, c.Act.At.UTC().Format(time.RFC3339))
	case c.Attempt != nil:
		return fmt.Sprintf("changed by the automation (%s) at %s", c.Attempt.Kind, c.At().UTC().Format(time.RFC3339))
	}
	return fmt.Sprintf("changed at %s", c.Item.ChangedAt.UTC().Format(time.RFC3339))
}

// At is when the newest thing happened.
func (c *Conflict) At() time.Time {
	switch {
	case c.Act != nil:
		return c.Act.At
	case c.Attempt != nil:
		return Moment(*c.Attempt)
	}
	return c.Item.ChangedAt
}

// Moment is when an attempt last showed something: its end, or its start while it is open.
func Moment(a work.Attempt) time.Time {
	if a.EndedAt.After(a.StartedAt) {
		return a.EndedAt
	}
	return a.StartedAt
}

// Service is what staff may do with the items of one company. It is safe for concurrent use.
type Service struct {
	store   Store
	company int64
}

// New returns the service for a company.
func New(store Store, companyID int64) *Service { return &Service{store: store, company: companyID} }

// Now is the database's clock.
func (s *Service) Now(ctx context.Context) (time.Time, error) { return s.store.Now(ctx) }

// Search lists items. The text is trimmed; the limit is kept between 1 and 200.
func (s *Service) Search(ctx context.Context, by work.Actor, q Query) (Page, error) {
	if !MayRead(by) {
		return Page{}, ErrForbidden
	}
	q = s.clean(q)
	q.Limit = min(max(q.Limit, 1), 200)
	return s.store.Search(ctx, q)
}

// clean is the query within the service's company, without what nobody meant to type.
func (s *Service) clean(q Query) Query {
	q.CompanyID = s.company
	q.Text = strings.TrimSpace(strings.ReplaceAll(strings.ToValidUTF8(q.Text, "\uFFFD"), "\x00", ""))
	return q
}

// Counts returns the number of business keys in each tab.
func (s *Service) Counts(ctx context.Context, by work.Actor) (map[Tab]int64, error) {
	if !MayRead(by) {
		return nil, ErrForbidden
	}
	return s.store.Counts(ctx, s.company)
}

// Item returns one item as it is, or ErrNotFound.
func (s *Service) Item(ctx context.Context, by work.Actor, id int64) (work.Item, error) {
	if !MayRead(by) {
		return work.Item{}, ErrForbidden
	}
	return s.store.Item(ctx, s.company, id)
}

// Chain returns all recorded steps of the item's document, in order.
func (s *Service) Chain(ctx context.Context, by work.Actor, it work.Item) ([]work.Item, error) {
	if !MayRead(by) {
		return nil, ErrForbidden
	}
	return s.store.Chain(ctx, it)
}

// Act carries out one action if the item is still as the person saw it. The same form honoured twice has one effect and
// the same answer. It returns ErrForbidden, ErrNotFound, a *Conflict if somebody was faster, or a *work.Refusal.
func (s *Service) Act(ctx context.Context, by work.Actor, a Action, seen Seen, in Input) (Done, error) {
	if !mayAct(by) {
		return Done{}, ErrForbidden
	}
	in = in.clean()
	var there *Sighting
	if a == Resolve && !in.Differs {
		it, err := s.store.Item(ctx, s.company, seen.ID)
		if err != nil {
			return Done{}, err
		}
		if there, err = s.sighting(ctx, it); err != nil {
			return Done{}, err
		}
	}
	done, err := s.change(ctx, by, a, seen, in, there)
	for try := 0; a == Note && errors.As(err, new(*Conflict)) && try < noteTries; try++ {
		// A remark holds whatever happened meanwhile, and what was typed must not be lost.
		var conflict *Conflict
		errors.As(err, &conflict)
		seen.Version = conflict.Item.Version
		done, err = s.change(ctx, by, a, seen, in, there)
	}
	return done, err
}

const noteTries = 5

// change carries out the action on the version that was seen.
func (s *Service) change(ctx context.Context, by work.Actor, a Action, seen Seen, in Input, there *Sighting) (Done, error) {
	var done Done
	var stale *work.Item
	_, err := s.store.Change(ctx, work.Pick{IDs: []int64{seen.ID}}, func(now time.Time, picked []work.Picked) ([]work.Move, error) {
		done, stale = Done{}, nil // a change may be decided more than once
		if len(picked) != 1 || picked[0].Item.CompanyID != s.company {
			return nil, ErrNotFound
		}
		it := picked[0].Item
		if it.Version != seen.Version {
			stale = &it
			return nil, nil
		}
		move, err := decide(a, in, by, it, picked[0].Rules, now)
		if err != nil {
			return nil, err
		}
		if there.Is(in.Reference) && there.AmountDiffers(it) {
			return nil, &work.Refusal{Code: RefusedDiffers}
		}
		done = Done{Item: move.Item, At: now}
		return []work.Move{move}, nil
	})
	var taken interface{ TakenBy() int64 } // how a store says that the record belongs to another item
	switch {
	case errors.As(err, &taken):
		return Done{}, &work.Refusal{Code: RefusedTaken}
	case err != nil:
		return Done{}, err
	case stale != nil:
		return s.tooLate(ctx, by, a, seen, in, *stale)
	}
	return done, nil
}

// recentActs is how far back a spent form is recognised.
const recentActs = 50

// tooLate tells the same form sent again from a colleague who was faster.
func (s *Service) tooLate(ctx context.Context, by work.Actor, a Action, seen Seen, in Input, it work.Item) (Done, error) {
	acts, err := s.store.Acts(ctx, it.ID, recentActs)
	if err != nil {
		return Done{}, err
	}
	since := seen.At.Truncate(time.Millisecond) // databases keep less than nanoseconds
	for _, act := range acts {
		if act.At.Before(since) {
			break
		}
		if act.What == a.Event() && act.By.Same(by) && (a != Note || act.Note == in.Note) {
			return Done{Item: it, At: act.At, Again: true}, nil
		}
	}
	attempts, err := s.store.Attempts(ctx, it.ID, 0, 1)
	if err != nil {
		return Done{}, err
	}
	return Done{}, newest(it, acts, attempts)
}

// newest is what happened last to an item, of its acts and attempts, the newest first.
func newest(it work.Item, acts []work.Act, attempts []work.Attempt) *Conflict {
	c := &Conflict{Item: it}
	if len(attempts) > 0 {
		c.Attempt = &attempts[0]
	}
	if len(acts) > 0 && (c.Attempt == nil || !acts[0].At.Before(Moment(*c.Attempt))) {
		c.Act, c.Attempt = &acts[0], nil
	}
	return c
}
