package ledger

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"onefold/internal/work"
)

// fake is an adapter made of functions.
type fake struct {
	send     func(context.Context) work.Answer
	find     func(context.Context) Found
	identity func(context.Context) (string, error)
}

func (f fake) Capabilities() work.Capabilities                 { return work.Capabilities{} }
func (f fake) Steps() []string                                 { return []string{"create"} }
func (f fake) Identity(ctx context.Context) (string, error)    { return f.identity(ctx) }
func (f fake) Send(ctx context.Context, _ Request) work.Answer { return f.send(ctx) }
func (f fake) Find(ctx context.Context, _ Query) Found         { return f.find(ctx) }
func accepted(context.Context) work.Answer {
	return work.Answer{Outcome: work.Accepted, Record: work.Record{ID: "a"}}
}
func panicking[T any](context.Context) T   { panic("secret-token") }
func leaving[T any](context.Context) (r T) { runtime.Goexit(); return r }
func ending(t *testing.T, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

func TestAPanicIsUnknown(t *testing.T) {
	for name, f := range map[string]fake{
		"panic": {panicking[work.Answer], panicking[Found], nil},
		"exit":  {leaving[work.Answer], leaving[Found], nil},
	} {
		t.Run(name, func(t *testing.T) {
			if a := DoSend(t.Context(), f, Request{}, nil); a.Outcome != work.Unknown || a.Exchange.Error == "" {
				t.Errorf("%+v", a)
			}
			if l := DoFind(t.Context(), f, Query{}, work.Invoice{}); l.Finding != work.CouldNotTell || l.Exchange.Error == "" {
				t.Errorf("%+v", l)
			}
		})
	}
	if _, err := DoIdentity(t.Context(), fake{identity: func(context.Context) (string, error) { panic("x") }}); err == nil {
		t.Error("a panicking identity is no error")
	}
	if _, err := DoIdentity(t.Context(), fake{identity: func(context.Context) (string, error) { return " ", nil }}); err == nil {
		t.Error("an empty identity is no error")
	}
}

func TestAnAdapterThatIgnoresItsContextIsLeftBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stubborn := fake{send: func(context.Context) work.Answer { time.Sleep(time.Hour); return accepted(context.Background()) }}
		late := make(chan work.Answer, 1)
		start := time.Now()
		a := DoSend(ending(t, time.Minute), stubborn, Request{}, func(a work.Answer) { late <- a })
		if took := time.Since(start); a.Outcome != work.Unknown || took > time.Minute+grace {
			t.Errorf("%s after %s", a.Outcome, took)
		}
		if a := <-late; a.Outcome != work.Accepted || a.Match != work.MatchIDOnly {
			t.Errorf("late: %+v", a)
		}
		if took := time.Since(start); took != time.Hour {
			t.Errorf("late after %s", took)
		}
	})
}

func TestAnAdapterThatReturnsWithItsContextSpeaksForItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		polite := fake{send: func(ctx context.Context) work.Answer { <-ctx.Done(); return work.Answer{Outcome: work.NotSent} },
			find: func(ctx context.Context) Found { <-ctx.Done(); return Found{Deferred: true} }}
		late := func(work.Answer) { t.Error("told twice") }
		if a := DoSend(ending(t, time.Minute), polite, Request{}, late); a.Outcome != work.NotSent {
			t.Errorf("%+v", a)
		}
		if l := DoFind(ending(t, time.Minute), polite, Query{}, work.Invoice{}); l.Finding != work.FindDeferred {
			t.Errorf("%+v", l)
		}
	})
}

func TestNothingIsStartedAfterTheContextHasEnded(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("over"))
	f := fake{send: func(context.Context) work.Answer { t.Error("sent"); return work.Answer{} }}
	if a := DoSend(ctx, f, Request{}, nil); a.Outcome != work.NotSent {
		t.Errorf("%+v", a)
	}
}
