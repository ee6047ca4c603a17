package telemetry

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"onefold/internal/automation"
	"onefold/internal/work"
)

// StateStore is what the numbers about the database's contents need. All servers tell the same: take the maximum.
type StateStore interface {
	Now(ctx context.Context) (time.Time, error)
	Systems(ctx context.Context) ([]work.System, error)
	InFlight(ctx context.Context) (map[string]int, error)
	Overdue(ctx context.Context, now time.Time) ([]automation.Overdue, error)
	OpenItems(ctx context.Context, companyID int64) ([]automation.OpenItems, error)
}

// Pool is how the connections to the database are used.
type Pool struct {
	Limit, InUse, Idle int
	Waits              int64
	Waited             time.Duration
}

// State reads what the database holds from time to time, so that being asked for metrics costs it nothing: a scrape never
// waits for the database, and fails none when it is away.
type State struct {
	Store     StateStore
	CompanyID int64
	Metrics   *Metrics
}

const (
	readEvery  = 15 * time.Second
	readTime   = 5 * time.Second
	readFactor = 100             // what takes half a second is read every 50 seconds: a hundredth of a processor
	readMax    = 5 * time.Minute // at the latest

	overdueEvery = time.Minute // the dearest of them: it reads every open item
)

// Run reads until ctx ends. It logs nothing: others do when the database is away, and onefold_database_up tells.
func (s State) Run(ctx context.Context) error {
	for {
		begun := time.Now()
		wait := readEvery
		if s.ReadOnce(ctx) {
			wait = min(max(readEvery, readFactor*time.Since(begun)), readMax)
		}
		t := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			t.Stop()
			return nil
		case <-t.C:
		}
	}
}

// ReadOnce reads the state now; it reports whether the database answers. If counting fails the numbers of before are gone:
// old ones would look like good ones. A count that fails is no lost database.
func (s State) ReadOnce(ctx context.Context) (up bool) {
	ctx, cancel := context.WithTimeout(ctx, readTime)
	defer cancel()
	next := &snapshot{}
	if at, err := s.Store.Now(ctx); err == nil {
		next = &snapshot{up: true}
		if counted, err := s.count(ctx, at); err == nil {
			next = counted
		}
	}
	s.Metrics.state.now.Store(next)
	return next.up
}

type snapshot struct {
	up      bool
	at      time.Time // zero: nothing could be counted
	systems []work.System
	flying  map[string]int
	overdue []automation.Overdue
	late    time.Time // when those were counted
	open    []automation.OpenItems
}

func (s State) count(ctx context.Context, at time.Time) (*snapshot, error) {
	n := &snapshot{up: true, at: at}
	var err error
	if n.systems, err = s.Store.Systems(ctx); err != nil {
		return nil, err
	}
	for _, sys := range n.systems {
		s.Metrics.systems.label(sys.ID) // its counters begin
	}
	if n.flying, err = s.Store.InFlight(ctx); err != nil {
		return nil, err
	}
	if was := s.Metrics.state.now.Load(); was != nil && !was.late.IsZero() && at.Sub(was.late) < overdueEvery {
		n.overdue, n.late = was.overdue, was.late
	} else if n.overdue, err = s.Store.Overdue(ctx, at); err != nil {
		return nil, err
	} else {
		n.late = at
	}
	n.open, err = s.Store.OpenItems(ctx, max(s.CompanyID, 1))
	return n, err
}

// stateCollector shows the newest snapshot.
type stateCollector struct {
	metrics *Metrics
	now     atomic.Pointer[snapshot]
	pool    atomic.Pointer[func() Pool]
	descs   []*prometheus.Desc

	up, readAt, items, oldestReview, overdue, oldestOverdue, used, limit, breaker, login, paused, lookFirst, rate *prometheus.Desc
	connections, waits, waited                                                                                    *prometheus.Desc
}

