package automation_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"onefold/internal/ledger"
	"onefold/internal/work"
)

// clock is a test's clock: it moves only when told to.
type clock struct {
	mu sync.Mutex
	t  time.Time
}

func newClock() *clock { return &clock{t: time.Date(2026, 11, 29, 9, 0, 0, 0, time.UTC)} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.t
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t = c.t.Add(d)
}

// stub is a stand-in accounting system that a test can steer. It counts calls and lists what it holds.
type stub struct {
	mu       sync.Mutex
	clock    *clock
	caps     work.Capabilities
	steps    []string
	identity string
	lag      time.Duration // how long a record stays invisible to the search
	held     []held
	sends    []ledger.Request
	finds    []ledger.Query
	onSend   []behaviour // used up one by one; then accept
	onFind   []func(ledger.Query) ledger.Found
	down     error // the identity cannot be read
	inFlight map[string]int
	clashes  int // two sends of one reference and step at the same time
}

// held is one effect at the stub.
type held struct {
	reference, step string
	record          work.Record
	from            time.Time // exists from then on
}

// behaviour answers one send; commit makes the record, after a delay if asked.
type behaviour func(s *stub, req ledger.Request, commit func(after time.Duration) work.Record) work.Answer

func newStub(c *clock, caps work.Capabilities) *stub {
	return &stub{clock: c, caps: caps, steps: []string{"create"}, identity: "Books of Acme", inFlight: map[string]int{}}
}

func (s *stub) Capabilities() work.Capabilities { return s.caps }
func (s *stub) Steps() []string                 { return s.steps }

func (s *stub) Identity(context.Context) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.identity, s.down
}

func (s *stub) Send(_ context.Context, req ledger.Request) work.Answer {
	s.mu.Lock()
	s.sends = append(s.sends, req)
	n := len(s.sends)
	s.inFlight[req.Reference+req.Step]++
	if s.inFlight[req.Reference+req.Step] > 1 {
		s.clashes++
	}
	var b behaviour = accept
	if len(s.onSend) > 0 {
		b, s.onSend = s.onSend[0], s.onSend[1:]
	}
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.inFlight[req.Reference+req.Step]--
	}()
	return b(s, req, func(after time.Duration) work.Record {
		s.mu.Lock()
		defer s.mu.Unlock()
		r := work.Record{ID: fmt.Sprintf("D%d", n), Number: fmt.Sprintf("N-%d", n), Reference: req.Reference, Customer: req.Invoice.CustomerID,
			Total: req.Invoice.Total, State: work.StatePosted}
		s.held = append(s.held, held{req.Reference, req.Step, r, s.clock.Now().Add(after)})
		return r
	})
}

func (s *stub) Find(_ context.Context, q ledger.Query) ledger.Found {
	s.mu.Lock()
	s.finds = append(s.finds, q)
	var script func(ledger.Query) ledger.Found
	if len(s.onFind) > 0 {
		script, s.onFind = s.onFind[0], s.onFind[1:]
	}
	s.mu.Unlock()
	if script != nil {
		return script(q)
	}
	f := ledger.Found{Searched: true, Exchange: work.Exchange{HTTPStatus: 200, Identity: s.identity}}
	for _, h := range s.visible(q.Reference, q.Step) {
		f.Records = append(f.Records, h.record)
	}
	return f
}

func (s *stub) visible(reference, step string) (out []held) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, h := range s.held {
		if h.reference == reference && h.step == step && !h.from.Add(s.lag).After(s.clock.Now()) {
			out = append(out, h)
		}
	}
	return out
}

// most is the largest number of effects for one reference and step; all is their total.
func (s *stub) count() (most, all int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := map[string]int{}
	for _, h := range s.held {
		n[h.reference+"/"+h.step]++
		most = max(most, n[h.reference+"/"+h.step])
	}
	return most, len(s.held)
}

func (s *stub) writes() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.sends)
}

func (s *stub) then(b ...behaviour) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.onSend = append(s.onSend, b...)
}

func (s *stub) thenFind(f ...func(ledger.Query) ledger.Found) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.onFind = append(s.onFind, f...)
}

func accept(s *stub, _ ledger.Request, commit func(time.Duration) work.Record) work.Answer {
	r := commit(0)
	return work.Answer{Outcome: work.Accepted, Record: r, Match: work.MatchSame, Exchange: work.Exchange{HTTPStatus: 201, Identity: s.identity}}
}

// lose makes the record and loses the answer.
func lose(_ *stub, _ ledger.Request, commit func(time.Duration) work.Record) work.Answer {
	commit(0)
	return work.Answer{Outcome: work.Unknown, Exchange: work.Exchange{Error: "no answer came"}}
}

// late makes the record only after a while; no answer comes.
func late(after time.Duration) behaviour {
	return func(_ *stub, _ ledger.Request, commit func(time.Duration) work.Record) work.Answer {
		commit(after)
		return work.Answer{Outcome: work.Unknown, Exchange: work.Exchange{Error: "no answer came"}}
	}
}

// answer answers without making a record.
func answer(a work.Answer) behaviour {
	return func(*stub, ledger.Request, func(time.Duration) work.Record) work.Answer { return a }
}

// committing makes the record and answers something else.
func committing(a work.Answer) behaviour {
	return func(_ *stub, _ ledger.Request, commit func(time.Duration) work.Record) work.Answer {
		commit(0)
		return a
	}
}

var (
	reject   = answer(work.Answer{Outcome: work.Rejected, Exchange: work.Exchange{HTTPStatus: 422, Error: "the customer is blocked"}})
	dropped  = answer(work.Answer{Outcome: work.Unknown, Exchange: work.Exchange{Error: "no answer came"}})
	notSent  = answer(work.Answer{Outcome: work.NotSent, Unreached: true, Exchange: work.Exchange{Error: "not reached"}})
	exploded = func(*stub, ledger.Request, func(time.Duration) work.Record) work.Answer { panic("boom") }
)

func deferFor(d time.Duration) behaviour {
	return answer(work.Answer{Outcome: work.Deferred, RetryAfter: d, Exchange: work.Exchange{HTTPStatus: 429, Error: "too many requests"}})
}

func findStatus(f ledger.Found) func(ledger.Query) ledger.Found {
	return func(ledger.Query) ledger.Found { return f }
}

var errDown = errors.New("connection refused")
