package telemetry

import (
	"context"
	"time"
)

// Web observes the requests to the pages and the API.
type Web struct {
	Metrics *Metrics
	Traces  *Traces // nil: none
}

type requestSpanKey struct{}

// Begin implements web.Observer.
func (w Web) Begin(ctx context.Context, route, method, request string) context.Context {
	if w.Traces == nil {
		return ctx
	}
	ctx, end := w.Traces.request(ctx, route, method, request)
	return context.WithValue(ctx, requestSpanKey{}, end)
}

// End implements web.Observer.
func (w Web) End(ctx context.Context, route, method string, status int, took time.Duration) {
	w.Metrics.Request(route, method, status, took)
	if end, ok := ctx.Value(requestSpanKey{}).(func(int)); ok {
		end(status)
	}
}
