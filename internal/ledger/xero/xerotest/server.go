// Package xerotest is a Xero in memory: its login, its organisations and the invoices of its Accounting API, as far as the
// adapter needs them. It keeps state, remembers idempotency keys for six minutes with whatever was answered, internal
// errors too, and where Xero's behaviour is not published it is as unkind as Xero could be.
package xerotest

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

// What every Server knows.
const (
	ClientID      = "onefold-client"
	Tenant        = "45e4708e-d862-4111-ab3a-dd8cd03913e1"
	OtherTenant   = "70784a63-d24b-46a9-a4db-0e70a274b056"
	Customer      = "430fa14a-f945-44d3-9f97-5df5e28441b8"
	OtherCustomer = "a3675fc4-f8dd-4f03-ba5b-f1870566bcd7"
	Account       = "200"
)

const (
	tokenLife = 30 * time.Minute
)

// Options of a Server.
type Options struct {
	Secret    string           // of the client
	Now       func() time.Time // nil: a clock that only Advance moves
	PageSize  int              // most invoices on a page; 0: as asked
	SearchLag time.Duration    // a new invoice is missing from lists for so long
	Unpaged   bool             // lists do not say how many pages there are
	PerMinute int              // calls in a minute; 0: no limit
}

// Invoice is a record as it is kept.
type Invoice struct {
	ID, Number, Reference, Customer, Status, Type, Currency, Total string

	Tenant   string
	Asked    string // the reference that the request carried, whatever was made of it
	made     time.Time
	archived bool // its customer is
}

// Request is one that reached the Accounting API or the login.
type Request struct {
	Method, Path, Query string
	Header              http.Header
	Body                []byte
}

// Server is the fake. It implements ledgertest.Fake.
type Server struct {
	opts Options

	mu       sync.Mutex
	shift    time.Duration
	next     int
	invoices []*Invoice
	keys     map[string]kept
	tokens   map[string]time.Time // access tokens and when they end
	refresh  string               // the live refresh token
	tenants  []string             // that the login reaches
	fault    map[work.Kind]ledgertest.Fault
	requests []Request
	minute   []time.Time
	Logins   int // tokens that were given out
}

// New makes an empty organisation.
func New(o Options) *Server {
	return &Server{opts: o, keys: map[string]kept{}, tokens: map[string]time.Time{}, fault: map[work.Kind]ledgertest.Fault{}, tenants: []string{Tenant}}
}

func (s *Server) now() time.Time {
	if s.opts.Now != nil {
		return s.opts.Now().Add(s.shift)
	}
	return time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC).Add(s.shift)
}

// Advance implements ledgertest.Fake.
func (s *Server) Advance(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shift += d
}

// Login is what a person brings who connects the account in the browser.
func (s *Server) Login() (access, refresh string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.issue()
}

func (s *Server) issue() (access, refresh string) {
	s.Logins++
	access = fmt.Sprintf("%s.access.%d", s.opts.Secret, s.Logins)
	s.refresh = fmt.Sprintf("%s.refresh.%d", s.opts.Secret, s.Logins)
	s.tokens[access] = s.now().Add(tokenLife)
	return access, s.refresh
}

// Revoke ends all access tokens at once; withRefresh the login too.
func (s *Server) Revoke(withRefresh bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.tokens)
	if withRefresh {
		s.refresh = ""
	}
}

// Reach sets the organisations that the login reaches.
func (s *Server) Reach(tenants ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tenants = tenants
}

// Add keeps an invoice that somebody else made.
func (s *Server) Add(v Invoice) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	v.ID = s.newID()
	if v.Tenant == "" {
		v.Tenant = Tenant
	}
	v.made = s.now().Add(-time.Hour)
	s.invoices = append(s.invoices, &v)
	return v.ID
}

// Archive archives the customer of all invoices.
func (s *Server) Archive() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, v := range s.invoices {
		v.archived = true
	}
}

// Renumber gives an invoice another number, as a person may.
func (s *Server) Renumber(from, to string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, v := range s.invoices {
		if v.Number == from {
			v.Number = to
		}
	}
}

