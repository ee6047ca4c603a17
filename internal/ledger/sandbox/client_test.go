package sandbox_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/bojanz/currency"

	"onefold/internal/ledger"
	"onefold/internal/ledger/ledgertest"
	"onefold/internal/ledger/sandbox"
	"onefold/internal/ledger/sandbox/server"
	"onefold/internal/work"
)

func request(t *testing.T, step, reference string) ledger.Request {
	t.Helper()
	total, err := currency.NewAmount("10.00", "EUR")
	if err != nil {
		t.Fatal(err)
	}
	return ledger.Request{Step: step, Reference: reference, Key: "KEY-" + step + "-" + reference, SendBy: ledger.NewDeadline(time.Now(), time.Hour),
		Invoice: work.Invoice{CustomerID: "C-1", Total: total}}
}

// Why writes have a connection of their own: Go's client sends the same request again, unseen, when a reused connection
// breaks. This test also proves that the suite's server can tell.
func TestGoSendsAgainUnseen(t *testing.T) {
	c, o := target(t, sandbox.Blind, false, ledgertest.Setup{Timeout: time.Minute})
	a := c.Send(t.Context(), request(t, sandbox.StepCreate, "INV-1"))
	o.Misbehave(work.Send, "close_reused")
	client := o.http.Client()
	for _, call := range []struct{ method, path string }{{"GET", "/books/api/identity"}, {"POST", "/books/api/invoices/" + a.Record.ID + "/post"}} {
		req, err := http.NewRequestWithContext(t.Context(), call.method, o.http.URL+call.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+ledgertest.Secret)
		req.Header.Set("Idempotency-Key", "K")
		resp, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, resp.Body); err != nil {
			t.Fatal(err)
		}
		if err := resp.Body.Close(); err != nil || resp.StatusCode != http.StatusOK {
			t.Fatalf("%d, %v", resp.StatusCode, err)
		}
	}
	if n := o.Effects(sandbox.StepPost, "INV-1"); n != 2 {
		t.Errorf("posted %d times; if Go no longer does this, the transport may be simplified", n)
	}
}

func TestTrial83_StillWorkingOnIt(t *testing.T) {
	c, o := target(t, sandbox.Keys, false, ledgertest.Setup{Timeout: 250 * time.Millisecond})
	if err := o.SetPlan(server.Plan{Rules: []server.Rule{{Fault: server.CommitLate, Times: 1, DelayMS: 1500}}}); err != nil {
		t.Fatal(err)
	}
	req := request(t, sandbox.StepCreate, "INV-1")
	if a := ledger.DoSend(t.Context(), c, req, nil); a.Outcome != work.Unknown {
		t.Fatalf("first: %+v", a)
	}
	if a := ledger.DoSend(t.Context(), c, req, nil); a.Outcome != work.Deferred {
		t.Errorf("while it is still at work: %+v", a)
	}
	o.Wait()
	if a := ledger.DoSend(t.Context(), c, req, nil); a.Outcome != work.Accepted {
		t.Errorf("afterwards: %+v", a)
	}
	if n := o.Effects(sandbox.StepCreate, "INV-1"); n != 1 {
		t.Errorf("%d effects", n)
	}
}

func TestAnOutage(t *testing.T) {
	c, o := target(t, sandbox.Unique, false, ledgertest.Setup{})
	o.Outage(time.Minute)
	a := ledger.DoSend(t.Context(), c, request(t, sandbox.StepCreate, "INV-1"), nil)
	if a.Outcome != work.Unknown || !a.Unreached || !strings.Contains(a.Exchange.Error, "unreachable (503)") {
		t.Errorf("%+v", a)
	}
	if _, err := c.Identity(t.Context()); err == nil || !strings.Contains(err.Error(), "unreachable") {
		t.Errorf("identity: %v", err)
	}
	o.Advance(time.Minute)
	if a := ledger.DoSend(t.Context(), c, request(t, sandbox.StepCreate, "INV-1"), nil); a.Outcome != work.Accepted {
		t.Errorf("after the outage: %+v", a)
	}
}

func TestTrial58_OnTheWire(t *testing.T) {
	c, o := target(t, sandbox.Unique, true, ledgertest.Setup{})
	for reference, total := range map[string][2]string{"A": {"5000", "JPY"}, "B": {"900", "KRW"}, "C": {"12.345", "KWD"}, "D": {"99999747361065.39", "EUR"}, "E": {"7", "EUR"}} {
		req := request(t, sandbox.StepCreate, reference)
		amount, err := currency.NewAmount(total[0], total[1])
		if err != nil {
			t.Fatal(err)
		}
		req.Invoice.Total = amount
		if a := ledger.DoSend(t.Context(), c, req, nil); a.Outcome != work.Accepted || a.Match != work.MatchSame {
			t.Errorf("%v: %+v", total, a)
		}
		held := o.Records("books", reference)
		if len(held) != 1 || strings.TrimSuffix(held[0].Total, ".00") != total[0] || held[0].Currency != total[1] {
			t.Errorf("%v is held as %+v", total, held)
		}
	}
}

func TestWhatCannotBeSentIsNotSent(t *testing.T) {
	c, o := target(t, sandbox.Unique, false, ledgertest.Setup{})
	for _, req := range []ledger.Request{request(t, sandbox.StepPost, "INV-1"), request(t, "mail", "INV-1")} {
		if a := c.Send(t.Context(), req); a.Outcome != work.NotSent || a.Exchange.Error == "" {
			t.Errorf("%s: %+v", req.Step, a)
		}
	}
	if n := len(o.Writes()); n != 0 {
		t.Errorf("%d writes", n)
	}
}

func TestAPostingOfARecordThatIsNotThere(t *testing.T) {
	c, _ := target(t, sandbox.Search, false, ledgertest.Setup{})
	req := request(t, sandbox.StepPost, "INV-1")
	req.PreviousRecordID = "inv_999999"
	if a := ledger.DoSend(t.Context(), c, req, nil); a.Outcome != work.Rejected {
		t.Errorf("%+v", a)
	}
	q := ledger.Query{Step: sandbox.StepPost, Reference: "INV-1", PreviousRecordID: "inv_999999"}
	if l := ledger.DoFind(t.Context(), c, q, req.Invoice); l.Finding != work.CouldNotTell {
		t.Errorf("%+v", l)
	}
}

func TestReferencesAreEscaped(t *testing.T) {
	c, _ := target(t, sandbox.Unique, true, ledgertest.Setup{})
	for _, reference := range []string{`a&reference=b`, `50% "x" 'y'`, `請求書/7?#`, `a+b c`} {
		if a := ledger.DoSend(t.Context(), c, request(t, sandbox.StepCreate, reference), nil); a.Outcome != work.Accepted {
			t.Fatalf("%q: %+v", reference, a)
		}
		if l := ledger.DoFind(t.Context(), c, ledger.Query{Step: sandbox.StepCreate, Reference: reference}, request(t, "", "").Invoice); l.Finding != work.FoundMatching {
			t.Errorf("%q: %s %s", reference, l.Finding, l.Remark)
		}
	}
}
