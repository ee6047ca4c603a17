// Package odootest is Odoo in memory, as far as the adapter talks to it: state, transactions, access to companies, taxes
// and the two APIs with their ways to report errors. Its lines never break; ledgertest.Serve puts one in front that does.
package odootest

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"onefold/internal/ledger/ledgertest"
	"onefold/internal/work"
)

// What the books hold from the start.
const (
	Database = "acme"
	Login    = "bot@acme.example"
	Company  = 3 // of Database; the user's own company is another one
	Partner  = 7 // a contact; Partner+1 is another one
	TaxAdded = 11
	TaxIn    = 12 // included in the price; both are 19 %
)

// Options of an Odoo.
type Options struct {
	RPC      bool // JSON-RPC instead of JSON-2
	Old      bool // before version 17: there is no web_save
	Key      string
	PageSize int              // most rows of one search; 0: as many as asked for
	Lag      time.Duration    // of the replica that reads go to
	Now      func() time.Time // nil: a clock of its own, which Advance moves
}

// Odoo implements ledgertest.Fake.
type Odoo struct {
	opts Options

	mu     sync.Mutex
	ahead  time.Duration
	moves  []*move
	faults map[work.Kind]ledgertest.Fault
	bodies [][]byte // of the writing requests, in order
}

// New makes empty books.
func New(o Options) *Odoo {
	if start := time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC); o.Now == nil {
		o.Now = func() time.Time { return start }
	}
	return &Odoo{opts: o, faults: map[work.Kind]ledgertest.Fault{}}
}

// request is a call of a method, from either API.
type request struct {
	model, method string
	ids           []int64
	vals          json.RawMessage // of create by position
	named         map[string]json.RawMessage
	service       string // of JSON-RPC: object or common
	signedIn      bool
}

// exception is what a method raises.
type exception struct {
	Name    string `json:"name"`
	Message string `json:"message"`
	Debug   string `json:"debug"`

	status int // by JSON-2
}

func userError(message string) *exception {
	return &exception{Name: "odoo.exceptions.UserError", Message: message, status: http.StatusUnprocessableEntity}
}

// Classify implements ledgertest.Fake.
func (o *Odoo) Classify(r *http.Request, body []byte) ledgertest.Incoming {
	in := ledgertest.Incoming{Key: r.Header.Get("Idempotency-Key")}
	q, ok := o.parse(r, body)
	switch {
	case !ok || q.model != "account.move":
	case q.method == "search_read":
		in.Kind = work.Find
	default:
		in.Kind = work.Send
	}
	return in
}

// parse understands the request in the form of this server's API.
func (o *Odoo) parse(r *http.Request, body []byte) (q request, ok bool) {
	if !o.opts.RPC {
		parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
		if len(parts) != 4 || parts[0] != "json" || parts[1] != "2" || json.Unmarshal(body, &q.named) != nil {
			return q, false
		}
		q.service, q.model, q.method = "object", parts[2], parts[3]
		q.signedIn = r.Header.Get("Authorization") == "bearer "+o.opts.Key && r.Header.Get("X-Odoo-Database") == Database
		_ = json.Unmarshal(q.named["ids"], &q.ids) // none: of the model
		return q, true
	}
	var v struct {
		Params struct {
			Service string            `json:"service"`
			Method  string            `json:"method"`
			Args    []json.RawMessage `json:"args"`
		} `json:"params"`
	}
	if r.URL.Path != "/jsonrpc" || json.Unmarshal(body, &v) != nil {
		return q, false
	}
	args := v.Params.Args
	if q.service = v.Params.Service; q.service == "common" {
		q.signedIn = len(args) == 3 && said(args[0]) == Database && said(args[1]) == Login && said(args[2]) == o.opts.Key
		return q, v.Params.Method == "login"
	}
	if len(args) != 7 || v.Params.Method != "execute_kw" {
		return q, false
	}
	q.signedIn = said(args[0]) == Database && string(args[1]) == "2" && said(args[2]) == o.opts.Key
	q.model, q.method = said(args[3]), said(args[4])
	var positional []json.RawMessage
	if json.Unmarshal(args[5], &positional) != nil || json.Unmarshal(args[6], &q.named) != nil {
		return q, false
	}
	if len(positional) > 0 {
		if q.method == "create" {
			q.vals = positional[0]
		} else {
			_ = json.Unmarshal(positional[0], &q.ids) // none: the method finds nothing
		}
	}
	return q, true
}

func said(b json.RawMessage) (s string) {
	_ = json.Unmarshal(b, &s) // no text is no name
	return s
}

// ServeHTTP implements ledgertest.Fake.
func (o *Odoo) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	q, ok := o.parse(r, body)
	if !ok {
		http.NotFound(w, r)
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	kind := work.Find
	if q.model == "account.move" && q.method != "search_read" {
		kind = work.Send
		o.bodies = append(o.bodies, body)
	}
	fault := o.faults[kind]
	if q.model != "account.move" && fault != "other_books" {
		fault = ""
	}
	switch {
	case q.service == "common" && !q.signedIn:
		o.answer(w, false)
	case q.service == "common":
		o.answer(w, 2)
	case !q.signedIn && o.opts.RPC || fault == "login":
		o.raise(w, &exception{Name: "odoo.exceptions.AccessDenied", Message: "Access Denied", status: http.StatusForbidden})
	case !q.signedIn:
		o.raise(w, &exception{Name: "werkzeug.exceptions.Unauthorized", Message: "Invalid apikey", status: http.StatusUnauthorized})
	case o.spoil(w, fault):
	default:
		before := o.snapshot()
		result, exc := o.call(q, fault)
		if exc != nil {
			o.moves = before // each call is a transaction of its own
			o.raise(w, exc)
			return
		}
		if fault == "error_after_commit" { // a post-commit hook, or the signal to the other workers
			o.raise(w, &exception{Name: "psycopg2.OperationalError", Message: "server closed the connection unexpectedly", status: http.StatusInternalServerError})
			return
		}
		o.answer(w, result)
	}
}

func (o *Odoo) answer(w http.ResponseWriter, result any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	if o.opts.RPC {
		v := map[string]any{"jsonrpc": "2.0", "id": 1}
		if result != nil {
			v["result"] = result
		}
		result = v
	}
	w.Write(encode(result)) //nolint:errcheck,gosec // the client may be gone
}

func (o *Odoo) raise(w http.ResponseWriter, e *exception) {
	e.Debug = "Traceback (most recent call last):\n  File \"/opt/odoo/http.py\", line 2212, in _transactioning\n"
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	if o.opts.RPC {
		w.Write(encode(map[string]any{"jsonrpc": "2.0", "id": 1, "error": map[string]any{"code": 200, "message": "Odoo Server Error", "data": e}})) //nolint:errcheck,gosec // the client may be gone
		return
	}
	w.WriteHeader(e.status)
	w.Write(encode(e)) //nolint:errcheck,gosec // the client may be gone
}

func encode(v any) []byte {
	body, err := json.Marshal(v)
	if err != nil {
		panic(err) // a mistake in the fake
	}
	return body
}

// Bodies are the bodies of the writing requests, in order.
func (o *Odoo) Bodies() [][]byte {
	o.mu.Lock()
	defer o.mu.Unlock()
	return append([][]byte(nil), o.bodies...)
}

// Advance implements ledgertest.Fake.
func (o *Odoo) Advance(d time.Duration) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ahead += d
}

func (o *Odoo) clock() time.Time { return o.opts.Now().Add(o.ahead) }
