package web

import (
	"encoding/csv"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"onefold/internal/review"
	rt "onefold/internal/review/reviewtest"
	"onefold/internal/work"
)

// bulkForm opens the page at the address and returns the fields of its form and where it goes.
func (b *browser) bulkForm(path string) (form url.Values, action string) {
	b.site.t.Helper()
	a := b.get(path)
	m := formPattern.FindAllStringSubmatch(a.body, -1)
	for _, one := range m {
		if strings.Contains(one[0], `class="bulk-plans"`) {
			form = url.Values{}
			for _, in := range inputPattern.FindAllStringSubmatch(one[0], -1) {
				form.Add(in[1], in[2])
			}
			action = strings.ReplaceAll(one[1], "&amp;", "&")
		}
	}
	if form == nil {
		b.site.t.Fatalf("no form at %s: %d %s", path, a.status, a.visible())
	}
	return form, action
}

// runBulks lets bulk runs go on until they wait.
func runBulks(t *testing.T, w *rt.World) {
	t.Helper()
	for range 100 {
		if did, err := (review.BulkRunner{Store: w.Store, Node: "one"}).RunOnce(t.Context()); err != nil {
			t.Fatal(err)
		} else if !did {
			return
		}
	}
	t.Fatal("the runs do not end")
}

func ticked(ids ...int64) string {
	v := url.Values{}
	for _, id := range ids {
		v.Add("item", fmt.Sprint(id))
	}
	return bulkNewPath + "?" + v.Encode()
}

func TestBulkFromTickedToDone(t *testing.T) {
	w := newWorld(t)
	ids := w.Put("=HYPERLINK(\"x\")", rt.Money(t, "1200.50", "EUR"), "K-1", "+K-2", "K-3")
	b := newSite(t, Config{Store: w.Store}).signIn("ada")
	form, action := b.bulkForm(ticked(ids...))
	form.Set("plan", "hold")
	form.Set("note_hold", "   ")
	if a := b.post(action, form); a.status != http.StatusUnprocessableEntity || !strings.Contains(a.visible(), "A note is needed.") {
		t.Fatalf("without a note: %d %s", a.status, a.visible())
	}
	form.Set("plan", "close")
	form.Set("note_close", "Entered by hand <b>")
	a := b.post(action, form)
	if a.status != http.StatusUnprocessableEntity || !strings.Contains(a.visible(), "Choose a reason.") || !strings.Contains(a.body, "Entered by hand &lt;b&gt;</textarea>") {
		t.Fatalf("without a reason: %d %s", a.status, a.visible())
	}
	form.Set("plan", "attest")
	if a := b.post(action, form); a.status != http.StatusUnprocessableEntity {
		t.Fatalf("attest in bulk: %d", a.status)
	}
	form.Set("plan", "hold")
	form.Set("note_hold", "The price is wrong")
	first, second := b.post(action, form), b.post(action, form) // a double click
	if first.status != http.StatusSeeOther || second.location != first.location || first.location != "/bulk/1?did=start" {
		t.Fatalf("begun: %d %s, %d %s", first.status, first.location, second.status, second.location)
	}
	w.Happen(ids[2], work.Assign{By: rt.Recorder, To: "Rita Record"})
	if a := b.get(first.location); !strings.Contains(a.body, `data-live="bulk"`) || !strings.Contains(a.visible(), "0 of 3 dealt with") {
		t.Errorf("under way: %s", a.visible())
	}
	runBulks(t, w)
	a = b.get("/bulk/1")
	for _, want := range []string{"Bulk run 1: Stop and decide later", "by Ada Brown, with 3 invoices", "3 of 3 dealt with", "Stopped.", "Skipped: Rita Record was first", "(assigned it)"} {
		if !strings.Contains(a.visible(), want) {
			t.Errorf("no %q: %s", want, a.visible())
		}
	}
	if strings.Contains(a.body, `data-live="bulk"`) || strings.Contains(a.body, "/bulk/1/stop") {
		t.Error("a run that is over is shown as under way")
	}
	if got := fmt.Sprint(b.get("/bulk/1?show=skipped").keys()); got != "[K-3]" {
		t.Errorf("skipped: %s", got)
	}
	if w.Get(ids[0]).Status != work.Review || w.Get(ids[2]).Status != work.Queued {
		t.Error("the wrong ones were stopped")
	}
	file := b.get("/bulk/1/results.csv")
	rows, err := csv.NewReader(strings.NewReader(strings.TrimPrefix(file.body, "\ufeff"))).ReadAll()
	if err != nil || len(rows) != 4 || rows[2][1] != "'+K-2" || rows[1][2] != `'=HYPERLINK("x")` || rows[1][4] != "1200.50" || rows[3][6] != "Skipped" {
		t.Errorf("the file: %q, %v", rows, err)
	}
	if a := b.get("/bulk"); !strings.Contains(a.visible(), "Stop and decide later") || !strings.Contains(a.visible(), "Done 2 · Skipped 1") {
		t.Errorf("the list of runs: %s", a.visible())
	}
}

