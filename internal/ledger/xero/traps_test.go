package xero_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"onefold/internal/ledger/ledgertest"
	"onefold/internal/ledger/xero"
	"onefold/internal/ledger/xero/xerotest"
	"onefold/internal/work"
)

var byText = setting{"reference_field", xero.ReferenceAsText}

// T1 and T2: the internal error is repeated for six minutes, whatever became true meanwhile; then the key is new, and only
// the number still protects.
func TestT1T2_TheKeyRepeatsAnErrorAndThenExpires(t *testing.T) {
	for _, fault := range []ledgertest.Fault{"sticky_before", "sticky_after"} {
		w := connect(t, xerotest.Options{}, ledgertest.Setup{})
		req := w.request("INV-1")
		w.front.Misbehave(work.Send, fault)
		w.wantOutcome(w.send(req), work.Unknown)
		w.front.Misbehave(work.Send, ledgertest.NoFault)
		there := w.fake.Effects(xero.StepCreate, "INV-1")
		w.fake.Advance(5 * time.Minute)
		w.wantOutcome(w.send(req), work.Unknown)
		w.wantRecords("INV-1", there)
		w.fake.Advance(time.Minute)
		want := work.Accepted
		if there == 1 {
			want = work.AlreadyExists
		}
		w.wantOutcome(w.send(req), want)
		w.wantRecords("INV-1", 1)
	}
}

// What is declared must outlast what Xero remembers: by then the kept error is forgotten.
func TestT4_NothingIsProvenBeforeTheKeyIsForgotten(t *testing.T) {
	caps := connect(t, xerotest.Options{}, ledgertest.Setup{}).sys.Capabilities()
	if caps.Linger < caps.KeyLifetime || caps.KeyLifetime != 6*time.Minute || caps.Misses < 2 || caps.SearchLag <= 0 {
		t.Errorf("%+v", caps)
	}
	if !caps.UniqueReferences || connect(t, xerotest.Options{}, ledgertest.Setup{}, byText).sys.Capabilities().UniqueReferences {
		t.Error("InvoiceNumber is unique, Reference is not")
	}
}

// T7: a proxy may repeat a PUT, unseen by us.
func TestT7_ARepeatedPutMakesNoSecondInvoice(t *testing.T) {
	for _, set := range [][]setting{nil, {byText}} {
		w := connect(t, xerotest.Options{}, ledgertest.Setup{}, set...)
		w.wantOutcome(w.send(w.request("INV-1")), work.Accepted)
		all := w.fake.Requests()
		put := all[len(all)-1]
		for range 3 {
			r, err := http.NewRequestWithContext(t.Context(), put.Method, w.front.URL()+put.Path+"?"+put.Query, strings.NewReader(string(put.Body)))
			if err != nil {
				t.Fatal(err)
			}
			r.Header = put.Header
			answer, err := http.DefaultClient.Do(r)
			if err != nil || answer.StatusCode != http.StatusOK {
				t.Fatal(err, answer)
			}
			answer.Body.Close()
		}
		w.wantRecords("INV-1", 1)
	}
}

// T10: what is too long is refused, not cut.
func TestT10_ALongReferenceIsNotSent(t *testing.T) {
	w := connect(t, xerotest.Options{}, ledgertest.Setup{})
	req := w.request(strings.Repeat("A", 255))
	req.Key = "KEY"
	w.wantOutcome(w.send(req), work.Accepted)
	w.wantOutcome(w.send(w.request(strings.Repeat("A", 256))), work.NotSent)
	if n := len(w.front.Writes()); n != 1 {
		t.Errorf("%d writes", n)
	}
}

// T11: the hit is on the last page. What the search does not show to the end, it has not shown.
func TestT11_EveryPageIsRead(t *testing.T) {
	for _, unpaged := range []bool{false, true} {
		w := connect(t, xerotest.Options{PageSize: 2, Unpaged: unpaged}, ledgertest.Setup{}, byText)
		for i := range 7 {
			w.fake.Add(xerotest.Invoice{Type: "ACCREC", Number: fmt.Sprintf("N-%d", i), Reference: "INV-1", Customer: xerotest.Customer, Total: "47.99", Currency: "EUR", Status: "PAID"})
		}
		l := w.find(w.request("INV-1"))
		if l.Finding != work.FoundSeveral || l.Count != 7 {
			t.Errorf("without page numbers %v: %s, %d of 7: %s", unpaged, l.Finding, l.Count, l.Exchange.Error)
		}
		for _, fault := range []ledgertest.Fault{"search_broken_page", "search_same_page"} {
			w.front.Misbehave(work.Find, fault)
			before := len(w.fake.Requests())
			w.wantFinding(w.find(w.request("INV-1")), work.CouldNotTell)
			if n := len(w.fake.Requests()) - before; n > 2 { // 60 calls a minute are soon used up
				t.Errorf("%s: %d calls", fault, n)
			}
		}
		if !unpaged {
			w.front.Misbehave(work.Find, "search_short")
			w.wantFinding(w.find(w.request("INV-1")), work.CouldNotTell)
		}
	}
}

