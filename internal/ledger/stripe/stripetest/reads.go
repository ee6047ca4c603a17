package stripetest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"onefold/internal/ledger/ledgertest"
	"onefold/internal/work"
)

// read answers what changes nothing.
func (f *Fake) read(w http.ResponseWriter, r *http.Request) {
	id, single := strings.CutPrefix(r.URL.Path, "/v1/invoices/")
	fault := f.fault[work.Find]
	switch {
	case r.URL.Path == "/v1/account":
		account := r.Header.Get("Stripe-Account")
		if account == "" {
			account = Account
		}
		f.tell(w, map[string]any{"id": account, "object": "account"})
	case fault == "search_error":
		refuse(w, http.StatusOK, "invalid_request_error", "", "the list is not to be had")
	case id == "search":
		f.searches++
		f.tell(w, f.listed(f.matching(func(v *Invoice) bool { return !v.Created.After(f.now().Add(-time.Minute)) }), false))
	case single && fault == "search_broken_page":
		refuse(w, http.StatusInternalServerError, "api_error", "", "An unknown error occurred")
	case single && f.find(id) == nil:
		refuse(w, http.StatusNotFound, "invalid_request_error", "resource_missing", "No such invoice: '"+id+"'")
	case single:
		f.tell(w, f.show(f.find(id)))
	default:
		f.list(w, r.URL.Query(), fault)
	}
}

func (f *Fake) matching(ok func(*Invoice) bool) (list []*Invoice) {
	for _, v := range slices.Backward(f.invoices) {
		if !v.Deleted && ok(v) {
			list = append(list, v)
		}
	}
	return list
}

// list is exact, newest first.
func (f *Fake) list(w http.ResponseWriter, q url.Values, fault ledgertest.Fault) {
	f.asked = append(f.asked, q)
	since, _ := strconv.ParseInt(q.Get("created[gte]"), 10, 64)
	all := f.matching(func(v *Invoice) bool {
		return (q.Get("customer") == "" || v.Customer == q.Get("customer")) && v.Created.Unix() >= since
	})
	if q.Get("customer") == "cus_unknown" {
		refuse(w, http.StatusBadRequest, "invalid_request_error", "resource_missing", "No such customer: 'cus_unknown'")
		return
	}
	if fault == "search_empty" {
		all = nil
	}
	if after := q.Get("starting_after"); after != "" {
		at := slices.IndexFunc(all, func(v *Invoice) bool { return v.ID == after })
		if at < 0 || fault == "search_broken_page" {
			refuse(w, http.StatusInternalServerError, "api_error", "", "An unknown error occurred")
			return
		}
		all = all[at+1:]
	}
	size, err := strconv.Atoi(q.Get("limit"))
	if err != nil || size < 1 || size > 100 {
		size = 10
	}
	if f.o.PageSize > 0 {
		size = min(size, f.o.PageSize)
	}
	more := len(all) > size || fault == "search_broken_page"
	f.tell(w, f.listed(all[:min(size, len(all))], more))
}

func (f *Fake) listed(invoices []*Invoice, more bool) map[string]any {
	data := []map[string]any{}
	for _, v := range invoices {
		data = append(data, f.show(v))
	}
	return map[string]any{"object": "list", "url": "/v1/invoices", "has_more": more, "data": data}
}

func (f *Fake) show(v *Invoice) map[string]any {
	lines := []map[string]any{}
	for i, l := range v.Lines {
		lines = append(lines, map[string]any{"id": fmt.Sprintf("il_%s_%d", v.ID, i), "object": "line_item", "amount": l.Amount, "description": l.Description})
	}
	const shown = 10
	var number any
	if v.Number != "" {
		number = v.Number
	}
	return map[string]any{"id": v.ID, "object": "invoice", "status": v.Status, "customer": v.Customer, "currency": v.Currency, "number": number,
		"livemode": f.o.Live, "metadata": v.Metadata, "total": v.Total(), "created": v.Created.Unix(), "auto_advance": v.AutoAdvance,
		"lines": map[string]any{"object": "list", "has_more": len(lines) > shown, "data": lines[:min(shown, len(lines))]}}
}

func (f *Fake) tell(w http.ResponseWriter, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		body = nil
	}
	respond(w, http.StatusOK, body)
}
