package web

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/bojanz/currency"

	"onefold/internal/work"
)

var (
	ada  = work.Actor{Kind: work.Person, ID: "ada", Name: "Ada Brown", Roles: []work.Role{work.Operator}}
	boss = work.Actor{Kind: work.Person, ID: "admin", Name: "Admin", Roles: []work.Role{work.Admin}}
)

func money(t testing.TB, number, code string) currency.Amount {
	t.Helper()
	a, err := currency.NewAmount(number, code)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// put records one item and returns its id.
func (m *memory) put(t testing.TB, key, customer string, total currency.Amount) int64 {
	t.Helper()
	n := work.New{CompanyID: 1, Automation: invoicesAutomation, BusinessKey: key, SystemID: "books", Steps: m.systems["books"].Steps, Source: "import:7", By: boss,
		Invoice: work.Invoice{CustomerID: "C-1001", CustomerName: customer, Total: total, IssueDate: "2026-11-30", DueDate: "2026-12-30",
			Lines: []work.Line{{Description: "Monthly service, November 2026", Quantity: "1", UnitPrice: total.Number()}}}}
	moves, err := m.Change(context.Background(), work.Pick{}, func(now time.Time, _ []work.Picked) ([]work.Move, error) {
		it, err := work.NewItem(n, m.systems["books"].Capabilities, now)
		if err != nil {
			return nil, err
		}
		mv, err := work.Decide(it, work.Recorded{}, m.systems["books"].Rules(), now)
		return []work.Move{mv}, err
	})
	if err != nil {
		t.Fatal(err)
	}
	return moves[0].Item.ID
}

// happen applies an event to an item.
func (m *memory) happen(t testing.TB, id int64, ev work.Event) work.Item {
	t.Helper()
	moves, err := m.Change(context.Background(), work.Pick{IDs: []int64{id}}, func(now time.Time, p []work.Picked) ([]work.Move, error) {
		mv, err := work.Decide(p[0].Item, ev, p[0].Rules, now)
		return []work.Move{mv}, err
	})
	if err != nil {
		t.Fatalf("%s: %v", ev.Name(), err)
	}
	return moves[0].Item
}

// claim moves the clock to the item's due time and claims it.
func (m *memory) claim(t testing.TB, id int64) work.Item {
	t.Helper()
	if due := m.items[id].DueAt; due.After(m.clock) {
		m.later(due.Sub(m.clock))
	}
	return m.happen(t, id, work.Claimed{Node: "one", SendBy: m.clock.Add(5 * time.Second)})
}

// send carries out the send that is due.
func (m *memory) send(t testing.TB, id int64, a work.Answer) work.Item {
	t.Helper()
	it := m.claim(t, id)
	if it.OpenKind != work.Send {
		t.Fatalf("a %q is open, not a send", it.OpenKind)
	}
	m.later(2 * time.Second)
	if a.Exchange.Request == "" {
		a.Exchange.Request = "POST /invoices\n\n{\"reference\": \"" + it.Reference + "\", \"total\": \"" + it.Invoice.Total.Number() + "\"}"
	}
	return m.happen(t, id, work.SendClosed{Attempt: it.OpenAttempt, Ended: m.clock, Answer: a})
}

// find carries out the lookup that is due.
func (m *memory) find(t testing.TB, id int64, l work.Lookup) work.Item {
	t.Helper()
	it := m.claim(t, id)
	if it.OpenKind != work.Find {
		t.Fatalf("a %q is open, not a lookup", it.OpenKind)
	}
	started := m.clock
	m.later(time.Second)
	return m.happen(t, id, work.FindClosed{Attempt: it.OpenAttempt, Started: started, Ended: m.clock, Lookup: l})
}

var (
	noAnswer = work.Answer{Outcome: work.Unknown, Exchange: work.Exchange{Error: "the accounting system did not answer in time, outcome unknown"}}
	refused  = work.Answer{Outcome: work.Rejected, Exchange: work.Exchange{HTTPStatus: 400, Error: "Customer C-1001 is blocked for invoicing",
		Response: "HTTP 400\n\n{\"error\": \"Customer C-1001 is blocked for invoicing\"}"}}
	notThere = work.Lookup{Finding: work.NotFound, Exchange: work.Exchange{HTTPStatus: 200}}
)

func there(n int) work.Record {
	return work.Record{ID: fmt.Sprintf("inv_%05d", n), Number: fmt.Sprintf("INV/2026/%05d", n), State: work.StatePosted}
}

// stories puts one item of every kind into the store and returns their ids by name.
func (m *memory) stories(t testing.TB) map[string]int64 {
	t.Helper()
	eur := func(n string) currency.Amount { return money(t, n, "EUR") }
	ids := map[string]int64{}
	add := func(name, key, customer string, total currency.Amount, what func(id int64)) {
		id := m.put(t, key, customer, total)
		ids[name] = id
		if what != nil {
			what(id)
		}
	}
	add("confirmed", "INV-2026-11-ACME", "Acme Holdings Ltd", eur("1200.00"), func(id int64) {
		m.send(t, id, work.Answer{Outcome: work.Accepted, Match: work.MatchSame, Record: there(41)})
	})
	add("found", "INV-2026-11-GLOBEX", "Globex Corporation", money(t, "98250.5", "USD"), func(id int64) {
		m.send(t, id, noAnswer)
		m.find(t, id, work.Lookup{Finding: work.FoundMatching, Record: there(42)})
	})
	add("rejected", "INV-2026-11-INITECH", "Initech GmbH & Co. KG", eur("480.00"), func(id int64) {
		for m.items[id].Status != work.Review {
			m.send(t, id, refused)
		}
	})
	add("mismatch", "INV-2026-11-UMBRELLA", "Umbrella Sociedad Anónima", eur("15.99"), func(id int64) {
		m.send(t, id, noAnswer)
		m.find(t, id, work.Lookup{Finding: work.FoundDifferent, Record: there(43), Remark: "total 16.99 EUR instead of 15.99 EUR"})
	})
	add("could not check", "INV-2026-11-HOOLI", "Hooli 株式会社", money(t, "5000", "JPY"), func(id int64) {
		m.send(t, id, noAnswer)
		for m.items[id].Status != work.Review {
			m.find(t, id, work.Lookup{Finding: work.CouldNotTell, Exchange: work.Exchange{HTTPStatus: 503, Error: "the accounting system is unreachable (503), could not check"}})
		}
	})
	add("resolved", "INV-2026-11-WAYNE", "Wayne Enterprises", eur("77700.00"), func(id int64) {
		m.happen(t, id, work.Hold{By: ada, Note: "Keyed in by hand yesterday"})
		m.happen(t, id, work.Resolve{By: ada, Reference: "INV/2026/00017", Note: "I keyed it in by hand on the 28th."})
	})
	add("closed", "INV-2026-11-TYRELL", "Tyrell Corp", eur("1.00"), func(id int64) {
		m.happen(t, id, work.Hold{By: ada, Note: "Contract ended"})
		m.happen(t, id, work.Close{By: ada, Note: "The contract ended in October."})
	})
	add("approval", "INV-2026-11-STARK", "Stark Industries", eur("250000.00"), func(id int64) {
		it := m.items[id]
		it.Status, it.Reason, it.DueAt = work.Review, work.ReasonApprovalRequired, time.Time{}
		m.items[id] = it
	})
	m.later(20 * time.Minute)
	add("failed", "INV-2026-11-SOYLENT", "Soylent Foods", eur("310.00"), func(id int64) { m.send(t, id, refused) })
	add("sending", "INV-2026-11-VANDELAY", "Vandelay Industries", eur("64.20"), func(id int64) { m.claim(t, id) })
	add("checking", "INV-2026-11-DUNDER", "Dunder Mifflin", eur("89.00"), func(id int64) { m.send(t, id, noAnswer); m.claim(t, id) })
	add("unknown", "INV-2026-11-PIEDPIPER", "Pied Piper Inc.", eur("2400.00"), func(id int64) {
		m.send(t, id, noAnswer)
		m.find(t, id, notThere)
	})
	add("queued", "INV-2026-11-CYBERDYNE", "Cyberdyne Systems", eur("990.00"), nil)
	return ids
}