// T12: what Xero leaves out unless it is asked for, and what it shows that is not ours.
func TestT12_NothingHidesAndNothingElseShows(t *testing.T) {
	for _, status := range []string{"DRAFT", "SUBMITTED", "AUTHORISED", "PAID", "VOIDED", "DELETED"} {
		for _, set := range [][]setting{{{"status", xero.IssueDraft}}, {{"status", xero.IssueDraft}, byText}} {
			w := connect(t, xerotest.Options{}, ledgertest.Setup{}, set...)
			w.fake.Add(xerotest.Invoice{Type: "ACCREC", Number: "INV-1", Reference: "INV-1", Customer: xerotest.Customer, Total: "47.99", Currency: "EUR", Status: status})
			w.fake.Archive()
			want := work.FoundMatching
			if status == "VOIDED" || status == "DELETED" {
				want = work.FoundVoid
			}
			w.wantFinding(w.find(w.request("INV-1")), want)
		}
	}
	t.Run("a supplier's bill with the same number", func(t *testing.T) {
		w := connect(t, xerotest.Options{}, ledgertest.Setup{})
		w.fake.Add(xerotest.Invoice{Type: "ACCPAY", Number: "INV-1", Customer: xerotest.Customer, Total: "47.99", Currency: "EUR", Status: "PAID"})
		w.wantFinding(w.find(w.request("INV-1")), work.NotFound)
		w.wantOutcome(w.send(w.request("INV-1")), work.Accepted)
		w.wantFinding(w.find(w.request("INV-1")), work.FoundMatching)
	})
	t.Run("somebody gave it another number", func(t *testing.T) {
		w := connect(t, xerotest.Options{}, ledgertest.Setup{})
		w.wantOutcome(w.send(w.request("INV-1")), work.Accepted)
		w.fake.Renumber("INV-1", "2026/17")
		l := w.find(w.request("INV-1"))
		w.wantFinding(l, work.FoundDifferent)
		if !strings.Contains(l.Remark, "2026/17") {
			t.Error(l.Remark)
		}
	})
	t.Run("the filter is ignored", func(t *testing.T) {
		w := connect(t, xerotest.Options{}, ledgertest.Setup{})
		w.wantOutcome(w.send(w.request("INV-1")), work.Accepted)
		w.front.Misbehave(work.Find, "search_all")
		w.wantFinding(w.find(w.request("INV-2")), work.CouldNotTell)
	})
	t.Run("another login's rights", func(t *testing.T) {
		w := connect(t, xerotest.Options{}, ledgertest.Setup{})
		w.front.Misbehave(work.Find, "forbidden")
		l := w.find(w.request("INV-1"))
		w.wantFinding(l, work.FindDeferred)
		if !l.Login {
			t.Error("the owner of the login must be told")
		}
	})
}

// T14: a duplicate is never a refusal: not in 200, not among other reasons, not in another form than JSON.
func TestT14_ADuplicateIsNoRefusal(t *testing.T) {
	t.Run("as an error", func(t *testing.T) {
		w := connect(t, xerotest.Options{}, ledgertest.Setup{})
		w.wantOutcome(w.send(w.request("INV-1")), work.Accepted)
		w.fake.Advance(7 * time.Minute)
		w.wantOutcome(w.send(w.request("INV-1")), work.AlreadyExists)
	})
	t.Run("inside 200, beside another error", func(t *testing.T) {
		w := connect(t, xerotest.Options{}, ledgertest.Setup{})
		w.wantOutcome(w.send(w.request("INV-1")), work.Accepted)
		w.front.Misbehave(work.Send, "never_summed_up")
		req := w.request("INV-1")
		req.Key, req.Invoice.CustomerID = "ANOTHER", "00000000-0000-4000-8000-00000000dead"
		w.wantOutcome(w.send(req), work.AlreadyExists)
	})
	t.Run("as XML", func(t *testing.T) {
		w := answering(t, http.StatusBadRequest, "text/xml", `<ApiException><ValidationErrors><Message>Invoice # must be unique.</Message></ValidationErrors></ApiException>`)
		w.wantOutcome(w.send(w.request("INV-1")), work.AlreadyExists)
	})
}

// T15: a POST with a number that exists would change that invoice.
func TestT15_AnExistingInvoiceIsNotChanged(t *testing.T) {
	w := connect(t, xerotest.Options{}, ledgertest.Setup{})
	w.fake.Add(xerotest.Invoice{Type: "ACCREC", Number: "INV-1", Customer: xerotest.OtherCustomer, Total: "1.00", Currency: "EUR", Status: "AUTHORISED"})
	before := fmt.Sprint(w.fake.Invoices())
	w.wantOutcome(w.send(w.request("INV-1")), work.AlreadyExists)
	if after := fmt.Sprint(w.fake.Invoices()); after != before {
		t.Errorf("changed to %s", after)
	}
	w.wantFinding(w.find(w.request("INV-1")), work.FoundDifferent)
}
