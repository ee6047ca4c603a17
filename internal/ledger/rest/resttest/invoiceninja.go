package resttest

import (
	"net/http"
	"strings"

	"onefold/internal/ledger/ledgertest"
	"onefold/internal/work"
)

// InvoiceNinja answers as Invoice Ninja v5 does: numbers are unique in a company, deleted invoices included; a token
// belongs to one company.
type InvoiceNinja struct{ *books }

// NewInvoiceNinja starts with empty books.
func NewInvoiceNinja(o Options) *InvoiceNinja {
	return &InvoiceNinja{newBooks(o, "send other_books")}
}

// Classify implements ledgertest.Fake.
func (s *InvoiceNinja) Classify(r *http.Request, _ []byte) ledgertest.Incoming {
	switch {
	case r.URL.Path == "/api/v1/invoices" && r.Method == http.MethodPost:
		return ledgertest.Incoming{Kind: work.Send}
	case strings.HasPrefix(r.URL.Path, "/api/v1/invoices"):
		return ledgertest.Incoming{Kind: work.Find}
	}
	return ledgertest.Incoming{}
}

func (s *InvoiceNinja) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id, one := strings.CutPrefix(r.URL.Path, "/api/v1/invoices/")
	switch {
	case r.Header.Get("X-Api-Token") != s.o.Secret:
		s.answer(w, http.StatusForbidden, map[string]any{"message": "Invalid token"})
	case r.URL.Path == "/api/v1/companies/current":
		company := "VolejRejNm"
		if s.fault[work.Find] == "other_books" {
			company = "somebody-else"
		}
		s.answer(w, http.StatusOK, map[string]any{"data": map[string]any{"id": company}})
	case one && r.Method == http.MethodDelete:
		s.remove(w, id)
	case one:
		s.one(w, id)
	case r.Method == http.MethodPost:
		s.create(w, r)
	default:
		s.list(w, r)
	}
}

func (s *InvoiceNinja) show(r *Record, writing bool) map[string]any {
	status := map[string]string{"draft": "1", "posted": "2", "void": "5", "deleted": "2"}[r.State]
	return map[string]any{"id": s.shownID(r, writing), "number": r.Reference, "client_id": r.Customer, "amount": amount(r.Total), "status_id": status,
		"is_deleted": r.State == "deleted", "entity_type": "invoice"}
}

func (s *InvoiceNinja) create(w http.ResponseWriter, r *http.Request) {
	body := s.body(r)
	if reason, refused := s.refusal(); refused {
		s.answer(w, http.StatusUnprocessableEntity, map[string]any{"message": "The given data was invalid.", "errors": map[string]any{"client_id": []string{reason}}})
		return
	}
	number := str(body["number"])
	taken := s.fault[work.Send] == "duplicate_error"
	for _, other := range s.records {
		taken = taken || fold(other.Reference) == fold(number)
	}
	if taken {
		s.answer(w, http.StatusUnprocessableEntity, map[string]any{"message": "The number has already been taken.",
			"errors": map[string]any{"number": []string{"The number has already been taken."}}})
		return
	}
	in := Record{Reference: number, Customer: str(body["client_id"]), State: "draft"}
	for _, l := range rows(body["line_items"]) {
		in.Total = str(l["cost"]) // of one line with quantity 1, which is all that is asked of it here
	}
	if r.URL.Query().Get("mark_sent") == "true" {
		in.State, in.Posts = "posted", 1
	}
	s.answer(w, http.StatusOK, map[string]any{"data": s.show(s.add(in), true)})
}

func (s *InvoiceNinja) one(w http.ResponseWriter, id string) {
	rec := s.byID(id)
	if rec == nil {
		s.answer(w, http.StatusNotFound, map[string]any{"message": "No query results for model"})
		return
	}
	s.answer(w, http.StatusOK, map[string]any{"data": s.show(rec, false)})
}

func (s *InvoiceNinja) remove(w http.ResponseWriter, id string) {
	rec := s.byID(id)
	if rec == nil {
		s.answer(w, http.StatusNotFound, map[string]any{"message": "No query results for model"})
		return
	}
	rec.State = "deleted"
	s.answer(w, http.StatusOK, map[string]any{"data": s.show(rec, false)})
}

func (s *InvoiceNinja) list(w http.ResponseWriter, r *http.Request) {
	n := page(r)
	if f := s.fault[work.Find]; f == "search_error" || f == "search_broken_page" && n > 1 {
		s.answer(w, http.StatusOK, map[string]any{"message": "Server Error"})
		return
	}
	hits, more := s.found(r.URL.Query().Get("number"), n, true)
	data := []any{}
	for _, rec := range hits {
		data = append(data, s.show(rec, false))
	}
	pages := n
	if more {
		pages++
	}
	s.answer(w, http.StatusOK, map[string]any{"data": data, "meta": map[string]any{"pagination": map[string]any{"current_page": n, "total_pages": pages}}})
}
