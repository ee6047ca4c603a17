package proof

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"onefold/internal/automation"
)

// Runner carries out the runs that wait. Any number of servers may have one: each run is held by one of them. A run is
// never taken over from a lost server: what it sent is not known, so another start could make more.
type Runner struct {
	Store       Store
	Connections *automation.Connections
	CompanyID   int64
	Node        string // this server's name; unique among the servers
	// Ledger opens the database of one run, with this machine's clock.
	Ledger func(ctx context.Context, now func() time.Time) (Ledger, error)
	Now    func() time.Time                           // this machine's clock; nil: time.Now
	Wait   func(ctx context.Context, d time.Duration) // nil: waits, or until ctx ends
	Told   func(r Run, s Step)                        // hears of each step that begins and ends; nil: nobody
	Log    *slog.Logger                               // nil: slog.Default
}

const (
	hold      = 4 * time.Minute // a server that has not written for so long is taken for lost: longer than any one call
	saveEach  = 20 * time.Second
	lookEach  = time.Second // for runs that wait
	longCall  = time.Minute // no call of a proof takes longer
	shortWait = 250 * time.Millisecond
)

// Run calls RunOnce until ctx ends.
func (r Runner) Run(ctx context.Context) error {
	tick := time.NewTicker(lookEach)
	defer tick.Stop()
	for {
		if err := r.RunOnce(ctx); err != nil && ctx.Err() == nil {
			r.log().Error("a proof could not be carried out", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// RunOnce ends the runs of lost servers, and carries out those that wait, one after the other.
func (r Runner) RunOnce(ctx context.Context) error {
	if _, err := r.Store.InterruptProofs(ctx); err != nil {
		return err
	}
	ids, err := r.Store.WaitingProofs(ctx)
	for _, id := range ids {
		if ctx.Err() != nil {
			return err
		}
		_, one := r.Carry(ctx, id)
		err = errors.Join(err, one)
	}
	return err
}

// Carry carries out one run that waits, and returns it as it ended. If another server has it, it is returned as it is.
func (r Runner) Carry(ctx context.Context, id int64) (Run, error) {
	run, taken, err := r.Store.TakeProof(ctx, id, r.Node, hold)
	if err != nil || !taken {
		return run, err
	}
	p := &prover{Runner: r, run: &run}
	err = p.prove(ctx)
	switch {
	case errors.Is(err, ErrLost):
		return run, nil // it is told as interrupted already
	case ctx.Err() != nil:
		run.Interrupt()
	case err != nil:
		p.broke("inside", "text", err.Error())
		run.State = Failed
	default:
		run.State = verdict(run)
	}
	if run.State == Interrupted {
		p.leftOver()
	}
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	if endErr := r.Store.EndProof(end, &run, r.Node); endErr != nil && !errors.Is(endErr, ErrLost) {
		return run, fmt.Errorf("proof %d: %w", id, endErr)
	}
	return run, nil
}

// verdict is how a run ended whose steps are over.
func verdict(r Run) State {
	for _, s := range r.Steps {
		if s.State != StepPassed && s.State != StepNotPossible {
			return Failed
		}
	}
	if r.step(Lost).State != StepPassed || r.step(Refused).State != StepPassed {
		return NotPossible
	}
	return Proven
}

func (r Runner) now() time.Time {
	if r.Now == nil {
		return time.Now()
	}
	return r.Now()
}

func (r Runner) wait(ctx context.Context, d time.Duration) {
	if r.Wait != nil {
		r.Wait(ctx, d)
		return
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}

func (r Runner) log() *slog.Logger {
	if r.Log == nil {
		return slog.Default()
	}
	return r.Log
}
