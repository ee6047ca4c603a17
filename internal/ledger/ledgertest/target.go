// Package ledgertest is the suite that every adapter to an accounting system must pass. It drives the adapter against a
// server that misbehaves on request and holds what the adapter says against what really happened there.
package ledgertest

import (
	"fmt"
	"maps"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bojanz/currency"

	"onefold/internal/ledger"
	"onefold/internal/work"
)

// Target is an adapter under test with a server that it talks to.
type Target struct {
	// New makes a fresh adapter and a fresh server for one test and cleans both up with t.
	New func(t *testing.T, s Setup) (ledger.System, Outside)

	// Lists says that one search can show several records, so that paging can be tested by repeating a send.
	Lists bool

	// Invoice fits the suite's invoice to the system: ids of customers, the currency. Nil: it stays as it is.
	Invoice func(*work.Invoice)

	// Cautious names cases, as their subtests are named, in which this adapter may also say unknown or could_not_tell and
	// word it in its own way, each with the reason: it proves less than it could, never more.
	Cautious map[string]string

	// Impossible names cases that this system cannot meet in one of its steps, as "step/Case", each with the reason.
	Impossible map[string]string

	// Cannot are the faults that this system cannot meet, each with the reason; then any other fault that it refuses fails
	// the test, and so does a reason for one that it can meet. Nil: each fault that its server refuses is passed over.
	Cannot map[Fault]string

	// Shared says that the cases share the server's books: each then has references of its own, which begin with the test's
	// name. For a real server.
	Shared bool

	// Brief is the time of a call where a case waits for it to run out; a healthy call must fit in. It is doubled while not
	// even the write is begun in it. Zero: enough for a server in memory.
	Brief time.Duration

	// ReadsFirst says that a Send asks the server for something before its one write, so that a Send that was stopped just
	// before the write has sent bytes, but no writing request.
	ReadsFirst bool
}

// longestBrief is the longest that the connection, and a real server's reads before a send, may take.
const longestBrief = time.Minute

// mayBeSlow reports whether connecting, or the reads before a send, took all of Brief, on a machine with other work: no write
// arrived, so the case was not met, and is tried again with more time.
func (t Target) mayBeSlow(a work.Answer, writes int) bool {
	return a.Outcome == work.NotSent && writes == 0 && t.Brief < longestBrief
}

// cautious reports whether the adapter may know less in this case.
func (t Target) cautious(name string) bool { return t.Cautious[name] != "" }

// Setup is what a test needs of the adapter and its server.
type Setup struct {
	Timeout  time.Duration    // total time of one call
	MaxBody  int64            // most bytes of an answer
	PageSize int              // records on one page of the search
	Now      func() time.Time // the adapter's clock
}

// Outside is what the suite sees and steers of the server, behind the adapter's back.
type Outside interface {
	// Misbehave makes the server meet every following request of that kind with the fault; NoFault heals it. It returns
	// false if this kind of system cannot fail so; the test is then skipped.
	Misbehave(kind work.Kind, f Fault) bool
	// Effects counts how often the step took effect for records asked for under the reference, void ones included.
	Effects(step, reference string) int
	// Writes lists the writing requests that reached the server.
	Writes() []Write
	// Traffic counts the bytes that the server received and sent, on all connections.
	Traffic() (received, sent int64)
	// Wait returns when the server is at rest.
	Wait()
	// Advance moves the server's clock.
	Advance(d time.Duration)
}

// Write is a writing request as the server saw it.
type Write struct {
	Key string // the idempotency key that it carried
}

// Fault names a way to misbehave; see the tables for what each must do.
type Fault string

// NoFault is a healthy server.
const NoFault Fault = ""

// Run runs the suite.
func Run(t *testing.T, target Target) {
	t.Run("Healthy", func(t *testing.T) { testHealthy(t, target) })
	t.Run("Send", func(t *testing.T) { testSends(t, target) })
	t.Run("Find", func(t *testing.T) { testFinds(t, target) })
	t.Run("Deadline", func(t *testing.T) { testDeadlines(t, target) })
	t.Run("Keys", func(t *testing.T) { testKeys(t, target) })
}

const longEnough = 20 * time.Second

// bench is one adapter with its server and an invoice that passed the steps before the one under test.
type bench struct {
	t        *testing.T
	sys      ledger.System
	out      Outside
	steps    []string
	invoice  work.Invoice
	previous map[string]string // record id by reference
	prefix   string            // of the references that travel
	server   Outside           // without the prefix
	cannot   map[Fault]string
}

var benches atomic.Int64

func newBench(t *testing.T, target Target, s Setup) *bench {
	t.Helper()
	switch {
	case s.Timeout == 0:
		s.Timeout = longEnough
	case s.Timeout == briefly && target.Brief > 0:
		s.Timeout = target.Brief
	}
	total, err := currency.NewAmount("47.99", "EUR")
	if err != nil {
		t.Fatal(err)
	}
	invoice := work.Invoice{CustomerID: "C-1", CustomerName: "Straße Müller GmbH", Total: total, IssueDate: "2026-11-30"}
	if target.Invoice != nil {
		target.Invoice(&invoice)
	}
	sys, out := target.New(t, s)
	b := &bench{t: t, sys: sys, steps: sys.Steps(), previous: map[string]string{}, invoice: invoice, cannot: target.Cannot}
	if target.Shared {
		b.prefix = fmt.Sprintf("%s %d ", t.Name(), benches.Add(1))
	}
	b.server, b.out = out, prefixed{out, b.prefix}
	return b
}

