package tryton_test

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/bojanz/currency"

	"onefold/internal/ledger"
	"onefold/internal/ledger/ledgertest"
	"onefold/internal/ledger/tryton"
	"onefold/internal/ledger/tryton/trytontest"
	"onefold/internal/work"
)

// Everything here is against the real server. The suite's cases have books of their own; the others share them, and each
// has references of its own.
func TestLive(t *testing.T) {
	live := trytontest.Start(t)
	t.Run("Suite", func(t *testing.T) { testLiveSuite(t, live) })
	for _, c := range []struct {
		name string
		test func(*testing.T, *trytontest.Live)
	}{
		{"T4_EmptyWhileTheFirstCallIsAtWork", testLiveT4},
		{"T4_TheClientIsGoneAtOnce", testLiveGone},
		{"T12_AUserWhoSeesNoCompany", testLiveStranger},
		{"T13_CancelledIsVoid", testLiveCancelled},
		{"T16_RefusalsInside200", testLiveRefusals},
		{"T18_PostedTwice", testLivePostedTwice},
		{"T20_TwoWithOneReference", testLiveSeveral},
		{"T23_ReferencesAsTheyAre", testLiveReferences},
		{"AnIdleSessionReadsButMayNotPost", testLiveIdle},
		{"LoginRefused", testLiveLogin},
		{"TaxesDueDateAndNote", testLiveContent},
		{"APaymentDateInThePast", testLiveWarning},
		{"T19_PostedOutOfOrder", testLiveOrder},
		{"WhatCannotBeSent", testLiveNotSent},
		{"ADraftIsRemovedAndAPostedOneStays", testLiveRemove},
		{"AnUnknownDatabase", testLiveDatabase},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, live.For(t)) })
	}
}

// testLiveSuite runs the whole suite: whatever the line and a gateway can do wrong happens before the real server, and
// what Tryton does not do wrong by itself is done by something in between, see trytontest.Live.
func testLiveSuite(t *testing.T, live *trytontest.Live) {
	books := live.Fresh(t) // nothing else is in them
	books.Warm()
	cannotLive := maps.Clone(cannot)
	for _, f := range []ledgertest.Fault{"trim_reference", "upper_reference"} {
		cannotLive[f] = "the real Tryton keeps a reference to the letter (T23)"
	}
	ledgertest.Run(t, ledgertest.Target{
		Lists: true, ReadsFirst: true, Shared: true, Impossible: withoutIDs, Cannot: cannotLive,
		Brief:   500 * time.Millisecond, // the real server answers in a few hundredths
		Invoice: func(v *work.Invoice) { v.CustomerID = trytontest.Customer },
		New: func(t *testing.T, s ledgertest.Setup) (ledger.System, ledgertest.Outside) {
			mine := books.For(t)
			front := ledgertest.Serve(t, mine)
			return connectLive(t, mine, front.URL(), s), front
		},
	})
	// All is at rest. Each case counted its own; nothing may have come later either, whatever was lost, late or cut.
	held := books.References()
	if len(held) == 0 {
		t.Error("no case reached Tryton")
	}
	for reference, n := range held {
		if n > 1 && !sentOften(reference) {
			t.Errorf("%q is there %d times", reference, n)
		}
	}
}

// sentOften reports whether a case sends its invoice several times on purpose, behind the engine's back.
func sentOften(reference string) bool {
	return strings.Contains(reference, "TheSameKeyOnEverySend") || strings.Contains(reference, "SeveralOverManyPages")
}

func connectLive(t *testing.T, live *trytontest.Live, address string, s ledgertest.Setup, change ...func(*ledger.Connection)) *tryton.Client {
	t.Helper()
	database := func(c *ledger.Connection) { c.System.Settings["database"] = live.Database }
	return connect(t, address, s, append([]func(*ledger.Connection){database}, change...)...)
}

// direct is a client without anything in between.
func direct(t *testing.T, live *trytontest.Live, change ...func(*ledger.Connection)) *tryton.Client {
	t.Helper()
	return connectLive(t, live, live.URL, ledgertest.Setup{Timeout: soon}, change...)
}

func invoice(t *testing.T, total string) work.Invoice {
	t.Helper()
	amount, err := currency.NewAmount(total, "EUR")
	if err != nil {
		t.Fatal(err)
	}
	return work.Invoice{CustomerID: trytontest.Customer, Total: amount, IssueDate: time.Now().Format(time.DateOnly)}
}

func request(t *testing.T, step, reference string) ledger.Request {
	t.Helper()
	return ledger.Request{Step: step, Reference: reference, Key: "KEY", Invoice: invoice(t, "47.99"), SendBy: ledger.NewDeadline(time.Now(), time.Hour)}
}

