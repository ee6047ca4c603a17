package erpnext

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"onefold/internal/ledger"
	"onefold/internal/work"
)

const (
	pageSize  = 100
	mostPages = 1000
)

// Find implements ledger.System. It lists the invoices of the company with the reference in every docstatus; credit notes
// are left out. People may change the reference by hand, and an amended invoice does not carry a field that is not copied:
// if nothing has it, the mark in the remarks is looked for. User permissions may hide rows without a word, which the lookup
// of a known record shows.
func (c *Client) Find(ctx context.Context, q ledger.Query) ledger.Found {
	identity, found, ok := c.readCompany(ctx)
	if !ok {
		return found
	}
	docs, found, ok := c.search(ctx, c.refField, "=", q.Reference)
	if ok && !living(docs) {
		var marked []invoice
		marked, found, ok = c.search(ctx, "remarks", "like", "%"+mark(q.Reference)+"%")
		docs = append(docs, marked...)
	}
	found.Exchange.Identity = identity
	if !ok {
		return found
	}
	if q.Step == StepSubmit { // people may have changed the draft's reference by hand
		doc, failed, ok := c.get(ctx, q.PreviousRecordID)
		if !ok {
			return failed
		}
		docs = append(docs, doc)
	}
	for _, doc := range docs {
		r := c.record(doc)
		if !ledger.UsableID(r.ID) {
			found.Records = nil
			found.Exchange.Error = "the search shows a record without a usable id, could not check"
			return found
		}
		switch {
		case r.State != work.StateDraft:
		case q.Step == StepSubmit:
			continue
		case c.atOnce && !c.drafts: // made by hand, or before the setting was changed: neither done nor absent
			found.Records = nil
			found.Exchange.Error = "a draft carries the reference, though invoices are submitted at once: look at " + ledger.Short(r.ID, 60)
			return found
		}
		found.Records = append(found.Records, r)
	}
	found.Searched = true
	return found
}

// living: one of them is not cancelled.
func living(docs []invoice) bool {
	return slices.ContainsFunc(docs, func(v invoice) bool { return string(v["docstatus"]) != "2" })
}

// search goes on until a page is empty: twenty rows come by default, and something may cap what is asked for.
func (c *Client) search(ctx context.Context, field, operator, value string) (docs []invoice, f ledger.Found, ok bool) {
	filters, _ := json.Marshal([]any{[]any{field, operator, value}, []any{"company", "=", c.company}, []any{"is_return", "=", 0}})
	columns, _ := json.Marshal([]string{"name", "docstatus", "customer", "company", "currency", "grand_total", c.refField})
	for range mostPages {
		reply := c.http.Read(ctx, ledger.Call{Method: http.MethodGet, Path: documents, Query: url.Values{"filters": {string(filters)}, "fields": {string(columns)},
			"order_by": {"creation asc, name asc"}, "limit_start": {strconv.Itoa(len(docs))}, "limit_page_length": {strconv.Itoa(pageSize)}}})
		f, done := judged(reply)
		if done {
			return nil, f, false
		}
		var page struct {
			Data *[]invoice `json:"data"`
		}
		if err := reply.Object(&page); err != nil {
			f.Exchange.Error = err.Error() + ", could not check"
			return nil, f, false
		}
		if reply.Status != http.StatusOK || page.Data == nil {
			f.Exchange.Error = "the accounting system did not carry out the search, could not check"
			return nil, f, false
		}
		if len(*page.Data) == 0 {
			return docs, f, true
		}
		docs = append(docs, *page.Data...)
	}
	f.Exchange.Error = "the search does not come to an end, could not check"
	return nil, f, false
}

// get reads one invoice by its name.
func (c *Client) get(ctx context.Context, name string) (invoice, ledger.Found, bool) {
	if !ledger.UsableID(name) {
		return nil, ledger.Found{Exchange: work.Exchange{Error: "the draft to be submitted is not known, could not check"}}, false
	}
	reply := c.http.Read(ctx, ledger.Call{Method: http.MethodGet, Path: document(name)})
	f, done := judged(reply)
	if done {
		return nil, f, false
	}
	doc, err := one(reply)
	if err == nil && (reply.Status != http.StatusOK || doc.text("name") != name) {
		err = errors.New("the accounting system answered about another record")
	}
	if err != nil {
		f.Exchange.Error = err.Error() + ", could not check"
		return nil, f, false
	}
	return doc, f, true
}

// judged reads what is the same for every lookup. Done: it was not carried out.
func judged(reply ledger.Reply) (ledger.Found, bool) {
	f, done := reply.Read()
	e := faultOf(reply)
	switch {
	case e == nil || reply.Status == http.StatusTooManyRequests:
		return f, done
	case logins[e.Type]:
		f.Deferred, f.Login = true, true
		f.Exchange.Error = "the accounting system refused our login"
	case notBegun[e.Type]:
		f.Exchange.Error = "the accounting system is in maintenance, could not check"
	default:
		f.Exchange.Error = ledger.Short("the accounting system did not carry out the search, could not check: "+e.reason(), ledger.MaxSentence)
	}
	return f, true
}

// Identity implements ledger.System: the site, by its address, and the company.
func (c *Client) Identity(ctx context.Context) (string, error) {
	identity, found, ok := c.readCompany(ctx)
	if !ok {
		return "", errors.New(found.Exchange.Error)
	}
	return identity, nil
}

// readCompany reads the company, which must be spelt as it is there: invoices tell it so.
func (c *Client) readCompany(ctx context.Context) (string, ledger.Found, bool) {
	reply := c.http.Read(ctx, ledger.Call{Method: http.MethodGet, Path: "/api/resource/Company/" + url.PathEscape(c.company)})
	f, done := judged(reply)
	if done {
		if f.Exchange.Error == "" {
			f.Exchange.Error = "the accounting system did not tell whose books it keeps"
		}
		return "", f, false
	}
	doc, err := one(reply)
	switch name := doc.text("name"); {
	case err != nil || reply.Status != http.StatusOK || name == "":
		f.Exchange.Error = "the accounting system did not tell whose books it keeps, could not check"
	case name != c.company:
		f.Exchange.Error = "the company is spelt " + ledger.Short(name, 100) + " in ERPNext: enter it so"
	default:
		return c.identity(name), f, true
	}
	return "", f, false
}
