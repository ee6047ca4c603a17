package quickbooks_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/bojanz/currency"

	"onefold/internal/ledger"
	"onefold/internal/ledger/ledgertest"
	"onefold/internal/ledger/quickbooks"
	"onefold/internal/ledger/quickbooks/quickbookstest"
	"onefold/internal/work"
)

var patient = ledgertest.Setup{Timeout: 20 * time.Second}

func amount(t *testing.T, number string) currency.Amount {
	t.Helper()
	a, err := currency.NewAmount(number, "EUR")
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func request(t *testing.T, reference string) ledger.Request {
	t.Helper()
	return ledger.Request{Step: quickbooks.StepCreate, Reference: reference, Key: "KEY-" + reference, SendBy: ledger.NewDeadline(time.Now(), time.Hour),
		Invoice: work.Invoice{CustomerID: quickbookstest.Customer, Total: amount(t, "47.99")}}
}

func send(t *testing.T, sys ledger.System, req ledger.Request) work.Answer {
	t.Helper()
	return ledger.DoSend(t.Context(), sys, req, nil)
}

func find(t *testing.T, sys ledger.System, req ledger.Request) work.Lookup {
	t.Helper()
	q := ledger.Query{Step: req.Step, Reference: req.Reference, Customer: req.Invoice.CustomerID, Since: time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)}
	return ledger.DoFind(t.Context(), sys, q, req.Invoice)
}

// T14 and T16: what a fault means is in its code, whatever the status is.
func TestFaultsByTheirCode(t *testing.T) {
	for f, want := range map[ledgertest.Fault]struct {
		outcome work.Outcome
		login   bool
		says    string
		effects int
	}{
		"duplicate_error":     {work.AlreadyExists, false, "already has it", 0},
		"duplicate_in_french": {work.AlreadyExists, false, "already has it", 0},
		"duplicate_in_xml":    {work.AlreadyExists, false, "already has it", 0},
		"reject_in_xml":       {work.Rejected, false, "refused: the customer is blocked (6000)", 0},
		"throttled_in_xml":    {work.Deferred, false, "asks us to wait", 0},
		"id_used":             {work.AlreadyExists, false, "already has it", 0},
		"reject_in_200":       {work.Rejected, false, "refused: the customer is blocked (6000)", 0},
		"system_fault":        {work.Unknown, false, "internal error", 0},
		"both":                {work.Unknown, false, "an invoice and an error", 1},
		"no_access":           {work.Deferred, true, "refused our login", 0},
		"throttled_403":       {work.Deferred, false, "asks us to wait", 0},
	} {
		t.Run(string(f), func(t *testing.T) {
			sys, company, front := connected(t, quickbookstest.Options{}, patient)
			if !front.Misbehave(work.Send, f) {
				t.Fatal("the company cannot do that")
			}
			a := send(t, sys, request(t, "INV-1"))
			if a.Outcome != want.outcome || a.Login != want.login || !strings.Contains(a.Exchange.Error, want.says) {
				t.Errorf("%s, login %v: %s", a.Outcome, a.Login, a.Exchange.Error)
			}
			if n := company.Effects(quickbooks.StepCreate, "INV-1"); n != want.effects {
				t.Errorf("%d effects", n)
			}
		})
	}
}

// The vendor asks for a minute after a 429 and names no time in the answer.
func TestThrottledWaitsAMinute(t *testing.T) {
	sys, _, front := connected(t, quickbookstest.Options{}, patient)
	front.Misbehave(work.Send, "wait:")
	front.Misbehave(work.Find, "wait:")
	if a := send(t, sys, request(t, "INV-1")); a.Outcome != work.Deferred || a.RetryAfter != time.Minute {
		t.Errorf("%s, waits %s", a.Outcome, a.RetryAfter)
	}
	if l := find(t, sys, request(t, "INV-1")); l.Finding != work.FindDeferred || l.RetryAfter != time.Minute {
		t.Errorf("%s, waits %s", l.Finding, l.RetryAfter)
	}
}

func TestLookupWithoutAccessIsNoMiss(t *testing.T) {
	sys, _, front := connected(t, quickbookstest.Options{}, patient)
	send(t, sys, request(t, "INV-1"))
	front.Misbehave(work.Find, "no_access")
	if l := find(t, sys, request(t, "INV-1")); l.Finding != work.FindDeferred || !l.Login {
		t.Errorf("%s, login %v", l.Finding, l.Login)
	}
}

