package rest_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"onefold/internal/ledger"
	"onefold/internal/ledger/ledgertest"
	"onefold/internal/ledger/rest"
	"onefold/internal/ledger/rest/resttest"
	"onefold/internal/work"
)

const awkward = `O'Brien & Söhne/../x?y=1#z%20"+`

// T23: a reference changes neither the path nor the query nor a filter, whatever is in it.
func TestT23_ReferencesAreEscapedByPlace(t *testing.T) {
	var got []*http.Request
	srv := served(t, func(w http.ResponseWriter, r *http.Request) {
		got = append(got, r)
		says(200, "application/json", `{"list":[]}`)(w, r)
	})
	for name, c := range map[string]struct {
		replace []string
		check   func(r *http.Request) (string, string)
	}{
		"a query": {nil, func(r *http.Request) (string, string) { return r.URL.Query().Get("reference"), awkward }},
		"a path":  {[]string{"    path: [invoices]\n    query", "    path: [by, =.reference, all]\n    query"}, func(r *http.Request) (string, string) { return r.URL.Path, "/by/" + awkward + "/all" }},
		"a filter": {[]string{"reference: =.reference, page", "$filter: {odata: {ref: =.reference}}, page"}, func(r *http.Request) (string, string) {
			return r.URL.Query().Get("$filter"), "ref eq '" + strings.ReplaceAll(awkward, "'", "''") + "'"
		}},
		"a list": {[]string{"reference: =.reference, page", `filters: "=[[\"ref\", \"=\", .reference]]", page`}, func(r *http.Request) (string, string) {
			var v [][]string
			if json.Unmarshal([]byte(r.URL.Query().Get("filters")), &v) != nil {
				return "", awkward
			}
			return v[0][2], awkward
		}},
	} {
		t.Run(name, func(t *testing.T) {
			got = nil
			s := connected(t, changed(t, c.replace...), srv.URL)
			if l := find(t, s, awkward, invoice(t, "47.99", "EUR")); l.Finding != work.NotFound {
				t.Fatalf("%s: %s", l.Finding, l.Exchange.Error)
			}
			if is, want := c.check(got[0]); len(got) != 1 || is != want {
				t.Errorf("%q, want %q", is, want)
			}
		})
	}
}

// What cannot stand in a place is not sent: dots as a part of a path, a line break in a header, another id in an OData path.
func TestUnfitValuesAreNotSent(t *testing.T) {
	requests := 0
	srv := served(t, func(w http.ResponseWriter, r *http.Request) { requests++; says(201, "application/json", good)(w, r) })
	for reference, replace := range map[string][]string{
		"..":                 {"      path: [invoices]\n      body", "      path: [invoices, =.reference]\n      body"},
		"":                   {"      path: [invoices]\n      body", "      path: [invoices, =.reference]\n      body"},
		"x\r\nX-Injected: 1": {"      path: [invoices]\n      body", "      path: [invoices]\n      headers: {X-Reference: =.reference}\n      body"},
		"1) or (1 eq 1":      {"      path: [invoices]\n      body", "      path: [{odata: invoices, id: =.reference}]\n      body"},
	} {
		s := connected(t, changed(t, replace...), srv.URL)
		if a := send(t, s, reference, invoice(t, "47.99", "EUR")); a.Outcome != work.NotSent || requests != 0 {
			t.Errorf("%q: %s (%s), %d requests", reference, a.Outcome, a.Exchange.Error, requests)
		}
	}
}

// T21: amounts travel and come back as they were written, to the last digit: no float is in between.
func TestT21_AmountsAreNeverFloats(t *testing.T) {
	const total = "99999999999999.99" // as a float it would be …0.00
	var body string
	srv := served(t, func(w http.ResponseWriter, r *http.Request) {
		b := make([]byte, 1<<10)
		n, _ := r.Body.Read(b)
		body = string(b[:n])
		says(201, "application/json", strings.Replace(good, "47.99", total, 1))(w, r)
	})
	a := send(t, connected(t, small, srv.URL), "INV-1", invoice(t, total, "EUR"))
	if a.Outcome != work.Accepted || a.Match != work.MatchSame || a.Record.Total.Number() != total {
		t.Errorf("%+v", a)
	}
	if !strings.Contains(body, `"total":`+total) {
		t.Errorf("sent %s", body)
	}
}

// bodyOf is what the vendor's fake was sent for an invoice of two lines.
func bodyOf(t *testing.T, v vendor, drafts bool, in work.Invoice) (answer work.Answer, sent any, query string, records []resttest.Record) {
	t.Helper()
	fake := v.fake(resttest.Options{Secret: ledgertest.Secret})
	var writes []string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if fake.Classify(r, nil).Kind == work.Send {
			writes = append(writes, r.Method+" "+r.URL.RequestURI())
		}
		fake.ServeHTTP(w, r)
	}))
	t.Cleanup(srv.Close)
	sys := work.System{Address: srv.URL, Settings: map[string]string{"preset": v.preset, "values": v.values(srv.URL)}}
	s, err := rest.Adapter.Connect(ledger.Connection{System: sys, Secrets: v.secrets, DraftsOnly: drafts})
	if err != nil {
		t.Fatal(err)
	}
	answer = send(t, s, "INV-2026-11-ACME", in)
	kept := fake.(interface {
		Bodies() []string
		Records() []resttest.Record
	})
	if bodies := kept.Bodies(); len(bodies) > 0 {
		if err := json.Unmarshal([]byte(bodies[0]), &sent); err != nil {
			t.Fatal(err)
		}
		query = writes[0]
	}
	return answer, sent, query, kept.Records()
}

