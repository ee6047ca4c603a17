package tryton

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"

	"onefold/internal/ledger"
	"onefold/internal/work"
)

// Send implements ledger.System. Before its one write it only reads; after a write that was accepted it reads the invoice
// once more, since Tryton's answer tells no total and no number. No idempotency key is sent: Tryton ignores it.
func (c *Client) Send(ctx context.Context, req ledger.Request) work.Answer {
	if req.SendBy.Passed(c.now()) {
		return notSent("not sent in time")
	}
	identity, f, ok := c.books(ctx)
	if !ok {
		return unasked(f)
	}
	var a work.Answer
	switch {
	case req.Step == StepCreate:
		a = c.create(ctx, req)
	case req.Step == StepPost && !c.draftsOnly:
		a = c.post(ctx, req)
	default:
		a = notSent("Tryton has no step " + req.Step)
	}
	a.Exchange.Identity = identity
	return a
}

func (c *Client) create(ctx context.Context, req ledger.Request) work.Answer {
	draft, a, ok := c.draft(ctx, req)
	if !ok {
		return a
	}
	result, a, ok := c.write(ctx, req.SendBy, "model.account.invoice.create", []any{draft}, c.context())
	if !ok {
		return a
	}
	var ids []id
	switch {
	case json.Unmarshal(result, &ids) != nil || len(ids) > 1:
		a.Exchange.Error = "the accounting system answered in a way that we do not know, outcome unknown"
		return a
	case len(ids) == 0 || ids[0] == 0:
		a.Positive = true
		a.Exchange.Error = "the accounting system claimed success but gave no usable id, outcome unknown"
		return a
	}
	a.Outcome = work.Accepted
	a.Record = work.Record{ID: ids[0].text()}
	if rows, _, ok := c.invoices(ctx, []any{"id", "=", ids[0]}); ok && len(rows) == 1 && rows[0].ID == ids[0] {
		a.Record = rows[0].record()
	}
	return a
}

// post issues the draft. Tryton posts a posted invoice again without any effect, and passes over one that cannot be posted
// (cancelled) without an error: only the invoice itself tells whether it was done.
func (c *Client) post(ctx context.Context, req ledger.Request) work.Answer {
	previous, err := strconv.ParseInt(req.PreviousRecordID, 10, 64)
	if err != nil || previous <= 0 {
		return notSent("the draft to be posted is not known")
	}
	rows, f, ok := c.invoices(ctx, []any{"id", "=", previous})
	switch {
	case !ok:
		return unasked(f)
	case len(rows) != 1 || rows[0].ID != id(previous):
		return notSent("the draft to be posted is not in Tryton")
	case rows[0].Reference != req.Reference: // after a restored backup an id may be somebody else's
		return notSent("invoice " + req.PreviousRecordID + " in Tryton does not carry our reference")
	}
	result, a, ok := c.write(ctx, req.SendBy, "model.account.invoice.post", []int64{previous}, c.context())
	switch {
	case !ok:
		return a
	case string(result) != "null":
		a.Exchange.Error = "the accounting system answered in a way that we do not know, outcome unknown"
		return a
	}
	rows, _, ok = c.invoices(ctx, []any{"id", "=", previous})
	switch {
	case !ok:
		a.Exchange.Error = "Tryton says it is posted, but could not be asked once more, outcome unknown"
		return a
	case len(rows) != 1 || rows[0].ID != id(previous) || rows[0].record().State != work.StatePosted:
		a.Exchange.Error = "Tryton says it is posted, but does not show it so, outcome unknown"
		return a
	}
	a.Outcome = work.Accepted
	a.Record = rows[0].record()
	return a
}

// write makes the one writing request. If ok is false, the answer is complete; else it is Unknown and the result must be
// read.
func (c *Client) write(ctx context.Context, sendBy ledger.Deadline, method string, params ...any) (json.RawMessage, work.Answer, bool) {
	reply := c.writes.Write(ctx, rpc(c.path, method, params...), sendBy)
	a, over := reply.Write()
	if over {
		return nil, a, false
	}
	result, err := resultOf(reply)
	var told *failure
	switch {
	case reply.Status == http.StatusBadRequest: // refused before it was understood
		a.Outcome = work.Rejected
		a.Exchange.Error = "refused: no reason given"
	case reply.Status != http.StatusOK:
		a.Exchange.Error = "the accounting system answered in a way that we do not know, outcome unknown"
	case errors.As(err, &told) && told.kind == "LoginException":
		a.Outcome, a.Login = work.Deferred, true
		a.Exchange.Error = "Tryton wants more than a password to log in: " + told.Error()
	case told != nil && told.refused():
		a.Outcome = work.Rejected
		a.Exchange.Error = "refused: " + told.Error()
	case told != nil:
		a.Exchange.Error = "Tryton reported an internal error: " + told.Error() + ", outcome unknown"
	case err != nil:
		a.Exchange.Error = err.Error() + ", outcome unknown"
	default:
		return result, a, true
	}
	return nil, a, false
}

// Remove implements ledger.Remover: a draft is deleted. A posted invoice has a number and cannot be.
func (c *Client) Remove(ctx context.Context, recordID string) error {
	n, err := strconv.ParseInt(recordID, 10, 64)
	if err != nil || n <= 0 {
		return errors.New("the invoice is not known in Tryton")
	}
	_, a, ok := c.write(ctx, ledger.Deadline{}, "model.account.invoice.delete", []int64{n}, c.context())
	if !ok {
		return errors.New("invoice " + recordID + " stays in Tryton: " + a.Exchange.Error)
	}
	return nil
}
