package odoo_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bojanz/currency"

	"onefold/internal/ledger"
	"onefold/internal/ledger/ledgertest"
	"onefold/internal/ledger/odoo"
	"onefold/internal/ledger/odoo/odootest"
	"onefold/internal/work"
)

func request(t *testing.T, step, reference, total, code string) ledger.Request {
	t.Helper()
	amount, err := currency.NewAmount(total, code)
	if err != nil {
		t.Fatal(err)
	}
	return ledger.Request{Step: step, Reference: reference, Key: "KEY", SendBy: ledger.NewDeadline(time.Now(), time.Hour),
		Invoice: work.Invoice{CustomerID: strconv.Itoa(odootest.Partner), Total: amount, IssueDate: "2026-11-30", DueDate: "2026-12-30"}}
}

func create(t *testing.T, c *odoo.Client, reference string) ledger.Request {
	t.Helper()
	req := request(t, odoo.StepCreate, reference, "47.99", "EUR")
	a := ledger.DoSend(t.Context(), c, req, nil)
	if a.Outcome != work.Accepted {
		t.Fatalf("%+v", a)
	}
	req.Step, req.PreviousRecordID = odoo.StepPost, a.Record.ID
	return req
}

func find(t *testing.T, c *odoo.Client, req ledger.Request) work.Lookup {
	t.Helper()
	return ledger.DoFind(t.Context(), c, ledger.Query{Step: req.Step, Reference: req.Reference, PreviousRecordID: req.PreviousRecordID}, req.Invoice)
}

func eachAPI(t *testing.T, test func(t *testing.T, api string)) {
	for _, api := range apis {
		t.Run(api, func(t *testing.T) { test(t, api) })
	}
}

func TestWhatCannotBeSentIsNotSent(t *testing.T) {
	eachAPI(t, func(t *testing.T, api string) {
		c, front, _ := target(t, api, ledgertest.Setup{}, func(x *ledger.Connection) { x.System.Settings["tax"] = "" })
		bad := map[string]ledger.Request{}
		for name, change := range map[string]func(*ledger.Request){
			"a customer by name":  func(r *ledger.Request) { r.Invoice.CustomerID = "Acme" },
			"customer 0":          func(r *ledger.Request) { r.Invoice.CustomerID = "0" },
			"a tax by name":       func(r *ledger.Request) { r.Invoice.Lines = []work.Line{{UnitPrice: "1", TaxCode: "19%"}} },
			"a price in words":    func(r *ledger.Request) { r.Invoice.Lines = []work.Line{{UnitPrice: "one"}} },
			"a price to a power":  func(r *ledger.Request) { r.Invoice.Lines = []work.Line{{UnitPrice: "1e3"}} },
			"no draft to post":    func(r *ledger.Request) { r.Step = odoo.StepPost },
			"a draft without id":  func(r *ledger.Request) { r.Step, r.PreviousRecordID = odoo.StepPost, "abc" },
			"an unknown step":     func(r *ledger.Request) { r.Step = "mail" },
			"an unknown currency": func(r *ledger.Request) { r.Invoice.Total, _ = currency.NewAmount("10", "CHF") },
		} {
			req := request(t, odoo.StepCreate, "INV-1", "47.99", "EUR")
			change(&req)
			bad[name] = req
		}
		for name, req := range bad {
			if a := c.Send(t.Context(), req); a.Outcome != work.NotSent || a.Exchange.Error == "" {
				t.Errorf("%s: %+v", name, a)
			}
		}
		if n := len(front.Writes()); n != 0 {
			t.Errorf("%d writes", n)
		}
	})
}

func TestARefusedLoginStopsTheSystemNotTheItem(t *testing.T) {
	eachAPI(t, func(t *testing.T, api string) {
		c, front, _ := target(t, api, ledgertest.Setup{}, func(x *ledger.Connection) { x.Secrets["key"] = "an old key" })
		a := ledger.DoSend(t.Context(), c, request(t, odoo.StepCreate, "INV-1", "47.99", "EUR"), nil)
		if a.Outcome != work.Deferred || !a.Login || len(front.Writes()) != 0 {
			t.Errorf("%+v", a)
		}
		if l := find(t, c, request(t, odoo.StepCreate, "INV-1", "47.99", "EUR")); l.Finding != work.FindDeferred || !l.Login {
			t.Errorf("%+v", l)
		}
		if _, err := c.Identity(t.Context()); err == nil || !strings.Contains(err.Error(), "login") {
			t.Errorf("%v", err)
		}
	})
}

// What a proof needs: drafts only, an invoice that is refused for sure, and taking back what was made.
func TestWhatAProofNeeds(t *testing.T) {
	eachAPI(t, func(t *testing.T, api string) {
		c, front, fake := target(t, api, ledgertest.Setup{}, func(x *ledger.Connection) { x.DraftsOnly = true })
		if !slices.Equal(c.Steps(), []string{odoo.StepCreate}) {
			t.Errorf("steps %v", c.Steps())
		}
		req := create(t, c, "INV-1")
		if a := c.Send(t.Context(), req); a.Outcome != work.NotSent {
			t.Errorf("drafts only, and posted: %+v", a)
		}
		if err := c.Remove(t.Context(), req.PreviousRecordID); err != nil || len(fake.States("INV-1")) != 0 {
			t.Errorf("%v, %v stay", err, fake.States("INV-1"))
		}
		refused := request(t, odoo.StepCreate, "INV-2", "47.99", "EUR")
		refused.Invoice = odoo.Adapter.Refused(refused.Invoice)
		if a := ledger.DoSend(t.Context(), c, refused, nil); a.Outcome != work.Rejected || front.Effects(odoo.StepCreate, "INV-2") != 0 {
			t.Errorf("%+v", a)
		}
		live, _, fake := target(t, api, ledgertest.Setup{})
		req = create(t, live, "INV-3")
		if a := ledger.DoSend(t.Context(), live, req, nil); a.Outcome != work.Accepted {
			t.Fatalf("%+v", a)
		}
		if err := live.Remove(t.Context(), req.PreviousRecordID); err != nil || !slices.Equal(fake.States("INV-3"), []string{"cancel"}) {
			t.Errorf("%v, %v", err, fake.States("INV-3"))
		}
		if odoo.Adapter.TestBooks(work.System{}) || !odoo.Adapter.TestBooks(work.System{Settings: map[string]string{"test_books": "yes"}}) {
			t.Error("test books")
		}
	})
}

