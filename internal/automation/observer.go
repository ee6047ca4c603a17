package automation

import (
	"context"
	"log/slog"
	"time"

	"onefold/internal/work"
)

// Observer is told what the engine does, for metrics and traces. It is told of every call, so its methods must not wait and
// must not keep or change what they are given. It never decides anything.
type Observer interface {
	// Claimed tells that a claim in a system is over and so many calls begin; 0: nothing was due.
	Claimed(systemID string, calls int, took time.Duration, err error)
	// Begin tells that a call begins. The context that it returns is the call's.
	Begin(ctx context.Context, c Call) context.Context
	// End tells what the call brought back; it is not written yet.
	End(ctx context.Context, c Call, r Result)
	// Closed tells that it is written. Before is the item as it was claimed.
	Closed(before *work.Item, m *work.Move)
	// Late tells that an answer is written whose call had been given up.
	Late(m *work.Move)
	// Swept tells that a look for lost servers is over; n attempts were taken over.
	Swept(n int)
	// Woken tells that the engine heard of new work.
	Woken()
}

// Call is one call to an accounting system.
type Call struct {
	SystemID   string
	ItemID     int64
	RecordedAt time.Time // of the item
	Key        string    // the item's business key
	Step       string
	Number     int // of the attempt
	Kind       work.Kind
	Begun      time.Time // when the claim of it began; by this server's clock, as are the next two
	Claimed    time.Time // when the claim was written
}

// Result is what a call brought back, without the customer's data.
type Result struct {
	Outcome work.Outcome // of a send
	Finding work.Finding // of a lookup
	Status  int          // of HTTP; 0: no answer
	Took    time.Duration
}

// Word is the outcome or the finding.
func (r Result) Word() string {
	if r.Outcome != "" {
		return string(r.Outcome)
	}
	return string(r.Finding)
}

// unobserved is the Observer that does nothing.
type unobserved struct{}

func (unobserved) Claimed(string, int, time.Duration, error)         {}
func (unobserved) Begin(ctx context.Context, _ Call) context.Context { return ctx }
func (unobserved) End(context.Context, Call, Result)                 {}
func (unobserved) Closed(*work.Item, *work.Move)                     {}
func (unobserved) Late(*work.Move)                                   {}
func (unobserved) Swept(int)                                         {}
func (unobserved) Woken()                                            {}

func (t *task) call() Call {
	it := &t.picked.Item
	return Call{SystemID: it.SystemID, ItemID: it.ID, RecordedAt: it.RecordedAt, Key: it.BusinessKey, Step: it.Step, Number: it.OpenAttempt,
		Kind: it.OpenKind, Begun: t.begun, Claimed: t.claimed}
}

// tellEnd tells the observer and the log what a call brought back.
func (l *lane) tellEnd(ctx context.Context, t *task, ev work.Event, took time.Duration) {
	r := Result{Took: took}
	switch ev := ev.(type) {
	case work.SendClosed:
		r.Outcome, r.Status = ev.Answer.Outcome, ev.Answer.Exchange.HTTPStatus
	case work.FindClosed:
		r.Finding, r.Status = ev.Lookup.Finding, ev.Lookup.Exchange.HTTPStatus
	}
	c := t.call()
	l.Observer.End(ctx, c, r)
	if l.Log.Enabled(ctx, slog.LevelDebug) {
		l.Log.LogAttrs(ctx, slog.LevelDebug, "a call is over", slog.String("system", c.SystemID), slog.Int64("item", c.ItemID), slog.String("key", c.Key),
			slog.Int("attempt", c.Number), slog.String("kind", string(c.Kind)), slog.String("result", r.Word()), slog.Int("http_status", r.Status),
			slog.Float64("seconds", took.Seconds()))
	}
}

// tellClosed tells the observer which results are written.
func (l *lane) tellClosed(byItem map[int64]*closing, moves []work.Move) {
	for i := range moves {
		if c := byItem[moves[i].Item.ID]; c != nil {
			l.Observer.Closed(&c.task.picked.Item, &moves[i])
		}
	}
}
