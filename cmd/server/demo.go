package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"onefold/examples"
	"onefold/internal/auth"
	"onefold/internal/automation"
	"onefold/internal/ledger/sandbox"
	sandboxserver "onefold/internal/ledger/sandbox/server"
	"onefold/internal/review"
	"onefold/internal/store"
	"onefold/internal/work"
)

func demoCommand() *cobra.Command {
	var exit bool
	var listen, sandboxListen string
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Run a month end against a misbehaving accounting system, then keep serving",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runDemo(cmd.Context(), cmd.OutOrStdout(), listen, sandboxListen, exit)
		},
	}
	cmd.Flags().BoolVar(&exit, "exit", false, "stop after the closing table; exit code 1 if any key has two records")
	cmd.Flags().StringVar(&listen, "listen", "127.0.0.1:8080", "where the pages are served; a free port is taken if it is in use")
	cmd.Flags().StringVar(&sandboxListen, "sandbox-listen", "127.0.0.1:8090", "where the accounting system is served, likewise")
	return cmd
}

const (
	demoBooks      = "acme"
	demoAutomation = "monthly"
)

// demoPlan is how the accounting system misbehaves at month end. An outage is added while it runs.
func demoPlan() sandboxserver.Plan {
	rule := func(f sandboxserver.Fault, p float64) sandboxserver.Rule {
		return sandboxserver.Rule{Fault: f, Probability: p}
	}
	limited := rule(sandboxserver.RateLimit, 0.05)
	limited.RetryAfter = "1"
	blocked := rule(sandboxserver.Reject, 0.02)
	blocked.Reason, blocked.Kind = "the customer is blocked for new invoices", sandboxserver.Create
	late := rule(sandboxserver.CommitLate, 0.02)
	late.DelayMS = 2500
	lost := rule(sandboxserver.DropAfter, 0.08)
	page := rule(sandboxserver.PageAfter, 0.02)
	cent := rule(sandboxserver.TotalPlusOne, 0.005)
	cent.Kind = sandboxserver.Create
	// A customer who is blocked stays blocked, whatever is tried.
	never := sandboxserver.Rule{Fault: sandboxserver.Reject, Kind: sandboxserver.Create, Reference: "INV-2026-11-ACME", Reason: "the customer is blocked for new invoices"}
	return sandboxserver.Plan{Seed: 20261130, Rules: []sandboxserver.Rule{never, lost, rule(sandboxserver.ErrorAfter, 0.04),
		rule(sandboxserver.DropBefore, 0.03), rule(sandboxserver.ErrorBefore, 0.03), late, page, limited, blocked, cent}}
}

func runDemo(ctx context.Context, out io.Writer, listen, sandboxListen string, exit bool) error {
	begun := time.Now()
	folder, err := os.MkdirTemp("", "onefold-demo-")
	if err != nil {
		return err
	}
	quiet := slog.New(slog.NewTextHandler(io.Discard, nil))

	journal := filepath.Join(folder, "accounting-system.journal")
	outside, err := sandboxserver.New(sandboxserver.Options{File: journal, Plan: demoPlan(), Books: []sandboxserver.Books{
		{Name: demoBooks, Title: "Acme Services Ltd", Identity: "Acme Services Ltd", Personality: sandbox.Search, SearchLag: 400 * time.Millisecond},
	}})
	if err != nil {
		return err
	}
	defer outside.Close() //nolint:errcheck // on the way out
	outsideAt, err := listenAt(ctx, sandboxListen)
	if err != nil {
		return err
	}
	outsideHTTP := sandboxserver.NewHTTP(outside)
	go outsideHTTP.Serve(outsideAt) //nolint:errcheck // ends with the program
	defer outsideHTTP.Close()       //nolint:errcheck // on the way out

	st, err := store.Open(ctx, store.Config{URL: filepath.Join(folder, "onefold.db"), Node: "demo", Log: quiet})
	if err != nil {
		return err
	}
	defer st.Close() //nolint:errcheck // on the way out
	sys, err := connections(st, nil, quiet).Declared(demoSystem("http://" + outsideAt.Addr().String() + "/" + demoBooks))
	if err != nil {
		return err
	}
	if err := st.DeclareSystem(ctx, sys); err != nil {
		return err
	}

	pagesAt, err := listenAt(ctx, listen)
	if err != nil {
		return err
	}
	password := auth.Generate()
	srv, err := newServer(ctx, st, serverOptions{adminPassword: password, zone: localZone(), log: quiet, node: "demo"})
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "Onefold demo: the month end of November, against an accounting system that misbehaves.\n\n")
	report, err := importExample(ctx, st, folder, out)
	if err != nil {
		return err
	}
	running, stop := context.WithCancel(ctx)
	defer stop()
	served := make(chan error, 1)
	go func() { served <- srv.run(running, pagesAt) }()
	if err := watchMonthEnd(ctx, out, st, outside, report.New); err != nil {
		stop()
		return errors.Join(err, <-served)
	}
	closing, err := closeMonth(ctx, st, outside, journal)
	if err != nil {
		return err
	}
	closing.print(out, time.Since(begun))
	if exit {
		stop()
		if err := <-served; err != nil {
			return err
		}
		if err := os.RemoveAll(folder); err != nil {
			return err
		}
		if closing.duplicates > 0 {
			return fmt.Errorf("%d keys have more than one record", closing.duplicates)
		}
		return nil
	}
	fmt.Fprintf(out, "\nOnefold:               http://%s/   (sign in as %s with the password %s)\n", pagesAt.Addr(), adminName, password)
	fmt.Fprintf(out, "Accounting system:     http://%s/\n", outsideAt.Addr())
	fmt.Fprintf(out, "Files of this demo:    %s\nPress Ctrl-C to stop.\n", folder)
	return <-served
}

