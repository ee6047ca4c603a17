package erpnext_test

import (
	"strings"
	"testing"
	"time"

	"onefold/internal/ledger"
	"onefold/internal/ledger/erpnext"
	"onefold/internal/ledger/erpnext/erpnexttest"
	"onefold/internal/ledger/ledgertest"
	"onefold/internal/work"
)

// Only the field that an admin made unique makes references unique, and no request carries a key that is ignored (T5, T20).
func TestT20_UniqueOnlyByTheField(t *testing.T) {
	each(t, func(t *testing.T, k kind) {
		c, front, _ := target(t, k, ledgertest.Setup{})
		caps := c.Capabilities()
		if caps.HonoursKeys || caps.UniqueReferences != k.unique || !caps.PlainReference || caps.MaxReference != 140 || caps.Linger < 10*time.Minute || caps.Misses < 2 {
			t.Errorf("%+v", caps)
		}
		want := map[bool]work.Outcome{true: work.AlreadyExists, false: work.Accepted}[k.unique]
		ledger.DoSend(t.Context(), c, request(t, erpnext.StepCreate, "INV-1", "47.99", "EUR"), nil)
		if a := ledger.DoSend(t.Context(), c, request(t, erpnext.StepCreate, "INV-1", "47.99", "EUR"), nil); a.Outcome != want {
			t.Errorf("the repeat is %s", a.Outcome)
		}
		if n := front.Effects(erpnext.StepCreate, "INV-1"); k.unique && n != 1 || !k.unique && n != 2 {
			t.Errorf("%d records", n)
		}
		for _, w := range front.Writes() {
			if w.Key != "" {
				t.Error("a key travels that Frappe ignores")
			}
		}
	})
}

// A name that is taken is also a duplicate, not a refusal: it may be the first send's.
func TestT14_DuplicatesAreNoRefusals(t *testing.T) {
	for _, f := range []ledgertest.Fault{"duplicate_error", "duplicate_name"} {
		c, front, _ := target(t, kind{}, ledgertest.Setup{})
		front.Misbehave(work.Send, f)
		if a := ledger.DoSend(t.Context(), c, request(t, erpnext.StepCreate, "INV-1", "47.99", "EUR"), nil); a.Outcome != work.AlreadyExists {
			t.Errorf("%s: %+v", f, a)
		}
	}
}

// Status 500 alone decides nothing. Only what the database raises inside the transaction is a refusal; a failure after the
// commit looks the same otherwise.
func TestT17_WhichInternalErrorsProveNothing(t *testing.T) {
	each(t, func(t *testing.T, k kind) {
		for fault, want := range map[ledgertest.Fault]work.Outcome{"deadlock": work.Rejected, "error_after_commit": work.Unknown, "maintenance": work.Deferred} {
			c, front, _ := target(t, k, ledgertest.Setup{})
			front.Misbehave(work.Send, fault)
			a := ledger.DoSend(t.Context(), c, request(t, erpnext.StepCreate, "INV-1", "47.99", "EUR"), nil)
			if a.Outcome != want || a.Final || a.Exchange.Error == "" {
				t.Errorf("%s: %+v", fault, a)
			}
			if n := front.Effects(erpnext.StepCreate, "INV-1"); (n == 1) != (fault == "error_after_commit") {
				t.Errorf("%s: %d records", fault, n)
			}
		}
	})
}

// Twenty rows come by default, and a short page is no proof of the end.
func TestT11_MoreThanAPage(t *testing.T) {
	c, _, _ := target(t, kind{}, ledgertest.Setup{})
	for range 23 {
		create(t, c, "INV-1")
	}
	if l := find(t, c, request(t, erpnext.StepCreate, "INV-1", "47.99", "EUR")); l.Finding != work.FoundSeveral || l.Count != 23 {
		t.Errorf("%s, %d", l.Finding, l.Count)
	}
}

