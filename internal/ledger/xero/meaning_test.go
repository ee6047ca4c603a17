package xero_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"onefold/internal/ledger"
	"onefold/internal/ledger/ledgertest"
	"onefold/internal/ledger/xero/xerotest"
	"onefold/internal/work"
)

// T16: a refusal inside 200, and what is no refusal although it carries errors.
func TestT16_TheBodyDecides(t *testing.T) {
	w := connect(t, xerotest.Options{}, ledgertest.Setup{})
	w.front.Misbehave(work.Send, "never_summed_up")
	req := w.request("INV-1")
	req.Invoice.CustomerID = "00000000-0000-4000-8000-00000000dead"
	a := w.send(req)
	w.wantOutcome(a, work.Rejected)
	if !strings.Contains(a.Exchange.Error, "The Contact could not be found") {
		t.Error(a.Exchange.Error)
	}
	w.front.Misbehave(work.Send, "error_with_id")
	a = w.send(w.request("INV-2"))
	w.wantOutcome(a, work.Unknown)
	w.wantRecords("INV-2", 1)
	if !a.Positive || !strings.Contains(a.Exchange.Error, "could not be e-mailed") {
		t.Errorf("%+v", a)
	}
	for body, want := range map[string]work.Outcome{
		`{"Invoices":[]}`: work.Unknown, `{"Invoices":null}`: work.Unknown, `{}`: work.Unknown, `{"Status":"OK"}`: work.Unknown,
		`{"Invoices":[{"InvoiceID":"a1"},{"InvoiceID":"b2"}]}`:                                             work.Unknown,
		`{"Invoices":[{"InvoiceID":"a1","Type":"ACCPAY"}]}`:                                                work.Unknown,
		`{"Invoices":[{"InvoiceID":"a1","HasErrors":true}]}`:                                               work.Unknown,
		`{"Invoices":[{"StatusAttributeString":"ERROR"}]}`:                                                 work.Rejected,
		`{"Invoices":[{"InvoiceID":"a1","Warnings":[{"Message":"w"}],"StatusAttributeString":"WARNING"}]}`: work.Accepted,
	} {
		w := answering(t, http.StatusOK, "application/json", body)
		if a := w.send(w.request("INV-1")); a.Outcome != want {
			t.Errorf("%s: %s, want %s", body, a.Outcome, want)
		}
	}
	for status, want := range map[int]work.Outcome{http.StatusCreated: work.Unknown, http.StatusNotFound: work.Unknown, http.StatusConflict: work.Unknown, http.StatusForbidden: work.Unknown} {
		w := answering(t, status, "application/json", `{"Invoices":[{"InvoiceID":"a1"}]}`)
		if a := w.send(w.request("INV-1")); a.Outcome != want {
			t.Errorf("%d: %s, want %s", status, a.Outcome, want)
		}
	}
}

// T18: a draft is no issued invoice, and a proof on live books issues nothing.
func TestT18_DraftsAreNotIssued(t *testing.T) {
	w := connect(t, xerotest.Options{}, ledgertest.Setup{})
	w.front.Misbehave(work.Send, "draft_only")
	a := w.send(w.request("INV-1"))
	w.wantOutcome(a, work.Unknown)
	if !a.Positive {
		t.Error("Xero names a record")
	}
	l := w.find(w.request("INV-1"))
	w.wantFinding(l, work.CouldNotTell)
	if !strings.Contains(l.Exchange.Error, "approve it or delete it") {
		t.Error(l.Exchange.Error)
	}

	w = connect(t, xerotest.Options{}, ledgertest.Setup{})
	w.conn.DraftsOnly = true
	w.connect()
	w.wantOutcome(w.send(w.request("INV-1")), work.Accepted)
	w.wantFinding(w.find(w.request("INV-1")), work.FoundMatching)
	if all := w.fake.Invoices(); len(all) != 1 || all[0].Status != "DRAFT" {
		t.Errorf("%+v", all)
	}
}

