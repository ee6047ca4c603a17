// Package reviewtest gives tests a real database under a steerable clock, and plays the engine's part in it: what is
// recorded, sent and found is as the test says.
package reviewtest

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/bojanz/currency"

	"onefold/internal/automation"
	"onefold/internal/store"
	"onefold/internal/store/storetest"
	"onefold/internal/work"
)

// SystemID is the accounting system of a world; people know it as Books.
const SystemID = "books"

// World is one database with one accounting system.
type World struct {
	*store.Store
	T testing.TB

	mu  sync.Mutex
	now time.Time
}

// New returns a world on a fresh database; it is 10:00 on 29 November 2026, UTC.
func New(t testing.TB, db storetest.DB, set ...func(*work.System)) *World {
	t.Helper()
	w := &World{T: t, now: time.Date(2026, 11, 29, 10, 0, 0, 0, time.UTC)}
	w.Store = db.Open(t, store.Config{Clock: w.Clock})
	sys := work.System{ID: SystemID, CompanyID: 1, Name: "Books", Adapter: "sandbox", Address: "http://127.0.0.1:1", Policy: work.DefaultPolicy(),
		Capabilities: work.Capabilities{Searchable: true}, Steps: []string{"create"}, MaxInFlight: 8}
	for _, f := range set {
		f(&sys)
	}
	if err := w.DeclareSystem(t.Context(), sys); err != nil {
		t.Fatal(err)
	}
	return w
}

// LetBegin lets an automation begin on the system, which was never proven.
func (w *World) LetBegin(automation string) {
	w.T.Helper()
	if err := w.AllowUnproven(w.T.Context(), 1, automation, []string{SystemID}, Recorder); err != nil {
		w.T.Fatal(err)
	}
}

// Clock is the time in the world.
func (w *World) Clock() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

// Later lets time pass.
func (w *World) Later(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = w.now.Add(d)
}

// Recorder is who records the items of a world.
var Recorder = work.Actor{Kind: work.Person, ID: "rita", Name: "Rita Record", Roles: []work.Role{work.Operator}}

// Invoice is an ordinary invoice for the customer.
func Invoice(customer string, total currency.Amount) work.Invoice {
	return work.Invoice{CustomerID: "C-1001", CustomerName: customer, Total: total, IssueDate: "2026-11-30", DueDate: "2026-12-30",
		Lines: []work.Line{{Description: "Monthly service, November 2026", Quantity: "1", UnitPrice: total.Number()}}}
}

