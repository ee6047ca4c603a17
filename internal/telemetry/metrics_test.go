package telemetry

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"onefold/internal/automation"
	"onefold/internal/work"
)

func scrape(t *testing.T, m *Metrics) string {
	t.Helper()
	w := httptest.NewRecorder()
	promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{}).ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	if w.Code != http.StatusOK {
		t.Fatalf("%d: %s", w.Code, w.Body)
	}
	return w.Body.String()
}

func call(system string, kind work.Kind) automation.Call {
	return automation.Call{SystemID: system, ItemID: 7, Number: 2, Kind: kind, Key: "INV-1", RecordedAt: time.Unix(1_790_000_000, 0)}
}

func closed(system string, finding work.Finding, unsettled ...int) (*work.Item, *work.Move) {
	before := &work.Item{ID: 7, SystemID: system, Before: work.Pending, Status: work.InProgress, Unsettled: unsettled}
	after := work.Item{ID: 7, SystemID: system, Status: work.Confirmed}
	return before, &work.Move{Item: after, Op: work.CloseAttempt, Attempt: work.Attempt{ItemID: 7, Kind: work.Find, Finding: finding, HTTPStatus: 200}}
}

// busy has counted something of everything.
func busy(t *testing.T) *Metrics {
	t.Helper()
	m := NewMetrics("one", ThisBuild())
	e := Engine{Metrics: m}
	e.Claimed("books", 3, time.Millisecond, nil)
	ctx := e.Begin(t.Context(), call("books", work.Find))
	e.End(ctx, call("books", work.Find), automation.Result{Finding: work.FoundMatching, Took: time.Second})
	e.Closed(closed("books", work.FoundMatching, 1))
	limited := &work.Move{Item: work.Item{SystemID: "books", Status: work.Queued, LastLook: work.LastLookDone}, Attempt: work.Attempt{Kind: work.Send, Outcome: work.Deferred, HTTPStatus: 429}}
	e.Closed(&work.Item{SystemID: "books", Before: work.Queued, LastLook: work.LastLookOwed}, limited)
	e.Late(&work.Move{Item: work.Item{SystemID: "books", Status: work.Review}, Attempt: work.Attempt{Outcome: work.Rejected}})
	e.Swept(2)
	e.Woken()
	m.Notice("mail", "sent")
	m.Outcome("delivered")
	m.ImportRows("new", 5)
	m.Request("/items/:id", "GET", 200, time.Millisecond)
	m.ClockAhead(-3 * time.Second)
	m.Pool(func() Pool { return Pool{Limit: 16, InUse: 1} })
	State{Store: &books{}, Metrics: m}.ReadOnce(t.Context())
	return m
}

// books is a database with one system.
type books struct {
	err  error
	slow string // what takes too long to count
	late time.Duration
	asks int // for overdue items
}

func (b *books) count(what string) error {
	if b.slow == what {
		return context.DeadlineExceeded
	}
	return b.err
}

func (b *books) Now(context.Context) (time.Time, error) {
	return time.Unix(1_790_000_000, 0).Add(b.late), b.err
}
func (b *books) Systems(context.Context) ([]work.System, error) {
	return []work.System{{ID: "books", MaxInFlight: 4, LoginProblem: "canary"}}, b.count("systems")
}
func (b *books) InFlight(context.Context) (map[string]int, error) {
	return map[string]int{"books": 1}, b.count("in flight")
}
func (b *books) Overdue(_ context.Context, now time.Time) ([]automation.Overdue, error) {
	b.asks++
	return []automation.Overdue{{SystemID: "books", Count: 2, Oldest: now.Add(-time.Hour)}}, b.count("overdue")
}
func (b *books) OpenItems(context.Context, int64) ([]automation.OpenItems, error) {
	return []automation.OpenItems{{SystemID: "books", Status: work.Review, Count: 3, Oldest: time.Unix(1_790_000_000-60, 0)}}, b.count("open items")
}

