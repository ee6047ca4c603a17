package xero

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode"

	"onefold/internal/ledger"
	"onefold/internal/work"
)

// Send implements ledger.System with a PUT, which only creates: a POST with a number that exists would change that invoice.
func (c *Client) Send(ctx context.Context, req ledger.Request) work.Answer {
	if req.Step != StepCreate {
		return notSent("Xero has no step " + req.Step + ", nothing was sent")
	}
	if !searchable(req.Reference) {
		return notSent("the reference is empty, too long, or holds a comma or a quote, which Xero cannot be searched for, nothing was sent")
	}
	body, err := c.set.body(req)
	if err != nil {
		return notSent(ledger.Short(err.Error(), ledger.MaxSentence-20) + ", nothing was sent")
	}
	by, err := c.login.get(ctx)
	if err != nil {
		return c.login.Refused(err)
	}
	call := ledger.Call{Method: http.MethodPut, Path: invoicesPath, Header: by.header(), Body: body,
		Query: url.Values{"summarizeErrors": {"true"}, "unitdp": {"4"}}}
	call.Header.Set("Content-Type", "application/json")
	if req.Key != "" {
		call.Header.Set("Idempotency-Key", req.Key)
	}
	reply := c.api.Write(ctx, call, req.SendBy)
	reply.Exchange.Identity = by.tenant
	a, done := reply.Write()
	switch reply.Status {
	case http.StatusUnauthorized:
		c.login.Forget(by.token)
	case http.StatusTooManyRequests:
		a.RetryAfter = rateWait(reply)
	}
	if done {
		return a
	}
	if reply.Status >= 400 {
		return refused(reply, a)
	}
	return c.made(req, reply, a)
}

// made judges a 2xx: Xero answers 200, also for what it refused.
func (c *Client) made(req ledger.Request, reply ledger.Reply, a work.Answer) work.Answer {
	unknown := func(sentence string, positive bool) work.Answer {
		a.Positive = positive
		a.Exchange.Error = sentence + ", outcome unknown"
		return a
	}
	var said answer
	if err := reply.Object(&said); err != nil {
		return unknown(err.Error(), false)
	}
	if reply.Status != http.StatusOK || said.Invoices == nil || len(*said.Invoices) != 1 {
		return unknown("the accounting system answered in a way that we do not know", false)
	}
	v := (*said.Invoices)[0]
	record := v.record(c.set.byNumber, req.Invoice.CustomerID)
	switch {
	case v.failed() && ledger.UsableID(record.ID):
		return unknown("Xero names an invoice and errors with it ("+reasonOf(said.reasons())+")", true)
	case v.failed():
		return judged(said.reasons(), a)
	case !ledger.UsableID(record.ID):
		return unknown("the accounting system claimed success but gave no usable id", true)
	case v.Type != "" && v.Type != salesInvoice:
		return unknown("Xero made something else than a sales invoice", true)
	case c.set.approved && record.State == work.StateDraft:
		return unknown("Xero made a draft only", true)
	}
	a.Outcome = work.Accepted
	a.Record = record
	return a
}

const forbidden = "Xero refuses our login this organisation (403): "

// refused judges a 4xx. Nothing has happened if Xero itself speaks; 400 is a refusal whatever its body says.
func refused(reply ledger.Reply, a work.Answer) work.Answer {
	var said answer
	readable := reply.Object(&said) == nil
	switch {
	case reply.Status == http.StatusBadRequest && !readable:
		return judged(withoutForm(reply.Body), a)
	case reply.Status == http.StatusBadRequest:
		return judged(said.reasons(), a)
	case reply.Status == http.StatusForbidden && readable && said.spoken():
		a.Outcome = work.Deferred
		a.Login = true
		a.Exchange.Error = forbidden + reasonOf(said.reasons())
	case readable && said.spoken():
		return judged(said.reasons(), a)
	default:
		a.Exchange.Error = "the accounting system answered in a way that we do not know, outcome unknown"
	}
	return a
}

// judged tells a refusal from the report that it is there already, which is never a refusal.
func judged(reasons []string, a work.Answer) work.Answer {
	switch {
	case duplicate(reasons):
		a.Outcome = work.AlreadyExists
		a.Exchange.Error = "Xero says that an invoice with this number exists"
	case keyReused(reasons):
		a.Outcome = work.AlreadyExists
		a.Exchange.Error = "Xero says that another request was made under the same key in the last six minutes"
	default:
		a.Outcome = work.Rejected
		a.Exchange.Error = "refused: " + reasonOf(reasons)
	}
	return a
}

// withoutForm looks into a body that is no JSON only for what must not be missed; it is no reason to show.
func withoutForm(body []byte) []string {
	if text := []string{string(body)}; duplicate(text) || keyReused(text) {
		return text
	}
	return nil
}

// rateWait is the wait asked for. Xero names it for the minute's and the day's limit only (its guide to limits).
func rateWait(reply ledger.Reply) time.Duration {
	wait := reply.RetryAfter()
	problem := strings.ToLower(reply.Header.Get("X-Rate-Limit-Problem"))
	switch {
	case wait > 0:
	case strings.Contains(problem, "day"):
		wait = time.Hour
	case strings.Contains(problem, "minute"):
		wait = time.Minute
	case strings.Contains(problem, "concurrent"):
		wait = ledger.ShortWait
	}
	return wait
}

// searchable reports whether the reference means itself in both forms of the search: in the list of numbers a comma
// separates, in a filter a quote ends the text.
func searchable(reference string) bool {
	return strings.TrimSpace(reference) != "" && len([]rune(reference)) <= maxReference &&
		!strings.ContainsAny(reference, `,"\`) && !strings.ContainsFunc(reference, unicode.IsControl)
}

func notSent(sentence string) work.Answer {
	return work.Answer{Outcome: work.NotSent, Final: true, Exchange: work.Exchange{Error: sentence}}
}
