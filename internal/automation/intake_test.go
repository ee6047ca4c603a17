package automation_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bojanz/currency"

	"onefold/internal/automation"
	"onefold/internal/work"
)

// intakeMemory keeps items in memory under the rules of the store: unique keys, unique references, nothing half done.
type intakeMemory struct {
	mu        sync.Mutex
	systems   map[string]work.System
	items     []work.Item
	revisions map[int64][]string
	changes   int
	failAfter int    // changes after which the database is gone; 0: never
	between   func() // somebody else, between the decision and its writing

	unproven       bool // nothing may begin
	referenceFirst bool // the index of references complains before that of keys
}

func newIntakeMemory() *intakeMemory {
	m := &intakeMemory{systems: map[string]work.System{}, revisions: map[int64][]string{}}
	m.add("books", 1)
	return m
}

func (m *intakeMemory) add(id string, company int64) {
	m.systems[id] = work.System{ID: id, CompanyID: company, Adapter: "stub", Steps: []string{"create"}, MaxInFlight: 5,
		Policy: work.DefaultPolicy(), Capabilities: work.Capabilities{Searchable: true}}
}

func (m *intakeMemory) System(_ context.Context, id string) (work.System, error) {
	s, ok := m.systems[id]
	if !ok {
		return s, errors.New("no such system")
	}
	return s, nil
}

func (m *intakeMemory) AutomationSwitches(context.Context, int64) ([]work.AutomationSwitch, error) {
	return nil, nil
}

func (m *intakeMemory) BeginsUnproven(context.Context, int64, string, string) (bool, error) {
	return m.unproven, nil
}

func (m *intakeMemory) Fingerprints(_ context.Context, id int64) ([]string, error) {
	return m.revisions[id], nil
}

func (m *intakeMemory) Change(_ context.Context, pick work.Pick, decide func(time.Time, []work.Picked) ([]work.Move, error)) ([]work.Move, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.changes++
	if m.failAfter > 0 && m.changes > m.failAfter {
		return nil, errors.New("the database is gone")
	}
	if len(pick.Keys) == 0 || len(pick.Keys) > 2000 {
		return nil, fmt.Errorf("picked %d keys", len(pick.Keys))
	}
	for {
		var picked []work.Picked
		for _, it := range m.items {
			if slices.Contains(pick.Keys, pickKey(it)) {
				picked = append(picked, work.Picked{Item: it, Rules: m.systems[it.SystemID].Rules()})
			}
		}
		moves, err := decide(time.Date(2026, 11, 29, 9, 0, 0, 0, time.UTC), picked)
		if err != nil {
			return nil, err
		}
		if m.between != nil {
			m.between()
			m.between = nil
			if !m.referenceFirst {
				continue
			}
		}
		var taken takenReferences
		for _, move := range moves {
			if slices.ContainsFunc(m.items, func(it work.Item) bool {
				return it.SystemID == move.Item.SystemID && it.Step == move.Item.Step && it.Reference == move.Item.Reference
			}) {
				taken = append(taken, move.Item.Reference)
			}
		}
		if len(taken) > 0 {
			return nil, taken[:1]
		}
		for i := range moves {
			moves[i].Item.ID = int64(len(m.items) + 1)
			m.items = append(m.items, moves[i].Item)
			m.revisions[moves[i].Item.ID] = []string{moves[i].Revision.Fingerprint}
		}
		return moves, nil
	}
}

type takenReferences []string

func (t takenReferences) Error() string             { return "reference taken" }
func (t takenReferences) TakenReferences() []string { return t }

func pickKey(it work.Item) work.PickKey {
	return work.PickKey{CompanyID: it.CompanyID, Automation: it.Automation, FoldedKey: work.FoldKey(it.BusinessKey), Step: it.Step}
}

func newItem(t *testing.T, key, amount string) work.New {
	t.Helper()
	total, err := currency.NewAmount(amount, "EUR")
	if err != nil {
		t.Fatal(err)
	}
	return work.New{Automation: "monthly", BusinessKey: key, SystemID: "books", Source: "test",
		By: work.Actor{Kind: work.Automation, ID: "test"}, Invoice: work.Invoice{CustomerID: "C-1", Total: total}}
}