func told(t *testing.T, m *Metrics) []string {
	t.Helper()
	all, err := m.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, f := range all {
		if strings.HasPrefix(f.GetName(), "onefold_") {
			list = append(list, f.GetName())
		}
	}
	return list
}

func TestWhatIsDescribedIsWhatIsTold(t *testing.T) {
	m := busy(t)
	var described []string
	for _, d := range m.List() {
		described = append(described, d.Name)
	}
	if got := told(t, m); !slices.Equal(got, described) {
		t.Errorf("told:\n%s\ndescribed:\n%s", strings.Join(got, "\n"), strings.Join(described, "\n"))
	}
}

func TestMetricsPageIsUpToDate(t *testing.T) {
	var b bytes.Buffer
	if err := WriteMetrics(&b); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../../docs/operations/metrics.md")
	if err != nil || !bytes.Equal(page, b.Bytes()) {
		t.Errorf("docs/operations/metrics.md is out of date: run go generate ./cmd/server (%v)", err)
	}
}

func TestLabelsStayFew(t *testing.T) {
	m := NewMetrics("one", Build{})
	e := Engine{Metrics: m}
	for i := range 1000 {
		e.Closed(closed(fmt.Sprint("system-", i), work.NotFound))
		e.End(t.Context(), call(fmt.Sprint("system-", i), work.Find), automation.Result{Finding: work.NotFound})
		m.Request("", fmt.Sprint("METHOD-", i), 404, time.Millisecond)
	}
	page := scrape(t, m)
	if n := strings.Count(page, "\nonefold_attempt_seconds_count{"); n != mostNames+1 {
		t.Errorf("%d series of 1000 systems, want %d", n, mostNames+1)
	}
	if n, want := strings.Count(page, "\nonefold_attempts_total{"), (mostNames+1)*(len(work.Outcomes)+len(work.Findings)); n != want {
		t.Errorf("%d series of 1000 systems, want %d", n, want)
	}
	if !strings.Contains(page, fmt.Sprintf(`onefold_attempts_total{kind="find",result="not_found",system="other"} %d`, 1000-mostNames)) {
		t.Error("what has no label of its own is not counted")
	}
	if n := strings.Count(page, "\nonefold_http_requests_total{"); n != 2 { // one more for what fails
		t.Errorf("%d series of unknown methods", n)
	}
}

func TestObservingAllocatesNothing(t *testing.T) {
	e := Engine{Metrics: NewMetrics("one", Build{})}
	before, move := closed("books", work.FoundMatching, 1)
	ctx, c := t.Context(), call("books", work.Find)
	var o automation.Observer = e
	n := testing.AllocsPerRun(1000, func() {
		at := o.Begin(ctx, c)
		o.End(at, c, automation.Result{Finding: work.FoundMatching, Took: time.Second})
		o.Closed(before, move)
		o.Claimed("books", 1, time.Millisecond, nil)
	})
	if n != 0 {
		t.Errorf("%v allocations for each attempt", n)
	}
}

func BenchmarkObservedAttempt(b *testing.B) {
	var o automation.Observer = Engine{Metrics: NewMetrics("one", Build{})}
	before, move := closed("books", work.FoundMatching, 1)
	ctx, c := b.Context(), call("books", work.Find)
	b.ReportAllocs()
	for b.Loop() {
		at := o.Begin(ctx, c)
		o.End(at, c, automation.Result{Finding: work.FoundMatching, Took: time.Second})
		o.Closed(before, move)
	}
}

