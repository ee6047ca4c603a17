package odoo

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"

	"onefold/internal/ledger"
	"onefold/internal/work"
)

// Remove implements ledger.Remover: a draft is deleted, a posted invoice is set back to draft and cancelled. Some
// countries and locked periods forbid the latter.
func (c *Client) Remove(ctx context.Context, recordID string) error {
	id, err := strconv.Atoi(recordID)
	if err != nil {
		return errors.New("the record is not known")
	}
	rows, found, ok := c.search(ctx, []any{[]any{"id", "=", id}})
	if !ok {
		return errors.New("the invoice stays in Odoo: " + found.Exchange.Error)
	}
	if len(rows) == 0 {
		return nil
	}
	methods := map[work.RecordState][]string{work.StateDraft: {"unlink"}, work.StatePosted: {"button_draft", "button_cancel"}}
	for _, method := range methods[c.record(rows[0]).State] {
		user, _, _ := c.user(ctx)
		reply := c.http.Write(ctx, c.request(ask{model: "account.move", method: method, ids: []int{id}}, user), ledger.Deadline{})
		if _, done := reply.Write(); done {
			return errors.New("the invoice stays in Odoo, as far as known: " + reply.Exchange.Error)
		}
		var value json.RawMessage
		value, f, err := c.result(reply)
		switch {
		case f != nil:
			return errors.New("the invoice stays in Odoo: " + f.reason())
		case err != nil || value == nil:
			return errors.New("the invoice may stay in Odoo: the answer could not be read")
		}
	}
	return nil
}
