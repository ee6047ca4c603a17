package server

import (
	"crypto/subtle"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"

	"onefold/internal/ledger/sandbox"
)

const mostBytes = 1 << 20 // of a request

// Address of the books' identity on every answer.
const booksHeader = "X-Books"

func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("POST /{books}/api/invoices", s.api(Create, s.create))
	mux.Handle("POST /{books}/api/invoices/{id}/post", s.api(Post, s.post))
	mux.Handle("POST /{books}/api/invoices/{id}/void", s.api("void", s.void))
	mux.Handle("GET /{books}/api/invoices", s.api(Find, s.search))
	mux.Handle("GET /{books}/api/invoices/{id}", s.api(Get, s.get))
	mux.Handle("GET /{books}/api/identity", s.api(Identity, s.identity))
	mux.Handle("GET /{books}/api/customers", s.api("customers", s.customers))
	mux.HandleFunc("/{books}/moved/{rest...}", s.moved)
	s.control(mux)
	s.pages(mux)
	return mux
}

// call is one request to the API with everything that its handler needs.
type call struct {
	w     http.ResponseWriter
	r     *http.Request
	b     *books
	kind  Kind
	body  []byte
	key   string
	rule  Rule
	fault Fault
}

func (s *Server) api(kind Kind, handle func(*call)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b := s.books[r.PathValue("books")]
		if b == nil {
			reply(w, http.StatusNotFound, refusal{Code: "no_books", Reason: "there are no such books"})
			return
		}
		c := &call{w: w, r: r, b: b, kind: kind, key: r.Header.Get("Idempotency-Key")}
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, mostBytes))
		s.mu.Lock()
		s.arrived(b.Name, kind, c.key)
		out := s.opts.Now().Before(s.outage)
		closed := s.broken != nil
		s.mu.Unlock()
		w.Header().Set(booksHeader, b.Identity)
		switch {
		case err != nil:
			reply(w, http.StatusRequestEntityTooLarge, refusal{Code: "too_large", Reason: "the request is too large"})
			return
		case out || closed:
			reply(w, http.StatusServiceUnavailable, refusal{Code: "outage", Reason: "the accounting system is down"})
			return
		case !s.welcome(r):
			reply(w, http.StatusUnauthorized, refusal{Code: "login", Reason: "the token is not valid"})
			return
		}
		c.body = body
		s.choose(c)
		if s.before(c) {
			return
		}
		if c.fault == OtherBooks {
			c.b = b.other
			w.Header().Set(booksHeader, c.b.Identity)
		}
		handle(c)
	})
}

// choose asks the plan; rules about one reference see the reference that the request is about.
func (s *Server) choose(c *call) {
	s.mu.Lock()
	chooser := s.chooser
	reference := c.r.URL.Query().Get("reference")
	if rec := c.b.byID[c.r.PathValue("id")]; rec != nil {
		reference = rec.asked
	}
	s.mu.Unlock()
	if c.kind == Create {
		var v struct{ Reference string }
		_ = json.Unmarshal(c.body, &v) // the handler reports what is wrong with it
		reference = v.Reference
	}
	if rule, ok := chooser.pick(c.kind, c.b.Name, reference); ok {
		c.rule, c.fault = rule, rule.Fault
	}
}

func (s *Server) welcome(r *http.Request) bool {
	return s.opts.Token == "" || subtle.ConstantTimeCompare([]byte(r.Header.Get("Authorization")), []byte("Bearer "+s.opts.Token)) == 1
}

func (s *Server) void(c *call) {
	id := c.r.PathValue("id")
	s.mu.Lock()
	defer s.mu.Unlock()
	r := c.b.byID[id]
	switch {
	case r == nil || r.deleted:
		reply(c.w, http.StatusNotFound, refusal{Code: "not_found", Reason: "there is no such invoice"})
		return
	case r.State != "void":
		if _, err := s.commit(c.b, Effect{Effect: "voided", Books: c.b.Name, ID: id, Reference: r.Reference, At: s.opts.Now().UTC()}); err != nil {
			reply(c.w, http.StatusInternalServerError, refusal{Code: "internal", Reason: "the books cannot be written"})
			return
		}
	}
	reply(c.w, http.StatusOK, map[string]any{"invoice": *r})
}

func (s *Server) search(c *call) {
	if c.b.Personality != sandbox.Unique && c.b.Personality != sandbox.Search {
		reply(c.w, http.StatusNotImplemented, refusal{Code: "no_search", Reason: "these books cannot be searched"})
		return
	}
	page, err := strconv.Atoi(c.r.URL.Query().Get("page"))
	if err != nil || page < 1 {
		page = 1
	}
	if c.fault == SearchBrokenPage && page > 1 {
		reply(c.w, http.StatusInternalServerError, refusal{Code: "internal"})
		return
	}
	s.mu.Lock()
	hits, next := c.b.search(c.r.URL.Query().Get("reference"), page, s.opts.Now())
	s.mu.Unlock()
	switch c.fault {
	case SearchEmpty:
		hits, next = []Record{}, 0
	case SearchBrokenPage:
		next = 2
	}
	s.send(c, http.StatusOK, map[string]any{"invoices": hits, "next_page": next})
}

func (s *Server) get(c *call) {
	s.mu.Lock()
	var view Record
	there := false
	if r := c.b.byID[c.r.PathValue("id")]; r != nil && !r.deleted {
		view, there = *r, true
	}
	s.mu.Unlock()
	if !there {
		reply(c.w, http.StatusNotFound, refusal{Code: "not_found", Reason: "there is no such invoice"})
		return
	}
	s.send(c, http.StatusOK, map[string]any{"invoice": view})
}

func (s *Server) identity(c *call) {
	s.send(c, http.StatusOK, map[string]any{"books": c.b.Identity, "title": c.b.Title, "personality": c.b.Personality})
}

func (s *Server) customers(c *call) {
	type customer struct {
		ID       string `json:"id"`
		Name     string `json:"name,omitempty"`
		Invoices int    `json:"invoices"`
	}
	s.mu.Lock()
	at := map[string]int{}
	list := []customer{}
	for _, r := range c.b.records {
		i, ok := at[r.CustomerID]
		if !ok {
			i = len(list)
			at[r.CustomerID] = i
			list = append(list, customer{ID: r.CustomerID, Name: r.CustomerName})
		}
		list[i].Invoices++
	}
	s.mu.Unlock()
	reply(c.w, http.StatusOK, map[string]any{"customers": list})
}

// moved is where redirects point. A client that follows one is counted and gets a list.
func (s *Server) moved(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.arrived(r.PathValue("books"), Moved, "")
	s.mu.Unlock()
	reply(w, http.StatusOK, map[string]any{"invoices": strangers(6000)})
}

// strangers are records that have nothing to do with the request.
func strangers(n int) []Record {
	list := make([]Record, n)
	for i := range list {
		list[i] = Record{ID: fmt.Sprintf("old_%05d", i), Reference: fmt.Sprintf("OLD-%d", i), CustomerID: "c", Total: "1.00", Currency: "EUR", State: "posted"}
	}
	return list
}

func reply(w http.ResponseWriter, status int, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	w.Write(body) //nolint:errcheck,gosec // the client may be gone
}
