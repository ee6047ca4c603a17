package tryton_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"reflect"
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

func onFake(t *testing.T, change ...func(*ledger.Connection)) (*tryton.Client, *trytontest.Fake, *ledgertest.Front) {
	t.Helper()
	fake := trytontest.NewFake()
	front := ledgertest.Serve(t, fake)
	return connect(t, front.URL(), ledgertest.Setup{Timeout: soon}, change...), fake, front
}

// The requests as the notes on Tryton's JSON-RPC give them: exactly the members id, method and params, decimals and dates
// as objects, the company in the context, all states, no limit, and no idempotency key, which would make Go's client send
// the request again by itself.
func TestRequestsAreWhatTrytonUnderstands(t *testing.T) {
	c, fake, _ := onFake(t)
	req := request(t, "", "INV-1")
	req.Invoice.IssueDate, req.Invoice.DueDate = "2026-11-30", "2026-12-31"
	req.Invoice.Lines = []work.Line{{Description: "Beratung", Quantity: "02.50", UnitPrice: "15.9967", TaxCode: trytontest.Tax}}
	created, _ := issued(t, c, req)
	find(t, c, tryton.StepPost, "INV-1", created.Record.ID)

	want := map[string]string{
		"model.account.invoice.create": `[[{"type":"out","company":1,"party":2,"invoice_address":2,"account":5,"journal":1,"currency":1,"reference":"INV-1","comment":"",
			"invoice_date":{"__class__":"date","year":2026,"month":11,"day":30},"payment_term_date":{"__class__":"date","year":2026,"month":12,"day":31},
			"lines":[["create",[{"type":"line","company":1,"currency":1,"invoice_type":"out","party":2,"account":6,"quantity":2.50,
				"unit_price":{"__class__":"Decimal","decimal":"15.9967"},"description":"Beratung","taxes":[["add",[1]]]}]]],
			"taxes":[["create",[{"account":7,"tax":1,"description":"VAT 20","legal_notice":null,"manual":false,"sequence":null,
				"base":{"__class__":"Decimal","decimal":"39.99"},"amount":{"__class__":"Decimal","decimal":"8.00"}}]]]}],{"company":1}]`,
		"model.account.invoice.post": `[[1],{"company":1}]`,
		"model.account.invoice.search_read": `[[["OR",["reference","=","INV-1"],["id","=",1]],["company","=",1],["type","=","out"]],0,null,null,
			["number","reference","state","total_amount","party.code","currency.code"],{"company":1}]`,
		"model.res.user.get_preferences": `[true,{"company":1}]`,
	}
	last := map[string]trytontest.Call{}
	for _, call := range fake.Calls() {
		last[call.Method] = call
		if call.Header.Get("Idempotency-Key") != "" || call.Header.Get("X-Idempotency-Key") != "" {
			t.Errorf("%s carries an idempotency key", call.Method)
		}
		if writes := call.Method == "model.account.invoice.create" || call.Method == "model.account.invoice.post"; call.Basic != writes {
			t.Errorf("%s: with the password: %t", call.Method, call.Basic)
		}
	}
	for method, params := range want {
		got, err := json.Marshal(last[method].Params)
		if err != nil {
			t.Fatal(err)
		}
		if !sameJSON(t, got, []byte(params)) {
			t.Errorf("%s\n got %s\nwant %s", method, got, params)
		}
	}
}

func sameJSON(t *testing.T, a, b []byte) bool {
	t.Helper()
	var x, y any
	for _, half := range []struct {
		text []byte
		into *any
	}{{a, &x}, {b, &y}} {
		d := json.NewDecoder(strings.NewReader(string(half.text)))
		d.UseNumber()
		if err := d.Decode(half.into); err != nil {
			t.Fatal(err)
		}
	}
	return reflect.DeepEqual(x, y)
}

// Large amounts and small prices travel as they are, never by way of a float.
func TestTrial58_AmountsAreNeverFloats(t *testing.T) {
	c, fake, _ := onFake(t)
	req := request(t, tryton.StepCreate, "INV-1")
	total, err := currency.NewAmount("99999747361065.39", "EUR")
	if err != nil {
		t.Fatal(err)
	}
	req.Invoice.Total = total
	if a := ledger.DoSend(t.Context(), c, req, nil); a.Outcome != work.Accepted || a.Match != work.MatchSame {
		t.Errorf("%+v", a)
	}
	calls := fake.Calls()
	for _, call := range calls {
		if text, _ := json.Marshal(call.Params); call.Method == "model.account.invoice.create" && !strings.Contains(string(text), `"decimal":"99999747361065.39"`) {
			t.Errorf("%s", text)
		}
	}
}

