package web

import (
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	rt "onefold/internal/review/reviewtest"
	"onefold/internal/work"
)

// act fills in the form of the page as it is now and sends it.
func (b *browser) act(id int64, action string, fields ...string) answer {
	b.site.t.Helper()
	page := itemPath(id)
	if action == "correct" {
		page = itemPath(id, "correct")
	}
	form := b.get(page).form(itemPath(id, action))
	if form == nil {
		b.site.t.Fatalf("%s offers no %s: %s", page, action, b.get(page).visible())
	}
	form.Del("differs") // boxes that nobody ticked
	form.Del("steps_done")
	for i := 0; i+1 < len(fields); i += 2 {
		form.Set(fields[i], fields[i+1])
	}
	return b.post(itemPath(id, action), form)
}

// settled asks for the page that an action leads to.
func (b *browser) settled(a answer) answer {
	b.site.t.Helper()
	if a.status != http.StatusSeeOther {
		b.site.t.Fatalf("%d %s", a.status, a.visible())
	}
	return b.get(a.location)
}

func (a answer) shows(t *testing.T, want ...string) {
	t.Helper()
	for _, s := range want {
		if !strings.Contains(a.visible(), s) {
			t.Errorf("%q is missing: %s", s, a.visible())
		}
	}
}

// refused is an item that the accounting system refused for good.
func refused(w *rt.World, key string) int64 {
	id := w.One(key)
	w.Until(id, func() { w.Send(id, rt.Refused) })
	return id
}

func TestCorrectAndSendAgain(t *testing.T) {
	w := newWorld(t)
	id := refused(w, "K")
	b := newSite(t, Config{Store: w.Store}).signIn("ada")
	b.get(itemPath(id)).shows(t, "Correct and send again", "Customer C-1001 is blocked for invoicing")
	b.get(itemPath(id, "correct")).shows(t, "What Books said", "Customer C-1001 is blocked for invoicing", "As it is now")
	silent := w.One("SILENT")
	w.Send(silent, rt.NoAnswer)
	if a := b.get(itemPath(silent, "correct")).visible(); !strings.Contains(a, "What Books said") || strings.Contains(a, "did not answer") {
		t.Errorf("Books said nothing, and is quoted: %s", a)
	}
	page := b.settled(b.act(id, "correct", "customer_id", "C-2002", "note", "Wrong customer."))
	page.shows(t, "corrected, and the new version is sent", "Ada Brown corrected it", "Wrong customer.")
	it := w.Get(id)
	if it.Status != work.Queued || it.Revision != 2 || it.Invoice.CustomerID != "C-2002" || it.Invoice.Total.Number() != "1200.00" || len(it.Invoice.Lines) != 1 || it.CurrentKey() == it.Key {
		t.Errorf("%s, revision %d, %+v", it.Status, it.Revision, it.Invoice)
	}
	sent := w.Send(id, rt.AcceptedAs(1))
	if sent.Status != work.Confirmed {
		t.Error(sent.Status)
	}
	if a := b.get(itemPath(id, "correct")); a.location != itemPath(id) {
		t.Errorf("a confirmed one can be corrected: %d", a.status)
	}
}

