package web

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"onefold/internal/automation"
	"onefold/internal/review"
	"onefold/internal/work"
	"onefold/web/templates"
)

// marking marks the context of each request, as traces do.
type marking struct{ unobserved }

type traceMarkKey struct{}

func (marking) Begin(ctx context.Context, _, _, _ string) context.Context {
	return context.WithValue(ctx, traceMarkKey{}, true)
}

// markedLog says of each line whether its context was that of a request.
type markedLog struct{ slog.Handler }

func (h markedLog) Handle(ctx context.Context, r slog.Record) error {
	r.AddAttrs(slog.Bool("marked", ctx.Value(traceMarkKey{}) != nil))
	return h.Handler.Handle(ctx, r)
}

// Whoever has the number that a page shows finds the trace beside it.
func TestLinesAboutARequestCarryItsTrace(t *testing.T) {
	book := &logBook{}
	log := slog.New(markedLog{slog.NewTextHandler(book, &slog.HandlerOptions{Level: slog.LevelDebug})})
	w := rtWorld(t, log)
	broken := &brokenStore{Store: w}
	s := newSite(t, Config{Store: broken, Auth: accounts(t), Log: log, Intake: automation.Intake{Store: w}, Observer: marking{}})
	b := s.signIn("admin")
	form := b.get("/").form("/logout")
	form.Set(csrfField, "wrong")
	b.post("/logout", form)
	broken.panic = "it broke"
	b.get("/systems")
	b.get("/export.csv")
	broken.panic, broken.err = "", http.ErrBodyNotAllowed
	b.get("/systems")

	for _, must := range []string{"a page broke off", "a request failed", "a form was refused", "a request was answered"} {
		found := false
		for _, line := range strings.Split(book.String(), "\n") {
			if !strings.Contains(line, `msg="`+must+`"`) {
				continue
			}
			if found = true; !strings.Contains(line, "marked=true") {
				t.Errorf("no trace: %s", line)
			}
		}
		if !found {
			t.Errorf("the log does not tell that %s", must)
		}
	}
}

// From the page of an attempt to its trace, if there are traces. A late answer belongs to the call that had been given up;
// what a report held was no call of ours.
func TestAnAttemptLeadsToItsTrace(t *testing.T) {
	recorded := time.Date(2026, 11, 30, 10, 0, 0, 0, time.UTC)
	detail := func(a work.Attempt) (d review.AttemptDetail) {
		d.Attempt, d.Item.ID, d.Item.RecordedAt = a, 7, recorded
		return d
	}
	send := work.Attempt{Kind: work.Send, Number: 4, Node: "one"}
	none, s := &server{}, &server{Config: Config{TraceOf: func(item int64, at time.Time, number int) string { return fmt.Sprint(item, at.Equal(recorded), number) }}}
	if f := none.traceFact(detail(send)); len(f) > 0 {
		t.Errorf("a trace where there are none: %v", f)
	}
	for _, c := range []struct {
		name string
		a    work.Attempt
		want string
	}{
		{"a send", send, "7 true 4"},
		{"a late answer", work.Attempt{Kind: work.Send, Number: 5, LateFor: 2}, "7 true 2"},
		{"of a report", work.Attempt{Kind: work.Find, Number: 6, AskedBy: "person:7 Ada"}, ""},
	} {
		got := ""
		for _, f := range s.traceFact(detail(c.a)) {
			if got = f.Value; f.Name != templates.Attempts.Fact["trace"] || f.Name == "" {
				t.Errorf("%s: named %q", c.name, f.Name)
			}
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestThePageOfAnAttemptShowsItsTrace(t *testing.T) {
	w := newWorld(t)
	s := newSite(t, Config{Store: w.Store, TraceOf: func(int64, time.Time, int) string { return "0123456789abcdef" }})
	id := w.One("INV-1")
	w.Send(id, work.Answer{Outcome: work.Rejected})
	if page := s.signIn("vera").get(fmt.Sprintf("/attempts/%d/1", id)); !strings.Contains(page.visible(), "0123456789abcdef") {
		t.Error("nobody gets from the attempt to its trace")
	}
}