// A session that ended is renewed for a read, once; a write never needs one.
func TestAnEndedSessionIsRenewed(t *testing.T) {
	c, fake, front := onFake(t)
	created := ledger.DoSend(t.Context(), c, request(t, tryton.StepCreate, "INV-1"), nil)
	fake.EndSessions()
	if l := find(t, c, tryton.StepCreate, "INV-1", ""); l.Finding != work.FoundMatching {
		t.Errorf("%s: %s", l.Finding, l.Exchange.Error)
	}
	fake.Advance(time.Hour) // idle: it reads on, and may not post
	req := request(t, tryton.StepPost, "INV-1")
	req.PreviousRecordID = created.Record.ID
	if a := ledger.DoSend(t.Context(), c, req, nil); a.Outcome != work.Accepted {
		t.Errorf("%+v", a)
	}
	logins := 0
	for _, call := range fake.Calls() {
		if call.Method == "common.db.login" {
			logins++
		}
	}
	if logins != 2 || len(front.Writes()) != 2 {
		t.Errorf("%d logins, %d writes", logins, len(front.Writes()))
	}
}

// After some wrong passwords Tryton locks the user for a while and answers 429: nothing was done, and it passes.
func TestWrongPasswordsThenLocked(t *testing.T) {
	c, _, front := onFake(t, func(c *ledger.Connection) { c.Secrets["password"] = "a wrong one" })
	var login, locked int
	for range 10 {
		switch a := ledger.DoSend(t.Context(), c, request(t, tryton.StepCreate, "INV-1"), nil); {
		case a.Outcome != work.Deferred:
			t.Fatalf("%+v", a)
		case a.Login:
			login++
		default:
			locked++
		}
	}
	if login == 0 || locked == 0 || len(front.Writes()) != 0 {
		t.Errorf("%d times the login, %d times locked, %d writes", login, locked, len(front.Writes()))
	}
	if l := find(t, c, tryton.StepCreate, "INV-1", ""); l.Finding != work.FindDeferred {
		t.Errorf("%s", l.Finding)
	}
}

// T12: the search of a user who lost the company is empty and is no miss.
func TestT12_HiddenRowsAreNoMiss(t *testing.T) {
	c, fake, _ := onFake(t)
	ledger.DoSend(t.Context(), c, request(t, tryton.StepCreate, "INV-1"), nil)
	fake.Hide()
	if l := find(t, c, tryton.StepCreate, "INV-1", ""); l.Finding != work.CouldNotTell {
		t.Errorf("%s", l.Finding)
	}
}

// T18: what a person does to the draft in between is seen.
func TestT18_TheDraftChangedInBetween(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*trytontest.Record)
		want   work.Finding
	}{
		"posted by hand":       {func(r *trytontest.Record) { r.State = "posted" }, work.FoundMatching},
		"paid":                 {func(r *trytontest.Record) { r.State = "paid" }, work.FoundMatching},
		"still a draft":        {func(*trytontest.Record) {}, work.NotFound},
		"validated":            {func(r *trytontest.Record) { r.State = "validated" }, work.NotFound},
		"cancelled":            {func(r *trytontest.Record) { r.State = "cancelled" }, work.FoundVoid},
		"renamed and posted":   {func(r *trytontest.Record) { r.State, r.Reference = "posted", "PO-4711" }, work.FoundDifferent},
		"deleted":              {func(r *trytontest.Record) { r.Company = -1 }, work.CouldNotTell},
		"in a state of an add": {func(r *trytontest.Record) { r.State = "quotation" }, work.CouldNotTell},
	} {
		client, fake, _ := onFake(t)
		created := ledger.DoSend(t.Context(), client, request(t, tryton.StepCreate, "INV-1"), nil)
		fake.Change("INV-1", c.change)
		if l := find(t, client, tryton.StepPost, "INV-1", created.Record.ID); l.Finding != c.want {
			t.Errorf("%s: %s (%s %s)", name, l.Finding, l.Remark, l.Exchange.Error)
		}
	}
}

// Tryton passes over what it cannot post without an error: its silence is no proof.
func TestT18_APostWithoutAnEffectIsNotAccepted(t *testing.T) {
	for _, state := range []string{"cancelled", "quotation"} {
		c, fake, front := onFake(t)
		req := request(t, tryton.StepPost, "INV-1")
		req.PreviousRecordID = ledger.DoSend(t.Context(), c, request(t, tryton.StepCreate, "INV-1"), nil).Record.ID
		fake.Change("INV-1", func(r *trytontest.Record) { r.State = state })
		if a := ledger.DoSend(t.Context(), c, req, nil); a.Outcome != work.Unknown || a.Positive || len(front.Writes()) != 2 {
			t.Errorf("%s: %+v", state, a)
		}
	}
}

// After a restored backup the draft's id may be another invoice's.
func TestADraftThatIsNotOursIsNotPosted(t *testing.T) {
	c, fake, front := onFake(t)
	req := request(t, tryton.StepPost, "INV-1")
	req.PreviousRecordID = ledger.DoSend(t.Context(), c, request(t, tryton.StepCreate, "INV-1"), nil).Record.ID
	fake.Change("INV-1", func(r *trytontest.Record) { r.Reference = "PO-4711" })
	if a := ledger.DoSend(t.Context(), c, req, nil); a.Outcome != work.NotSent || len(front.Writes()) != 1 || fake.Effects(tryton.StepPost, "INV-1") != 0 {
		t.Errorf("%+v", a)
	}
}

