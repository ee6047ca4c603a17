package resttest

import (
	"net/http"
	"strings"

	"onefold/internal/ledger/ledgertest"
	"onefold/internal/work"
)

// Organization is the id of the fake's Zoho organization.
const Organization = "10234695"

const access = "1000.access-token-of-the-fake"

// ZohoBooks answers as Zoho Books does: a code in each body says what an answer means.
type ZohoBooks struct{ *books }

// NewZohoBooks starts with empty books.
func NewZohoBooks(o Options) *ZohoBooks {
	b := newBooks(o, "send other_books", "find other_books", "send duplicate_error")
	b.idless = openDraft
	return &ZohoBooks{b}
}

// Classify implements ledgertest.Fake.
func (s *ZohoBooks) Classify(r *http.Request, _ []byte) ledgertest.Incoming {
	switch {
	case strings.HasPrefix(r.URL.Path, "/books/v3/invoices") && r.Method == http.MethodPost:
		return ledgertest.Incoming{Kind: work.Send}
	case strings.HasPrefix(r.URL.Path, "/books/v3/invoices"):
		return ledgertest.Incoming{Kind: work.Find}
	}
	return ledgertest.Incoming{}
}

func (s *ZohoBooks) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.URL.Path == "/oauth/v2/token" {
		s.token(w, r)
		return
	}
	id, one := strings.CutPrefix(r.URL.Path, "/books/v3/invoices/")
	switch {
	case r.Header.Get("Authorization") != "Zoho-oauthtoken "+access:
		s.answer(w, http.StatusUnauthorized, map[string]any{"code": 57, "message": "You are not authorized to perform this operation"})
	case r.URL.Path == "/books/v3/organizations/"+Organization:
		s.answer(w, http.StatusOK, map[string]any{"code": 0, "message": "success", "organization": map[string]any{"organization_id": Organization, "name": "Acme"}})
	case r.URL.Query().Get("organization_id") != Organization:
		s.answer(w, http.StatusBadRequest, map[string]any{"code": 6041, "message": "This user is not associated with the CompanyID/CompanyName"})
	case one && r.Method == http.MethodPost:
		s.send(w, strings.TrimSuffix(id, "/status/sent"))
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

func (s *ZohoBooks) token(w http.ResponseWriter, r *http.Request) {
	if r.FormValue("refresh_token") != s.o.Secret || r.FormValue("grant_type") != "refresh_token" {
		s.answer(w, http.StatusOK, map[string]any{"error": "invalid_code"})
		return
	}
	s.answer(w, http.StatusOK, map[string]any{"access_token": access, "expires_in": 3600, "token_type": "Bearer"})
}

func (s *ZohoBooks) show(r *Record, writing bool) map[string]any {
	status := map[string]string{"draft": "draft", "posted": "sent", "void": "void"}[r.State]
	return map[string]any{"invoice_id": s.shownID(r, writing), "invoice_number": r.Number, "reference_number": r.Reference, "customer_id": r.Customer,
		"total": amount(r.Total), "currency_code": r.Currency, "status": status, "invoice_url": "https://books.example.com/" + r.ID}
}

func (s *ZohoBooks) refused(w http.ResponseWriter) bool {
	reason, refused := s.refusal()
	if refused {
		s.answer(w, http.StatusBadRequest, map[string]any{"code": 1034, "message": reason})
	}
	return refused
}

func (s *ZohoBooks) create(w http.ResponseWriter, r *http.Request) {
	body := s.body(r)
	if s.refused(w) {
		return
	}
	in := Record{Reference: str(body["reference_number"]), Customer: str(body["customer_id"]), Currency: "EUR", State: "draft"}
	for _, l := range rows(body["line_items"]) {
		in.Total = str(l["rate"])
	}
	s.answer(w, http.StatusCreated, map[string]any{"code": 0, "message": "The invoice has been created.", "invoice": s.show(s.add(in), true)})
}

func (s *ZohoBooks) send(w http.ResponseWriter, id string) {
	if s.refused(w) {
		return
	}
	rec := s.byID(id)
	if rec == nil {
		s.answer(w, http.StatusNotFound, map[string]any{"code": 1002, "message": "Invoice does not exist."})
		return
	}
	if rec.State == "draft" {
		rec.State = "posted"
		rec.Posts++
	}
	s.answer(w, http.StatusOK, map[string]any{"code": 0, "message": "Invoice status has been changed to Sent."})
}

func (s *ZohoBooks) one(w http.ResponseWriter, id string) {
	rec := s.byID(id)
	if rec == nil || rec.State == "deleted" {
		s.answer(w, http.StatusNotFound, map[string]any{"code": 1002, "message": "Invoice does not exist."})
		return
	}
	s.answer(w, http.StatusOK, map[string]any{"code": 0, "message": "success", "invoice": s.show(rec, false)})
}

func (s *ZohoBooks) remove(w http.ResponseWriter, id string) {
	rec := s.byID(id)
	if rec == nil || rec.State != "draft" {
		s.answer(w, http.StatusBadRequest, map[string]any{"code": 1007, "message": "This invoice cannot be deleted."})
		return
	}
	rec.State = "deleted"
	s.answer(w, http.StatusOK, map[string]any{"code": 0, "message": "The invoice has been deleted."})
}

func (s *ZohoBooks) list(w http.ResponseWriter, r *http.Request) {
	n := page(r)
	if f := s.fault[work.Find]; f == "search_error" || f == "search_broken_page" && n > 1 {
		s.answer(w, http.StatusOK, map[string]any{"code": 1, "message": "Internal error"})
		return
	}
	hits, more := s.found(r.URL.Query().Get("reference_number"), n, true)
	list := []any{}
	for _, rec := range hits {
		list = append(list, s.show(rec, false))
	}
	s.answer(w, http.StatusOK, map[string]any{"code": 0, "message": "success", "invoices": list, "page_context": map[string]any{"page": n, "has_more_page": more}})
}