// The requests are held to what the vendors publish: golden requests, written by hand from their descriptions.
func TestPresetsRequests(t *testing.T) {
	in := invoice(t, "119.00", "EUR")
	in.Note = "Thank you"
	in.Lines = []work.Line{{Description: "Support", Quantity: "2", UnitPrice: "50.00", TaxCode: "VAT20"}, {Description: "Travel", Quantity: "1", UnitPrice: "19.00"}}
	for preset, want := range map[string]struct{ query, body string }{
		"invoice-ninja": {"POST /api/v1/invoices?mark_sent=true", `{"client_id":"C-1","number":"INV-2026-11-ACME","date":"2026-11-30","due_date":"2026-12-30","public_notes":"Thank you",
			"uses_inclusive_taxes":true,"line_items":[{"notes":"Support","quantity":2,"cost":50.00,"tax_name1":"VAT20"},{"notes":"Travel","quantity":1,"cost":19.00}]}`},
		"lago": {"POST /api/v1/invoices", `{"invoice":{"external_customer_id":"C-1","currency":"EUR","purchase_order_number":"INV-2026-11-ACME","skip_psp":true,"fees":[
			{"add_on_code":"work","unit_amount_cents":5000,"units":"2","description":"Support","tax_codes":["VAT20"]},
			{"add_on_code":"work","unit_amount_cents":1900,"units":"1","description":"Travel","tax_codes":[]}]}}`},
		"zoho-books": {"POST /books/v3/invoices?organization_id=10234695", `{"customer_id":"C-1","reference_number":"INV-2026-11-ACME","date":"2026-11-30","due_date":"2026-12-30","notes":"Thank you",
			"is_inclusive_tax":true,"line_items":[{"name":"Support","description":"Support","quantity":2,"rate":50.00,"tax_id":"VAT20"},{"name":"Travel","description":"Travel","quantity":1,"rate":19.00}]}`},
		"business-central": {"POST /companies(" + resttest.Company + ")/salesInvoices", `{"customerNumber":"C-1","externalDocumentNumber":"INV-2026-11-ACME","invoiceDate":"2026-11-30","dueDate":"2026-12-30",
			"currencyCode":"EUR","salesInvoiceLines":[{"lineType":"Account","lineObjectNumber":"6110","description":"Support","quantity":2,"unitPrice":50.00,"taxCode":"VAT20"},
			{"lineType":"Account","lineObjectNumber":"6110","description":"Travel","quantity":1,"unitPrice":19.00}]}`},
	} {
		t.Run(preset, func(t *testing.T) {
			_, sent, query, _ := bodyOf(t, vendorOf(t, preset), false, in)
			var golden any
			if err := json.Unmarshal([]byte(want.body), &golden); err != nil {
				t.Fatal(err)
			}
			if query != want.query {
				t.Errorf("%s, want %s", query, want.query)
			}
			if !reflect.DeepEqual(sent, golden) {
				t.Errorf("sent %v\nwant %v", sent, golden)
			}
		})
	}
}

func vendorOf(t *testing.T, preset string) vendor {
	t.Helper()
	for _, v := range vendors {
		if v.preset == preset {
			return v
		}
	}
	t.Fatal(preset)
	return vendor{}
}

