package tryton_test

import (
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	_ "modernc.org/sqlite"

	"onefold/internal/ledger"
	"onefold/internal/ledger/ledgertest"
	"onefold/internal/ledger/tryton"
	"onefold/internal/ledger/tryton/trytontest"
	"onefold/internal/work"
)

// T20: nothing in Tryton stops a second invoice with our reference, whatever key travels.
func testLiveSeveral(t *testing.T, live *trytontest.Live) {
	c := direct(t, live)
	for range 2 {
		if a := ledger.DoSend(t.Context(), c, request(t, tryton.StepCreate, "SEVERAL-1"), nil); a.Outcome != work.Accepted {
			t.Fatalf("%+v", a)
		}
	}
	if l := find(t, c, tryton.StepCreate, "SEVERAL-1", ""); l.Finding != work.FoundSeveral || l.Count != 2 {
		t.Errorf("%s %d", l.Finding, l.Count)
	}
	// A copy keeps the reference.
	rows := live.Invoices("SEVERAL-1")
	live.Ask("model.account.invoice.copy", []int{rows[0].ID}, map[string]any{}, map[string]any{"company": trytontest.Company})
	if l := find(t, c, tryton.StepCreate, "SEVERAL-1", ""); l.Count != 3 {
		t.Errorf("a copied invoice: %d", l.Count)
	}
	if caps := c.Capabilities(); caps.HonoursKeys || caps.UniqueReferences || !caps.Searchable {
		t.Errorf("%+v", caps)
	}
}

// A session that was idle reads on, but Tryton refuses to post with it and ends it. Ours posts with the password.
func testLiveIdle(t *testing.T, live *trytontest.Live) {
	c := direct(t, live)
	created := ledger.DoSend(t.Context(), c, request(t, tryton.StepCreate, "IDLE-1"), nil)

	var login []any
	_, answer := live.Call("", "common.db.login", trytontest.User, map[string]string{"password": trytontest.Password})
	if err := json.Unmarshal(answer, &struct{ Result *[]any }{&login}); err != nil || len(login) != 2 {
		t.Fatalf("%v: %s", err, answer)
	}
	session := "Session " + base64.StdEncoding.EncodeToString(fmt.Appendf(nil, "%s:%.0f:%s", trytontest.User, login[0], login[1]))
	db, err := sql.Open("sqlite", live.File())
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(`UPDATE ir_session SET create_date = datetime(create_date, '-10 minutes'), write_date = datetime(write_date, '-10 minutes')`); err != nil {
		t.Fatal(err)
	}
	context := map[string]any{"company": trytontest.Company}
	if status, _ := live.Call(session, "model.res.user.get_preferences", true, context); status != http.StatusOK {
		t.Errorf("an idle session reads with %d", status)
	}
	if status, answer := live.Call(session, "model.account.invoice.post", []int{live.Invoices("IDLE-1")[0].ID}, context); status != http.StatusUnauthorized {
		t.Errorf("an idle session posts with %d: %s; then writes need no password of their own", status, answer)
	}

	req := request(t, tryton.StepPost, "IDLE-1")
	req.PreviousRecordID = created.Record.ID
	if a := ledger.DoSend(t.Context(), c, req, nil); a.Outcome != work.Accepted {
		t.Errorf("after a long rest: %+v", a)
	}
}

func testLiveLogin(t *testing.T, live *trytontest.Live) {
	c := direct(t, live, func(c *ledger.Connection) { c.Secrets["password"] = "a wrong one" })
	a := ledger.DoSend(t.Context(), c, request(t, tryton.StepCreate, "LOGIN-1"), nil)
	if a.Outcome != work.Deferred || !a.Login {
		t.Errorf("%+v", a)
	}
	if n := len(live.Invoices("LOGIN-1")); n != 0 {
		t.Errorf("%d invoices", n)
	}
}