// What is wrong is said beside the field, and nothing that was typed is lost.
func TestCorrectionFaults(t *testing.T) {
	w := newWorld(t)
	id := refused(w, "K")
	before := w.Get(id).Version
	b := newSite(t, Config{Store: w.Store}).signIn("ada")
	for _, c := range []struct {
		field, value, fault string
	}{{"customer_id", "  ", "This is needed."}, {"amount", "", "This is needed."}, {"amount", "9,00", "The lines add up to EUR\u00a01,200.00."}, {"amount", "1234.567", "More decimals than EUR has."},
		{"amount", "1,234", "“1,234” can be read in two ways: write 1234 or 1234.00, or 1.2340 if it is less."}, {"line.0.unit_price", "1.234", "“1.234” can be read in two ways"},
		{"amount", "-5", "It must be above zero"}, {"amount", "0", "It must be above zero"}, {"amount", "999999999999999", "above the limit"}, {"amount", "NaN", "“NaN” is no number"},
		{"currency", "EURO", "Use a three-letter code"}, {"issue_date", "30.11.2026", "Write the day as 2026-11-30."}, {"due_date", "2026-11-01", "It is before the invoice date."},
		{"line.0.quantity", "a few", "“a few” is no number"}, {"line.1.quantity", "2", "Quantity and unit price go together."}, {"amount", "1300.00", "The lines add up to EUR\u00a01,200.00."},
		{"customer_name", strings.Repeat("ä", 301), "At most 300 characters."}} {
		a := b.act(id, "correct", c.field, c.value, "note", "Typed with care.", "customer_name", "Acme <New> Ltd", c.field, c.value)
		if a.status != http.StatusUnprocessableEntity {
			t.Errorf("%s=%q: %d", c.field, c.value, a.status)
		}
		if !strings.Contains(a.visible(), c.fault) || !strings.Contains(a.visible(), "Typed with care.") || !strings.Contains(a.visible(), "Not sent yet: please look at the marked fields.") {
			t.Errorf("%s=%q: %s", c.field, c.value, a.visible())
		}
		if got := a.form(itemPath(id, "correct")); got.Get(c.field) != c.value || c.field != "customer_name" && got.Get("customer_name") != "Acme <New> Ltd" {
			t.Errorf("%s=%q is lost: %q", c.field, c.value, got.Get(c.field))
		}
		if !strings.Contains(a.body, `aria-invalid="true"`) {
			t.Errorf("%s=%q: the field is not marked", c.field, c.value)
		}
	}
	if a := b.act(id, "correct"); a.status != http.StatusUnprocessableEntity || !strings.Contains(a.visible(), "Nothing would change.") {
		t.Errorf("nothing changed: %d %s", a.status, a.visible())
	}
	if w.Get(id).Version != before {
		t.Error("the item changed")
	}
}

// A comma is a decimal mark where it can be nothing else, and the history says what was corrected, literally.
func TestACorrectionSaysWhatItChanged(t *testing.T) {
	w := newWorld(t)
	id := refused(w, "K")
	b := newSite(t, Config{Store: w.Store}).signIn("ada")
	long := strings.Repeat("the same words ", 20)
	page := b.settled(b.act(id, "correct", "amount", "1.495,60", "line.0.unit_price", "1 495,60", "customer_id", "<b>C-9</b>", "invoice_note", long+"and the end"))
	if it := w.Get(id); it.Invoice.Total.Number() != "1495.60" || it.Invoice.Lines[0].UnitPrice != "1495.60" {
		t.Fatalf("%s %+v", it.Invoice.Total, it.Invoice.Lines)
	}
	page.shows(t, "Total amount: EUR\u00a01,200.00 EUR\u00a01,495.60", "Customer id in the accounting system: C-1001 <b>C-9</b>", "Note on the invoice: (empty)")
	if strings.Contains(page.body, "<b>C-9</b>") || strings.Contains(page.visible(), "Invoice date:") {
		t.Error(page.visible())
	}
	w.Until(id, func() { w.Send(id, rt.Refused) })
	page = b.settled(b.act(id, "correct", "invoice_note", long+"and another end"))
	page.shows(t, "and the end …same words the same words and another end", "EUR\u00a01,200.00 EUR\u00a01,495.60")
	if n := strings.Count(page.body, `class="plan-change`); n != 5 {
		t.Errorf("%d changes", n)
	}
}

// A stored number that could be read in two ways stays as it was.
func TestWhatStoodInTheFormIsNotAskedAbout(t *testing.T) {
	w := newWorld(t)
	id := refused(w, "K")
	inv := w.Get(id).Invoice
	inv.Lines = []work.Line{{Description: "By weight", Quantity: "1.234", UnitPrice: "100"}}
	w.Happen(id, work.Correct{By: ada, Invoice: inv})
	w.Until(id, func() { w.Send(id, rt.Refused) })
	b := newSite(t, Config{Store: w.Store}).signIn("ada")
	b.settled(b.act(id, "correct", "customer_id", "C-7"))
	if got := w.Get(id).Invoice; got.CustomerID != "C-7" || got.Lines[0].Quantity != "1.234" {
		t.Errorf("%+v", got)
	}
}