func newStateCollector(m *Metrics) *stateCollector {
	c := &stateCollector{metrics: m}
	add := func(kind, name, help string, labels ...string) *prometheus.Desc {
		m.opts(kind, name, help, labels...)
		d := prometheus.NewDesc(name, help, labels, nil)
		c.descs = append(c.descs, d)
		return d
	}
	c.up = add("gauge", "onefold_database_up", "1 if the database answered when it was last asked. Where it is 0 the numbers that come from it are missing.")
	c.readAt = add("gauge", "onefold_state_timestamp_seconds", "When the numbers that come from the database were read, by its clock. Missing with them while counting fails or takes more than 5 seconds.")
	c.items = add("gauge", "onefold_items", "Open items by status. Items that are done are not counted: their number grows for ever.", "system", "status")
	c.oldestReview = add("gauge", "onefold_oldest_review_seconds", "For how long the item has waited that has needed a person the longest.", "system")
	c.overdue = add("gauge", "onefold_overdue_items", "Open items that should have been settled by now.", "system")
	c.oldestOverdue = add("gauge", "onefold_oldest_overdue_seconds", "For how long the oldest of them has been overdue.", "system")
	c.used = add("gauge", "onefold_slots_used", "Calls to the system that are on their way, over all servers.", "system")
	c.limit = add("gauge", "onefold_slots_limit", "How many there may be at the same time.", "system")
	c.rate = add("gauge", "onefold_rate_limit", "Most calls begun in a second, over all servers; 0: no limit.", "system")
	c.breaker = add("gauge", "onefold_breaker_open", "1 while calls are stopped because the system is not reached.", "system")
	c.login = add("gauge", "onefold_login_refused", "1 while calls are stopped because the system refuses our login.", "system")
	c.paused = add("gauge", "onefold_paused", "1 while a person has stopped sends.", "system")
	c.lookFirst = add("gauge", "onefold_look_first", "1 while everything is looked up before it is sent.", "system")
	c.connections = add("gauge", "onefold_database_connections", "Connections of this server to the database: in_use, idle, and the limit.", "state")
	c.waits = add("counter", "onefold_database_waits_total", "How often something of this server had to wait for a free connection.")
	c.waited = add("counter", "onefold_database_wait_seconds_total", "How long it waited, together.")
	return c
}

// Pool tells the metrics whom to ask for the connections to the database.
func (m *Metrics) Pool(f func() Pool) { m.state.pool.Store(&f) }

// Describe implements prometheus.Collector.
func (c *stateCollector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range c.descs {
		ch <- d
	}
}

// Collect implements prometheus.Collector. Of systems that share the label of the others the sums or the largest are told.
func (c *stateCollector) Collect(ch chan<- prometheus.Metric) {
	if f := c.pool.Load(); f != nil {
		p := (*f)()
		for state, n := range map[string]int{"in_use": p.InUse, "idle": p.Idle, "limit": p.Limit} {
			ch <- prometheus.MustNewConstMetric(c.connections, prometheus.GaugeValue, float64(n), state)
		}
		ch <- prometheus.MustNewConstMetric(c.waits, prometheus.CounterValue, float64(p.Waits))
		ch <- prometheus.MustNewConstMetric(c.waited, prometheus.CounterValue, p.Waited.Seconds())
	}
	n := c.now.Load()
	if n == nil { // not read yet
		return
	}
	up := 0.0
	if n.up {
		up = 1
	}
	ch <- prometheus.MustNewConstMetric(c.up, prometheus.GaugeValue, up)
	if n.at.IsZero() {
		return
	}
	ch <- prometheus.MustNewConstMetric(c.readAt, prometheus.GaugeValue, float64(n.at.UnixMilli())/1000)
	c.collectSystems(ch, n)
}

type series struct {
	desc   *prometheus.Desc
	labels [2]string
}

func (c *stateCollector) collectSystems(ch chan<- prometheus.Metric, n *snapshot) {
	values := map[series]float64{}
	label := c.metrics.systems.label
	add := func(d *prometheus.Desc, system string, v float64) { values[series{d, [2]string{label(system)}}] += v }
	most := func(d *prometheus.Desc, system string, v float64) {
		k := series{d, [2]string{label(system)}}
		values[k] = max(values[k], v)
	}
	truth := func(d *prometheus.Desc, system string, is bool) {
		v := 0.0
		if is {
			v = 1
		}
		most(d, system, v)
	}
	for _, s := range n.systems {
		for _, status := range []work.Status{work.Queued, work.InProgress, work.Pending, work.Failed, work.Review} {
			values[series{c.items, [2]string{label(s.ID), string(status)}}] += 0
		}
		most(c.oldestReview, s.ID, 0)
		most(c.oldestOverdue, s.ID, 0)
		add(c.overdue, s.ID, 0)
		add(c.used, s.ID, float64(n.flying[s.ID]))
		add(c.limit, s.ID, float64(s.MaxInFlight))
		most(c.rate, s.ID, s.PerSecond)
		truth(c.breaker, s.ID, s.NotReached())
		truth(c.login, s.ID, s.LoginProblem != "")
		truth(c.paused, s.ID, !s.PausedAt.IsZero())
		truth(c.lookFirst, s.ID, !s.LookFirst.IsZero())
	}
	for _, o := range n.open {
		values[series{c.items, [2]string{label(o.SystemID), string(o.Status)}}] += float64(o.Count)
		if o.Status == work.Review {
			most(c.oldestReview, o.SystemID, n.at.Sub(o.Oldest).Seconds())
		}
	}
	for _, o := range n.overdue {
		add(c.overdue, o.SystemID, float64(o.Count))
		most(c.oldestOverdue, o.SystemID, n.at.Sub(o.Oldest).Seconds())
	}
	for k, v := range values {
		labels := k.labels[:1]
		if k.labels[1] != "" {
			labels = k.labels[:]
		}
		ch <- prometheus.MustNewConstMetric(k.desc, prometheus.GaugeValue, v, labels...)
	}
}
