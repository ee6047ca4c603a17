package xero

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"onefold/internal/ledger"
	"onefold/internal/work"
)

const (
	pageSize  = 100
	mostPages = 100
)

// Find implements ledger.System: it asks for the reference in every status, archived customers included, to the last
// page, then reads each hit by its id. If no invoice has the number, one that still carries it as its Reference is shown
// with the number that it has now.
func (c *Client) Find(ctx context.Context, q ledger.Query) ledger.Found {
	if !searchable(q.Reference) {
		return ledger.Found{Exchange: work.Exchange{Error: "the reference is empty, too long, or holds a comma or a quote, which Xero cannot be searched for, could not check"}}
	}
	by, err := c.login.get(ctx)
	if err != nil {
		a := c.login.Refused(err)
		return ledger.Found{Deferred: true, Login: a.Login, Unreached: a.Unreached, Exchange: a.Exchange}
	}
	ids, found, ok := c.search(ctx, by, c.set.byNumber, q.Reference)
	if ok && len(ids) == 0 && c.set.byNumber { // a person may have given it another number since
		ids, found, ok = c.search(ctx, by, false, q.Reference)
	}
	if !ok {
		return found
	}
	for _, id := range ids {
		v, f, ok := c.get(ctx, by, id)
		if !ok {
			f.Records = found.Records
			return f
		}
		record := v.record(c.set.byNumber, q.Customer)
		found.Records = append(found.Records, record)
		if c.set.approved && record.State == work.StateDraft {
			found.Exchange.Error = fmt.Sprintf("Xero holds %s as a draft that nobody has approved: approve it or delete it there", ledger.Short(q.Reference, 60))
			return found
		}
	}
	found.Searched = true
	return found
}

// search returns the ids of all hits, each once; ok is false if it was not carried out to the end.
func (c *Client) search(ctx context.Context, by access, byNumber bool, reference string) (ids []string, f ledger.Found, ok bool) {
	query := url.Values{"Statuses": {strings.Join(statuses, ",")}, "includeArchived": {"true"}, "pageSize": {strconv.Itoa(pageSize)}}
	if byNumber {
		query.Set("InvoiceNumbers", reference)
	} else {
		query.Set("where", `Reference=="`+reference+`"`)
	}
	blind := func(sentence string) ([]string, ledger.Found, bool) {
		f.Exchange.Error = sentence + ", could not check"
		return nil, f, false
	}
	seen, rows := map[string]bool{}, 0
	for page := 1; page <= mostPages; page++ {
		query.Set("page", strconv.Itoa(page))
		var said answer
		if said, f, ok = c.ask(ctx, by, invoicesPath, query); !ok {
			return nil, f, false
		}
		fresh := 0
		for _, v := range *said.Invoices {
			id := v.id()
			rows++
			switch {
			case !ledger.UsableID(id):
				return blind("the search shows a record without a usable id")
			case seen[id]:
				continue
			case v.Type == bill: // a supplier's number may be the same
			case !strings.EqualFold(strings.TrimSpace(v.reference(byNumber)), strings.TrimSpace(reference)):
				return blind("the search shows what was not asked for")
			default:
				ids = append(ids, id)
			}
			seen[id] = true
			fresh++
		}
		switch p := said.Pagination; {
		case p == nil && len(*said.Invoices) == 0: // without page numbers only an empty page is the last
			return ids, f, true
		case p != nil && page >= p.PageCount:
			if p.ItemCount != rows {
				return blind(fmt.Sprintf("the search names %d records and shows %d", p.ItemCount, rows))
			}
			return ids, f, true
		case fresh == 0:
			return blind("the search shows the same page again")
		}
	}
	return blind("the search does not come to an end")
}

// get reads one invoice by its id.
func (c *Client) get(ctx context.Context, by access, id string) (v invoice, f ledger.Found, ok bool) {
	said, f, ok := c.ask(ctx, by, invoicesPath+"/"+url.PathEscape(id), nil)
	if !ok {
		return v, f, false
	}
	if len(*said.Invoices) != 1 || (*said.Invoices)[0].id() != id {
		f.Exchange.Error = "the accounting system answered about another record, could not check"
		return v, f, false
	}
	return (*said.Invoices)[0], f, true
}

// ask reads from the invoices endpoint. If ok is true the answer holds a list.
func (c *Client) ask(ctx context.Context, by access, path string, query url.Values) (said answer, f ledger.Found, ok bool) {
	reply := c.api.Read(ctx, ledger.Call{Method: http.MethodGet, Path: path, Query: query, Header: by.header()})
	reply.Exchange.Identity = by.tenant
	f, done := reply.Read()
	switch reply.Status {
	case http.StatusUnauthorized:
		c.login.Forget(by.token)
	case http.StatusTooManyRequests:
		f.RetryAfter = rateWait(reply)
	}
	if done {
		return said, f, false
	}
	err := reply.Object(&said)
	switch {
	case err != nil:
		f.Exchange.Error = err.Error() + ", could not check"
	case reply.Status == http.StatusForbidden && said.spoken():
		f.Deferred, f.Login = true, true
		f.Exchange.Error = forbidden + reasonOf(said.reasons())
	case reply.Status != http.StatusOK && len(said.reasons()) > 0:
		f.Exchange.Error = "could not check: Xero says " + reasonOf(said.reasons())
	case reply.Status != http.StatusOK || said.Invoices == nil || said.Type != "":
		f.Exchange.Error = "the accounting system did not carry out the search, could not check"
	default:
		return said, f, true
	}
	return said, f, false
}

// Identity implements ledger.System. It is the organisation's tenant id, which each call names; Xero answers for no other.
func (c *Client) Identity(ctx context.Context) (string, error) {
	by, err := c.login.get(ctx)
	if err != nil {
		return "", err
	}
	reply := c.api.Read(ctx, ledger.Call{Method: http.MethodGet, Path: organisationPath, Header: by.header()})
	if reply.Status == http.StatusUnauthorized {
		c.login.Forget(by.token)
	}
	if reply.Exchange.Error != "" {
		return "", errors.New(reply.Exchange.Error)
	}
	var v struct {
		Organisations []struct {
			ID string `json:"OrganisationID"`
		} `json:"Organisations"`
		answer
	}
	if err := reply.Object(&v); err != nil {
		return "", err
	}
	if reply.Status == http.StatusForbidden {
		return "", errors.New("the login does not reach this organisation at Xero: connect the account again")
	}
	if reply.Status != http.StatusOK || len(v.Organisations) != 1 || !ledger.UsableID(v.Organisations[0].ID) {
		return "", errors.New("the accounting system did not tell whose books it keeps")
	}
	return by.tenant, nil
}