// An invoice with very many lines keeps them all.
func TestCorrectingKeepsManyLines(t *testing.T) {
	w := newWorld(t)
	id := w.One("K")
	inv := w.Get(id).Invoice
	inv.Lines = nil
	for i := range 300 {
		inv.Lines = append(inv.Lines, work.Line{Description: strings.Repeat("word ", 30) + strconv.Itoa(i), Quantity: "1", UnitPrice: "4"})
	}
	w.Happen(id, work.Correct{By: ada, Invoice: inv})
	b := newSite(t, Config{Store: w.Store}).signIn("ada")
	b.get(itemPath(id, "correct")).shows(t, "This invoice has 300 lines. They stay as they are")
	b.settled(b.act(id, "correct", "customer_id", "C-3"))
	if got := w.Get(id).Invoice; got.CustomerID != "C-3" || len(got.Lines) != 300 || got.Lines[299] != inv.Lines[299] {
		t.Errorf("%s, %d lines", got.CustomerID, len(got.Lines))
	}
	if body := b.get(itemPath(id)).body; len(body) > 100<<10 {
		t.Errorf("a page of %d bytes", len(body))
	}
}

// Trial 84: what may be there is not replaced; the page says that the correction waits, and then shows both.
func TestTrial84_BothVersionsOnThePage(t *testing.T) {
	w := newWorld(t)
	id := w.Put("Acme", rt.Money(t, "100.00", "EUR"), "K")[0]
	w.Send(id, rt.NoAnswer)
	b := newSite(t, Config{Store: w.Store}).signIn("ada")
	b.get(itemPath(id)).shows(t, "Propose a correction")
	b.get(itemPath(id, "correct")).shows(t, "It is not known yet whether the first version arrived in Books.", "Keep as a proposal")
	sends := w.Get(id).Sends
	page := b.settled(b.act(id, "correct", "amount", "120.00", "line.0.unit_price", "120.00"))
	page.shows(t, "your correction is kept", "A correction waits until the outcome is known.", "The correction", "120.00", "100.00")
	if it := w.Get(id); it.Sends != sends || it.Revision != 1 || it.Proposed != 2 {
		t.Fatalf("%d sends, revision %d, proposed %d", it.Sends, it.Revision, it.Proposed)
	}
	w.Later(time.Hour)
	w.Find(id, work.Lookup{Finding: work.FoundMatching, Record: record7(t, w, id, "100.00"), Count: 1})
	page = b.get(itemPath(id))
	page.shows(t, "Needs a person", "120.00", "Books holds", "The first version is in Books as INV/2026/00007. The correction came too late")
	if page.form(itemPath(id, "retry")) != nil || w.Get(id).Sends != sends || w.Get(id).Status != work.Review {
		t.Errorf("sending is offered, or it is settled: %s", w.Get(id).Status)
	}
}

