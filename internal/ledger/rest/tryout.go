package rest

import (
	"context"
	"errors"
	"strings"

	"github.com/itchyny/gojq"

	"onefold/internal/ledger"
	"onefold/internal/work"
)

// Bounds of what a try-out shows.
const (
	mostCalls  = 20
	mostShown  = 60 // values of one call
	longestOne = 300
)

// watched is a try-out on its way.
type watched struct {
	out     ledger.TriedOut
	purpose string
	secrets []string
}

func (l *look) made(x work.Exchange) {
	if l.tried != nil && len(l.tried.out.Calls) < mostCalls {
		l.tried.out.Calls = append(l.tried.out.Calls, ledger.TriedCall{Purpose: l.tried.purpose, Request: l.tried.hide(x.Request), Response: l.tried.hide(x.Response)})
	}
}

// saw notes what an expression read from the newest answer.
func (l *look) saw(e *expression, v any, err error) {
	if l.tried == nil || e == nil || len(l.tried.out.Calls) == 0 {
		return
	}
	call := &l.tried.out.Calls[len(l.tried.out.Calls)-1]
	if len(call.Read) >= mostShown {
		return
	}
	one := ledger.TriedValue{Line: e.line, Part: e.part}
	if err != nil {
		one.Problem = l.tried.hide(ledger.Short(strings.ReplaceAll(err.Error(), "\n", ": "), longestOne))
	} else if text, err := gojq.Marshal(v); err == nil {
		one.Value = l.tried.hide(ledger.Short(string(text), longestOne))
	}
	call.Read = append(call.Read, one)
}

// sawRecord notes what the record's expressions read.
func (l *look) sawRecord(d document) {
	if l.tried == nil {
		return
	}
	r := l.def.record
	for _, e := range []*expression{r.id, r.number, r.reference, r.customer, r.total, r.currency, r.state, r.url} {
		if e != nil {
			v, err := e.value(d)
			l.saw(e, v, err)
		}
	}
}

// blames notes why a record could not be used.
func (l *look) blames(err error) {
	var at *wrong
	if errors.As(err, &at) {
		l.saw(&expression{line: at.line, part: at.part}, nil, errors.New(at.what))
	}
}

func (w *watched) hide(text string) string {
	for _, s := range w.secrets {
		if s != "" {
			text = strings.ReplaceAll(text, s, "[hidden]")
		}
	}
	return text
}

// Try reads whose books these are and looks for the reference. It only reads.
func Try(ctx context.Context, c ledger.Connection, reference string) (ledger.TriedOut, error) {
	sys, err := connect(c)
	if err != nil {
		return ledger.TriedOut{}, err
	}
	s := sys.(*Client)
	defer s.Close()
	l := &look{Client: s, tried: &watched{purpose: "identity", secrets: secretsOf(c)}}
	var early *stopped
	if err := l.whose(ctx); errors.As(err, &early) {
		l.tried.out.Problem = early.found.Exchange.Error
		return l.tried.out, nil
	}
	l.tried.out.Books = l.books
	if s.def.search == nil {
		return l.tried.out, nil
	}
	l.tried.purpose = "search"
	found := l.find(ctx, ledger.Query{Step: s.Steps()[0], Reference: reference})
	l.tried.out.Searched, l.tried.out.Records, l.tried.out.Problem = found.Searched, found.Records, found.Exchange.Error
	return l.tried.out, nil
}
