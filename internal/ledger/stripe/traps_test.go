package stripe_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"onefold/internal/ledger"
	"onefold/internal/ledger/ledgertest"
	"onefold/internal/ledger/stripe"
	"onefold/internal/ledger/stripe/stripetest"
	"onefold/internal/work"
)

// T11, T3: the list is read to its end, newest first, and the search that lags is never asked.
func TestTheMatchIsOnTheLastPage(t *testing.T) {
	b := open(t, stripetest.Options{PageSize: 3})
	b.send(stripe.StepCreate, "INV-1")
	for range 40 {
		b.fake.Put(stripetest.Invoice{ID: fmt.Sprintf("in_x%d", len(b.fake.Invoices())), Status: "open", Customer: "cus_1", Currency: "eur"})
	}
	if l := b.find(ledger.Query{Step: stripe.StepCreate, Reference: "INV-1"}); l.Finding != work.FoundMatching {
		t.Errorf("%s: %s", l.Finding, l.Exchange.Error)
	}
	if l := b.find(ledger.Query{Step: stripe.StepCreate, Reference: "INV-2"}); l.Finding != work.NotFound {
		t.Errorf("%s: %s", l.Finding, l.Exchange.Error)
	}
	b.front.Misbehave(work.Find, "search_broken_page")
	if l := b.find(ledger.Query{Step: stripe.StepCreate, Reference: "INV-2"}); l.Finding != work.CouldNotTell {
		t.Errorf("a page was missing: %s", l.Finding)
	}
	if n := b.fake.Searches(); n != 0 {
		t.Errorf("the search was asked %d times", n)
	}
}

// Two keys, or a key that was forgotten, make two drafts; a lookup must show both.
func TestTwoDraftsAreFound(t *testing.T) {
	b := open(t, stripetest.Options{})
	b.send(stripe.StepCreate, "INV-1")
	b.front.Advance(stripetest.KeyLifetime)
	b.send(stripe.StepCreate, "INV-1")
	if l := b.find(ledger.Query{Step: stripe.StepCreate, Reference: "INV-1"}); l.Finding != work.FoundSeveral || l.Count != 2 {
		t.Errorf("%s, %d", l.Finding, l.Count)
	}
}

// A page of invoices with many lines may be larger than an answer may be: smaller pages are asked for then.
func TestPagesThatAreTooLarge(t *testing.T) {
	b := open(t, stripetest.Options{}, func(c *ledger.Connection) { c.MaxBody = 20 << 10 })
	b.send(stripe.StepCreate, "INV-1")
	text := strings.Repeat("x", 1000)
	for i := range 45 {
		b.fake.Put(stripetest.Invoice{ID: fmt.Sprintf("in_x%d", i), Status: "open", Customer: "cus_1", Currency: "eur", Metadata: map[string]string{"note": text}})
	}
	if l := b.find(ledger.Query{Step: stripe.StepCreate, Reference: "INV-1"}); l.Finding != work.FoundMatching {
		t.Errorf("%s: %s", l.Finding, l.Exchange.Error)
	}
}

// Clocks differ: what was made shortly before the first send by our clock is in the list.
func TestTheListBeginsBeforeTheFirstSend(t *testing.T) {
	b := open(t, stripetest.Options{})
	b.send(stripe.StepCreate, "INV-1")
	made := b.fake.Invoices()[0].Created
	if l := b.find(ledger.Query{Step: stripe.StepCreate, Reference: "INV-1", Customer: "cus_1", Since: made.Add(30 * time.Minute)}); l.Finding != work.FoundMatching {
		t.Errorf("%s", l.Finding)
	}
}

