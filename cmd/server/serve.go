package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"onefold/internal/auth"
	"onefold/internal/automation"
	"onefold/internal/automation/outcome"
	"onefold/internal/automation/proof"
	"onefold/internal/automation/recurring"
	"onefold/internal/notice"
	"onefold/internal/review"
	"onefold/internal/store"
	"onefold/internal/telemetry"
	"onefold/internal/web"
)

// serverOptions say how a server runs on an open database.
type serverOptions struct {
	node          string
	adminPassword string // of the first user, if there is none yet; empty: they are added on the set-up page
	apiToken      string // empty: one is generated
	people        auth.Config
	notices       notice.Config
	outcomeHosts  []string // that may be told outcomes without TLS and inside the network
	secure        bool     // the pages are served over TLS, also when a proxy ends it
	hosts         []string
	publicURL     string         // for links; empty: that of the request
	proxies       []netip.Prefix // whose word on the client's address and TLS counts
	zone          *time.Location
	log           *slog.Logger
	metricsAt     net.Listener // nil: nobody is told the metrics
	metricsToken  string
	traces        *telemetry.Traces // nil: none
}

// process is the pages, the API, the engine and the watch of one process.
type process struct {
	serverOptions
	http      *http.Server
	engine    *automation.Engine
	watched   *observers
	watch     automation.Watch
	heart     *automation.Heartbeat
	bulk      review.BulkRunner
	retention review.RetentionRunner
	reports   review.ReportRunner
	figures   review.FigureRunner
	imports   automation.ImportRunner
	proofs    proof.Runner
	notices   *notice.Loop
	outcomes  *outcome.Loop
	plans     recurring.Runner
	auth      *auth.Auth
	setUpCode string // of the set-up page; empty: somebody can sign in
}

const adminName = "admin"

func newServer(ctx context.Context, st *store.Store, o serverOptions) (*process, error) {
	if o.apiToken == "" {
		o.apiToken = rand.Text()
	}
	o.people.Store, o.people.Token, o.people.Secure = st, o.apiToken, o.secure
	if len(o.people.Keys) == 0 {
		o.people.Keys = auth.RandomKeys()
	}
	accounts, err := auth.New(o.people)
	if err != nil {
		return nil, err
	}
	systems := connections(st, o.people.Keys, o.log)
	if _, err := systems.Reseal(ctx); err != nil {
		return nil, fmt.Errorf("the credentials of accounting systems: %w", err)
	}
	setUpCode, err := ensureAdmin(ctx, accounts, o.adminPassword)
	if err != nil {
		return nil, err
	}
	intake := automation.Intake{Store: st, Zone: o.zone}
	watched := newObservers(st, o)
	o.notices.Tried = watched.metrics.Notice
	notices, told := noticeLoop(st, o)
	outcomes, wakeOutcomes := outcomeLoop(st, o, accounts.Keys, watched.metrics.Outcome)
	intakes := automation.Intake{Store: tracedStore{st, o.traces}, Zone: o.zone}
	pages, err := web.New(web.Config{Store: tracedStore{st, o.traces}, Intake: intakes, Importer: automation.Importer{Intake: intakes}, Auth: accounts, Zone: o.zone, Connections: systems,
		PublicURL: o.publicURL, Notices: told, OutcomeHosts: o.outcomeHosts, WakeOutcomes: wakeOutcomes, Hosts: o.hosts, TrustedProxies: o.proxies, Log: o.log,
		Observer: telemetry.Web{Metrics: watched.metrics, Traces: o.traces}, Ready: watched.ready(st, o.log), TraceOf: watched.traceOf()})
	if err != nil {
		return nil, err
	}
	return &process{
		serverOptions: o,
		http:          web.Server("", pages),
		engine:        automation.NewEngine(automation.Config{Store: st, Connect: systems.Connect, Node: o.node, Log: o.log, Observer: watched.engine()}),
		watched:       watched,
		watch:         automation.Watch{Store: st, Log: o.log},
		heart:         heartbeat(st, o, watched.metrics),
		bulk:          review.BulkRunner{Store: st, Node: o.node, Log: o.log},
		retention:     review.RetentionRunner{Store: st, CompanyID: 1, Node: o.node, Log: o.log},
		reports:       review.ReportRunner{Store: st, Log: o.log},
		figures:       review.FigureRunner{Store: st, Node: o.node, Zone: o.zone, Log: o.log},
		imports:       automation.ImportRunner{Imports: automation.Imports{Store: st, CompanyID: 1, Zone: o.zone}, Holder: review.New(st, 1), Node: o.node, Log: o.log, Done: watched.metrics.ImportRows},
		proofs:        proofRunner(st, systems, o.node, o.log),
		notices:       notices,
		outcomes:      outcomes,
		plans:         recurring.Runner{Store: st, Intake: intake, Zone: o.zone, Log: o.log},
		auth:          accounts,
		setUpCode:     setUpCode,
	}, nil
}

// run serves until ctx ends; then it lets requests and calls on their way finish.
func (s *process) run(ctx context.Context, listener net.Listener) error {
	g, ctx := errgroup.WithContext(ctx)
	defer s.beat(ctx)()
	defer s.watched.end()
	g.Go(func() error { return s.watched.run(ctx) })
	g.Go(func() error { return s.engine.Run(ctx) })
	g.Go(func() error { return s.watch.Run(ctx) })
	g.Go(func() error { return s.bulk.Run(ctx) })
	g.Go(func() error { return s.retention.Run(ctx) })
	g.Go(func() error { return s.reports.Run(ctx) })
	g.Go(func() error { return s.figures.Run(ctx) })
	g.Go(func() error { return s.imports.Run(ctx) })
	g.Go(func() error { return s.proofs.Run(ctx) })
	g.Go(func() error { return s.notices.Run(ctx) })
	g.Go(func() error { return s.outcomes.Run(ctx) })
	g.Go(func() error { return s.plans.Run(ctx) })
	g.Go(func() error { return s.auth.Run(ctx) })
	g.Go(func() error {
		if err := s.http.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			return fmt.Errorf("the pages cannot be served: %w", err)
		}
		return nil
	})
	g.Go(func() error {
		<-ctx.Done()
		s.watched.ending.Store(true)
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
		defer cancel()
		if s.http.Shutdown(end) != nil {
			return s.http.Close()
		}
		return nil
	})
	return g.Wait()
}