func find(t *testing.T, c ledger.System, step, reference, previous string) work.Lookup {
	t.Helper()
	return ledger.DoFind(t.Context(), c, ledger.Query{Step: step, Reference: reference, PreviousRecordID: previous}, invoice(t, "47.99"))
}

// issued creates and posts.
func issued(t *testing.T, c ledger.System, req ledger.Request) (created, posted work.Answer) {
	t.Helper()
	req.Step = tryton.StepCreate
	if created = ledger.DoSend(t.Context(), c, req, nil); created.Outcome != work.Accepted {
		t.Fatalf("create: %+v", created)
	}
	req.Step, req.PreviousRecordID = tryton.StepPost, created.Record.ID
	if posted = ledger.DoSend(t.Context(), c, req, nil); posted.Outcome != work.Accepted {
		t.Fatalf("post: %+v", posted)
	}
	return created, posted
}

// T4: a lookup finds nothing while the first call is still at work, and the invoice is there afterwards. This is why
// absence counts only after the longest request.
func testLiveT4(t *testing.T, live *trytontest.Live) {
	front := ledgertest.Serve(t, live)
	c := connectLive(t, live, front.URL(), ledgertest.Setup{Timeout: soon})
	reached, release := live.Hold()
	t.Cleanup(release)
	ctx, hangUp := context.WithCancel(t.Context())
	defer hangUp()
	answers := make(chan work.Answer, 1)
	go func() { answers <- ledger.DoSend(ctx, c, request(t, tryton.StepCreate, "T4-1"), nil) }()
	select {
	case <-reached:
	case a := <-answers:
		t.Fatalf("it was never sent: %+v", a)
	}
	hangUp()
	if a := <-answers; a.Outcome != work.Unknown {
		t.Errorf("we hung up, and say %s: %s", a.Outcome, a.Exchange.Error)
	}
	if l := find(t, c, tryton.StepCreate, "T4-1", ""); l.Finding != work.NotFound {
		t.Errorf("while it is at work: %s", l.Finding)
	}
	release()
	front.Wait()
	if l := find(t, c, tryton.StepCreate, "T4-1", ""); l.Finding != work.FoundMatching {
		t.Errorf("afterwards: %s %s", l.Finding, l.Exchange.Error)
	}
	if n := live.Effects(tryton.StepCreate, "T4-1"); n != 1 {
		t.Errorf("%d invoices", n)
	}
	if caps := c.Capabilities(); caps.Linger < 15*time.Minute || caps.Misses < 2 {
		t.Errorf("%+v: a miss must not count so soon", caps)
	}
}

