package erpnext

import (
	"context"
	"errors"
	"net/http"

	"onefold/internal/ledger"
	"onefold/internal/work"
)

// Remove implements ledger.Remover: a draft is deleted, a submitted invoice is cancelled.
func (c *Client) Remove(ctx context.Context, recordID string) error {
	doc, found, ok := c.get(ctx, recordID)
	if !ok {
		if found.Exchange.HTTPStatus == http.StatusNotFound {
			return nil
		}
		return errors.New("the invoice " + ledger.Short(recordID, 60) + " stays in ERPNext: " + found.Exchange.Error)
	}
	var write ledger.Call
	switch c.record(doc).State {
	case work.StateDraft:
		write = ledger.Call{Method: http.MethodDelete, Path: document(recordID)}
	case work.StatePosted:
		write = call(http.MethodPut, document(recordID), map[string]any{"docstatus": 2})
	default:
		return nil
	}
	reply := c.http.Write(ctx, write, ledger.Deadline{})
	switch f := faultOf(reply); {
	case f != nil:
		return errors.New("the invoice " + ledger.Short(recordID, 60) + " stays in ERPNext: " + f.reason())
	case reply.Status != http.StatusOK && reply.Status != http.StatusAccepted:
		return errors.New("the invoice " + ledger.Short(recordID, 60) + " may stay in ERPNext: the answer could not be read")
	}
	return nil
}