// Invoices are all that there are.
func (s *Server) Invoices() []Invoice {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []Invoice
	for _, v := range s.invoices {
		all = append(all, *v)
	}
	return all
}

// Requests are all that came, oldest first.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.requests...)
}

// Effects implements ledgertest.Fake.
func (s *Server) Effects(_, reference string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, v := range s.invoices {
		if v.Asked == reference && v.Asked != "" {
			n++
		}
	}
	return n
}

func (s *Server) newID() string {
	s.next++
	return fmt.Sprintf("e1f00000-0000-4000-8000-%012x", s.next)
}

// Classify implements ledgertest.Fake.
func (s *Server) Classify(r *http.Request, _ []byte) ledgertest.Incoming {
	switch {
	case !strings.HasPrefix(r.URL.Path, "/api.xro/2.0/Invoices"):
		return ledgertest.Incoming{}
	case r.Method == http.MethodGet:
		return ledgertest.Incoming{Kind: work.Find}
	}
	return ledgertest.Incoming{Kind: work.Send, Key: r.Header.Get("Idempotency-Key")}
}

// ServeHTTP implements ledgertest.Fake. Requests are carried out one after the other, as repeats of one key are at Xero.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, 1<<20))
	if err != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, Request{r.Method, r.URL.Path, r.URL.RawQuery, r.Header.Clone(), body})
	switch {
	case r.URL.Path == "/connect/token" && r.Method == http.MethodPost:
		s.token(w, r, body)
	case r.URL.Path == "/connections" && r.Method == http.MethodGet:
		s.connections(w, r)
	case strings.HasPrefix(r.URL.Path, "/api.xro/2.0/"):
		s.accounting(w, r, body)
	default:
		answer(w, http.StatusNotFound, map[string]any{"Type": "NotFound", "Title": "Not Found", "Status": 404, "Detail": "The resource you're looking for cannot be found"})
	}
}

func (s *Server) accounting(w http.ResponseWriter, r *http.Request, body []byte) {
	if !s.loggedIn(r) {
		answer(w, http.StatusUnauthorized, map[string]any{"Type": nil, "Title": "Unauthorized", "Status": 401, "Detail": "TokenExpired: token expired"})
		return
	}
	kind := s.Classify(r, nil).Kind
	if s.limited(w, s.fault[kind]) { // before keys: a repeat counts too
		return
	}
	tenant := r.Header.Get("Xero-Tenant-Id")
	if !contains(s.tenants, tenant) || s.fault[kind] == "forbidden" {
		answer(w, http.StatusForbidden, map[string]any{"Type": nil, "Title": "Forbidden", "Status": 403, "Detail": "AuthenticationUnsuccessful"})
		return
	}
	rest := strings.TrimPrefix(r.URL.Path, "/api.xro/2.0/")
	id, one := strings.CutPrefix(rest, "Invoices/")
	switch {
	case rest == "Organisation" && r.Method == http.MethodGet:
		answer(w, http.StatusOK, map[string]any{"Organisations": []any{map[string]any{"OrganisationID": tenant, "Name": "Demo Company", "IsDemoCompany": true}}})
	case one && r.Method == http.MethodGet:
		s.get(w, tenant, id)
	case rest == "Invoices" && r.Method == http.MethodGet:
		s.list(w, r, tenant)
	case rest == "Invoices" && (r.Method == http.MethodPut || r.Method == http.MethodPost):
		s.once(w, r, body, func(w http.ResponseWriter) { s.create(w, r, tenant, body) })
	case one && r.Method == http.MethodPost:
		s.once(w, r, body, func(w http.ResponseWriter) { s.change(w, tenant, id, body) })
	default:
		answer(w, http.StatusNotFound, map[string]any{"Type": "NotFound", "Title": "Not Found", "Status": 404, "Detail": "The resource you're looking for cannot be found"})
	}
}

func answer(w http.ResponseWriter, status int, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	w.Write(body) //nolint:errcheck,gosec // the client may be gone
}

func contains(list []string, s string) bool {
	for _, v := range list {
		if strings.EqualFold(v, s) {
			return true
		}
	}
	return false
}
