package xerotest

import (
	"encoding/json"
	"net/http"
	"strings"

	"onefold/internal/ledger/ledgertest"
	"onefold/internal/work"
)

// own are the faults that only Xero itself can commit, by kind of request. Beside those of the suite:
//
//	never_summed_up    a refusal comes inside 200, whatever summarizeErrors asks for
//	sticky_before      an internal error before the effect, kept under the key
//	sticky_after       the same after the effect
//	forbidden          the login does not reach the organisation
//	limit:NAME:WAIT    the limit of that name is reached
//	error_with_id      200 with an id and with errors
//	draft_only         an invoice that should be approved becomes a draft
//	search_all         the filter is ignored
//	search_short       fewer records are shown than counted
//	search_same_page   every page is the first
//	login_down         the identity server is out of order (of no kind)
var own = map[work.Kind]string{
	work.Send: " reject reject_charset reject_long reject_zero_byte reject_not_utf8 duplicate_error zero_id null_id empty_id numeric_id total_times_100 total_plus_one" +
		" other_customer voided deleted trim_reference upper_reference never_summed_up sticky_before sticky_after forbidden error_with_id draft_only ",
	work.Find: " search_error search_empty search_broken_page forbidden search_all search_short search_same_page ",
	"":        " login_down ",
}

// Misbehave implements ledgertest.Fake.
func (s *Server) Misbehave(kind work.Kind, f ledgertest.Fault) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f == ledgertest.NoFault {
		clear(s.fault)
		return true
	}
	if !strings.HasPrefix(string(f), "limit:") && !strings.Contains(own[kind], " "+string(f)+" ") {
		return false
	}
	s.fault[kind] = f
	return true
}

const blocked = "the customer is blocked"

// refusedBefore carries out the faults that come before any effect.
func (s *Server) refusedBefore(w http.ResponseWriter, f ledgertest.Fault) bool {
	switch f {
	case "reject":
		refuse(w, blocked)
	case "reject_charset":
		refuse(w, blocked)
		w.Header().Set("Content-Type", "Application/JSON")
	case "reject_long":
		refuse(w, strings.Repeat("Größe ungültig 💶 ", 10_000))
	case "reject_zero_byte":
		refuse(w, "zero\x00byte")
	case "reject_not_utf8":
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		w.WriteHeader(http.StatusBadRequest)
		w.Write([]byte("{\"Type\":\"ValidationException\",\"Message\":\"ung\xfcltig\"}")) //nolint:errcheck,gosec // the client may be gone
	case "duplicate_error":
		refuse(w, "Invoice # must be unique.")
	case "sticky_before":
		w.WriteHeader(http.StatusInternalServerError)
	default:
		return false
	}
	return true
}

// alter makes something else than what was asked for.
func alter(v *Invoice, f ledgertest.Fault) {
	switch f {
	case "total_times_100":
		v.Total = number(v.Total).Mul(number(v.Total), number("100")).FloatString(2)
	case "total_plus_one":
		v.Total = number(v.Total).Add(number(v.Total), number("1")).FloatString(2)
	case "other_customer":
		v.Customer = OtherCustomer
	case "voided":
		v.Status = "VOIDED"
	case "deleted":
		v.Status = "DELETED"
	case "draft_only":
		v.Status = "DRAFT"
	case "trim_reference":
		v.Number, v.Reference = strings.TrimSpace(v.Number), strings.TrimSpace(v.Reference)
	case "upper_reference":
		v.Number, v.Reference = strings.ToUpper(v.Number), strings.ToUpper(v.Reference)
	}
}

// spoil changes only what is told of it.
func spoil(told map[string]any, f ledgertest.Fault) {
	switch f {
	case "zero_id":
		told["InvoiceID"] = zeroID
	case "null_id":
		told["InvoiceID"] = nil
	case "empty_id":
		told["InvoiceID"] = ""
	case "numeric_id":
		told["InvoiceID"] = json.Number("4711")
	case "error_with_id":
		told["HasErrors"], told["StatusAttributeString"] = true, "ERROR"
		told["ValidationErrors"] = []any{map[string]any{"Message": "The document could not be e-mailed"}}
	}
}

// failedRead carries out what a read of any kind meets.
func (s *Server) failedRead(w http.ResponseWriter) bool {
	if s.fault[work.Find] != "search_error" {
		return false
	}
	answer(w, http.StatusOK, map[string]any{"ErrorNumber": 16, "Type": "QueryParseException", "Message": "No property or field exists"})
	return true
}
