package proof

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"onefold/internal/automation"
	"onefold/internal/ledger"
	"onefold/internal/work"
)

// automationName is under what a run's items are recorded, in its own database.
const automationName = "proof"

// proving lets a run's items begin: they are what a system is proven by.
type proving struct{ automation.IntakeStore }

func (proving) BeginsUnproven(context.Context, int64, string, string) (bool, error) {
	return false, nil
}

// engineRun lets the engine carry out one document, step by step, until nothing of it moves by itself. With losing the
// first answer to each step's send is lost.
func (p *prover) engineRun(ctx context.Context, what string, inv work.Invoice, losing bool) ([]work.Item, error) {
	db, err := p.ledger(ctx)
	if err != nil {
		return nil, err
	}
	in := automation.Intake{Store: proving{db}}
	recorded, err := in.Record(ctx, []work.New{{CompanyID: p.sys.CompanyID, Automation: automationName, BusinessKey: p.key(what), SystemID: p.sys.ID,
		Invoice: inv, Source: automationName, By: work.Actor{Kind: work.Automation, ID: automationName}}})
	if err != nil {
		return nil, err
	}
	if err := recorded[0].Err; err != nil {
		return nil, refusedHere{err}
	}
	quiet := slog.New(slog.DiscardHandler) // the report tells everything
	engine := automation.NewEngine(automation.Config{Store: db, Node: automationName, Now: p.now, Log: quiet,
		Sleep:   func(d time.Duration) { p.wait(ctx, d) },
		Connect: func(work.System) (ledger.System, error) { return p.port, nil }})
	defer p.port.armed.Store(false)
	lost := map[string]bool{}
	for {
		items, err := p.items(ctx, db, what)
		if err != nil {
			return nil, err
		}
		last := items[len(items)-1]
		if last.Status == work.Review || last.Status == work.Confirmed && last.NextStep() == "" {
			return items, nil
		}
		if losing && last.Sends == 0 && !lost[last.Step] {
			lost[last.Step] = true
			p.port.armed.Store(true)
		}
		stats, err := engine.RunOnce(ctx)
		if err != nil {
			return nil, err
		}
		if stats.Claimed > 0 {
			continue
		}
		sys, err := db.System(ctx, p.sys.ID)
		if err != nil {
			return nil, err
		}
		if sys.LoginProblem != "" {
			return nil, errors.New(sys.LoginProblem)
		}
		if err := p.pause(ctx, max(last.DueAt.Sub(p.now()), shortWait)); err != nil {
			return nil, err
		}
	}
}

// refusedHere says that a document was refused before anything could be sent.
type refusedHere struct{ error }

// items are the steps of a document as far as they are recorded; never empty without an error.
func (p *prover) items(ctx context.Context, db Ledger, what string) (items []work.Item, err error) {
	for _, step := range p.sys.Steps {
		pick := work.Pick{Keys: []work.PickKey{{CompanyID: p.sys.CompanyID, Automation: automationName, FoldedKey: work.FoldKey(p.key(what)), Step: step}}}
		_, err := db.Change(ctx, pick, func(_ time.Time, picked []work.Picked) ([]work.Move, error) {
			for _, one := range picked {
				items = append(items, one.Item)
			}
			return nil, nil
		})
		if err != nil {
			return nil, err
		}
	}
	if len(items) == 0 {
		return nil, errors.New("what was recorded is not there")
	}
	return items, nil
}

// lost is the first of the two tests: the system acts, and our own transport loses its answer.
func (p *prover) lost(ctx context.Context) error {
	ref, err := p.reference(ctx, "Lost")
	if err != nil {
		return err
	}
	began := p.now()
	items, err := p.engineRun(ctx, "Lost", p.run.invoice(p.mark), true)
	if err != nil {
		return err
	}
	return p.judgeLost(ctx, ref, items, p.now().Sub(began))
}

func (p *prover) judgeLost(ctx context.Context, ref string, items []work.Item, took time.Duration) error {
	c, last, sends := p.sys.Capabilities, items[len(items)-1], p.port.sendsOf(ref)
	if last.Status == work.Review {
		if last.Reason == work.ReasonCannotLookUp && !c.Searchable && !c.HonoursKeys && len(sends) == len(items) {
			p.cannot("person")
			return nil
		}
		p.failed("review", "reason", string(last.Reason), "text", last.LastError)
		return nil
	}
	if int(p.port.lost.Load()) != len(p.sys.Steps) {
		p.failed("not_lost")
		return nil
	}
	vals := []string{"sends", count(len(sends)), "steps", count(len(p.sys.Steps)), "record", named(work.Record{ID: last.ExternalID, Number: last.ExternalNumber}), "time", seconds(took), "reference", ref}
	if !c.Searchable {
		p.pass("by_key", vals...)
		return nil
	}
	if len(sends) > len(p.sys.Steps) { // a second record may still be hidden
		if err := p.pause(ctx, c.SearchLag); err != nil {
			return err
		}
	}
	l, err := p.search(ctx, ledger.Query{Step: last.Step, Reference: ref, PreviousRecordID: last.PreviousExternalID}, last.Invoice)
	switch {
	case err != nil:
		return err
	case l.Finding == work.FoundMatching && l.Count == 1:
		p.pass("confirmed", vals...)
	case l.Finding == work.FoundSeveral || l.Count > 1:
		p.failed("several", "n", count(l.Count), "reference", ref)
	default:
		p.failed("not_found", "text", l.Remark+l.Exchange.Error, "reference", ref)
	}
	return nil
}