// An amended invoice is shown by its successor, a credit note is another document, and a draft among invoices that are submitted at once
// is neither done nor absent.
func TestT13_StatesAreRead(t *testing.T) {
	c, _, site := target(t, kind{unique: true}, ledgertest.Setup{})
	req := create(t, c, "INV-1")
	if a := ledger.DoSend(t.Context(), c, req, nil); a.Outcome != work.Accepted {
		t.Fatalf("%+v", a)
	}
	site.Credit(req.PreviousRecordID)
	if l := find(t, c, req); l.Finding != work.FoundMatching {
		t.Errorf("with a credit note: %s %s", l.Finding, l.Remark)
	}
	site.Amend(req.PreviousRecordID)
	for _, step := range c.Steps() {
		req.Step = step
		if l := find(t, c, req); l.Finding != work.FoundDifferent || l.Record.ID != req.PreviousRecordID+"-1" {
			t.Errorf("amended: %s %s", l.Finding, l.Remark)
		}
	}
	drafts, front, _ := target(t, kind{}, ledgertest.Setup{})
	create(t, drafts, "INV-2")
	sys, err := erpnext.Adapter.Connect(connection(front.URL(), kind{atOnce: true}, ledgertest.Setup{Timeout: time.Minute}))
	if err != nil {
		t.Fatal(err)
	}
	if l := find(t, sys.(*erpnext.Client), request(t, erpnext.StepCreate, "INV-2", "47.99", "EUR")); l.Finding != work.CouldNotTell {
		t.Errorf("a draft, though all is submitted at once: %s", l.Finding)
	}
}

// Between the steps people may change the reference or delete the draft: neither makes it absent.
func TestT18_TheDraftIsFollowedByItsName(t *testing.T) {
	c, front, site := target(t, kind{}, ledgertest.Setup{})
	req := create(t, c, "INV-1")
	site.Edit(req.PreviousRecordID, "changed by hand")
	if l := find(t, c, req); l.Finding != work.NotFound { // it is there, and not submitted
		t.Errorf("%+v", l)
	}
	if l := find(t, c, request(t, erpnext.StepCreate, "INV-1", "47.99", "EUR")); l.Finding != work.FoundDifferent { // it is there
		t.Errorf("%+v", l)
	}
	for range 2 { // twice is harmless
		ledger.DoSend(t.Context(), c, req, nil)
	}
	if l := find(t, c, req); l.Finding != work.FoundDifferent || front.Effects(erpnext.StepSubmit, "INV-1") != 1 {
		t.Errorf("submitted under another reference: %+v", l)
	}
	gone := create(t, c, "INV-2")
	if err := c.Remove(t.Context(), gone.PreviousRecordID); err != nil {
		t.Fatal(err)
	}
	if l := find(t, c, gone); l.Finding != work.CouldNotTell {
		t.Errorf("the draft is gone: %+v", l)
	}
	if a := ledger.DoSend(t.Context(), c, gone, nil); a.Outcome != work.Rejected || !a.Final {
		t.Errorf("submitting what is gone: %+v", a)
	}
}

// A site may queue the submission and answer 200 with the draft.
func TestT16_A200ThatStillShowsADraft(t *testing.T) {
	c, front, _ := target(t, kind{}, ledgertest.Setup{})
	req := create(t, c, "INV-1")
	front.Misbehave(work.Send, "queued")
	if a := ledger.DoSend(t.Context(), c, req, nil); a.Outcome != work.Unknown {
		t.Errorf("%+v", a)
	}
	once, front, _ := target(t, kind{atOnce: true}, ledgertest.Setup{})
	front.Misbehave(work.Send, "queued")
	if a := ledger.DoSend(t.Context(), once, request(t, erpnext.StepCreate, "INV-1", "47.99", "EUR"), nil); a.Outcome != work.Unknown {
		t.Errorf("%+v", a)
	}
}

// ERPNext changes what it is not told otherwise: rates by pricing rules, the date to today's, the due date by the
// customer's terms, the total by the company's usual taxes. The last cannot be told to an invoice; it is seen before the
// invoice is submitted.
func TestT21_WhatERPNextFillsIn(t *testing.T) {
	for name, c := range map[string]struct {
		usual    bool   // taxes that are added
		template string // of the setting
		match    work.Match
	}{
		"no usual taxes":          {match: work.MatchSame},
		"usual taxes are added":   {usual: true, match: work.MatchDifferent},
		"a template includes its": {usual: true, template: erpnexttest.TaxIn, match: work.MatchSame},
		"a template adds its":     {template: erpnexttest.TaxAdded, match: work.MatchDifferent},
	} {
		t.Run(name, func(t *testing.T) {
			site := erpnexttest.New(erpnexttest.Options{Secret: ledgertest.Secret, DefaultTax: c.usual})
			front := ledgertest.Serve(t, site)
			sys, err := erpnext.Adapter.Connect(connection(front.URL(), kind{}, ledgertest.Setup{Timeout: time.Minute},
				func(x *ledger.Connection) { x.System.Settings["tax_template"] = c.template }))
			if err != nil {
				t.Fatal(err)
			}
			req := request(t, erpnext.StepCreate, "INV-1", "100.00", "EUR")
			req.Invoice.Lines = []work.Line{{Description: "x", Quantity: "4", UnitPrice: "25"}}
			if a := ledger.DoSend(t.Context(), sys, req, nil); a.Outcome != work.Accepted || a.Match != c.match {
				t.Errorf("%s %s: %s", a.Outcome, a.Match, a.Remark)
			}
			if held := site.Invoices(); len(held) != 1 || held[0].Posted != "2026-11-28" || held[0].Due != "2026-12-15" || held[0].DocStatus != 0 {
				t.Errorf("%+v", held)
			}
		})
	}
}