// A correction that waited is put in place, or dropped, once it is proven that nothing is there.
func TestAWaitingCorrection(t *testing.T) {
	for _, drop := range []bool{false, true} {
		w := newWorld(t, func(s *work.System) { s.Policy.Misses = 1 })
		id := w.Put("Acme", rt.Money(t, "100.00", "EUR"), "K")[0]
		w.Send(id, rt.NoAnswer)
		w.Happen(id, work.Correct{By: ben, Invoice: rt.Invoice("Acme", rt.Money(t, "120.00", "EUR"))})
		w.Until(id, func() { w.Find(id, rt.NotThere) })
		b := newSite(t, Config{Store: w.Store}).signIn("ada")
		b.get(itemPath(id)).shows(t, "Put the correction in place", "A correction waits: put it in place or drop it first.")
		form := b.get(itemPath(id, "correct"))
		if got := form.form(itemPath(id, "correct")).Get("amount"); got != "120.00" {
			t.Fatalf("the form begins with %q", got)
		}
		form.shows(t, "Drop the correction that waits")
		fields := []string{}
		if drop {
			fields = []string{"drop", "yes"}
		}
		page := b.settled(b.act(id, "correct", fields...))
		it := w.Get(id)
		if drop {
			page.shows(t, "the correction was dropped", "Send invoice again")
			if it.Proposed != 0 || it.Revision != 1 || it.Status != work.Review {
				t.Errorf("%d %d %s", it.Proposed, it.Revision, it.Status)
			}
			continue
		}
		if it.Status != work.Queued || it.Revision != 2 || it.Invoice.Total.Number() != "120.00" {
			t.Errorf("%s, revision %d", it.Status, it.Revision)
		}
	}
}

// Trial 104 for every new form: five parallel posts have one effect and one answer.
func TestTrial104_NewFormsAreHonouredOnce(t *testing.T) {
	w := newWorld(t)
	limitFrom(t, w, "1000")
	over := w.One("OVER")
	limitFrom(t, w, "100000")
	b := newSite(t, Config{Store: w.Store}).signIn("ada")
	for _, c := range []struct {
		action string
		id     int64
		fields []string
		acts   int
	}{{"correct", refused(w, "K1"), []string{"customer_id", "C-9"}, 1}, {"note", w.One("K2"), []string{"note", "They call back."}, 1}, {"turn-down", over, []string{"note", "Too much."}, 1},
		{"close", refused(w, "K4"), []string{"note", "No.", "why", "mistake"}, 1}, {"hold-all", w.One("K5"), []string{"note", "Wrong file."}, 1}} {
		page := itemPath(c.id)
		if c.action == "correct" {
			page = itemPath(c.id, "correct")
		}
		form := b.get(page).form(itemPath(c.id, c.action))
		for i := 0; i+1 < len(c.fields); i += 2 {
			form.Set(c.fields[i], c.fields[i+1])
		}
		answers := make([]answer, 5)
		var wg sync.WaitGroup
		for i := range answers {
			wg.Go(func() { answers[i] = b.post(itemPath(c.id, c.action), form) })
		}
		wg.Wait()
		for _, a := range answers {
			if a.status != http.StatusSeeOther || a.location != answers[0].location {
				t.Errorf("%s: %d %s %s", c.action, a.status, a.location, a.visible())
			}
		}
		acts, err := w.Acts(t.Context(), c.id, 10)
		if err != nil || len(acts) != c.acts {
			t.Errorf("%s: %d effects, %v", c.action, len(acts), err)
		}
		b.get(answers[0].location)
		w.Later(time.Minute)
		if again := b.post(itemPath(c.id, c.action), form); again.location != answers[0].location { // trial 105: after going back
			t.Errorf("%s again: %d %s", c.action, again.status, again.visible())
		}
	}
}

// Trial 109: whoever is second is told who was first, and keeps what was typed; a note is never refused for it.
func TestTrial109_TheSecondOfTwoKeepsTheText(t *testing.T) {
	w := newWorld(t)
	id := refused(w, "K")
	s := newSite(t, Config{Store: w.Store})
	a, b := s.signIn("ada"), s.signIn("ben")
	correct, note := b.get(itemPath(id, "correct")).form(itemPath(id, "correct")), b.get(itemPath(id)).form(itemPath(id, "note"))
	w.Later(time.Minute)
	a.settled(a.act(id, "close", "why", "not_wanted", "note", "The contract ended."))
	correct.Set("customer_id", "C-NEW")
	correct.Set("note", "Asked the customer <today>.")
	got := b.post(itemPath(id, "correct"), correct)
	if got.status != http.StatusConflict {
		t.Fatalf("%d", got.status)
	}
	got.shows(t, "already handled by Ada Brown", "Asked the customer <today>.", "Closed")
	if !strings.Contains(got.body, `value="C-NEW"`) {
		t.Error("the customer that was typed is lost")
	}
	note.Set("note", "They called back.")
	b.settled(b.post(itemPath(id, "note"), note)).shows(t, "your note is on record", "They called back.", "Ada Brown was here", "closed it")
	if it := w.Get(id); it.Status != work.Closed || it.Revision != 1 {
		t.Errorf("%s, revision %d", it.Status, it.Revision)
	}
}

