package rest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"onefold/internal/ledger"
	"onefold/internal/work"
)

// Send implements ledger.System: one request of the definition, judged by what the definition says of the answer. What
// the definition cannot say: that a 5xx, a web page or an unreadable answer is anything but unknown, and that an answer
// without 2xx is accepted.
func (s *Client) Send(ctx context.Context, req ledger.Request) work.Answer {
	step, ok := s.def.step(req.Step)
	later := ok && step.later
	switch {
	case !ok:
		return notSent("the definition has no step "+req.Step, true)
	case later && !ledger.UsableID(req.PreviousRecordID):
		return notSent("the record of the step before is not known", true)
	}
	d := s.about.with(map[string]any{"invoice": asked(req.Invoice, req.Reference), "reference": req.Reference, "key": req.Key, "previous": req.PreviousRecordID})
	call, err := step.request.call(d)
	if err != nil {
		var own *said
		if errors.As(err, &own) {
			return notSent(own.text, true)
		}
		return notSent("the request could not be made"+pointed(err), false)
	}
	access, err := s.authorize(ctx, &call)
	if err != nil {
		return s.login.Refused(err)
	}
	reply := s.http.Write(ctx, call, req.SendBy)
	reply.Exchange = hide(reply.Exchange, access)
	s.refused(reply, access)
	a, done := reply.Write()
	if s.def.identity.told == nil && reply.Status != 0 {
		a.Exchange.Identity, _ = s.identityOf(d)
	}
	if done {
		return a
	}
	d, err = answered(reply, step.answer.shape, d)
	if err != nil {
		a.Positive = errors.Is(err, ledger.ErrEmpty) && reply.Status == http.StatusCreated
		return unclear(a, err.Error())
	}
	identity, told := s.identityOf(d)
	a.Exchange.Identity = identity
	a = s.judge(step, reply, d, a, req.PreviousRecordID)
	if a.Outcome == work.Accepted && told != nil {
		return unclear(a, "the answer does not tell whose books it comes from"+pointed(told))
	}
	return a
}

// verdict is one condition of a definition.
type verdict struct {
	by   *expression
	name string
}

// judge asks all conditions. One must hold, and only one.
func (s *Client) judge(step step, reply ledger.Reply, d document, a work.Answer, previous string) work.Answer {
	w := step.answer
	var holds []string
	for _, v := range []verdict{{w.accepted, "accepted"}, {w.rejected, "rejected"}, {w.duplicate, "duplicate"}, {w.inProgress, "in_progress"}, {w.wait, "wait"}, {w.login, "login"}} {
		if v.by == nil {
			continue
		}
		yes, err := v.by.truth(d)
		if err != nil {
			return unclear(a, "the answer could not be judged"+pointed(err))
		}
		if yes {
			holds = append(holds, v.name)
		}
	}
	switch {
	case len(holds) == 0:
		return unclear(a, "the accounting system answered in a way that its definition does not know")
	case len(holds) > 1:
		return unclear(a, fmt.Sprintf("the definition (line %d) says of one answer that it is %s", w.line, strings.Join(holds, " and ")))
	}
	switch holds[0] {
	case "accepted":
		return s.accepted(step, reply, d, a, previous)
	case "rejected":
		return s.rejected(w, reply, d, a)
	case "duplicate":
		a.Outcome = work.AlreadyExists
		a.Exchange.Error = "the accounting system says that it already has it"
	case "in_progress":
		a.Outcome, a.RetryAfter = work.Deferred, waits(w, reply, d)
		a.Exchange.Error = "the accounting system is still working on an earlier request with this key"
	case "wait":
		a.Outcome, a.RetryAfter = work.Deferred, waits(w, reply, d)
		a.Exchange.Error = "the accounting system asks us to wait"
	case "login":
		a.Outcome, a.Login = work.Deferred, true
		a.Exchange.Error = "the accounting system refused our login"
	}
	return a
}

func (s *Client) accepted(step step, reply ledger.Reply, d document, a work.Answer, previous string) work.Answer {
	w := step.answer
	if reply.Status >= 300 {
		return unclear(a, fmt.Sprintf("the definition takes an answer with status %d for accepted", reply.Status))
	}
	if w.record == nil { // a later step that says only that it was done
		a.Outcome, a.Record = work.Accepted, work.Record{ID: previous}
		return a
	}
	a.Positive = true // it claims success
	raw, err := w.record.value(d)
	if err != nil {
		return unclear(a, "the record in the answer could not be read"+pointed(err))
	}
	r, err := s.def.record.of(d.of(raw))
	switch {
	case !ledger.UsableID(r.ID):
		return unclear(a, "the accounting system claimed success but gave no usable id")
	case err != nil:
		return unclear(a, "the record in the answer could not be read"+pointed(err))
	case step.later && r.ID != previous:
		a.Positive = false
		return unclear(a, "the accounting system answered about another record")
	}
	if done, err := s.finished(step, d.of(raw)); err != nil || !done {
		return unclear(a, "the record in the answer is not as this step should leave it"+pointed(err))
	}
	a.Positive, a.Outcome, a.Record = false, work.Accepted, r
	return a
}

// finished reports whether the step's effect is on the record. A draft that is asked for has none.
func (s *Client) finished(step step, record document) (bool, error) {
	if step.done == nil || s.drafts {
		return true, nil
	}
	return step.done.truth(record)
}

func (s *Client) rejected(w answer, reply ledger.Reply, d document, a work.Answer) work.Answer {
	if reply.Status < 300 && w.record != nil { // a definition in error must not call a new record a refusal
		if raw, err := w.record.value(d); err == nil {
			if r, _ := s.def.record.of(d.of(raw)); ledger.UsableID(r.ID) {
				return unclear(a, "the definition takes an answer with a record in it for a refusal")
			}
		}
	}
	reason := ""
	if w.reason != nil {
		if v, err := w.reason.value(d); err == nil && v != nil {
			reason, _ = w.reason.written(v)
		}
	}
	if reason = ledger.Short(strings.NewReplacer("<", "‹", ">", "›").Replace(reason), ledger.MaxSentence-20); strings.TrimSpace(reason) == "" {
		reason = "no reason given"
	}
	a.Outcome = work.Rejected
	if w.final != nil {
		a.Final, _ = w.final.truth(d) // not said for sure: it may be tried again
	}
	a.Exchange.Error = "refused: " + reason
	return a
}

// waits is the wait that the answer asks for: by the definition, or by its Retry-After; 0: not said.
func waits(w answer, reply ledger.Reply, d document) time.Duration {
	if w.waitSeconds != nil {
		if v, err := w.waitSeconds.value(d); err == nil {
			if n, ok := decimal(v); ok {
				if seconds, err := strconv.ParseFloat(n, 64); err == nil && seconds > 0 {
					return time.Duration(math.Ceil(min(seconds, ledger.LongestWait.Seconds()))) * time.Second
				}
			}
		}
	}
	return reply.RetryAfter()
}

func unclear(a work.Answer, why string) work.Answer {
	a.Outcome = work.Unknown
	a.Record = work.Record{}
	a.Exchange.Error = why + ", outcome unknown"
	return a
}

func notSent(why string, final bool) work.Answer {
	return work.Answer{Outcome: work.NotSent, Final: final, Exchange: work.Exchange{Error: why + ", nothing was sent"}}
}