// refused is the second test: something that the system is sure to refuse.
func (p *prover) refused(ctx context.Context) error {
	ref, err := p.reference(ctx, "Refused")
	if err != nil {
		return err
	}
	inv := p.run.invoice(p.mark)
	if p.how.Adapter.Refused != nil {
		inv = p.how.Adapter.Refused(inv)
	} else {
		inv.CustomerID = "ONEFOLD-NO-SUCH-CUSTOMER"
	}
	items, err := p.engineRun(ctx, "Refused", inv, false)
	var here refusedHere
	if errors.As(err, &here) {
		p.cannot("here", "text", here.Error())
		return nil
	}
	if err != nil {
		return err
	}
	return p.judgeRefused(ctx, ref, items[0], inv)
}

func (p *prover) judgeRefused(ctx context.Context, ref string, it work.Item, inv work.Invoice) error {
	sends, final, outside := p.port.sendsOf(ref), false, 0
	for _, s := range sends {
		switch s.answer.Outcome {
		case work.Rejected:
			outside++
			final = final || s.answer.Final
		case work.NotSent, work.Deferred:
		case work.Accepted, work.AlreadyExists:
			p.failed("taken", "reference", ref)
			return nil
		default:
			p.failed("unclear", "text", s.answer.Exchange.Error, "reference", ref)
			return nil
		}
	}
	vals := []string{"n", count(outside), "text", it.LastError, "reference", ref}
	switch {
	case it.Status != work.Review || it.Reason != work.ReasonRejected && it.Reason != work.ReasonAttemptsExhausted:
		p.failed("elsewhere", "status", string(it.Status), "reason", string(it.Reason), "text", it.LastError, "reference", ref)
		return nil
	case outside == 0:
		p.cannot("here", vals...)
		return nil
	case !final && outside < p.sys.Policy.Sends:
		p.failed("few", vals...)
		return nil
	}
	code := map[bool]string{true: "final", false: "limit"}[final]
	if !p.sys.Capabilities.Searchable {
		p.pass(code+"/unsearchable", vals...)
		return nil
	}
	if err := p.pause(ctx, p.sys.Capabilities.SearchLag); err != nil {
		return err
	}
	l, err := p.search(ctx, ledger.Query{Step: it.Step, Reference: ref}, inv)
	switch {
	case err != nil:
		return err
	case l.Finding == work.NotFound:
		p.pass(code, vals...)
	case l.Finding.Found():
		p.failed("created", "n", count(l.Count), "reference", ref)
	default:
		p.failed("could_not", "text", l.Exchange.Error)
	}
	return nil
}

// ledger is the run's own database; it is opened when it is needed.
func (p *prover) ledger(ctx context.Context) (Ledger, error) {
	if p.db == nil {
		db, err := p.Ledger(ctx, p.Now)
		if err != nil {
			return nil, fmt.Errorf("the proof's own database: %w", err)
		}
		p.db = db
	}
	return p.db, p.db.DeclareSystem(ctx, p.sys)
}

// clean takes back what the run made, as far as the system lets it, and lists the rest.
func (p *prover) clean(ctx context.Context) error {
	if p.made.req.Reference == "" { // nothing was sent
		p.at = Cleaning
		p.cannot("nothing")
		return nil
	}
	p.until = p.now().Add(5 * time.Minute) // whatever happened, what is there is told
	if err := p.begin(ctx, Cleaning); err != nil {
		return err
	}
	if p.sys.Capabilities.Searchable {
		for _, ref := range p.run.References { // what came in behind our back
			p.lookup(ctx, ledger.Query{Step: p.sys.Steps[0], Reference: ref}, p.made.req.Invoice)
		}
	}
	p.leftOver()
	all := len(p.run.Left)
	if r, ok := remover(p.port); ok {
		var stays []Left
		for _, left := range p.run.Left {
			if err := p.remove(ctx, r, left.ID); err != nil {
				left.Why = ledger.Short(p.hide(err.Error()), 200)
				stays = append(stays, left)
			}
		}
		p.run.Left = stays
	}
	switch left := len(p.run.Left); {
	case all == 0:
		p.pass("none")
	case left == 0:
		p.pass("all", "n", count(all))
	default:
		p.pass("left", "n", count(left), "removed", count(all-left))
	}
	return nil
}

func (p *prover) remove(ctx context.Context, r ledger.Remover, id string) (err error) {
	defer func() {
		if recover() != nil { // the value may hold anything, a secret too
			err = errors.New("the connection to the accounting system failed inside")
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, p.sys.Policy.RequestTimeout)
	defer cancel()
	return r.Remove(ctx, id)
}

// leftOver lists what the run is known to have made.
func (p *prover) leftOver() {
	if p.port == nil {
		return
	}
	p.run.Left = nil
	for _, r := range p.port.live() {
		p.run.Left = append(p.run.Left, Left{ID: r.ID, Number: ledger.Short(r.Number, 100), Reference: ledger.Short(r.Reference, 100), State: r.State, URL: r.URL})
	}
}
