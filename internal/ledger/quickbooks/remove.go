package quickbooks

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"time"

	"onefold/internal/ledger"
)

// Remove implements ledger.Remover: it voids the invoice. The number stays taken and the amounts become zero (vendor).
func (s *System) Remove(ctx context.Context, recordID string) error {
	access, err := s.access(ctx)
	if err != nil {
		return err
	}
	if !ledger.UsableID(recordID) {
		return errors.New("the invoice to be voided is not known")
	}
	var said response
	if err := s.object(ctx, access, "/invoice/"+url.PathEscape(recordID), &said); err != nil {
		return err
	}
	if said.Invoice == nil || said.Invoice.id() != recordID {
		return errors.New("the accounting system answered about another record: the invoice stays as it is")
	}
	body, err := json.Marshal(map[string]string{"Id": recordID, "SyncToken": said.Invoice.SyncToken})
	if err != nil {
		return err
	}
	call := s.call(http.MethodPost, "/invoice", access, url.Values{"operation": {"void"}})
	call.Body = body
	call.Header.Set("Content-Type", "application/json")
	reply := s.http.Write(ctx, call, ledger.NewDeadline(time.Now(), time.Minute))
	var after response
	if err := reply.Object(&after); reply.Err != nil || reply.Status != http.StatusOK || err != nil || after.Invoice == nil {
		return errors.New("the invoice could not be voided: void it in QuickBooks by hand")
	}
	return nil
}