func TestOnlyAnUnknownThatIsFoundIsADuplicatePrevented(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(before *work.Item, m *work.Move)
		want   string
	}{
		{"an unknown that is found", func(*work.Item, *work.Move) {}, "1"},
		{"nothing was unknown", func(b *work.Item, _ *work.Move) { b.Unsettled = nil }, "0"},
		{"not there", func(_ *work.Item, m *work.Move) { m.Attempt.Finding, m.Item.Status = work.NotFound, work.Failed }, "0"},
		{"several are there", func(_ *work.Item, m *work.Move) { m.Attempt.Finding, m.Item.Status = work.FoundSeveral, work.Review }, "0"},
		{"it was known before: a last look", func(b *work.Item, _ *work.Move) { b.Before = work.Confirmed }, "0"},
	} {
		m := NewMetrics("one", Build{})
		before, move := closed("books", work.FoundMatching, 1)
		c.change(before, move)
		Engine{Metrics: m}.Closed(before, move)
		_, after, _ := strings.Cut(scrape(t, m), `onefold_duplicates_prevented_total{by="lookup",system="books"} `)
		if got, _, _ := strings.Cut(after, "\n"); got != c.want {
			t.Errorf("%s: counted %q, want %q", c.name, got, c.want)
		}
	}
}

func TestOldNumbersDoNotLookLikeGoodOnes(t *testing.T) {
	m, store := NewMetrics("one", Build{}), &books{}
	s := State{Store: store, Metrics: m}
	if !s.ReadOnce(t.Context()) {
		t.Error("the database answers")
	}
	page := scrape(t, m)
	for _, want := range []string{"onefold_database_up 1", `onefold_items{status="review",system="books"} 3`, `onefold_oldest_review_seconds{system="books"} 60`,
		`onefold_oldest_overdue_seconds{system="books"} 3600`, `onefold_slots_used{system="books"} 1`, `onefold_login_refused{system="books"} 1`, `onefold_breaker_open{system="books"} 0`} {
		if !strings.Contains(page, want+"\n") {
			t.Errorf("%s is missing", want)
		}
	}
	store.err = errors.New("gone")
	if s.ReadOnce(t.Context()) {
		t.Error("the database is away")
	}
	if page := scrape(t, m); !strings.Contains(page, "onefold_database_up 0\n") || strings.Contains(page, "onefold_items{") {
		t.Error("numbers of a database that is away")
	}
}

// A count that takes too long wakes nobody up for a database that is there, and leaves no old numbers.
func TestACountThatFailsIsNoLostDatabase(t *testing.T) {
	for _, which := range []string{"systems", "in flight", "overdue", "open items"} {
		m, store := NewMetrics("one", Build{}), &books{}
		s := State{Store: store, Metrics: m}
		s.ReadOnce(t.Context())
		store.slow, store.late = which, time.Minute
		s.ReadOnce(t.Context())
		page := scrape(t, m)
		if !strings.Contains(page, "onefold_database_up 1\n") {
			t.Errorf("%s: the database is told to be away", which)
		}
		if strings.Contains(page, "onefold_items{") || strings.Contains(page, "\nonefold_state_timestamp_seconds ") {
			t.Errorf("%s: old numbers look like good ones", which)
		}
	}
}

// To look for overdue items every open one is read: once a minute is often enough.
func TestOverdueItemsAreCountedByTheMinute(t *testing.T) {
	m, store := NewMetrics("one", Build{}), &books{}
	for ; store.late < 3*time.Minute; store.late += 15 * time.Second {
		State{Store: store, Metrics: m}.ReadOnce(t.Context())
		if !strings.Contains(scrape(t, m), `onefold_overdue_items{system="books"} 2`) {
			t.Fatal("the number is missing")
		}
	}
	if store.asks != 3 {
		t.Errorf("asked %d times in three minutes", store.asks)
	}
}

func TestMetricsAskForTheirToken(t *testing.T) {
	h := NewMetrics("one", Build{}).Server("right").Handler
	for header, want := range map[string]int{"": 401, "Bearer wrong": 401, "Basic right": 401, "Bearer": 401, "Bearer right": 200} {
		r, w := httptest.NewRequest("GET", "/metrics", nil), httptest.NewRecorder()
		r.Header.Set("Authorization", header)
		h.ServeHTTP(w, r)
		if w.Code != want || want == 401 && strings.Contains(w.Body.String(), "onefold_") {
			t.Errorf("%q: %d, want %d", header, w.Code, want)
		}
	}
}
