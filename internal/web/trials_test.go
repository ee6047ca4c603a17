package web

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	rt "onefold/internal/review/reviewtest"
	"onefold/internal/store/storetest"
	"onefold/internal/work"
)

// Trials of the field-trials list at the level of pages. Each runs on the real store.

var rowPattern = regexp.MustCompile(`(?s)<th scope="row" class="key"><a href="[^"]*"><bdi>(.*?)</bdi>`)

// keys are the business keys on a list, in order.
func (a answer) keys() []string {
	var out []string
	for _, m := range rowPattern.FindAllStringSubmatch(a.body, -1) {
		out = append(out, m[1])
	}
	return out
}

func (b *browser) search(q string) answer { return b.get("/?q=" + url.QueryEscape(q)) }

func TestTrial68_CapitalLettersHideNobody(t *testing.T) {
	w := newWorld(t)
	w.Put("Straße Müller GmbH", rt.Money(t, "1", "EUR"), "KUNDE-Müller-01")
	w.Put("Somebody else", rt.Money(t, "1", "EUR"), "OTHER")
	b := newSite(t, Config{Store: w.Store}).signIn("vera")
	for _, q := range []string{"müller", "MÜLLER", "strasse", "straße müller gmbh"} {
		a := b.search(q)
		if got := fmt.Sprint(a.keys()); got != "[KUNDE-Müller-01]" {
			t.Errorf("%q finds %s: %s", q, got, a.visible())
		}
	}
}

func TestTrial69_PastedBlanksAreDropped(t *testing.T) {
	w := newWorld(t)
	w.One("00001")
	b := newSite(t, Config{Store: w.Store}).signIn("vera")
	for _, q := range []string{"  00001", "00001\t", "\n00001 \r\n"} {
		if a := b.search(q); fmt.Sprint(a.keys()) != "[00001]" || !strings.Contains(a.visible(), "“00001”: exact match.") {
			t.Errorf("%q: %s", q, a.visible())
		}
	}
	if a := b.search("0001"); !strings.Contains(a.visible(), "No exact match for “0001”. These contain it.") || fmt.Sprint(a.keys()) != "[00001]" {
		t.Errorf("near: %s", a.visible())
	}
	if a := b.search("  99 "); !strings.Contains(a.visible(), "No exact match for “99”, and nothing like it.") || len(a.keys()) != 0 {
		t.Errorf("none: %s", a.visible())
	}
}

func TestTrial70_UnderscoreAndPercentStandForThemselves(t *testing.T) {
	w := newWorld(t)
	w.Put("Acme", rt.Money(t, "1", "EUR"), "A_1", "AB1", "A%1")
	b := newSite(t, Config{Store: w.Store}).signIn("vera")
	for q, want := range map[string]string{"A_1": "[A_1]", "%": "[A%1]", "_": "[A_1]"} {
		if a := b.search(q); fmt.Sprint(a.keys()) != want {
			t.Errorf("%q finds %v", q, a.keys())
		}
	}
}

var nextPattern = regexp.MustCompile(`<a href="([^"]*)" rel="next">`)

func TestTrial72_EveryItemIsOnExactlyOnePage(t *testing.T) {
	w := newWorld(t)
	keys := make([]string, 120)
	for i := range keys {
		keys[i] = fmt.Sprintf("K-%03d", i)
	}
	w.Put("Acme", rt.Money(t, "1", "EUR"), keys...) // all of one moment
	b := newSite(t, Config{Store: w.Store}).signIn("vera")
	for range 10 {
		seen := map[string]int{}
		pages := 0
		for path := "/?tab=all"; path != ""; pages++ {
			a := b.get(path)
			for _, k := range a.keys() {
				seen[k]++
			}
			path = ""
			if m := nextPattern.FindStringSubmatch(a.body); m != nil {
				path = strings.ReplaceAll(m[1], "&amp;", "&")
			}
		}
		if pages != 3 || len(seen) != 120 {
			t.Fatalf("%d items on %d pages", len(seen), pages)
		}
		for k, n := range seen {
			if n != 1 {
				t.Fatalf("%s is there %d times", k, n)
			}
		}
	}
}