// T19: where Xero numbers the invoices our reference is not the number.
func TestT19_XerosOwnNumber(t *testing.T) {
	w := connect(t, xerotest.Options{}, ledgertest.Setup{}, byText)
	a := w.send(w.request("INV-1"))
	if a.Outcome != work.Accepted || a.Record.Reference != "INV-1" || a.Record.Number == "" || a.Record.Number == "INV-1" {
		t.Errorf("%+v", a.Record)
	}
	all := w.fake.Requests()
	if body := string(all[len(all)-1].Body); strings.Contains(body, "InvoiceNumber") {
		t.Error(body)
	}
}

// T21: lines as Xero adds them up. What would not add up is not sent: issued, it would be a wrong invoice.
func TestT21_LinesAddUpAsXeroDoes(t *testing.T) {
	for name, c := range map[string]struct {
		total string
		lines []work.Line
		want  work.Outcome
	}{
		"one line":                {"47.99", nil, work.Accepted},
		"four decimals":           {"100.01", []work.Line{{Description: "a", Quantity: "3", UnitPrice: "33.3367"}}, work.Accepted},
		"rounded line by line":    {"0.03", []work.Line{{Description: "a", Quantity: "0.5", UnitPrice: "0.01"}, {Description: "b", Quantity: "0.5", UnitPrice: "0.03"}}, work.Accepted},
		"a discount":              {"90.00", []work.Line{{Description: "a", Quantity: "1", UnitPrice: "100"}, {Description: "off", Quantity: "-1", UnitPrice: "10.00"}}, work.Accepted},
		"a cent of rounding":      {"100.00", []work.Line{{Description: "a", Quantity: "3", UnitPrice: "33.3333"}, {Description: "b", Quantity: "1", UnitPrice: "0.01"}}, work.Accepted},
		"prices without tax":      {"119.00", []work.Line{{Description: "a", Quantity: "1", UnitPrice: "100.00"}}, work.NotSent},
		"five decimals":           {"1.00", []work.Line{{Description: "a", Quantity: "1", UnitPrice: "1.00001"}}, work.NotSent},
		"a float":                 {"1.00", []work.Line{{Description: "a", Quantity: "1e0", UnitPrice: "1"}}, work.NotSent},
		"a fraction":              {"1.00", []work.Line{{Description: "a", Quantity: "1/1", UnitPrice: "1"}}, work.NotSent},
		"a comma":                 {"1.50", []work.Line{{Description: "a", Quantity: "1", UnitPrice: "1,50"}}, work.NotSent},
		"no number":               {"1.00", []work.Line{{Description: "a", Quantity: "", UnitPrice: "1"}}, work.NotSent},
		"an endless description":  {"1.00", []work.Line{{Description: strings.Repeat("ä", 4001), Quantity: "1", UnitPrice: "1"}}, work.NotSent},
		"a long one that just is": {"1.00", []work.Line{{Description: strings.Repeat("ä", 4000), Quantity: "1", UnitPrice: "1"}}, work.Accepted},
	} {
		t.Run(name, func(t *testing.T) {
			w := connect(t, xerotest.Options{}, ledgertest.Setup{})
			req := w.request("INV-1")
			req.Invoice = invoice(t, c.total, c.lines...)
			a := w.send(req)
			w.wantOutcome(a, c.want)
			if c.want == work.NotSent {
				if len(w.front.Writes()) != 0 || a.Exchange.Error == "" {
					t.Errorf("%d writes: %q", len(w.front.Writes()), a.Exchange.Error)
				}
				return
			}
			if a.Match != work.MatchSame {
				t.Errorf("%s: %s", a.Match, a.Remark)
			}
			w.wantFinding(w.find(req), work.FoundMatching)
		})
	}
}

// T23: a comma would make two numbers of one, a quote would end the filter: the search would say "not there".
func TestT23_WhatTheSearchCannotCarryIsNotSent(t *testing.T) {
	for _, set := range [][]setting{nil, {byText}} {
		w := connect(t, xerotest.Options{}, ledgertest.Setup{}, set...)
		if !w.sys.Capabilities().PlainReference {
			t.Error("references would be made with such characters")
		}
		for _, reference := range []string{"A,B", `A"B`, `A\B`, "A\nB", " ", "", `A" OR Reference!="`} {
			w.wantOutcome(w.send(w.request(reference)), work.NotSent)
			w.wantFinding(w.find(w.request(reference)), work.CouldNotTell)
		}
		if n := len(w.fake.Requests()); n != 0 {
			t.Errorf("%d requests", n)
		}
		for _, reference := range []string{"A&B=C", "A/B", "A+B%41", "ÄÖ#1?", "A'B", "A==B"} { // these only need escaping
			w.wantOutcome(w.send(w.request(reference)), work.Accepted)
			w.wantFinding(w.find(w.request(reference)), work.FoundMatching)
		}
	}
}

