package proof

import (
	"context"
	"strings"
	"time"

	"onefold/internal/ledger"
	"onefold/internal/work"
)

// made is the first record of a run, which the steps look at.
type made struct {
	req    ledger.Request
	answer work.Answer
	at     time.Time   // when the answer was there
	found  work.Lookup // the first lookup that found it; none: zero
}

func (m made) query() ledger.Query { return ledger.Query{Step: m.req.Step, Reference: m.req.Reference} }

// patience is how often a call is made again that brought nothing, and how long the wait is if none is asked for.
const (
	patience    = 5
	patientWait = 2 * time.Second
	longestAsk  = 2 * time.Minute
)

// search makes lookups until one was carried out, or patience ends.
func (p *prover) search(ctx context.Context, q ledger.Query, asked work.Invoice) (l work.Lookup, err error) {
	for try := 1; ; try++ {
		l = p.lookup(ctx, q, asked)
		if l.Finding != work.CouldNotTell && l.Finding != work.FindDeferred || l.Login || try == patience {
			return l, ctx.Err()
		}
		if err := p.pause(ctx, min(max(l.RetryAfter, patientWait), longestAsk)); err != nil {
			return l, err
		}
	}
}

// deliver makes a send again as long as the system asks to come back later.
func (p *prover) deliver(ctx context.Context, req ledger.Request) (a work.Answer, err error) {
	for try := 1; ; try++ {
		a = p.send(ctx, req)
		if a.Outcome != work.Deferred || a.Login || try == patience {
			return a, ctx.Err()
		}
		if err := p.pause(ctx, min(max(a.RetryAfter, patientWait), longestAsk)); err != nil {
			return a, err
		}
	}
}

func (p *prover) books(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, p.sys.Policy.RequestTimeout)
	defer cancel()
	identity, err := ledger.DoIdentity(ctx, p.port)
	switch {
	case err != nil:
		p.failed("silent", "text", err.Error())
		return errStop
	case p.sys.Identity != "" && identity != p.sys.Identity:
		p.failed("other", "books", identity, "before", p.sys.Identity)
		return errStop
	}
	p.sys.Identity = identity
	p.pass("reached", "books", identity)
	return nil
}

func (p *prover) nothing(ctx context.Context) error {
	if !p.sys.Capabilities.Searchable {
		p.cannot("unsearchable")
		return nil
	}
	ref, err := p.reference(ctx, "Never")
	if err != nil {
		return err
	}
	l, err := p.search(ctx, ledger.Query{Step: p.sys.Steps[0], Reference: ref}, p.run.invoice(p.mark))
	switch {
	case err != nil:
		return err
	case l.Finding.Found():
		p.offer(work.Caution{NoSearch: true})
		p.failed("finds", "n", count(l.Count))
	case l.Finding != work.NotFound:
		p.failed("could_not", "text", l.Exchange.Error)
		return errStop
	default:
		p.run.Seen.Search = true // as long as the record that follows is found
		p.pass("missed")
	}
	return nil
}

func (p *prover) make(ctx context.Context) error {
	ref, err := p.reference(ctx, "Made")
	if err != nil {
		return err
	}
	step := p.sys.Steps[0]
	key, err := work.Key(p.run.CompanyID, automationName, p.key("Made"), step, p.sys.Capabilities)
	if err != nil {
		return err
	}
	p.made.req = ledger.Request{Step: step, Reference: ref, Key: key, Invoice: p.run.invoice(p.mark)}
	p.made.answer, err = p.deliver(ctx, p.made.req)
	p.made.at = p.now()
	a := p.made.answer
	switch {
	case err != nil:
		return err
	case a.Outcome == work.Accepted:
		p.pass("made", "record", named(a.Record))
		return nil
	case a.Outcome == work.Unknown:
		p.failed("unknown", "text", a.Exchange.Error, "reference", ref)
	default:
		p.failed("refused", "text", a.Exchange.Error)
	}
	return errStop
}

