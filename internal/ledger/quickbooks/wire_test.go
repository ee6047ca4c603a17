package quickbooks_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"onefold/internal/ledger"
	"onefold/internal/ledger/ledgertest"
	"onefold/internal/ledger/quickbooks"
	"onefold/internal/ledger/quickbooks/quickbookstest"
	"onefold/internal/work"
)

func tax(how, code string) func(*ledger.Connection) {
	return func(c *ledger.Connection) {
		c.System.Settings["tax"], c.System.Settings["tax_code"] = how, code
	}
}

// The requests as the vendor describes them: names, nesting, and numbers that are numbers.
func TestRequestsAsTheVendorDescribesThem(t *testing.T) {
	lines := []work.Line{{Description: "Hosting", Quantity: "3", UnitPrice: "10.10"}, {Description: "Support", Quantity: "0.5", UnitPrice: "35.38", TaxCode: "7"}}
	for name, c := range map[string]struct {
		tax, code string
		lines     []work.Line
		want      string
	}{
		"no lines": {quickbooks.TaxIncluded, "", nil, `{"DocNumber":"INV-1","CustomerRef":{"value":"58"},"CurrencyRef":{"value":"EUR"},"TxnDate":"2026-11-30","DueDate":"2026-12-14",
			"GlobalTaxCalculation":"TaxInclusive","Line":[{"DetailType":"SalesItemLineDetail","Amount":47.99,"SalesItemLineDetail":{"ItemRef":{"value":"1"},"TaxInclusiveAmt":47.99}}],
			"CustomerMemo":{"value":"Thank you"},"PrivateNote":"Onefold reference: INV-1"}`},
		"tax included": {quickbooks.TaxIncluded, "5", lines, `{"DocNumber":"INV-1","CustomerRef":{"value":"58"},"CurrencyRef":{"value":"EUR"},"TxnDate":"2026-11-30","DueDate":"2026-12-14",
			"GlobalTaxCalculation":"TaxInclusive","Line":[
			{"DetailType":"SalesItemLineDetail","Amount":30.30,"Description":"Hosting","SalesItemLineDetail":{"ItemRef":{"value":"1"},"Qty":3,"TaxInclusiveAmt":30.30,"TaxCodeRef":{"value":"5"}}},
			{"DetailType":"SalesItemLineDetail","Amount":17.69,"Description":"Support","SalesItemLineDetail":{"ItemRef":{"value":"1"},"Qty":0.5,"TaxInclusiveAmt":17.69,"TaxCodeRef":{"value":"7"}}}],
			"CustomerMemo":{"value":"Thank you"},"PrivateNote":"Onefold reference: INV-1"}`},
		"added by QuickBooks": {quickbooks.TaxAdded, "NON", lines, `{"DocNumber":"INV-1","CustomerRef":{"value":"58"},"CurrencyRef":{"value":"EUR"},"TxnDate":"2026-11-30","DueDate":"2026-12-14","Line":[
			{"DetailType":"SalesItemLineDetail","Amount":30.30,"Description":"Hosting","SalesItemLineDetail":{"ItemRef":{"value":"1"},"Qty":3,"UnitPrice":10.10,"TaxCodeRef":{"value":"NON"}}},
			{"DetailType":"SalesItemLineDetail","Amount":17.69,"Description":"Support","SalesItemLineDetail":{"ItemRef":{"value":"1"},"Qty":0.5,"UnitPrice":35.38,"TaxCodeRef":{"value":"7"}}}],
			"CustomerMemo":{"value":"Thank you"},"PrivateNote":"Onefold reference: INV-1"}`},
		"none": {quickbooks.TaxNone, "", nil, `{"DocNumber":"INV-1","CustomerRef":{"value":"58"},"CurrencyRef":{"value":"EUR"},"TxnDate":"2026-11-30","DueDate":"2026-12-14",
			"GlobalTaxCalculation":"NotApplicable","Line":[{"DetailType":"SalesItemLineDetail","Amount":47.99,"SalesItemLineDetail":{"ItemRef":{"value":"1"}}}],
			"CustomerMemo":{"value":"Thank you"},"PrivateNote":"Onefold reference: INV-1"}`},
	} {
		t.Run(name, func(t *testing.T) {
			sys, company, front := connected(t, quickbookstest.Options{}, patient, tax(c.tax, c.code))
			req := request(t, "INV-1")
			req.Invoice.Lines, req.Invoice.IssueDate, req.Invoice.DueDate, req.Invoice.Note = c.lines, "2026-11-30", "2026-12-14", "Thank you"
			a := send(t, sys, req)
			if a.Outcome != work.Accepted || a.Match != work.MatchSame {
				t.Errorf("%s, %s: %s %s", a.Outcome, a.Match, a.Exchange.Error, a.Remark)
			}
			if got, want := string(company.Bodies[0]), compact(t, c.want); got != want {
				t.Errorf("sent\n%s\nwant\n%s", got, want)
			}
			if q := company.Queries[0]; q.Get("requestid") != "KEY-INV-1" || q.Get("minorversion") != "75" || len(q) != 2 {
				t.Errorf("query %v", q)
			}
			if strings.Contains(strings.ToLower(a.Exchange.Request), "idempotency") || !strings.HasPrefix(a.Exchange.Request, "POST /v3/company/"+quickbookstest.Realm+"/invoice?") {
				t.Error(a.Exchange.Request)
			}
			if front.Writes()[0].Key != "KEY-INV-1" {
				t.Error("the key did not travel as it is")
			}
		})
	}
}

