package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"onefold/internal/auth"
	"onefold/internal/automation"
	"onefold/internal/automation/proof"
	"onefold/internal/seal"
	"onefold/internal/store"
	"onefold/internal/web"
	"onefold/internal/work"
	"onefold/web/templates"
)

// Exit codes of verify beside 0 (proven) and 2 (typed wrong).
const (
	exitFailed      = 1
	exitNotPossible = 3
)

func verifyCommand() *cobra.Command {
	var db databaseFlags
	var wish proof.Wish
	var keys string
	var asJSON, adopt bool
	cmd := &cobra.Command{
		Use:   "verify SYSTEM",
		Short: "Prove on a connected accounting system that nothing is made twice",
		Long: "Prove on a connected accounting system that a lost answer leaves exactly one record, and that a refusal creates\n" +
			"nothing. It makes a few test invoices for a test customer, marked ONEFOLD-PROOF; outside of declared test books only\n" +
			"drafts, and only with --consent. What was not given is taken from the last proof of the system.\n\n" +
			"Exit codes: 0 proven, 1 failed, 2 typed wrong, 3 not possible or without consent.",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			st, err := db.open(cmd.Context(), slog.Default())
			if err != nil {
				return err
			}
			defer st.Close() //nolint:errcheck // on the way out
			sealed, err := keysOf(keys, db.data)
			if err != nil {
				return badly(err)
			}
			v := verification{st: st, out: cmd.OutOrStdout(), systems: connections(st, sealed, slog.Default()), node: db.node}
			if asJSON {
				v.out = cmd.ErrOrStderr()
			}
			run, err := v.verify(cmd.Context(), args[0], wish)
			if err != nil {
				return err
			}
			if adopt && run.Offer != (work.Caution{}) {
				if err := v.service().Adopt(context.WithoutCancel(cmd.Context()), console, run.ID); err != nil {
					return err
				}
				run.Adopted = true
				fmt.Fprintln(v.out, templates.Proofs.Adopted)
			}
			if asJSON {
				if err := printJSON(cmd.OutOrStdout(), run); err != nil {
					return err
				}
			}
			return verdict(run)
		},
	}
	db.add(cmd)
	f := cmd.Flags()
	f.StringVar(&wish.Customer, "customer", "", "the id of a test customer in the accounting system")
	f.StringVar(&wish.Amount, "amount", "", "the amount of each test invoice (default: 1.00)")
	f.StringVar(&wish.Currency, "currency", "", "its currency, for example EUR")
	f.StringVar(&wish.Consent, "consent", "", "the name of the system, to agree that drafts are made in live books")
	f.BoolVar(&adopt, "adopt", false, "where the system is not as declared, rely on less from now on")
	f.BoolVar(&asJSON, "json", false, "print the report as JSON; the steps go to standard error")
	f.StringVar(&keys, "session-keys", "", "keys of sealed secrets, as serve has them (default: those in the data folder)")
	return cmd
}

// keysOf are the keys that open stored credentials; none if there are none yet.
func keysOf(text, data string) (automation.Sealer, error) {
	if text != "" {
		return auth.ParseKeys(text)
	}
	path := filepath.Join(data, "session.keys")
	if _, err := os.Stat(path); err != nil {
		return nil, nil
	}
	return seal.FromFile(path)
}

// verdict is the error that the exit code comes from; nil: proven.
func verdict(r proof.Run) error {
	switch r.State {
	case proof.Proven:
		return nil
	case proof.NotPossible:
		return ended{fmt.Errorf("%s was not proven: see the steps that are not possible", r.System), exitNotPossible}
	}
	return ended{fmt.Errorf("%s was not proven: the proof ended as %s", r.System, r.State), exitFailed}
}

// verification is one run from the console.
type verification struct {
	st      *store.Store
	systems *automation.Connections
	out     io.Writer
	node    string
}

func (v verification) service() proof.Service {
	return proof.Service{Store: v.st, Connections: v.systems, CompanyID: 1}
}

