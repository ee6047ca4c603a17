// Package trytontest has what the adapter to Tryton is tested with: a Tryton in memory that misbehaves on request, and the
// real server of Debian's packages.
package trytontest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"onefold/internal/ledger/ledgertest"
	"onefold/internal/work"
)

// What the fake and the prepared books of the real server have in common.
const (
	Database = "books" // of the fake; copies of the real one have a number behind it
	User     = "onefold"
	Password = ledgertest.Secret
	Company  = 1
	Revenue  = "8400"
	Tax      = "VAT 20"
	Customer = "2" // the party's code
	Other    = "3"
	Homeless = "4" // has no address
)

// Fake is a Tryton in memory. It answers as server 6.0 does, as far as the adapter asks.
type Fake struct {
	mu       sync.Mutex
	now      time.Time
	sessions map[string]time.Time // when it was used last
	mistyped int                  // passwords since the last right one
	books    []*Record            // of all companies
	fault    map[work.Kind]ledgertest.Fault
	calls    []Call

	stranger bool // the user was taken out of the company
}

// ErrorInside is an error inside 200 after the commit, as when something fails behind it.
const ErrorInside ledgertest.Fault = "error_inside"

// Call is a request as it came.
type Call struct {
	Method string
	Params []json.RawMessage
	Basic  bool // with the password, not with a session
	Header http.Header
}

// Record is an invoice as the fake holds it.
type Record struct {
	ID        int
	Asked     string // the reference that was asked for
	Reference string
	Number    *string
	State     string
	Total     cents
	Party     string // code
	Currency  string
	Company   int
	Posts     int // times that posting it had an effect
}

// NewFake returns an empty one.
func NewFake() *Fake {
	return &Fake{now: time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC), sessions: map[string]time.Time{}, fault: map[work.Kind]ledgertest.Fault{}}
}

// Classify implements ledgertest.Fake.
func (f *Fake) Classify(_ *http.Request, body []byte) ledgertest.Incoming {
	switch methodOf(body) {
	case createMethod, postMethod:
		return ledgertest.Incoming{Kind: work.Send}
	case searchMethod, "model.res.user.get_preferences":
		return ledgertest.Incoming{Kind: work.Find}
	}
	return ledgertest.Incoming{}
}

const (
	createMethod = "model.account.invoice.create"
	postMethod   = "model.account.invoice.post"
	searchMethod = "model.account.invoice.search_read"
)

// methodOf is the method that a request calls.
func methodOf(body []byte) string {
	var v struct {
		Method string `json:"method"`
	}
	_ = json.Unmarshal(body, &v)
	return v.Method
}

var own = map[work.Kind][]ledgertest.Fault{
	work.Send: {"reject", "reject_charset", "reject_long", "reject_zero_byte", "reject_not_utf8", "zero_id", "null_id", "empty_id", "numeric_id",
		"total_times_100", "total_plus_one", "other_customer", "voided", "trim_reference", "upper_reference", "other_books", ErrorInside},
	work.Find: {"search_error", "search_empty", "other_books"},
}

// Misbehave implements ledgertest.Fake.
func (f *Fake) Misbehave(kind work.Kind, fault ledgertest.Fault) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if fault == ledgertest.NoFault {
		clear(f.fault)
		return true
	}
	if !slices.Contains(own[kind], fault) {
		return false
	}
	f.fault[kind] = fault
	return true
}

// Effects implements ledgertest.Fake.
func (f *Fake) Effects(step, reference string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := 0
	for _, r := range f.books {
		switch {
		case r.Asked != reference:
		case step == "create":
			n++
		default:
			n += r.Posts
		}
	}
	return n
}

// Advance implements ledgertest.Fake.
func (f *Fake) Advance(d time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.now = f.now.Add(d)
}

// Calls are the requests to the database that came, in order.
func (f *Fake) Calls() []Call {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.calls)
}

// Change changes the invoices with that reference, as a person may who works in Tryton.
func (f *Fake) Change(reference string, change func(r *Record)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, r := range f.books {
		if r.Asked == reference {
			change(r)
		}
	}
}

// Hide takes the user out of the company: it sees none of its invoices, and Tryton does not say so.
func (f *Fake) Hide() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.stranger = true
}

// EndSessions makes all sessions unknown, as a change of the password does.
func (f *Fake) EndSessions() {
	f.mu.Lock()
	defer f.mu.Unlock()
	clear(f.sessions)
}

func (f *Fake) company() int {
	if f.fault[work.Send] == "other_books" || f.fault[work.Find] == "other_books" {
		return Company + 1 // all that is asked for and made is in another database
	}
	return Company
}

// userError is a refusal as Tryton answers it.
func userError(message string) any {
	return []any{"UserError", []any{message, "", nil}}
}

func answer(w http.ResponseWriter, member string, v any) {
	body, err := json.Marshal(map[string]any{"id": 1, member: v})
	if err != nil {
		panic(err)
	}
	w.Header().Set("Content-Type", "application/json")
	w.Write(body) //nolint:errcheck,gosec // the client may be gone
}

// page is how Tryton answers outside its envelope.
func page(w http.ResponseWriter, status int) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	fmt.Fprintf(w, "<!doctype html>\n<html lang=en>\n<title>%d %s</title>\n", status, http.StatusText(status)) //nolint:errcheck // the client may be gone
}

func trimmed(reference string) string { return strings.TrimSpace(reference) }