func compact(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	if err := json.Compact(&b, []byte(text)); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Amounts are decimals all the way: no float in between.
func TestAmountsToTheLastCent(t *testing.T) {
	for _, total := range []string{"0.01", "0.30", "1.10", "1234567.89", work.MaxTotal} {
		sys, company, _ := connected(t, quickbookstest.Options{}, patient)
		req := request(t, "INV-1")
		req.Invoice.Total = amount(t, total)
		if a := send(t, sys, req); a.Match != work.MatchSame || a.Record.Total.Number() != total {
			t.Errorf("%s: %s, %s", total, a.Match, a.Record.Total.Number())
		}
		if l := find(t, sys, req); l.Finding != work.FoundMatching || l.Remark != "" {
			t.Errorf("%s: %s %s", total, l.Finding, l.Remark)
		}
		if !strings.Contains(string(company.Bodies[0]), `"Amount":`+total+`,`) {
			t.Errorf("%s", company.Bodies[0])
		}
	}
}

// What would make another invoice than was asked for is not sent at all.
func TestLinesThatDoNotFitAreNotSent(t *testing.T) {
	for name, lines := range map[string][]work.Line{
		"do not add up to":    {{Quantity: "1", UnitPrice: "47.98"}},
		"quantity or price":   {{Quantity: "1e1", UnitPrice: "4.799"}},
		"a number in plain":   {{Quantity: "NaN", UnitPrice: "47.99"}},
		"number in plain dig": {{Quantity: "1", UnitPrice: ".5"}},
	} {
		sys, _, front := connected(t, quickbookstest.Options{}, patient)
		req := request(t, "INV-1")
		req.Invoice.Lines = lines
		a := send(t, sys, req)
		if a.Outcome != work.NotSent || !a.Final || len(front.Writes()) != 0 {
			t.Errorf("%s: %s, %d writes", name, a.Outcome, len(front.Writes()))
		}
	}
}

// T10: the number is at most 21 characters; a longer one is refused there, and never cut here.
func TestLongNumbersAreNotCut(t *testing.T) {
	sys, company, _ := connected(t, quickbookstest.Options{}, patient)
	a := send(t, sys, request(t, "INV-2026-11-0000000001"))
	if a.Outcome != work.Rejected || !a.Final || len(company.Records()) != 0 {
		t.Errorf("%s, %d invoices", a.Outcome, len(company.Records()))
	}
	caps := sys.Capabilities()
	reference, err := work.Reference("", "INV-2026-11-0000000001", caps)
	if err != nil || len(reference) > 21 {
		t.Errorf("%q, %v", reference, err)
	}
	key, err := work.Key(1, "monthly", strings.Repeat("long ", 40), quickbooks.StepCreate, caps)
	if err != nil || len(work.RevisionKey(key, 12)) > 50 {
		t.Errorf("%q, %v", key, err)
	}
}

// T8 and T9: the same requestid goes over the wire each time, to the letter, and only once per call.
func TestTrial80_And_81_TheSameRequestID(t *testing.T) {
	sys, company, front := connected(t, quickbookstest.Options{}, patient)
	front.Misbehave(work.Send, "drop_after")
	send(t, sys, request(t, "INV-1"))
	front.Misbehave(work.Send, ledgertest.NoFault)
	send(t, sys, request(t, "INV-1"))
	for _, q := range company.Queries {
		if len(q["requestid"]) != 1 || q.Get("requestid") != "KEY-INV-1" || q.Has("include") {
			t.Errorf("query %v", q)
		}
	}
	if len(company.Queries) != 2 {
		t.Errorf("%d requests", len(company.Queries))
	}
}