// A field that the site does not have is dropped without a word: the invoice must not count as one that can be found.
func TestTheUniqueFieldIsMissing(t *testing.T) {
	site := erpnexttest.New(erpnexttest.Options{Secret: ledgertest.Secret})
	front := ledgertest.Serve(t, site)
	sys, err := erpnext.Adapter.Connect(connection(front.URL(), kind{unique: true}, ledgertest.Setup{Timeout: time.Minute}))
	if err != nil {
		t.Fatal(err)
	}
	req := request(t, erpnext.StepCreate, "INV-1", "47.99", "EUR")
	if a := ledger.DoSend(t.Context(), sys, req, nil); a.Outcome != work.Accepted || a.Match != work.MatchDifferent || !strings.Contains(a.Remark, "not kept") {
		t.Errorf("%+v", a)
	}
	if l := find(t, sys.(*erpnext.Client), req); l.Finding != work.CouldNotTell {
		t.Errorf("%+v", l)
	}
}

// The mark of one reference is not found in that of another.
func TestOneMarkIsNotInAnother(t *testing.T) {
	c, _, site := target(t, kind{}, ledgertest.Setup{})
	req := create(t, c, "INV-10")
	site.Edit(req.PreviousRecordID, "changed by hand")
	if l := find(t, c, request(t, erpnext.StepCreate, "INV-1", "47.99", "EUR")); l.Finding != work.NotFound {
		t.Errorf("%s", l.Finding)
	}
}

// MariaDB finds without regard to case; what comes back is compared to the letter.
func TestT9_CaseIsCompared(t *testing.T) {
	c, _, _ := target(t, kind{unique: true}, ledgertest.Setup{})
	create(t, c, "inv-1")
	if l := find(t, c, request(t, erpnext.StepCreate, "INV-1", "47.99", "EUR")); l.Finding != work.FoundDifferent {
		t.Errorf("%s", l.Finding)
	}
}

func TestT23_ReferencesAreEscaped(t *testing.T) {
	c, _, _ := target(t, kind{}, ledgertest.Setup{})
	for _, reference := range []string{`A"],["company","=","B`, `50%&limit_start=9`, `A+B #?`, `請求書/7`} {
		create(t, c, reference)
		if l := find(t, c, request(t, erpnext.StepCreate, reference, "47.99", "EUR")); l.Finding != work.FoundMatching || l.Count != 1 {
			t.Errorf("%q: %s %s", reference, l.Finding, l.Remark)
		}
	}
}

func TestTrial58_AmountsDigitByDigit(t *testing.T) {
	c, _, site := target(t, kind{}, ledgertest.Setup{})
	for reference, total := range map[string][2]string{"A": {"5000", "JPY"}, "B": {"12.345", "KWD"}, "C": {"99999747361065.39", "EUR"}, "D": {"7", "USD"}} {
		if a := ledger.DoSend(t.Context(), c, request(t, erpnext.StepCreate, reference, total[0], total[1]), nil); a.Outcome != work.Accepted || a.Match != work.MatchSame {
			t.Errorf("%v: %+v", total, a)
		}
		held := site.Invoices()
		if last := held[len(held)-1]; strings.TrimSuffix(last.Total, ".00") != total[0] {
			t.Errorf("%v is held as %v", total, last)
		}
	}
}

// The company is part of the identity and is told with each invoice: it must be spelt as it is there.
func TestTheCompanyIsSpeltAsItIs(t *testing.T) {
	for company, says := range map[string]string{strings.ToUpper(erpnexttest.Company): "spelt " + erpnexttest.Company, "Nobody": "not found"} {
		c, _, _ := target(t, kind{}, ledgertest.Setup{}, func(x *ledger.Connection) { x.System.Settings["company"] = company })
		if _, err := c.Identity(t.Context()); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", company, err)
		}
		if l := find(t, c, request(t, erpnext.StepCreate, "INV-1", "47.99", "EUR")); l.Finding != work.CouldNotTell {
			t.Errorf("%s: %s", company, l.Finding)
		}
	}
}
