package proof

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"onefold/internal/automation"
	"onefold/internal/ledger"
	"onefold/internal/work"
)

// prover carries out one run.
type prover struct {
	Runner
	run   *Run
	how   automation.Proving
	sys   work.System // as the run uses it: its own limits, and what is still relied on
	port  *port
	hide  func(string) string // blots secrets out; nil: there are none yet
	db    Ledger              // nil: not opened yet
	mark  string
	until time.Time // the run takes no longer
	saved time.Time
	made  made
	at    string // the step that is going on; empty: none
}

// errOver ends a run whose time is over.
var errOver = errors.New("it took longer than a proof may")

// errStop ends the steps before cleaning up: what follows would say nothing.
var errStop = errors.New("the steps after it would say nothing")

// prove makes all steps. An error is ErrLost, the context's, or something that went wrong inside.
func (p *prover) prove(ctx context.Context) error {
	systems, err := p.Store.Systems(ctx)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(systems, func(s work.System) bool { return s.ID == p.run.SystemID })
	if i < 0 {
		return automation.ErrUnknownSystem
	}
	p.sys = limited(systems[i])
	p.run.Reached, p.run.Relied = p.sys.Reached(), p.sys.Capabilities
	p.until = p.now().Add(budget(p.sys))
	p.mark = "ONEFOLD-PROOF-" + rand.Text()[:8]
	if p.how, err = p.Connections.Proving(systems[i]); err != nil {
		return err
	}
	if p.run.Live == p.how.TestBooks {
		return errors.New("the books were declared otherwise meanwhile: begin again")
	}
	p.port = &port{}
	if p.port.System, p.hide, err = p.how.Connect(ctx, p.port.lose); err != nil {
		return err
	}
	defer func() {
		closePort(p.port)
		if p.db != nil {
			if err := p.db.Close(); err != nil {
				p.log().Warn("a proof's own database could not be closed", "error", err)
			}
		}
	}()
	p.sys.Steps = p.port.Steps()
	err = p.steps(ctx)
	if errors.Is(err, errOver) {
		p.broke("over", "time", budget(p.sys).String())
		err = errStop
	}
	if errors.Is(err, errStop) {
		p.skipRest()
		err = nil
	}
	if err != nil || ctx.Err() != nil {
		return errors.Join(err, ctx.Err())
	}
	return p.clean(ctx)
}

// steps makes the steps in order.
func (p *prover) steps(ctx context.Context) error {
	for _, step := range []struct {
		name string
		do   func(context.Context) error
	}{{Books, p.books}, {Nothing, p.nothing}, {Made, p.make}, {Found, p.find}, {Same, p.same}, {Repeat, p.repeat}, {Unique, p.unique}, {Lost, p.lost}, {Refused, p.refused}} {
		if err := p.begin(ctx, step.name); err != nil {
			return err
		}
		if err := step.do(ctx); err != nil {
			return err
		}
	}
	return nil
}

// limited is the system under the limits of a proof: the system's own floors and no more, few sends, short waits.
func limited(s work.System) work.System {
	s.Capabilities = s.Capabilities.Cautious(s.Caution)
	s.Typed, s.Seen, s.Caution, s.Overrides = false, work.Seen{}, work.Caution{}, nil
	s.Policy = work.Policy{Sends: 3, FirstDelay: time.Second, Growth: 1.5, LongestDelay: 5 * time.Second, RequestTimeout: min(s.Policy.RequestTimeout, longCall),
		SendWindow: s.Policy.SendWindow, Lookups: 60, SettleWithin: 24 * time.Hour, BreakerAfter: 100, BreakerPause: time.Second, BreakerLongest: time.Second}
	s.MaxInFlight, s.PerSecond = 1, 0
	s.PausedAt, s.BreakerUntil, s.LoginProblem, s.LookFirst = time.Time{}, time.Time{}, "", time.Time{}
	return s
}

// budget is how long a run may take: what the system's own times ask for, several times over.
func budget(s work.System) time.Duration {
	r := s.Rules()
	one := r.Settle() + time.Duration(r.Misses()+1)*max(r.SearchLag(), 10*time.Second) + r.Lease()
	return min(10*time.Minute+time.Duration(4*(1+len(s.Steps)))*one, 3*time.Hour)
}

// key is the business key of one thing that the run makes; small letters are in it on purpose.
func (p *prover) key(what string) string { return p.mark + "-" + what }

