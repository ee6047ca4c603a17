package telemetry

import (
	"context"
	"net/http"
	"time"

	"onefold/internal/automation"
	"onefold/internal/work"
)

// What kept an item from being made twice.
const byLookup, byLateAnswer = "lookup", "late answer"

// Engine observes the engine. Without traces it allocates nothing.
type Engine struct {
	Metrics *Metrics
	Traces  *Traces // nil: none
}

var _ automation.Observer = Engine{}

// Claimed implements automation.Observer.
func (e Engine) Claimed(systemID string, calls int, took time.Duration, err error) {
	m := e.Metrics
	system := m.systems.label(systemID)
	switch {
	case err != nil:
		m.claims.of([2]string{system, "failed"}).Inc()
	case calls == 0:
		m.claims.of([2]string{system, "none"}).Inc()
	default:
		m.claims.of([2]string{system, "work"}).Inc()
		m.claiming.of(system).Observe(took.Seconds())
	}
}

// Begin implements automation.Observer.
func (e Engine) Begin(ctx context.Context, c automation.Call) context.Context {
	e.Metrics.running.of(string(c.Kind)).Inc()
	return e.Traces.begin(ctx, c)
}

// End implements automation.Observer.
func (e Engine) End(ctx context.Context, c automation.Call, r automation.Result) {
	m := e.Metrics
	m.running.of(string(c.Kind)).Dec()
	m.seconds.of(attemptKey{system: m.systems.label(c.SystemID), kind: string(c.Kind)}).Observe(r.Took.Seconds())
	e.Traces.end(ctx, r)
}

// Closed implements automation.Observer.
func (e Engine) Closed(before *work.Item, w *work.Move) {
	m, a, after := e.Metrics, &w.Attempt, &w.Item
	system := m.systems.label(after.SystemID)
	result := string(a.Outcome)
	if a.Kind == work.Find {
		result = string(a.Finding)
	}
	m.attempts.of(attemptKey{system, string(a.Kind), result}).Inc()
	if a.HTTPStatus == http.StatusTooManyRequests {
		m.limited.of(system).Inc()
	}
	if after.Status != before.Before {
		m.moves.of([2]string{system, string(after.Status)}).Inc()
	}
	if a.Finding == work.FoundMatching && after.Status == work.Confirmed && before.Before.Open() && len(before.Unsettled) > 0 {
		m.prevented.of([2]string{system, byLookup}).Inc()
	}
	if before.LastLook == work.LastLookOwed && (after.LastLook == work.LastLookDone || after.LastLook == work.LastLookMissed) {
		m.lastLooks.of([2]string{system, string(after.LastLook)}).Inc()
	}
}

// Late implements automation.Observer.
func (e Engine) Late(w *work.Move) {
	m, it := e.Metrics, &w.Item
	system := m.systems.label(it.SystemID)
	m.late.of(system).Inc()
	if w.Attempt.Outcome == work.Accepted && it.Status == work.Confirmed && it.ExternalID == w.Attempt.ExternalID && it.Evidence == "late answer" {
		m.prevented.of([2]string{system, byLateAnswer}).Inc()
	}
}

// Swept implements automation.Observer.
func (e Engine) Swept(n int) {
	e.Metrics.sweeps.Inc()
	e.Metrics.expired.Add(float64(n))
}

// Woken implements automation.Observer.
func (e Engine) Woken() { e.Metrics.wakeups.Inc() }