// Money is an amount.
func Money(t testing.TB, number, code string) currency.Amount {
	t.Helper()
	a, err := currency.NewAmount(number, code)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// begun is the database as if every system in it had been proven.
type begun struct{ *store.Store }

func (begun) BeginsUnproven(context.Context, int64, string, string) (bool, error) { return false, nil }

// Proven records as if the system had been proven.
func (w *World) Proven() automation.Intake { return automation.Intake{Store: begun{w.Store}} }

// Put records an item for each key and returns their ids.
func (w *World) Put(customer string, total currency.Amount, keys ...string) []int64 {
	w.T.Helper()
	items := make([]work.New, len(keys))
	for i, key := range keys {
		items[i] = work.New{Automation: "invoices", BusinessKey: key, SystemID: SystemID, Source: "import:7", By: Recorder, Invoice: Invoice(customer, total)}
	}
	recorded, err := w.Proven().Record(w.T.Context(), items)
	if err != nil {
		w.T.Fatal(err)
	}
	ids := make([]int64, len(keys))
	for i, r := range recorded {
		if r.Result != automation.IntakeNew {
			w.T.Fatalf("%s: %s %v", keys[i], r.Result, r.Err)
		}
		ids[i] = r.Item.ID
	}
	return ids
}

// One records one ordinary item.
func (w *World) One(key string) int64 {
	w.T.Helper()
	return w.Put("Acme Holdings Ltd", Money(w.T, "1200.00", "EUR"), key)[0]
}

// Get reads an item.
func (w *World) Get(id int64) work.Item {
	w.T.Helper()
	it, err := w.Item(w.T.Context(), 1, id)
	if err != nil {
		w.T.Fatal(err)
	}
	return it
}

// Happen applies an event to an item.
func (w *World) Happen(id int64, ev work.Event) work.Item {
	w.T.Helper()
	moves, err := w.Change(w.T.Context(), work.Pick{IDs: []int64{id}}, func(now time.Time, p []work.Picked) ([]work.Move, error) {
		if len(p) != 1 {
			return nil, fmt.Errorf("there is no item %d", id)
		}
		mv, err := work.Decide(p[0].Item, ev, p[0].Rules, now)
		return []work.Move{mv}, err
	})
	if err != nil {
		w.T.Fatalf("%s: %v", ev.Name(), err)
	}
	return moves[0].Item
}

// Claim lets time pass until the item is due, and takes it up.
func (w *World) Claim(id int64) work.Item {
	w.T.Helper()
	if wait := w.Get(id).DueAt.Sub(w.Clock()); wait > 0 {
		w.Later(wait)
	}
	return w.Happen(id, work.Claimed{Node: "one", SendBy: w.Clock().Add(5 * time.Second)})
}

// Send carries out the send that is due, with this answer.
func (w *World) Send(id int64, a work.Answer) work.Item {
	w.T.Helper()
	it := w.Claim(id)
	if it.OpenKind != work.Send {
		w.T.Fatalf("a %q is open, not a send", it.OpenKind)
	}
	w.Later(2 * time.Second)
	if a.Exchange.Request == "" {
		a.Exchange.Request = "POST /invoices\n\n{\"reference\": \"" + it.Reference + "\", \"total\": \"" + it.Invoice.Total.Number() + "\"}"
	}
	return w.Happen(id, work.SendClosed{Attempt: it.OpenAttempt, Ended: w.Clock(), Answer: a})
}

// Find carries out the lookup that is due, with this result.
func (w *World) Find(id int64, l work.Lookup) work.Item {
	w.T.Helper()
	it := w.Claim(id)
	if it.OpenKind != work.Find {
		w.T.Fatalf("a %q is open, not a lookup", it.OpenKind)
	}
	started := w.Clock()
	w.Later(time.Second)
	return w.Happen(id, work.FindClosed{Attempt: it.OpenAttempt, Started: started, Ended: w.Clock(), Lookup: l})
}

// Until repeats what happens to an item until it needs a person.
func (w *World) Until(id int64, again func()) work.Item {
	w.T.Helper()
	for range 200 {
		if it := w.Get(id); it.Status == work.Review {
			return it
		}
		again()
	}
	w.T.Fatalf("item %d never needs a person", id)
	return work.Item{}
}

// What an accounting system may answer.
var (
	NoAnswer = work.Answer{Outcome: work.Unknown, Exchange: work.Exchange{Error: "the accounting system did not answer in time, outcome unknown"}}
	Refused  = work.Answer{Outcome: work.Rejected, Exchange: work.Exchange{HTTPStatus: 400, Error: "Customer C-1001 is blocked for invoicing",
		Response: "HTTP 400\n\n{\"error\": \"Customer C-1001 is blocked for invoicing\"}"}}
	NotThere   = work.Lookup{Finding: work.NotFound, Exchange: work.Exchange{HTTPStatus: 200}}
	CannotTell = work.Lookup{Finding: work.CouldNotTell, Exchange: work.Exchange{HTTPStatus: 503, Error: "the accounting system is unreachable (503), could not check"}}
	AcceptedAs = func(n int) work.Answer {
		return work.Answer{Outcome: work.Accepted, Match: work.MatchSame, Record: Record(n)}
	}
	FoundAs    = func(n int) work.Lookup { return work.Lookup{Finding: work.FoundMatching, Record: Record(n), Count: 1} }
	FoundOther = func(n int) work.Lookup {
		return work.Lookup{Finding: work.FoundDifferent, Record: Record(n), Count: 1, Remark: "total 16.99 EUR instead of 15.99 EUR"}
	}
)

// Record is the n-th record of the accounting system.
func Record(n int) work.Record {
	return work.Record{ID: fmt.Sprintf("inv_%05d", n), Number: fmt.Sprintf("INV/2026/%05d", n), State: work.StatePosted}
}
