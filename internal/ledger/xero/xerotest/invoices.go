package xerotest

import (
	"encoding/json"
	"fmt"
	"math/big"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"onefold/internal/ledger/ledgertest"
	"onefold/internal/work"
)

const zeroID = "00000000-0000-0000-0000-000000000000"

type sent struct {
	Type            string
	InvoiceID       string
	InvoiceNumber   string
	Reference       string
	Contact         struct{ ContactID string }
	Date, DueDate   string
	CurrencyCode    string
	LineAmountTypes string
	Status          string
	LineItems       []struct {
		Description, AccountCode, TaxType string
		Quantity, UnitAmount              json.Number
	}
}

// create carries out PUT and POST /Invoices: with a number that exists the one is refused, the other changes the invoice.
func (s *Server) create(w http.ResponseWriter, r *http.Request, tenant string, body []byte) {
	f := s.fault[work.Send]
	var v struct{ Invoices []sent }
	if json.Unmarshal(body, &v) != nil {
		answer(w, http.StatusBadRequest, map[string]any{"ErrorNumber": 17, "Type": "PostDataInvalidException", "Message": "JSON for post data was invalid"})
		return
	}
	if len(v.Invoices) != 1 {
		answer(w, http.StatusBadRequest, map[string]any{"ErrorNumber": 17, "Type": "PostDataInvalidException", "Message": "No data was posted"})
		return
	}
	if s.refusedBefore(w, f) {
		return
	}
	in := v.Invoices[0]
	if old := s.numbered(tenant, in.InvoiceNumber); old != nil && r.Method == http.MethodPost {
		old.Customer, old.Total = in.Contact.ContactID, total(in, r)
		answer(w, http.StatusOK, map[string]any{"Invoices": []any{told(old)}})
		return
	}
	if errs := s.check(tenant, in); len(errs) > 0 {
		s.invalid(w, r, in, errs)
		return
	}
	made := &Invoice{ID: s.newID(), Number: in.InvoiceNumber, Reference: in.Reference, Customer: in.Contact.ContactID, Status: in.Status, Type: in.Type,
		Currency: in.CurrencyCode, Total: total(in, r), Tenant: tenant, made: s.now(), Asked: in.InvoiceNumber}
	if made.Asked == "" {
		made.Asked = in.Reference
	}
	if made.Number == "" {
		made.Number = fmt.Sprintf("INV-%04d", 9000+s.next)
	}
	if made.Status == "" {
		made.Status = "DRAFT"
	}
	alter(made, f)
	s.invoices = append(s.invoices, made)
	if f == "sticky_after" {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	out := told(made)
	spoil(out, f)
	answer(w, http.StatusOK, map[string]any{"Id": s.newID(), "Status": "OK", "Invoices": []any{out}})
}

func (s *Server) check(tenant string, in sent) (errs []string) {
	if in.Type != "ACCREC" {
		errs = append(errs, "Invoice type is required")
	}
	if c := in.Contact.ContactID; c != Customer && c != OtherCustomer {
		errs = append(errs, "The Contact could not be found")
	}
	if s.numbered(tenant, in.InvoiceNumber) != nil {
		errs = append(errs, "Invoice # must be unique.")
	}
	if in.Status != "" && in.Status != "DRAFT" && in.DueDate == "" {
		errs = append(errs, "Due Date cannot be empty")
	}
	if len(in.LineItems) == 0 {
		errs = append(errs, "One or more line items must be specified")
	}
	for _, l := range in.LineItems {
		if l.UnitAmount != "" && l.AccountCode != Account {
			errs = append(errs, "Account code '"+l.AccountCode+"' is not a valid code for this document.")
		}
		if l.TaxType != "" && l.TaxType != "OUTPUT2" {
			errs = append(errs, "The TaxType code '"+l.TaxType+"' cannot be used with account code '"+l.AccountCode+"'.")
		}
	}
	return errs
}

// numbered is the sales invoice with this number that is not deleted; case does not matter.
func (s *Server) numbered(tenant, number string) *Invoice {
	for _, v := range s.invoices {
		if number != "" && v.Tenant == tenant && v.Type == "ACCREC" && v.Status != "DELETED" && strings.EqualFold(v.Number, number) {
			return v
		}
	}
	return nil
}

// invalid refuses: with a status of its own, or inside 200 where the errors are not to be summed up, which is the default.
func (s *Server) invalid(w http.ResponseWriter, r *http.Request, in sent, errs []string) {
	var list []any
	for _, e := range errs {
		list = append(list, map[string]any{"Message": e})
	}
	element := map[string]any{"Type": in.Type, "InvoiceID": zeroID, "InvoiceNumber": in.InvoiceNumber, "HasErrors": true, "StatusAttributeString": "ERROR", "ValidationErrors": list}
	if r.URL.Query().Get("summarizeErrors") != "true" || s.fault[work.Send] == "never_summed_up" {
		answer(w, http.StatusOK, map[string]any{"Status": "OK", "Invoices": []any{element}})
		return
	}
	answer(w, http.StatusBadRequest, map[string]any{"ErrorNumber": 10, "Type": "ValidationException", "Message": "A validation exception occurred", "Elements": []any{element}})
}

func refuse(w http.ResponseWriter, reasons ...string) {
	var list []any
	for _, e := range reasons {
		list = append(list, map[string]any{"Message": e})
	}
	answer(w, http.StatusBadRequest, map[string]any{"ErrorNumber": 10, "Type": "ValidationException", "Message": "A validation exception occurred",
		"Elements": []any{map[string]any{"InvoiceID": zeroID, "ValidationErrors": list}}})
}

// total is what Xero calculates: each line rounded to two decimals, unit prices to two without unitdp=4.
func total(in sent, r *http.Request) string {
	decimals := 2
	if r.URL.Query().Get("unitdp") == "4" {
		decimals = 4
	}
	sum := new(big.Rat)
	for _, l := range in.LineItems {
		line := round(number(string(l.UnitAmount)), decimals)
		if l.Quantity != "" {
			line.Mul(line, number(string(l.Quantity)))
		}
		if in.LineAmountTypes != "Inclusive" { // tax comes on top: a fifth
			line.Mul(line, big.NewRat(6, 5))
		}
		sum.Add(sum, round(line, 2))
	}
	return sum.FloatString(2)
}

func number(s string) *big.Rat {
	r, ok := new(big.Rat).SetString(s)
	if !ok {
		return new(big.Rat)
	}
	return r
}

func round(r *big.Rat, decimals int) *big.Rat { return number(r.FloatString(decimals)) }

// told is an invoice as it is shown.
func told(v *Invoice) map[string]any {
	return map[string]any{"Type": v.Type, "InvoiceID": v.ID, "InvoiceNumber": v.Number, "Reference": v.Reference, "Contact": map[string]any{"ContactID": v.Customer, "Name": "Straße Müller GmbH"},
		"Status": v.Status, "LineAmountTypes": "Inclusive", "Total": json.Number(v.Total), "AmountDue": json.Number(v.Total), "CurrencyCode": v.Currency,
		"HasErrors": false, "UpdatedDateUTC": "/Date(1552327126117+0000)/", "StatusAttributeString": "OK"}
}

// change carries out POST /Invoices/{id} with a status.
func (s *Server) change(w http.ResponseWriter, tenant, id string, body []byte) {
	var posted struct{ Invoices []sent }
	if json.Unmarshal(body, &posted) != nil || len(posted.Invoices) != 1 {
		answer(w, http.StatusBadRequest, map[string]any{"ErrorNumber": 17, "Type": "PostDataInvalidException", "Message": "JSON for post data was invalid"})
		return
	}
	in := posted.Invoices[0]
	for _, v := range s.invoices {
		if v.ID != id || v.Tenant != tenant {
			continue
		}
		draft := v.Status == "DRAFT" || v.Status == "SUBMITTED"
		if in.Status == "DELETED" && !draft || in.Status == "VOIDED" && v.Status != "AUTHORISED" {
			refuse(w, "Invoice not of valid status for modification")
			return
		}
		v.Status = in.Status
		answer(w, http.StatusOK, map[string]any{"Invoices": []any{told(v)}})
		return
	}
	answer(w, http.StatusNotFound, map[string]any{"Type": "NotFound", "Title": "Not Found", "Status": 404, "Detail": "not found"})
}

func (s *Server) get(w http.ResponseWriter, tenant, id string) {
	if s.failedRead(w) {
		return
	}
	for _, v := range s.invoices {
		if v.ID == id && v.Tenant == tenant {
			answer(w, http.StatusOK, map[string]any{"Status": "OK", "Invoices": []any{told(v)}})
			return
		}
	}
	answer(w, http.StatusNotFound, map[string]any{"Type": "NotFound", "Title": "Not Found", "Status": 404, "Detail": "not found"})
}

var reference = regexp.MustCompile(`^Reference=="([^"\\]*)"$`)

// list searches. What is not asked for is hidden where the published description does not say otherwise: deleted
// invoices without their status, those of archived customers without includeArchived.
func (s *Server) list(w http.ResponseWriter, r *http.Request, tenant string) {
	if s.failedRead(w) {
		return
	}
	q, f := r.URL.Query(), s.fault[work.Find]
	where := reference.FindStringSubmatch(q.Get("where"))
	if q.Get("where") != "" && where == nil {
		answer(w, http.StatusBadRequest, map[string]any{"ErrorNumber": 16, "Type": "QueryParseException", "Message": "Syntax error in the where clause"})
		return
	}
	var hits []any
	for _, v := range s.invoices {
		switch {
		case v.Tenant != tenant, f == "search_empty", s.now().Sub(v.made) < s.opts.SearchLag:
			continue
		case v.archived && q.Get("includeArchived") != "true":
			continue
		case q.Has("Statuses") && !slices.Contains(strings.Split(q.Get("Statuses"), ","), v.Status), !q.Has("Statuses") && v.Status == "DELETED":
			continue
		case f == "search_all":
		case q.Has("InvoiceNumbers") && !contains(strings.Split(q.Get("InvoiceNumbers"), ","), strings.TrimSpace(v.Number)) && !contains(trimmed(q.Get("InvoiceNumbers")), v.Number):
			continue
		case where != nil && (!strings.EqualFold(strings.TrimSpace(where[1]), strings.TrimSpace(v.Reference)) || v.Type != "ACCREC"):
			continue
		}
		hits = append(hits, told(v))
	}
	s.page(w, q.Get("page"), q.Get("pageSize"), hits, f)
}

func trimmed(list string) []string {
	all := strings.Split(list, ",")
	for i := range all {
		all[i] = strings.TrimSpace(all[i])
	}
	return all
}

func (s *Server) page(w http.ResponseWriter, page, size string, hits []any, f ledgertest.Fault) {
	n, _ := strconv.Atoi(page)
	per, _ := strconv.Atoi(size)
	if per <= 0 {
		per = 100
	}
	if s.opts.PageSize > 0 {
		per = min(per, s.opts.PageSize)
	}
	pages := (len(hits) + per - 1) / per
	if f == "search_broken_page" {
		if n > 1 {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		pages++
	}
	shown := []any{}
	if from := (max(n, 1) - 1) * per; f == "search_same_page" {
		shown, pages = hits[:min(per, len(hits))], 50
	} else if from < len(hits) {
		shown = hits[from:min(from+per, len(hits))]
	}
	count := len(hits)
	if f == "search_short" {
		shown = shown[:max(0, len(shown)-1)]
	}
	out := map[string]any{"Status": "OK", "Invoices": shown}
	if !s.opts.Unpaged {
		out["pagination"] = map[string]any{"page": max(n, 1), "pageSize": per, "pageCount": pages, "itemCount": count}
	}
	answer(w, http.StatusOK, out)
}
