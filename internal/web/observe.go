package web

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/labstack/echo/v4"

	"onefold/internal/review"
	"onefold/web/templates"
)

// Observer is told of requests, for metrics and traces. Route is the pattern of the route, never the path that was asked for;
// empty if there is none.
type Observer interface {
	// Begin tells that a request begins; the context that it returns is the request's.
	Begin(ctx context.Context, route, method, request string) context.Context
	// End tells that it was answered with a status; 0: it broke off.
	End(ctx context.Context, route, method string, status int, took time.Duration)
}

// TraceOf is the id of the trace of an item's attempt.
type TraceOf func(itemID int64, recorded time.Time, number int) string

// traceFact leads from an attempt to its trace.
func (s *server) traceFact(d review.AttemptDetail) []templates.Fact {
	if s.TraceOf == nil || d.Attempt.FromReport() {
		return nil
	}
	made := cmp.Or(d.Attempt.LateFor, d.Attempt.Number) // a late answer is of the call that had been given up
	return []templates.Fact{{Name: templates.Attempts.Fact["trace"], Value: s.TraceOf(d.Item.ID, d.Item.RecordedAt, made)}}
}

type unobserved struct{}

func (unobserved) Begin(ctx context.Context, _, _, _ string) context.Context { return ctx }
func (unobserved) End(context.Context, string, string, int, time.Duration)   {}

// observe logs each request and tells the observer of it. Of the address only the pattern is told: it may hold a one-time
// link or a customer's name. Of the person only the number. Errors are answered here, so that their status is known.
func (s *server) observe(e *echo.Echo) echo.MiddlewareFunc {
	patterns := sync.OnceValue(func() map[string]bool {
		known := map[string]bool{}
		for _, r := range e.Routes() {
			known[r.Path] = true
		}
		return known
	})
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			begun := time.Now()
			method, route := c.Request().Method, c.Path()
			if !patterns()[route] {
				route = ""
			}
			id, _ := c.Get(requestIDKey).(string)
			ctx := s.Observer.Begin(c.Request().Context(), route, method, id)
			c.SetRequest(c.Request().WithContext(ctx))
			status := 0
			defer func() {
				took := time.Since(begun)
				s.Observer.End(ctx, route, method, status, took)
				s.logRequest(ctx, c, route, status, took)
			}()
			if err := next(c); err != nil {
				c.Error(err)
			}
			status = c.Response().Status
			return nil
		}
	}
}

func (s *server) logRequest(ctx context.Context, c echo.Context, route string, status int, took time.Duration) {
	level := slog.LevelInfo
	if status < 400 && (route == "/healthz" || route == "/readyz" || route == livePath || strings.HasPrefix(route, "/static/")) {
		level = slog.LevelDebug // asked for by machines, all the time
	}
	if !s.Log.Enabled(ctx, level) {
		return
	}
	id, _ := c.Get(requestIDKey).(string)
	a := []slog.Attr{slog.String("request", id), slog.String("method", c.Request().Method), slog.String("route", route), slog.Int("status", status),
		slog.Float64("seconds", took.Seconds())}
	if by := person(c); by.ID != "" {
		a = append(a, slog.String("by", string(by.Kind)+":"+by.ID))
	}
	s.Log.LogAttrs(ctx, level, "a request was answered", a...)
}

// health says that the process lives. It never asks the database: a server that is started anew for the database's sake does
// not help, and forgets what it was about to write down.
func (s *server) health(c echo.Context) error { return c.String(http.StatusOK, "ok\n") }

// readiness is the answer of /readyz.
type readiness struct {
	Ready   bool     `json:"ready"`
	Reasons []string `json:"reasons,omitempty"`
}

const readyTime = 2 * time.Second

// ready says whether the server can work, and if not, why.
func (s *server) ready(c echo.Context) error {
	ctx, cancel := context.WithTimeout(c.Request().Context(), readyTime)
	defer cancel()
	if reasons := s.Ready(ctx); len(reasons) > 0 {
		return c.JSON(http.StatusServiceUnavailable, readiness{Reasons: reasons})
	}
	return c.JSON(http.StatusOK, readiness{Ready: true})
}

// reachesStore is the readiness of a server that was told no other.
func (s *server) reachesStore(ctx context.Context) []string {
	if _, err := s.review.Now(ctx); err != nil {
		s.Log.Error("the database does not answer", "error", err)
		return []string{"the database does not answer"}
	}
	return nil
}
