package erpnext_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bojanz/currency"

	"onefold/internal/ledger"
	"onefold/internal/ledger/erpnext"
	"onefold/internal/ledger/erpnext/erpnexttest"
	"onefold/internal/ledger/ledgertest"
	"onefold/internal/work"
)

func request(t *testing.T, step, reference, total, code string) ledger.Request {
	t.Helper()
	amount, err := currency.NewAmount(total, code)
	if err != nil {
		t.Fatal(err)
	}
	return ledger.Request{Step: step, Reference: reference, Key: "KEY", SendBy: ledger.NewDeadline(time.Now(), time.Hour),
		Invoice: work.Invoice{CustomerID: erpnexttest.Customer, Total: amount, IssueDate: "2026-11-28", DueDate: "2026-12-15"}}
}

// create makes a draft and returns the request that submits it.
func create(t *testing.T, c *erpnext.Client, reference string) ledger.Request {
	t.Helper()
	req := request(t, erpnext.StepCreate, reference, "47.99", "EUR")
	a := ledger.DoSend(t.Context(), c, req, nil)
	if a.Outcome != work.Accepted {
		t.Fatalf("%+v", a)
	}
	req.Step, req.PreviousRecordID = erpnext.StepSubmit, a.Record.ID
	return req
}

func find(t *testing.T, c *erpnext.Client, req ledger.Request) work.Lookup {
	t.Helper()
	return ledger.DoFind(t.Context(), c, ledger.Query{Step: req.Step, Reference: req.Reference, PreviousRecordID: req.PreviousRecordID}, req.Invoice)
}

func each(t *testing.T, test func(t *testing.T, k kind)) {
	for name, k := range kinds {
		t.Run(name, func(t *testing.T) { test(t, k) })
	}
}

func TestWhatCannotBeSentIsNotSent(t *testing.T) {
	c, front, _ := target(t, kind{}, ledgertest.Setup{})
	for name, change := range map[string]func(*ledger.Request){
		"a price in words":     func(r *ledger.Request) { r.Invoice.Lines = []work.Line{{UnitPrice: "one"}} },
		"a price to a power":   func(r *ledger.Request) { r.Invoice.Lines = []work.Line{{UnitPrice: "1e3"}} },
		"a quantity in words":  func(r *ledger.Request) { r.Invoice.Lines = []work.Line{{UnitPrice: "1", Quantity: "two"}} },
		"no draft to submit":   func(r *ledger.Request) { r.Step = erpnext.StepSubmit },
		"an unknown step":      func(r *ledger.Request) { r.Step = "mail" },
		"a draft without name": func(r *ledger.Request) { r.Step, r.PreviousRecordID = erpnext.StepSubmit, "null" },
	} {
		req := request(t, erpnext.StepCreate, "INV-1", "47.99", "EUR")
		change(&req)
		if a := c.Send(t.Context(), req); a.Outcome != work.NotSent || a.Exchange.Error == "" {
			t.Errorf("%s: %+v", name, a)
		}
	}
	if n := len(front.Writes()); n != 0 {
		t.Errorf("%d writes", n)
	}
}

func TestARefusedLoginStopsTheSystemNotTheItem(t *testing.T) {
	c, _, _ := target(t, kind{}, ledgertest.Setup{}, func(x *ledger.Connection) { x.Secrets["api_secret"] = "an old secret" })
	req := request(t, erpnext.StepCreate, "INV-1", "47.99", "EUR")
	if a := ledger.DoSend(t.Context(), c, req, nil); a.Outcome != work.Deferred || !a.Login {
		t.Errorf("%+v", a)
	}
	if l := find(t, c, req); l.Finding != work.FindDeferred || !l.Login {
		t.Errorf("%+v", l)
	}
	if _, err := c.Identity(t.Context()); err == nil || !strings.Contains(err.Error(), "login") {
		t.Errorf("%v", err)
	}
}

// What a proof needs: drafts only, an invoice that is refused for sure, and taking back what was made.
func TestWhatAProofNeeds(t *testing.T) {
	each(t, func(t *testing.T, k kind) {
		c, front, site := target(t, k, ledgertest.Setup{}, func(x *ledger.Connection) { x.DraftsOnly = true })
		if !slices.Equal(c.Steps(), []string{erpnext.StepCreate}) {
			t.Errorf("steps %v", c.Steps())
		}
		req := create(t, c, "INV-1")
		if held := site.Invoices(); len(held) != 1 || held[0].DocStatus != 0 {
			t.Errorf("drafts only: %+v", held)
		}
		if a := c.Send(t.Context(), req); a.Outcome != work.NotSent {
			t.Errorf("drafts only, and submitted: %+v", a)
		}
		if err := c.Remove(t.Context(), req.PreviousRecordID); err != nil || len(site.Invoices()) != 0 {
			t.Errorf("%v, %v stay", err, site.Invoices())
		}
		refused := request(t, erpnext.StepCreate, "INV-2", "47.99", "EUR")
		refused.Invoice.CustomerID = "a customer that cannot exist"
		if a := ledger.DoSend(t.Context(), c, refused, nil); a.Outcome != work.Rejected || front.Effects(erpnext.StepCreate, "INV-2") != 0 {
			t.Errorf("%+v", a)
		}
		live, _, site := target(t, k, ledgertest.Setup{})
		req = create(t, live, "INV-3")
		if !k.atOnce {
			ledger.DoSend(t.Context(), live, req, nil)
		}
		if err := live.Remove(t.Context(), req.PreviousRecordID); err != nil || site.Invoices()[0].DocStatus != 2 {
			t.Errorf("%v, %v", err, site.Invoices())
		}
	})
	if erpnext.Adapter.TestBooks(work.System{}) || !erpnext.Adapter.TestBooks(work.System{Settings: map[string]string{"test_books": "yes"}}) {
		t.Error("test books")
	}
}

