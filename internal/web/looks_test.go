package web

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"onefold/internal/work"
)

func TestPagesLookRight(t *testing.T) {
	ctx := chrome(t)
	m := newMemory()
	s := newSite(t, Config{Store: m})
	shoot(t, ctx, "login", s.URL+"/login")
	run(t, ctx, signInOn(s.URL, "admin"))
	shoot(t, ctx, "list-empty", s.URL+"/")
	shoot(t, ctx, "import", s.URL+"/import")

	id := m.put(t, "INV-2026-11-ACME", "Acme Holdings Ltd", money(t, "1200.00", "EUR"))
	shoot(t, ctx, "list-one", s.URL+"/?tab=all")
	shoot(t, ctx, "item-new", s.URL+itemPath(id))

	m = newMemory()
	s = newSite(t, Config{Store: m})
	ids := m.stories(t)
	ugly := m.put(t, "INV-"+strings.Repeat("W", 190), strings.Repeat("Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft", 2), money(t, "99999747361065.39", "EUR"))
	for _, key := range []string{"INV-2026-11-مؤسسة", "INV-2026-11-株式会社", "INV-<script>alert(1)</script>"} {
		m.put(t, key, `مؤسسة الخليج </td></script><img src=x onerror="document.title='ran'">`, money(t, "12.5", "KWD"))
	}
	m.send(t, ugly, work.Answer{Outcome: work.Rejected, Exchange: work.Exchange{HTTPStatus: 400, Error: strings.Repeat("ä very long réason ", 60), Response: strings.Repeat("x", 4000)}})
	if err := m.set("books", func(sys *work.System) {
		sys.LookFirst, sys.LookFirstWhy, sys.PausedAt, sys.PausedBy = m.clock.Add(-time.Hour), "The database was restored from a backup.", m.clock.Add(-time.Minute), "person:admin Admin"
	}); err != nil {
		t.Fatal(err)
	}
	run(t, ctx, signInOn(s.URL, "admin"))
	shoot(t, ctx, "list-all", s.URL+"/?tab=all")
	shoot(t, ctx, "list-review", s.URL+"/")
	shoot(t, ctx, "list-none", s.URL+"/?q=nothing-like-it")
	shoot(t, ctx, "systems", s.URL+"/systems")
	shoot(t, ctx, "item-ugly", s.URL+itemPath(ugly))
	shoot(t, ctx, "error", s.URL+"/items/999999")
	for name, id := range ids {
		shoot(t, ctx, "item-"+strings.ReplaceAll(name, " ", "-"), s.URL+itemPath(id))
	}
	for i := range 10_000 {
		m.put(t, fmt.Sprintf("ORDER-%05d", i), "Customer "+fmt.Sprint(i%17), money(t, fmt.Sprint(i+1), "GBP"))
	}
	shoot(t, ctx, "list-10000", s.URL+"/?tab=waiting")
}
