// Package web serves the pages of staff and the API. Handlers read input, ask one service, build a view model and
// render it; what is possible with an item is decided below.
package web

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"time"

	"onefold/internal/auth"
	"onefold/internal/automation"
	"onefold/internal/automation/events"
	"onefold/internal/automation/outcome"
	"onefold/internal/automation/proof"
	"onefold/internal/automation/recurring"
	"onefold/internal/notice"
	"onefold/internal/review"
	"onefold/internal/work"
)

// Store is what the pages need from the database.
type Store interface {
	review.Store
	review.SystemStore
	review.BulkStore
	review.MarkStore
	review.PeriodStore
	review.ReportStore
	automation.ImportStore
	review.AutomationStore
	planRunStore
	review.LimitsStore
	review.OverviewStore
	review.RetentionStore
	notice.PageStore
	events.Store
	outcome.Store
	recurring.PlanStore
	recurring.Store
	automation.ConnectionStore
	proof.Store
	review.ServerStore
}

// Intake records new items.
type Intake interface {
	Record(ctx context.Context, items []work.New) ([]automation.Recorded, error)
}

// Importer brings invoices in from a CSV file.
type Importer interface {
	Import(ctx context.Context, r io.Reader, o automation.ImportOptions) (automation.ImportReport, error)
}

// Config is what the pages are made of.
type Config struct {
	Store     Store
	CompanyID int64 // 0: 1, the first company
	Intake    Intake
	Importer  Importer
	Auth      *auth.Auth
	Zone      *time.Location // of the times on pages; nil: UTC

	Connections *automation.Connections // nil: systems are shown, and none can be connected
	Notices     notice.Setup            // how people are told
	Hosts       []string                // names under which the pages may be asked for; empty: any
	Log         *slog.Logger            // nil: slog.Default

	Automations map[string]review.AutomationRunner // those that record by themselves, by name; nil: those of this server

	OutcomeHosts outcome.Hosts // that may be told outcomes without TLS and inside the network
	WakeOutcomes func()        // outcomes were asked for again; nil: nothing

	PublicURL string // the address under which people reach the pages, for links; empty: that of the request

	TrustedProxies []netip.Prefix // whose word on the client's address and TLS counts

	Observer Observer                       // nil: none
	TraceOf  TraceOf                        // nil: there are no traces
	Ready    func(context.Context) []string // why the server cannot work, in words for everybody; nil: whether the database answers

	beat <-chan time.Time // of the streams to open pages, for tests; nil: every heartbeat
}

// server holds what the handlers share.
type server struct {
	Config
	review  *review.Service
	systems *review.Systems
	periods *review.Periods
	bulk    *review.Bulk
	reports *review.Reports
	imports automation.Imports

	automations *review.Automations
	limits      *review.Limits
	overviews   *review.Overviews
	keeping     *review.Keeping

	notices *notice.Service
	plans   plansService
	hub     *hub
	servers *review.Servers

	events   events.Service
	outcomes outcome.Service
	proofs   proof.Service
}

// New returns the handler of all pages and of the API.
func New(c Config) (http.Handler, error) {
	if c.Store == nil || c.Auth == nil || c.Intake == nil || c.Importer == nil {
		return nil, errors.New("the pages need a store, accounts, an intake and an importer")
	}
	if c.CompanyID == 0 {
		c.CompanyID = 1
	}
	if c.Connections == nil {
		c.Connections = &automation.Connections{Store: c.Store}
	}
	if c.Zone == nil {
		c.Zone = time.UTC
	}
	if c.Log == nil {
		c.Log = slog.Default()
	}
	if c.Observer == nil {
		c.Observer = unobserved{}
	}
	s := &server{Config: c, review: review.New(c.Store, c.CompanyID), systems: review.NewSystems(c.Store), periods: review.NewPeriods(c.Store, c.CompanyID), bulk: review.NewBulk(c.Store, c.CompanyID), reports: review.NewReports(c.Store, automation.ReportFiles{}, c.CompanyID), hub: newHub(review.NewLive(c.Store, c.CompanyID).Mark, c.Log)}
	s.servers = review.NewServers(c.Store)
	s.limits = review.NewLimits(c.Store, c.CompanyID)
	s.overviews = review.NewOverviews(c.Store, c.CompanyID, c.Zone)
	s.keeping = review.NewKeeping(c.Store, c.CompanyID)
	if c.Automations == nil {
		c.Automations = automationRunners(c)
	}
	s.automations = review.NewAutomations(c.Store, c.CompanyID, c.Automations)
	s.events = events.Service{Store: c.Store, Intake: c.Intake, Keys: c.Auth.Keys, CompanyID: c.CompanyID}
	s.outcomes = outcome.Service{Store: c.Store, Keys: c.Auth.Keys, Hosts: c.OutcomeHosts, CompanyID: c.CompanyID, Wake: c.WakeOutcomes}
	s.proofs = proof.Service{Store: c.Store, Connections: c.Connections, CompanyID: c.CompanyID}
	s.imports = automation.Imports{Store: c.Store, CompanyID: c.CompanyID, Zone: c.Zone}
	s.notices = notice.NewService(c.Store, c.CompanyID, MessageWords(), c.Notices)
	s.plans = recurring.Plans{Store: c.Store, CompanyID: c.CompanyID, Zone: c.Zone, Runner: recurring.Runner{Store: c.Store, Intake: c.Intake, Zone: c.Zone}}
	if s.Ready == nil {
		s.Ready = s.reachesStore
	}
	return s.routes(), nil
}

// Server returns an HTTP server for the handler whose time limits do not let slow clients pile up.
func Server(address string, h http.Handler) *http.Server {
	srv := &http.Server{Addr: address, Handler: h, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: time.Minute,
		WriteTimeout: 2 * time.Minute, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 32 << 10}
	endStreams(srv)
	return srv
}
