//go:build unix

package crash

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	"onefold/internal/review"
	"onefold/internal/store"
	"onefold/internal/work"
)

// people act through the same service as the pages, while everything around them fails.
type people struct {
	staff *review.Service
	acts  atomic.Int64
	hard  atomic.Int64 // errors that are no refusal: a database that was busy
	last  atomic.Value // the last of them
}

var ada = work.Actor{Kind: work.Person, ID: "7", Name: "Ada Brown", Roles: []work.Role{work.Operator}}

func newPeople(t *testing.T, databaseURL string) *people {
	t.Helper()
	st, err := store.Open(t.Context(), store.Config{URL: databaseURL, Node: "people"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() }) //nolint:errcheck,gosec // on the way out
	return &people{staff: review.New(st, 1)}
}

// run acts until ctx ends: checks, retries and holds what the automation works on, and takes up what is held.
func (p *people) run(ctx context.Context) {
	rnd := rand.New(rand.NewPCG(*seed, 2)) //nolint:gosec // a test
	tabs := []review.Tab{review.TabWaiting, review.TabUnknown, review.TabReview}
	for pause(ctx, time.Duration(50+rnd.IntN(150))*time.Millisecond) {
		page, at, err := p.list(ctx, tabs[rnd.IntN(len(tabs))])
		if err != nil {
			p.failed(ctx, err)
			continue
		}
		if len(page.Items) == 0 {
			continue
		}
		it := page.Items[rnd.IntN(len(page.Items))]
		if it.Status == work.Review {
			p.takeUp(ctx, it, at)
			continue
		}
		switch dice := rnd.IntN(10); {
		case dice < 4:
			p.act(ctx, review.Check, it, at, review.Input{})
		case dice < 7:
			p.act(ctx, review.Retry, it, at, review.Input{})
		default:
			p.act(ctx, review.Hold, it, at, review.Input{Note: "the customer called, let me see"})
		}
	}
}

func (p *people) list(ctx context.Context, tab review.Tab) (review.Page, time.Time, error) {
	at, err := p.staff.Now(ctx)
	if err != nil {
		return review.Page{}, at, err
	}
	page, err := p.staff.Search(ctx, ada, review.Query{Tab: tab, Limit: 100})
	return page, at, err
}

// takeUp does what the item's page suggests, without saying anything that was not seen.
func (p *people) takeUp(ctx context.Context, it work.Item, at time.Time) {
	switch {
	case it.Reason == work.ReasonDuplicates: // for the accountant
	case it.SeenID != "" && it.Positive == work.RecordWasFound:
		p.act(ctx, review.Resolve, it, at, review.Input{Reference: it.SeenID, Note: "it is there, as shown"})
	case it.Reason != work.ReasonHeld:
	case p.act(ctx, review.Retry, it, at, review.Input{}) == done:
	default:
		p.act(ctx, review.Check, it, at, review.Input{})
	}
}

// what became of an act
type result int

const (
	done    result = iota
	refused        // not possible, or somebody was faster
	settles        // not yet: a send may still be at work
)

func (p *people) act(ctx context.Context, a review.Action, it work.Item, at time.Time, in review.Input) result {
	_, err := p.staff.Act(ctx, ada, a, review.Seen{ID: it.ID, Version: it.Version, At: at}, in)
	var refusal *work.Refusal
	var conflict *review.Conflict
	switch {
	case err == nil:
		p.acts.Add(1)
		return done
	case errors.As(err, &refusal) && refusal.Code == work.RefusedSettling:
		return settles
	case !errors.As(err, &refusal) && !errors.As(err, &conflict):
		p.failed(ctx, err)
	}
	return refused
}

func (p *people) failed(ctx context.Context, err error) {
	if ctx.Err() == nil {
		p.hard.Add(1)
		p.last.Store(err.Error())
	}
}

// clearDesk is the end of the day: everything that a person can settle truthfully is settled. There tells what the
// accounting system's own page shows: the record of a reference, or none. It reports how many items were acted on, and
// how many must wait for a send to settle.
func (p *people) clearDesk(ctx context.Context, there func(key) (id string, ok bool)) (acted, waiting int, err error) {
	q := review.Query{Tab: review.TabReview, Limit: 200}
	for {
		at, err := p.staff.Now(ctx)
		if err != nil {
			return acted, waiting, err
		}
		page, err := p.staff.Search(ctx, ada, q)
		if err != nil {
			return acted, waiting, err
		}
		for _, it := range page.Items {
			id, ok := there(key{it.SystemID, it.Reference, it.Step})
			came := refused
			switch {
			case it.Reason == work.ReasonDuplicates:
			case ok:
				came = p.act(ctx, review.Resolve, it, at, review.Input{Reference: id, Note: "it is in the accounting system: " + id})
			case it.Reason == work.ReasonCannotLookUp || it.Reason == work.ReasonHeld || it.Reason == work.ReasonCouldNotCheck:
				came = p.act(ctx, review.Attest, it, at, review.Input{Note: "I looked through all invoices of the customer, it is not there"})
			}
			switch came {
			case done:
				acted++
			case settles:
				waiting++
			}
		}
		if q.After = page.Next; q.After == (review.Cursor{}) {
			return acted, waiting, nil
		}
	}
}

func (p *people) String() string {
	s := fmt.Sprintf("%d acts of people", p.acts.Load())
	if n := p.hard.Load(); n > 0 {
		s += fmt.Sprintf(", %d could not be written (%v)", n, p.last.Load())
	}
	return s
}
