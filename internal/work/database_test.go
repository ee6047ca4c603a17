package work_test

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"onefold/internal/work"
)

// database is a model of the store: what is committed, and the last few states to fall back to.
type database struct {
	state   state
	history []state
}

type state struct {
	items []work.Item // item n has the id n+1
	rows  map[rowID]work.Attempt
	acts  []work.Act
}

type rowID struct {
	item   int64
	number int
}

func newDatabase() *database { return &database{state: state{rows: map[rowID]work.Attempt{}}} }

func (d *database) item(id int64) work.Item {
	it := d.state.items[id-1]
	if it.PreviousID != 0 {
		previous := d.state.items[it.PreviousID-1]
		it.PreviousStatus, it.PreviousExternalID = previous.Status, previous.ExternalID
	}
	return it
}

// record inserts a new item unless its key is taken, as the store's unique index does.
func (d *database) record(it work.Item) (work.Item, bool) {
	for _, have := range d.state.items {
		sameKey := have.Automation == it.Automation && work.FoldKey(have.BusinessKey) == work.FoldKey(it.BusinessKey)
		if have.Step == it.Step && (sameKey || have.Reference == it.Reference) {
			return have, false
		}
	}
	it.ID = int64(len(d.state.items) + 1)
	d.state.items = append(slices.Clone(d.state.items), it)
	return it, true
}

// commit writes a move in one transaction. It returns an error if the move breaks what the store's constraints demand.
func (d *database) commit(m work.Move, now time.Time) error {
	d.history = append(d.history, d.state)
	if len(d.history) > 4 {
		d.history = d.history[1:]
	}
	if m.Seen == 0 {
		d.record(m.Item)
		return nil
	}
	before := d.state.items[m.Item.ID-1]
	if err := onlyForward(before, m, now); err != nil {
		return err
	}
	d.state.items = slices.Clone(d.state.items)
	d.state.items[m.Item.ID-1] = m.Item
	if m.Act != nil {
		d.state.acts = append(slices.Clone(d.state.acts), *m.Act)
	}
	if m.Then != nil {
		d.record(*m.Then)
	}
	return d.writeAttempt(m)
}

func (d *database) writeAttempt(m work.Move) error {
	id := rowID{m.Item.ID, m.Attempt.Number}
	have, exists := d.state.rows[id]
	if m.Op != work.NoAttempt && m.Attempt.ItemID != m.Item.ID {
		return fmt.Errorf("attempt of item %d written with item %d", m.Attempt.ItemID, m.Item.ID)
	}
	switch m.Op {
	case work.OpenAttempt:
		if exists || !m.Attempt.EndedAt.IsZero() || m.Attempt.Number != m.Item.OpenAttempt {
			return fmt.Errorf("attempt %d opened twice or closed", m.Attempt.Number)
		}
	case work.CloseAttempt:
		if !exists || !have.EndedAt.IsZero() || m.Attempt.EndedAt.IsZero() || have.Kind != m.Attempt.Kind {
			return fmt.Errorf("attempt %d closed but never opened, or closed twice", m.Attempt.Number)
		}
		m.Attempt.Key, m.Attempt.SendBy = have.Key, have.SendBy
	case work.LateAttempt:
		if exists || m.Attempt.LateFor == 0 && m.Attempt.AskedBy == "" || m.Attempt.EndedAt.IsZero() {
			return fmt.Errorf("late answer for %d has no row of its own", m.Attempt.LateFor)
		}
	default:
		return nil
	}
	d.state.rows = maps.Clone(d.state.rows)
	d.state.rows[id] = m.Attempt
	return nil
}

// forget puts back the state before the last n commits.
func (d *database) forget(n int) {
	n = min(n, len(d.history))
	if n > 0 {
		d.state = d.history[len(d.history)-n]
		d.history = d.history[:len(d.history)-n]
	}
}

// onlyForward checks what no move may change.
func onlyForward(before work.Item, m work.Move, now time.Time) error {
	after := m.Item
	switch {
	case m.Seen != before.Version || after.Version <= before.Version:
		return fmt.Errorf("version went from %d to %d", before.Version, after.Version)
	case !after.ChangedAt.Equal(now):
		return fmt.Errorf("changed at %s, not now", after.ChangedAt)
	case after.Reference != before.Reference || after.Key != before.Key || after.BusinessKey != before.BusinessKey || after.Step != before.Step:
		return fmt.Errorf("reference, key or name changed")
	case after.Revision < before.Revision || after.Revision == before.Revision && after.Invoice.Fingerprint() != before.Invoice.Fingerprint():
		return fmt.Errorf("content changed within revision %d", after.Revision)
	case after.Attempts < before.Attempts || after.Sends < before.Sends:
		return fmt.Errorf("attempts or sends were taken back")
	}
	return nil
}
