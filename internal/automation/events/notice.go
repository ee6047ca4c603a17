package events

import (
	"context"
	"errors"
	"time"

	"onefold/internal/work"
)

// Notice is what an accounting system tells us of one of its documents. It is a hint and never proof: whoever could send it
// could be wrong, late or out of order.
type Notice struct {
	EventID   string
	Type      string    // in the system's own words; only remembered
	At        time.Time // when it happened there; zero: not told
	Reference string    // our reference that the document carries; empty: not told
	RecordID  string    // the document's id there; empty: not told
	Digest    string    // see Digest
}

func (n Notice) subject() string {
	if n.Reference != "" {
		return n.Reference
	}
	return n.RecordID
}

// Notify takes in a notice of the system: the item that it names is looked up at once. Nothing else about the item changes,
// whatever the notice says. A notice that is older than another one about the same document, or that names nothing we know,
// is only remembered.
func (s Service) Notify(ctx context.Context, systemID string, n Notice) (Result, error) {
	id, err := cleanID(n.EventID)
	if err != nil {
		return "", err
	}
	if n.subject() == "" || len(n.subject()) > 4*maxName || len(n.Type) > maxName {
		return "", &Invalid{"reference", "\"reference\" or \"record_id\" must name the document"}
	}
	e := Event{CompanyID: s.company(), Kind: System, Sender: systemID, EventID: id, Type: n.Type, Subject: n.subject(), Digest: n.Digest, HappenedAt: n.At}
	was, found, err := s.Store.Event(ctx, e.CompanyID, e.Kind, e.Sender, e.EventID)
	switch {
	case err != nil:
		return "", err
	case found && was.done() && was.Digest != e.Digest:
		return "", ErrReused
	case found && was.done():
		return was.Result, s.remember(ctx, was)
	}
	newest, err := s.Store.NewestEvent(ctx, e.CompanyID, e.Kind, e.Sender, e.Subject)
	if err != nil {
		return "", err
	}
	if !n.At.IsZero() && newest.After(n.At) {
		e.Result, e.Detail = Outdated, "a newer notice of the same document came before"
		return e.Result, s.remember(ctx, e)
	}
	if err := s.look(ctx, &e, n); err != nil {
		return "", err
	}
	return e.Result, s.remember(ctx, e)
}

// look records the wish to look: at the first step that is not settled, else at the last one.
func (s Service) look(ctx context.Context, e *Event, n Notice) error {
	ids, err := s.Store.ItemsNamed(ctx, e.CompanyID, e.Sender, n.Reference, n.RecordID)
	if err != nil {
		return err
	}
	e.Result, e.Detail = Unknown, "no invoice here has this reference or record"
	if len(ids) == 0 {
		return nil
	}
	by := work.Actor{Kind: work.Automation, ID: "notice:" + e.Sender, Name: "Notice from " + e.Sender}
	_, err = s.Store.Change(ctx, work.Pick{IDs: ids}, func(now time.Time, picked []work.Picked) ([]work.Move, error) {
		if len(picked) == 0 {
			return nil, nil
		}
		p := aimedAt(picked)
		e.ItemID, e.Result, e.Detail = p.Item.ID, Looking, ""
		m, err := work.Decide(p.Item, work.Check{By: by}, p.Rules, now)
		var no *work.Refusal
		if errors.As(err, &no) {
			e.Result, e.Detail = Noted, refusedLook(no.Code)
			return nil, nil
		}
		return []work.Move{m}, err
	})
	return err
}

func aimedAt(picked []work.Picked) work.Picked {
	var last work.Picked
	for _, p := range picked {
		switch {
		case last.Item.ID == 0,
			p.Item.Status.Open() && (last.Item.Status.Settled() || p.Item.ID < last.Item.ID),
			p.Item.Status.Settled() && last.Item.Status.Settled() && p.Item.ID > last.Item.ID:
			last = p
		}
	}
	return last
}

func refusedLook(code work.RefusalCode) string {
	switch code {
	case work.RefusedOpen:
		return "it was being sent or checked at that moment"
	case work.RefusedUnsearched:
		return "this accounting system cannot be searched"
	}
	return "there was nothing to look for"
}
