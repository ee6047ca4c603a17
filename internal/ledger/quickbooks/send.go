package quickbooks

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"time"

	"onefold/internal/ledger"
	"onefold/internal/work"
)

// throttled is how long to wait after a 429 (vendor: limits and throttles).
const throttled = time.Minute

// Send implements ledger.System. The login is renewed before the write if it must be.
func (s *System) Send(ctx context.Context, req ledger.Request) work.Answer {
	if req.Step != StepCreate {
		return s.notSent("QuickBooks has no step " + req.Step + ", nothing was sent")
	}
	invoice, why := s.invoice(req)
	if why != "" {
		return s.notSent(why + ", nothing was sent")
	}
	body, err := json.Marshal(invoice)
	if err != nil {
		return s.notSent("the invoice could not be written down, nothing was sent")
	}
	access, err := s.access(ctx)
	if err != nil {
		answer := s.login.Refused(err)
		answer.Exchange.Identity = s.company
		return answer
	}
	query := url.Values{}
	if req.Key != "" {
		query.Set("requestid", req.Key)
	}
	call := s.call(http.MethodPost, "/invoice", access, query)
	call.Body = body
	call.Header.Set("Content-Type", "application/json")
	reply := s.http.Write(ctx, call, req.SendBy)
	reply.Exchange.Identity = s.company
	if reply.Status == http.StatusUnauthorized {
		s.login.Forget(access)
	}
	answer, done := reply.Write()
	if done {
		if answer.Outcome == work.Deferred && !answer.Login && answer.RetryAfter == 0 {
			answer.RetryAfter = throttled
		}
		return answer
	}
	return s.read(reply, answer, req.Invoice.Total.CurrencyCode())
}

// read judges a 2xx or 4xx.
func (s *System) read(reply ledger.Reply, a work.Answer, currency string) work.Answer {
	var said response
	err := reply.Object(&said)
	fault, spoken := said.fault(reply)
	switch {
	case reply.Status >= 400, spoken && said.Invoice == nil: // the vendor says that a 200 may hold a fault
		return refused(reply, fault, spoken, a)
	case spoken:
		a.Exchange.Error = "the accounting system answered with an invoice and an error, outcome unknown"
		return a
	case err != nil:
		a.Exchange.Error = err.Error() + ", outcome unknown"
		return a
	case reply.Status != http.StatusOK && reply.Status != http.StatusCreated || said.Invoice == nil:
		a.Exchange.Error = "the accounting system answered in a way that we do not know, outcome unknown"
		return a
	}
	record := s.record(*said.Invoice, currency)
	if !ledger.UsableID(record.ID) {
		a.Positive = true
		a.Exchange.Error = "the accounting system claimed success but gave no usable id, outcome unknown"
		return a
	}
	a.Outcome = work.Accepted
	a.Record = record
	return a
}

// refused judges a fault, or a 4xx without one. A validation fault is a refusal, and so is a 400 whatever its body says;
// the vendor's system faults are not.
func refused(reply ledger.Reply, f fault, spoken bool, a work.Answer) work.Answer {
	switch {
	case spoken && (f.has(codesThere) || f.duplicate()):
		a.Outcome = work.AlreadyExists
		a.Exchange.Error = "the accounting system says that it already has it: " + f.reason()
	case spoken && f.has(codesWait):
		a.Outcome = work.Deferred
		if a.RetryAfter = reply.RetryAfter(); a.RetryAfter == 0 {
			a.RetryAfter = throttled
		}
		a.Exchange.Error = "the accounting system asks us to wait"
	case spoken && f.has(codesLogin):
		a.Outcome = work.Deferred
		a.Login = true
		a.Exchange.Error = "the accounting system refused our login: " + f.reason()
	case spoken && !f.validation():
		a.Exchange.Error = "the accounting system reported an internal error, outcome unknown"
	case spoken || reply.Status == http.StatusBadRequest:
		a.Outcome = work.Rejected
		a.Final = f.has(codesFinal)
		a.Exchange.Error = "refused: " + f.reason()
	default:
		a.Exchange.Error = "the accounting system answered in a way that we do not know, outcome unknown"
	}
	return a
}

func (s *System) notSent(sentence string) work.Answer {
	return work.Answer{Outcome: work.NotSent, Final: true, Exchange: work.Exchange{Identity: s.company, Error: sentence}}
}
