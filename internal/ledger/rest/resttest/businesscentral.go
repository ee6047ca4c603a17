package resttest

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"onefold/internal/ledger/ledgertest"
	"onefold/internal/work"
)

// The fake's company in Business Central and its currency.
const (
	Company      = "5c00e2d2-8a3c-4f6e-9c0e-7d1f8f6a2b31"
	HomeCurrency = "EUR"
)

// BusinessCentral answers as Business Central's API v2.0 does: external document numbers are upper-cased and trimmed, an
// action answers with 204 and no body, a posted invoice keeps the id of its draft.
type BusinessCentral struct{ *books }

// NewBusinessCentral starts with empty books.
func NewBusinessCentral(o Options) *BusinessCentral {
	b := newBooks(o, "send other_books", "find other_books", "send duplicate_error")
	b.idless, b.empty = openDraft, true
	return &BusinessCentral{b}
}

const ofCompany = "/companies(" + Company + ")"

var (
	ofInvoice = regexp.MustCompile(`^/companies\([0-9a-f-]+\)/salesInvoices\(([A-Za-z0-9-]+)\)(/Microsoft\.NAV\.post)?$`)
	byNumber  = regexp.MustCompile(`^externalDocumentNumber eq '((?:[^']|'')*)'$`)
)

// Classify implements ledgertest.Fake.
func (s *BusinessCentral) Classify(r *http.Request, _ []byte) ledgertest.Incoming {
	switch {
	case strings.HasPrefix(r.URL.Path, ofCompany+"/salesInvoices") && r.Method == http.MethodPost:
		return ledgertest.Incoming{Kind: work.Send}
	case strings.HasPrefix(r.URL.Path, ofCompany+"/salesInvoices"):
		return ledgertest.Incoming{Kind: work.Find}
	}
	return ledgertest.Incoming{}
}

func (s *BusinessCentral) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if strings.HasSuffix(r.URL.Path, "/oauth2/v2.0/token") {
		if r.FormValue("client_secret") != s.o.Secret || r.FormValue("grant_type") != "client_credentials" {
			s.answer(w, http.StatusUnauthorized, map[string]any{"error": "invalid_client"})
			return
		}
		s.answer(w, http.StatusOK, map[string]any{"access_token": access, "expires_in": 3599, "token_type": "Bearer"})
		return
	}
	one := ofInvoice.FindStringSubmatch(r.URL.Path)
	switch {
	case r.Header.Get("Authorization") != "Bearer "+access:
		s.answer(w, http.StatusUnauthorized, map[string]any{"error": map[string]any{"code": "Authentication_InvalidCredentials", "message": "The server has rejected the client credentials."}})
	case r.URL.Path == ofCompany:
		s.answer(w, http.StatusOK, map[string]any{"id": Company, "name": "CRONUS"})
	case one != nil && one[2] != "" && r.Method == http.MethodPost:
		s.post(w, one[1])
	case one != nil && r.Method == http.MethodDelete:
		s.remove(w, one[1])
	case one != nil && r.Method == http.MethodGet:
		s.one(w, one[1])
	case r.URL.Path == ofCompany+"/salesInvoices" && r.Method == http.MethodPost:
		s.create(w, r)
	case r.URL.Path == ofCompany+"/salesInvoices":
		s.list(w, r)
	default:
		s.fail(w, http.StatusNotFound, "BadRequest_NotFound", "Not found.")
	}
}

func (s *BusinessCentral) fail(w http.ResponseWriter, status int, code, message string) {
	s.answer(w, status, map[string]any{"error": map[string]any{"code": code, "message": message}})
}

func (s *BusinessCentral) show(r *Record, writing bool) map[string]any {
	status := map[string]string{"draft": "Draft", "posted": "Open", "void": "Canceled"}[r.State]
	return map[string]any{"id": s.shownID(r, writing), "number": r.Number, "externalDocumentNumber": r.Reference, "customerNumber": r.Customer,
		"currencyCode": r.Currency, "totalAmountIncludingTax": amount(r.Total), "status": status}
}

func (s *BusinessCentral) refused(w http.ResponseWriter) bool {
	reason, refused := s.refusal()
	if refused {
		s.fail(w, http.StatusBadRequest, "Application_DialogException", reason)
	}
	return refused
}

func (s *BusinessCentral) create(w http.ResponseWriter, r *http.Request) {
	body := s.body(r)
	if s.refused(w) {
		return
	}
	asked := str(body["externalDocumentNumber"])
	in := Record{Reference: asked, Customer: str(body["customerNumber"]), Currency: str(body["currencyCode"]), State: "draft"}
	for _, l := range rows(body["salesInvoiceLines"]) {
		in.Total = str(l["unitPrice"])
	}
	rec := s.add(in)
	rec.Reference = fold(rec.Reference) // the type Code
	s.answer(w, http.StatusCreated, s.show(rec, true))
}

func (s *BusinessCentral) post(w http.ResponseWriter, id string) {
	if s.refused(w) {
		return
	}
	rec := s.byID(id)
	if rec == nil || rec.State != "draft" {
		s.fail(w, http.StatusBadRequest, "BadRequest_ResourceNotFound", "The invoice is not a draft.")
		return
	}
	rec.State = "posted"
	rec.Posts++
	w.WriteHeader(http.StatusNoContent)
}

func (s *BusinessCentral) one(w http.ResponseWriter, id string) {
	rec := s.byID(id)
	if rec == nil || rec.State == "deleted" {
		s.fail(w, http.StatusNotFound, "BadRequest_ResourceNotFound", "The invoice does not exist.")
		return
	}
	s.answer(w, http.StatusOK, s.show(rec, false))
}

func (s *BusinessCentral) remove(w http.ResponseWriter, id string) {
	rec := s.byID(id)
	if rec == nil || rec.State != "draft" {
		s.fail(w, http.StatusBadRequest, "Application_DialogException", "Only drafts can be deleted.")
		return
	}
	rec.State = "deleted"
	w.WriteHeader(http.StatusNoContent)
}

func (s *BusinessCentral) list(w http.ResponseWriter, r *http.Request) {
	n := page(r) // of our own making, in the link that we hand out
	if f := s.fault[work.Find]; f == "search_error" || f == "search_broken_page" && n > 1 {
		s.answer(w, http.StatusOK, map[string]any{"error": map[string]any{"code": "Internal_ServerError", "message": "Something went wrong."}})
		return
	}
	filter := byNumber.FindStringSubmatch(r.URL.Query().Get("$filter"))
	if filter == nil {
		s.fail(w, http.StatusBadRequest, "BadRequest", "Syntax error in the filter.")
		return
	}
	hits, more := s.found(strings.ReplaceAll(filter[1], "''", "'"), n, true)
	list := []any{}
	for _, rec := range hits {
		list = append(list, s.show(rec, false))
	}
	out := map[string]any{"value": list}
	if more {
		out["@odata.nextLink"] = fmt.Sprintf("http://%s%s/salesInvoices?%s", r.Host, ofCompany, url.Values{"$filter": {filter[0]}, "page": {fmt.Sprint(n + 1)}}.Encode())
	}
	s.answer(w, http.StatusOK, out)
}
