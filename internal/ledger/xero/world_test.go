package xero_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/bojanz/currency"

	"onefold/internal/ledger"
	"onefold/internal/ledger/ledgertest"
	"onefold/internal/ledger/xero"
	"onefold/internal/ledger/xero/xerotest"
	"onefold/internal/work"
)

// world is one connection to one fake, with the line in between.
type world struct {
	t      *testing.T
	fake   *xerotest.Server
	front  *ledgertest.Front
	tokens *ledgertest.Tokens
	sys    ledger.System
	conn   ledger.Connection
}

// setting changes one setting of the connection; an empty name changes nothing.
type setting struct{ name, value string }

func connect(t *testing.T, o xerotest.Options, s ledgertest.Setup, set ...setting) *world {
	t.Helper()
	o.Secret = ledgertest.Secret
	w := &world{t: t, fake: xerotest.New(o), tokens: &ledgertest.Tokens{}}
	w.front = ledgertest.Serve(t, w.fake)
	access, refresh := w.fake.Login()
	w.tokens.Connect(ledger.Token{Access: access, Refresh: refresh})
	w.conn = ledger.Connection{System: work.System{Address: w.front.URL(), Policy: work.DefaultPolicy(),
		Settings: map[string]string{"client_id": xerotest.ClientID, "account": xerotest.Account, "tenant": xerotest.Tenant}},
		Secrets: map[string]string{"client_secret": ledgertest.Secret}, Tokens: w.tokens, Now: s.Now, MaxBody: s.MaxBody}
	if s.Timeout > 0 {
		w.conn.System.Policy.RequestTimeout = s.Timeout
	}
	for _, v := range set {
		w.conn.System.Settings[v.name] = v.value
	}
	w.connect()
	return w
}

// connect makes the system anew, as another server does.
func (w *world) connect() {
	w.t.Helper()
	var err error
	if w.sys, err = xero.Adapter.Connect(w.conn); err != nil {
		w.t.Fatal(err)
	}
	if c, ok := w.sys.(*xero.Client); ok {
		w.t.Cleanup(c.Close)
	}
}

func invoice(t *testing.T, total string, lines ...work.Line) work.Invoice {
	t.Helper()
	amount, err := currency.NewAmount(total, "EUR")
	if err != nil {
		t.Fatal(err)
	}
	return work.Invoice{CustomerID: xerotest.Customer, CustomerName: "Straße Müller GmbH", Total: amount, IssueDate: "2026-11-30", Lines: lines}
}

func (w *world) request(reference string) ledger.Request {
	return ledger.Request{Step: xero.StepCreate, Reference: reference, Key: "KEY-" + reference, Invoice: invoice(w.t, "47.99"), SendBy: ledger.NewDeadline(time.Now(), time.Hour)}
}

func (w *world) send(req ledger.Request) work.Answer {
	return ledger.DoSend(w.t.Context(), w.sys, req, nil)
}

func (w *world) find(req ledger.Request) work.Lookup {
	return ledger.DoFind(w.t.Context(), w.sys, ledger.Query{Step: req.Step, Reference: req.Reference, Customer: req.Invoice.CustomerID}, req.Invoice)
}

func (w *world) wantOutcome(a work.Answer, want work.Outcome) {
	w.t.Helper()
	if a.Outcome != want {
		w.t.Fatalf("%s, want %s: %s", a.Outcome, want, a.Exchange.Error)
	}
}

func (w *world) wantFinding(l work.Lookup, want work.Finding) {
	w.t.Helper()
	if l.Finding != want {
		w.t.Fatalf("%s, want %s: %s %s", l.Finding, want, l.Remark, l.Exchange.Error)
	}
}

// wantRecords asserts how many records were ever made under the reference.
func (w *world) wantRecords(reference string, n int) {
	w.t.Helper()
	if got := w.fake.Effects(xero.StepCreate, reference); got != n {
		w.t.Fatalf("%d records under %s, want %d", got, reference, n)
	}
}

// answering is a Xero that gives one answer to every write.
func answering(t *testing.T, status int, contentType, body string) *world {
	t.Helper()
	w := connect(t, xerotest.Options{}, ledgertest.Setup{})
	h := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, _ *http.Request) {
		out.Header().Set("Content-Type", contentType)
		out.WriteHeader(status)
		out.Write([]byte(body)) //nolint:errcheck,gosec // the client may be gone
	}))
	t.Cleanup(h.Close)
	w.conn.System.Address = h.URL
	w.connect()
	return w
}