// once prepares a step for all cases that leave things as they are, where the books are shared: a real server is slow.
func (t Target) once(parent *testing.T, prepare func(b *bench, step string)) map[string]*bench {
	prepared := map[string]*bench{}
	if t.Shared {
		for _, step := range newBench(parent, t, Setup{}).steps {
			prepared[step] = newBench(parent, t, Setup{})
			prepare(prepared[step], step)
		}
	}
	return prepared
}

// sameAs goes on with the other's references and records.
func (b *bench) sameAs(other *bench) {
	b.prefix, b.previous = other.prefix, maps.Clone(other.previous)
	b.out = prefixed{b.server, b.prefix}
}

// prefixed counts what carries the prefix.
type prefixed struct {
	Outside
	prefix string
}

func (p prefixed) Effects(step, reference string) int {
	return p.Outside.Effects(step, p.prefix+reference)
}

// misbehave makes the server meet the fault. If it cannot, the test is skipped, or fails where that has no reason.
func (b *bench) misbehave(kind work.Kind, f Fault) {
	b.t.Helper()
	why := b.cannot[f]
	switch can := b.out.Misbehave(kind, f); {
	case can && why != "":
		b.t.Errorf("the server can fail so: it is no longer true that %s", why)
	case !can && why == "" && b.cannot != nil:
		b.t.Fatalf("the server does not do %q, and nobody says why", f)
	case !can:
		b.t.Skip("this system cannot fail so: " + why)
	}
}

func (b *bench) request(step, reference string) ledger.Request {
	return ledger.Request{Step: step, Reference: b.prefix + reference, Key: "KEY-" + step + "-" + reference, Invoice: b.invoice,
		PreviousRecordID: b.previous[reference], SendBy: ledger.NewDeadline(time.Now(), time.Hour)}
}

func (b *bench) send(step, reference string) work.Answer {
	return ledger.DoSend(b.t.Context(), b.sys, b.request(step, reference), nil)
}

func (b *bench) find(step, reference string) work.Lookup {
	return ledger.DoFind(b.t.Context(), b.sys, ledger.Query{Step: step, Reference: b.prefix + reference, PreviousRecordID: b.previous[reference]}, b.invoice)
}

// reach carries the healthy document up to, without, the step.
func (b *bench) reach(step, reference string) {
	b.t.Helper()
	for _, s := range b.steps {
		if s == step {
			return
		}
		b.issue(s, reference)
	}
}

func (b *bench) issue(step, reference string) {
	b.t.Helper()
	a := b.send(step, reference)
	if a.Outcome != work.Accepted {
		b.t.Fatalf("a healthy %s was not accepted: %+v", step, a)
	}
	b.previous[reference] = a.Record.ID
}

func testHealthy(t *testing.T, target Target) {
	b := newBench(t, target, Setup{})
	if len(b.steps) == 0 {
		t.Fatal("the adapter has no steps")
	}
	identity, err := ledger.DoIdentity(t.Context(), b.sys)
	if err != nil || identity == "" {
		t.Fatalf("identity %q: %v", identity, err)
	}
	for i, step := range b.steps {
		a := b.send(step, "INV-1")
		if a.Outcome != work.Accepted || a.Match == work.MatchDifferent {
			t.Fatalf("%s: %+v", step, a)
		}
		if a.Exchange.Identity != identity {
			t.Errorf("%s: answered by the books %q, not %q", step, a.Exchange.Identity, identity)
		}
		if n := b.out.Effects(step, "INV-1"); n != 1 {
			t.Errorf("%s: took effect %d times", step, n)
		}
		if n := len(b.out.Writes()); n != i+1 {
			t.Errorf("%s: %d writing requests, want %d", step, n, i+1)
		}
		b.previous["INV-1"] = a.Record.ID
		checkExchange(t, a.Exchange)
		if !b.sys.Capabilities().Searchable {
			continue
		}
		b.out.Advance(b.sys.Capabilities().SearchLag)
		l := b.find(step, "INV-1")
		if l.Finding != work.FoundMatching || l.Record.ID != a.Record.ID || l.Exchange.Identity != identity {
			t.Errorf("%s: find: %+v", step, l)
		}
		if l := b.find(b.steps[0], "INV-2"); l.Finding != work.NotFound {
			t.Errorf("a reference never used: %+v", l)
		}
	}
	if !b.sys.Capabilities().Searchable {
		if l := b.find(b.steps[0], "INV-1"); l.Finding != work.CouldNotTell {
			t.Errorf("a system that cannot be searched says %s", l.Finding)
		}
	}
}
