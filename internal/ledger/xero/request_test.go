package xero_test

import (
	"bytes"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/pb33f/libopenapi"
	validator "github.com/pb33f/libopenapi-validator"
	"github.com/pb33f/libopenapi-validator/config"

	"onefold/internal/ledger"
	"onefold/internal/ledger/ledgertest"
	"onefold/internal/ledger/xero"
	"onefold/internal/ledger/xero/xerotest"
	"onefold/internal/work"
)

func described(t *testing.T) validator.Validator {
	t.Helper()
	text, err := os.ReadFile("testdata/accounting.yaml")
	if err != nil {
		t.Fatal(err)
	}
	doc, err := libopenapi.NewDocument(text)
	if err != nil {
		t.Fatal(err)
	}
	v, errs := validator.NewValidator(doc, config.WithFormatAssertions(), config.WithStrictMode())
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	if ok, errs := v.ValidateDocument(); !ok {
		t.Fatal(errs)
	}
	return v
}

// wantDescribed holds what reached the Accounting API against its description and returns how many requests there were.
func wantDescribed(t *testing.T, v validator.Validator, all []xerotest.Request) (n int) {
	t.Helper()
	for _, r := range all {
		if !strings.HasPrefix(r.Path, "/api.xro/") {
			continue
		}
		n++
		req, err := http.NewRequestWithContext(t.Context(), r.Method, "https://api.xero.com"+r.Path+"?"+r.Query, bytes.NewReader(r.Body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header = http.Header{}
		for _, name := range []string{"Content-Type", "Idempotency-Key", "Xero-Tenant-Id"} {
			if got := r.Header.Get(name); got != "" {
				req.Header.Set(name, got)
			}
		}
		if ok, errs := v.ValidateHttpRequestSync(req); !ok {
			for _, e := range errs {
				t.Errorf("%s %s: %s: %s\n%s", r.Method, r.Path, e.Message, e.Reason, r.Body)
				for _, s := range e.SchemaValidationErrors {
					t.Errorf("  %s", s.Reason)
				}
			}
		}
	}
	return n
}

// Every request that the adapter makes is one that Xero's published description knows.
func TestRequestsAreAsPublished(t *testing.T) {
	v := described(t)
	for name, set := range map[string][]setting{"number": nil, "reference": {{"reference_field", xero.ReferenceAsText}}, "draft": {{"status", xero.IssueDraft}}} {
		t.Run(name, func(t *testing.T) {
			w := connect(t, xerotest.Options{}, ledgertest.Setup{}, set...)
			if _, err := w.sys.Identity(t.Context()); err != nil {
				t.Fatal(err)
			}
			req := w.request("INV-1")
			req.Invoice = invoice(t, "119.00", work.Line{Description: "Wartung", Quantity: "1.5", UnitPrice: "66.6667", TaxCode: "OUTPUT2"}, work.Line{Quantity: "1", UnitPrice: "19"})
			req.Invoice.Note, req.Invoice.DueDate = "Vielen Dank", "2026-12-30"
			a := w.send(req)
			w.wantOutcome(a, work.Accepted)
			w.wantFinding(w.find(req), work.FoundMatching)
			if err := w.sys.(ledger.Remover).Remove(t.Context(), a.Record.ID); err != nil {
				t.Error(err)
			}
			if n := wantDescribed(t, v, w.fake.Requests()); n != 6 {
				t.Errorf("%d requests, want identity, send, search, read, and to take it back read and change", n)
			}
		})
	}
}

// The description's own test: what must not be sent is noticed.
func TestTheDescriptionNoticesWhatIsWrong(t *testing.T) {
	v := described(t)
	good := `{"Invoices":[{"Type":"ACCREC","Contact":{"ContactID":"` + xerotest.Customer + `"},"LineItems":[{"Description":"x"}],"LineAmountTypes":"Inclusive","CurrencyCode":"EUR","Status":"DRAFT"}]}`
	for name, change := range map[string][2]string{
		"nothing":           {"", ""},
		"a bill":            {"ACCREC", "ACCPAY"},
		"without tax":       {"Inclusive", "Exclusive"},
		"unknown field":     {`"Status"`, `"SentToContact":true,"Status"`},
		"the customer":      {`"ContactID"`, `"Name":"x","ContactID"`},
		"amounts as texts":  {`"Description":"x"`, `"Description":"x","UnitAmount":"1.00"`},
		"two at once":       {`"DRAFT"}]}`, `"DRAFT"},{}]}`},
		"no form of a list": {`{"Invoices":[`, `[`},
	} {
		text := good
		if change[0] != "" {
			text = strings.Replace(good, change[0], change[1], 1)
		}
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPut, "https://api.xero.com/api.xro/2.0/Invoices?summarizeErrors=true&unitdp=4", strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		req.Header = http.Header{"Content-Type": {"application/json"}, "Idempotency-Key": {"k"}, "Xero-Tenant-Id": {xerotest.Tenant}}
		if ok, _ := v.ValidateHttpRequestSync(req); ok != (name == "nothing") {
			t.Errorf("%s: %v", name, ok)
		}
	}
}

// The request to the letter: amounts stay the decimals that they were, whatever a float would make of them.
func TestTheRequestToTheLetter(t *testing.T) {
	w := connect(t, xerotest.Options{}, ledgertest.Setup{}, setting{"tax_type", "OUTPUT2"}, setting{"due_days", "14"})
	req := w.request("INV-2026-11-ACME")
	req.Invoice = invoice(t, "8007199254740993.35", work.Line{Description: "Größe <1> & \"2\"", Quantity: "1", UnitPrice: "8007199254740993.35"})
	w.wantOutcome(w.send(req), work.NotSent) // more digits than we take for a number
	req.Invoice = invoice(t, "900719925474099.35", work.Line{Description: "Größe <1> & \"2\"", Quantity: "1.0", UnitPrice: "900719925474099.35"})
	req.Invoice.Note = "Danke"
	w.wantOutcome(w.send(req), work.Accepted)
	all := w.fake.Requests()
	last := all[len(all)-1]
	const want = `{"Invoices":[{"Type":"ACCREC","Contact":{"ContactID":"430fa14a-f945-44d3-9f97-5df5e28441b8"},"InvoiceNumber":"INV-2026-11-ACME","Reference":"INV-2026-11-ACME","Date":"2026-11-30",` +
		`"DueDate":"2026-12-14","CurrencyCode":"EUR","LineAmountTypes":"Inclusive","LineItems":[{"Description":"Größe \u003c1\u003e \u0026 \"2\"","Quantity":1.0,` +
		`"UnitAmount":900719925474099.35,"AccountCode":"200","TaxType":"OUTPUT2"},{"Description":"Danke"}],"Status":"AUTHORISED"}]}`
	if string(last.Body) != want {
		t.Errorf("sent %s\nwant %s", last.Body, want)
	}
	if last.Method != http.MethodPut || last.Path != "/api.xro/2.0/Invoices" || last.Header.Get("Idempotency-Key") != "KEY-INV-2026-11-ACME" || last.Header.Get("Xero-Tenant-Id") != xerotest.Tenant {
		t.Errorf("%s %s %v", last.Method, last.Path, last.Header)
	}
	if q, _ := url.ParseQuery(last.Query); q.Get("summarizeErrors") != "true" || q.Get("unitdp") != "4" || len(q) != 2 {
		t.Errorf("query %s", last.Query)
	}
}