func TestTrial104_ParallelPostsOfOneForm(t *testing.T) {
	w := newWorld(t)
	id := w.One("K")
	w.Until(id, func() { w.Send(id, rt.Refused) })
	b := newSite(t, Config{Store: w.Store}).signIn("ada")
	form := b.get(itemPath(id)).form(itemPath(id, "retry"))
	version := w.Get(id).Version
	answers := make([]answer, 5)
	var wg sync.WaitGroup
	for i := range answers {
		wg.Go(func() { answers[i] = b.post(itemPath(id, "retry"), form) })
	}
	wg.Wait()
	for _, a := range answers {
		if a.status != http.StatusSeeOther || a.location != answers[0].location {
			t.Errorf("%d %s", a.status, a.location)
		}
	}
	acts, err := w.Acts(t.Context(), id, 10)
	if it := w.Get(id); err != nil || len(acts) != 1 || it.Version != version+1 || it.Status != work.Queued {
		t.Errorf("%d effects, now %s, %v", len(acts), it.Status, err)
	}
	if page := b.get(answers[0].location); !strings.Contains(page.visible(), "Done 10:1") || !strings.Contains(page.visible(), "it is sent again.") {
		t.Error(page.visible())
	}
}

func TestTrial105_TheOldFormAfterGoingBack(t *testing.T) {
	w := newWorld(t)
	id := w.One("K")
	b := newSite(t, Config{Store: w.Store}).signIn("ada")
	form := b.get(itemPath(id)).form(itemPath(id, "hold"))
	form.Set("note", "stop")
	first := b.post(itemPath(id, "hold"), form)
	w.Later(5 * time.Minute)
	again := b.post(itemPath(id, "hold"), form)
	if first.status != http.StatusSeeOther || again.status != http.StatusSeeOther || again.location != first.location {
		t.Fatalf("%d %s, then %d %s", first.status, first.location, again.status, again.location)
	}
	if page := b.get(again.location); !strings.Contains(page.visible(), "Done 10:00: stopped.") {
		t.Error(page.visible())
	}
	if acts, err := w.Acts(t.Context(), id, 10); err != nil || len(acts) != 1 {
		t.Errorf("%d effects, %v", len(acts), err)
	}
}

func TestTrial107_NothingIsSentForWhatWasClosed(t *testing.T) {
	w := newWorld(t)
	id := w.One("K")
	w.Until(id, func() { w.Send(id, rt.Refused) })
	b := newSite(t, Config{Store: w.Store}).signIn("ada")
	old := b.get(itemPath(id))
	form := old.form(itemPath(id, "close"))
	form.Set("note", "the contract ended")
	form.Set("why", "not_wanted")
	b.post(itemPath(id, "close"), form)
	sends := w.Get(id).Sends

	a := b.post(itemPath(id, "retry"), old.form(itemPath(id, "retry")))
	if a.status != http.StatusConflict || !strings.Contains(a.visible(), "already handled by Ada Brown") || !strings.Contains(a.visible(), "Closed by Ada Brown") {
		t.Errorf("the old page: %d %s", a.status, a.visible())
	}
	now := b.get(itemPath(id))
	if now.form(itemPath(id, "retry")) != nil {
		t.Error("a send is offered")
	}
	direct := now.form(itemPath(id, "reopen")) // a good token and the present version
	if a := b.post(itemPath(id, "retry"), direct); a.status != http.StatusConflict || !strings.Contains(a.visible(), "There is nothing to send in this state.") {
		t.Errorf("directly: %d %s", a.status, a.visible())
	}
	if it := w.Get(id); it.Status != work.Closed || it.Sends != sends || !it.DueAt.IsZero() {
		t.Errorf("now %s, due %s", it.Status, it.DueAt)
	}
}

func TestTrial109_TwoColleaguesOneItem(t *testing.T) {
	w := newWorld(t)
	id := w.One("K")
	w.Send(id, rt.NoAnswer)
	w.Until(id, func() { w.Find(id, rt.CannotTell) })
	w.Later(time.Hour)
	s := newSite(t, Config{Store: w.Store})
	a, b := s.signIn("ada"), s.signIn("ben")
	pageA, pageB := a.get(itemPath(id)), b.get(itemPath(id))
	w.Later(2 * time.Minute)
	at := w.Clock().Format("15:04")

	form := pageA.form(itemPath(id, "resolve"))
	form.Set("reference", "INV/7")
	form.Set("note", "it is there")
	if got := a.post(itemPath(id, "resolve"), form); got.status != http.StatusSeeOther {
		t.Fatalf("%d %s", got.status, got.visible())
	}
	sends := w.Get(id).Sends
	form = pageB.form(itemPath(id, "attest"))
	const note = "I looked in Books under the reference & found <nothing>."
	form.Set("note", note)
	got := b.post(itemPath(id, "attest"), form)
	if got.status != http.StatusConflict || !strings.Contains(got.visible(), "Not done: already handled by Ada Brown "+at+" (marked it as done)") {
		t.Errorf("%d %s", got.status, got.visible())
	}
	if !strings.Contains(got.visible(), note) {
		t.Error("the note is lost")
	}
	if it := w.Get(id); it.Status != work.Resolved || it.Sends != sends {
		t.Errorf("now %s", it.Status)
	}
}

