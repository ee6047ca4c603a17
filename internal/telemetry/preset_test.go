package telemetry

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"onefold/internal/automation"
	"onefold/internal/automation/outcome"
	"onefold/internal/notice"
	"onefold/internal/work"
)

// Prometheus' increase() does not see a number that begins with 1: what rules ask for is told before it happens.
func TestTheFirstEventIsSeen(t *testing.T) {
	m := NewMetrics("one", Build{})
	State{Store: &books{}, Metrics: m}.ReadOnce(t.Context())
	m.Request("/items/:id", "GET", 200, time.Millisecond)
	page := scrape(t, m)
	for _, want := range []string{`onefold_last_looks_total{result="missed",system="books"}`, `onefold_last_looks_total{result="done",system="books"}`,
		`onefold_duplicates_prevented_total{by="lookup",system="books"}`, `onefold_duplicates_prevented_total{by="late answer",system="books"}`,
		`onefold_attempts_total{kind="send",result="unknown",system="books"}`, `onefold_attempts_total{kind="find",result="could_not_tell",system="books"}`,
		`onefold_rate_limited_total{system="books"}`, `onefold_late_answers_total{system="books"}`, `onefold_items_moved_total{status="review",system="books"}`,
		`onefold_claims_total{result="failed",system="books"}`, `onefold_http_requests_total{method="GET",route="/items/:id",status="5xx"}`, `onefold_leases_expired_total`} {
		if !strings.Contains(page, want+" 0\n") {
			t.Errorf("%s does not begin at 0", want)
		}
	}
}

// lines are those of a scrape, without their numbers.
func lines(t *testing.T, m *Metrics) (all []string) {
	t.Helper()
	for _, line := range strings.Split(scrape(t, m), "\n") {
		if i := strings.LastIndexByte(line, ' '); i > 0 && strings.HasPrefix(line, "onefold_") && !strings.Contains(line, "_seconds") {
			all = append(all, line[:i])
		}
	}
	return all
}

// Whatever is counted of a system that is known adds to a number that is told already.
func TestNothingThatIsCountedIsNew(t *testing.T) {
	m := NewMetrics("one", Build{})
	e := Engine{Metrics: m}
	State{Store: &books{}, Metrics: m}.ReadOnce(t.Context())
	before := lines(t, m)
	for _, way := range []string{"mail", "webhook"} {
		for _, s := range []notice.Status{notice.Sent, "again", notice.Failed, notice.Unclear, notice.Dropped} {
			m.Notice(way, string(s))
		}
	}
	for _, s := range []outcome.State{outcome.Delivered, outcome.Waiting, outcome.Failed} {
		m.Outcome(string(s))
	}
	for _, o := range []automation.ImportOutcome{automation.RowNew, automation.RowKnown, automation.RowConflict, automation.RowRefused} {
		m.ImportRows(string(o), 1)
	}
	for _, status := range work.Statuses {
		for _, o := range work.Outcomes {
			e.Closed(&work.Item{Before: "other"}, &work.Move{Item: work.Item{SystemID: "books", Status: status}, Attempt: work.Attempt{Kind: work.Send, Outcome: o, HTTPStatus: 429}})
		}
		for _, f := range work.Findings {
			e.Closed(&work.Item{Before: work.Pending, Unsettled: []int{1}, LastLook: work.LastLookOwed},
				&work.Move{Item: work.Item{SystemID: "books", Status: status, LastLook: work.LastLookMissed}, Attempt: work.Attempt{Kind: work.Find, Finding: f}})
		}
	}
	e.Late(&work.Move{Item: work.Item{SystemID: "books", Status: work.Confirmed, Evidence: "late answer"}, Attempt: work.Attempt{Outcome: work.Accepted}})
	e.Claimed("books", 0, 0, nil)
	e.Claimed("books", 0, 0, fmt.Errorf("no"))
	e.Claimed("books", 1, 0, nil)
	e.Swept(1)
	e.Woken()
	for _, s := range lines(t, m) {
		if !slices.Contains(before, s) {
			t.Errorf("%s is told from its first event on only: increase() does not see it", s)
		}
	}
}
