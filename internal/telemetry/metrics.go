package telemetry

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
)

// Metric describes one metric.
type Metric struct {
	Name   string
	Kind   string // counter, gauge or histogram
	Labels []string
	Help   string
}

// Metrics are the numbers of one server. Counting is adding to a number that is looked up without a lock.
type Metrics struct {
	registry *prometheus.Registry
	list     []Metric
	systems  names
	state    *stateCollector

	attempts  *cells[attemptKey, prometheus.Counter]
	seconds   *cells[attemptKey, prometheus.Observer]
	limited   *cells[string, prometheus.Counter]
	claims    *cells[[2]string, prometheus.Counter]
	claiming  *cells[string, prometheus.Observer]
	moves     *cells[[2]string, prometheus.Counter]
	prevented *cells[[2]string, prometheus.Counter]
	lastLooks *cells[[2]string, prometheus.Counter]
	late      *cells[string, prometheus.Counter]
	running   *cells[string, prometheus.Gauge]
	clock     prometheus.Gauge
	sweeps    prometheus.Counter
	expired   prometheus.Counter
	wakeups   prometheus.Counter

	notices  *prometheus.CounterVec
	outcomes *prometheus.CounterVec
	rows     *prometheus.CounterVec

	requests *cells[requestKey, prometheus.Counter]
	serving  *cells[requestKey, prometheus.Observer]
}

type attemptKey struct{ system, kind, result string }

type requestKey struct{ route, method, class string }

var (
	callBuckets  = []float64{0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60}
	claimBuckets = []float64{0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5}
	pageBuckets  = []float64{0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10}
)

// NewMetrics returns the metrics of a server by the name node, all of them nought.
func NewMetrics(node string, b Build) *Metrics {
	m := &Metrics{registry: prometheus.NewRegistry()}
	m.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))

	build := prometheus.NewGaugeVec(m.opts("gauge", "onefold_build_info", "Always 1: which program this is, and the server's name.", "version", "commit", "go_version", "node"))
	m.registry.MustRegister(build)
	build.WithLabelValues(b.Version, b.Commit, b.Go, node).Set(1)

	attempts := m.counter("onefold_attempts_total", "Calls to accounting systems that are over and written down, by what they brought back: the outcome of a send, the finding of a lookup.", "system", "kind", "result")
	m.attempts = newCells(func(k attemptKey) prometheus.Counter { return attempts.WithLabelValues(k.system, k.kind, k.result) })
	seconds := m.histogram("onefold_attempt_seconds", "How long calls to accounting systems took.", callBuckets, "system", "kind")
	m.seconds = newCells(func(k attemptKey) prometheus.Observer { return seconds.WithLabelValues(k.system, k.kind) })
	limited := m.counter("onefold_rate_limited_total", "Calls that the accounting system put off with status 429.", "system")
	m.limited = newCells(func(s string) prometheus.Counter { return limited.WithLabelValues(s) })
	claims := m.counter("onefold_claims_total", "Looks of this server for due items: with work, with none, or failed.", "system", "result")
	m.claims = newCells(func(k [2]string) prometheus.Counter { return claims.WithLabelValues(k[0], k[1]) })
	claiming := m.histogram("onefold_claim_seconds", "How long those claims took that found work.", claimBuckets, "system")
	m.claiming = newCells(func(s string) prometheus.Observer { return claiming.WithLabelValues(s) })
	moves := m.counter("onefold_items_moved_total", "Items that a call brought to another status.", "system", "status")
	m.moves = newCells(func(k [2]string) prometheus.Counter { return moves.WithLabelValues(k[0], k[1]) })
	prevented := m.counter("onefold_duplicates_prevented_total", "Items whose send had no clear answer and that turned out to be there, by a lookup or an answer that came late: sent again blindly, each would have been made twice. What reports show and people say is counted on the overview only.", "system", "by")
	m.prevented = newCells(func(k [2]string) prometheus.Counter { return prevented.WithLabelValues(k[0], k[1]) })
	lastLooks := m.counter("onefold_last_looks_total", "Last looks at settled items that were sent again or decided by hand: done, or missed because no look succeeded.", "system", "result")
	m.lastLooks = newCells(func(k [2]string) prometheus.Counter { return lastLooks.WithLabelValues(k[0], k[1]) })
	late := m.counter("onefold_late_answers_total", "Answers that came after their call had been given up.", "system")
	m.late = newCells(func(s string) prometheus.Counter { return late.WithLabelValues(s) })
	running := prometheus.NewGaugeVec(m.opts("gauge", "onefold_calls_running", "Calls that this server has on their way.", "kind"))
	m.registry.MustRegister(running)
	m.running = newCells(func(kind string) prometheus.Gauge { return running.WithLabelValues(kind) })
	o, _ := m.opts("gauge", "onefold_clock_ahead_seconds", "How far this server's clock surely is before the database's; negative: behind it. As measured when the database last answered.")
	m.clock = prometheus.NewGauge(o)
	m.registry.MustRegister(m.clock)
	m.sweeps = m.counter("onefold_sweeps_total", "Looks for attempts that nobody finished.").WithLabelValues()
	m.expired = m.counter("onefold_leases_expired_total", "Attempts that this server took over because nobody finished them in time: their server was lost, or the database was away for long.").WithLabelValues()
	m.wakeups = m.counter("onefold_wakeups_total", "How often the engine was told of new work.").WithLabelValues()

	m.notices = m.counter("onefold_notices_total", "Tries to send a message to people: sent, again (to be tried again), failed, unclear, dropped.", "way", "result")
	m.outcomes = m.counter("onefold_outcomes_total", "Tries to tell another program an outcome: delivered, waiting (to be tried again), failed.", "result")
	m.rows = m.counter("onefold_import_rows_total", "Rows of import files that were dealt with, by what came of them.", "result")

	requests := m.counter("onefold_http_requests_total", "Requests by the pattern of their route, and the class of the answer's status.", "route", "method", "status")
	m.requests = newCells(func(k requestKey) prometheus.Counter {
		requests.WithLabelValues(k.route, k.method, "5xx") // so that the first failure is seen, see preset
		return requests.WithLabelValues(k.route, k.method, k.class)
	})
	serving := m.histogram("onefold_http_request_seconds", "How long requests took. /live is left out: it lasts as long as a page is open.", pageBuckets, "route", "method")
	m.serving = newCells(func(k requestKey) prometheus.Observer { return serving.WithLabelValues(k.route, k.method) })

	m.state = newStateCollector(m)
	m.registry.MustRegister(m.state)
	m.systems.begin = m.presetSystem
	m.preset()
	return m
}

