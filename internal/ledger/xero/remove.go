package xero

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"onefold/internal/ledger"
	"onefold/internal/work"
)

// Remove implements ledger.Remover: a draft is deleted, an approved invoice is voided, what is gone stays so. Xero keeps
// both in its list.
func (c *Client) Remove(ctx context.Context, recordID string) error {
	if !ledger.UsableID(recordID) {
		return errors.New("the invoice to take back is not known")
	}
	by, err := c.login.get(ctx)
	if err != nil {
		return err
	}
	v, f, ok := c.get(ctx, by, recordID)
	if !ok {
		return fmt.Errorf("invoice %s stays in Xero: %s", recordID, f.Exchange.Error)
	}
	to := "VOIDED"
	switch v.record(true, "").State {
	case work.StateVoid:
		return nil
	case work.StateDraft:
		to = "DELETED"
	}
	body, err := json.Marshal(map[string]any{"Invoices": []map[string]string{{"InvoiceID": recordID, "Status": to}}})
	if err != nil {
		return err
	}
	call := ledger.Call{Method: http.MethodPost, Path: invoicesPath + "/" + url.PathEscape(recordID), Header: by.header(), Body: body}
	call.Header.Set("Content-Type", "application/json")
	reply := c.api.Write(ctx, call, ledger.Deadline{})
	if reply.Exchange.Error != "" {
		return fmt.Errorf("invoice %s may stay in Xero: %s", v.InvoiceNumber, reply.Exchange.Error)
	}
	var said answer
	err = reply.Object(&said)
	if err == nil && reply.Status == http.StatusOK && len(one(said.Invoices)) == 1 && (*said.Invoices)[0].Status == to {
		return nil
	}
	return fmt.Errorf("invoice %s stays in Xero: %s", v.InvoiceNumber, reasonOf(said.reasons()))
}
