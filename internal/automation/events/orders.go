package events

import (
	"context"
	"errors"
	"fmt"
	"time"

	"onefold/internal/automation"
	"onefold/internal/work"
)

// Order is an order event as it came.
type Order struct {
	EventID string
	Type    string
	At      time.Time // when it happened, as the sender says; zero: not told
	New     work.New  // the item that it asks for; BusinessKey is the order's reference
	Digest  string    // see Digest
}

// Receive records the item that an order event asks for, once however often and however parallel the event comes. Nothing is
// done about the item here: the engine takes it up later, so that the answer never waits for an accounting system. From
// names the sender or token. An ErrReused or *Invalid is for the caller; it left nothing behind but its mention in the log.
func (s Service) Receive(ctx context.Context, from string, o Order) (automation.Recorded, error) {
	var none automation.Recorded
	id, err := cleanID(o.EventID)
	if err != nil {
		return none, err
	}
	if o.Type != OrderConfirmed {
		return none, &Invalid{"type", fmt.Sprintf("the type %.60q is not understood: send %q", o.Type, OrderConfirmed)}
	}
	e := Event{CompanyID: s.company(), Kind: Orders, Sender: from, EventID: id, Type: o.Type, Subject: o.New.BusinessKey, Digest: o.Digest, HappenedAt: o.At}
	was, found, err := s.Store.Event(ctx, e.CompanyID, e.Kind, e.Sender, e.EventID)
	switch {
	case err != nil:
		return none, err
	case found && was.done() && was.Digest != e.Digest:
		return none, ErrReused
	case found && was.done():
		it, err := s.Store.Item(ctx, e.CompanyID, was.ItemID)
		if err != nil {
			return none, err
		}
		return automation.Recorded{Result: automation.IntakeKnown, Item: it}, s.remember(ctx, was)
	}
	list, err := s.Intake.Record(ctx, []work.New{o.New})
	if err != nil {
		return none, err
	}
	if len(list) != 1 {
		return none, errors.New("the order was not recorded")
	}
	e.Result, e.ItemID = Result(list[0].Result), list[0].Item.ID
	if list[0].Err != nil {
		e.Detail = list[0].Err.Error()
	}
	// After a crash before this line the event comes again, and meets the item.
	return list[0], s.remember(ctx, e)
}

func (s Service) remember(ctx context.Context, e Event) error {
	now, err := s.Store.Now(ctx)
	if err != nil {
		return err
	}
	e.ReceivedAt = now
	return s.Store.RememberEvent(ctx, e)
}

// OrdersActor is who records the items of a sender's events.
func OrdersActor(sn Sender) work.Actor {
	return work.Actor{Kind: work.Automation, ID: "orders:" + sn.ID, Name: sn.Name}
}