func (m *Metrics) opts(kind, name, help string, labels ...string) (prometheus.GaugeOpts, []string) {
	m.list = append(m.list, Metric{name, kind, labels, help})
	return prometheus.GaugeOpts{Name: name, Help: help}, labels
}

func (m *Metrics) counter(name, help string, labels ...string) *prometheus.CounterVec {
	o, _ := m.opts("counter", name, help, labels...)
	v := prometheus.NewCounterVec(prometheus.CounterOpts(o), labels)
	m.registry.MustRegister(v)
	return v
}

func (m *Metrics) histogram(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	o, _ := m.opts("histogram", name, help, labels...)
	v := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: o.Name, Help: o.Help, Buckets: buckets}, labels)
	m.registry.MustRegister(v)
	return v
}

// List describes all metrics of ours, by name.
func (m *Metrics) List() []Metric {
	return slices.SortedFunc(slices.Values(m.list), func(a, b Metric) int { return cmp.Compare(a.Name, b.Name) })
}

// mostNames is how many systems have a label of their own; what comes after them is counted as others.
const mostNames = 50

const others = "other"

// names keeps the number of values of a label bounded.
type names struct {
	begin func(label string) // called before a label is first given
	mu    sync.Mutex
	known atomic.Pointer[map[string]bool]
}

func (n *names) label(name string) string {
	if known := n.known.Load(); known != nil {
		if (*known)[name] {
			return name
		}
		if len(*known) >= mostNames {
			return others
		}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	next := map[string]bool{name: true}
	if known := n.known.Load(); known != nil {
		if !(*known)[name] && len(*known) >= mostNames {
			return others
		}
		for k := range *known {
			next[k] = true
		}
	}
	n.begin(name)
	if len(next) == mostNames {
		n.begin(others)
	}
	n.known.Store(&next)
	return name
}

// cells finds the number for a key without a lock and without an allocation; there are few keys, and they stay.
type cells[K comparable, V any] struct {
	mu   sync.Mutex
	make func(K) V
	all  atomic.Pointer[map[K]V]
}

func newCells[K comparable, V any](make func(K) V) *cells[K, V] {
	c := &cells[K, V]{make: make}
	c.all.Store(&map[K]V{})
	return c
}

func (c *cells[K, V]) of(k K) V {
	if v, ok := (*c.all.Load())[k]; ok {
		return v
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	old := *c.all.Load()
	if v, ok := old[k]; ok {
		return v
	}
	next := map[K]V{k: c.make(k)}
	for k, v := range old {
		next[k] = v
	}
	c.all.Store(&next)
	return next[k]
}

// begin tells the number for a key though nothing was counted yet.
func (c *cells[K, V]) begin(k K) { c.make(k) }

// ClockAhead tells how far this server's clock is before the database's.
func (m *Metrics) ClockAhead(d time.Duration) { m.clock.Set(d.Seconds()) }

// Notice counts a try to tell a person: way is "mail" or "webhook".
func (m *Metrics) Notice(way, result string) { m.notices.WithLabelValues(way, result).Inc() }

// Outcome counts a try to tell another program.
func (m *Metrics) Outcome(result string) { m.outcomes.WithLabelValues(result).Inc() }

// ImportRows counts rows of an import file.
func (m *Metrics) ImportRows(result string, n int) {
	if n > 0 {
		m.rows.WithLabelValues(result).Add(float64(n))
	}
}

// Request counts an answered request by the pattern of its route; "none" if it had none.
func (m *Metrics) Request(route, method string, status int, took time.Duration) {
	if route == "" {
		route = "none"
	}
	switch method {
	case "GET", "POST", "HEAD":
	default:
		method = others
	}
	m.requests.of(requestKey{route, method, classes[min(max(status/100, 0), 5)]}).Inc()
	if route != "/live" {
		m.serving.of(requestKey{route: route, method: method}).Observe(took.Seconds())
	}
}

var classes = [...]string{others, "1xx", "2xx", "3xx", "4xx", "5xx"}
