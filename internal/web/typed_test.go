package web

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"onefold/internal/auth"
	rt "onefold/internal/review/reviewtest"
	"onefold/internal/work"
)

// overnight is a site on which time passes for sessions and items alike.
func overnight(t *testing.T) (*rt.World, *site) {
	t.Helper()
	w := newWorld(t)
	return w, newSite(t, Config{Store: w.Store, Auth: accounts(t, func(c *auth.Config) { c.Now = w.Clock })})
}

// again signs in on a browser that has been used before.
func (b *browser) again(login, next string) answer {
	b.site.t.Helper()
	form := b.get("/login?next=" + url.QueryEscape(next)).form("/login")
	form.Set("login", login)
	form.Set("password", testPassword)
	return b.post("/login", form)
}

// Trial 115: a form left open overnight.
func TestTrial115_FormLeftOpenOvernight(t *testing.T) {
	w, s := overnight(t)
	id := w.One("K")
	note := strings.Repeat("Long since agreed. ", 26) + "Zoë?!" // 500 letters, about
	b := s.signIn("ada")
	form := b.get(itemPath(id)).form(itemPath(id, "hold"))
	form.Set("note", note)
	w.Later(14 * time.Hour)
	a := b.post(itemPath(id, "hold"), form)
	if a.location != "/login?next="+url.QueryEscape(itemPath(id)) {
		t.Fatalf("%d %s", a.status, a.location)
	}
	if page := b.get(a.location); !strings.Contains(page.visible(), "What you typed is kept") || strings.Contains(page.body, "Long since") {
		t.Errorf("the page to sign in: %s", page.visible())
	}

	// Another person on the same browser does not see it.
	if a := b.again("ben", itemPath(id)); a.location != itemPath(id) {
		t.Fatalf("%d %s", a.status, a.location)
	}
	page := b.get(itemPath(id))
	if strings.Contains(page.body, "Long since") || strings.Contains(page.visible(), "Your session had ended") {
		t.Fatalf("ben sees it: %s", page.visible())
	}
	b.post("/logout", page.form("/logout"))

	// The same person gets it back, in its form, and it is saved once.
	if a := b.again("ada", itemPath(id)); a.location != itemPath(id) {
		t.Fatalf("%d %s", a.status, a.location)
	}
	page = b.get(itemPath(id))
	if !strings.Contains(page.body, note+"</textarea>") || !strings.Contains(page.visible(), "Nothing was done. What you typed is here again") {
		t.Fatalf("ada does not see it: %s", page.visible())
	}
	if acts, _ := w.Acts(t.Context(), id, 10); len(acts) != 0 {
		t.Fatalf("%d acts already", len(acts))
	}
	form = page.form(itemPath(id, "hold"))
	form.Set("note", note)
	for range 2 {
		if a := b.post(itemPath(id, "hold"), form); a.status != http.StatusSeeOther {
			t.Fatalf("%d %s", a.status, a.visible())
		}
	}
	if acts, err := w.Acts(t.Context(), id, 10); err != nil || len(acts) != 1 || acts[0].Note != note {
		t.Errorf("%d acts, %v", len(acts), err)
	}
	if page := b.get(itemPath(id)); strings.Contains(page.visible(), "Your session had ended") {
		t.Error("it comes twice")
	}
}

// What happened to the item meanwhile is pointed out, and the text stays although its form is gone.
func TestTrial115_TheItemHasMovedOnMeanwhile(t *testing.T) {
	w, s := overnight(t)
	id := w.One("K")
	b := s.signIn("ada")
	form := b.get(itemPath(id)).form(itemPath(id, "hold"))
	form.Set("note", "Wait for the new address.")
	w.Later(3 * time.Hour)
	w.Happen(id, work.Hold{By: work.Actor{Kind: work.Person, ID: "9", Name: "Ben Stone", Roles: []work.Role{work.Operator}}, Note: "Stop."})
	b.post(itemPath(id, "hold"), form)
	b.again("ada", itemPath(id))
	page := b.get(itemPath(id))
	for _, want := range []string{"Nothing was done, and meanwhile Ben Stone acted 13:00 (stopped it)", "What you had typed", "Wait for the new address."} {
		if !strings.Contains(page.visible(), want) {
			t.Errorf("%q is missing: %s", want, page.visible())
		}
	}
}