// find looks for the first record until it is found, and measures how long the search hides it.
func (p *prover) find(ctx context.Context) error {
	if !p.sys.Capabilities.Searchable {
		p.cannot("unsearchable")
		return nil
	}
	declared := p.sys.Capabilities.SearchLag
	each, limit := min(max(declared/5, 500*time.Millisecond), 10*time.Second), max(10*declared, 2*time.Minute)
	missed := time.Duration(0) // it was surely hidden so long
	for {
		began := p.now()
		l, err := p.search(ctx, p.made.query(), p.made.req.Invoice)
		after := p.now().Sub(p.made.at)
		switch {
		case err != nil:
			return err
		case l.Finding.Found():
			p.made.found, p.run.Lag = l, began.Sub(p.made.at)
			if missed > declared {
				p.offer(work.Caution{SearchLag: (2 * p.run.Lag).Round(time.Second) + time.Second})
				p.run.Seen.Search = false
				p.failed("late", "lag", seconds(p.run.Lag), "declared", seconds(declared))
				return nil
			}
			p.pass("found", "lag", seconds(p.run.Lag), "declared", seconds(declared))
			return nil
		case l.Finding != work.NotFound:
			p.run.Seen.Search = false
			p.failed("could_not", "text", l.Exchange.Error)
			return errStop
		case after > limit:
			p.run.Seen.Search = false
			p.offer(work.Caution{NoSearch: true})
			p.failed("never", "time", seconds(after), "declared", seconds(declared))
			return nil
		}
		missed = began.Sub(p.made.at)
		if err := p.pause(ctx, each); err != nil {
			return err
		}
	}
}

// same compares the first record with what was asked for.
func (p *prover) same(context.Context) error {
	asked, l, a := p.made.req.Reference, p.made.found, p.made.answer
	got, remark, different := a.Record.Reference, a.Remark, a.Match == work.MatchDifferent
	if l.Finding.Found() {
		got, remark, different = l.Record.Reference, l.Remark, different || l.Finding != work.FoundMatching
	}
	if remark == "" {
		remark = a.Remark
	}
	for _, r := range []string{got, a.Record.Reference} {
		if r != "" && r != asked && strings.EqualFold(strings.TrimSpace(r), strings.TrimSpace(asked)) {
			p.offer(work.Caution{Plain: true})
			p.failed("reference", "asked", asked, "got", r)
			return nil
		}
	}
	switch {
	case different:
		p.failed("different", "text", remark)
	case got == "":
		p.cannot("untold")
	default:
		p.pass("same", "reference", got)
	}
	return nil
}

// repeat sends the first record again with the same key.
func (p *prover) repeat(ctx context.Context) error {
	if !p.sys.Capabilities.HonoursKeys {
		p.cannot("not_declared")
		return nil
	}
	a, err := p.deliver(ctx, p.made.req)
	if err != nil {
		return err
	}
	second, err := p.second(ctx)
	switch {
	case err != nil:
		return err
	case a.Outcome == work.Accepted && a.Record.ID != p.made.answer.Record.ID:
		p.offer(work.Caution{NoKeys: true})
		p.failed("second", "first", named(p.made.answer.Record), "second", named(a.Record))
	case second:
		p.offer(work.Caution{NoKeys: true})
		p.failed("several")
	case a.Outcome == work.Accepted:
		p.run.Seen.Keys = true
		p.pass("recognised", "record", named(a.Record))
	case a.Outcome == work.AlreadyExists:
		p.run.Seen.Keys = true
		p.pass("duplicate")
	default:
		p.offer(work.Caution{NoKeys: true})
		p.failed("unclear", "text", a.Exchange.Error)
	}
	return nil
}

// unique sends the first record again as another request.
func (p *prover) unique(ctx context.Context) error {
	if !p.sys.Capabilities.UniqueReferences {
		p.cannot("not_declared")
		return nil
	}
	req := p.made.req
	key, err := work.Key(p.run.CompanyID, automationName, p.key("Again"), req.Step, p.sys.Capabilities)
	if err != nil {
		return err
	}
	req.Key = key
	a, err := p.deliver(ctx, req)
	if err != nil {
		return err
	}
	second, err := p.second(ctx)
	switch {
	case err != nil:
		return err
	case second || a.Outcome == work.Accepted && a.Record.ID != p.made.answer.Record.ID:
		p.offer(work.Caution{NotUnique: true})
		p.failed("second", "first", named(p.made.answer.Record), "second", named(a.Record))
	case a.Outcome == work.Unknown:
		p.offer(work.Caution{NotUnique: true})
		p.failed("unclear", "text", a.Exchange.Error)
	default:
		p.pass("refused")
	}
	return nil
}

// second reports whether the search shows more than one record under the reference of the first.
func (p *prover) second(ctx context.Context) (bool, error) {
	if !p.sys.Capabilities.Searchable || !p.made.found.Finding.Found() {
		return false, nil
	}
	if err := p.pause(ctx, p.sys.Capabilities.SearchLag); err != nil {
		return false, err
	}
	l, err := p.search(ctx, p.made.query(), p.made.req.Invoice)
	return l.Finding == work.FoundSeveral, err
}

// named is a record as people find it: by its number, else its id.
func named(r work.Record) string {
	if r.Number != "" {
		return r.Number
	}
	return r.ID
}
