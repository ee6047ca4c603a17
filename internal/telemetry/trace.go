package telemetry

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/url"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"onefold/internal/automation"
	"onefold/internal/work"
)

// Traces makes the spans of a server. A nil Traces makes none and costs nothing.
//
// The trace of an attempt has an id that follows from the item and the attempt's number. So whoever wishes an attempt and
// whichever server makes it write into one trace, and nothing of it has to be kept in the database.
type Traces struct {
	provider *sdktrace.TracerProvider
	tracer   trace.Tracer
}

// NewTraces sends spans over OTLP, as the standard OTEL_ variables of the environment say. What cannot be sent is logged and
// lost; nothing waits for it.
func NewTraces(ctx context.Context, node string, b Build, log *slog.Logger) (*Traces, error) {
	exporter, err := otlptracehttp.New(ctx)
	if err != nil {
		return nil, fmt.Errorf("traces cannot be sent: %w", err)
	}
	own := resource.NewSchemaless(attribute.String("service.name", "onefold"), attribute.String("service.version", b.Version),
		attribute.String("service.instance.id", node))
	// What the environment says of the service wins.
	r, err := resource.New(ctx, resource.WithTelemetrySDK(), resource.WithAttributes(own.Attributes()...), resource.WithFromEnv())
	if err != nil {
		return nil, fmt.Errorf("OTEL_RESOURCE_ATTRIBUTES cannot be read: %w", err)
	}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { log.Warn("traces could not be sent", "error", cause(err)) }))
	return newTraces(sdktrace.NewBatchSpanProcessor(exporter), r), nil
}

// cause is why, without the collector's address and its answer: either may hold what is no business of a log.
func cause(err error) string {
	var ue *url.Error
	if errors.As(err, &ue) {
		return ue.Err.Error()
	}
	return "the collector did not take them, or the OTEL_ variables do not fit"
}

func newTraces(p sdktrace.SpanProcessor, r *resource.Resource) *Traces {
	o := []sdktrace.TracerProviderOption{sdktrace.WithSpanProcessor(p), sdktrace.WithIDGenerator(ids{})}
	if r != nil {
		o = append(o, sdktrace.WithResource(r))
	}
	provider := sdktrace.NewTracerProvider(o...) // the sampler is that of OTEL_TRACES_SAMPLER
	return &Traces{provider, provider.Tracer("onefold")}
}

// Close sends what is left.
func (t *Traces) Close(ctx context.Context) error {
	if t == nil {
		return nil
	}
	return t.provider.Shutdown(ctx)
}

// ids gives a trace the ids that its context names, and others by chance.
type ids struct{}

type idKey struct{}

type attemptIDs struct {
	trace trace.TraceID
	span  trace.SpanID
}

func (ids) NewIDs(ctx context.Context) (trace.TraceID, trace.SpanID) {
	if a, ok := ctx.Value(idKey{}).(attemptIDs); ok {
		return a.trace, a.span
	}
	var id trace.TraceID
	binary.NativeEndian.PutUint64(id[:8], rand.Uint64())
	binary.NativeEndian.PutUint64(id[8:], rand.Uint64()|1) // never nought
	return id, randomSpan()
}

func (ids) NewSpanID(context.Context, trace.TraceID) trace.SpanID { return randomSpan() }

func randomSpan() (id trace.SpanID) {
	binary.NativeEndian.PutUint64(id[:], rand.Uint64()|1)
	return id
}

// idsOf are the ids of the trace of an attempt and of its first span.
func idsOf(itemID int64, recorded time.Time, number int) (a attemptIDs) {
	sum := sha256.Sum256(fmt.Appendf(nil, "onefold attempt %d %d %d", itemID, recorded.UnixMicro(), number))
	copy(a.trace[:], sum[:16])
	copy(a.span[:], sum[16:])
	return a
}

// startAttempt starts the first span of an attempt's trace. Two servers that start it make the same span, and only the one
// that ends it sends it.
func (t *Traces) startAttempt(ctx context.Context, itemID int64, recorded time.Time, number int, o ...trace.SpanStartOption) (context.Context, trace.Span) {
	ctx = context.WithValue(ctx, idKey{}, idsOf(itemID, recorded, number))
	return t.tracer.Start(ctx, "attempt", append(o, trace.WithNewRoot())...)
}