func testLiveContent(t *testing.T, live *trytontest.Live) {
	c := direct(t, live)
	req := request(t, "", "CONTENT-1")
	req.Invoice = invoice(t, "58.00")
	req.Invoice.DueDate, req.Invoice.Note = time.Now().AddDate(0, 0, 45).Format(time.DateOnly), "Danke & <bis bald>"
	req.Invoice.Lines = []work.Line{
		{Description: "Beratung", Quantity: "2", UnitPrice: "20.00", TaxCode: trytontest.Tax},
		{Description: "Porto", Quantity: "0.50", UnitPrice: "20"},
	}
	created, posted := issued(t, c, req)
	for _, a := range []work.Answer{created, posted} { // the tax is in the draft's total already
		if a.Match != work.MatchSame || a.Record.Total.Number() != "58.00" || a.Record.Customer != trytontest.Customer {
			t.Errorf("%s %s: %+v", a.Match, a.Remark, a.Record)
		}
	}
	rows := live.Invoices("CONTENT-1")
	if len(rows) != 1 || rows[0].State != "posted" || rows[0].Number == "" || rows[0].Comment != req.Invoice.Note || rows[0].Total.Decimal != "58.00" {
		t.Fatalf("%+v", rows)
	}
	if d := rows[0].Due; len(d) != 1 || fmt.Sprintf("%04d-%02d-%02d", d[0].Date.Year, d[0].Date.Month, d[0].Date.Day) != req.Invoice.DueDate {
		t.Errorf("due %+v, asked %s", d, req.Invoice.DueDate)
	}

	// The total that was asked is not what Tryton computes: a person must see that before it is posted.
	req = request(t, tryton.StepCreate, "CONTENT-2")
	req.Invoice = invoice(t, "40.00")
	req.Invoice.Lines = []work.Line{{Description: "Beratung", Quantity: "2", UnitPrice: "20.00", TaxCode: trytontest.Tax}}
	if a := ledger.DoSend(t.Context(), c, req, nil); a.Outcome != work.Accepted || a.Match != work.MatchDifferent || !strings.Contains(a.Remark, "48.00") {
		t.Errorf("%s %s %s", a.Outcome, a.Match, a.Remark)
	}
}

// Tryton warns of a payment date in the past and waits for a person's yes: a refusal, and nothing was posted.
func testLiveWarning(t *testing.T, live *trytontest.Live) {
	c := direct(t, live)
	req := request(t, tryton.StepCreate, "WARNING-1")
	req.Invoice.DueDate = "2020-01-14"
	a := ledger.DoSend(t.Context(), c, req, nil)
	req.Step, req.PreviousRecordID = tryton.StepPost, a.Record.ID
	if a = ledger.DoSend(t.Context(), c, req, nil); a.Outcome != work.Rejected || !strings.Contains(a.Exchange.Error, "payment date") {
		t.Errorf("%s: %s", a.Outcome, a.Exchange.Error)
	}
	if n := live.Effects(tryton.StepPost, "WARNING-1"); n != 0 {
		t.Errorf("posted %d times", n)
	}
}

// T19: numbers rise with the dates. An invoice with an earlier date than the last one posted is refused.
func testLiveOrder(t *testing.T, live *trytontest.Live) {
	c := direct(t, live)
	year := time.Now().Year() + 1 // where no other test posts
	req := request(t, "", "ORDER-1")
	req.Invoice.IssueDate = fmt.Sprintf("%d-02-02", year)
	issued(t, c, req)
	req = request(t, tryton.StepCreate, "ORDER-2")
	req.Invoice.IssueDate = fmt.Sprintf("%d-02-01", year)
	a := ledger.DoSend(t.Context(), c, req, nil)
	req.Step, req.PreviousRecordID = tryton.StepPost, a.Record.ID
	if a = ledger.DoSend(t.Context(), c, req, nil); a.Outcome != work.Rejected || !strings.Contains(a.Exchange.Error, "sequence") {
		t.Errorf("%s: %s", a.Outcome, a.Exchange.Error)
	}
}

