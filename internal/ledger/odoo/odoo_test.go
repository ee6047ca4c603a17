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

// A search that lags behind (a read replica) must not be taken for absence within the lag that is declared.
func TestT3_AReplicaIsBehind(t *testing.T) {
	fake := odootest.New(odootest.Options{Key: ledgertest.Secret, Lag: 45 * time.Second})
	front := ledgertest.Serve(t, fake)
	sys, err := odoo.Adapter.Connect(connection(front.URL(), "json-2", ledgertest.Setup{Timeout: time.Minute}))
	if err != nil {
		t.Fatal(err)
	}
	c := sys.(*odoo.Client)
	req := request(t, odoo.StepCreate, "INV-1", "47.99", "EUR")
	create(t, c, "INV-1")
	if l := find(t, c, req); l.Finding != work.NotFound {
		t.Fatalf("the fake's replica is not behind: %+v", l)
	}
	fake.Advance(c.Capabilities().SearchLag)
	if l := find(t, c, req); l.Finding != work.FoundMatching {
		t.Errorf("after the declared lag: %s", l.Finding)
	}
	if c.Capabilities().Misses < 2 {
		t.Error("one miss would prove absence")
	}
}

// Nothing that Odoo does not promise is declared, and no request carries a key that it ignores (T5, T20).
func TestT20_NeitherKeysNorUniqueReferences(t *testing.T) {
	c, front, _ := target(t, "json-2", ledgertest.Setup{})
	if caps := c.Capabilities(); caps.HonoursKeys || caps.UniqueReferences || caps.Linger < 10*time.Minute {
		t.Errorf("%+v", caps)
	}
	create(t, c, "INV-1")
	create(t, c, "INV-1")
	if n := front.Effects(odoo.StepCreate, "INV-1"); n != 2 {
		t.Errorf("the fake made %d records of two sends: it must not be safer than Odoo", n)
	}
	for _, w := range front.Writes() {
		if w.Key != "" {
			t.Error("a key travels that Odoo ignores")
		}
	}
}

// Rights may hide rows: a company that the user may not see is an error, never "not found".
func TestT12_ACompanyThatMayNotBeSeenIsNoAbsence(t *testing.T) {
	eachAPI(t, func(t *testing.T, api string) {
		c, front, _ := target(t, api, ledgertest.Setup{})
		create(t, c, "INV-1")
		other := connection(front.URL(), api, ledgertest.Setup{Timeout: time.Minute}, func(c *ledger.Connection) { c.System.Settings["company"] = "99" })
		sys, err := odoo.Adapter.Connect(other)
		if err != nil {
			t.Fatal(err)
		}
		if l := find(t, sys.(*odoo.Client), request(t, odoo.StepCreate, "INV-1", "47.99", "EUR")); l.Finding != work.CouldNotTell {
			t.Errorf("%+v", l)
		}
		if identity, err := sys.Identity(t.Context()); err == nil {
			t.Errorf("the identity is %q", identity)
		}
	})
}

// Posting what is posted already is no refusal: the first posting succeeded.
func TestT14_PostedAlreadyIsNoRefusal(t *testing.T) {
	eachAPI(t, func(t *testing.T, api string) {
		c, front, _ := target(t, api, ledgertest.Setup{})
		req := create(t, c, "INV-1")
		for _, want := range []work.Outcome{work.Accepted, work.AlreadyExists} {
			if a := ledger.DoSend(t.Context(), c, req, nil); a.Outcome != want {
				t.Errorf("%+v, want %s", a, want)
			}
		}
		if l := find(t, c, req); l.Finding != work.FoundMatching || l.Record.Number == "" || front.Effects(odoo.StepPost, "INV-1") != 1 {
			t.Errorf("%+v", l)
		}
	})
}

// An exception may also follow the commit. Unless its kind is raised by the method itself it proves nothing.
func TestT17_AnInternalErrorProvesNothing(t *testing.T) {
	eachAPI(t, func(t *testing.T, api string) {
		for fault, effects := range map[ledgertest.Fault]int{"error_after_commit": 1, "server_error": 0} {
			c, front, _ := target(t, api, ledgertest.Setup{})
			if _, err := c.Identity(t.Context()); err != nil {
				t.Fatal(err)
			}
			front.Misbehave(work.Send, fault)
			a := ledger.DoSend(t.Context(), c, request(t, odoo.StepCreate, "INV-1", "47.99", "EUR"), nil)
			if a.Outcome != work.Unknown || front.Effects(odoo.StepCreate, "INV-1") != effects {
				t.Errorf("%s: %+v", fault, a)
			}
		}
	})
}