// A draft that was known and is gone was deleted by somebody: that is no absence.
func TestTrial66_ADeletedDraftIsNotAbsent(t *testing.T) {
	b := open(t, stripetest.Options{})
	b.send(stripe.StepCreate, "INV-1")
	b.fake.ByHand(b.draft, func(v *stripetest.Invoice) { v.Deleted = true })
	for _, step := range []string{stripe.StepLines, stripe.StepFinalize} {
		if l := b.find(ledger.Query{Step: step, Reference: "INV-1", PreviousRecordID: b.draft}); l.Finding != work.FoundVoid {
			t.Errorf("%s: %s", step, l.Finding)
		}
		if a := b.send(step, "INV-1"); a.Outcome != work.Rejected || !a.Final {
			t.Errorf("%s: %s %t %s", step, a.Outcome, a.Final, a.Exchange.Error)
		}
	}
}

// T14: that it is issued already is no refusal: the first try may have done it.
func TestIssuedAlready(t *testing.T) {
	b := open(t, stripetest.Options{})
	b.issue("INV-1")
	b.front.Advance(stripetest.KeyLifetime)
	for _, step := range []string{stripe.StepLines, stripe.StepFinalize} {
		if a := b.send(step, "INV-1"); a.Outcome != work.AlreadyExists {
			t.Errorf("%s: %s %s", step, a.Outcome, a.Exchange.Error)
		}
		if n := b.fake.Effects(step, "INV-1"); n != 1 {
			t.Errorf("%s took effect %d times", step, n)
		}
	}
	if l := b.find(ledger.Query{Step: stripe.StepFinalize, Reference: "INV-1", PreviousRecordID: b.draft}); l.Finding != work.FoundMatching || l.Record.Number == "" {
		t.Errorf("%s %+v", l.Finding, l.Record)
	}
}

// A request with the same key is still at work: nothing was done for this one.
func TestTrial83_StripeIsStillWorkingOnIt(t *testing.T) {
	b := open(t, stripetest.Options{})
	hasty := connect(t, b.front.URL(), ledgertest.Setup{Timeout: 200 * time.Millisecond})
	b.front.Misbehave(work.Send, "commit_late")
	req := request(stripe.StepCreate, "INV-1", b.asked)
	if a := ledger.DoSend(t.Context(), hasty, req, nil); a.Outcome != work.Unknown {
		t.Fatalf("first: %s %s", a.Outcome, a.Exchange.Error)
	}
	if a := b.send(stripe.StepCreate, "INV-1"); a.Outcome != work.Deferred {
		t.Errorf("while it is at work: %s %s", a.Outcome, a.Exchange.Error)
	}
	b.front.Wait()
	if a := b.send(stripe.StepCreate, "INV-1"); a.Outcome != work.Accepted {
		t.Errorf("afterwards: %s %s", a.Outcome, a.Exchange.Error)
	}
	if n := b.fake.Effects(stripe.StepCreate, "INV-1"); n != 1 {
		t.Errorf("%d drafts", n)
	}
}

// T2: the saved error says nothing about what happened, however often it is repeated.
func TestAStickyErrorStaysUnknown(t *testing.T) {
	for _, fault := range []ledgertest.Fault{"sticky_500", "sticky_500_after"} {
		b := open(t, stripetest.Options{})
		b.front.Misbehave(work.Send, fault)
		b.send(stripe.StepCreate, "INV-1")
		b.front.Misbehave(work.Send, ledgertest.NoFault)
		a := b.send(stripe.StepCreate, "INV-1")
		if a.Outcome != work.Unknown || !strings.Contains(a.Exchange.Error, "repeats this answer") {
			t.Errorf("%s: %s %s", fault, a.Outcome, a.Exchange.Error)
		}
		if n := b.fake.Effects(stripe.StepCreate, "INV-1"); n > 1 {
			t.Errorf("%s: %d drafts", fault, n)
		}
	}
}

// A saved refusal is repeated although its cause is gone; staff must be told why.
func TestASavedRefusalIsNamedAsOne(t *testing.T) {
	b := open(t, stripetest.Options{})
	b.front.Misbehave(work.Send, "reject")
	b.send(stripe.StepCreate, "INV-1")
	b.front.Misbehave(work.Send, ledgertest.NoFault)
	if a := b.send(stripe.StepCreate, "INV-1"); a.Outcome != work.Rejected || !strings.Contains(a.Exchange.Error, "for a day") {
		t.Errorf("%s %s", a.Outcome, a.Exchange.Error)
	}
}