func TestSettingsAreChecked(t *testing.T) {
	for _, wrong := range [][2]string{{"company", ""}, {"item", ""}, {"unique_field", "Work Item"}, {"unique_field", "customer"}, {"unique_field", "po_no"},
		{"longest", "1s"}, {"tolerance", "x"}, {"address", "acme"}} {
		c := connection("https://acme.example", kind{}, ledgertest.Setup{})
		if wrong[0] == "address" {
			c.System.Address = wrong[1]
		}
		c.System.Settings[wrong[0]] = wrong[1]
		_, err := erpnext.Adapter.Connect(c)
		var bad *ledger.FieldError
		if !errors.As(err, &bad) || bad.Field != wrong[0] {
			t.Errorf("%v: %v", wrong, err)
		}
	}
}

// The requests as the source of frappe and erpnext has them.
func TestRequestsOnTheWire(t *testing.T) {
	const doc = `{"company":"Acme & Söhne GmbH","currency":"EUR","customer":"Straße Müller GmbH","due_date":"2026-12-15","ignore_default_payment_terms_template":1,
		"ignore_pricing_rule":1,"items":[{"item_code":"SERVICE","description":"a &lt; b","qty":2,"rate":23.995,"item_tax_template":"VAT 7 - A"}],
		"posting_date":"2026-11-28","set_posting_time":1,"remarks":"thanks\nOnefold [INV-1]","taxes_and_charges":"19 % included - A",`
	for k, want := range map[kind][]string{
		{}:             {doc + `"po_no":"INV-1","docstatus":0}`, `{"docstatus":1}`},
		{unique: true}: {doc + `"custom_work_item":"INV-1","docstatus":0}`, `{"docstatus":1}`},
		{true, true}:   {doc + `"custom_work_item":"INV-1","docstatus":1}`},
	} {
		c, _, site := target(t, k, ledgertest.Setup{}, func(x *ledger.Connection) { x.System.Settings["tax_template"] = erpnexttest.TaxIn })
		req := request(t, erpnext.StepCreate, "INV-1", "47.99", "EUR")
		req.Invoice.Note = "thanks"
		req.Invoice.Lines = []work.Line{{Description: "a < b", Quantity: "2", UnitPrice: "23.995", TaxCode: "VAT 7 - A"}}
		a := ledger.DoSend(t.Context(), c, req, nil)
		if req.Step, req.PreviousRecordID = erpnext.StepSubmit, a.Record.ID; !k.atOnce {
			ledger.DoSend(t.Context(), c, req, nil)
		}
		bodies := site.Bodies()
		if len(bodies) != len(want) {
			t.Fatalf("%v: %d writes: %+v", k, len(bodies), a)
		}
		for i, body := range bodies {
			if got, expected := canonical(t, body), canonical(t, []byte(want[i])); got != expected {
				t.Errorf("%v, write %d:\n%s\nwant\n%s", k, i, got, expected)
			}
		}
	}
}

func canonical(t *testing.T, body []byte) string {
	t.Helper()
	var v any
	if err := json.Unmarshal(body, &v); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Where requests go, and what they carry.
func TestWhereRequestsGo(t *testing.T) {
	var seen []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen = append(seen, r.Method+" "+r.URL.EscapedPath()+" "+r.URL.Query().Get("filters"))
		if r.Header.Get("Authorization") != "token "+erpnexttest.Key+":"+ledgertest.Secret || r.Header.Get("Accept") != "application/json" {
			t.Errorf("%v", r.Header)
		}
		w.Write([]byte(`{"data":{"name":"` + erpnexttest.Company + `"}}`)) //nolint:errcheck // a test's own
	}))
	defer s.Close()
	sys, err := erpnext.Adapter.Connect(connection(s.URL, kind{}, ledgertest.Setup{}))
	if err != nil {
		t.Fatal(err)
	}
	req := request(t, erpnext.StepCreate, "INV-1", "47.99", "EUR")
	sys.Send(t.Context(), req)
	req.Step, req.PreviousRecordID = erpnext.StepSubmit, "ACC/1"
	sys.Send(t.Context(), req)
	sys.Find(t.Context(), ledger.Query{Step: erpnext.StepCreate, Reference: "INV-1"})
	want := []string{"POST /api/resource/Sales%20Invoice ", "PUT /api/resource/Sales%20Invoice/ACC%2F1 ", "GET /api/resource/Company/Acme%20&%20S%C3%B6hne%20GmbH ",
		`GET /api/resource/Sales%20Invoice [["po_no","=","INV-1"],["company","=","Acme \u0026 Söhne GmbH"],["is_return","=",0]]`}
	if !slices.Equal(seen, want) {
		t.Errorf("%q\nwant\n%q", seen, want)
	}
}
