package rest_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/bojanz/currency"

	"onefold/internal/ledger"
	"onefold/internal/ledger/ledgertest"
	"onefold/internal/ledger/rest"
	"onefold/internal/work"
)

// small is a definition of one step, with parts to replace.
const small = `name: Small
auth:
  bearer: {secret: token}
can:
  linger: 1m
identity:
  request: {method: GET, path: [company]}
  books: .body.company
  login: true
record:
  id: .id
  reference: .reference
  customer: .customer
  total: .total
  currency: .currency
steps:
  - name: create
    request:
      method: POST
      path: [invoices]
      body: "{reference: .reference, customer: .invoice.customer_id, total: (.invoice.total | decimal), currency: .invoice.currency}"
    answer:
      accepted: .status == 201
      rejected: .status == 422
      reason: .body.reason
      record: .body
search:
  request:
    method: GET
    path: [invoices]
    query: {reference: =.reference, page: =.page}
  done: .status == 200
  records: .body.list
  one_page: true
`

// changed is small with replacements: old, new, …
func changed(t *testing.T, replace ...string) string {
	t.Helper()
	text := small
	for i := 0; i < len(replace); i += 2 {
		if !strings.Contains(text, replace[i]) {
			t.Fatalf("there is no %q in the definition", replace[i])
		}
		text = strings.Replace(text, replace[i], replace[i+1], 1)
	}
	return text
}

func connected(t *testing.T, definition, address string) ledger.System {
	t.Helper()
	sys := work.System{Address: address, Settings: map[string]string{"definition": definition}}
	sys.Policy.RequestTimeout = 10 * time.Second
	c, err := rest.Adapter.Connect(ledger.Connection{System: sys, Secrets: map[string]string{"token": ledgertest.Secret}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.(interface{ Close() }).Close)
	return c
}

// served is a server that answers all but the question whose books these are with the handler.
func served(t *testing.T, h http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/company" {
			w.Write([]byte(`{"company":"acme"}`)) //nolint:errcheck,gosec // a test
			return
		}
		h(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

// says is a handler that always gives the same answer.
func says(status int, contentType, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(status)
		w.Write([]byte(body)) //nolint:errcheck,gosec // a test
	}
}

func invoice(t *testing.T, total, code string) work.Invoice {
	t.Helper()
	amount, err := currency.NewAmount(total, code)
	if err != nil {
		t.Fatal(err)
	}
	return work.Invoice{CustomerID: "C-1", Total: amount, IssueDate: "2026-11-30", DueDate: "2026-12-30"}
}

func send(t *testing.T, s ledger.System, reference string, v work.Invoice) work.Answer {
	t.Helper()
	return ledger.DoSend(t.Context(), s, ledger.Request{Step: "create", Reference: reference, Key: "KEY-1", Invoice: v, SendBy: ledger.NewDeadline(time.Now(), time.Hour)}, nil)
}

func find(t *testing.T, s ledger.System, reference string, v work.Invoice) work.Lookup {
	t.Helper()
	return ledger.DoFind(t.Context(), s, ledger.Query{Step: "create", Reference: reference}, v)
}

// refusedOrFails asserts that an expression is refused when it is saved, or gives nothing.
func refusedOrFails(t *testing.T, what, definition string) {
	t.Helper()
	c, err := rest.Adapter.Connect(ledger.Connection{System: work.System{Address: served(t, says(200, "application/json", "{}")).URL, Settings: map[string]string{"definition": definition}}})
	if err != nil {
		return
	}
	if id, err := c.Identity(t.Context()); err == nil {
		t.Errorf("%s gives %q", what, id)
	}
}