func TestBulkWithAllThatMatch(t *testing.T) {
	w := newWorld(t)
	keys := make([]string, 120)
	for i := range keys {
		keys[i] = fmt.Sprintf("M-%03d", i)
	}
	w.Put("Acme", rt.Money(t, "10", "EUR"), keys...)
	w.Put("Other", rt.Money(t, "10", "EUR"), "OTHER")
	b := newSite(t, Config{Store: w.Store}).signIn("ada")
	list := "/?tab=waiting&q=M-"
	form, action := b.bulkForm(bulkNewPath + "?all=1&list=" + url.QueryEscape(list))
	if a := b.get(action); !strings.Contains(a.visible(), "120 invoices at once") || !strings.Contains(a.visible(), "All that match the list.") {
		t.Errorf("the preview: %s", a.visible())
	}
	w.Later(time.Second)
	w.Put("Acme", rt.Money(t, "10", "EUR"), "M-NEW") // recorded after the person looked
	form.Set("plan", "hold")
	form.Set("note_hold", "wait")
	at := b.post(action, form).location
	runBulks(t, w)
	a := b.get(at)
	if !strings.Contains(a.visible(), "Done 120") || !strings.Contains(a.visible(), "Skipped 1") {
		t.Errorf("the run: %s", a.visible())
	}
	for path, want := range map[string]int{bulkNewPath + "?all=1": 400, bulkNewPath + "?all=1&list=" + url.QueryEscape("/?reason=nonsense"): 400,
		bulkNewPath + "?all=1&list=" + url.QueryEscape("https://evil.example/?tab=all"): 400, bulkNewPath + "?item=x": 400, bulkNewPath: 200, ticked(999999): 200,
		bulkNewPath + "?all=1&list=" + url.QueryEscape("/?q=nothing-like-it"): 200, "/bulk/99": 404, "/bulk/x": 404, "/bulk/1?show=nonsense": 400} {
		if a := b.get(path); a.status != want || strings.Contains(a.body, `class="bulk-plans"`) {
			t.Errorf("%s: %d, not %d: %s", path, a.status, want, a.visible())
		}
	}
}

// A form does not wait until a large list is written down; its run shows how far that is, and then how far the work is.
func TestALargeBulkRunShowsHowFarItIsPrepared(t *testing.T) {
	w := newWorld(t)
	keys := make([]string, 4_300)
	for i := range keys {
		keys[i] = fmt.Sprintf("L-%04d", i)
	}
	w.Put("Acme", rt.Money(t, "10", "EUR"), keys...)
	b := newSite(t, Config{Store: w.Store}).signIn("ada")
	form, action := b.bulkForm(bulkNewPath + "?all=1&list=" + url.QueryEscape("/?tab=waiting"))
	form.Set("plan", "hold")
	form.Set("note_hold", "wait")
	w.Later(time.Second)
	at := b.post(action, form).location
	for _, want := range []string{"Being prepared", "4,000 of 4,300 written down", "with 4,300 invoices", "Stop this run", "Still to do."} {
		if a := b.get(at); !strings.Contains(a.visible(), want) || !strings.Contains(a.body, `data-live="bulk"`) {
			t.Errorf("no %q: %s", want, a.visible())
		}
	}
	runBulks(t, w)
	if a := b.get(at); !strings.Contains(a.visible(), "Done 4,300") || strings.Contains(a.visible(), "Being prepared") {
		t.Errorf("the end: %s", a.visible())
	}
}

func TestWhatWasTypedForABulkRunOutlivesTheSession(t *testing.T) {
	w, s := overnight(t)
	id := w.One("K")
	b := s.signIn("ada")
	form, action := b.bulkForm(ticked(id))
	form.Set("plan", "hold")
	form.Set("note_hold", "The price is wrong")
	w.Later(14 * time.Hour)
	r, err := http.NewRequest(http.MethodPost, s.URL+action, strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Referer", s.URL+action)
	a := b.do(r)
	if a.status != http.StatusSeeOther || !strings.HasPrefix(a.location, "/login?next=") {
		t.Fatalf("%d %s", a.status, a.location)
	}
	back := b.again("ada", action)
	if a := b.get(back.location); !strings.Contains(a.body, "The price is wrong</textarea>") || !strings.Contains(a.visible(), "Nothing was done") {
		t.Errorf("%s: %s", back.location, a.visible())
	}
	if w.Get(id).Status != work.Queued {
		t.Error("it was stopped")
	}
}

// Every result of every plan is said in full, in words for finance.
func TestEveryBulkResultHasWords(t *testing.T) {
	w := newWorld(t)
	it := w.Get(w.One("K"))
	for _, plan := range review.Plans {
		for _, o := range []review.BulkOutcome{review.BulkTodo, review.BulkActed, review.BulkSent, review.BulkFound, review.BulkSeen, review.BulkAbsent, review.BulkDiffers,
			review.BulkSeveral, review.BulkVoid, review.BulkUnclear, review.BulkWaiting, review.BulkRefused, review.BulkSettled, review.BulkChanged, review.BulkGone, review.BulkFailed} {
			if o == review.BulkActed && (plan == review.PlanRepair || plan == review.PlanCheck || plan == review.PlanRetry) {
				continue // these plans have no such result
			}
			for _, detail := range []string{"", string(work.RefusedUnknown), string(work.RefusedOpen), string(review.RefusedTaken), "assign", "send"} {
				run := review.BulkRun{ID: 1, Plan: plan, Size: 1, By: rt.Recorder, State: review.BulkStopped, Tally: map[review.BulkOutcome]int64{o: 1}}
				v := bulkView{view{time.UTC, w.Clock()}, run, map[string]work.System{rt.SystemID: {ID: rt.SystemID, Name: "Books"}}}
				l := review.BulkLine{Item: it, BulkItem: review.BulkItem{N: 1, ItemID: it.ID, BulkResult: review.BulkResult{Outcome: o, Detail: detail}}}
				says := v.outcome(l).String()
				for _, text := range []string{says, v.sums()[0].Name, bulkSays(run)} {
					if text == "" && o != review.BulkTodo || strings.ContainsAny(text, "{}") || forbidden.MatchString(text) {
						t.Errorf("%s, %q, %q says %q", plan, o, detail, text)
					}
				}
			}
		}
	}
}
