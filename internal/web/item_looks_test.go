package web

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	rt "onefold/internal/review/reviewtest"
	"onefold/internal/work"
)

// record7 is a record outside with all that a system may tell of it.
func record7(t testing.TB, w *rt.World, id int64, number string) work.Record {
	t.Helper()
	it := w.Get(id)
	r := rt.Record(7)
	r.Reference, r.Customer, r.Total, r.URL = it.Reference, it.Invoice.CustomerID, rt.Money(t, number, it.Invoice.Total.CurrencyCode()), "https://books.example/invoices/7"
	return r
}

var ben = work.Actor{Kind: work.Person, ID: "ben", Name: "Ben Stone", Roles: []work.Role{work.Operator}}

// chapters puts items into the world that show what the item's page has, by name.
func chapters(t testing.TB, w *rt.World) map[string]int64 {
	t.Helper()
	ids := map[string]int64{}
	one := func(name, key, customer, number string) int64 {
		ids[name] = w.Put(customer, rt.Money(t, number, "EUR"), key)[0]
		return ids[name]
	}
	id := one("differs", "INV-2026-11-UMBRELLA", "Umbrella Sociedad Anónima", "15.99")
	w.Send(id, rt.NoAnswer)
	w.Find(id, work.Lookup{Finding: work.FoundDifferent, Record: record7(t, w, id, "16.99"), Count: 1, Remark: "total 16.99 EUR instead of 15.99 EUR"})
	w.Happen(id, work.Assign{By: ben, To: "Ben Stone"})
	w.Happen(id, work.Note{By: ben, Text: "I asked Umbrella which amount they agreed to. They call back this afternoon."})

	id = one("proposal", "INV-2026-11-GLOBEX", "Globex Corporation", "100.00")
	w.Send(id, rt.NoAnswer)
	w.Happen(id, work.Correct{By: ada, Invoice: rt.Invoice("Globex Corporation", rt.Money(t, "120.00", "EUR"))})

	id = one("proposal-found", "INV-2026-11-INITRODE", "Initrode", "100.00")
	w.Send(id, rt.NoAnswer)
	w.Happen(id, work.Correct{By: ada, Invoice: rt.Invoice("Initrode", rt.Money(t, "120.00", "EUR"))})
	r := record7(t, w, id, "100.00")
	r.ID, r.Number = "inv_8", "INV/2026/00008"
	w.Find(id, work.Lookup{Finding: work.FoundMatching, Record: r, Count: 1})

	id = one("found", "INV-2026-11-HOOLI", "Hooli 株式会社", "5000.00")
	w.Send(id, work.Answer{Outcome: work.Unknown, Exchange: work.Exchange{HTTPStatus: 504, Error: "the gateway gave up (504), outcome unknown", Response: "HTTP 504"}})
	r = record7(t, w, id, "5000.00")
	r.ID, r.Number = "inv_9", "INV/2026/00009"
	w.Find(id, work.Lookup{Finding: work.FoundMatching, Record: r, Count: 1})

	id = one("refused", "INV-2026-11-INITECH", "Initech GmbH & Co. KG", "480.00")
	w.Until(id, func() { w.Send(id, rt.Refused) })
	w.Later(time.Minute)

	id = one("ugly", "INV-"+strings.Repeat("W", 190), strings.Repeat("Donaudampfschifffahrtselektrizitätenhauptbetriebswerk", 3), "99999999999.39")
	w.Send(id, rt.NoAnswer)
	r = record7(t, w, id, "1.00")
	r.ID, r.Number, r.Reference, r.Customer = strings.Repeat("9", 180), strings.Repeat("8", 180), strings.Repeat("R", 180), strings.Repeat("مؤسسة", 30)
	w.Find(id, work.Lookup{Finding: work.FoundDifferent, Record: r, Count: 1, Remark: strings.Repeat("remark ", 60)})
	w.Happen(id, work.Note{By: ben, Text: strings.Repeat("Wörter ohne Ende ", 100) + strings.Repeat("x", 200)})
	id = one("ugly-refused", "INV-"+strings.Repeat("M", 190), strings.Repeat("Donaudampfschifffahrtselektrizitätenhauptbetriebswerk", 3), "99999999999.39")
	inv := w.Get(id).Invoice
	inv.Lines = nil
	for range 12 {
		inv.Lines = append(inv.Lines, work.Line{Description: strings.Repeat("Lohnnebenkostenabrechnung ", 12), Quantity: "12345678.123456", UnitPrice: "99999999.99", TaxCode: strings.Repeat("T", 60)})
	}
	w.Happen(id, work.Correct{By: ben, Invoice: inv, Note: "Lines."})
	w.Send(id, work.Answer{Outcome: work.Rejected, Final: true, Exchange: work.Exchange{HTTPStatus: 400, Error: strings.Repeat("ä very long réason ", 60), Response: strings.Repeat("x", 4000)}})
	limitFrom(t, w, "1000")
	one("approval", "INV-2026-11-STARK", "Stark Industries", "250000.00")
	return ids
}

func TestItemPagesLookRight(t *testing.T) {
	t.Parallel()
	ctx := chrome(t)
	w := newWorld(t)
	s := newSite(t, Config{Store: w.Store})
	ids := chapters(t, w)
	run(t, ctx, signInOn(s.URL, "ada"))
	for name, id := range ids {
		shoot(t, ctx, "one-"+name, s.URL+itemPath(id))
	}
	for _, name := range []string{"refused", "proposal", "ugly-refused", "approval"} {
		shoot(t, ctx, "correct-"+name, s.URL+itemPath(ids[name], "correct"))
	}
	// With every form opened.
	run(t, ctx, chromedp.Navigate(s.URL+itemPath(ids["differs"])), chromedp.WaitReady(chromedp.CSS("main")))
	ask(t, ctx, chromedp.Evaluate[bool](`document.querySelectorAll("main details").forEach(d => d.open = true), true`))
	for _, l := range looks {
		shootThis(t, ctx, "one-open", l)
	}
}

// No page about one item uses words that staff must not read, shows a pattern that was not filled, or needs anything inline.
func TestItemPagesSpeakPlainly(t *testing.T) {
	w := newWorld(t)
	b := newSite(t, Config{Store: w.Store}).signIn("ada")
	inline := regexp.MustCompile(`<style|\sstyle=|\son[a-z]+=|<script(>|[^>]*>[^<])`)
	for name, id := range chapters(t, w) {
		for _, path := range []string{itemPath(id), itemPath(id, "correct"), itemPath(id) + "?did=correct", itemPath(id) + "?did=hold-all", itemPath(id) + "?before=2"} {
			a := b.get(path)
			if found := forbidden.FindString(a.visible()); found != "" {
				t.Errorf("%s, %s says %q", name, path, found)
			}
			if strings.ContainsAny(a.visible(), "{}") || inline.MatchString(a.body) {
				t.Errorf("%s, %s: %s", name, path, a.visible())
			}
		}
	}
}
