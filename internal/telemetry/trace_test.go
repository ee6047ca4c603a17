package telemetry

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"onefold/internal/automation"
	"onefold/internal/work"
)

func record() (*Traces, *tracetest.SpanRecorder) {
	r := tracetest.NewSpanRecorder()
	return newTraces(r, nil), r
}

func named(t *testing.T, r *tracetest.SpanRecorder, name string) sdktrace.ReadOnlySpan {
	t.Helper()
	for _, s := range r.Ended() {
		if s.Name() == name {
			return s
		}
	}
	t.Fatalf("no span %q", name)
	return nil
}

const canary = "CANARY"

// The page is served by one server, the attempt made by another; they share nothing but the item.
func TestActOnAPageJoinsTheAttemptOfAnotherServer(t *testing.T) {
	recorded := time.Unix(1_790_000_000, 123_000)
	item := work.Item{ID: 7, SystemID: "books", RecordedAt: recorded, Attempts: 3, Status: work.Pending, DueAt: recorded, LookAsked: "person:7 " + canary,
		BusinessKey: canary, Invoice: work.Invoice{CustomerName: canary}, LastError: canary}

	pages, seenByPages := record()
	w := Web{Metrics: NewMetrics("one", Build{}), Traces: pages}
	ctx := w.Begin(t.Context(), "/items/:id/check", "POST", "ABC")
	if _, err := pages.Change(ctx, func(context.Context) ([]work.Move, error) {
		return []work.Move{{Item: item, Act: &work.Act{What: "check", Note: canary, By: work.Actor{Name: canary}}}}, nil
	}); err != nil {
		t.Fatal(err)
	}
	w.End(ctx, "/items/:id/check", "POST", 303, time.Millisecond)

	engine, seenByEngine := record()
	e := Engine{Metrics: NewMetrics("two", Build{}), Traces: engine}
	c := automation.Call{SystemID: "books", ItemID: 7, RecordedAt: recorded.In(time.Local), Key: canary, Number: 4, Kind: work.Find, Begun: time.Now(), Claimed: time.Now()}
	e.End(e.Begin(t.Context(), c), c, automation.Result{Finding: work.FoundMatching, Status: 200})

	request, change, asked := named(t, seenByPages, "POST /items/:id/check"), named(t, seenByPages, "change"), named(t, seenByPages, "asked")
	attempt, claim, find := named(t, seenByEngine, "attempt"), named(t, seenByEngine, "claim"), named(t, seenByEngine, "find")
	if change.Parent().SpanID() != request.SpanContext().SpanID() {
		t.Error("the change is not part of its request")
	}
	for name, s := range map[string]sdktrace.ReadOnlySpan{"asked": asked, "claim": claim, "find": find} {
		if s.Parent().SpanID() != attempt.SpanContext().SpanID() || s.SpanContext().TraceID() != attempt.SpanContext().TraceID() {
			t.Errorf("%s is not part of the attempt", name)
		}
	}
	if len(asked.Links()) != 1 || asked.Links()[0].SpanContext.SpanID() != change.SpanContext().SpanID() ||
		len(change.Links()) != 1 || change.Links()[0].SpanContext.SpanID() != attempt.SpanContext().SpanID() {
		t.Error("the request and the attempt do not name each other")
	}
	if got := TraceOfAttempt(7, recorded, 4); got != attempt.SpanContext().TraceID().String() {
		t.Errorf("the trace of the attempt is %s", got)
	}
	for _, s := range append(seenByPages.Ended(), seenByEngine.Ended()...) {
		if text := fmt.Sprint(s.Name(), s.Attributes(), s.Status(), s.Links(), s.Events()); strings.Contains(text, canary) {
			t.Errorf("a span tells what is nobody's business: %s", text)
		}
	}
	if n := len(seenByPages.Ended()); n != 3 {
		t.Errorf("%d spans of the page, want 3: the attempt belongs to the server that makes it", n)
	}
}

func TestDifferentAttemptsHaveDifferentTraces(t *testing.T) {
	at := time.Unix(1_790_000_000, 0)
	seen := map[string]bool{}
	for _, id := range []string{TraceOfAttempt(1, at, 12), TraceOfAttempt(11, at, 2), TraceOfAttempt(1, at, 1), TraceOfAttempt(1, at.Add(time.Microsecond), 1)} {
		if seen[id] || len(id) != 32 || id == strings.Repeat("0", 32) {
			t.Errorf("the trace %s", id)
		}
		seen[id] = true
	}
}

func TestWithoutTracesNothingIsMade(t *testing.T) {
	var none *Traces
	ctx := t.Context()
	if none.begin(ctx, automation.Call{}) != ctx {
		t.Error("another context")
	}
	none.end(ctx, automation.Result{})
	if _, err := none.Change(ctx, func(context.Context) ([]work.Move, error) { return nil, nil }); err != nil {
		t.Error(err)
	}
	if err := none.Close(ctx); err != nil {
		t.Error(err)
	}
}

func TestLogsCarryTheTrace(t *testing.T) {
	var b bytes.Buffer
	log, err := NewLog(&b, "json", "debug")
	if err != nil {
		t.Fatal(err)
	}
	traces, _ := record()
	ctx := traces.begin(t.Context(), automation.Call{ItemID: 7, Number: 1})
	log.With("node", "one").LogAttrs(ctx, slog.LevelDebug, "a call is over")
	if want := `"trace":"` + TraceOfAttempt(7, time.Time{}, 1) + `"`; !strings.Contains(b.String(), want) || !strings.Contains(b.String(), `"node":"one"`) {
		t.Errorf("%s lacks %s", b.String(), want)
	}
	for _, bad := range [][2]string{{"xml", "info"}, {"json", "loud"}, {"json", ""}, {"json", "info+3"}} {
		if _, err := NewLog(&b, bad[0], bad[1]); err == nil || !strings.Contains(err.Error(), "write ") {
			t.Errorf("%v: %v", bad, err)
		}
	}
}