const evil = `Evil </td></script><script>document.title="ran"</script><img src=x onerror="document.title='ran'"> & Sons`

func TestTrial121_NamesAreShownLiterally(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db storetest.DB) {
		w := rt.New(t, db)
		id := w.Put(evil, rt.Money(t, "1", "EUR"), "INV-<b>1</b>")[0]
		w.Happen(id, work.Hold{By: ada, Note: evil})
		if err := w.Pause(t.Context(), rt.SystemID, rt.Recorder, evil); err != nil {
			t.Fatal(err)
		}
		b := newSite(t, Config{Store: w.Store}).signIn("admin")
		for _, path := range []string{"/", "/?tab=all", "/?q=" + url.QueryEscape(evil), itemPath(id), "/systems"} {
			a := b.get(path)
			if strings.Contains(a.body, "<img") || strings.Contains(a.body, "<script>") || strings.Contains(a.body, "<b>") {
				t.Errorf("%s: markup takes effect", path)
			}
			if path != "/systems" && !strings.Contains(a.visible(), "INV-<b>1</b>") && !strings.Contains(path, "?q=") {
				t.Errorf("%s does not show the key as it is", path)
			}
		}
		if a := b.get(itemPath(id)); !strings.Contains(a.visible(), evil) {
			t.Errorf("the name is not shown as it is: %s", a.visible())
		}
	})
}

func TestTrial96_AGatewaysPageIsOnlyText(t *testing.T) {
	w := newWorld(t)
	id := w.One("K")
	const page = `<html><script>document.title="ran"</script><h1>502 Bad Gateway</h1></html>`
	w.Send(id, work.Answer{Outcome: work.Unknown, Exchange: work.Exchange{HTTPStatus: 502, Response: page,
		Error: "the accounting system is unreachable (502), outcome unknown"}})
	a := newSite(t, Config{Store: w.Store}).signIn("vera").get(itemPath(id))
	if !strings.Contains(a.visible(), "The accounting system is unreachable (502), outcome unknown") || !strings.Contains(a.visible(), "Outcome unknown") {
		t.Error(a.visible())
	}
	if strings.Contains(a.body, "<script>document") || strings.Contains(a.body, "<h1>502") || !strings.Contains(a.body, "&lt;h1&gt;502 Bad Gateway") {
		t.Error("markup takes effect, or the raw text is not shown")
	}
	if w.Get(id).Status != work.Pending {
		t.Error("not pending")
	}
}

func TestTrial123_UglyTextsDoNotSpoilThePage(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db storetest.DB) {
		w := rt.New(t, db)
		s := newSite(t, Config{Store: w.Store})
		b := s.signIn("vera")
		for name, reason := range map[string]string{"long": strings.Repeat("ü€𝄞 ", 20_000), "zero": "a\x00b", "broken": "a\xff\xfeb \xc3", "bell": "a\x07\x1b[31mb"} {
			id := w.One("K-" + name)
			it := w.Send(id, work.Answer{Outcome: work.Rejected, Exchange: work.Exchange{HTTPStatus: 400, Error: reason, Response: reason}})
			a := b.get(itemPath(id))
			if it.Status != work.Failed || a.status != http.StatusOK || !strings.Contains(a.visible(), "Failed, will retry") {
				t.Errorf("%s: %s, %d", name, it.Status, a.status)
			}
			if len(a.body) > 64<<10 || strings.ContainsAny(a.body, "\x00\x07\x1b") || !strings.HasSuffix(strings.TrimSpace(a.body), "</html>") {
				t.Errorf("%s: a page of %d bytes", name, len(a.body))
			}
			if name == "long" && !strings.Contains(a.visible(), "…") {
				t.Error("the cut has no mark")
			}
		}
	})
}

func TestTypedTextIsKeptWhenSomethingIsMissing(t *testing.T) {
	w := newWorld(t)
	id := w.One("K")
	w.Happen(id, work.Hold{By: ada, Note: "n"})
	b := newSite(t, Config{Store: w.Store}).signIn("ada")
	form := b.get(itemPath(id)).form(itemPath(id, "resolve"))
	form.Set("reference", "  ")
	form.Set("note", "Paid by transfer")
	a := b.post(itemPath(id, "resolve"), form)
	if a.status != http.StatusUnprocessableEntity || !strings.Contains(a.visible(), "The number in the accounting system is needed.") || !strings.Contains(a.visible(), "Paid by transfer") {
		t.Errorf("%d %s", a.status, a.visible())
	}
}
