package web

import (
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	rt "onefold/internal/review/reviewtest"
	"onefold/internal/store/storetest"
	"onefold/internal/work"
)

// Trial 1: a send that we hung up on is unknown since then, and never shown as failed.
func TestTrial01_UnknownSinceIsShown(t *testing.T) {
	w := newWorld(t)
	id := w.One("K")
	w.Send(id, rt.NoAnswer)
	at := w.Clock().Format("15:04")
	b := newSite(t, Config{Store: w.Store}).signIn("vera")
	for range 3 {
		page := b.get(itemPath(id))
		page.shows(t, "Outcome unknown", "unknown since "+at)
		if strings.Contains(strings.ToLower(page.visible()), "failed") {
			t.Error(page.visible())
		}
		w.Later(20 * time.Second)
	}
	w.Find(id, work.Lookup{Finding: work.FoundMatching, Record: record7(t, w, id, "1200.00"), Count: 1})
	if page := b.get(itemPath(id)); strings.Contains(page.visible(), "unknown since") {
		t.Error("still unknown")
	}
}

// Trial 3: the history says how we know, and nothing needs a person.
func TestTrial03_TheHistorySaysHowWeKnow(t *testing.T) {
	w := newWorld(t)
	id := w.One("K")
	w.Send(id, work.Answer{Outcome: work.Unknown, Exchange: work.Exchange{HTTPStatus: http.StatusGatewayTimeout, Error: "the gateway gave up (504), outcome unknown"}})
	w.Find(id, work.Lookup{Finding: work.FoundMatching, Record: record7(t, w, id, "1200.00"), Count: 1})
	page := newSite(t, Config{Store: w.Store}).signIn("vera").get(itemPath(id))
	page.shows(t, "Confirmed", "The answer was 504.", "it is there as INV/2026/00007, and it matches. Matched by reference, customer and amount.")
	if text := page.visible(); strings.LastIndex(text, "Matched by") > strings.LastIndex(text, "The answer was 504.") {
		t.Errorf("the newest is not first: %s", text)
	}
}

// Trial 6: the number of the repeated send and the document that its answer names are both on the page.
func TestTrial06_BothNumbersAreShown(t *testing.T) {
	w := newWorld(t)
	id := w.One("K")
	w.Send(id, work.Answer{Outcome: work.AlreadyExists, Record: work.Record{ID: "S2"}, Exchange: work.Exchange{HTTPStatus: 409, Error: "this document was reported earlier as D1"}})
	w.Until(id, func() { w.Find(id, rt.CannotTell) })
	b := newSite(t, Config{Store: w.Store}).signIn("ada")
	for page, path := (answer{}), itemPath(id); ; {
		page = b.get(path)
		older := olderPart.FindStringSubmatch(page.body)
		if older == nil {
			page.shows(t, "It named S2.", "This document was reported earlier as D1")
			break
		}
		path = itemPath(id) + strings.ReplaceAll(older[1], "&amp;", "&")
	}
	page := b.get(itemPath(id))
	page.shows(t, "Needs a person")
	if page.form(itemPath(id, "retry")) != nil {
		t.Error("sending again is offered")
	}
}

// Trial 11: an error page after the money had moved is no failure.
func TestTrial11_AnErrorPageIsAnUnknownOutcome(t *testing.T) {
	w := newWorld(t)
	id := w.One("K")
	w.Send(id, work.Answer{Outcome: work.Unknown, Exchange: work.Exchange{HTTPStatus: 500, Error: "the accounting system had an internal error (500), outcome unknown"}})
	page := newSite(t, Config{Store: w.Store}).signIn("ada").get(itemPath(id))
	page.shows(t, "The outcome is not known yet", "it is being checked")
	if strings.Contains(strings.ToLower(page.visible()), "failed") || page.form(itemPath(id, "retry")) != nil {
		t.Error(page.visible())
	}
}

var (
	olderPart = regexp.MustCompile(`<a href="(\?before=\d+&amp;acts=\d+)">Earlier entries</a>`)
	tryNumber = regexp.MustCompile(`<span class="no">(\d+)</span>`)
	remark    = regexp.MustCompile(`<bdi>remark (\d+)\.</bdi>`)
)