// A settings change between two tries of one key: Stripe refuses, nothing is made, no retry can cure it.
func TestTrial84_SameKeyOtherSettings(t *testing.T) {
	b := open(t, stripetest.Options{})
	b.front.Misbehave(work.Send, "drop_after")
	b.send(stripe.StepCreate, "INV-1")
	b.front.Misbehave(work.Send, ledgertest.NoFault)
	other := connect(t, b.front.URL(), ledgertest.Setup{Timeout: longEnough}, func(c *ledger.Connection) { c.System.Settings["days_until_due"] = "14" })
	a := ledger.DoSend(t.Context(), other, request(stripe.StepCreate, "INV-1", b.asked), nil)
	if a.Outcome != work.Rejected || !a.Final {
		t.Errorf("%s %s", a.Outcome, a.Exchange.Error)
	}
	if n := b.fake.Effects(stripe.StepCreate, "INV-1"); n != 1 {
		t.Errorf("%d drafts", n)
	}
}

// An answer from the other mode is not from these books.
func TestTheOtherModeAnswers(t *testing.T) {
	b := open(t, stripetest.Options{Live: true})
	if a := b.send(stripe.StepCreate, "INV-1"); a.Outcome != work.Unknown {
		t.Errorf("%s", a.Outcome)
	}
	if l := b.find(ledger.Query{Step: stripe.StepCreate, Reference: "INV-1"}); l.Finding != work.CouldNotTell {
		t.Errorf("%s", l.Finding)
	}
}

// A key that may not write invoices is a matter of its owner, not of each invoice.
func TestAKeyWithoutTheRight(t *testing.T) {
	b := open(t, stripetest.Options{})
	b.front.Misbehave(work.Send, "forbidden")
	if a := b.send(stripe.StepCreate, "INV-1"); a.Outcome != work.Deferred || !a.Login {
		t.Errorf("%s %t %s", a.Outcome, a.Login, a.Exchange.Error)
	}
	if n := b.fake.Effects(stripe.StepCreate, "INV-1"); n != 0 {
		t.Errorf("%d drafts", n)
	}
}

// A success that is told of another invoice, or of one that looks as before, is none that can be believed.
func TestASuccessThatDoesNotFit(t *testing.T) {
	for _, fault := range []ledgertest.Fault{"other_record", "as_before"} {
		for _, step := range []string{stripe.StepLines, stripe.StepFinalize} {
			b := open(t, stripetest.Options{})
			for _, before := range b.Steps() {
				if before == step {
					break
				}
				b.send(before, "INV-1")
			}
			b.front.Misbehave(work.Send, fault)
			if a := b.send(step, "INV-1"); a.Outcome != work.Unknown {
				t.Errorf("%s, %s: %s", fault, step, a.Outcome)
			}
		}
	}
}

// Stripe refuses to list the invoices of a customer that it does not know; that is no reason to never find out.
func TestLookingForACustomerThatIsNotThere(t *testing.T) {
	b := open(t, stripetest.Options{})
	b.asked.CustomerID = "cus_unknown"
	if a := b.send(stripe.StepCreate, "INV-1"); a.Outcome != work.Rejected {
		t.Errorf("%s %s", a.Outcome, a.Exchange.Error)
	}
	q := ledger.Query{Step: stripe.StepCreate, Reference: "INV-1", Customer: "cus_unknown"}
	if l := b.find(q); l.Finding != work.NotFound {
		t.Errorf("%s %s", l.Finding, l.Exchange.Error)
	}
	b.fake.Put(stripetest.Invoice{ID: "in_other", Status: "draft", Customer: "cus_2", Currency: "eur", Metadata: map[string]string{"work_item": "INV-1"}})
	if l := b.find(q); l.Finding != work.FoundDifferent {
		t.Errorf("%s %s", l.Finding, l.Exchange.Error)
	}
}
