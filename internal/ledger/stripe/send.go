package stripe

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"onefold/internal/ledger"
	"onefold/internal/work"
)

// Send implements ledger.System.
func (c *Client) Send(ctx context.Context, req ledger.Request) work.Answer {
	call, err := c.callOf(req)
	if err != nil {
		return work.Answer{Outcome: work.NotSent, Final: true, Exchange: work.Exchange{Error: err.Error() + ", nothing was sent"}}
	}
	reply := c.http.Write(ctx, call, req.SendBy)
	reply.Exchange.Identity = c.identity()
	answer, done := reply.Write()
	switch {
	case done && reply.Status >= 500 && replayed(reply):
		// A saved error is repeated for as long as the key lives and hides what became of the request.
		answer.Exchange.Error += "; Stripe repeats this answer for a day"
		return answer
	case done:
		return answer
	case reply.Status >= 400:
		return refused(req.Step, reply, answer)
	}
	v, err := c.invoiceOf(reply)
	record := c.record(v)
	switch {
	case reply.Status != http.StatusOK:
		err = errors.New("the accounting system answered in a way that we do not know")
	case err != nil:
	case !ledger.UsableID(record.ID):
		answer.Positive = true
		err = errors.New("the accounting system claimed success but gave no usable id")
	case req.Step != StepCreate && record.ID != req.PreviousRecordID:
		err = errors.New("the accounting system answered about another record")
	case !v.done(req.Step):
		err = errors.New("the accounting system shows the invoice as it was before")
	}
	if err != nil {
		answer.Exchange.Error = err.Error() + ", outcome unknown"
		return answer
	}
	answer.Outcome, answer.Record = work.Accepted, record
	return answer
}

// refused judges a 4xx (low-level errors): 400, 402 and 404 were not carried out, 403 is about the key, 409 means that
// another request with the key is at work. Only Stripe's own word counts.
func refused(step string, reply ledger.Reply, a work.Answer) work.Answer {
	r, spoken := refusalOf(reply)
	inUse := r.Code == "idempotency_key_in_use"
	switch {
	case !spoken:
		a.Exchange.Error = "the accounting system answered in a way that we do not know, outcome unknown"
	case reply.Status == http.StatusConflict && (inUse || r.Type == "idempotency_error"):
		a.Outcome = work.Deferred
		a.RetryAfter = reply.RetryAfter()
		a.Exchange.Error = "the accounting system is still working on an earlier request with this key"
	case reply.Status == http.StatusForbidden:
		a.Outcome = work.Deferred
		a.Login = true
		a.Exchange.Error = "the key may not do this: " + r.reason()
	case step != StepCreate && already(r):
		a.Outcome = work.AlreadyExists
		a.Exchange.Error = "the accounting system says that the invoice is no draft any more"
	case slices.Contains([]int{http.StatusBadRequest, http.StatusPaymentRequired, http.StatusNotFound}, reply.Status) && !inUse:
		a.Outcome = work.Rejected
		a.Final = r.Type == "idempotency_error" || strings.HasPrefix(r.Code, "parameter_") || strings.HasPrefix(r.Code, "amount_too_") ||
			step != StepCreate && reply.Status == http.StatusNotFound // a deleted draft does not come back
		a.Exchange.Error = "refused: " + r.reason()
		if replayed(reply) {
			a.Exchange.Error += " (Stripe repeats this refusal for a day, also when its cause is gone)"
		}
	default:
		a.Exchange.Error = "the accounting system answered in a way that we do not know, outcome unknown"
	}
	return a
}

// already reports whether a later step met an invoice that is issued: perhaps by an earlier try.
func already(r refusal) bool {
	return r.Code == "invoice_not_editable" || strings.Contains(strings.ToLower(r.Message), "already finalized")
}

// Remove implements ledger.Remover: it deletes a draft and voids what was issued.
func (c *Client) Remove(ctx context.Context, recordID string) error {
	v, _, there, err := c.get(ctx, recordID)
	switch {
	case err != nil:
		return errors.New("the invoice " + recordID + " stays: " + err.Error())
	case !there || v.Deleted || v.Status == "void":
		return nil
	}
	call := ledger.Call{Method: http.MethodDelete, Path: "/v1/invoices/" + url.PathEscape(recordID)}
	if !v.draft() {
		call.Method, call.Path = http.MethodPost, call.Path+"/void"
	}
	reply := c.http.Write(ctx, call, ledger.Deadline{})
	if reply.Exchange.Error != "" {
		return errors.New("the invoice " + recordID + " may have stayed: " + reply.Exchange.Error)
	}
	if reply.Status != http.StatusOK {
		r, _ := refusalOf(reply)
		return errors.New("the invoice " + recordID + " stays: " + r.reason())
	}
	return nil
}