// T4 on the bare line: the request is handed over and the line closed at once; Tryton carries it out all the same.
func testLiveGone(t *testing.T, live *trytontest.Live) {
	keep := &keeper{Live: live}
	c := connectLive(t, live, ledgertest.Serve(t, keep).URL(), ledgertest.Setup{Timeout: soon})
	if a := ledger.DoSend(t.Context(), c, request(t, tryton.StepCreate, "PATTERN"), nil); a.Outcome != work.Accepted {
		t.Fatalf("%+v", a)
	}
	body := strings.ReplaceAll(keep.body, "PATTERN", "GONE")
	conn, err := net.Dial("tcp", strings.TrimPrefix(live.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, fmt.Sprintf("POST /%s/ HTTP/1.1\r\nHost: x\r\nAuthorization: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
		live.Database, keep.authorization, len(body), body)); err != nil {
		t.Fatal(err)
	}
	conn.Close() //nolint:errcheck,gosec // closed at once on purpose
	for n := 0; len(live.Invoices("GONE")) == 0; n++ {
		if n == 200 {
			t.Fatal("the call of a client that is gone was not carried out; then Linger could be short")
		}
	}
	if n := live.Effects(tryton.StepCreate, "GONE"); n != 1 {
		t.Errorf("%d invoices", n)
	}
}

// keeper keeps the create as it was written.
type keeper struct {
	*trytontest.Live
	body, authorization string
}

func (k *keeper) Classify(r *http.Request, body []byte) ledgertest.Incoming {
	if strings.Contains(string(body), ".create") {
		k.body, k.authorization = string(body), r.Header.Get("Authorization")
	}
	return k.Live.Classify(r, body)
}

// T12: Tryton answers a search of a user who does not see the company with an empty list.
func testLiveStranger(t *testing.T, live *trytontest.Live) {
	issued(t, direct(t, live), request(t, "", "STRANGER-1"))
	c := direct(t, live, func(c *ledger.Connection) { c.System.Settings["user"] = trytontest.Stranger })
	if l := find(t, c, tryton.StepCreate, "STRANGER-1", ""); l.Finding != work.CouldNotTell || !strings.Contains(l.Exchange.Error, "may not see company 1") {
		t.Errorf("%s: %s", l.Finding, l.Exchange.Error)
	}
	if a := ledger.DoSend(t.Context(), c, request(t, tryton.StepCreate, "STRANGER-2"), nil); a.Outcome != work.NotSent {
		t.Errorf("%+v", a)
	}
	if id, err := c.Identity(t.Context()); err == nil {
		t.Errorf("the books are %q", id)
	}
	if n := live.Effects(tryton.StepCreate, "STRANGER-2"); n != 0 {
		t.Errorf("%d invoices", n)
	}
}

func testLiveCancelled(t *testing.T, live *trytontest.Live) {
	c := direct(t, live)
	req := request(t, tryton.StepCreate, "CANCELLED-1")
	a := ledger.DoSend(t.Context(), c, req, nil)
	live.Ask("model.account.invoice.cancel", []int{live.Invoices("CANCELLED-1")[0].ID}, map[string]any{"company": trytontest.Company})
	for _, step := range c.Steps() {
		if l := find(t, c, step, "CANCELLED-1", a.Record.ID); l.Finding != work.FoundVoid {
			t.Errorf("%s: %s", step, l.Finding)
		}
	}
	// Tryton passes over a cancelled invoice without an error.
	req.Step, req.PreviousRecordID = tryton.StepPost, a.Record.ID
	if a := ledger.DoSend(t.Context(), c, req, nil); a.Outcome != work.Unknown || live.Effects(tryton.StepPost, req.Reference) != 0 {
		t.Errorf("a cancelled invoice was posted: %+v", a)
	}
}

func testLiveRefusals(t *testing.T, live *trytontest.Live) {
	c := direct(t, live)
	for reference, change := range map[string]func(*ledger.Request){
		"A\tB":      func(*ledger.Request) {},
		"TOO-EXACT": func(r *ledger.Request) { r.Invoice = tryton.Adapter.Refused(r.Invoice) },
	} {
		req := request(t, tryton.StepCreate, reference)
		change(&req)
		a := ledger.DoSend(t.Context(), c, req, nil)
		if a.Outcome != work.Rejected || a.Exchange.HTTPStatus != 200 || len(a.Exchange.Error) < len("refused: ")+10 {
			t.Errorf("%q: %s (%d) %s", reference, a.Outcome, a.Exchange.HTTPStatus, a.Exchange.Error)
		}
		if n := len(live.Invoices(reference)); n != 0 {
			t.Errorf("%q: %d invoices", reference, n)
		}
	}
	// No period for that day: refused when it is posted, and the draft stays.
	req := request(t, tryton.StepCreate, "OLD")
	req.Invoice.IssueDate = "1999-11-30"
	a := ledger.DoSend(t.Context(), c, req, nil)
	req.Step, req.PreviousRecordID = tryton.StepPost, a.Record.ID
	if a := ledger.DoSend(t.Context(), c, req, nil); a.Outcome != work.Rejected {
		t.Errorf("%+v", a)
	}
	if l := find(t, c, tryton.StepPost, "OLD", req.PreviousRecordID); l.Finding != work.NotFound {
		t.Errorf("%s", l.Finding)
	}
}

func testLivePostedTwice(t *testing.T, live *trytontest.Live) {
	c := direct(t, live)
	created, posted := issued(t, c, request(t, "", "POSTEDTWICE-1"))
	req := request(t, tryton.StepPost, "POSTEDTWICE-1")
	req.PreviousRecordID = created.Record.ID
	again := ledger.DoSend(t.Context(), c, req, nil)
	if again.Outcome != work.Accepted || again.Record.Number == "" || again.Record.Number != posted.Record.Number {
		t.Errorf("posted as %q, and then: %+v", posted.Record.Number, again)
	}
	if rows := live.Invoices("POSTEDTWICE-1"); len(rows) != 1 {
		t.Errorf("%+v", rows)
	}
}

func testLiveReferences(t *testing.T, live *trytontest.Live) {
	c := direct(t, live)
	for _, reference := range []string{`a"b\c 100% _x_`, "請求書/7", " outer ", "INV-1", "inv-1"} {
		a := ledger.DoSend(t.Context(), c, request(t, tryton.StepCreate, reference), nil)
		if a.Outcome != work.Accepted || a.Match != work.MatchSame {
			t.Fatalf("%q: %+v", reference, a)
		}
		if l := find(t, c, tryton.StepCreate, reference, ""); l.Finding != work.FoundMatching || l.Count != 1 || l.Record.ID != a.Record.ID {
			t.Errorf("%q: %s %d %s", reference, l.Finding, l.Count, l.Remark)
		}
	}
	for _, reference := range []string{"outer", "%", "INV_1", "Inv-1"} {
		if l := find(t, c, tryton.StepCreate, reference, ""); l.Finding != work.NotFound {
			t.Errorf("%q: %s", reference, l.Finding)
		}
	}
}
