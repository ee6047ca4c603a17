// Package stripetest is Stripe's invoicing in memory, with its state: keys that are remembered for a day with whatever they
// brought, errors included, a list that is exact and a search that lags. It answers as Stripe's API description and its
// pages on idempotent requests and low-level errors tell.
package stripetest

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"time"

	"onefold/internal/ledger/ledgertest"
	"onefold/internal/ledger/misbehave"
	"onefold/internal/work"
)

// KeyLifetime is how long a key is remembered at least; the fake forgets it at once after that.
const KeyLifetime = 24 * time.Hour

// Account is whose books these are.
const Account = "acct_1Onefold"

// Options make a Fake.
type Options struct {
	Key      string           // the secret key that it asks for
	Now      func() time.Time // nil: a clock of its own that stands still
	PageSize int              // most records on a page, however many are asked for; 0: as asked
	Live     bool             // live mode
}

// Fake is one Stripe account in memory. It implements ledgertest.Fake.
type Fake struct {
	o Options

	mu       sync.Mutex
	ahead    time.Duration
	fault    map[work.Kind]ledgertest.Fault
	invoices []*Invoice // oldest first
	keys     map[string]*saved
	asked    []url.Values // the queries of lists
	searches int
	bodies   []string // of writing requests, as they came
}

// Invoice is a record as it is held.
type Invoice struct {
	ID, Status, Customer, Currency, Number string
	Metadata                               map[string]string
	Lines                                  []Line
	AutoAdvance                            bool
	Deleted                                bool
	Created                                time.Time

	asked     string // the reference that it was asked for under
	lined     int    // how often lines were added
	finalized int
}

// Line is one line of an invoice, in the currency's smallest unit.
type Line struct {
	Amount      int64
	Description string
}

// Total adds the lines up.
func (v Invoice) Total() (sum int64) {
	for _, l := range v.Lines {
		sum += l.Amount
	}
	return sum
}

type saved struct {
	print   [32]byte
	at      time.Time
	working bool
	status  int
	body    []byte
}

// New makes an account without invoices.
func New(o Options) *Fake {
	if o.Now == nil {
		o.Now = func() time.Time { return time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC) }
	}
	return &Fake{o: o, fault: map[work.Kind]ledgertest.Fault{}, keys: map[string]*saved{}}
}

func (f *Fake) now() time.Time { return f.o.Now().Add(f.ahead) }

// Classify implements ledgertest.Fake.
func (*Fake) Classify(r *http.Request, _ []byte) ledgertest.Incoming {
	in := ledgertest.Incoming{Key: r.Header.Get("Idempotency-Key")}
	switch {
	case r.Method == http.MethodPost:
		in.Kind = work.Send
	case r.Method == http.MethodGet && strings.HasPrefix(r.URL.Path, "/v1/invoices"):
		in.Kind = work.Find
	}
	return in
}

// own are the faults that only Stripe itself can commit.
var own = map[work.Kind]map[ledgertest.Fault]bool{
	work.Send: {"sticky_500": true, "sticky_500_after": true, "commit_late": true, "reject": true, "reject_final": true, "reject_charset": true,
		"reject_long": true, "reject_zero_byte": true, "reject_not_utf8": true, "zero_id": true, "null_id": true, "empty_id": true, "numeric_id": true,
		"total_times_100": true, "total_plus_one": true, "other_customer": true, "voided": true, "trim_reference": true, "upper_reference": true,
		"forbidden": true, "other_record": true, "as_before": true},
	work.Find: {"search_error": true, "search_empty": true, "search_broken_page": true},
}

// Misbehave implements ledgertest.Fake.
func (f *Fake) Misbehave(kind work.Kind, fault ledgertest.Fault) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if fault == ledgertest.NoFault {
		clear(f.fault)
		return true
	}
	if !own[kind][fault] {
		return false
	}
	f.fault[kind] = fault
	return true
}