func TestAColleagueIsAtIt(t *testing.T) {
	w := newWorld(t)
	id := refused(w, "K")
	s := newSite(t, Config{Store: w.Store})
	a, b := s.signIn("ada"), s.signIn("ben")
	page := a.settled(a.act(id, "assign"))
	page.shows(t, "Assigned to Ada Brown", "Release")
	if strings.Contains(page.visible(), "was here") || strings.Contains(page.visible(), "has this one") {
		t.Error("she is told about herself")
	}
	b.get(itemPath(id)).shows(t, "Ada Brown has this one: it is assigned to them.", "Ada Brown was here just now: assigned it.")
	w.Later(11 * time.Minute)
	if strings.Contains(b.get(itemPath(id)).visible(), "was here") {
		t.Error("she is long gone")
	}
	b.settled(b.act(id, "assign", "to", "Admin")).shows(t, "Assigned to Admin")
	for _, nobody := range []string{"Vera Look", "Otto Ops", "Mallory"} { // they may not act
		if got := b.act(id, "assign", "to", nobody); got.status != http.StatusUnprocessableEntity || w.Get(id).AssignedTo != "Admin" {
			t.Errorf("%s: %d, assigned to %q", nobody, got.status, w.Get(id).AssignedTo)
		}
	}
	b.settled(b.act(id, "assign", "to", ""))
	if w.Get(id).AssignedTo != "" {
		t.Error("not released")
	}
}

func TestApproveOrTurnDown(t *testing.T) {
	w := newWorld(t)
	limitFrom(t, w, "1000")
	id := w.One("K")
	b := newSite(t, Config{Store: w.Store}).signIn("ada")
	page := b.get(itemPath(id))
	page.shows(t, "Approve and send", "Turn down")
	if page.form(itemPath(id, "close")) != nil {
		t.Error("closing is offered beside turning down")
	}
	b.settled(b.act(id, "turn-down", "note", "Split it.")).shows(t, "turned down", "Ada Brown turned it down", "Split it.", "Closed by Ada Brown")
	if it := w.Get(id); it.Sends != 0 || it.Status != work.Closed {
		t.Errorf("%s, %d sends", it.Status, it.Sends)
	}
}

// Whoever recorded an invoice neither approves it nor turns it down.
func TestNobodyDecidesOnTheirOwn(t *testing.T) {
	w := newWorld(t)
	limitFrom(t, w, "1000")
	people := accounts(t)
	s := newSite(t, Config{Store: w.Store, Auth: people})
	b := s.signIn("ada")
	u, err := people.UserByLogin(t.Context(), work.Actor{Kind: work.Console, Roles: []work.Role{work.Admin}}, "ada")
	if err != nil {
		t.Fatal(err)
	}
	id := w.One("K")
	w.Happen(id, work.Correct{By: u.Actor(), Invoice: rt.Invoice("Acme", rt.Money(t, "2000.00", "EUR"))}) // now it is hers
	page := b.get(itemPath(id))
	page.shows(t, "You recorded it yourself: a colleague must approve it.")
	if page.form(itemPath(id, "approve")) != nil || page.form(itemPath(id, "turn-down")) != nil {
		t.Error("it is offered")
	}
	form := page.form(itemPath(id, "note"))
	for _, action := range []string{"approve", "turn-down"} {
		if a := b.post(itemPath(id, action), form); a.status != http.StatusConflict || w.Get(id).Status != work.Review {
			t.Errorf("%s: %d", action, a.status)
		}
	}
}

