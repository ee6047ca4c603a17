package odoo_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"onefold/internal/ledger"
	"onefold/internal/ledger/ledgertest"
	"onefold/internal/ledger/odoo"
	"onefold/internal/ledger/odoo/odootest"
	"onefold/internal/work"
)

// A search that lags behind (a read replica) must not be taken for absence within the lag that is declared.
func TestT3_AReplicaIsBehind(t *testing.T) {
	fake := odootest.New(odootest.Options{Key: ledgertest.Secret, Lag: 45 * time.Second})
	front := ledgertest.Serve(t, fake)
	sys, err := odoo.Adapter.Connect(connection(front.URL(), "json-2", ledgertest.Setup{Timeout: time.Minute}))
	if err != nil {
		t.Fatal(err)
	}
	c := sys.(*odoo.Client)
	req := request(t, odoo.StepCreate, "INV-1", "47.99", "EUR")
	create(t, c, "INV-1")
	if l := find(t, c, req); l.Finding != work.NotFound {
		t.Fatalf("the fake's replica is not behind: %+v", l)
	}
	fake.Advance(c.Capabilities().SearchLag)
	if l := find(t, c, req); l.Finding != work.FoundMatching {
		t.Errorf("after the declared lag: %s", l.Finding)
	}
	if c.Capabilities().Misses < 2 {
		t.Error("one miss would prove absence")
	}
}

// Nothing that Odoo does not promise is declared, and no request carries a key that it ignores (T5, T20).
func TestT20_NeitherKeysNorUniqueReferences(t *testing.T) {
	c, front, _ := target(t, "json-2", ledgertest.Setup{})
	if caps := c.Capabilities(); caps.HonoursKeys || caps.UniqueReferences || caps.Linger < 10*time.Minute {
		t.Errorf("%+v", caps)
	}
	create(t, c, "INV-1")
	create(t, c, "INV-1")
	if n := front.Effects(odoo.StepCreate, "INV-1"); n != 2 {
		t.Errorf("the fake made %d records of two sends: it must not be safer than Odoo", n)
	}
	for _, w := range front.Writes() {
		if w.Key != "" {
			t.Error("a key travels that Odoo ignores")
		}
	}
}

// Rights may hide rows: a company that the user may not see is an error, never "not found".
func TestT12_ACompanyThatMayNotBeSeenIsNoAbsence(t *testing.T) {
	eachAPI(t, func(t *testing.T, api string) {
		c, front, _ := target(t, api, ledgertest.Setup{})
		create(t, c, "INV-1")
		other := connection(front.URL(), api, ledgertest.Setup{Timeout: time.Minute}, func(c *ledger.Connection) { c.System.Settings["company"] = "99" })
		sys, err := odoo.Adapter.Connect(other)
		if err != nil {
			t.Fatal(err)
		}
		if l := find(t, sys.(*odoo.Client), request(t, odoo.StepCreate, "INV-1", "47.99", "EUR")); l.Finding != work.CouldNotTell {
			t.Errorf("%+v", l)
		}
		if identity, err := sys.Identity(t.Context()); err == nil {
			t.Errorf("the identity is %q", identity)
		}
	})
}

// People correct customer references by hand: an invoice whose reference was changed is there, and different.
func TestT12_AReferenceChangedByHandIsNoAbsence(t *testing.T) {
	eachAPI(t, func(t *testing.T, api string) {
		c, _, fake := target(t, api, ledgertest.Setup{})
		create(t, c, "INV-1")
		fake.Edit("INV-1", "PO 4711")
		if l := find(t, c, request(t, odoo.StepCreate, "INV-1", "47.99", "EUR")); l.Finding != work.FoundDifferent {
			t.Errorf("%s: %s", l.Finding, l.Remark)
		}
	})
}

// Posting what is posted already is no refusal: the first posting succeeded.
func TestT14_PostedAlreadyIsNoRefusal(t *testing.T) {
	eachAPI(t, func(t *testing.T, api string) {
		c, front, _ := target(t, api, ledgertest.Setup{})
		req := create(t, c, "INV-1")
		for _, want := range []work.Outcome{work.Accepted, work.AlreadyExists} {
			if a := ledger.DoSend(t.Context(), c, req, nil); a.Outcome != want {
				t.Errorf("%+v, want %s", a, want)
			}
		}
		if l := find(t, c, req); l.Finding != work.FoundMatching || l.Record.Number == "" || front.Effects(odoo.StepPost, "INV-1") != 1 {
			t.Errorf("%+v", l)
		}
	})
}

// An exception may also follow the commit. Unless its kind is raised by the method itself it proves nothing.
func TestT17_AnInternalErrorProvesNothing(t *testing.T) {
	eachAPI(t, func(t *testing.T, api string) {
		for fault, effects := range map[ledgertest.Fault]int{"error_after_commit": 1, "server_error": 0} {
			c, front, _ := target(t, api, ledgertest.Setup{})
			if _, err := c.Identity(t.Context()); err != nil {
				t.Fatal(err)
			}
			front.Misbehave(work.Send, fault)
			a := ledger.DoSend(t.Context(), c, request(t, odoo.StepCreate, "INV-1", "47.99", "EUR"), nil)
			if a.Outcome != work.Unknown || front.Effects(odoo.StepCreate, "INV-1") != effects {
				t.Errorf("%s: %+v", fault, a)
			}
		}
	})
}

