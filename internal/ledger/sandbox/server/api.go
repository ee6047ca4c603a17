package server

import (
	"crypto/subtle"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/bojanz/currency"

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

type newInvoice struct {
	Reference    string `json:"reference"`
	CustomerID   string `json:"customer_id"`
	CustomerName string `json:"customer_name"`
	Total        string `json:"total"`
	Currency     string `json:"currency"`
	Post         bool   `json:"post"`
}

func (v newInvoice) refusal() string {
	amount, err := currency.NewAmount(v.Total, v.Currency)
	switch {
	case v.Reference == "" || len([]rune(v.Reference)) > sandbox.MaxReference:
		return fmt.Sprintf("the reference must have 1 to %d characters", sandbox.MaxReference)
	case strings.TrimSpace(v.CustomerID) == "":
		return "the customer is missing"
	case err != nil:
		return "the total or its currency is not valid"
	case !amount.IsPositive():
		return "the total must be above zero"
	case !amount.Round().Equal(amount):
		return "the total has more decimals than the currency"
	}
	return ""
}

func (s *Server) create(c *call) {
	var v newInvoice
	if json.Unmarshal(c.body, &v) != nil {
		reply(c.w, http.StatusBadRequest, refusal{Code: "invalid", Reason: "the body is not JSON"})
		return
	}
	if reason := v.refusal(); reason != "" {
		reply(c.w, http.StatusUnprocessableEntity, refusal{Code: "invalid", Reason: reason, Final: true})
		return
	}
	s.write(c, http.StatusCreated, hashOf("create", string(c.body)), func(now time.Time) (Effect, *refusal) {
		e := Effect{Effect: "created", Books: c.b.Name, Reference: v.Reference, CustomerID: v.CustomerID, CustomerName: v.CustomerName,
			Currency: v.Currency, Total: v.Total, Posted: c.b.SingleStep || v.Post}
		c.alter(&e)
		if c.b.Personality == sandbox.Unique {
			if there := c.b.byRef[fold(e.Reference)]; len(there) > 0 {
				return e, &refusal{status: http.StatusConflict, Code: "duplicate", Reason: "this reference was used before", ID: there[0].ID}
			}
		}
		s.ids++
		e.ID = fmt.Sprintf("inv_%06d", s.ids)
		if e.Posted {
			e.Number = c.b.nextNumber()
		}
		return e, nil
	})
}

func (s *Server) post(c *call) {
	id := c.r.PathValue("id")
	s.write(c, http.StatusOK, hashOf("post", id), func(now time.Time) (Effect, *refusal) {
		r := c.b.byID[id]
		switch {
		case r == nil || r.deleted:
			return Effect{}, &refusal{status: http.StatusNotFound, Code: "not_found", Reason: "there is no such invoice"}
		case r.State == "void":
			return Effect{}, &refusal{status: http.StatusUnprocessableEntity, Code: "void", Reason: "the invoice is void", Final: true}
		case r.State == "posted" && c.b.Personality == sandbox.Unique:
			return Effect{}, &refusal{status: http.StatusConflict, Code: "already_posted", Reason: "the invoice is posted already", ID: r.ID}
		}
		return Effect{Effect: "posted", Books: c.b.Name, ID: id, Reference: r.Reference, Number: c.b.nextNumber(), CustomerID: r.CustomerID,
			Currency: r.Currency, Total: r.Total}, nil
	})
}

// write runs one effect under the personality's rules and answers. Decide runs under the lock.
func (s *Server) write(c *call, status int, hash string, decide func(now time.Time) (Effect, *refusal)) {
	s.mu.Lock()
	replay, refused := c.b.begin(c.key, hash, s.opts.Now())
	s.mu.Unlock()
	if replay != nil {
		c.w.Header().Set("Idempotent-Replayed", "true")
		s.answer(c, status, *replay)
		return
	}
	if refused != nil {
		reply(c.w, refused.status, refused)
		return
	}
	if c.fault == CommitLate { // the key counts as running meanwhile
		wait(c.delay())
	}
	s.mu.Lock()
	now := s.opts.Now()
	effect, refused := decide(now)
	if refused != nil {
		c.b.end(c.key)
		s.mu.Unlock()
		reply(c.w, refused.status, refused)
		return
	}
	effect.At, effect.Key, effect.Hash = now.UTC(), c.key, hash
	record, err := s.commit(c.b, effect)
	if err == nil {
		err = s.afterwards(c, effect)
	}
	var view Record
	if record != nil {
		view = *record
	}
	s.mu.Unlock()
	if err != nil {
		reply(c.w, http.StatusInternalServerError, refusal{Code: "internal", Reason: "the books cannot be written"})
		return
	}
	s.answer(c, status, view)
}

// alter stores something other than what was asked.
func (c *call) alter(e *Effect) {
	asked := e.Reference
	switch c.fault {
	case TrimReference:
		e.Reference = strings.TrimSpace(e.Reference)
	case UpperReference:
		e.Reference = strings.ToUpper(e.Reference)
	case OtherCustomer:
		e.CustomerID = "someone-else"
	case Lag:
		e.LagMS = c.delay().Milliseconds()
	case TotalTimes100, TotalPlusCent, TotalPlusOne:
		e.Total = altered(e.Total, e.Currency, c.fault)
	}
	if e.Reference != asked {
		e.Asked = asked
	}
}

func altered(total, code string, f Fault) string {
	amount, err := currency.NewAmount(total, code)
	if err != nil {
		return total
	}
	digits, _ := currency.GetDigits(code)
	plus := "1"
	switch {
	case f == TotalTimes100:
		amount, _ = amount.Mul("100")
		return amount.Number()
	case f == TotalPlusCent && digits > 0:
		plus = "0." + strings.Repeat("0", int(digits)-1) + "1"
	}
	more, err := currency.NewAmount(plus, code)
	if err != nil {
		return total
	}
	amount, _ = amount.Add(more)
	return amount.Number()
}

// afterwards voids or deletes what was just made. The lock is held.
func (s *Server) afterwards(c *call, e Effect) error {
	after := Effect{Books: e.Books, ID: e.ID, Reference: e.Reference, Asked: e.Asked, At: e.At}
	switch c.fault {
	case Voided:
		after.Effect = "voided"
	case Deleted:
		after.Effect = "deleted"
	default:
		return nil
	}
	_, err := s.commit(c.b, after)
	return err
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