func TestStoppingAWholeImport(t *testing.T) {
	w := newWorld(t)
	ids := w.Put("Acme", rt.Money(t, "5", "EUR"), numbered("K-", 250)...)
	w.Claim(ids[3])
	b := newSite(t, Config{Store: w.Store}).signIn("ada")
	b.get(itemPath(ids[0])).shows(t, "Stop everything waiting from: Import no. 7")
	if a := b.act(ids[0], "hold-all", "note", " "); a.status != http.StatusUnprocessableEntity {
		t.Errorf("without a note: %d", a.status)
	}
	page := b.settled(b.act(ids[0], "hold-all", "note", "The file was last month's."))
	page.shows(t, "Stopped now from Import no. 7: 249.", "The file was last month's.")
	for i, id := range ids {
		if got := w.Get(id).Status; (got == work.Review) == (i == 3) {
			t.Errorf("%d is %s", i, got)
		}
	}
}

// The result of a check is told in plain words when it is back.
func TestACheckComesBackInPlainWords(t *testing.T) {
	w := newWorld(t)
	id := refused(w, "K")
	b := newSite(t, Config{Store: w.Store}).signIn("ada")
	done := b.act(id, "check")
	page := b.settled(done)
	page.shows(t, "we look in Books now", "Load this page again to see what came of it", "Ada Brown asked us to look")
	if !strings.Contains(page.body, `<a href="`+itemPath(id)+`?did=check">`) || !strings.Contains(page.body, `data-live="item"`) ||
		!strings.Contains(page.body, `data-version="`+strconv.FormatInt(w.Get(id).Version, 10)+`"`) {
		t.Error("there is no way to look again")
	}
	w.Find(id, work.Lookup{Finding: work.FoundMatching, Record: record7(t, w, id, "1200.00"), Count: 1})
	page = b.get(done.location)
	page.shows(t, "Your check is back. Looked in Books", "it is there as INV/2026/00007, and it matches. Matched by reference, customer and amount.", "What we asked for and what is there",
		"= the same", "Open in Books")
	if got := page.form(itemPath(id, "resolve")).Get("reference"); got != "INV/2026/00007" {
		t.Errorf("offered is %q", got)
	}
	if !strings.Contains(page.body, `href="https://books.example/invoices/7"`) {
		t.Error("no link to the record")
	}
}

// A record whose address is no web address gets no link.
func TestNoLinksToAnythingElse(t *testing.T) {
	w := newWorld(t)
	id := refused(w, "K")
	w.Happen(id, work.Check{By: ada})
	r := record7(t, w, id, "1200.00")
	r.URL = "javascript:alert(1)"
	w.Find(id, work.Lookup{Finding: work.FoundMatching, Record: r, Count: 1})
	if a := newSite(t, Config{Store: w.Store}).signIn("vera").get(itemPath(id)); strings.Contains(a.body, "javascript:") {
		t.Error("a link runs a script")
	}
}

func TestDifferentAmountsAreConfirmed(t *testing.T) {
	w := newWorld(t)
	id := w.One("K")
	w.Send(id, rt.NoAnswer)
	w.Find(id, work.Lookup{Finding: work.FoundDifferent, Record: record7(t, w, id, "1000.00"), Count: 1})
	b := newSite(t, Config{Store: w.Store}).signIn("ada")
	b.get(itemPath(id)).shows(t, "✕ different", "EUR\u00a01,000.00", "EUR\u00a01,200.00", "The amounts differ (EUR\u00a01,000.00 instead of EUR\u00a01,200.00)")
	a := b.act(id, "resolve", "note", "A credit note follows.")
	if a.status != http.StatusUnprocessableEntity || w.Get(id).Status != work.Review {
		t.Fatalf("%d, %s", a.status, w.Get(id).Status)
	}
	a.shows(t, "The amounts differ: tick the box", "A credit note follows.")
	b.settled(b.act(id, "resolve", "note", "A credit note follows.", "differs", "yes"))
	if it := w.Get(id); it.Status != work.Resolved || it.ExternalNumber != "INV/2026/00007" {
		t.Errorf("%s as %s", it.Status, it.ExternalNumber)
	}
}