// Between the steps people may change the reference or delete the draft: neither makes it absent.
func TestT18_TheDraftIsFollowedByItsID(t *testing.T) {
	eachAPI(t, func(t *testing.T, api string) {
		c, _, fake := target(t, api, ledgertest.Setup{})
		req := create(t, c, "INV-1")
		fake.Edit("INV-1", "changed by hand")
		if a := ledger.DoSend(t.Context(), c, req, nil); a.Outcome != work.Accepted {
			t.Fatalf("%+v", a)
		}
		if l := find(t, c, req); l.Finding != work.FoundDifferent {
			t.Errorf("posted under another reference: %+v", l)
		}
		gone := create(t, c, "INV-2")
		if err := c.Remove(t.Context(), gone.PreviousRecordID); err != nil {
			t.Fatal(err)
		}
		if l := find(t, c, gone); l.Finding != work.CouldNotTell {
			t.Errorf("the draft is gone: %+v", l)
		}
		if a := ledger.DoSend(t.Context(), c, gone, nil); a.Outcome != work.Rejected || !a.Final {
			t.Errorf("posting what is gone: %+v", a)
		}
	})
}

// Odoo adds the company's usual tax to lines that tell none, so each line tells its taxes.
func TestT21_TheTotalIsTheTotal(t *testing.T) {
	line := func(tax string) work.Line {
		return work.Line{Description: "x", Quantity: "2", UnitPrice: "50.00", TaxCode: tax}
	}
	for name, c := range map[string]struct {
		tax   string // of the setting
		lines []work.Line
		match work.Match
	}{
		"without lines":           {match: work.MatchSame},
		"without tax":             {lines: []work.Line{line("")}, match: work.MatchSame},
		"tax of the setting":      {tax: strconv.Itoa(odootest.TaxIn), lines: []work.Line{line("")}, match: work.MatchSame},
		"tax of the line":         {lines: []work.Line{line(strconv.Itoa(odootest.TaxIn))}, match: work.MatchSame},
		"a tax that is added":     {lines: []work.Line{line(strconv.Itoa(odootest.TaxAdded))}, match: work.MatchDifferent},
		"the setting's adds, too": {tax: strconv.Itoa(odootest.TaxAdded), match: work.MatchDifferent},
	} {
		t.Run(name, func(t *testing.T) {
			for _, api := range []string{"json-2", "json-rpc"} {
				cl, _, _ := target(t, api, ledgertest.Setup{}, func(x *ledger.Connection) { x.System.Settings["tax"] = c.tax })
				req := request(t, odoo.StepCreate, "INV-1", "100.00", "EUR")
				req.Invoice.Lines = c.lines
				if a := ledger.DoSend(t.Context(), cl, req, nil); a.Outcome != work.Accepted || a.Match != c.match {
					t.Errorf("%s: %s %s: %s", api, a.Outcome, a.Match, a.Remark)
				}
			}
		})
	}
}

// An old server does not tell the total when the draft is made: it is read before the draft is posted.
func TestT21_AnOldServersDraftIsComparedBeforeItIsPosted(t *testing.T) {
	c, front, _ := target(t, "json-rpc-old", ledgertest.Setup{}, func(x *ledger.Connection) { x.System.Settings["tax"] = strconv.Itoa(odootest.TaxAdded) })
	req := create(t, c, "INV-1")
	if a := ledger.DoSend(t.Context(), c, req, nil); a.Outcome != work.NotSent || !strings.Contains(a.Exchange.Error, "57.11") {
		t.Errorf("%+v", a)
	}
	if n := front.Effects(odoo.StepPost, "INV-1"); n != 0 || len(front.Writes()) != 1 {
		t.Errorf("posted %d times", n)
	}
}

func TestTrial58_AmountsDigitByDigit(t *testing.T) {
	eachAPI(t, func(t *testing.T, api string) {
		c, _, fake := target(t, api, ledgertest.Setup{})
		for reference, total := range map[string][2]string{"A": {"5000", "JPY"}, "B": {"12.345", "KWD"}, "C": {"99999747361065.39", "EUR"}, "D": {"7", "USD"}} {
			req := request(t, odoo.StepCreate, reference, total[0], total[1])
			if a := ledger.DoSend(t.Context(), c, req, nil); a.Outcome != work.Accepted {
				t.Errorf("%v: %+v", total, a)
			}
			if held := fake.Totals(reference); len(held) != 1 || strings.TrimSuffix(held[0], ".00") != total[0] {
				t.Errorf("%v is held as %v", total, held)
			}
			if l := find(t, c, req); l.Finding != work.FoundMatching {
				t.Errorf("%v: %s %s", total, l.Finding, l.Remark)
			}
		}
	})
}

// Conditions travel as JSON: no character of a reference changes the search.
func TestT23_ReferencesAreEscaped(t *testing.T) {
	eachAPI(t, func(t *testing.T, api string) {
		c, _, _ := target(t, api, ledgertest.Setup{})
		for _, reference := range []string{`a","=","b`, `50% "x" 'y' _`, `請求書/7?#&`, `a\b <c>`} {
			create(t, c, reference)
			if l := find(t, c, request(t, odoo.StepCreate, reference, "47.99", "EUR")); l.Finding != work.FoundMatching || l.Count != 1 {
				t.Errorf("%q: %s %s", reference, l.Finding, l.Remark)
			}
		}
	})
}