// toOpen is the address that a person can open: the public one if it is known; one that means every interface cannot be.
func toOpen(at net.Addr, publicURL string) string {
	if publicURL != "" {
		return strings.TrimSuffix(publicURL, "/")
	}
	if a, ok := at.(*net.TCPAddr); ok && a.IP.IsUnspecified() {
		return "http://localhost:" + strconv.Itoa(a.Port)
	}
	return "http://" + at.String()
}

func serveCommand() *cobra.Command {
	var db databaseFlags
	var o serverOptions
	var people peopleFlags
	var notices noticeFlags
	var telling telemetryFlags
	var listen, zone, hosts, proxies string
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve the pages and the API, and carry out the automations",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var err error
			if o.zone, err = time.LoadLocation(zone); err != nil {
				return badly(fmt.Errorf("the zone %q is not known: use a name such as Europe/Berlin", zone))
			}
			if hosts != "" {
				o.hosts = strings.Split(hosts, ",")
			}
			if o.proxies, err = parseProxies(proxies); err != nil {
				return badly(err)
			}
			o.node, o.publicURL = db.node, people.publicURL
			if o.log, err = telling.log(cmd.ErrOrStderr(), db.node); err != nil {
				return err
			}
			if o.people, err = people.config(db.data, o.log); err != nil {
				return badly(err)
			}
			if o.notices, err = notices.config(people.publicURL); err != nil {
				return badly(err)
			}
			if db.connections < 3 {
				return badly(fmt.Errorf("--database-connections: %d are too few, give at least 3", db.connections))
			}
			st, err := db.openPatiently(cmd.Context(), o.log)
			if err != nil {
				return err
			}
			defer st.Close() //nolint:errcheck // on the way out
			if o.metricsToken = telling.metricsToken; telling.trace {
				if o.traces, err = telemetry.NewTraces(cmd.Context(), db.node, telemetry.ThisBuild(), o.log); err != nil {
					return badly(err)
				}
			}
			if o.metricsAt, err = telling.listen(cmd.Context(), o.log); err != nil {
				return err
			}
			needToken := o.apiToken == ""
			s, err := newServer(cmd.Context(), st, o)
			if err != nil {
				return err
			}
			var lc net.ListenConfig
			listener, err := lc.Listen(cmd.Context(), "tcp", listen)
			if err != nil {
				return fmt.Errorf("cannot listen on %s: %w", listen, err)
			}
			here := toOpen(listener.Addr(), o.publicURL)
			cmd.Printf("Onefold is at %s/\n", here)
			if o.metricsAt != nil {
				cmd.Printf("Metrics are at http://%s/metrics\n", o.metricsAt.Addr())
			}
			// What was generated is shown on the terminal only: it is not logged.
			if s.setUpCode != "" {
				cmd.Printf("Set it up at %s/setup with the code %s\n", here, s.setUpCode)
			}
			if needToken {
				cmd.Printf("API token: %s\n", s.apiToken)
			}
			return s.run(cmd.Context(), listener)
		},
	}
	db.add(cmd)
	people.add(cmd)
	notices.add(cmd)
	telling.add(cmd)
	f := cmd.Flags()
	f.IntVar(&db.connections, "database-connections", 16, "most connections of this server to PostgreSQL, beside one to be woken up; at least 3")
	f.StringVar(&listen, "listen", "127.0.0.1:8080", "address and port of the pages and the API")
	f.StringVar(&o.adminPassword, "admin-password", "", "password of the user admin, who is added if there is no user yet (default: the first person is added on the set-up page, with a code that is printed at start)")
	f.StringVar(&o.apiToken, "api-token", "", "bearer token of the API (default: generated and printed at start)")
	f.BoolVar(&o.secure, "secure", false, "the pages are served over TLS, also when a proxy ends it")
	f.StringVar(&hosts, "hosts", "", "names under which the pages may be asked for, with commas (default: any)")
	f.StringSliceVar(&o.outcomeHosts, "outcome-hosts", nil, "hosts, with commas, that may be told outcomes without TLS or at an address inside the network")
	f.StringVar(&proxies, "trusted-proxies", "", "addresses or networks of proxies, with commas, whose X-Forwarded-For and X-Forwarded-Proto count (default: none)")
	f.StringVar(&zone, "zone", "UTC", "the firm's time zone, for example Europe/Berlin")
	return cmd
}

// parseProxies reads "10.0.0.7,192.168.0.0/24".
func parseProxies(text string) (list []netip.Prefix, err error) {
	for _, part := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' }) {
		one, err := netip.ParsePrefix(part)
		if addr, addrErr := netip.ParseAddr(part); addrErr == nil {
			one, err = addr.Prefix(addr.BitLen())
		}
		if err != nil || one.Bits() == 0 {
			return nil, fmt.Errorf("--trusted-proxies: %q is no address and no network of proxies: write for example 10.0.0.7 or 192.168.0.0/24", part)
		}
		list = append(list, one.Masked())
	}
	return list, nil
}