// Trial 111: over a long history every try and every act is on exactly one part, the newest first.
func TestTrial111_OneHistoryInParts(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db storetest.DB) {
		w := rt.New(t, db, func(s *work.System) { s.Policy.Lookups = 60 })
		id := w.One("K")
		w.Send(id, rt.NoAnswer)
		for i := range 49 {
			w.Happen(id, work.Note{By: ben, Text: "remark " + strconv.Itoa(i) + "."})
			w.Find(id, rt.CannotTell)
		}
		b := newSite(t, Config{Store: w.Store}).signIn("vera")
		b.get(itemPath(id)).shows(t, "Tried to look 20 times, among them at ", "Earlier tries: 30.") // only some of their times are told
		var tries, remarks []string
		path, pages := itemPath(id), 0
		for ; path != ""; pages++ {
			a := b.get(path)
			if len(a.body) > 100<<10 {
				t.Errorf("%s has %d bytes", path, len(a.body))
			}
			for _, m := range tryNumber.FindAllStringSubmatch(a.body, -1) {
				tries = append(tries, m[1])
			}
			for _, m := range remark.FindAllStringSubmatch(a.body, -1) {
				remarks = append(remarks, m[1])
			}
			path = ""
			if m := olderPart.FindStringSubmatch(a.body); m != nil {
				path = itemPath(id) + strings.ReplaceAll(m[1], "&amp;", "&")
			}
		}
		for name, got := range map[string][]string{"tries": tries, "remarks": remarks} {
			first, last := 50, 1
			if name == "remarks" {
				first, last = 48, 0
			}
			var want []string
			for i := first; i >= last; i-- {
				want = append(want, strconv.Itoa(i))
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s: %v", name, got)
			}
		}
		if pages != 3 {
			t.Errorf("%d parts", pages)
		}
	})
}

// However many and long the remarks are, each is on exactly one part, and no part is heavy.
func TestEveryActIsOnOnePart(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db storetest.DB) {
		w := rt.New(t, db)
		id := w.One("K")
		w.Send(id, rt.NoAnswer)
		const notes = 230
		for i := range notes {
			filling := ""
			if i < 30 {
				filling = strings.Repeat("€", 1900)
			}
			w.Happen(id, work.Note{By: ben, Text: "remark " + strconv.Itoa(i) + "." + filling})
		}
		b := newSite(t, Config{Store: w.Store}).signIn("vera")
		said, tried, next := regexp.MustCompile(`<bdi>remark (\d+)\.`), 0, notes-1
		for path := itemPath(id); path != ""; {
			a := b.get(path)
			if a.status != http.StatusOK || len(a.body) > 100<<10 {
				t.Fatalf("%s: %d, %d bytes", path, a.status, len(a.body))
			}
			for _, m := range said.FindAllStringSubmatch(a.body, -1) {
				if m[1] != strconv.Itoa(next) {
					t.Fatalf("%s: remark %s instead of %d", path, m[1], next)
				}
				next--
			}
			tried += len(tryNumber.FindAllString(a.body, -1))
			path = ""
			if m := olderPart.FindStringSubmatch(a.body); m != nil {
				path = itemPath(id) + strings.ReplaceAll(m[1], "&amp;", "&")
			}
		}
		if next != -1 || tried != 1 {
			t.Errorf("%d remarks are on no part, the try is on %d", next+1, tried)
		}
	})
}

