package automation

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"onefold/internal/ledger"
	"onefold/internal/work"
)

// call makes the one outside call of a task.
func (l *lane) call(ctx context.Context, t task) closing {
	it := t.picked.Item
	begun := l.Now()
	ctx = l.Observer.Begin(ctx, t.call())
	ctx, cancel := context.WithTimeout(ctx, t.picked.Rules.Policy.RequestTimeout)
	defer cancel()
	var ev work.Event
	if it.OpenKind == work.Send {
		ev = work.SendClosed{Attempt: it.OpenAttempt, Answer: l.send(ctx, t)}
	} else {
		ev = work.FindClosed{Attempt: it.OpenAttempt, Lookup: l.find(ctx, t)}
	}
	l.tellEnd(ctx, &t, ev, l.Now().Sub(begun))
	return closing{t, ev}
}

func (l *lane) send(ctx context.Context, t task) work.Answer {
	it := t.picked.Item
	if t.deadline.Passed(l.Now()) {
		return work.Answer{Outcome: work.NotSent, Exchange: work.Exchange{Error: "it was not sent: too much time had passed since it was taken up"}}
	}
	req := ledger.Request{Step: it.Step, Reference: it.Reference, Key: it.CurrentKey(), PreviousRecordID: it.PreviousExternalID,
		Invoice: it.Invoice, SendBy: t.deadline}
	a := ledger.DoSend(ctx, t.link.sys, req, func(late work.Answer) { l.answeredLate(ctx, it, late) })
	if want := it.Identity; want != "" && a.Exchange.Identity != "" && a.Exchange.Identity != want && a.Outcome == work.Accepted {
		a.Match, a.Remark = work.MatchDifferent, fmt.Sprintf("it was made in the books %q instead of %q", a.Exchange.Identity, want)
	}
	return a
}

// answeredLate keeps an answer that came after its call had been given up.
func (l *lane) answeredLate(ctx context.Context, it work.Item, a work.Answer) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	err := l.late(ctx, it, func(now time.Time) work.Event {
		return work.LateAnswer{Attempt: it.OpenAttempt, Ended: now, Answer: a}
	})
	if err != nil {
		l.Log.ErrorContext(ctx, "a late answer could not be kept", "system", it.SystemID, "item", it.ID, "key", it.BusinessKey, "attempt", it.OpenAttempt, "error", err)
	}
}

func (l *lane) find(ctx context.Context, t task) work.Lookup {
	it, r := t.picked.Item, t.picked.Rules
	begun := l.Now()
	found := ledger.DoFind(ctx, t.link.sys, queryOf(it), it.Invoice)
	if want := it.Identity; want != "" && found.Exchange.Identity != "" && found.Exchange.Identity != want {
		return couldNotTell(found, fmt.Errorf("the address leads to the books %q, the item was sent to %q", found.Exchange.Identity, want))
	}
	if found.Finding == work.NotFound {
		// A miss counts only if the same search, in the same books, still finds what we know is there.
		if err := t.link.control.check(ctx, l, t.link.sys, it, r, begun); err != nil {
			return couldNotTell(found, err)
		}
	}
	return found
}

// queryOf asks for all that was ever sent for the item. An earlier revision may have had another customer.
func queryOf(it work.Item) ledger.Query {
	q := ledger.Query{Step: it.Step, Reference: it.Reference, PreviousRecordID: it.PreviousExternalID}
	if it.Revision > 1 {
		q.Since = it.RecordedAt
	} else {
		q.Customer, q.Since = it.Invoice.CustomerID, it.FirstSentAt
	}
	return q
}

func couldNotTell(l work.Lookup, why error) work.Lookup {
	l.Finding, l.Record, l.Count = work.CouldNotTell, work.Record{}, 0
	l.Exchange.Error = "it could not be checked: " + why.Error()
	return l
}

// control proves that a search can be trusted. One proof serves all lookups that had begun before it.
type control struct {
	mu     sync.Mutex
	proven map[string]time.Time // by step and books: when the last successful proof began
}

// check returns an error if the connection reaches other books than the item was sent to, or if the search does not
// find the newest records that we know are there. Nothing known: nothing to check.
func (c *control) check(ctx context.Context, l *lane, sys ledger.System, it work.Item, r work.Rules, lookupBegun time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	about := it.Step + "\x00" + it.Identity
	if at, ok := c.proven[about]; ok && !at.Before(lookupBegun) {
		return nil
	}
	begun := l.Now()
	identity, err := ledger.DoIdentity(ctx, sys)
	if err != nil {
		return fmt.Errorf("the accounting system did not say whose books it shows: %w", err)
	}
	if it.Identity != "" && identity != it.Identity {
		return fmt.Errorf("the address leads to the books %q, the item was sent to %q", identity, it.Identity)
	}
	now, err := l.Store.Now(ctx)
	if err != nil {
		return errors.New("the database did not answer")
	}
	known, err := l.Store.NewestConfirmed(ctx, l.id, it.Step, now.Add(-r.SearchLag()), 3)
	if err != nil {
		return errors.New("the database did not answer")
	}
	for _, k := range known {
		if f := ledger.DoFind(ctx, sys, queryOf(k), k.Invoice); f.Finding.Found() {
			known = nil
			break
		}
	}
	if len(known) > 0 {
		return fmt.Errorf("the search does not find %s either, which is known to be there", known[0].Reference)
	}
	if c.proven == nil {
		c.proven = map[string]time.Time{}
	}
	c.proven[about] = begun
	return nil
}
