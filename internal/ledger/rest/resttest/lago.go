package resttest

import (
	"encoding/json"
	"net/http"
	"strings"

	"onefold/internal/ledger/ledgertest"
	"onefold/internal/work"
)

// Lago answers as Lago does for one-off invoices. Invisible invoices (here: deleted ones) are never listed; a key belongs
// to one organization.
type Lago struct{ *books }

// NewLago starts with empty books.
func NewLago(o Options) *Lago {
	return &Lago{newBooks(o, "send other_books", "send duplicate_error", "send deleted")}
}

// Classify implements ledgertest.Fake.
func (s *Lago) Classify(r *http.Request, _ []byte) ledgertest.Incoming {
	switch {
	case r.URL.Path == "/api/v1/invoices" && r.Method == http.MethodPost:
		return ledgertest.Incoming{Kind: work.Send}
	case strings.HasPrefix(r.URL.Path, "/api/v1/invoices"):
		return ledgertest.Incoming{Kind: work.Find}
	}
	return ledgertest.Incoming{}
}

func (s *Lago) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id, one := strings.CutPrefix(r.URL.Path, "/api/v1/invoices/")
	switch {
	case r.Header.Get("Authorization") != "Bearer "+s.o.Secret:
		s.answer(w, http.StatusUnauthorized, map[string]any{"status": 401, "error": "Unauthorized"})
	case r.URL.Path == "/api/v1/organizations":
		organization := "1a901a90-1a90-1a90-1a90-1a901a901a90"
		if s.fault[work.Find] == "other_books" {
			organization = "somebody-else"
		}
		s.answer(w, http.StatusOK, map[string]any{"organization": map[string]any{"lago_id": organization, "name": "Acme"}})
	case one:
		rec := s.byID(id)
		if rec == nil {
			s.answer(w, http.StatusNotFound, map[string]any{"status": 404, "error": "Not Found", "code": "invoice_not_found"})
			return
		}
		s.answer(w, http.StatusOK, map[string]any{"invoice": s.show(rec, false)})
	case r.Method == http.MethodPost:
		s.create(w, r)
	default:
		s.list(w, r)
	}
}

func (s *Lago) show(r *Record, writing bool) map[string]any {
	status := map[string]string{"draft": "draft", "posted": "finalized", "void": "voided"}[r.State]
	return map[string]any{"lago_id": s.shownID(r, writing), "number": r.Number, "purchase_order_number": r.Reference, "status": status, "currency": r.Currency,
		"total_amount_cents": json.Number(strings.ReplaceAll(r.Total, ".", "")), "customer": map[string]any{"external_id": r.Customer}}
}

func (s *Lago) create(w http.ResponseWriter, r *http.Request) {
	body := s.body(r)
	if reason, refused := s.refusal(); refused {
		s.answer(w, http.StatusUnprocessableEntity, map[string]any{"status": 422, "error": "Unprocessable Entity", "code": "validation_errors",
			"error_details": map[string]any{"customer": []string{reason}}})
		return
	}
	invoice, _ := body["invoice"].(map[string]any)
	in := Record{Reference: str(invoice["purchase_order_number"]), Customer: str(invoice["external_customer_id"]), Currency: str(invoice["currency"]), State: "posted", Posts: 1}
	for _, fee := range rows(invoice["fees"]) {
		cents := str(fee["unit_amount_cents"]) // of one fee with one unit, which is all that is asked of it here
		in.Total = cents[:len(cents)-2] + "." + cents[len(cents)-2:]
	}
	s.answer(w, http.StatusOK, map[string]any{"invoice": s.show(s.add(in), true)})
}

func (s *Lago) list(w http.ResponseWriter, r *http.Request) {
	n := page(r)
	if f := s.fault[work.Find]; f == "search_error" || f == "search_broken_page" && n > 1 {
		s.answer(w, http.StatusOK, map[string]any{"status": 500, "error": "search index unavailable"})
		return
	}
	hits, more := s.found(r.URL.Query().Get("purchase_order_number"), n, false)
	list := []any{}
	for _, rec := range hits {
		list = append(list, s.show(rec, false))
	}
	pages := n
	if more {
		pages++
	}
	s.answer(w, http.StatusOK, map[string]any{"invoices": list, "meta": map[string]any{"current_page": n, "total_pages": pages}})
}