// T23: a quote or a backslash in the number would change the query, and its answer would be a false miss.
func TestNumbersAreEscaped(t *testing.T) {
	sys, _, _ := connected(t, quickbookstest.Options{}, patient)
	send(t, sys, request(t, "INV-1"))
	for _, number := range []string{"O'NEIL-1", `BACK\SLASH`, `END\`, `'`, "X' or DocNumber = 'INV-1"[:21], "INV-1' ORDERBY Id"} {
		if l := find(t, sys, request(t, number)); l.Finding != work.NotFound {
			t.Errorf("%q before: %s (%s)", number, l.Finding, l.Exchange.Error)
		}
		if a := send(t, sys, request(t, number)); a.Outcome != work.Accepted {
			t.Fatalf("%q: %s (%s)", number, a.Outcome, a.Exchange.Error)
		}
		if l := find(t, sys, request(t, number)); l.Finding != work.FoundMatching {
			t.Errorf("%q: %s (%s)", number, l.Finding, l.Exchange.Error)
		}
	}
}

// T11: pages may be shorter than was asked for, and a page that is not the next one is no answer.
func TestPagesToTheEnd(t *testing.T) {
	for _, size := range []int{1, 2, 3, 1000} {
		sys, _, _ := connected(t, quickbookstest.Options{}, ledgertest.Setup{Timeout: time.Minute, PageSize: size})
		for range 5 {
			send(t, sys, request(t, "INV-1"))
		}
		if l := find(t, sys, request(t, "INV-1")); l.Finding != work.FoundSeveral || l.Count != 5 {
			t.Errorf("pages of %d: %s, %d of 5", size, l.Finding, l.Count)
		}
	}
	sys, _, front := connected(t, quickbookstest.Options{}, patient)
	send(t, sys, request(t, "INV-1"))
	front.Misbehave(work.Find, "other_page")
	if l := find(t, sys, request(t, "INV-1")); l.Finding != work.CouldNotTell {
		t.Errorf("another page than was asked for: %s", l.Finding)
	}
}

// T19: QuickBooks numbers the invoice itself. That is noticed when it is connected, when the answer comes, and when the
// answer is lost.
func TestOwnNumbersAreNoticed(t *testing.T) {
	sys, _, _ := connected(t, quickbookstest.Options{OwnNumbers: true}, patient)
	if identity, err := ledger.DoIdentity(t.Context(), sys); err == nil || !strings.Contains(err.Error(), "turn on Custom transaction numbers") {
		t.Errorf("%q, %v", identity, err)
	}
	a := send(t, sys, request(t, "INV-1"))
	if a.Outcome != work.Accepted || a.Match != work.MatchDifferent || !strings.Contains(a.Remark, "the reference is") {
		t.Errorf("%s, %s: %s", a.Outcome, a.Match, a.Remark)
	}
	if l := find(t, sys, request(t, "INV-1")); l.Finding != work.FoundDifferent || l.Record.ID != a.Record.ID {
		t.Errorf("%s: %+v", l.Finding, l.Record)
	}
}

// A person gave the invoice another number before we looked. It must not be made again, however many came after it.
func TestNumberChangedByAPerson(t *testing.T) {
	sys, company, _ := connected(t, quickbookstest.Options{}, patient)
	a := send(t, sys, request(t, "INV-1"))
	company.Change(a.Record.ID, func(v *quickbookstest.Invoice) { v.Number = "2026-0815"; v.Note = "by hand\n" + v.Note + "\nand more" })
	for n := range 250 {
		company.Advance(time.Second)
		send(t, sys, request(t, fmt.Sprint("LATER-", n)))
	}
	if l := find(t, sys, request(t, "INV-1")); l.Finding != work.FoundDifferent || l.Record.ID != a.Record.ID {
		t.Errorf("%s: %+v", l.Finding, l.Record)
	}
	if l := find(t, sys, request(t, "INV")); l.Finding != work.NotFound {
		t.Errorf("the beginning of a reference: %s", l.Finding)
	}
}

// T12 and T13: a void keeps its number and has zero amounts; a deleted invoice is in no query.
func TestVoidIsFoundAndDeletedIsGone(t *testing.T) {
	sys, company, _ := connected(t, quickbookstest.Options{}, patient)
	a := send(t, sys, request(t, "INV-1"))
	if err := sys.Remove(t.Context(), a.Record.ID); err != nil {
		t.Fatal(err)
	}
	if l := find(t, sys, request(t, "INV-1")); l.Finding != work.FoundVoid {
		t.Errorf("void: %s", l.Finding)
	}
	company.Change(a.Record.ID, func(v *quickbookstest.Invoice) { v.Deleted = true })
	if l := find(t, sys, request(t, "INV-1")); l.Finding != work.NotFound {
		t.Errorf("deleted: %s", l.Finding)
	}
	if err := sys.Remove(t.Context(), a.Record.ID); err == nil {
		t.Error("what is deleted was voided")
	}
}