// A document that must stay a draft is one, and can be taken away again; Lago has no drafts and says so.
func TestPresetsDrafts(t *testing.T) {
	for _, v := range vendors {
		t.Run(v.preset, func(t *testing.T) {
			fake := v.fake(resttest.Options{Secret: ledgertest.Secret})
			srv := httptest.NewServer(fake)
			t.Cleanup(srv.Close)
			sys := work.System{Address: srv.URL, Settings: map[string]string{"preset": v.preset, "values": v.values(srv.URL)}}
			s, err := rest.Adapter.Connect(ledger.Connection{System: sys, Secrets: v.secrets, DraftsOnly: true})
			if v.preset == "lago" {
				if err == nil {
					t.Error("Lago issues at once, but a draft is promised")
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if steps := s.Steps(); len(steps) != 1 {
				t.Errorf("the steps go on: %v", steps)
			}
			a := send(t, s, "INV-1", invoice(t, "47.99", "EUR"))
			records := fake.(interface{ Records() []resttest.Record }).Records()
			if a.Outcome != work.Accepted || len(records) != 1 || records[0].State != "draft" || records[0].Posts != 0 {
				t.Fatalf("%s, %+v", a.Outcome, records)
			}
			err = s.(ledger.Remover).Remove(t.Context(), a.Record.ID)
			if (err != nil) != (v.preset == "invoice-ninja") { // its number stays taken, which must be said
				t.Errorf("%v", err)
			}
			if records = fake.(interface{ Records() []resttest.Record }).Records(); records[0].State != "deleted" {
				t.Errorf("what is left is %s", records[0].State)
			}
		})
	}
}

// Invoice Ninja does not tell an invoice's currency: one in another currency than the clients' is not sent.
func TestInvoiceNinjaSendsOnlyItsCurrency(t *testing.T) {
	a, _, _, records := bodyOf(t, vendorOf(t, "invoice-ninja"), false, invoice(t, "47.99", "USD"))
	if a.Outcome != work.NotSent || !a.Final || len(records) != 0 || !strings.Contains(a.Exchange.Error, "EUR only") {
		t.Errorf("%+v, %d records", a, len(records))
	}
}

// T14: the number is taken, as after a first send whose answer was lost. That is no refusal.
func TestT14_InvoiceNinjaNumberTakenIsNoRefusal(t *testing.T) {
	s, front := vendorOf(t, "invoice-ninja").connect(t, ledgertest.Setup{Timeout: 10 * time.Second})
	v := invoice(t, "47.99", "EUR")
	front.Misbehave(work.Send, "drop_after")
	send(t, s, "INV-1", v)
	front.Misbehave(work.Send, ledgertest.NoFault)
	if a := send(t, s, "INV-1", v); a.Outcome != work.AlreadyExists {
		t.Errorf("%s: %s", a.Outcome, a.Exchange.Error)
	}
	if l := find(t, s, "INV-1", v); l.Finding != work.FoundMatching {
		t.Errorf("%s: %s", l.Finding, l.Remark)
	}
}

// T9: Business Central upper-cases and trims. Such references are never derived, and one that came back changed is no match.
func TestT9_BusinessCentralChangesReferences(t *testing.T) {
	s, _ := vendorOf(t, "business-central").connect(t, ledgertest.Setup{Timeout: 10 * time.Second})
	if !s.Capabilities().PlainReference || s.Capabilities().MaxReference != 35 {
		t.Errorf("%+v", s.Capabilities())
	}
	v := invoice(t, "47.99", "EUR")
	if a := send(t, s, "inv-1", v); a.Match != work.MatchDifferent {
		t.Errorf("%+v", a)
	}
	if l := find(t, s, "inv-1", v); l.Finding != work.FoundDifferent {
		t.Errorf("%s", l.Finding)
	}
}

// T12: a Lago server that does not tell the purchase order number finds a record, but nobody can say that it is ours.
func TestT12_LagoThatTellsNoReferenceIsForAPerson(t *testing.T) {
	fake := resttest.NewLago(resttest.Options{Secret: ledgertest.Secret})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rec := httptest.NewRecorder()
		fake.ServeHTTP(rec, r)
		w.WriteHeader(rec.Code)
		w.Write([]byte(strings.ReplaceAll(rec.Body.String(), "purchase_order_number", "something_else"))) //nolint:errcheck,gosec // a test
	}))
	t.Cleanup(srv.Close)
	v := vendorOf(t, "lago")
	sys := work.System{Address: srv.URL, Settings: map[string]string{"preset": "lago", "values": v.values("")}}
	s, err := rest.Adapter.Connect(ledger.Connection{System: sys, Secrets: v.secrets})
	if err != nil {
		t.Fatal(err)
	}
	in := invoice(t, "47.99", "EUR")
	send(t, s, "INV-1", in)
	if l := find(t, s, "INV-1", in); l.Finding != work.FoundDifferent {
		t.Errorf("%s: %s", l.Finding, l.Remark)
	}
}

// T18: Invoice Ninja saves, then marks as sent, not in one transaction. A draft that is left is neither the issued invoice nor
// absent: nobody confirms it, nothing is sent again, a person looks.
func TestT18_InvoiceNinjaLeftADraft(t *testing.T) {
	for _, status := range []int{200, 500} {
		fake := resttest.NewInvoiceNinja(resttest.Options{Secret: ledgertest.Secret})
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPost && r.URL.Path == "/api/v1/invoices" {
				r.URL.RawQuery = "" // it saves, and the marking fails
				rec := httptest.NewRecorder()
				fake.ServeHTTP(rec, r)
				says(status, "application/json", rec.Body.String())(w, r)
				return
			}
			fake.ServeHTTP(w, r)
		}))
		t.Cleanup(srv.Close)
		v := vendorOf(t, "invoice-ninja")
		sys := work.System{Address: srv.URL, Settings: map[string]string{"preset": v.preset, "values": v.values("")}}
		s, err := rest.Adapter.Connect(ledger.Connection{System: sys, Secrets: v.secrets})
		if err != nil {
			t.Fatal(err)
		}
		in := invoice(t, "47.99", "EUR")
		if a := send(t, s, "INV-1", in); a.Outcome != work.Unknown {
			t.Errorf("%d: %s", status, a.Outcome)
		}
		if l := find(t, s, "INV-1", in); l.Finding != work.CouldNotTell || !strings.Contains(l.Exchange.Error, "not as this step should leave it") {
			t.Errorf("%d: %s: %s", status, l.Finding, l.Exchange.Error)
		}
	}
}