func TestClosingNeedsAReason(t *testing.T) {
	w := newWorld(t)
	id := refused(w, "K")
	b := newSite(t, Config{Store: w.Store}).signIn("ada")
	a := b.act(id, "close", "note", "The contract ended.")
	if a.status != http.StatusUnprocessableEntity || w.Get(id).Status != work.Review {
		t.Fatalf("%d", a.status)
	}
	a.shows(t, "Choose a reason.", "The contract ended.")
	b.settled(b.act(id, "close", "note", "The contract ended.", "why", "not_wanted")).shows(t, "Ada Brown closed it", "Not to be invoiced any more", "The contract ended.")
}

// What was typed for a correction comes back after signing in again, field by field (trial 115).
func TestTrial115_ACorrectionLeftOpenOvernight(t *testing.T) {
	w, s := overnight(t)
	id := refused(w, "K")
	b := s.signIn("ada")
	form := b.get(itemPath(id, "correct")).form(itemPath(id, "correct"))
	form.Set("customer_id", "C-2002")
	form.Set("line.1.description", "A second line")
	w.Later(14 * time.Hour)
	b.post(itemPath(id, "correct"), form)
	b.again("ada", itemPath(id))
	page := b.get(itemPath(id))
	got := page.form(itemPath(id, "correct"))
	if got.Get("customer_id") != "C-2002" || got.Get("line.1.description") != "A second line" || w.Get(id).Revision != 1 {
		t.Fatalf("%v", got)
	}
	page.shows(t, "Your session had ended before this was sent.")
	for _, action := range []struct{ name, field, value string }{{"close", "why", "twice"}, {"hold-all", "note", "Stop all of it."}} {
		id := refused(w, "K-"+action.name)
		if action.name == "hold-all" {
			id = w.One("K-new")
		}
		form := b.get(itemPath(id)).form(itemPath(id, action.name))
		form.Set("note", "Long since agreed.")
		form.Set(action.field, action.value)
		w.Later(14 * time.Hour)
		b.post(itemPath(id, action.name), form)
		b.again("ada", itemPath(id))
		page := b.get(itemPath(id))
		if !strings.Contains(page.body, action.value) || action.field == "why" && !strings.Contains(page.body, `value="twice" selected`) {
			t.Errorf("%s: %s", action.name, page.visible())
		}
	}
}

// No form of the page takes effect from another person's rights (trial 118 walks all routes besides).
func TestTrial118_ReadersSeeNoForms(t *testing.T) {
	w := newWorld(t)
	b := newSite(t, Config{Store: w.Store}).signIn("vera")
	for name, id := range chapters(t, w) {
		page := b.get(itemPath(id))
		for _, action := range []string{"note", "correct", "turn-down", "hold-all", "assign", "close"} {
			if page.form(itemPath(id, action)) != nil || strings.Contains(page.body, itemPath(id, "correct")) {
				t.Errorf("%s offers %s", name, action)
			}
		}
		if a := b.get(itemPath(id, "correct")); a.status != http.StatusForbidden {
			t.Errorf("%s: the form of a correction: %d", name, a.status)
		}
		before := w.Get(id)
		form := b.get("/").form("/logout")
		form.Set("version", strconv.FormatInt(before.Version, 10))
		form.Set("seen", w.Clock().Format(time.RFC3339))
		form.Set("note", "A note that is long enough.")
		for _, action := range []string{"note", "correct", "turn-down", "hold-all"} {
			if a := b.post(itemPath(id, action), form); a.status != http.StatusForbidden {
				t.Errorf("%s, %s: %d", name, action, a.status)
			}
		}
		if w.Get(id).Version != before.Version {
			t.Errorf("%s changed", name)
		}
	}
}
