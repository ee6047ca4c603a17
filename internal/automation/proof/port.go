package proof

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"onefold/internal/ledger"
	"onefold/internal/work"
)

// port is the adapter under proof. It remembers what was sent and every record that came back, so that nothing is left
// behind untold, and loses an answer when it is armed.
type port struct {
	ledger.System
	armed atomic.Bool
	lost  atomic.Int64

	mu      sync.Mutex
	sends   []sent
	records []work.Record
}

// sent is one send and how it was judged by the adapter.
type sent struct {
	reference, step string
	answer          work.Answer
}

// lose is asked by the transport after each write that was answered.
func (p *port) lose() bool {
	if !p.armed.CompareAndSwap(true, false) {
		return false
	}
	p.lost.Add(1)
	return true
}

// Send implements ledger.System.
func (p *port) Send(ctx context.Context, req ledger.Request) work.Answer {
	a := p.System.Send(ctx, req)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sends = append(p.sends, sent{req.Reference, req.Step, a})
	if a.Outcome == work.Accepted {
		p.saw(a.Record, req.Reference)
	}
	return a
}

// Find implements ledger.System.
func (p *port) Find(ctx context.Context, q ledger.Query) ledger.Found {
	f := p.System.Find(ctx, q)
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, r := range f.Records {
		p.saw(r, q.Reference)
	}
	return f
}

// saw keeps a record as it was seen last. The lock is held.
func (p *port) saw(r work.Record, reference string) {
	if !ledger.UsableID(r.ID) {
		return
	}
	if r.Reference == "" {
		r.Reference = reference
	}
	if i := slices.IndexFunc(p.records, func(k work.Record) bool { return k.ID == r.ID }); i >= 0 {
		p.records[i] = r
		return
	}
	p.records = append(p.records, r)
}

// sendsOf are the sends under a reference.
func (p *port) sendsOf(reference string) (list []sent) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range p.sends {
		if s.reference == reference {
			list = append(list, s)
		}
	}
	return list
}

// live are the records that were seen and are not void.
func (p *port) live() (list []work.Record) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, r := range p.records {
		if r.State != work.StateVoid {
			list = append(list, r)
		}
	}
	return list
}

// remover is the part of a system that takes records back, if it has one.
func remover(s ledger.System) (ledger.Remover, bool) {
	if p, ok := s.(*port); ok {
		s = p.System
	}
	r, ok := s.(ledger.Remover)
	return r, ok
}

// closePort drops the idle connections of a system that has some.
func closePort(s ledger.System) {
	if p, ok := s.(*port); ok {
		s = p.System
	}
	if c, ok := s.(interface{ Close() }); ok {
		c.Close()
	}
}