// However much was exchanged, the page stays light, and each excerpt is one click away.
func TestExcerptsDoNotMakeThePageHeavy(t *testing.T) {
	w := newWorld(t, func(s *work.System) { s.Policy.Sends = 20 })
	id := w.One("K")
	answer := rt.Refused
	for i := range 20 {
		answer.Exchange.Request, answer.Exchange.Response = strings.Repeat("q", 3900)+strconv.Itoa(i), strings.Repeat("a", 3900)+strconv.Itoa(i)
		w.Send(id, answer)
	}
	b := newSite(t, Config{Store: w.Store}).signIn("vera")
	page := b.get(itemPath(id))
	if len(page.body) > 100<<10 || strings.Count(page.body, "<pre") < 2 {
		t.Errorf("%d bytes, %d excerpts", len(page.body), strings.Count(page.body, "<pre"))
	}
	links := regexp.MustCompile(`<a href="(/items/\d+\?before=\d+&amp;acts=\d+)#try-(\d+)">Show what was exchanged</a>`).FindAllStringSubmatch(page.body, -1)
	if len(links) == 0 {
		t.Fatal("what is not here has no link")
	}
	for _, l := range links {
		n, err := strconv.Atoi(l[2])
		if err != nil {
			t.Fatal(err)
		}
		if a := b.get(strings.ReplaceAll(l[1], "&amp;", "&")); !strings.Contains(a.body, "q"+strconv.Itoa(n-1)+"</pre>") || !strings.Contains(a.body, `id="try-`+l[2]+`"`) {
			t.Errorf("%s does not show try %s", l[1], l[2])
		}
	}
}

// Trial 121 on the page of a correction, the comparison and the history: what comes from outside is only text.
func TestTrial121_TheNewPartsShowTextLiterally(t *testing.T) {
	w := newWorld(t)
	id := w.Put(evil, rt.Money(t, "100.00", "EUR"), "INV-<b>1</b>")[0]
	w.Send(id, work.Answer{Outcome: work.Rejected, Exchange: work.Exchange{HTTPStatus: 400, Error: evil}})
	w.Happen(id, work.Hold{By: ada, Note: evil})
	w.Happen(id, work.Check{By: ada})
	w.Find(id, work.Lookup{Finding: work.FoundDifferent, Record: work.Record{ID: evil, Number: evil, Reference: evil, Customer: evil, Total: rt.Money(t, "1", "EUR"), URL: "https://x/\"><img>"}, Count: 1, Remark: evil})
	other := w.Put(evil, rt.Money(t, "100.00", "EUR"), "INV-<b>2</b>")[0]
	w.Happen(other, work.Assign{By: work.Actor{Kind: work.Person, ID: "7", Name: evil}, To: evil})
	b := newSite(t, Config{Store: w.Store}).signIn("ada")
	for _, path := range []string{itemPath(id), itemPath(other), itemPath(other, "correct")} {
		a := b.get(path)
		if a.status != http.StatusOK || strings.Contains(a.body, "<img") || strings.Contains(a.body, "<script>") || strings.Contains(a.body, "<b>") {
			t.Errorf("%s: %d, markup takes effect", path, a.status)
		}
		if path != itemPath(other, "correct") {
			a.shows(t, evil)
		}
	}
}

// Trial 123 on the new parts: ugly texts are cut with a mark and spoil nothing.
func TestTrial123_UglyTextsOnTheNewParts(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db storetest.DB) {
		w := rt.New(t, db)
		s := newSite(t, Config{Store: w.Store})
		b := s.signIn("ada")
		for name, ugly := range map[string]string{"long": strings.Repeat("ü€𝄞 ", 20_000), "zero": "a\x00b", "broken": "a\xff\xfeb \xc3", "bell": "a\x07\x1b[31mb"} {
			id := w.One("K-" + name)
			w.Send(id, work.Answer{Outcome: work.Rejected, Exchange: work.Exchange{HTTPStatus: 400, Error: ugly, Response: ugly}})
			w.Happen(id, work.Hold{By: ada, Note: "n"})
			w.Happen(id, work.Check{By: ada})
			w.Find(id, work.Lookup{Finding: work.FoundDifferent, Record: work.Record{ID: "r-" + name, Reference: ugly, Customer: ugly, Total: rt.Money(t, "1", "EUR")}, Count: 1, Remark: ugly})
			b.settled(b.act(id, "note", "note", text(ugly, 1900)))
			for _, path := range []string{itemPath(id), itemPath(id, "correct")} {
				a := b.get(path)
				if a.status >= 400 || len(a.body) > 100<<10 || strings.ContainsAny(a.body, "\x00\x07\x1b") {
					t.Errorf("%s, %s: %d, %d bytes", name, path, a.status, len(a.body))
				}
			}
		}
	})
}
