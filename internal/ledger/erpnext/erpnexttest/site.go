// Package erpnexttest is an ERPNext site in memory, as far as the adapter talks to it: Frappe's REST API with its pages of
// twenty, its errors and its transactions, and what ERPNext fills in by itself. Its lines never break; ledgertest.Serve
// puts one in front that does.
package erpnexttest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"onefold/internal/ledger/ledgertest"
	"onefold/internal/work"
)

// What the site holds from the start.
const (
	Key      = "f2f9f0d4b1a5e77"
	Company  = "Acme & Söhne GmbH"
	Customer = "Straße Müller GmbH"
	Other    = "Another Customer"
	Item     = "SERVICE"
	Field    = "custom_work_item" // the custom field, if Options.Unique
	TaxIn    = "19 % included - A"
	TaxAdded = "19 % added - A"
)

// Options of a site.
type Options struct {
	Secret     string
	Unique     bool // there is the custom field, and it is unique
	DefaultTax bool // the company has a usual tax template, which is added to the price
	PageSize   int  // most rows of one list; 0: as many as asked for
	Now        func() time.Time
}

// Site implements ledgertest.Fake.
type Site struct {
	opts Options

	mu       sync.Mutex
	ahead    time.Duration
	invoices []*invoice
	faults   map[work.Kind]ledgertest.Fault
	bodies   [][]byte // of the writing requests, in order
}

// New makes a site without invoices.
func New(o Options) *Site {
	if start := time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC); o.Now == nil {
		o.Now = func() time.Time { return start }
	}
	return &Site{opts: o, faults: map[work.Kind]ledgertest.Fault{}}
}

const list = "/api/resource/Sales Invoice"

// Classify implements ledgertest.Fake. Reading one invoice by its name is not a search, but a part of a lookup.
func (s *Site) Classify(r *http.Request, _ []byte) ledgertest.Incoming {
	in := ledgertest.Incoming{Key: r.Header.Get("Idempotency-Key")}
	switch {
	case !strings.HasPrefix(r.URL.Path, list):
	case r.Method == http.MethodGet:
		in.Kind = work.Find
	default:
		in.Kind = work.Send
	}
	return in
}

// exception is what Frappe answers with.
type exception struct {
	kind, message string
	status        int
}

func validation(message string) *exception {
	return &exception{"ValidationError", message, http.StatusExpectationFailed}
}

// ServeHTTP implements ledgertest.Fake.
func (s *Site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	in := s.Classify(r, nil)
	if in.Kind == work.Send {
		s.bodies = append(s.bodies, body)
	}
	fault := s.faults[in.Kind]
	switch {
	case r.Header.Get("Authorization") != "token "+Key+":"+s.opts.Secret:
		s.raise(w, &exception{"AuthenticationError", "Invalid token", http.StatusUnauthorized})
		return
	case s.spoil(w, fault):
		return
	}
	before := s.snapshot()
	result, exc := s.handle(r, body, fault)
	if exc != nil {
		s.invoices = before // the request's transaction is rolled back
		s.raise(w, exc)
		return
	}
	if fault == "error_after_commit" { // the jobs could not be handed to the queue
		s.raise(w, &exception{"ConnectionError", "Error 111 connecting to 127.0.0.1:11000. Connection refused.", http.StatusInternalServerError})
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Write(encode(map[string]any{"data": result})) //nolint:errcheck,gosec // the client may be gone
}

func (s *Site) handle(r *http.Request, body []byte, f ledgertest.Fault) (any, *exception) {
	name, _ := strings.CutPrefix(r.URL.Path, list)
	name = strings.Trim(name, "/")
	switch {
	case strings.HasPrefix(r.URL.Path, "/api/resource/Company/"):
		company := strings.TrimPrefix(r.URL.Path, "/api/resource/Company/")
		if !strings.EqualFold(company, Company) || s.faults[work.Find] == "other_books" {
			return nil, &exception{"DoesNotExistError", "Company " + company + " not found", http.StatusNotFound}
		}
		return map[string]any{"name": Company, "default_currency": "EUR"}, nil
	case !strings.HasPrefix(r.URL.Path, list):
		return nil, &exception{"DoesNotExistError", "not found", http.StatusNotFound}
	case r.Method == http.MethodGet && name == "":
		return s.search(r, f)
	case r.Method == http.MethodPost && name == "":
		return s.insert(body, f)
	}
	v := s.byName(name)
	if v == nil || f == "other_books" {
		return nil, &exception{"DoesNotExistError", "Sales Invoice " + name + " not found", http.StatusNotFound}
	}
	switch r.Method {
	case http.MethodGet:
		return s.told(v, ""), nil
	case http.MethodPut:
		return s.update(v, body, f)
	case http.MethodDelete:
		if v.docstatus == 1 {
			return nil, validation("Submitted Record cannot be deleted. You must Cancel it first.")
		}
		v.gone = true
		return "ok", nil
	}
	return nil, &exception{"PermissionError", "Not permitted", http.StatusForbidden}
}

// raise writes the error as report_error does for a client that takes JSON.
func (s *Site) raise(w http.ResponseWriter, e *exception) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(e.status)
	message := encode(map[string]any{"message": "<b>" + e.message + "</b>", "title": "Message", "indicator": "red", "raise_exception": 1})
	w.Write(encode(map[string]any{"exc_type": e.kind, "exception": fmt.Sprintf("frappe.exceptions.%s: %s", e.kind, e.message), //nolint:errcheck,gosec // the client may be gone
		"_server_messages": string(encode([]string{string(message)}))}))
}

func encode(v any) []byte {
	body, err := json.Marshal(v)
	if err != nil {
		panic(err) // a mistake in the fake
	}
	return body
}

// Bodies are the bodies of the writing requests, in order.
func (s *Site) Bodies() [][]byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([][]byte(nil), s.bodies...)
}

// Advance implements ledgertest.Fake.
func (s *Site) Advance(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ahead += d
}