// T24: another request went out under our key, from wherever: that is evidence, no refusal.
func TestT24_AKeyThatAnotherRequestUsed(t *testing.T) {
	for _, set := range [][]setting{nil, {byText}} {
		w := connect(t, xerotest.Options{}, ledgertest.Setup{}, set...)
		first := w.request("INV-1")
		w.wantOutcome(w.send(first), work.Accepted)
		second := w.request("INV-2")
		second.Key = first.Key
		w.wantOutcome(w.send(second), work.AlreadyExists)
		w.wantRecords("INV-2", 0)
		w.wantFinding(w.find(second), work.NotFound) // the engine takes this to a person
	}
}

// Trials 97 to 99: each limit with the wait that belongs to it.
func TestTrial97_WaitsByTheLimitThatWasReached(t *testing.T) {
	for fault, want := range map[ledgertest.Fault]time.Duration{
		"limit:minute:37": 37 * time.Second, "limit:day:41000": 41000 * time.Second, "limit:day:": time.Hour, "limit:minute:": time.Minute,
		"limit:appminute:": time.Minute, "limit:concurrent:": ledger.ShortWait, "limit:DayLimit:": time.Hour, "limit:something new:": 0,
	} {
		w := connect(t, xerotest.Options{}, ledgertest.Setup{})
		w.front.Misbehave(work.Send, fault)
		a := w.send(w.request("INV-1"))
		w.wantOutcome(a, work.Deferred)
		w.wantRecords("INV-1", 0)
		w.front.Misbehave(work.Find, fault)
		l := w.find(w.request("INV-1"))
		w.wantFinding(l, work.FindDeferred)
		if a.RetryAfter != want || l.RetryAfter != want || a.Login {
			t.Errorf("%s: waits %s and %s, want %s", fault, a.RetryAfter, l.RetryAfter, want)
		}
	}
}

// A customer's id is the same in capitals.
func TestContactIDsAreComparedWithoutCase(t *testing.T) {
	w := connect(t, xerotest.Options{}, ledgertest.Setup{})
	id := w.fake.Add(xerotest.Invoice{Type: "ACCREC", Number: "INV-1", Customer: xerotest.Customer, Total: "47.99", Currency: "EUR", Status: "PAID"})
	req := w.request("INV-1")
	req.Invoice.CustomerID = strings.ToUpper(xerotest.Customer)
	l := w.find(req)
	w.wantFinding(l, work.FoundMatching)
	if l.Record.ID != id || l.Record.State != work.StatePosted || !strings.Contains(l.Record.URL, id) {
		t.Errorf("%+v", l.Record)
	}
}

// Trial 13: what is no list of invoices is no answer to a search.
func TestTrial13_OnlyAListIsASearch(t *testing.T) {
	for _, body := range []string{`{}`, `{"Invoices":null}`, `{"Status":"OK"}`, `{"Type":"QueryParseException","Invoices":[]}`, `[]`, `{"Invoices":[{"InvoiceNumber":"INV-1"}]}`,
		`{"Invoices":[{"InvoiceID":4711,"InvoiceNumber":"INV-1"}]}`, `{"Invoices":[],"pagination":{"page":1,"pageCount":1,"itemCount":1}}`} {
		w := answering(t, http.StatusOK, "application/json", body)
		l := w.find(w.request("INV-1"))
		if l.Finding != work.CouldNotTell || strings.Contains(l.Exchange.Error, "failed inside") || l.Exchange.Identity != xerotest.Tenant {
			t.Errorf("%s: %s in %q: %s", body, l.Finding, l.Exchange.Identity, l.Exchange.Error)
		}
	}
	w := answering(t, http.StatusOK, "application/json", `{"Invoices":[],"pagination":{"page":1,"pageCount":0,"itemCount":0}}`)
	w.wantFinding(w.find(w.request("INV-1")), work.NotFound)
}
