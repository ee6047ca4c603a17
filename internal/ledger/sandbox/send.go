package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"onefold/internal/ledger"
	"onefold/internal/work"
)

// Send implements ledger.System. Creating carries a JSON body; posting has an empty one. The key travels with both,
// whether the books honour it or not.
func (c *Client) Send(ctx context.Context, req ledger.Request) work.Answer {
	call := ledger.Call{Method: http.MethodPost, Header: http.Header{}}
	if req.Key != "" {
		call.Header.Set("Idempotency-Key", req.Key)
	}
	switch {
	case req.Step == StepCreate:
		total := req.Invoice.Total.Round()
		body, err := json.Marshal(newInvoice{Reference: req.Reference, CustomerID: req.Invoice.CustomerID, CustomerName: req.Invoice.CustomerName,
			Total: total.Number(), Currency: total.CurrencyCode(), IssueDate: req.Invoice.IssueDate, DueDate: req.Invoice.DueDate,
			Lines: req.Invoice.Lines, Note: req.Invoice.Note, Post: c.cfg.SingleStep})
		if err != nil {
			return notSent("the invoice could not be written down, nothing was sent")
		}
		call.Path = "/api/invoices"
		call.Body = body
		call.Header.Set("Content-Type", "application/json")
	case req.Step == StepPost && ledger.UsableID(req.PreviousRecordID) && !c.cfg.SingleStep:
		call.Path = "/api/invoices/" + url.PathEscape(req.PreviousRecordID) + "/post"
	case req.Step == StepPost:
		return notSent("the record to be posted is not known, nothing was sent")
	default:
		return notSent("the sandbox has no step " + req.Step + ", nothing was sent")
	}
	reply := c.http.Write(ctx, call, req.SendBy)
	reply.Exchange.Identity = reply.Header.Get(booksHeader)
	answer, done := reply.Write()
	if done {
		return answer
	}
	if reply.Status >= 400 {
		return refused(reply, answer)
	}
	record, err := invoiceOf(reply)
	switch {
	case errors.Is(err, ledger.ErrEmpty) && reply.Status == http.StatusCreated:
		answer.Positive = true
		answer.Exchange.Error = err.Error() + ", outcome unknown"
		return answer
	case reply.Status != http.StatusOK && reply.Status != http.StatusCreated:
		answer.Exchange.Error = "the accounting system answered in a way that we do not know, outcome unknown"
		return answer
	case err != nil:
		answer.Exchange.Error = err.Error() + ", outcome unknown"
		return answer
	case !ledger.UsableID(record.ID):
		answer.Positive = true
		answer.Exchange.Error = "the accounting system claimed success but gave no usable id, outcome unknown"
		return answer
	case req.Step == StepPost && record.ID != req.PreviousRecordID:
		answer.Exchange.Error = "the accounting system answered about another record, outcome unknown"
		return answer
	case req.Step == StepPost && record.State == work.StateDraft:
		answer.Exchange.Error = "the accounting system still shows a draft, outcome unknown"
		return answer
	}
	answer.Outcome = work.Accepted
	answer.Record = record
	return answer
}

// refused judges a 4xx. 400 and 422 are refusals whatever their body says; others only if the sandbox itself speaks.
func refused(reply ledger.Reply, a work.Answer) work.Answer {
	r, spoken := refusalOf(reply)
	switch {
	case r.Code == "duplicate" || r.Code == "already_posted":
		a.Outcome = work.AlreadyExists
		a.Record.ID = r.ID
		a.Exchange.Error = "the accounting system says that it already has it"
	case r.Code == "in_progress":
		a.Outcome = work.Deferred
		a.RetryAfter = reply.RetryAfter()
		a.Exchange.Error = "the accounting system is still working on an earlier request with this key"
	case reply.Status == http.StatusBadRequest, reply.Status == http.StatusUnprocessableEntity, spoken && reply.Status != http.StatusConflict:
		a.Outcome = work.Rejected
		a.Final = r.Final || r.Code == "key_reused"
		a.Exchange.Error = "refused: " + reason(r)
	default:
		a.Exchange.Error = "the accounting system answered in a way that we do not know, outcome unknown"
	}
	return a
}

func reason(r refusal) string {
	if strings.TrimSpace(r.Reason) == "" {
		return "no reason given"
	}
	return ledger.Short(r.Reason, ledger.MaxSentence-20)
}

func notSent(sentence string) work.Answer {
	return work.Answer{Outcome: work.NotSent, Final: true, Exchange: work.Exchange{Error: sentence}}
}
