package store_test

import (
	"sync"
	"testing"
	"time"

	"github.com/bojanz/currency"

	"onefold/internal/store"
	"onefold/internal/store/storetest"
	"onefold/internal/work"
)

// clock is a clock that tests move by hand.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func newClock() *clock {
	return &clock{now: time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)}
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

var ada = work.Actor{Kind: work.Person, ID: "7", Name: "Ada Brown"}

// books is a system that can be searched.
func books() work.System {
	return work.System{ID: "books", CompanyID: 1, Name: "Books", Adapter: "stub", Address: "http://localhost", Policy: work.DefaultPolicy(),
		Capabilities: work.Capabilities{Searchable: true, Misses: 1}, Steps: []string{"create"}, MaxInFlight: 100}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// eachStore runs the test on a fresh store of both kinds, with books connected and under a clock of its own.
func eachStore(t *testing.T, test func(t *testing.T, s *store.Store, c *clock)) {
	t.Helper()
	storetest.Each(t, func(t *testing.T, db storetest.DB) {
		c := newClock()
		s := db.Open(t, store.Config{Clock: c.Now})
		must(t, s.DeclareSystem(t.Context(), books()))
		test(t, s, c)
	})
}

type change func(*work.New)

func newMove(key string, now time.Time, changes ...change) (work.Move, error) {
	total, err := currency.NewAmount("120.00", "EUR")
	if err != nil {
		return work.Move{}, err
	}
	n := work.New{CompanyID: 1, Automation: "invoices", BusinessKey: key, SystemID: "books", Steps: []string{"create"},
		Invoice: work.Invoice{CustomerID: "C-1", CustomerName: "Acme Trading", Total: total,
			Lines: []work.Line{{Description: "Support, November", Quantity: "1", UnitPrice: "120.00"}}},
		Source: "api", By: ada}
	for _, c := range changes {
		c(&n)
	}
	it, err := work.NewItem(n, books().Capabilities, now)
	if err != nil {
		return work.Move{}, err
	}
	return work.Decide(it, work.Recorded{}, books().Rules(), now)
}

// record records an item, or returns the one that holds the key.
func record(t testing.TB, s *store.Store, key string, changes ...change) work.Item {
	t.Helper()
	it, err := tryRecord(t, s, key, changes...)
	must(t, err)
	return it
}

func tryRecord(t testing.TB, s *store.Store, key string, changes ...change) (work.Item, error) {
	var there work.Item
	m, err := newMove(key, time.Time{}, changes...)
	if err != nil {
		return there, err
	}
	pick := work.Pick{Keys: []work.PickKey{{CompanyID: m.Item.CompanyID, Automation: m.Item.Automation, FoldedKey: work.FoldKey(key), Step: m.Item.Step}}}
	moves, err := s.Change(t.Context(), pick, func(now time.Time, picked []work.Picked) ([]work.Move, error) {
		if len(picked) > 0 {
			there = picked[0].Item
			return nil, nil
		}
		m, err := newMove(key, now, changes...)
		return []work.Move{m}, err
	})
	if err == nil && len(moves) == 1 {
		there = moves[0].Item
	}
	return there, err
}

// apply lets one event happen to one item.
func apply(t testing.TB, s *store.Store, id int64, ev work.Event) (work.Item, error) {
	t.Helper()
	moves, err := s.Change(t.Context(), work.Pick{IDs: []int64{id}}, func(now time.Time, picked []work.Picked) ([]work.Move, error) {
		m, err := work.Decide(picked[0].Item, ev, picked[0].Rules, now)
		return []work.Move{m}, err
	})
	if err != nil {
		return work.Item{}, err
	}
	return moves[0].Item, nil
}

func read(t testing.TB, s *store.Store, id int64) work.Item {
	t.Helper()
	it, err := s.Item(t.Context(), 1, id)
	must(t, err)
	return it
}