func recordAll(t *testing.T, store automation.IntakeStore, items ...work.New) []automation.Recorded {
	t.Helper()
	results, err := automation.Intake{Store: store}.Record(t.Context(), items)
	if err != nil {
		t.Fatal(err)
	}
	if len(results) != len(items) {
		t.Fatalf("%d results for %d items", len(results), len(items))
	}
	return results
}

func wantResults(t *testing.T, got []automation.Recorded, want ...automation.IntakeResult) {
	t.Helper()
	for i, r := range got {
		if r.Result != want[i] {
			t.Errorf("item %d: %s (%v), want %s", i, r.Result, r.Err, want[i])
		}
		if fine := r.Result == automation.IntakeNew || r.Result == automation.IntakeKnown; fine != (r.Err == nil) {
			t.Errorf("item %d: %s with error %v", i, r.Result, r.Err)
		}
	}
}

func TestIntakeIsIdempotent(t *testing.T) {
	m := newIntakeMemory()
	first := recordAll(t, m, newItem(t, "INV-1", "10.00"), newItem(t, "INV-2", "20.00"))
	wantResults(t, first, automation.IntakeNew, automation.IntakeNew)
	again := recordAll(t, m, newItem(t, " INV-1 ", "10"), newItem(t, "INV-2", "21.00"), newItem(t, "INV-3", "30.00"))
	wantResults(t, again, automation.IntakeKnown, automation.IntakeConflict, automation.IntakeNew)
	if again[0].Item.ID != first[0].Item.ID || again[1].Item.ID != first[1].Item.ID {
		t.Error("a known key must come with the item that is on record")
	}
	if text := again[1].Err.Error(); !strings.Contains(text, "20.00 EUR") || !strings.Contains(text, "21.00 EUR") {
		t.Errorf("both contents must be named: %s", text)
	}
	if len(m.items) != 3 {
		t.Errorf("%d items on record, want 3", len(m.items))
	}
	if it := m.items[0]; it.Status != work.Queued || it.Revision != 1 || it.RecordedAt.IsZero() || it.CompanyID != 1 || it.Reference != "INV-1" {
		t.Errorf("recorded %+v", it)
	}
}

func TestIntakeSecondInTheSameBatch(t *testing.T) {
	m := newIntakeMemory()
	got := recordAll(t, m, newItem(t, "A", "1.00"), newItem(t, "A", "1.00"), newItem(t, "A", "2.00"), newItem(t, "a", "1.00"))
	wantResults(t, got, automation.IntakeNew, automation.IntakeKnown, automation.IntakeConflict, automation.IntakeSpelling)
	if text := got[3].Err.Error(); !strings.Contains(text, `"A"`) || !strings.Contains(text, `"a"`) {
		t.Errorf("both spellings must be named: %s", text)
	}
	if len(m.items) != 1 {
		t.Errorf("%d items on record, want 1", len(m.items))
	}
}

func TestIntakeKnowsEveryRevision(t *testing.T) {
	m := newIntakeMemory()
	recordAll(t, m, newItem(t, "A", "1.00"))
	corrected := newItem(t, "A", "2.00").Invoice
	m.items[0].Invoice, m.items[0].Revision = corrected, 2
	m.revisions[1] = append(m.revisions[1], corrected.Fingerprint())
	got := recordAll(t, m, newItem(t, "A", "1.00"), newItem(t, "A", "2.00"), newItem(t, "A", "3.00"))
	wantResults(t, got, automation.IntakeKnown, automation.IntakeKnown, automation.IntakeConflict)
}

func TestIntakeMeetsWhatCameInBetween(t *testing.T) {
	for _, referenceFirst := range []bool{false, true} {
		m, other := newIntakeMemory(), newIntakeMemory()
		recordAll(t, other, newItem(t, "A", "1.00"), newItem(t, "B", "1.00"))
		m.between, m.referenceFirst = func() { m.items = append(m.items, other.items...) }, referenceFirst
		got := recordAll(t, m, newItem(t, "A", "1.00"), newItem(t, "B", "2.00"), newItem(t, "C", "1.00"))
		wantResults(t, got, automation.IntakeKnown, automation.IntakeConflict, automation.IntakeNew)
		if len(m.items) != 3 {
			t.Errorf("%d items on record, want 3", len(m.items))
		}
	}
}

