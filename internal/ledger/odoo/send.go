package odoo

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"

	"onefold/internal/ledger"
	"onefold/internal/work"
)

// Send implements ledger.System. What a write needs to name (the user's id, the currency's id) is read before, if it was
// not read yet; nothing is sent if that fails.
//
// The draft is made with web_save (from version 17 on, odoo addons/web/models), which creates the record and reads it back
// in one transaction, so that its total is compared before it is posted. Before, it is made with create, which answers with
// the id only; the draft is read before it is posted then, and not posted if it is not what was asked.
func (c *Client) Send(ctx context.Context, req ledger.Request) work.Answer {
	if req.SendBy.Passed(c.now()) {
		return work.Answer{Outcome: work.NotSent, Exchange: work.Exchange{Error: "not sent in time, nothing was sent"}}
	}
	switch {
	case req.Step == StepCreate:
		return c.create(ctx, req)
	case req.Step == StepPost && recordID(json.RawMessage(req.PreviousRecordID)) != "" && !c.drafts:
		return c.post(ctx, req)
	case req.Step == StepPost:
		return notSent("the draft to be posted is not known, nothing was sent")
	}
	return notSent("Odoo has no step " + ledger.Short(req.Step, 40) + ", nothing was sent")
}

func (c *Client) create(ctx context.Context, req ledger.Request) work.Answer {
	known, found, ok := c.known(ctx)
	if !ok {
		return notReady(found)
	}
	code := req.Invoice.Total.CurrencyCode()
	currencyID, ok := known.currencies[code]
	if !ok { // it may have been activated since
		if known, found, ok = c.learn(ctx); !ok {
			return notReady(found)
		}
		if currencyID, ok = known.currencies[code]; !ok {
			return work.Answer{Outcome: work.NotSent, Exchange: work.Exchange{
				Error: "the currency " + code + " is not active in Odoo: activate it in the accounting settings. Nothing was sent"}}
		}
	}
	vals, err := c.move(req, currencyID)
	if err != nil {
		return notSent(ledger.Short(err.Error()+". Nothing was sent", ledger.MaxSentence))
	}
	draft := ask{model: "account.move", method: "create", vals: vals}
	if !c.old {
		draft = ask{model: "account.move", method: "web_save", ids: []int{}, named: map[string]any{"vals": vals, "specification": rowSpecification}}
	}
	reply := c.http.Write(ctx, c.request(draft, known.user), req.SendBy)
	value, a, ok := c.answered(reply, known)
	if !ok {
		return a
	}
	if c.old {
		a.Record.ID = recordID(value)
		if a.Record.ID == "" && len(value) > 0 && value[0] == '[' {
			return unread(a, ledger.ErrList)
		}
		return accepted(a)
	}
	var rows []row
	switch err := json.Unmarshal(value, &rows); {
	case len(rows) > 1:
		return unread(a, ledger.ErrList)
	case err != nil:
		return unread(a, errUnknown)
	case len(rows) == 1:
		a.Record = c.record(rows[0])
		a.Exchange.Identity = c.identity(rows[0].Company)
	}
	return accepted(a)
}

// post issues the draft. action_post returns false; anything else, a dialogue for example, does not say that it is posted.
// The number comes with posting and is not in the answer.
func (c *Client) post(ctx context.Context, req ledger.Request) work.Answer {
	known := c.remembered()
	if c.rpc && known.user == 0 {
		var found ledger.Found
		var ok bool
		if known, found, ok = c.known(ctx); !ok {
			return notReady(found)
		}
	}
	draft, err := strconv.Atoi(req.PreviousRecordID)
	if err != nil {
		return notSent("the draft to be posted is not known, nothing was sent")
	}
	if c.old {
		if a, ok := c.differs(ctx, req, draft); !ok {
			return a
		}
	}
	reply := c.http.Write(ctx, c.request(ask{model: "account.move", method: "action_post", ids: []int{draft}}, known.user), req.SendBy)
	value, a, ok := c.answered(reply, known)
	switch {
	case !ok:
		return a
	case value[0] == '[':
		return unread(a, ledger.ErrList)
	case string(value) != "false" && string(value) != "true" && string(value) != "null":
		return unread(a, errUnknown)
	}
	a.Record = work.Record{ID: req.PreviousRecordID, URL: c.page(req.PreviousRecordID)}
	return accepted(a)
}

// differs reads the draft and compares it. What is not there or not a draft any more is left to the posting to say.
func (c *Client) differs(ctx context.Context, req ledger.Request, draft int) (work.Answer, bool) {
	rows, found, ok := c.search(ctx, []any{[]any{"id", "=", draft}})
	if !ok {
		return notReady(found), false
	}
	for _, v := range rows {
		r := c.record(v)
		if r.Reference = req.Reference; r.State != work.StateDraft { // people may have changed the reference by hand
			continue
		}
		if l := ledger.Judge(req.Invoice, req.Reference, ledger.Found{Searched: true, Records: []work.Record{r}}, c.caps); l.Finding != work.FoundMatching {
			return notSent(ledger.Short("the draft is not what was asked, it was not posted: "+l.Remark, ledger.MaxSentence)), false
		}
	}
	return work.Answer{}, true
}

// answered judges the reply to a write. Ok: the call was carried out and committed, value is what it returned, and the
// answer is to be completed.
func (c *Client) answered(reply ledger.Reply, known books) (value json.RawMessage, a work.Answer, ok bool) {
	reply.Exchange.Identity = known.identity
	a, done := reply.Write()
	value, f, err := c.result(reply)
	switch {
	case f != nil && reply.Status != http.StatusTooManyRequests && reply.Status != http.StatusUnauthorized:
		return nil, c.refused(a, f), false
	case done:
		return nil, a, false
	case err != nil:
		return nil, unread(a, err), false
	}
	return value, a, true
}

// refused judges an exception. The vendor documents that an error discards the transaction; of what is told apart below,
// the source shows that it is raised inside it.
func (c *Client) refused(a work.Answer, f *fault) work.Answer {
	switch {
	case f.login():
		c.forget()
		a.Outcome, a.Login = work.Deferred, true
		a.Exchange.Error = "the accounting system refused our login"
	case f.posted():
		a.Outcome = work.AlreadyExists
		a.Exchange.Error = "the accounting system says that it is no draft any more"
	case f.refused():
		a.Outcome, a.Final, a.Unreached, a.RetryAfter = work.Rejected, f.final(), false, 0
		a.Exchange.Error = "refused: " + f.reason()
	default:
		a.Exchange.Error = "the accounting system reported an internal error, outcome unknown: " + f.reason()
	}
	return a
}

func accepted(a work.Answer) work.Answer {
	if !ledger.UsableID(a.Record.ID) {
		a.Positive = true
		a.Exchange.Error = "the accounting system claimed success but gave no usable id, outcome unknown"
		return a
	}
	a.Outcome = work.Accepted
	return a
}

func unread(a work.Answer, err error) work.Answer {
	a.Exchange.Error = err.Error() + ", outcome unknown"
	return a
}

// notReady: what the write needs to name could not be read, so it was not made.
func notReady(f ledger.Found) work.Answer {
	a := work.Answer{Outcome: work.Deferred, Login: f.Login, RetryAfter: f.RetryAfter, Unreached: f.Unreached, Exchange: f.Exchange}
	if !f.Login && f.RetryAfter == 0 {
		a.Exchange.Error = "Odoo did not tell what is needed to write the invoice, nothing was sent"
	}
	return a
}

func notSent(sentence string) work.Answer {
	return work.Answer{Outcome: work.NotSent, Final: true, Exchange: work.Exchange{Error: sentence}}
}