// demoSystem waits in seconds what a real system waits in minutes.
func demoSystem(address string) work.System {
	p := work.DefaultPolicy()
	p.Sends, p.FirstDelay, p.Growth, p.LongestDelay, p.Jitter = 4, 300*time.Millisecond, 2, 3*time.Second, 0.3
	p.RequestTimeout, p.SendWindow = 2*time.Second, time.Second
	p.Settle, p.Misses, p.Lookups = time.Second, 2, 20
	return work.System{ID: demoBooks, CompanyID: 1, Name: "Acme's books", Adapter: "sandbox", Address: address, Policy: p, MaxInFlight: 12, PerSecond: 60,
		Settings: map[string]string{"personality": string(sandbox.Search), "search_lag": "400ms", "linger": "1s"}}
}

// localZone is the zone of this machine by its name, which the pages show; UTC if it has none.
func localZone() *time.Location {
	name := os.Getenv("TZ")
	if link, err := os.Readlink("/etc/localtime"); err == nil && name == "" {
		_, name, _ = strings.Cut(link, "zoneinfo/")
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return time.UTC
	}
	return zone
}

// listenAt listens at the address, or at a free port if it is in use.
func listenAt(ctx context.Context, address string) (net.Listener, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", address)
	if err == nil {
		return l, nil
	}
	host, _, splitErr := net.SplitHostPort(address)
	if splitErr != nil {
		return nil, fmt.Errorf("the address %q is not usable: %w", address, splitErr)
	}
	return lc.Listen(ctx, "tcp", net.JoinHostPort(host, "0"))
}

func importExample(ctx context.Context, st *store.Store, folder string, out io.Writer) (automation.ImportReport, error) {
	f, err := examples.Files.Open(examples.November)
	if err != nil {
		return automation.ImportReport{}, err
	}
	defer f.Close()
	if _, err := letBegin(ctx, st, demoAutomation, demoBooks); err != nil {
		return automation.ImportReport{}, err
	}
	im := automation.Importer{Intake: automation.Intake{Store: st, Zone: localZone()}, TempDir: folder}
	report, err := im.Import(ctx, f, automation.ImportOptions{SystemID: demoBooks, Automation: demoAutomation, Source: "file:" + examples.November,
		By: work.Actor{Kind: work.Console, ID: "demo", Name: "demo"}})
	if err != nil {
		return report, err
	}
	return report, report.Print(out, examples.November)
}

// watchMonthEnd shows how far the month end is until nothing moves by itself any more. A third of the way in, the
// accounting system is out for a while.
func watchMonthEnd(ctx context.Context, out io.Writer, st *store.Store, outside *sandboxserver.Server, asked int) error {
	terminal := isTerminal(out)
	tick := time.NewTicker(250 * time.Millisecond)
	defer tick.Stop()
	outageDone := false
	for last := ""; ; {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
		counts, err := st.Counts(ctx, 1)
		if err != nil {
			return err
		}
		done := counts[review.TabFinished]
		if !outageDone && done*3 > int64(asked) {
			outageDone = true
			outside.Outage(3 * time.Second)
		}
		note := ""
		if !outside.OutageUntil().IsZero() {
			note = "  (the accounting system is out)"
		}
		line := fmt.Sprintf("%4d of %d confirmed · %d waiting · %d outcome unknown · %d need a person%s", done, asked,
			counts[review.TabWaiting], counts[review.TabUnknown], counts[review.TabReview], note)
		switch {
		case terminal:
			fmt.Fprintf(out, "\r\033[K%s", line)
		case line != last:
			fmt.Fprintln(out, line)
		}
		last = line
		quiet, err := nothingMoves(ctx, st)
		if err != nil {
			return err
		}
		if quiet && counts[review.TabWaiting]+counts[review.TabUnknown] == 0 {
			fmt.Fprintln(out)
			return nil
		}
	}
}

func nothingMoves(ctx context.Context, st *store.Store) (bool, error) {
	due, err := st.NextDue(ctx, demoBooks)
	if err != nil || !due.IsZero() {
		return false, err
	}
	n, err := st.InFlight(ctx)
	return n[demoBooks] == 0, err
}

func isTerminal(out io.Writer) bool {
	f, ok := out.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