// Two tabs that were left open do not lose each other's text; a press without text says so.
func TestTypedTextOfEachPage(t *testing.T) {
	w, s := overnight(t)
	one, two, three := w.One("K1"), w.One("K2"), w.One("K3")
	b := s.signIn("admin")
	send := map[string]url.Values{}
	for _, p := range []string{itemPath(one, "hold"), itemPath(two, "hold")} {
		send[p] = b.get(strings.TrimSuffix(p, "/hold")).form(p)
		send[p].Set("note", "Text of "+p)
	}
	send[itemPath(three, "check")] = b.get(itemPath(three)).form(itemPath(three, "hold"))
	send["/systems/books/pause"] = b.get("/systems").form("/systems/books/pause")
	send["/systems/books/pause"].Set("note", "month end")
	send["/people"] = b.get("/people").form("/people")
	send["/people"].Set("login", "zoe@example.com")
	send["/people"].Set("role", "operator")
	send["/tokens"] = b.get("/tokens").form("/tokens")
	send["/tokens"].Set("name", "Web shop")
	w.Later(3 * time.Hour)
	for path, form := range send {
		r, err := http.NewRequest(http.MethodPost, s.URL+path, strings.NewReader(form.Encode()))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		page := "/" + strings.Split(path, "/")[1]
		r.Header.Set("Referer", s.URL+page)
		if a := b.do(r); !strings.HasPrefix(a.location, "/login?next="+url.QueryEscape(page)) {
			t.Fatalf("%s: %d %s", path, a.status, a.location)
		}
	}
	b.again("admin", "/")
	for page, want := range map[string]string{itemPath(one): "Text of " + itemPath(one, "hold"), itemPath(two): "Text of " + itemPath(two, "hold"),
		"/systems": `value="month end"`, "/people": `value="zoe@example.com"`, "/tokens": `value="Web shop"`, itemPath(three): "Nothing was done: press the button again."} {
		if a := b.get(page); !strings.Contains(a.body, want) || !strings.Contains(a.visible(), "Your session had ended") {
			t.Errorf("%s: %s", page, a.visible())
		}
		if a := b.get(page); strings.Contains(a.visible(), "Your session had ended") {
			t.Errorf("%s: twice", page)
		}
	}
	if it := w.Get(one); it.Status != work.Queued {
		t.Errorf("something was done: %s", it.Status)
	}
}

// A form in another tab counts after signing in again; while a code is asked for it is kept.
func TestTrial115_FormsOfOtherTabs(t *testing.T) {
	w, s := overnight(t)
	one, two := w.One("K1"), w.One("K2")
	b := s.signIn("ada")
	step := b.get("/profile/second-step")
	secret := secretOn(t, step)
	b.submit(step, "/profile/second-step", "code", codeOf(t, secret, w.Clock()))
	forms := map[int64]url.Values{}
	for _, id := range []int64{one, two} {
		forms[id] = b.get(itemPath(id)).form(itemPath(id, "hold"))
		forms[id].Set("note", "Wait.")
	}
	w.Later(3 * time.Hour)
	if a := b.again("ada", "/"); !strings.HasPrefix(a.location, "/login/code") {
		t.Fatalf("%d %s", a.status, a.location)
	}
	if a := b.post(itemPath(one, "hold"), forms[one]); !strings.HasPrefix(a.location, "/login/code?next=") {
		t.Fatalf("%d %s", a.status, a.location)
	}
	if a := b.submit(b.get("/login/code"), "/login/code", "code", codeOf(t, secret, w.Clock())); a.status != http.StatusSeeOther {
		t.Fatalf("%d %s", a.status, a.visible())
	}
	if page := b.get(itemPath(one)); !strings.Contains(page.body, "Wait.</textarea>") || w.Get(one).Status != work.Queued {
		t.Errorf("%s", page.visible())
	}
	if a := b.post(itemPath(two, "hold"), forms[two]); a.location != itemPath(two)+"?did=hold" {
		t.Errorf("%d %s", a.status, a.visible())
	}
}
