package web

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"onefold/internal/review"
	"onefold/internal/work"
)

// memory is a store that lives in memory, for tests of pages that need odd contents or many rows.
type memory struct {
	mu       sync.Mutex
	clock    time.Time
	items    map[int64]work.Item
	attempts map[int64][]work.Attempt // in order
	acts     map[int64][]work.Act     // in order
	systems  map[string]work.System
	broken   error // every call fails with it
}

func newMemory() *memory {
	sys := work.System{ID: "books", CompanyID: 1, Name: "Books", Adapter: "sandbox", Address: "http://127.0.0.1:1", Policy: work.DefaultPolicy(),
		Capabilities: work.Capabilities{Searchable: true}, Steps: []string{"create"}, MaxInFlight: 8}
	return &memory{clock: time.Date(2026, 11, 29, 10, 0, 0, 0, time.UTC), items: map[int64]work.Item{}, attempts: map[int64][]work.Attempt{},
		acts: map[int64][]work.Act{}, systems: map[string]work.System{"books": sys}}
}

func (m *memory) Now(context.Context) (time.Time, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.clock, m.broken
}

func (m *memory) later(d time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.clock = m.clock.Add(d)
}

func tabOf(it work.Item) review.Tab {
	switch {
	case it.Status == work.Review:
		return review.TabReview
	case it.Status == work.Pending, it.Status == work.InProgress && it.OpenKind == work.Find:
		return review.TabUnknown
	case it.Status.Done():
		return review.TabFinished
	case it.Status == work.Closed:
		return review.TabClosed
	}
	return review.TabWaiting
}

func (m *memory) Search(_ context.Context, q review.Query) (review.Page, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var all []work.Item
	for _, it := range m.items {
		if (q.Tab == review.TabAll || q.Tab == "" || tabOf(it) == q.Tab) && (q.Status == "" || it.Status == q.Status) {
			all = append(all, it)
		}
	}
	p := review.Page{How: review.HowAll, Items: all}
	if want := work.FoldKey(q.Text); q.Text != "" {
		p.How, p.Items = review.HowNone, nil
		for _, try := range []struct {
			how review.How
			is  func(a, b string) bool
		}{{review.HowExact, func(a, b string) bool { return a == b }}, {review.HowPrefix, strings.HasPrefix}, {review.HowPart, strings.Contains}} {
			for _, it := range all {
				if try.is(work.FoldKey(it.BusinessKey), want) || try.is(work.FoldKey(it.Invoice.CustomerName), want) {
					p.Items, p.How = append(p.Items, it), try.how
				}
			}
			if len(p.Items) > 0 {
				break
			}
		}
	}
	slices.SortFunc(p.Items, func(a, b work.Item) int { return cmp.Or(b.ChangedAt.Compare(a.ChangedAt), cmp.Compare(b.ID, a.ID)) })
	if q.After != (review.Cursor{}) {
		p.Items = slices.DeleteFunc(p.Items, func(it work.Item) bool {
			return it.ChangedAt.After(q.After.At) || it.ChangedAt.Equal(q.After.At) && it.ID >= q.After.ID
		})
	}
	if len(p.Items) > q.Limit {
		p.Items = p.Items[:q.Limit]
		last := p.Items[q.Limit-1]
		p.Next = review.Cursor{At: last.ChangedAt, ID: last.ID}
	}
	return p, m.broken
}

func (m *memory) Counts(context.Context, int64) (map[review.Tab]int64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := map[review.Tab]int64{}
	for _, it := range m.items {
		n[tabOf(it)]++
		n[review.TabAll]++
	}
	return n, m.broken
}

func (m *memory) Item(_ context.Context, company, id int64) (work.Item, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	it, ok := m.items[id]
	if !ok || it.CompanyID != company {
		return work.Item{}, review.ErrNotFound
	}
	return it, m.broken
}

func (m *memory) Chain(_ context.Context, it work.Item) ([]work.Item, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []work.Item
	for _, step := range it.Steps {
		for _, other := range m.items {
			if other.BusinessKey == it.BusinessKey && other.Step == step {
				out = append(out, other)
			}
		}
	}
	return out, m.broken
}

func (m *memory) Attempts(_ context.Context, id int64, before, limit int) ([]work.Attempt, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []work.Attempt
	for _, a := range slices.Backward(m.attempts[id]) {
		if len(out) < limit && (before == 0 || a.Number < before) {
			out = append(out, a)
		}
	}
	return out, m.broken
}

func (m *memory) Acts(_ context.Context, id int64, limit int) ([]work.Act, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := slices.Clone(m.acts[id])
	slices.Reverse(out)
	return out[:min(len(out), limit)], m.broken
}

func (m *memory) System(_ context.Context, id string) (work.System, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.systems[id], m.broken
}

func (m *memory) Change(_ context.Context, pick work.Pick, decide func(time.Time, []work.Picked) ([]work.Move, error)) ([]work.Move, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var picked []work.Picked
	for _, id := range pick.IDs {
		if it, ok := m.items[id]; ok {
			picked = append(picked, work.Picked{Item: it, Rules: m.systems[it.SystemID].Rules()})
		}
	}
	moves, err := decide(m.clock, picked)
	if err != nil || m.broken != nil {
		return nil, cmp.Or(err, m.broken)
	}
	for i := range moves {
		mv := &moves[i]
		if mv.Item.ID == 0 {
			mv.Item.ID = int64(len(m.items) + 1)
		}
		id := mv.Item.ID
		m.items[id] = mv.Item
		switch mv.Op {
		case work.OpenAttempt, work.LateAttempt:
			m.attempts[id] = append(m.attempts[id], mv.Attempt)
		case work.CloseAttempt:
			last := &m.attempts[id][len(m.attempts[id])-1]
			asked, key := last.AskedBy, last.Key
			*last = mv.Attempt
			last.AskedBy, last.Key = asked, key
		}
		if mv.Act != nil {
			m.acts[id] = append(m.acts[id], *mv.Act)
		}
		if mv.Then != nil {
			mv.Then.ID = int64(len(m.items) + 1)
			m.items[mv.Then.ID] = *mv.Then
		}
	}
	return moves, nil
}

func (m *memory) Systems(context.Context) ([]work.System, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []work.System
	for _, s := range m.systems {
		out = append(out, s)
	}
	slices.SortFunc(out, func(a, b work.System) int { return cmp.Compare(a.ID, b.ID) })
	return out, m.broken
}

func (m *memory) InFlight(context.Context) (map[string]int, error) {
	return map[string]int{"books": 3}, nil
}

func (m *memory) set(id string, f func(*work.System)) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.systems[id]
	f(&s)
	m.systems[id] = s
	return m.broken
}

func (m *memory) Pause(_ context.Context, id string, by work.Actor, reason string) error {
	return m.set(id, func(s *work.System) { s.PausedAt, s.PausedBy, s.PauseReason = m.clock, by.Label(), reason })
}

func (m *memory) Resume(_ context.Context, id string, _ work.Actor) error {
	return m.set(id, func(s *work.System) { s.PausedAt, s.PausedBy, s.PauseReason = time.Time{}, "", "" })
}

func (m *memory) EndLookFirst(_ context.Context, id string, _ work.Actor) error {
	return m.set(id, func(s *work.System) { s.LookFirst = time.Time{} })
}