// reference derives what travels, and names it in the report before anything is sent under it.
func (p *prover) reference(ctx context.Context, what string) (string, error) {
	ref, err := work.Reference("", p.key(what), p.sys.Capabilities)
	if err != nil {
		return "", err
	}
	if !slices.Contains(p.run.References, ref) {
		p.run.References = append(p.run.References, ref)
	}
	return ref, p.save(ctx)
}

// lookup makes one lookup, within the time that a call may take.
func (p *prover) lookup(ctx context.Context, q ledger.Query, asked work.Invoice) work.Lookup {
	ctx, cancel := context.WithTimeout(ctx, p.sys.Policy.RequestTimeout)
	defer cancel()
	q.Since = p.run.At // nothing of the run was sent before
	return ledger.DoFind(ctx, p.port, q, asked)
}

// send makes one send beside the engine, within the time that a call may take.
func (p *prover) send(ctx context.Context, req ledger.Request) work.Answer {
	req.SendBy = ledger.NewDeadline(p.now(), p.sys.Policy.SendWindow)
	ctx, cancel := context.WithTimeout(ctx, p.sys.Policy.RequestTimeout)
	defer cancel()
	return ledger.DoSend(ctx, p.port, req, nil)
}

// pause lets time pass, and keeps the run in our hands meanwhile.
func (p *prover) pause(ctx context.Context, d time.Duration) error {
	for end := p.now().Add(d); ; {
		if err := ctx.Err(); err != nil {
			return err
		}
		now := p.now()
		if now.After(p.until) {
			return errOver
		}
		if now.Sub(p.saved) >= saveEach {
			if err := p.save(ctx); err != nil {
				return err
			}
		}
		left := end.Sub(now)
		if left <= 0 {
			return nil
		}
		p.wait(ctx, min(left, saveEach))
	}
}

func (p *prover) save(ctx context.Context) error {
	p.saved = p.now()
	return p.Store.SaveProof(ctx, p.run, p.Node, hold)
}

// begin notes that a step begins.
func (p *prover) begin(ctx context.Context, name string) error {
	if p.now().After(p.until) {
		return errOver
	}
	s := p.run.step(name)
	s.State, s.Began = StepRunning, p.now().UTC()
	p.at = name
	p.tell(*s)
	return p.save(ctx)
}

// end notes how the step that is going on ended. Vals are names and values in turn.
func (p *prover) end(state StepState, says string, vals ...string) {
	s := p.run.step(p.at)
	s.State, s.Says, s.Ended, s.Vals = state, says, p.now().UTC(), map[string]string{}
	for i := 0; i+1 < len(vals); i += 2 {
		text := vals[i+1]
		if p.hide != nil {
			text = p.hide(text)
		}
		s.Vals[vals[i]] = ledger.Short(text, 300)
	}
	p.at = ""
	p.tell(*s)
}

func (p *prover) pass(says string, vals ...string)   { p.end(StepPassed, p.at+"/"+says, vals...) }
func (p *prover) cannot(says string, vals ...string) { p.end(StepNotPossible, p.at+"/"+says, vals...) }
func (p *prover) failed(says string, vals ...string) { p.end(StepFailed, p.at+"/"+says, vals...) }

// broke ends the step that is going on, or the next one, for a reason that any step may have.
func (p *prover) broke(why string, vals ...string) {
	for _, s := range p.run.Steps {
		if p.at == "" && s.Ended.IsZero() {
			p.at = s.Name
		}
	}
	if p.at != "" {
		p.end(StepFailed, "any/"+why, vals...)
	}
}

// skipRest notes that the steps that are left are not made.
func (p *prover) skipRest() {
	for i := range p.run.Steps {
		if s := &p.run.Steps[i]; s.Name != Cleaning && (s.State == StepWaiting || s.State == StepRunning) {
			s.State, s.Says, s.Ended = StepNotPossible, "any/skipped", p.now().UTC()
			p.tell(*s)
		}
	}
	p.at = ""
}

func (p *prover) tell(s Step) {
	if p.Told != nil {
		p.Told(*p.run, s)
	}
}

// offer notes that something is better not relied on. From here on the run itself does not, either.
func (p *prover) offer(k work.Caution) {
	p.run.Offer = p.run.Offer.With(k)
	p.sys.Capabilities = p.sys.Capabilities.Cautious(k)
}

// seconds is a length of time as it is shown, to a tenth of a second.
func seconds(d time.Duration) string {
	return fmt.Sprint(d.Round(100 * time.Millisecond))
}

func count(n int) string { return strconv.Itoa(n) }