func TestIntakeReferenceOfAnotherAutomation(t *testing.T) {
	m := newIntakeMemory()
	recordAll(t, m, newItem(t, "A", "1.00"), newItem(t, "C", "1.00"))
	n, o := newItem(t, "A", "1.00"), newItem(t, "C", "1.00")
	n.Automation, o.Automation = "by-hand", "by-hand"
	got := recordAll(t, m, n, newItem(t, "B", "1.00"), o)
	wantResults(t, got, automation.IntakeTaken, automation.IntakeNew, automation.IntakeTaken)
	if got[0].Item.ID != 0 || strings.Contains(got[0].Err.Error(), "monthly") {
		t.Errorf("another automation's item must not be shown: %+v, %v", got[0].Item, got[0].Err)
	}
}

// 45. The duplicate check told one company about another's record
func TestTrial45_KeysAreScopedToTheCompany(t *testing.T) {
	m := newIntakeMemory()
	m.add("their-books", 2)
	theirs := newItem(t, "R-100", "1.00")
	theirs.SystemID, theirs.Invoice.CustomerName = "their-books", "Secret AG"
	wantResults(t, recordAll(t, m, theirs), automation.IntakeNew)
	ours := newItem(t, "R-100", "2.00")
	wantResults(t, recordAll(t, m, ours), automation.IntakeNew)
	ours.SystemID, ours.CompanyID = "their-books", 1
	got := recordAll(t, m, ours)
	wantResults(t, got, automation.IntakeRefused)
	if text := got[0].Err.Error(); strings.Contains(text, "Secret") || strings.Contains(text, "company") {
		t.Errorf("the text hints at the other company: %s", text)
	}
}

func TestIntakeRefusesWhatCannotBeIssued(t *testing.T) {
	m := newIntakeMemory()
	n := newItem(t, "A", "NaN")
	got := recordAll(t, m, n, newItem(t, "B", "Infinity"), newItem(t, "", "1.00"), newItem(t, "C", "1.005"), newItem(t, "D", "1E+3"), newItem(t, "E", "1000"))
	wantResults(t, got, automation.IntakeRefused, automation.IntakeRefused, automation.IntakeRefused, automation.IntakeRefused, automation.IntakeRefused, automation.IntakeNew)
	if len(m.items) != 1 || m.items[0].Invoice.Total.Number() != "1000.00" {
		t.Errorf("on record: %+v", m.items)
	}
}

// Nothing new begins on a system that was never proven; what is on record already is answered for.
func TestIntakeRefusesWhatMayNotBegin(t *testing.T) {
	m := newIntakeMemory()
	wantResults(t, recordAll(t, m, newItem(t, "INV-1", "1.00")), automation.IntakeNew)
	m.unproven = true
	got := recordAll(t, m, newItem(t, "INV-1", "1.00"), newItem(t, "INV-2", "2.00"))
	wantResults(t, got, automation.IntakeKnown, automation.IntakeOff)
	var unproven *automation.Unproven
	if !errors.As(got[1].Err, &unproven) || unproven.System.ID != "books" {
		t.Errorf("it is not said on what: %v", got[1].Err)
	}
	if len(m.items) != 1 {
		t.Errorf("%d items are on record", len(m.items))
	}
}

func TestIntakeStopsWithTheDatabase(t *testing.T) {
	m := newIntakeMemory()
	m.failAfter = 1
	var batch []work.New
	for i := range 2700 {
		batch = append(batch, newItem(t, fmt.Sprintf("K-%d", i), "1.00"))
	}
	results, err := automation.Intake{Store: m}.Record(t.Context(), batch)
	if err == nil || len(results) != 2000 {
		t.Fatalf("%d results, error %v; want those of the first transaction and the error", len(results), err)
	}
	m.failAfter = 0
	again := recordAll(t, m, batch...)
	if again[1999].Result != automation.IntakeKnown || again[2000].Result != automation.IntakeNew || len(m.items) != 2700 {
		t.Errorf("after the repeat: %s, %s, %d items", again[1999].Result, again[2000].Result, len(m.items))
	}
}
