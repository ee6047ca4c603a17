package telemetry

import (
	"onefold/internal/automation"
	"onefold/internal/work"
)

// Counters begin at nought, not with the first event: Prometheus' increase() does not see how a number came to be, so the
// first event of a server's life, often the only one, would be told to nobody.

// preset begins what is counted for all systems together.
func (m *Metrics) preset() {
	for _, way := range []string{"mail", "webhook"} {
		for _, result := range []string{"sent", "again", "failed", "unclear", "dropped"} {
			m.notices.WithLabelValues(way, result)
		}
	}
	for _, result := range []string{"delivered", "waiting", "failed"} {
		m.outcomes.WithLabelValues(result)
	}
	for _, result := range []automation.ImportOutcome{automation.RowNew, automation.RowKnown, automation.RowConflict, automation.RowRefused} {
		m.rows.WithLabelValues(string(result))
	}
	for _, kind := range []work.Kind{work.Send, work.Find} {
		m.running.begin(string(kind))
	}
}

// presetSystem begins what is counted for each system, when its label is first given.
func (m *Metrics) presetSystem(system string) {
	for _, o := range work.Outcomes {
		m.attempts.begin(attemptKey{system, string(work.Send), string(o)})
	}
	for _, f := range work.Findings {
		m.attempts.begin(attemptKey{system, string(work.Find), string(f)})
	}
	for _, status := range work.Statuses {
		m.moves.begin([2]string{system, string(status)})
	}
	for _, result := range []string{"work", "none", "failed"} {
		m.claims.begin([2]string{system, result})
	}
	for _, by := range []string{byLookup, byLateAnswer} {
		m.prevented.begin([2]string{system, by})
	}
	for _, result := range []work.LastLook{work.LastLookDone, work.LastLookMissed} {
		m.lastLooks.begin([2]string{system, string(result)})
	}
	m.limited.begin(system)
	m.late.begin(system)
}
