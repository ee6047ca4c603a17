// Command bench compares Onefold's engine with its peers, in one run on one PostgreSQL server.
//
//	make bench              # a table
//	make bench ARGS=-json   # one object a line, for comparison over time
//
// All cases share the server, the pool size and the rules: the work is recorded in advance in a fresh database, and the
// time runs from the start of the workers until the last item is done and committed. Each case warms up first. The
// repeats go round all cases, so that a slow minute of the machine does not fall on one of them; the median counts.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"runtime/debug"
	"runtime/pprof"
	"slices"
	"strings"
	"syscall"
	"time"

	"onefold/bench/soak"
)

func main() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400) // as the server does; for all cases alike
	}
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run() error {
	var (
		dsn     = flag.String("postgres", os.Getenv("ONEFOLD_TEST_POSTGRES"), "`address` of a server on which databases may be made")
		asJSON  = flag.Bool("json", false, "print one JSON object a line")
		scale   = flag.Float64("scale", 1, "multiplies the number of items of every case")
		repeats = flag.Int("repeats", 3, "measured runs of each case; the median counts")
		conns   = flag.Int("conns", 32, "connections of every case")
		history = flag.Int("history", 2_000_000, "finished items beside which the time of a claim is measured; 0: not measured")
		pages   = flag.Int("pages", 1_000_000, "items beside which the calls of the pages are measured; a fifth on SQLite; only with -only pages")
		reuse   = flag.Bool("reuse", false, "measure the pages in the databases that the last run left")
		calls   = flag.String("calls", "", "measure only the pages' calls whose names match this `expression`")
		onlyOn  = flag.String("on", "postgresql,sqlite", "`databases` in which the pages are measured")
		profile = flag.String("cpuprofile", "", "write a CPU profile of the whole run to this `file`")
		lasts   = flag.Duration("soak", 30*time.Minute, "how long the soak records and disturbs; only with -only soak")
		only    = flag.String("only", "", "comma-separated `cases` to run; empty: all")
	)
	flag.Parse()
	if *dsn == "" {
		return errors.New("no server: run it with `make bench`, or name one with -postgres")
	}
	if *profile != "" {
		f, err := os.Create(*profile)
		if err != nil {
			return err
		}
		defer f.Close()
		if err := pprof.StartCPUProfile(f); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()

	if *only == "soak" {
		return soaked(ctx, *dsn, *lasts)
	}
	if *only == "paint" {
		b := bench{admin: *dsn}
		return reportPaint(os.Stdout, func(report func(painted)) error { return b.paintAll(ctx, *pages, report) })
	}
	if *only == "pages" {
		chosen, err := regexp.Compile(*calls)
		if err != nil {
			return fmt.Errorf("-calls: %w", err)
		}
		b := bench{admin: *dsn}
		return reportPages(os.Stdout, *asJSON, func(report func(pageResult)) error {
			return b.pages(ctx, strings.Split(*onlyOn, ","), *pages, *reuse, chosen, report)
		})
	}
	if *only == "beside" {
		r, err := bench{admin: *dsn, conns: *conns}.beside(ctx, *pages, int(60_000*(*scale)), *repeats)
		if err != nil {
			return err
		}
		return r.print(os.Stdout)
	}
	contenders := contenders()
	measureClaims := *history > 0 && (*only == "" || slices.Contains(strings.Split(*only, ","), "claim"))
	if *only != "" {
		names := strings.Split(*only, ",")
		contenders = slices.DeleteFunc(contenders, func(c contender) bool { return !slices.Contains(names, c.name) })
	}
	if len(contenders) == 0 && !measureClaims {
		return fmt.Errorf("no case is called %q", *only)
	}
	b := bench{admin: *dsn, conns: *conns}
	results := make([]result, len(contenders))
	for i, c := range contenders {
		results[i] = result{contender: c, items: max(100, int(float64(c.items)*(*scale)))}
	}
	for n := range *repeats {
		for i := range results {
			r := &results[i]
			took, err := b.once(ctx, r.contender, r.items)
			if err != nil {
				return fmt.Errorf("%s: %w", r.contender.name, err)
			}
			r.runs = append(r.runs, took)
			fmt.Fprintf(os.Stderr, "%d/%d %-12s %8.0f items/s\n", n+1, *repeats, r.contender.name, float64(r.items)/took.Seconds())
		}
	}
	version, err := b.version(ctx)
	if err != nil {
		return err
	}
	if err := report(os.Stdout, results, version, *asJSON); err != nil || !measureClaims {
		return err
	}
	without, with, err := b.claims(ctx, *history)
	if err != nil {
		return fmt.Errorf("claim: %w", err)
	}
	return reportClaims(os.Stdout, without, with, *history, version, *asJSON)
}

// soaked makes a soak and prints its report; what must not happen is an error.
func soaked(ctx context.Context, dsn string, lasts time.Duration) error {
	report, err := soak.Run(ctx, soak.Config{Postgres: dsn, Lasts: lasts, Progress: os.Stderr})
	if err != nil {
		return err
	}
	if err := report.Write(os.Stdout); err != nil {
		return err
	}
	if report.Failed() {
		return errors.New("the soak has failed")
	}
	return nil
}
