package web

import (
	"fmt"
	"strings"
	"testing"

	rt "onefold/internal/review/reviewtest"
	"onefold/internal/work"
)

func TestPagesLookRight(t *testing.T) {
	t.Parallel()
	ctx := chrome(t)
	w := newWorld(t)
	s := newSite(t, Config{Store: w.Store})
	shoot(t, ctx, "login", s.URL+"/login")
	run(t, ctx, signInOn(s.URL, "admin"))
	shoot(t, ctx, "list-empty", s.URL+"/")
	shoot(t, ctx, "import", s.URL+"/import")
	id := w.One("INV-2026-11-ACME")
	shoot(t, ctx, "list-one", s.URL+"/?tab=all")
	shoot(t, ctx, "item-new", s.URL+itemPath(id))

	w = newWorld(t)
	s = newSite(t, Config{Store: w.Store})
	ids := stories(t, w)
	ids["ugly"] = w.Put(strings.Repeat("Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft", 2), rt.Money(t, "99999.39", "EUR"), "INV-"+strings.Repeat("W", 190))[0]
	limitFrom(t, w, "99999999999999")
	w.Put("مؤسسة الخليج للتجارة", rt.Money(t, "99999747361065.39", "EUR"), "INV-2026-11-مؤسسة", "INV-2026-11-株式会社", "INV-<script>alert(1)</script>")
	w.Send(ids["ugly"], work.Answer{Outcome: work.Rejected, Exchange: work.Exchange{HTTPStatus: 400, Error: strings.Repeat("ä very long réason ", 60), Response: strings.Repeat("x", 4000)}})
	run(t, ctx, signInOn(s.URL, "admin"))
	shoot(t, ctx, "list-all", s.URL+"/?tab=all")
	shoot(t, ctx, "list-review", s.URL+"/")
	shoot(t, ctx, "list-none", s.URL+"/?q=nothing-like-it")
	shoot(t, ctx, "error", s.URL+"/items/999999")
	for name, id := range ids {
		shoot(t, ctx, "item-"+name, s.URL+itemPath(id))
	}
	if err := w.Pause(t.Context(), rt.SystemID, rt.Recorder, "Month end: the books are closed until noon."); err != nil {
		t.Fatal(err)
	}
	if err := w.StartLookFirst(t.Context(), rt.SystemID, "The database was restored from a backup."); err != nil {
		t.Fatal(err)
	}
	keys := make([]string, 10_000)
	for i := range keys {
		keys[i] = fmt.Sprintf("ORDER-%05d", i)
	}
	w.Put("Many Small Orders B.V.", rt.Money(t, "12.34", "EUR"), keys...)
	shoot(t, ctx, "list-10000", s.URL+"/?tab=waiting")
	shoot(t, ctx, "systems", s.URL+"/systems")
	shoot(t, ctx, "item-stopped", s.URL+itemPath(ids["queued"]))
}
