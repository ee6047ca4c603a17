package store

import (
	"fmt"
	"slices"

	"onefold/internal/work"
)

// plan is what the moves of one decision write, table by table.
type plan struct {
	updates   []*work.Move
	before    []*work.Item // of updates, the items as they were
	inserts   []*work.Move // new items
	recorders []*work.Move // updates that also change who recorded the item
}

// newPlan sorts the moves and refuses those that do not fit what was picked.
func newPlan(moves []work.Move, picked []work.Picked) (*plan, error) {
	at := make(map[int64]*work.Item, len(picked))
	for i := range picked {
		at[picked[i].Item.ID] = &picked[i].Item
	}
	p := &plan{updates: make([]*work.Move, 0, len(moves)), before: make([]*work.Item, 0, len(moves))}
	for i := range moves {
		m := &moves[i]
		if m.Item.ID == 0 {
			if m.Item.Status == "" || m.Revision == nil {
				return nil, fmt.Errorf("store: the new item %q was not decided by Next", m.Item.BusinessKey)
			}
			p.inserts = append(p.inserts, m)
			continue
		}
		was := at[m.Item.ID]
		switch {
		case was == nil:
			return nil, fmt.Errorf("store: item %d was not picked, or was moved twice", m.Item.ID)
		case m.Seen != was.Version || m.Item.Version <= m.Seen:
			return nil, fmt.Errorf("store: the move of item %d was decided on version %d, picked was %d", m.Item.ID, m.Seen, was.Version)
		}
		delete(at, m.Item.ID)
		p.updates, p.before = append(p.updates, m), append(p.before, was)
		if m.Item.RecordedBy.Kind != was.RecordedBy.Kind || m.Item.RecordedBy.ID != was.RecordedBy.ID {
			p.recorders = append(p.recorders, m)
		}
	}
	return p, nil
}

// set is the smallest of the fixed sets of columns that covers all updates.
func (p *plan) set() *stateSet {
	for _, set := range []*stateSet{claimSet, acceptSet, closeSet} {
		fits := true
		for i, m := range p.updates {
			if fits = set.covers(p.before[i], &m.Item); !fits {
				break
			}
		}
		if fits {
			return set
		}
	}
	return wholeSet
}

// attempts are the rows of the moves: to open, to close, and late ones.
func (p *plan) attempts() (opened, closed, late []*work.Attempt) {
	for _, m := range p.updates {
		switch m.Op {
		case work.NoAttempt:
		case work.OpenAttempt:
			opened = append(opened, &m.Attempt)
		case work.CloseAttempt:
			closed = append(closed, &m.Attempt)
		case work.LateAttempt:
			late = append(late, &m.Attempt)
		}
	}
	return opened, closed, late
}

// sends reports whether a send was opened.
func (p *plan) sends() bool {
	for _, m := range p.updates {
		if m.Op == work.OpenAttempt && m.Attempt.Kind == work.Send {
			return true
		}
	}
	return false
}

// opened counts the attempts that were opened.
func (p *plan) opened() (n int) {
	for _, m := range p.updates {
		if m.Op == work.OpenAttempt {
			n++
		}
	}
	return n
}

// newItems are the items to insert: new ones, and the next steps of confirmed ones.
func (p *plan) newItems() (items []*work.Item) {
	for _, m := range p.inserts {
		items = append(items, &m.Item)
	}
	for _, m := range p.updates {
		if m.Then != nil {
			items = append(items, m.Then)
		}
	}
	return items
}

// rowsOf are the side rows of what was written: inserted says which new items are now in the database.
func (p *plan) rowsOf(inserted []*work.Item) (revisions []*revisionRow, acts []*work.Act, words []*wordsRow) {
	isNew := make(map[int64]bool, len(inserted))
	for _, it := range inserted {
		isNew[it.ID] = true
		if it.PreviousID == 0 {
			words = append(words, newWordsRow(it))
		}
	}
	for _, m := range p.inserts {
		m.Revision.ItemID = m.Item.ID
		revisions = append(revisions, newRevisionRow(m.Revision))
		if m.Act != nil {
			m.Act.ItemID = m.Item.ID
			acts = append(acts, m.Act)
		}
	}
	for _, m := range p.updates {
		if m.Then != nil && isNew[m.Then.ID] {
			revisions = append(revisions, newRevisionRow(&work.Revision{ItemID: m.Then.ID, Number: m.Then.Revision, Invoice: m.Then.Invoice,
				Fingerprint: m.Then.Invoice.Fingerprint(), By: m.Then.RecordedBy.Label(), At: m.Then.RecordedAt}))
		}
		if m.Act != nil {
			acts = append(acts, m.Act)
		}
	}
	return revisions, acts, words
}

// corrections are new contents of items that were there already.
func (p *plan) corrections() (revisions []*revisionRow, words []*wordsRow) {
	for _, m := range p.updates {
		if m.Revision != nil {
			revisions = append(revisions, newRevisionRow(m.Revision))
			if m.Item.Proposed == 0 && m.Item.PreviousID == 0 {
				words = append(words, newWordsRow(&m.Item))
			}
		}
	}
	return revisions, words
}

// wakes are the systems with new work to tell the other servers about: recorded items, and what a person made due.
// Next steps are left to the server that recorded them.
func (p *plan) wakes() (everywhere, here map[string]bool) {
	everywhere, here = map[string]bool{}, map[string]bool{}
	for _, m := range p.inserts {
		if !m.Item.DueAt.IsZero() {
			everywhere[m.Item.SystemID] = true
		}
	}
	for _, m := range p.updates {
		if m.Act != nil && !m.Item.DueAt.IsZero() {
			everywhere[m.Item.SystemID] = true
		}
		if m.Then != nil && !m.Then.DueAt.IsZero() {
			here[m.Then.SystemID] = true
		}
	}
	return everywhere, here
}

// settleNew says which of the new items got their name. A next step whose name is taken is there already; a new item
// whose name is taken was recorded by somebody else a moment ago.
func (p *plan) settleNew(items []*work.Item, isNew map[int64]bool) ([]*work.Item, error) {
	for _, m := range p.inserts {
		if !isNew[m.Item.ID] {
			return nil, &KeyTaken{BusinessKey: m.Item.BusinessKey}
		}
	}
	for _, m := range p.updates {
		if m.Then != nil && !isNew[m.Then.ID] {
			m.Then = nil
		}
	}
	return slices.DeleteFunc(items, func(it *work.Item) bool { return !isNew[it.ID] }), nil
}