func testLiveNotSent(t *testing.T, live *trytontest.Live) {
	for says, change := range map[string]func(*ledger.Request, *ledger.Connection){
		"does not know the customer 999": func(r *ledger.Request, _ *ledger.Connection) { r.Invoice.CustomerID = "999" },
		"the customer has no address":    func(r *ledger.Request, _ *ledger.Connection) { r.Invoice.CustomerID = trytontest.Homeless },
		"does not know the currency ISK": func(r *ledger.Request, _ *ledger.Connection) {
			r.Invoice.Total, _ = r.Invoice.Total.Convert("ISK", "1")
		},
		"does not know the revenue account 99": func(_ *ledger.Request, c *ledger.Connection) { c.System.Settings["revenue"] = "99" },
		`the date "soon" is not a day`:         func(r *ledger.Request, _ *ledger.Connection) { r.Invoice.DueDate = "soon" },
		"line 1 needs a quantity": func(r *ledger.Request, _ *ledger.Connection) {
			r.Invoice.Lines = []work.Line{{Quantity: "1e9", UnitPrice: "1"}}
		},
		"does not know the tax VAT 7": func(r *ledger.Request, _ *ledger.Connection) {
			r.Invoice.Lines = []work.Line{{Quantity: "1", UnitPrice: "1", TaxCode: "VAT 7"}}
		},
		"Tryton has no step mail":             func(r *ledger.Request, _ *ledger.Connection) { r.Step = "mail" },
		"the draft to be posted is not known": func(r *ledger.Request, _ *ledger.Connection) { r.Step = tryton.StepPost },
		"to be posted is not in Tryton":       func(r *ledger.Request, _ *ledger.Connection) { r.Step, r.PreviousRecordID = tryton.StepPost, "4711" },
		"Tryton has no step post":             func(r *ledger.Request, c *ledger.Connection) { r.Step, c.DraftsOnly = tryton.StepPost, true },
	} {
		req := request(t, tryton.StepCreate, "NOTSENT-1")
		c := direct(t, live, func(c *ledger.Connection) { change(&req, c) })
		if a := ledger.DoSend(t.Context(), c, req, nil); a.Outcome != work.NotSent || a.Final || !strings.Contains(a.Exchange.Error, says) {
			t.Errorf("want %q: %s %s", says, a.Outcome, a.Exchange.Error)
		}
	}
	// Another invoice has the id: after a restored backup it may.
	c := direct(t, live)
	other := ledger.DoSend(t.Context(), c, request(t, tryton.StepCreate, "OTHER"), nil)
	req := request(t, tryton.StepPost, "NOTSENT-1")
	req.PreviousRecordID = other.Record.ID
	if a := ledger.DoSend(t.Context(), c, req, nil); a.Outcome != work.NotSent {
		t.Errorf("%+v", a)
	}
	if n := live.Effects(tryton.StepPost, "OTHER"); n != 0 {
		t.Error("somebody else's draft was posted")
	}
	if n := len(live.Invoices("NOTSENT-1")); n != 0 {
		t.Errorf("%d invoices", n)
	}
}

func testLiveRemove(t *testing.T, live *trytontest.Live) {
	c := direct(t, live)
	draft := ledger.DoSend(t.Context(), c, request(t, tryton.StepCreate, "DRAFT"), nil)
	if err := c.Remove(t.Context(), draft.Record.ID); err != nil || len(live.Invoices("DRAFT")) != 0 {
		t.Errorf("%v, %+v", err, live.Invoices("DRAFT"))
	}
	_, posted := issued(t, c, request(t, "", "POSTED"))
	if err := c.Remove(t.Context(), posted.Record.ID); err == nil || !strings.Contains(err.Error(), "stays in Tryton: refused") {
		t.Errorf("%v", err)
	}
	if len(live.Invoices("POSTED")) != 1 {
		t.Error("a posted invoice is gone")
	}
}

// Tryton answers with 200 and an error of no kind.
func testLiveDatabase(t *testing.T, live *trytontest.Live) {
	c := connect(t, live.URL, ledgertest.Setup{Timeout: soon}, func(c *ledger.Connection) { c.System.Settings["database"] = "nothing" })
	if id, err := c.Identity(t.Context()); err == nil || !strings.Contains(err.Error(), "doesn't exist") {
		t.Errorf("%q, %v", id, err)
	}
	if l := find(t, c, tryton.StepCreate, "DATABASE-1", ""); l.Finding != work.CouldNotTell {
		t.Errorf("%s", l.Finding)
	}
}
