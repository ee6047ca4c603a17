package stripe

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"onefold/internal/ledger"
	"onefold/internal/work"
)

const (
	pageSize  = 50
	smallPage = 5 // where a page of the usual size is too large an answer
	mostPages = 2000
	// skew is how much Stripe's clock and the database's may differ; only the time of creation can narrow the list.
	skew = time.Hour
)

// Find implements ledger.System. The first step walks the list of invoices, newest first, and compares our reference
// itself: the list is exact, but cannot look for metadata; Stripe's search can, but may lag by an hour. A later step reads
// the one record that it is about. The list shows every state; deleted drafts are in no list.
func (c *Client) Find(ctx context.Context, q ledger.Query) ledger.Found {
	if q.Step != StepCreate {
		return c.findStep(ctx, q)
	}
	var found ledger.Found
	size, after := pageSize, ""
	for range mostPages {
		reply := c.http.Read(ctx, list(q, size, after))
		if reply.Cut && size > smallPage {
			size = smallPage
			continue
		}
		if r, spoken := refusalOf(reply); spoken && r.Code == "resource_missing" && after == "" && q.Customer != "" {
			q.Customer = "" // no such customer: look among all
			continue
		}
		page, f, ok := c.page(reply)
		found.Exchange = f.Exchange
		if !ok {
			f.Records = found.Records
			return f
		}
		for _, v := range page.Data {
			record := c.record(v)
			if err := c.checked(v); err != nil || !ledger.UsableID(record.ID) {
				return couldNot(found, "the list shows what is no invoice of these books")
			}
			after = record.ID
			// Altered on the way it is still ours; the comparison will tell.
			if work.FoldKey(record.Reference) == work.FoldKey(q.Reference) {
				found.Records = append(found.Records, record)
			}
		}
		if !*page.More {
			found.Searched = true
			return found
		}
		if len(page.Data) == 0 {
			break
		}
	}
	return couldNot(found, "the list of invoices does not come to an end")
}

func list(q ledger.Query, size int, after string) ledger.Call {
	params := url.Values{"limit": {strconv.Itoa(size)}}
	if q.Customer != "" {
		params.Set("customer", q.Customer)
	}
	if !q.Since.IsZero() {
		params.Set("created[gte]", strconv.FormatInt(q.Since.Add(-skew).Unix(), 10))
	}
	if after != "" {
		params.Set("starting_after", after)
	}
	return ledger.Call{Method: http.MethodGet, Path: "/v1/invoices", Query: params}
}

type page struct {
	Object string    `json:"object"`
	Data   []invoice `json:"data"`
	More   *bool     `json:"has_more"`
}

// page reads one page; ok is false if it is none.
func (c *Client) page(reply ledger.Reply) (p page, f ledger.Found, ok bool) {
	reply.Exchange.Identity = c.identity()
	f, done := reply.Read()
	if done {
		return p, f, false
	}
	if err := reply.Object(&p); err != nil {
		return p, couldNot(f, err.Error()), false
	}
	if reply.Status != http.StatusOK || p.Object != "list" || p.Data == nil || p.More == nil {
		return p, couldNot(f, said(reply, "the accounting system did not show its list")), false
	}
	return p, f, true
}

func said(reply ledger.Reply, otherwise string) string {
	if r, spoken := refusalOf(reply); spoken {
		return "the accounting system refused to look: " + r.reason()
	}
	return otherwise
}

func couldNot(f ledger.Found, why string) ledger.Found {
	f.Searched = false
	f.Exchange.Error = why + ", could not check"
	return f
}

// findStep reads the record of the step before. One that is gone was deleted: the key sees all of its account.
func (c *Client) findStep(ctx context.Context, q ledger.Query) ledger.Found {
	if !ledger.UsableID(q.PreviousRecordID) {
		return couldNot(ledger.Found{}, "the draft of this invoice is not known")
	}
	v, f, there, err := c.get(ctx, q.PreviousRecordID)
	if err != nil {
		return f
	}
	f.Searched = true
	switch {
	case !there:
		f.Records = []work.Record{{ID: q.PreviousRecordID, Reference: q.Reference, State: work.StateVoid}}
	case v.Deleted || v.done(q.Step):
		f.Records = []work.Record{c.record(v)}
	}
	return f
}

// get reads one invoice by its id. There is false if Stripe says that it does not exist. After an error f says why.
func (c *Client) get(ctx context.Context, id string) (v invoice, f ledger.Found, there bool, err error) {
	reply := c.http.Read(ctx, ledger.Call{Method: http.MethodGet, Path: "/v1/invoices/" + url.PathEscape(id)})
	reply.Exchange.Identity = c.identity()
	f, done := reply.Read()
	if done {
		return v, f, false, errors.New(f.Exchange.Error)
	}
	if r, spoken := refusalOf(reply); spoken && r.Code == "resource_missing" && reply.Status == http.StatusNotFound {
		return v, f, false, nil
	}
	v, err = c.invoiceOf(reply)
	switch {
	case reply.Status != http.StatusOK:
		err = errors.New(said(reply, "the accounting system did not show the invoice"))
	case err == nil && text(v.ID) != id:
		err = errors.New("the accounting system answered about another record")
	}
	if err != nil {
		return v, couldNot(f, err.Error()), false, err
	}
	return v, f, true, nil
}

// Identity implements ledger.System: the account's id, and the mode, which has books of its own.
func (c *Client) Identity(ctx context.Context) (string, error) {
	reply := c.http.Read(ctx, ledger.Call{Method: http.MethodGet, Path: "/v1/account"})
	if reply.Exchange.Error != "" {
		return "", errors.New(reply.Exchange.Error)
	}
	var v struct {
		Object string          `json:"object"`
		ID     json.RawMessage `json:"id"`
	}
	if err := reply.Object(&v); err != nil {
		return "", err
	}
	id := text(v.ID)
	switch {
	case reply.Status != http.StatusOK || v.Object != "account" || !ledger.UsableID(id):
		return "", errors.New(said(reply, "the accounting system did not tell whose books it keeps"))
	case c.set.account != "" && id != c.set.account:
		return "", errors.New("the accounting system shows the account " + ledger.Short(id, 60) + " instead of " + c.set.account)
	}
	if !c.set.live {
		id += " (test mode)"
	}
	c.books.Store(&id)
	return id, nil
}
