package telemetry

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"go.opentelemetry.io/otel/trace"
)

// NewLog returns the log of a server, one line for each event, as format "text" or "json", from a level on: debug, info,
// warn or error. Lines about a traced call or request carry the trace.
func NewLog(w io.Writer, format, level string) (*slog.Logger, error) {
	var l slog.Level
	if err := l.UnmarshalText([]byte(level)); err != nil || strings.ContainsAny(level, "+-") {
		return nil, fmt.Errorf("--log-level: %q is no level: write debug, info, warn or error", level)
	}
	o := &slog.HandlerOptions{Level: l}
	switch format {
	case "text":
		return slog.New(traced{slog.NewTextHandler(w, o)}), nil
	case "json":
		return slog.New(traced{slog.NewJSONHandler(w, o)}), nil
	}
	return nil, fmt.Errorf("--log-format: %q is not known: write text or json", format)
}

// traced adds the trace of the context.
type traced struct{ slog.Handler }

func (h traced) Handle(ctx context.Context, r slog.Record) error {
	if sc := trace.SpanContextFromContext(ctx); sc.IsValid() {
		r.AddAttrs(slog.String("trace", sc.TraceID().String()))
	}
	return h.Handler.Handle(ctx, r)
}

func (h traced) WithAttrs(a []slog.Attr) slog.Handler { return traced{h.Handler.WithAttrs(a)} }

func (h traced) WithGroup(name string) slog.Handler { return traced{h.Handler.WithGroup(name)} }
