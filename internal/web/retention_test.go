package web

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"onefold/internal/review"
	rt "onefold/internal/review/reviewtest"
	"onefold/internal/work"
	"onefold/web/templates"
)

// keepForm is the form as it stands, with other times.
func keepForm(a answer, do string, months map[string]string) url.Values {
	f := a.form(retentionPath)
	for _, k := range review.Histories {
		f.Set(string(k), "24")
	}
	for kind, n := range months {
		f.Set(kind, n)
	}
	f.Set("do", do)
	return f
}

func TestHowLongHistoryIsKept(t *testing.T) {
	w := newWorld(t)
	id := w.One("INV-1")
	for _, answer := range []work.Answer{rt.Refused, rt.Refused, rt.AcceptedAs(1)} {
		w.Send(id, answer)
	}
	w.Later(13 * 31 * 24 * time.Hour)
	s := newSite(t, Config{Store: w.Store})
	b := s.signIn("admin")
	page := b.get(retentionPath)
	if page.status != http.StatusOK || !strings.Contains(page.visible(), templates.Retention.Title["attempts"]) {
		t.Fatalf("%d %s", page.status, page.visible())
	}
	kept := func() review.Retention {
		t.Helper()
		r, err := w.Retention(t.Context(), 1)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	look := b.post(retentionPath, keepForm(page, "preview", map[string]string{"attempts": "12", "excerpts": "6"}))
	if look.status != http.StatusOK || !strings.Contains(look.visible(), templates.Retention.Previewed) || !strings.Contains(look.visible(), "With this time 1 settled invoice is old enough.") || !strings.Contains(look.body, `value="12" selected`) {
		t.Errorf("%d %s", look.status, look.visible())
	}
	if len(kept()) != 0 {
		t.Fatal("a preview changed the settings")
	}
	for _, bad := range []string{"-1", "7", "", "for ever", "1e3", "<script>"} {
		if a := b.post(retentionPath, keepForm(page, "save", map[string]string{"attempts": bad})); a.status != http.StatusUnprocessableEntity ||
			!strings.Contains(a.visible(), templates.Retention.Refused) || len(kept()) != 0 {
			t.Errorf("%q: %d, %v", bad, a.status, kept())
		}
	}
	saved := b.post(retentionPath, keepForm(page, "save", map[string]string{"attempts": "12", "excerpts": "0"}))
	if saved.status != http.StatusSeeOther || kept()[review.Attempts] != 12 || kept()[review.Excerpts] != 0 {
		t.Fatalf("%d %v", saved.status, kept())
	}
	if a := b.get(saved.location); !strings.Contains(a.visible(), templates.Retention.Saved) || !strings.Contains(a.body, `value="12" selected`) {
		t.Errorf("after saving: %s", a.visible())
	}
	if a := b.get("/audit"); !strings.Contains(a.visible(), "Changed how long history is kept") {
		t.Error("the change is not on record")
	}

	// What goes is told where it is missed.
	item := "/items/" + strconv.FormatInt(id, 10)
	if a := b.get(item); strings.Contains(a.visible(), "were removed") {
		t.Errorf("nothing is gone yet: %s", a.visible())
	}
	counted(t, w.Store)
	removed, _, err := review.RetentionRunner{Store: w.Store, CompanyID: 1, Node: "a", Pause: func(context.Context) {}}.RunOnce(t.Context())
	if err != nil || removed != 2 {
		t.Fatal(removed, err)
	}
	if a := b.get(item); !strings.Contains(a.visible(), "2 older tries were removed") || strings.Contains(a.visible(), "is blocked for invoicing") {
		t.Errorf("the page of the invoice: %s", a.visible())
	}
	attempt := attemptsPath + "/" + strconv.FormatInt(id, 10) + "/3"
	if a := b.get(attempt); a.status != http.StatusOK || strings.Contains(a.visible(), templates.Attempts.NotKeptLong) || strings.Contains(a.body, `rel="prev"`) {
		t.Errorf("the page of the try that stays: %d %s", a.status, a.visible())
	}
	if a := b.get(retentionPath); !strings.Contains(a.visible(), "2 removed so far") {
		t.Errorf("the page does not tell what went: %s", a.visible())
	}
	b.post(retentionPath, keepForm(b.get(retentionPath), "save", map[string]string{"attempts": "12", "excerpts": "6"}))
	if _, _, err := (review.RetentionRunner{Store: w.Store, CompanyID: 1, Node: "a", Pause: func(context.Context) {}}).RunOnce(t.Context()); err != nil {
		t.Fatal(err)
	}
	if a := b.get(attempt); !strings.Contains(a.visible(), templates.Attempts.NotKeptLong) {
		t.Errorf("the page of the try does not tell that its texts are gone: %s", a.visible())
	}
}

func TestRetentionPagesLookRight(t *testing.T) {
	t.Parallel()
	ctx := chrome(t)
	w := newWorld(t)
	s := newSite(t, Config{Store: w.Store})
	run(t, ctx, signInOn(s.URL, "admin"))
	shoot(t, ctx, "retention-first", s.URL+retentionPath)
	id := w.One("INV-1")
	for _, answer := range []work.Answer{rt.Refused, rt.Refused, rt.AcceptedAs(1)} {
		w.Send(id, answer)
	}
	w.Later(40 * 31 * 24 * time.Hour)
	b := tab{t, ctx}
	b.do(goTo(s.URL+retentionPath, "main"), chromedp.Click(css("button[value=preview]")), chromedp.WaitVisible(css(".notice")))
	for _, look := range looks {
		shootThis(t, ctx, "retention-preview", look)
	}
	counted(t, w.Store)
	if _, _, err := (review.RetentionRunner{Store: w.Store, CompanyID: 1, Node: "a", Pause: func(context.Context) {}}).RunOnce(t.Context()); err != nil {
		t.Fatal(err)
	}
	shoot(t, ctx, "retention-removed", s.URL+retentionPath+"?did=saved")
	shoot(t, ctx, "retention-item", s.URL+"/items/"+strconv.FormatInt(id, 10))
}

// counted has the overview count every attempt: until then none is removed.
func counted(t *testing.T, store review.FigureStore) {
	t.Helper()
	for more := true; more; {
		var err error
		if more, err = (review.FigureRunner{Store: store, Node: "a"}).RunOnce(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}