// Between the steps people may change the reference or delete the draft: neither makes it absent.
func TestT18_TheDraftIsFollowedByItsID(t *testing.T) {
	eachAPI(t, func(t *testing.T, api string) {
		c, _, fake := target(t, api, ledgertest.Setup{})
		req := create(t, c, "INV-1")
		fake.Edit("INV-1", "changed by hand")
		if a := ledger.DoSend(t.Context(), c, req, nil); a.Outcome != work.Accepted {
			t.Fatalf("%+v", a)
		}
		if l := find(t, c, req); l.Finding != work.FoundDifferent {
			t.Errorf("posted under another reference: %+v", l)
		}
		gone := create(t, c, "INV-2")
		if err := c.Remove(t.Context(), gone.PreviousRecordID); err != nil {
			t.Fatal(err)
		}
		if l := find(t, c, gone); l.Finding != work.CouldNotTell {
			t.Errorf("the draft is gone: %+v", l)
		}
		if a := ledger.DoSend(t.Context(), c, gone, nil); a.Outcome != work.Rejected || !a.Final {
			t.Errorf("posting what is gone: %+v", a)
		}
	})
}

// Odoo adds the company's usual tax to lines that tell none, so each line tells its taxes.
func TestT21_TheTotalIsTheTotal(t *testing.T) {
	line := func(tax string) work.Line {
		return work.Line{Description: "x", Quantity: "2", UnitPrice: "50.00", TaxCode: tax}
	}
	for name, c := range map[string]struct {
		tax   string // of the setting
		lines []work.Line
		match work.Match
	}{
		"without lines":           {match: work.MatchSame},
		"without tax":             {lines: []work.Line{line("")}, match: work.MatchSame},
		"tax of the setting":      {tax: strconv.Itoa(odootest.TaxIn), lines: []work.Line{line("")}, match: work.MatchSame},
		"tax of the line":         {lines: []work.Line{line(strconv.Itoa(odootest.TaxIn))}, match: work.MatchSame},
		"a tax that is added":     {lines: []work.Line{line(strconv.Itoa(odootest.TaxAdded))}, match: work.MatchDifferent},
		"the setting's adds, too": {tax: strconv.Itoa(odootest.TaxAdded), match: work.MatchDifferent},
	} {
		t.Run(name, func(t *testing.T) {
			for _, api := range []string{"json-2", "json-rpc"} {
				cl, _, _ := target(t, api, ledgertest.Setup{}, func(x *ledger.Connection) { x.System.Settings["tax"] = c.tax })
				req := request(t, odoo.StepCreate, "INV-1", "100.00", "EUR")
				req.Invoice.Lines = c.lines
				if a := ledger.DoSend(t.Context(), cl, req, nil); a.Outcome != work.Accepted || a.Match != c.match {
					t.Errorf("%s: %s %s: %s", api, a.Outcome, a.Match, a.Remark)
				}
			}
		})
	}
}

func TestTrial58_AmountsDigitByDigit(t *testing.T) {
	eachAPI(t, func(t *testing.T, api string) {
		c, _, fake := target(t, api, ledgertest.Setup{})
		for reference, total := range map[string][2]string{"A": {"5000", "JPY"}, "B": {"12.345", "KWD"}, "C": {"99999747361065.39", "EUR"}, "D": {"7", "USD"}} {
			req := request(t, odoo.StepCreate, reference, total[0], total[1])
			if a := ledger.DoSend(t.Context(), c, req, nil); a.Outcome != work.Accepted {
				t.Errorf("%v: %+v", total, a)
			}
			if held := fake.Totals(reference); len(held) != 1 || strings.TrimSuffix(held[0], ".00") != total[0] {
				t.Errorf("%v is held as %v", total, held)
			}
			if l := find(t, c, req); l.Finding != work.FoundMatching {
				t.Errorf("%v: %s %s", total, l.Finding, l.Remark)
			}
		}
	})
}

// Conditions travel as JSON: no character of a reference changes the search.
func TestT23_ReferencesAreEscaped(t *testing.T) {
	eachAPI(t, func(t *testing.T, api string) {
		c, _, _ := target(t, api, ledgertest.Setup{})
		for _, reference := range []string{`a","=","b`, `50% "x" 'y' _`, `請求書/7?#&`, `a\b <c>`} {
			create(t, c, reference)
			if l := find(t, c, request(t, odoo.StepCreate, reference, "47.99", "EUR")); l.Finding != work.FoundMatching || l.Count != 1 {
				t.Errorf("%q: %s %s", reference, l.Finding, l.Remark)
			}
		}
	})
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
		"invoice_payment_term_id":false,"journal_id":4,"move_type":"out_invoice","narration":"a &lt; b","partner_id":7,"ref":"INV-1"}`
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
