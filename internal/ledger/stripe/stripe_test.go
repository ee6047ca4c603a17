package stripe_test

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/bojanz/currency"

	"onefold/internal/ledger"
	"onefold/internal/ledger/ledgertest"
	"onefold/internal/ledger/stripe"
	"onefold/internal/ledger/stripe/stripetest"
	"onefold/internal/work"
)

const longEnough = 20 * time.Second

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

func amount(t *testing.T, number, code string) currency.Amount {
	t.Helper()
	a, err := currency.NewAmount(number, code)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func request(step, reference string, v work.Invoice) ledger.Request {
	return ledger.Request{Step: step, Reference: reference, Key: "KEY-" + step + "-" + reference, Invoice: v, SendBy: ledger.NewDeadline(time.Now(), time.Hour)}
}

// books are a connection to a fake account.
type books struct {
	*stripe.Client
	t     *testing.T
	fake  *stripetest.Fake
	front *ledgertest.Front
	draft string // the draft that later steps are about
	asked work.Invoice
}

func open(t *testing.T, o stripetest.Options, set ...func(*ledger.Connection)) *books {
	t.Helper()
	o.Key = key
	b := &books{t: t, fake: stripetest.New(o), asked: work.Invoice{CustomerID: "cus_1", Total: amount(t, "47.99", "EUR")}}
	b.front = ledgertest.Serve(t, b.fake)
	b.Client = connect(t, b.front.URL(), ledgertest.Setup{Timeout: longEnough}, set...)
	return b
}

func (b *books) send(step, reference string) work.Answer {
	b.t.Helper()
	req := request(step, reference, b.asked)
	req.PreviousRecordID = b.draft
	a := ledger.DoSend(b.t.Context(), b.Client, req, nil)
	if a.Outcome == work.Accepted {
		b.draft = a.Record.ID
	}
	return a
}

// issue carries a document through all steps.
func (b *books) issue(reference string) work.Answer {
	b.t.Helper()
	b.draft = ""
	var a work.Answer
	for _, step := range b.Steps() {
		if a = b.send(step, reference); a.Outcome != work.Accepted || a.Match != work.MatchSame {
			b.t.Fatalf("%s: %s %s %s: %s", step, a.Outcome, a.Match, a.Remark, a.Exchange.Error)
		}
	}
	return a
}

func (b *books) find(q ledger.Query) work.Lookup {
	return ledger.DoFind(b.t.Context(), b.Client, q, b.asked)
}

// The requests as they go out, to the letter.
func TestGoldenRequests(t *testing.T) {
	b := open(t, stripetest.Options{}, func(c *ledger.Connection) { c.System.Settings["time_zone"] = "Europe/Berlin" })
	b.asked.IssueDate, b.asked.DueDate, b.asked.Note = "2026-11-30", "2026-12-31", "Thank you"
	b.asked.Lines = []work.Line{{Description: "Advice", Quantity: "2", UnitPrice: "20.00"}, {Description: "Travel", Quantity: "1", UnitPrice: "7.99"}}
	b.issue("INV-1")
	want := []string{
		"customer=cus_1&currency=eur&auto_advance=false&collection_method=send_invoice&pending_invoice_items_behavior=exclude&discounts=&due_date=1798757999" +
			"&effective_at=1795993200&description=Thank you&metadata[work_item]=INV-1&metadata[work_item_total]=47.99 EUR",
		"invoice_metadata[work_item]=INV-1&invoice_metadata[work_item_total]=47.99 EUR&invoice_metadata[work_item_lines]=INV-1" +
			"&lines[0][amount]=4000&lines[0][description]=Advice (2 × 20.00)&lines[1][amount]=799&lines[1][description]=Travel",
		"auto_advance=false",
	}
	for i, body := range b.fake.Bodies() {
		if plain, err := url.QueryUnescape(body); err != nil || plain != want[i] {
			t.Errorf("request %d: %v\n%s\nwant\n%s", i, err, plain, want[i])
		}
	}
}

// T18: one request for all lines, however many, in their order.
func TestManyLinesAreOneRequest(t *testing.T) {
	b := open(t, stripetest.Options{})
	for i := range 120 {
		b.asked.Lines = append(b.asked.Lines, work.Line{Description: fmt.Sprint("Line ", i), Quantity: "1", UnitPrice: "1.00"})
	}
	b.asked.Total = amount(t, "120.00", "EUR")
	b.issue("INV-1")
	if n := len(b.front.Writes()); n != 3 {
		t.Errorf("%d writing requests", n)
	}
	held := b.fake.Invoices()[0].Lines
	if len(held) != 120 || held[11].Description != "Line 11" {
		t.Errorf("%d lines: %+v", len(held), held)
	}
}

// What Stripe cannot hold is refused before the first request, so that no half-made draft stays.
func TestWhatStripeCannotHoldIsNotBegun(t *testing.T) {
	line := func(quantity, price, tax string) []work.Line {
		return []work.Line{{Description: "x", Quantity: quantity, UnitPrice: price, TaxCode: tax}}
	}
	many := make([]work.Line, 251)
	for name, c := range map[string]struct {
		total, code string
		lines       []work.Line
		note, due   string
		says        string
	}{
		"last digit of a dinar":   {total: "12.345", code: "KWD", says: "in steps of 0.010"},
		"ariary have no cents":    {total: "10.50", code: "MGA", says: "in steps of 1"},
		"shillings of Uganda":     {total: "5", code: "UGX", says: "contradicts itself"},
		"lines do not add up":     {total: "10.00", code: "EUR", lines: line("3", "3.33", ""), says: "add up to 9.99"},
		"too many lines":          {total: "10.00", code: "EUR", lines: many, says: "251 lines"},
		"quantity is no number":   {total: "10.00", code: "EUR", lines: line("1e3", "10", ""), says: "line 1: the quantity"},
		"price is no number":      {total: "10.00", code: "EUR", lines: line("1", "ten", ""), says: "line 1: the unit price"},
		"tax code of others":      {total: "10.00", code: "EUR", lines: line("1", "10", "UST19"), says: "txr_"},
		"note too long":           {total: "10.00", code: "EUR", note: strings.Repeat("é", 1501), says: "1501 characters"},
		"a day that is not there": {total: "10.00", code: "EUR", due: "2026-02-30", says: "due date"},
	} {
		b := open(t, stripetest.Options{})
		b.asked = work.Invoice{CustomerID: "cus_1", Total: amount(t, c.total, c.code), Lines: c.lines, Note: c.note, DueDate: c.due}
		a := b.send(stripe.StepCreate, "INV-1")
		if a.Outcome != work.NotSent || !a.Final || !strings.Contains(a.Exchange.Error, c.says) || len(b.front.Writes()) != 0 {
			t.Errorf("%s: %s, %d requests: %s", name, a.Outcome, len(b.front.Writes()), a.Exchange.Error)
		}
	}
}

// A yen is not a hundred yen, there and back.
func TestTrial58_StripesSmallestUnits(t *testing.T) {
	for _, c := range []struct{ total, code, count string }{
		{"47.99", "EUR", "4799"}, {"5000", "JPY", "5000"}, {"900", "KRW", "900"}, {"12.340", "KWD", "12340"}, {"5", "ISK", "500"}, {"10", "MGA", "10"},
		{"10.45", "HUF", "1045"}, {"0.01", "EUR", "1"}, {"99999747361065.39", "EUR", "9999974736106539"},
	} {
		b := open(t, stripetest.Options{})
		b.asked.Total = amount(t, c.total, c.code)
		b.issue("INV-1")
		if held := b.fake.Invoices()[0].Total(); fmt.Sprint(held) != c.count {
			t.Errorf("%s %s is held as %d", c.total, c.code, held)
		}
	}
}

// The total that a draft tells before it has lines is the one that it was made for; afterwards the real one counts.
func TestLinesChangedByHandAreNoticed(t *testing.T) {
	b := open(t, stripetest.Options{})
	b.send(stripe.StepCreate, "INV-1")
	if l := b.find(ledger.Query{Step: stripe.StepCreate, Reference: "INV-1"}); l.Finding != work.FoundMatching {
		t.Errorf("the draft: %s %s", l.Finding, l.Remark)
	}
	b.send(stripe.StepLines, "INV-1")
	b.fake.ByHand(b.draft, func(v *stripetest.Invoice) { v.Lines = append(v.Lines, v.Lines...) }) // as if they had been added twice
	for _, step := range []string{stripe.StepCreate, stripe.StepLines} {
		if l := b.find(ledger.Query{Step: step, Reference: "INV-1", PreviousRecordID: b.draft}); l.Finding != work.FoundDifferent {
			t.Errorf("%s: %s %s", step, l.Finding, l.Remark)
		}
	}
	b.fake.ByHand(b.draft, func(v *stripetest.Invoice) { v.Lines = nil }) // they were there, and must not be added again
	if l := b.find(ledger.Query{Step: stripe.StepLines, Reference: "INV-1", PreviousRecordID: b.draft}); l.Finding != work.FoundDifferent {
		t.Errorf("without lines: %s %s", l.Finding, l.Remark)
	}
}

// Drafts that are made for a proof stay drafts and can be taken away; what was issued can be voided.
func TestDraftsOnly(t *testing.T) {
	b := open(t, stripetest.Options{}, func(c *ledger.Connection) { c.DraftsOnly = true })
	b.issue("INV-1")
	b.front.Advance(48 * time.Hour)
	if held := b.fake.Invoices()[0]; held.Status != "draft" {
		t.Errorf("it is %s", held.Status)
	}
	if err := b.Remove(t.Context(), b.draft); err != nil || !b.fake.Invoices()[0].Deleted {
		t.Errorf("%v, %+v", err, b.fake.Invoices()[0])
	}
	if err := b.Remove(t.Context(), b.draft); err != nil {
		t.Errorf("what is gone needs no removal: %v", err)
	}
	full := open(t, stripetest.Options{})
	full.issue("INV-2")
	if err := full.Remove(t.Context(), full.draft); err != nil || full.fake.Invoices()[0].Status != "void" {
		t.Errorf("%v, %+v", err, full.fake.Invoices()[0])
	}
}

// A platform's key reaches many accounts: the header names the one, and the account must answer as itself.
func TestConnectedAccount(t *testing.T) {
	b := open(t, stripetest.Options{}, func(c *ledger.Connection) { c.System.Settings["account"] = "acct_2" })
	if id, err := b.Identity(t.Context()); err != nil || id != "acct_2 (test mode)" {
		t.Errorf("%q, %v", id, err)
	}
	if a := b.issue("INV-1"); a.Exchange.Identity != "acct_2 (test mode)" || !strings.Contains(a.Exchange.Request, "Stripe-Account: acct_2") {
		t.Errorf("%q\n%s", a.Exchange.Identity, a.Exchange.Request)
	}
}

func TestSettingsAreChecked(t *testing.T) {
	for _, c := range []struct{ field, value, key, names string }{
		{"mode", "live", "sk_test_1", "key"},
		{"mode", "test", "rk_live_1", "key"},
		{"mode", "test", "pk_test_1", "key"},
		{"mode", "test", "sk_org_1", "key"},
		{"mode", "test", "whsec_1", "key"},
		{"mode", "demo", "sk_test_1", "mode"},
		{"account", "Acme", "sk_live_1", "account"},
		{"tax_rate", "19", "sk_live_1", "tax_rate"},
		{"product", "price_1", "sk_live_1", "product"},
		{"days_until_due", "soon", "sk_live_1", "days_until_due"},
		{"time_zone", "Berlin", "sk_live_1", "time_zone"},
	} {
		_, err := stripe.Adapter.Connect(ledger.Connection{System: work.System{Settings: map[string]string{c.field: c.value}}, Secrets: map[string]string{"key": c.key}})
		var field *ledger.FieldError
		if !errors.As(err, &field) || field.Field != c.names || strings.Contains(err.Error(), c.key) {
			t.Errorf("%s=%s with %s: %v", c.field, c.value, c.key, err)
		}
	}
	for _, key := range []string{"", "sk_live_1", "rk_live_1"} {
		if _, err := stripe.Adapter.Connect(ledger.Connection{Secrets: map[string]string{"key": key}}); err != nil {
			t.Errorf("%q: %v", key, err)
		}
	}
}

// With a product, quantity and price stand in columns of their own, and the price includes tax.
func TestQuantityAndPriceInColumns(t *testing.T) {
	b := open(t, stripetest.Options{}, func(c *ledger.Connection) { c.System.Settings["product"] = "prod_1" })
	b.asked.Lines = []work.Line{{Description: "Advice", Quantity: "2.5", UnitPrice: "16.00"}, {Description: "Travel", Quantity: "1", UnitPrice: "7.99"}}
	b.issue("INV-1")
	want := "lines[0][price_data][currency]=eur&lines[0][price_data][product]=prod_1&lines[0][price_data][tax_behavior]=inclusive" +
		"&lines[0][price_data][unit_amount_decimal]=1600&lines[0][quantity_decimal]=2.5&lines[0][description]=Advice"
	if body, err := url.QueryUnescape(b.fake.Bodies()[1]); err != nil || !strings.Contains(body, want) {
		t.Errorf("%v\n%s", err, body)
	}
}

// A tax rate that comes on top of the lines makes another total: it is noticed before anything is issued.
func TestTaxOnTopIsNoticedBeforeTheIssue(t *testing.T) {
	b := open(t, stripetest.Options{})
	b.asked.Lines = []work.Line{{Description: "Advice", Quantity: "1", UnitPrice: "47.99", TaxCode: "txr_1"}}
	b.send(stripe.StepCreate, "INV-1")
	b.fake.ByHand(b.draft, func(v *stripetest.Invoice) { v.Lines = []stripetest.Line{{Amount: 912}} }) // stands for the tax
	if a := b.send(stripe.StepLines, "INV-1"); a.Match != work.MatchDifferent {
		t.Errorf("%s %s %s", a.Outcome, a.Match, a.Remark)
	}
}
