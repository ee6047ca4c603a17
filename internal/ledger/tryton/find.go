package tryton

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"onefold/internal/ledger"
	"onefold/internal/work"
)

// Find implements ledger.System: one search in all states, without a limit, and only after Tryton said that our user sees
// the company. Supplier invoices may carry the same reference, as the supplier's own number; they are none of ours.
func (c *Client) Find(ctx context.Context, q ledger.Query) ledger.Found {
	identity, f, ok := c.books(ctx)
	f.Exchange.Identity = identity
	if !ok {
		return f
	}
	where := []any{"OR", []any{"reference", "=", q.Reference}}
	previous, _ := strconv.ParseInt(q.PreviousRecordID, 10, 64)
	later := q.Step == StepPost && previous > 0
	if later {
		where = append(where, []any{"id", "=", previous}) // its reference may have been changed in Tryton
	}
	rows, f, ok := c.invoices(ctx, where)
	f.Exchange.Identity = identity
	if !ok {
		return f
	}
	for _, row := range rows {
		record := row.record()
		if row.ID == 0 {
			f.Exchange.Error = "the search shows a record without a usable id, could not check"
			return f
		}
		if record.State == work.StateUnknown {
			f.Exchange.Error = "the search shows an invoice in a state that we do not know, could not check"
			return f
		}
		later = later && row.ID != id(previous)
		if q.Step == StepPost && record.State == work.StateDraft {
			continue
		}
		f.Records = append(f.Records, record)
	}
	if later { // confirmed once and now unknown: the books are not the ones that we know, or it was deleted
		f.Exchange.Error = "the draft that is to be posted is not there, could not check"
		return f
	}
	f.Searched = true
	return f
}

// invoices reads the customer invoices of the company.
func (c *Client) invoices(ctx context.Context, where []any) (rows []invoice, f ledger.Found, ok bool) {
	result, f, ok := c.search(ctx, "account.invoice", []any{where, []any{"company", "=", c.company}, []any{"type", "=", "out"}}, invoiceFields)
	if !ok {
		return nil, f, false
	}
	if json.Unmarshal(result, &rows) != nil || rows == nil {
		f.Exchange.Error = "Tryton did not carry out the search, could not check"
		return nil, f, false
	}
	return rows, f, true
}

// search asks for all rows: limit null is none.
func (c *Client) search(ctx context.Context, model string, where []any, fields []string) (json.RawMessage, ledger.Found, bool) {
	return c.reads.read(ctx, "model."+model+".search_read", where, 0, nil, nil, fields, c.context())
}

// context names the company; without it Tryton takes the one that the user last worked in.
func (c *Client) context() map[string]any { return map[string]any{"company": c.company} }

// books reads whose books we reach. Tryton's record rules hide other companies' rows without a word, so that a search
// would miss everything: its preferences must say that our user works in the company that we ask about.
func (c *Client) books(ctx context.Context) (identity string, f ledger.Found, ok bool) {
	result, f, ok := c.reads.read(ctx, "model.res.user.get_preferences", true, c.context())
	if !ok {
		return "", f, false
	}
	var v struct {
		Company id     `json:"company"`
		Name    string `json:"company.rec_name"`
		Filter  string `json:"company_filter"`
	}
	switch {
	case json.Unmarshal(result, &v) != nil:
		f.Exchange.Error = ledger.ErrJSON.Error() + ", could not check"
		return "", f, false
	case v.Company != id(c.company) || v.Filter == "":
		f.Exchange.Error = fmt.Sprintf("the user may not see company %d in Tryton: add the company to the user there, and set the user's company filter; could not check", c.company)
		return "", f, false
	}
	return fmt.Sprintf("%s (database %s, company %d)", v.Name, c.database, v.Company), f, true
}

// Identity implements ledger.System.
func (c *Client) Identity(ctx context.Context) (string, error) {
	identity, f, ok := c.books(ctx)
	if !ok {
		return "", errors.New(f.Exchange.Error)
	}
	return identity, nil
}