// T16: only errors that Tryton raises before the commit prove that nothing was done.
func TestT16_WhichErrorsProveThatNothingWasDone(t *testing.T) {
	for body, want := range map[string]work.Outcome{
		`{"id":1,"error":["UserError",["no","",null]]}`:                work.Rejected,
		`{"id":1,"error":["UserWarning",["name","Are you sure?",""]]}`: work.Rejected,
		`{"id":1,"error":["ConcurrencyException","Records changed"]}`:  work.Rejected,
		`{"id":1,"error":["LoginException",["sms","Code?","char"]]}`:   work.Deferred,
		`{"id":1,"error":["UserError",""]}`:                            work.Unknown, // a text that happens to read so
		`{"id":1,"error":["disk I/O error",""]}`:                       work.Unknown,
		`{"id":1,"error":["UserError"]}`:                               work.Unknown,
		`{"id":1,"error":[]}`:                                          work.Unknown,
		`{"id":1,"error":"UserError"}`:                                 work.Unknown,
		`{"id":1}`:                                                     work.Unknown,
		`{"id":1,"result":null}`:                                       work.Unknown,
		`{"id":1,"result":[1,2]}`:                                      work.Unknown,
		`{"id":1,"result":[7.5]}`:                                      work.Unknown,
		`{"id":1,"result":[-7]}`:                                       work.Unknown,
		`{"id":1,"result":7}`:                                          work.Unknown,
		`[1]`:                                                          work.Unknown,
		`{"id":1,"result":[7],"error":["UserError",["both","",null]]}`: work.Unknown,
	} {
		a := ledger.DoSend(t.Context(), answering(t, body), request(t, tryton.StepCreate, "INV-1"), nil)
		if a.Outcome != want || a.Exchange.Error == "" {
			t.Errorf("%s: %s, want %s (%s)", body, a.Outcome, want, a.Exchange.Error)
		}
	}
}

// answering is a client of a Tryton that answers a create so.
func answering(t *testing.T, body string) ledger.System {
	t.Helper()
	fake := trytontest.NewFake()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, _, write := r.BasicAuth(); write {
			w.Header().Set("Content-Type", "application/json")
			w.Write([]byte(body)) //nolint:errcheck // the client may be gone
			return
		}
		fake.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return connect(t, server.URL, ledgertest.Setup{Timeout: soon})
}

// A proof on live books makes drafts only, and nothing posts them.
func TestDraftsOnly(t *testing.T) {
	c, fake, _ := onFake(t, func(c *ledger.Connection) { c.DraftsOnly = true })
	if steps := c.Steps(); len(steps) != 1 || steps[0] != tryton.StepCreate {
		t.Fatalf("%v", steps)
	}
	a := ledger.DoSend(t.Context(), c, request(t, tryton.StepCreate, "INV-1"), nil)
	if a.Record.State != work.StateDraft {
		t.Errorf("%+v", a)
	}
	req := request(t, tryton.StepPost, "INV-1")
	req.PreviousRecordID = a.Record.ID
	if a := ledger.DoSend(t.Context(), c, req, nil); a.Outcome != work.NotSent || fake.Effects(tryton.StepPost, "INV-1") != 0 {
		t.Errorf("%+v", a)
	}
	if err := c.Remove(t.Context(), a.Record.ID); err != nil {
		t.Error(err)
	}
	if l := find(t, c, tryton.StepCreate, "INV-1", ""); l.Finding != work.NotFound {
		t.Errorf("it is %s", l.Finding)
	}
}

func TestWhatAnAdminTypes(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*ledger.Connection)
		field  string
	}{
		"no database":        {func(c *ledger.Connection) { delete(c.System.Settings, "database") }, "database"},
		"a path":             {func(c *ledger.Connection) { c.System.Settings["database"] = "a/b" }, "database"},
		"a colon":            {func(c *ledger.Connection) { c.System.Settings["user"] = "a:b" }, "user"},
		"no revenue account": {func(c *ledger.Connection) { delete(c.System.Settings, "revenue") }, "revenue"},
		"no number":          {func(c *ledger.Connection) { c.System.Settings["company"] = "Acme" }, "company"},
		"too short":          {func(c *ledger.Connection) { c.System.Settings["longest"] = "5s" }, "longest"},
		"no address":         {func(c *ledger.Connection) { c.System.Address = "tryton" }, "address"},
	} {
		conn := ledger.Connection{System: work.System{Address: "https://tryton.example.com", Settings: map[string]string{"database": "books", "user": "onefold",
			"revenue": "8400"}}, Secrets: map[string]string{"password": "x"}}
		if _, err := tryton.Adapter.Connect(conn); err != nil {
			t.Fatal(err)
		}
		c.change(&conn)
		_, err := tryton.Adapter.Connect(conn)
		var at *ledger.FieldError
		if !errors.As(err, &at) || at.Field != c.field {
			t.Errorf("%s: %v", name, err)
		}
	}
	sys := work.System{Settings: map[string]string{}}
	if tryton.Adapter.TestBooks(sys) {
		t.Error("books are for tests only if an admin says so")
	}
}