func TestSettingsAreChecked(t *testing.T) {
	for field, value := range map[string]string{"database": "", "company": "Acme", "journal": "0", "tax": "x", "longest": "1s", "tolerance": "-1", "login": "", "address": "acme"} {
		c := connection("https://acme.example", "json-rpc", ledgertest.Setup{})
		if field == "address" {
			c.System.Address = value
		}
		c.System.Settings[field] = value
		_, err := odoo.Adapter.Connect(c)
		var bad *ledger.FieldError
		if !errors.As(err, &bad) || bad.Field != field {
			t.Errorf("%s=%q: %v", field, value, err)
		}
	}
}

// The requests as the vendor's documentation and source describe them (External JSON-2 API; odoo/service/model.py).
func TestRequestsOnTheWire(t *testing.T) {
	const vals = `{"company_id":3,"currency_id":1,"invoice_date":"2026-11-30","invoice_date_due":"2026-12-30",
		"invoice_line_ids":[[0,0,{"name":"Hosting","price_unit":23.995,"quantity":2,"tax_ids":[[6,0,[12]]],"product_id":5,"account_id":6}]],
		"invoice_origin":"INV-1","invoice_payment_term_id":false,"journal_id":4,"move_type":"out_invoice","narration":"a &lt; b","partner_id":7,"ref":"INV-1"}`
	const context = `{"lang":"en_US","allowed_company_ids":[3],"active_test":false}`
	const specification = `{"name":{},"ref":{},"partner_id":{},"amount_total":{},"state":{},"currency_id":{"fields":{"name":{}}},"company_id":{"fields":{"create_date":{}}}}`
	want := map[string][2]string{
		"json-2": {
			`{"ids":[],"context":` + context + `,"vals":` + vals + `,"specification":` + specification + `}`,
			`{"ids":[1],"context":` + context + `}`,
		},
		"json-rpc": {
			rpc(`"account.move","web_save",[[]],{"context":` + context + `,"vals":` + vals + `,"specification":` + specification + `}`),
			rpc(`"account.move","action_post",[[1]],{"context":` + context + `}`),
		},
		"json-rpc-old": {
			rpc(`"account.move","create",[` + vals + `],{"context":` + context + `}`),
			rpc(`"account.move","action_post",[[1]],{"context":` + context + `}`),
		},
	}
	eachAPI(t, func(t *testing.T, api string) {
		c, _, fake := target(t, api, ledgertest.Setup{}, func(x *ledger.Connection) {
			for name, v := range map[string]string{"journal": "4", "product": "5", "account": "6", "tax": "12"} {
				x.System.Settings[name] = v
			}
		})
		req := request(t, odoo.StepCreate, "INV-1", "47.99", "EUR")
		req.Invoice.Note = "a < b"
		req.Invoice.Lines = []work.Line{{Description: "Hosting", Quantity: "2", UnitPrice: "23.995"}}
		a := ledger.DoSend(t.Context(), c, req, nil)
		req.Step, req.PreviousRecordID = odoo.StepPost, a.Record.ID
		ledger.DoSend(t.Context(), c, req, nil)
		bodies := fake.Bodies()
		if len(bodies) != 2 {
			t.Fatalf("%d writes: %+v", len(bodies), a)
		}
		for i, body := range bodies {
			if got, expected := canonical(t, body), canonical(t, []byte(want[api][i])); got != expected {
				t.Errorf("write %d:\n%s\nwant\n%s", i, got, expected)
			}
		}
	})
}

func rpc(args string) string {
	return `{"jsonrpc":"2.0","id":1,"method":"call","params":{"service":"object","method":"execute_kw","args":["acme",2,"` + ledgertest.Secret + `",` + args + `]}}`
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

// The headers that the documentation names, and where each API lives.
func TestWhereRequestsGo(t *testing.T) {
	for api, path := range map[string]string{"json-2": "/json/2/res.company/search_read", "json-rpc": "/jsonrpc"} {
		var got *http.Request
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			got = r
			w.WriteHeader(http.StatusTeapot)
		}))
		sys, err := odoo.Adapter.Connect(connection(s.URL, api, ledgertest.Setup{}))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := sys.Identity(t.Context()); err == nil {
			t.Error("a teapot keeps books")
		}
		s.Close()
		if got.Method != http.MethodPost || got.URL.Path != path || !strings.HasPrefix(got.Header.Get("Content-Type"), "application/json") {
			t.Errorf("%s: %s %s", api, got.Method, got.URL.Path)
		}
		if key, db := got.Header.Get("Authorization"), got.Header.Get("X-Odoo-Database"); api == "json-2" && (key != "bearer "+ledgertest.Secret || db != odootest.Database) || api != "json-2" && key != "" {
			t.Errorf("%s: %q, %q", api, key, db)
		}
	}
}
