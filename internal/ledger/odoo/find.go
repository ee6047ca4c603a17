package odoo

import (
	"context"
	"encoding/json"
	"strconv"

	"onefold/internal/ledger"
	"onefold/internal/work"
)

const (
	pageSize  = 100
	mostPages = 1000
)

// Find implements ledger.System. It searches the customer invoices of the company in every state. The company must be
// one that the user may see, or the call fails; a record rule of the installation may still hide rows, which the lookup
// of a known record shows. People may change the reference by hand: the origin, which pages do not let them change, holds it
// as well, and for the posting the draft is also looked at by its id.
func (c *Client) Find(ctx context.Context, q ledger.Query) ledger.Found {
	identity, found, ok := c.readIdentity(ctx)
	if !ok {
		return found
	}
	is := []any{"|", []any{"ref", "=", q.Reference}, []any{"invoice_origin", "=", q.Reference}}
	previous := recordID(json.RawMessage(q.PreviousRecordID))
	if q.Step == StepPost {
		draft, err := strconv.Atoi(previous)
		if err != nil {
			found.Exchange.Error = "the draft to be posted is not known, could not check"
			return found
		}
		is = append([]any{"|", []any{"id", "=", draft}}, is...)
	}
	domain := append([]any{[]any{"move_type", "=", "out_invoice"}, []any{"company_id", "=", c.company}}, is...)
	rows, found, ok := c.search(ctx, domain)
	found.Exchange.Identity = identity
	if !ok {
		return found
	}
	there := false // the draft
	for _, v := range rows {
		r := c.record(v)
		if !ledger.UsableID(r.ID) {
			found.Exchange.Error = "the search shows a record without a usable id, could not check"
			return found
		}
		there = there || r.ID == previous
		if q.Step == StepPost && r.State == work.StateDraft {
			continue
		}
		found.Records = append(found.Records, r)
	}
	if q.Step == StepPost && !there {
		found.Records = nil
		found.Exchange.Error = "the draft of the step before is not there, could not check"
		return found
	}
	found.Searched = true
	return found
}

// search goes on until a page is empty: a page that is only short proves nothing, as something may cap it.
func (c *Client) search(ctx context.Context, domain []any) (rows []row, f ledger.Found, ok bool) {
	for range mostPages {
		value, f, ok := c.read(ctx, ask{model: "account.move", method: "search_read",
			named: map[string]any{"domain": domain, "fields": rowFields, "order": "id", "offset": len(rows), "limit": pageSize}})
		if !ok {
			return nil, f, false
		}
		var page *[]row
		if json.Unmarshal(value, &page) != nil || page == nil {
			f.Exchange.Error = "the accounting system did not carry out the search, could not check"
			return nil, f, false
		}
		if len(*page) == 0 {
			return rows, f, true
		}
		rows = append(rows, *page...)
	}
	f.Exchange.Error = "the search does not come to an end, could not check"
	return nil, f, false
}
