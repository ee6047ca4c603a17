package stripe_test

import (
	"context"
	"testing"

	"onefold/internal/ledger"
	"onefold/internal/ledger/ledgertest"
	"onefold/internal/ledger/stripe"
	"onefold/internal/ledger/stripe/stripetest"
	"onefold/internal/work"
)

const key = "sk_test_" + ledgertest.Secret

// cannot are the faults of the suite that Stripe cannot commit.
var cannot = map[ledgertest.Fault]string{
	"other_books":     "a key belongs to one account, and the account is named by the key or the header",
	"duplicate_error": "nothing in a draft is unique; a second issue is TestIssuedAlready",
	"deleted":         "a deleted draft is in no list; one that was known is TestTrial66_ADeletedDraftIsNotAbsent",
}

func TestConformance(t *testing.T) {
	target := ledgertest.Target{
		Invoice: func(v *work.Invoice) { v.CustomerID = "cus_1" },
		Cautious: map[string]string{
			"Trial89_ReasonAsXML":              "Stripe's own refusals are JSON; anything else came from something in between",
			"Trial89_ReasonWithoutTypeAndBody": "likewise",
		},
		New: func(t *testing.T, s ledgertest.Setup) (ledger.System, ledgertest.Outside) {
			fake := stripetest.New(stripetest.Options{Key: key, PageSize: s.PageSize})
			front := ledgertest.Serve(t, fake)
			return connect(t, front.URL(), s), front
		},
	}
	ledgertest.Run(t, target)
	t.Run("ByCustomer", func(t *testing.T) {
		all := target.New
		target.New = func(t *testing.T, s ledgertest.Setup) (ledger.System, ledgertest.Outside) {
			sys, out := all(t, s)
			return byCustomer{sys}, forCustomer{out}
		}
		ledgertest.Run(t, target)
	})
}

// byCustomer looks as the engine does: among one customer's invoices.
type byCustomer struct{ ledger.System }

func (s byCustomer) Find(ctx context.Context, q ledger.Query) ledger.Found {
	q.Customer = "cus_1"
	return s.System.Find(ctx, q)
}

// forCustomer never stores an invoice under another customer than was asked: Stripe does not, and it would not be found.
type forCustomer struct{ ledgertest.Outside }

func (o forCustomer) Misbehave(kind work.Kind, f ledgertest.Fault) bool {
	return f != "other_customer" && o.Outside.Misbehave(kind, f)
}

func connect(t *testing.T, address string, s ledgertest.Setup, set ...func(*ledger.Connection)) *stripe.Client {
	t.Helper()
	c := ledger.Connection{System: work.System{Address: address, Settings: map[string]string{"mode": "test"}},
		Secrets: map[string]string{"key": key}, Now: s.Now, MaxBody: s.MaxBody}
	c.System.Policy.RequestTimeout = s.Timeout
	for _, change := range set {
		change(&c)
	}
	sys, err := stripe.Adapter.Connect(c)
	if err != nil {
		t.Fatal(err)
	}
	client := sys.(*stripe.Client)
	t.Cleanup(client.Close)
	if _, err := client.Identity(t.Context()); err != nil {
		t.Logf("identity: %v", err)
	}
	return client
}

// What cannot happen is left out of the suite for a reason, and not because the fake forgot it.
func TestWhatStripeCannotDo(t *testing.T) {
	front := ledgertest.Serve(t, stripetest.New(stripetest.Options{Key: key}))
	for fault, why := range cannot {
		if front.Misbehave(work.Send, fault) || why == "" {
			t.Errorf("%s is possible after all", fault)
		}
	}
}