// Effects implements ledgertest.Fake.
func (f *Fake) Effects(step, reference string) (n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, v := range f.invoices {
		switch {
		case v.asked != reference:
		case step == "create":
			n++
		case step == "lines":
			n += v.lined
		default:
			n += v.finalized
		}
	}
	return n
}

// Advance implements ledgertest.Fake.
func (f *Fake) Advance(d time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ahead += d
}

// ServeHTTP implements ledgertest.Fake.
func (f *Fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	if r.Header.Get("Authorization") != "Bearer "+f.o.Key {
		refuse(w, http.StatusUnauthorized, "invalid_request_error", "", "Invalid API Key provided")
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.tick()
	switch r.Method {
	case http.MethodPost:
		f.write(w, r, body)
	case http.MethodDelete:
		f.remove(w, strings.TrimPrefix(r.URL.Path, "/v1/invoices/"))
	default:
		f.read(w, r)
	}
}

// tick lets Stripe do by itself what it does: a draft that advances is finalized an hour later.
func (f *Fake) tick() {
	for _, v := range f.invoices {
		if v.AutoAdvance && v.Status == "draft" && !f.now().Before(v.Created.Add(time.Hour)) {
			f.finalize(v)
		}
	}
}

// write is the layer of keys around a writing request. What failed its check is not saved; all else is, errors included.
func (f *Fake) write(w http.ResponseWriter, r *http.Request, body []byte) {
	f.bodies = append(f.bodies, string(body))
	key, print := r.Header.Get("Idempotency-Key"), sha256.Sum256(append([]byte(r.URL.Path+"\n"), body...))
	was := f.keys[key]
	if was != nil && !was.working && !f.now().Before(was.at.Add(KeyLifetime)) {
		was = nil // forgotten
	}
	if key != "" && was != nil {
		switch {
		case was.working:
			refuse(w, http.StatusConflict, "idempotency_error", "idempotency_key_in_use", "There is currently another in-progress request using this Idempotent Key.")
		case was.print != print:
			refuse(w, http.StatusBadRequest, "idempotency_error", "", "Keys for idempotent requests can only be used with the same parameters they were first used with.")
		default:
			w.Header().Set("Idempotent-Replayed", "true")
			respond(w, was.status, was.body)
		}
		return
	}
	form, err := url.ParseQuery(string(body))
	do := f.operation(r.URL.Path, form)
	if err != nil || do == nil {
		refuse(w, http.StatusNotFound, "invalid_request_error", "url_invalid", "Unrecognized request URL.")
		return
	}
	fault := f.fault[work.Send]
	if fault == "forbidden" {
		refuse(w, http.StatusForbidden, "invalid_request_error", "", "The provided key does not have the required permissions for this endpoint.")
		return
	}
	if fault == "reject_final" {
		refuse(w, http.StatusBadRequest, "invalid_request_error", "parameter_invalid_string", "the customer is blocked")
		return
	}
	mine := &saved{print: print, at: f.now(), working: true}
	f.keys[key] = mine
	if fault == "commit_late" {
		f.mu.Unlock()
		misbehave.Wait(600 * time.Millisecond)
		f.mu.Lock()
	}
	answer := httptest.NewRecorder()
	f.execute(answer, do, fault)
	mine.working, mine.status, mine.body = false, answer.Code, answer.Body.Bytes()
	for name, values := range answer.Header() {
		w.Header()[name] = values
	}
	respond(w, mine.status, mine.body)
}

func respond(w http.ResponseWriter, status int, body []byte) {
	if w.Header().Get("Content-Type") == "" {
		w.Header().Set("Content-Type", "application/json")
	}
	w.WriteHeader(status)
	w.Write(body) //nolint:errcheck,gosec // the client may be gone
}

func refuse(w http.ResponseWriter, status int, kind, code, message string) {
	body, err := json.Marshal(map[string]any{"error": map[string]string{"type": kind, "code": code, "message": message}})
	if err != nil {
		return
	}
	respond(w, status, bytes.ReplaceAll(body, []byte("RAW"), []byte("\xfc")))
}
