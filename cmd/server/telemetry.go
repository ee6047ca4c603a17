package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"onefold/internal/automation"
	"onefold/internal/store"
	"onefold/internal/telemetry"
	"onefold/internal/web"
	"onefold/internal/work"
)

// telemetryFlags say how a server tells machines how it is doing.
type telemetryFlags struct {
	logFormat, logLevel         string
	metricsListen, metricsToken string
	trace                       bool
}

func (t *telemetryFlags) add(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&t.logFormat, "log-format", "text", "how the log is written: text or json")
	f.StringVar(&t.logLevel, "log-level", "info", "the least that is logged: debug, info, warn or error; debug has a line for each call to an accounting system")
	f.StringVar(&t.metricsListen, "metrics-listen", "", "address and port of /metrics, apart from the pages, for example 127.0.0.1:9090 (default: off)")
	f.StringVar(&t.metricsToken, "metrics-token", "", "bearer token that /metrics asks for (default: none is asked for)")
	f.BoolVar(&t.trace, "trace", false, "send OpenTelemetry traces over OTLP; where to is said by the standard OTEL_ variables")
}

// observers are what a server is watched by.
type observers struct {
	metrics *telemetry.Metrics
	traces  *telemetry.Traces // nil: none
	state   telemetry.State
	scrape  *http.Server
	at      net.Listener // nil: nobody is told the metrics
	ending  *atomic.Bool // the server is shutting down
}

func newObservers(st *store.Store, o serverOptions) *observers {
	m := telemetry.NewMetrics(o.node, telemetry.ThisBuild())
	m.Pool(func() telemetry.Pool { return telemetry.Pool(st.Connections()) })
	return &observers{metrics: m, traces: o.traces, state: telemetry.State{Store: st, CompanyID: 1, Metrics: m}, scrape: m.Server(o.metricsToken),
		at: o.metricsAt, ending: new(atomic.Bool)}
}

func (o *observers) engine() automation.Observer {
	return telemetry.Engine{Metrics: o.metrics, Traces: o.traces}
}

// traceOf leads people to the trace of an attempt, if there are traces.
func (o *observers) traceOf() web.TraceOf {
	if o.traces == nil {
		return nil
	}
	return telemetry.TraceOfAttempt
}

// tracedStore is the store of the pages and the API: its changes have spans.
type tracedStore struct {
	*store.Store
	traces *telemetry.Traces
}

func (s tracedStore) Change(ctx context.Context, pick work.Pick, decide func(now time.Time, picked []work.Picked) ([]work.Move, error)) ([]work.Move, error) {
	return s.traces.Change(ctx, func(ctx context.Context) ([]work.Move, error) { return s.Store.Change(ctx, pick, decide) })
}

// listen opens the listener of the metrics, if there is to be one.
func (t *telemetryFlags) listen(ctx context.Context, log *slog.Logger) (net.Listener, error) {
	if t.metricsListen == "" {
		return nil, nil
	}
	var lc net.ListenConfig
	at, err := lc.Listen(ctx, "tcp", t.metricsListen)
	if err != nil {
		return nil, fmt.Errorf("cannot listen on %s for metrics: %w", t.metricsListen, err)
	}
	if a, ok := at.Addr().(*net.TCPAddr); ok && !a.IP.IsLoopback() && t.metricsToken == "" {
		log.Warn("whoever reaches the metrics may read them: give --metrics-token, or listen on a loopback address", "listen", at.Addr().String())
	}
	return at, nil
}

// log is the server's log; every line says which server wrote it.
func (t *telemetryFlags) log(w io.Writer, node string) (*slog.Logger, error) {
	log, err := telemetry.NewLog(w, t.logFormat, t.logLevel)
	if err != nil {
		return nil, badly(err)
	}
	return log.With("node", node), nil
}

// run tells the metrics until ctx ends.
func (o *observers) run(ctx context.Context) error {
	if o.at == nil {
		return nil
	}
	ctx, stop := context.WithCancel(ctx)
	read := make(chan struct{})
	defer func() {
		stop()
		<-read // the store is closed after this
	}()
	go func() {
		defer close(read)
		_ = o.state.Run(ctx)
	}()
	go func() {
		<-ctx.Done()
		_ = o.scrape.Close()
	}()
	if err := o.scrape.Serve(o.at); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("the metrics cannot be served: %w", err)
	}
	return nil
}

// end sends the spans that are left.
func (o *observers) end() {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	_ = o.traces.Close(ctx) // it logs what it could not send
}

// ready says why the server cannot work, in words for everybody; what exactly is wrong goes to the log.
func (o *observers) ready(st *store.Store, log *slog.Logger) func(context.Context) []string {
	return func(ctx context.Context) (reasons []string) {
		if o.ending.Load() {
			reasons = append(reasons, "this server is shutting down")
		}
		err := st.Current(ctx)
		switch {
		case err == nil:
			return reasons
		case errors.Is(err, store.ErrNotMigrated):
			reasons = append(reasons, "the database is not up to date: run the migrate command")
		case errors.Is(err, store.ErrNewerSchema):
			reasons = append(reasons, "the database was made by a newer version of this program: start that one")
		default:
			reasons = append(reasons, "the database does not answer")
		}
		log.Warn("this server is not ready", "error", err)
		return reasons
	}
}

// metricsCommand prints docs/operations/metrics.md.
func metricsCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "metrics",
		Short: "Print every metric: its name, kind, labels and meaning",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return telemetry.WriteMetrics(cmd.OutOrStdout()) },
	}
}