type attemptSpan struct{ whole, call trace.Span }

type attemptSpanKey struct{}

func (t *Traces) begin(ctx context.Context, c automation.Call) context.Context {
	if t == nil {
		return ctx
	}
	ctx, whole := t.startAttempt(ctx, c.ItemID, c.RecordedAt, c.Number, trace.WithTimestamp(c.Begun), trace.WithAttributes(
		attribute.String("onefold.system", c.SystemID), attribute.Int64("onefold.item", c.ItemID), attribute.Int("onefold.attempt", c.Number),
		attribute.String("onefold.kind", string(c.Kind)), attribute.String("onefold.step", c.Step)))
	_, claim := t.tracer.Start(ctx, "claim", trace.WithTimestamp(c.Begun))
	claim.End(trace.WithTimestamp(c.Claimed))
	ctx, call := t.tracer.Start(ctx, string(c.Kind), trace.WithSpanKind(trace.SpanKindClient))
	return context.WithValue(ctx, attemptSpanKey{}, attemptSpan{whole, call})
}

func (t *Traces) end(ctx context.Context, r automation.Result) {
	if t == nil {
		return
	}
	s, ok := ctx.Value(attemptSpanKey{}).(attemptSpan)
	if !ok {
		return
	}
	for _, span := range []trace.Span{s.call, s.whole} {
		span.SetAttributes(attribute.String("onefold.result", r.Word()), attribute.Int("http.response.status_code", r.Status))
		if r.Outcome == work.Unknown || r.Finding == work.CouldNotTell {
			span.SetStatus(codes.Error, "no clear answer")
		}
		span.End()
	}
}

// request starts the span of a request to the pages or the API. What a caller says of a trace of its own is not followed:
// anybody can call.
func (t *Traces) request(ctx context.Context, route, method, requestID string) (context.Context, func(status int)) {
	if route == "" {
		route = "none"
	}
	ctx, span := t.tracer.Start(ctx, method+" "+route, trace.WithNewRoot(), trace.WithSpanKind(trace.SpanKindServer), trace.WithAttributes(
		attribute.String("http.route", route), attribute.String("http.request.method", method), attribute.String("onefold.request", requestID)))
	return ctx, func(status int) {
		span.SetAttributes(attribute.Int("http.response.status_code", status))
		if status >= 500 {
			span.SetStatus(codes.Error, "")
		}
		span.End()
	}
}

// mostLinks is how many attempts one change is joined to.
const mostLinks = 20

// Change makes the span of a change at the write door that a request asked for, and joins it to the attempts that will
// follow: each has a span "asked" in its trace, which names the request. Changes that nobody asked for have no span.
func (t *Traces) Change(ctx context.Context, change func(context.Context) ([]work.Move, error)) ([]work.Move, error) {
	if t == nil || !trace.SpanContextFromContext(ctx).IsValid() {
		return change(ctx)
	}
	begun := time.Now()
	inner, span := t.tracer.Start(ctx, "change")
	defer span.End()
	moves, err := change(inner)
	if err != nil {
		span.SetStatus(codes.Error, "refused or failed")
		return moves, err
	}
	span.SetAttributes(attribute.Int("onefold.items", len(moves)))
	for i := range moves[:min(len(moves), mostLinks)] {
		it := &moves[i].Item
		if it.DueAt.IsZero() || it.OpenAttempt != 0 {
			continue // nothing follows from it
		}
		what := "record"
		if moves[i].Act != nil {
			what = moves[i].Act.What
		}
		attempt, root := t.startAttempt(ctx, it.ID, it.RecordedAt, it.Attempts+1) // not ended here: its server does
		span.AddLink(trace.Link{SpanContext: root.SpanContext()})
		_, asked := t.tracer.Start(attempt, "asked", trace.WithTimestamp(begun), trace.WithLinks(trace.Link{SpanContext: span.SpanContext()}),
			trace.WithAttributes(attribute.String("onefold.act", what), attribute.Int64("onefold.item", it.ID)))
		asked.End()
	}
	return moves, nil
}

// TraceOfAttempt is the id of the trace of an attempt, as tools that show traces want it.
func TraceOfAttempt(itemID int64, recorded time.Time, number int) string {
	return idsOf(itemID, recorded, number).trace.String()
}