// verify begins a run, carries it out and tells each step.
func (v verification) verify(ctx context.Context, systemID string, wish proof.Wish) (proof.Run, error) {
	plan, err := v.service().Plan(ctx, console, systemID)
	if errors.Is(err, automation.ErrUnknownSystem) {
		return proof.Run{}, badly(fmt.Errorf("there is no accounting system %q: see onefold system list", systemID))
	}
	if err != nil {
		return proof.Run{}, err
	}
	for _, field := range []struct{ typed, before *string }{{&wish.Customer, &plan.Before.Customer}, {&wish.Amount, &plan.Before.Amount}, {&wish.Currency, &plan.Before.Currency}} {
		if *field.typed == "" {
			*field.typed = *field.before
		}
	}
	r, err := v.service().Begin(ctx, console, systemID, wish)
	if why, ok := proof.IsWhy(err); ok {
		if why.Code == proof.WhyCustomer || why.Code == proof.WhyAmount {
			return r, badly(why)
		}
		return r, ended{why, exitNotPossible}
	}
	if errors.Is(err, proof.ErrRunning) {
		return r, ended{err, exitNotPossible}
	}
	if err != nil {
		return r, err
	}
	books := templates.Proofs.Test
	if r.Live {
		books = templates.Proofs.Live
	}
	fmt.Fprintf(v.out, "%s\n\n", books)
	runner := proofRunner(v.st, v.systems, v.node, slog.Default())
	runner.Told = func(_ proof.Run, s proof.Step) { v.tell(s) }
	if r, err = runner.Carry(ctx, r.ID); err == nil && !r.State.Ended() {
		r, err = v.follow(ctx, r.ID) // a running server was faster
	}
	if err == nil {
		v.conclude(r)
	}
	return r, err
}

func (v verification) tell(s proof.Step) {
	w := templates.Proofs
	if s.State == proof.StepRunning {
		fmt.Fprintf(v.out, "  %s …\n", w.Steps[s.Name])
		return
	}
	fmt.Fprintf(v.out, "%s %s: %s. %s\n", w.StateSign[string(s.State)], w.Steps[s.Name], w.StateName[string(s.State)], web.ProofSays(s))
}

// follow tells the steps of a run that a server carries out.
func (v verification) follow(ctx context.Context, id int64) (r proof.Run, err error) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for told := 0; ; {
		if r, err = v.service().One(ctx, console, id); err != nil {
			return r, err
		}
		for ; told < len(r.Steps) && r.Steps[told].State != proof.StepWaiting && r.Steps[told].State != proof.StepRunning; told++ {
			v.tell(r.Steps[told])
		}
		if r.State.Ended() {
			return r, nil
		}
		select {
		case <-ctx.Done():
			return r, ctx.Err()
		case <-tick.C:
		}
	}
}

func (v verification) conclude(r proof.Run) {
	w := templates.Proofs
	fmt.Fprintf(v.out, "\n%s\n", w.Result[string(r.State)])
	if len(r.Left) > 0 {
		fmt.Fprintf(v.out, "\n%s:\n", w.Left)
		for _, left := range r.Left {
			fmt.Fprintf(v.out, "  %s %s %s %s %s\n", left.ID, left.Number, left.Reference, left.URL, left.Why)
		}
	}
	if r.State == proof.Interrupted {
		fmt.Fprintf(v.out, "\n%s\n", w.LeftInterrupted)
		for _, ref := range r.References {
			fmt.Fprintf(v.out, "  %s\n", ref)
		}
	}
	if lines := web.ProofOffers(r.Offer); len(lines) > 0 {
		fmt.Fprintf(v.out, "\n%s:\n", w.Offer)
		for _, line := range lines {
			fmt.Fprintf(v.out, "  %s\n", line)
		}
		if !r.Adopted {
			fmt.Fprintln(v.out, "Take them over with --adopt, or on the page of the proof.")
		}
	}
}

// report is the report of a run for programs. Times are in UTC, lengths of time in nanoseconds.
type report struct {
	ID       int64             `json:"id"`
	SystemID string            `json:"system_id"`
	State    proof.State       `json:"state"`
	Live     bool              `json:"live"`
	At       time.Time         `json:"at"`
	EndedAt  time.Time         `json:"ended_at"`
	Observed work.Capabilities `json:"observed"`
	proof.Body
}

func printJSON(out io.Writer, r proof.Run) error {
	e := json.NewEncoder(out)
	e.SetIndent("", "  ")
	return e.Encode(report{r.ID, r.SystemID, r.State, r.Live, r.At.UTC(), r.EndedAt.UTC(), r.Observed(), r.Body})
}

// proofRunner carries out proofs, each with an SQLite database of its own in a folder that is removed at its end.
func proofRunner(st *store.Store, systems *automation.Connections, node string, log *slog.Logger) proof.Runner {
	return proof.Runner{Store: st, Connections: systems, CompanyID: 1, Node: node, Log: log, Ledger: openProofLedger}
}

type proofLedger struct {
	*store.Store
	folder string
}

func openProofLedger(ctx context.Context, now func() time.Time) (proof.Ledger, error) {
	folder, err := os.MkdirTemp("", "onefold-proof-")
	if err != nil {
		return nil, err
	}
	st, err := store.Open(ctx, store.Config{URL: "sqlite:" + filepath.Join(folder, "proof.db"), Node: "proof", Clock: now})
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(folder))
	}
	return proofLedger{st, folder}, nil
}

// Close implements proof.Ledger.
func (l proofLedger) Close() error { return errors.Join(l.Store.Close(), os.RemoveAll(l.folder)) }
