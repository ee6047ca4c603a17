package automation_test

import (
	"errors"
	"testing"
	"time"

	"onefold/internal/automation"
	"onefold/internal/ledger"
	"onefold/internal/work"
)

// switchboard connects a system by its address to one of several stubs, as two servers do.
type switchboard struct {
	stubs map[string]*stub
	made  []string
	err   error
}

func (b *switchboard) connect(s work.System) (ledger.System, error) {
	b.made = append(b.made, s.Address)
	if b.err != nil {
		return nil, b.err
	}
	return b.stubs[s.Address], nil
}

func (w *world) change(t *testing.T, address string, identity string) {
	t.Helper()
	s, err := w.store.System(t.Context(), "books")
	w.must(err)
	w.must(w.store.ChangeConnection(t.Context(), "books", automation.ConnectionChange{Mark: automation.ConnectionMark(s), By: ada, Name: s.Name, Address: address,
		Capabilities: s.Capabilities, Steps: s.Steps, Identity: identity, Records: []automation.SettingText{{What: "connection"}}}))
}

// A changed address is used by running servers without a restart, by the next claim on; calls of other changes are not
// made anew.
func TestARunningServerTakesUpAChangedConnection(t *testing.T) {
	eachWorld(t, searchable(), func(w *world) {
		other := newStub(w.clock, searchable())
		board := &switchboard{stubs: map[string]*stub{"": w.stub, "https://new.example": other}}
		engines := []*automation.Engine{}
		for _, node := range []string{"a", "b"} {
			engines = append(engines, automation.NewEngine(automation.Config{Store: w.store, Node: node, Now: w.clock.Now, Log: quiet, Connect: board.connect}))
		}
		once := func() {
			t.Helper()
			for _, e := range engines {
				if _, err := e.RunOnce(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
		}
		w.record("INV-1")
		once()
		w.must(w.store.Pause(t.Context(), "books", ada, "lunch"))
		w.must(w.store.Resume(t.Context(), "books", ada, ""))
		once()
		if len(board.made) != 2 {
			t.Errorf("connected %d times although nothing about the connection changed", len(board.made))
		}
		w.change(t, "https://new.example", w.stub.identity)
		w.record("INV-2")
		once()
		if n, _ := w.stub.count(); w.stub.writes() != 1 || n != 1 || other.writes() != 1 || len(board.made) != 4 {
			t.Errorf("the old address got %d writes, the new one %d; connected %d times", w.stub.writes(), other.writes(), len(board.made))
		}
	})
}

// An address that leads to other books gets nothing, whoever changed it and however: the books are looked at before the
// first send over a new connection.
func TestNothingIsSentToOtherBooks(t *testing.T) {
	eachWorld(t, searchable(), func(w *world) {
		other := newStub(w.clock, searchable())
		other.identity = "Books of somebody else"
		board := &switchboard{stubs: map[string]*stub{"": w.stub, "https://new.example": other}}
		engine := automation.NewEngine(automation.Config{Store: w.store, Node: "a", Now: w.clock.Now, Log: quiet, Connect: board.connect})
		once := func() {
			t.Helper()
			if _, err := engine.RunOnce(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		once()
		declared := w.system
		declared.Address = "https://new.example" // as from the console, which does not look
		w.must(w.store.DeclareSystem(t.Context(), declared))
		w.record("INV-1")
		for range 50 {
			once()
			w.clock.advance(time.Minute)
		}
		if other.writes() != 0 || w.stub.writes() != 0 {
			t.Fatalf("%d writes to other books, %d to the old ones", other.writes(), w.stub.writes())
		}
		s, err := w.store.System(t.Context(), "books")
		w.must(err)
		if want := `the address leads to the books "Books of somebody else" instead of "Books of Acme"`; s.BreakerReason != want {
			t.Errorf("nobody is told: %q", s.BreakerReason)
		}
		// A restart does not help either.
		engine = automation.NewEngine(automation.Config{Store: w.store, Node: "a", Now: w.clock.Now, Log: quiet, Connect: board.connect})
		once()
		if other.writes() != 0 {
			t.Error("after a restart it was sent to other books")
		}
		declared.Address = ""
		w.must(w.store.DeclareSystem(t.Context(), declared))
		w.clock.advance(10 * time.Minute)
		once()
		once()
		w.wantStatus("INV-1", work.Confirmed)
	})
}

// A connection that cannot be made, for example because a key is missing, is the owner's matter: it is said once, spends
// nothing, and work goes on when it can be made.
func TestAConnectionThatCannotBeMadeIsTold(t *testing.T) {
	eachWorld(t, searchable(), func(w *world) {
		board := &switchboard{stubs: map[string]*stub{"": w.stub}, err: errors.New("the stored credentials cannot be opened")}
		engine := automation.NewEngine(automation.Config{Store: w.store, Node: "a", Now: w.clock.Now, Log: quiet, Connect: board.connect})
		w.record("INV-1")
		for range 3 {
			if _, err := engine.RunOnce(t.Context()); err != nil {
				t.Fatal(err)
			}
			w.clock.advance(time.Second)
		}
		s, err := w.store.System(t.Context(), "books")
		w.must(err)
		if s.LoginProblem != "the stored credentials cannot be opened" || w.stub.writes() != 0 || len(board.made) != 1 {
			t.Fatalf("%q, %d writes, %d tries", s.LoginProblem, w.stub.writes(), len(board.made))
		}
		board.err = nil
		w.clock.advance(time.Minute)
		for range 2 {
			if _, err := engine.RunOnce(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		w.wantStatus("INV-1", work.Confirmed)
		if s, err = w.store.System(t.Context(), "books"); err != nil || s.LoginProblem != "" {
			t.Errorf("%q %v", s.LoginProblem, err)
		}
	})
}

// What calls brought back is counted for the page, and a removed system ends its lane.
func TestCallsAreCountedAndARemovedSystemIsLeftAlone(t *testing.T) {
	eachWorld(t, searchable(), func(w *world) {
		w.stub.then(accept, reject, dropped, notSent)
		w.record("INV-1", "INV-2", "INV-3", "INV-4")
		w.once()
		w.clock.advance(3 * time.Second)
		w.once()
		calls, err := w.store.SystemCalls(t.Context(), w.clock.Now().Add(-time.Hour))
		w.must(err)
		if calls["books"] != (work.Calls{All: 4, Refused: 1, Unanswered: 1, NotSent: 1}) {
			t.Errorf("%+v", calls)
		}
		sys := w.system
		sys.ID, sys.Name = "second", "Second"
		w.must(w.store.AddSystem(t.Context(), sys, "", ada))
		w.once()
		w.must(w.store.RemoveSystem(t.Context(), "second", ada))
		w.once()
	})
}
