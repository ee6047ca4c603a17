package sandbox

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"

	"onefold/internal/ledger"
	"onefold/internal/work"
)

const mostPages = 1000

// Find implements ledger.System: it walks all pages of the search, then reads each hit by its id, because a search may
// show a record as it was.
func (c *Client) Find(ctx context.Context, q ledger.Query) ledger.Found {
	if !c.Capabilities().Searchable {
		return ledger.Found{Exchange: work.Exchange{Error: "this accounting system cannot be searched"}}
	}
	ids, found, ok := c.search(ctx, q.Reference)
	if !ok {
		return found
	}
	if q.Step == StepPost && ledger.UsableID(q.PreviousRecordID) {
		ids = append(ids, q.PreviousRecordID) // may not be in the search yet
	}
	seen := map[string]bool{}
	for _, id := range ids {
		if seen[id] {
			continue
		}
		seen[id] = true
		record, there, failed, ok := c.get(ctx, id)
		if !ok {
			failed.Records = found.Records
			return failed
		}
		if failed.Exchange.Identity != found.Exchange.Identity {
			found.Exchange.Error = "two accounting systems answer under this address, could not check"
			return found
		}
		if !there {
			if id == q.PreviousRecordID { // confirmed once and now unknown: the books are not the ones that we know
				found.Exchange.Error = "the record of the step before is not there, could not check"
				return found
			}
			record = work.Record{ID: id, Reference: q.Reference, State: work.StateVoid} // in the search, but deleted
		}
		if q.Step == StepPost && record.State == work.StateDraft {
			continue
		}
		found.Records = append(found.Records, record)
	}
	found.Searched = true
	return found
}

type page struct {
	Invoices *[]invoice `json:"invoices"`
	Next     int        `json:"next_page"`
}

// search returns the ids of all hits; ok is false if it was not carried out to the end.
func (c *Client) search(ctx context.Context, reference string) (ids []string, f ledger.Found, ok bool) {
	for n := 1; n <= mostPages; {
		reply := c.http.Read(ctx, ledger.Call{Method: http.MethodGet, Path: "/api/invoices",
			Query: url.Values{"reference": {reference}, "page": {strconv.Itoa(n)}}})
		f, done := c.judged(reply)
		if done {
			return nil, f, false
		}
		var p page
		if err := reply.Object(&p); err != nil {
			f.Exchange.Error = err.Error() + ", could not check"
			return nil, f, false
		}
		if reply.Status != http.StatusOK || p.Invoices == nil {
			f.Exchange.Error = "the accounting system did not carry out the search, could not check"
			return nil, f, false
		}
		for _, v := range *p.Invoices {
			id := v.record().ID
			if !ledger.UsableID(id) {
				f.Exchange.Error = "the search shows a record without a usable id, could not check"
				return nil, f, false
			}
			ids = append(ids, id)
		}
		if p.Next == 0 {
			return ids, f, true
		}
		if p.Next <= n {
			break
		}
		n = p.Next
	}
	f.Exchange.Error = "the search does not come to an end, could not check"
	return nil, f, false
}

// get reads one record by its id. There is false if the system says that it does not exist.
func (c *Client) get(ctx context.Context, id string) (r work.Record, there bool, f ledger.Found, ok bool) {
	reply := c.http.Read(ctx, ledger.Call{Method: http.MethodGet, Path: "/api/invoices/" + url.PathEscape(id)})
	f, done := c.judged(reply)
	if done {
		return r, false, f, false
	}
	if said, spoken := refusalOf(reply); spoken && said.Code == "not_found" && (reply.Status == http.StatusNotFound || reply.Status == http.StatusGone) {
		return r, false, f, true
	}
	r, err := invoiceOf(reply)
	if err == nil && (reply.Status != http.StatusOK || r.ID != id) {
		err = errors.New("the accounting system answered about another record")
	}
	if err != nil {
		f.Exchange.Error = err.Error() + ", could not check"
		return r, false, f, false
	}
	return r, true, f, true
}

func (c *Client) judged(reply ledger.Reply) (ledger.Found, bool) {
	reply.Exchange.Identity = reply.Header.Get(booksHeader)
	return reply.Read()
}

// Identity implements ledger.System.
func (c *Client) Identity(ctx context.Context) (string, error) {
	reply := c.http.Read(ctx, ledger.Call{Method: http.MethodGet, Path: "/api/identity"})
	if reply.Exchange.Error != "" {
		return "", errors.New(reply.Exchange.Error)
	}
	var v struct {
		Books string `json:"books"`
	}
	if err := reply.Object(&v); err != nil {
		return "", err
	}
	if reply.Status != http.StatusOK || v.Books == "" {
		return "", errors.New("the accounting system did not tell whose books it keeps")
	}
	return v.Books, nil
}
