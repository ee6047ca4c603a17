package web

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	rt "onefold/internal/review/reviewtest"
	"onefold/internal/work"
)

// The list in its states: an outage, a narrow filter with everything set, saved views, extreme texts.
func TestListLooksRight(t *testing.T) {
	t.Parallel()
	ctx := chrome(t)
	w := newWorld(t)
	s := newSite(t, Config{Store: w.Store})
	ids := stories(t, w)
	w.Happen(ids["rejected"], work.Assign{By: ada, To: "Bartholomew Featherstonehaugh-Montgomery"})
	limitFrom(t, w, "99999999999999")
	ugly := w.Put(strings.Repeat("Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft", 2), rt.Money(t, "99999.39", "EUR"), "INV-"+strings.Repeat("W", 190))[0]
	w.Put("مؤسسة الخليج للتجارة", rt.Money(t, "99999747361065.39", "EUR"), "INV-2026-11-مؤسسة", "INV-2026-11-株式会社", "INV-<script>alert(1)</script>")
	w.Until(ugly, func() {
		w.Send(ugly, work.Answer{Outcome: work.Rejected, Exchange: work.Exchange{HTTPStatus: 400, Error: strings.Repeat("averyveryverylongword", 20)}})
	})
	for _, id := range w.Put("Acme Holdings Ltd", rt.Money(t, "1234.50", "EUR"), numbered("INV-2026-12-", 52)...) {
		w.Send(id, rt.NoAnswer)
		w.Until(id, func() { w.Find(id, rt.CannotTell) })
	}
	run(t, ctx, signInOn(s.URL, "admin"))
	for name, path := range map[string]string{"review": "/", "groups": "/?tab=review&group=error", "unknown": "/?tab=unknown", "waiting": "/?tab=waiting", "all": "/?tab=all", "finished": "/?tab=finished",
		"closed": "/?tab=closed", "nothing": everyCondition, "bad": "/?tab=all&from=abc&status=nonsense", "found": "/?q=ACME", "amount": "/?q=1234.50&system=books"} {
		shootFully(t, ctx, "list-"+name, s.URL+path)
	}
	b := s.signIn("admin")
	form := b.get("/?tab=review&age=1d").form("/views")
	for i, name := range []string{"Books, older than a day", strings.Repeat("n", 60), "مؤسسة الخليج"} {
		form.Set("name", name)
		form.Del("shared")
		if i == 0 {
			form.Set("shared", "1")
		}
		b.post("/views", form)
	}
	run(t, ctx, chromedp.Navigate(s.URL+"/?tab=review&age=1d"), chromedp.Evaluate[chromedp.Void](`for (const d of document.querySelectorAll(".list-tools details")) d.open = true`))
	for _, l := range looks {
		shootThisFully(t, ctx, "list-open", l)
	}
	if got := ask(t, ctx, chromedp.Evaluate[int](`document.querySelectorAll(".list-tools details[open]").length`)); got != 2 {
		t.Errorf("%d are open", got)
	}
}