// A company with one currency does not tell it with each invoice: it is read from the company's settings.
func TestCurrencyOfTheCompany(t *testing.T) {
	sys, _, front := connected(t, quickbookstest.Options{OneCurrency: true}, patient)
	req := request(t, "INV-1")
	front.Misbehave(work.Send, "total_times_100")
	if a := send(t, sys, request(t, "INV-0")); a.Match != work.MatchDifferent {
		t.Errorf("before it was read: %s", a.Match)
	}
	front.Misbehave(work.Send, ledgertest.NoFault)
	send(t, sys, req)
	if l := find(t, sys, req); l.Finding != work.FoundMatching {
		t.Errorf("%s: %s", l.Finding, l.Remark)
	}
	total, err := currency.NewAmount("47.99", "USD")
	if err != nil {
		t.Fatal(err)
	}
	if req.Invoice.Total = total; find(t, sys, req).Finding != work.FoundDifferent {
		t.Error("euros were taken for dollars")
	}
	if a := send(t, sys, req); a.Match != work.MatchDifferent {
		t.Errorf("the answer in euros: %s", a.Match)
	}
}

// Trial 84: a requestid that is remembered brings the first invoice back, whatever is asked now.
func TestTrial84_SameRequestIDChangedInvoice(t *testing.T) {
	sys, company, _ := connected(t, quickbookstest.Options{KeyLifetime: time.Hour}, patient)
	req := request(t, "INV-1")
	send(t, sys, req)
	req.Invoice.Total = amount(t, "120.00")
	if a := send(t, sys, req); a.Outcome != work.Accepted || a.Match != work.MatchDifferent {
		t.Errorf("%s, %s", a.Outcome, a.Match)
	}
	if n := len(company.Records()); n != 1 {
		t.Errorf("%d invoices", n)
	}
}

// The login runs out: the refused call renews nothing by itself, the next one does, once, with the newest refresh token.
func TestRefusedLoginIsRenewed(t *testing.T) {
	sys, company, front := connected(t, quickbookstest.Options{}, patient)
	for n := range 3 {
		front.Misbehave(work.Send, "login")
		if a := send(t, sys, request(t, "INV-1")); a.Outcome != work.Deferred || !a.Login || company.Renewals != n {
			t.Errorf("%s, %d renewals", a.Outcome, company.Renewals)
		}
		front.Misbehave(work.Send, ledgertest.NoFault)
		for range 2 {
			if a := send(t, sys, request(t, "INV-1")); a.Outcome != work.Accepted {
				t.Errorf("%s: %s", a.Outcome, a.Exchange.Error)
			}
		}
		if company.Renewals != n+1 {
			t.Errorf("%d renewals", company.Renewals)
		}
	}
}

// Intuit's login does not answer: nobody is told to connect the account again, and when it is back all goes on.
func TestLoginThatIsDownPasses(t *testing.T) {
	sys, company, _ := connected(t, quickbookstest.Options{LoginDown: true}, patient, func(c *ledger.Connection) {
		tokens := &ledgertest.Tokens{}
		spent := quickbookstest.Token()
		spent.Expires = time.Now().Add(-time.Minute)
		tokens.Connect(spent)
		c.Tokens = tokens
	})
	if a := send(t, sys, request(t, "INV-1")); a.Outcome != work.Deferred || a.Login || !a.Unreached {
		t.Errorf("%s, login %v: %s", a.Outcome, a.Login, a.Exchange.Error)
	}
	if l := find(t, sys, request(t, "INV-1")); l.Finding != work.FindDeferred || l.Login || !l.Unreached {
		t.Errorf("%s, login %v: %s", l.Finding, l.Login, l.Exchange.Error)
	}
	company.Set(func(o *quickbookstest.Options) { o.LoginDown = false })
	if a := send(t, sys, request(t, "INV-1")); a.Outcome != work.Accepted {
		t.Errorf("%s: %s", a.Outcome, a.Exchange.Error)
	}
}

func TestDeadLoginSendsNothing(t *testing.T) {
	sys, company, front := connected(t, quickbookstest.Options{}, patient)
	company.Revoke()
	front.Misbehave(work.Send, "login")
	send(t, sys, request(t, "INV-1"))
	writes := len(front.Writes())
	if a := send(t, sys, request(t, "INV-1")); a.Outcome != work.Deferred || !a.Login || a.Exchange.HTTPStatus != http.StatusUnauthorized {
		t.Errorf("%s: %+v", a.Outcome, a)
	}
	if l := find(t, sys, request(t, "INV-1")); l.Finding != work.FindDeferred || !l.Login {
		t.Errorf("%s", l.Finding)
	}
	if n := len(front.Writes()); n != writes {
		t.Errorf("%d writes with a login that is refused", n-writes)
	}
}
