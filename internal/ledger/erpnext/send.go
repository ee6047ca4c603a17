package erpnext

import (
	"context"
	"net/http"

	"onefold/internal/ledger"
	"onefold/internal/work"
)

// Send implements ledger.System. Submitting sets docstatus from 0 to 1, which Frappe carries out as its submit action; a
// repeat finds 1 and changes nothing.
func (c *Client) Send(ctx context.Context, req ledger.Request) work.Answer {
	var write ledger.Call
	switch {
	case req.Step == StepCreate:
		doc, err := c.sales(req)
		if err != nil {
			return notSent(ledger.Short(err.Error()+". Nothing was sent", ledger.MaxSentence))
		}
		write = call(http.MethodPost, documents, doc)
	case req.Step == StepSubmit && ledger.UsableID(req.PreviousRecordID) && len(c.Steps()) > 1:
		write = call(http.MethodPut, document(req.PreviousRecordID), map[string]any{"docstatus": 1})
	case req.Step == StepSubmit:
		return notSent("the draft to be submitted is not known, nothing was sent")
	default:
		return notSent("ERPNext has no step " + ledger.Short(req.Step, 40) + ", nothing was sent")
	}
	reply := c.http.Write(ctx, write, req.SendBy)
	a, done := reply.Write()
	if f := faultOf(reply); f != nil && reply.Status != http.StatusTooManyRequests {
		return refused(a, f, reply.Status, req.Step)
	}
	if done {
		return a
	}
	doc, err := one(reply)
	switch {
	case err != nil:
		return unread(a, err.Error())
	case reply.Status != http.StatusOK && reply.Status != http.StatusCreated:
		return unread(a, "the accounting system answered in a way that we do not know")
	}
	a.Exchange.Identity = c.identity(doc.text("company"))
	r := c.record(doc)
	switch {
	case !ledger.UsableID(r.ID):
		a.Positive = true
		return unread(a, "the accounting system claimed success but gave no usable id")
	case req.Step == StepSubmit && r.ID != req.PreviousRecordID:
		return unread(a, "the accounting system answered about another record")
	case (req.Step == StepSubmit || c.atOnce && !c.drafts) && r.State == work.StateDraft:
		return unread(a, "the accounting system still shows a draft")
	}
	if r.Reference == "" { // Frappe drops fields that it does not know without a word
		r.Reference = "not kept"
	}
	a.Outcome, a.Record = work.Accepted, r
	return a
}

// rolledBack are the exceptions with status 500 that the database raises inside the transaction. What follows the commit
// there (jobs are handed to the queue, before version 15 within the same handler) may fail with any other.
var rolledBack = map[string]bool{"QueryDeadlockError": true, "QueryTimeoutError": true}

// notBegun are raised before the request's method runs, or instead of its writes.
var notBegun = map[string]bool{"SessionStopped": true, "InReadOnlyMode": true}

// logins are refusals of the key.
var logins = map[string]bool{"AuthenticationError": true, "InvalidAuthorizationHeader": true, "InvalidAuthorizationPrefix": true, "InvalidAuthorizationToken": true}

// refused judges an exception. Frappe rolls the request's transaction back when it answers with one.
func refused(a work.Answer, f *fault, status int, step string) work.Answer {
	switch {
	case f.Type == "UniqueValidationError" || f.Type == "DuplicateEntryError":
		a.Outcome = work.AlreadyExists
		a.Exchange.Error = "the accounting system says that it already has it: " + f.reason()
	case logins[f.Type]:
		a.Outcome, a.Login = work.Deferred, true
		a.Exchange.Error = "the accounting system refused our login"
	case notBegun[f.Type]:
		a.Outcome = work.Deferred
		a.Exchange.Error = "the accounting system is in maintenance, nothing was carried out"
	case status < 500 || rolledBack[f.Type]:
		a.Outcome, a.Unreached, a.RetryAfter = work.Rejected, false, 0
		// Ever the same request, and names are not used again.
		a.Final = f.Type == "CharacterLengthExceededError" || f.Type == "DoesNotExistError" && step == StepSubmit
		a.Exchange.Error = "refused: " + f.reason()
	default:
		a.Exchange.Error = ledger.Short(a.Exchange.Error+": "+f.reason(), ledger.MaxSentence)
	}
	return a
}

func unread(a work.Answer, what string) work.Answer {
	a.Exchange.Error = what + ", outcome unknown"
	return a
}

func notSent(sentence string) work.Answer {
	return work.Answer{Outcome: work.NotSent, Final: true, Exchange: work.Exchange{Error: sentence}}
}
