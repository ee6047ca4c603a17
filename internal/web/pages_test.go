package web

import (
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	rt "onefold/internal/review/reviewtest"
	"onefold/internal/work"
	"onefold/web/static"
)

func TestNothingIsOpenWithoutSigningIn(t *testing.T) {
	w := newWorld(t)
	id := w.One("K")
	before := w.Get(id).Version
	b := newSite(t, Config{Store: w.Store}).browser()
	for _, path := range []string{"/", "/?q=K", itemPath(id), "/systems", "/import"} {
		a := b.get(path)
		if a.status != http.StatusSeeOther || !strings.HasPrefix(a.location, "/login?next=") || strings.Contains(a.body, "Acme") {
			t.Errorf("%s: %d %s", path, a.status, a.location)
		}
	}
	for _, path := range []string{itemPath(id, "check"), itemPath(id, "retry"), itemPath(id, "resolve"), itemPath(id, "close"), itemPath(id, "hold"),
		itemPath(id, "attest"), itemPath(id, "reopen"), itemPath(id, "approve"), itemPath(id, "assign"), "/systems/books/pause",
		"/systems/books/resume", "/systems/books/look-first", "/import", "/logout"} {
		if a := b.post(path, url.Values{"version": {"1"}, "seen": {"2026-11-29T10:00:00Z"}}); a.status != http.StatusSeeOther || !strings.HasPrefix(a.location, "/login") {
			t.Errorf("POST %s: %d %s", path, a.status, a.location)
		}
	}
	for path, want := range map[string]int{"/login": 200, "/healthz": 200, "/static/" + static.Address("app.css"): 200, "/static/nothing.css": 404,
		"/api/v1/items/K": 401, "/api/v1/nothing": 404, "/api/nothing": 404, "/nothing": 404} {
		if a := b.get(path); a.status != want {
			t.Errorf("%s: %d, not %d", path, a.status, want)
		}
	}
	if w.Get(id).Version != before {
		t.Error("the item changed")
	}
}

func TestEveryFormIsGuarded(t *testing.T) {
	w := newWorld(t)
	id := w.One("K")
	before := w.Get(id).Version
	s := newSite(t, Config{Store: w.Store})
	b := s.signIn("admin")
	foreign := s.signIn("admin").get(itemPath(id)).form(itemPath(id, "check")) // a good token, of another browser
	for _, form := range []url.Values{{}, {csrfField: {"nonsense"}}, foreign} {
		form.Set("version", "1")
		form.Set("seen", "2026-11-29T10:00:00Z")
		for _, path := range []string{itemPath(id, "check"), itemPath(id, "retry"), itemPath(id, "resolve"), itemPath(id, "close"), itemPath(id, "hold"),
			itemPath(id, "attest"), itemPath(id, "reopen"), itemPath(id, "approve"), itemPath(id, "assign"), "/systems/books/pause",
			"/systems/books/resume", "/systems/books/look-first", "/import", "/logout", "/login"} {
			if a := b.post(path, form); a.status != http.StatusForbidden || !strings.Contains(a.visible(), "This form has expired") {
				t.Errorf("POST %s: %d %s", path, a.status, a.visible())
			}
		}
	}
	r, err := http.NewRequest(http.MethodPost, s.URL+itemPath(id, "check"), strings.NewReader(b.get(itemPath(id)).form(itemPath(id, "check")).Encode()))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Origin", "https://evil.example")
	if a := b.do(r); a.status != http.StatusForbidden {
		t.Errorf("another origin: %d", a.status)
	}
	if w.Get(id).Version != before {
		t.Error("the item changed")
	}
}

func TestSigningIn(t *testing.T) {
	w := newWorld(t)
	id := w.One("K")
	s := newSite(t, Config{Store: w.Store})
	b := s.browser()
	form := b.get("/login?next=" + url.QueryEscape(itemPath(id))).form("/login")
	form.Set("login", "Ada")
	form.Set("password", "wrong password")
	if a := b.post("/login", form); a.status != http.StatusUnauthorized || !strings.Contains(a.visible(), "Name or password is wrong") || strings.Contains(a.body, "wrong password") {
		t.Fatalf("%d %s", a.status, a.body)
	}
	form.Set("password", testPassword)
	if a := b.post("/login", form); a.status != http.StatusSeeOther || a.location != itemPath(id) {
		t.Fatalf("%d %s", a.status, a.location)
	}
	page := b.get(itemPath(id))
	if page.status != http.StatusOK || !strings.Contains(page.visible(), "Ada Brown") {
		t.Fatal(page.visible())
	}
	if a := b.post("/logout", page.form("/logout")); a.location != "/login" {
		t.Errorf("%d %s", a.status, a.location)
	}
	if a := b.get("/"); a.status != http.StatusSeeOther {
		t.Errorf("still signed in: %d", a.status)
	}
}

func TestTooManyWrongSignInsMustWait(t *testing.T) {
	s := newSite(t, Config{Store: newWorld(t).Store})
	b := s.browser()
	form := b.get("/login").form("/login")
	form.Set("login", "ada")
	form.Set("password", "wrong password")
	for range 5 {
		b.post("/login", form)
	}
	form.Set("password", testPassword)
	if a := b.post("/login", form); a.status != http.StatusTooManyRequests || a.header.Get("Retry-After") == "" {
		t.Errorf("%d", a.status)
	}
}

func TestSigningInLeadsOnlyToOurPages(t *testing.T) {
	for given, want := range map[string]string{"/items/1": "/items/1", "/?tab=all": "/?tab=all", "": "/", "//evil.example": "/", "https://evil.example": "/",
		`/\evil.example`: "/", "/\t/evil.example": "/", "javascript:alert(1)": "/", "evil": "/"} {
		if got := localPath(given); got != want {
			t.Errorf("%q leads to %q", given, got)
		}
	}
}

func TestSecurityHeaders(t *testing.T) {
	s := newSite(t, Config{Store: newWorld(t).Store})
	for _, path := range []string{"/login", "/nothing", "/static/" + static.Address("app.js"), "/api/v1/items/x"} {
		h := s.browser().get(path).header
		for name, want := range map[string]string{"Content-Security-Policy": policy, "X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Referrer-Policy": "same-origin"} {
			if h.Get(name) != want {
				t.Errorf("%s: %s is %q", path, name, h.Get(name))
			}
		}
	}
	if strings.Contains(policy, "unsafe") {
		t.Error(policy)
	}
	if c := s.browser().get("/login").header.Get("Cache-Control"); c != "no-store" {
		t.Errorf("pages are kept: %q", c)
	}
}

// peoplePaths are the pages about people that an admin may open.
var peoplePaths = []string{"/login?again=yes", "/profile", "/profile/password", "/profile/second-step", "/people", "/people/1", "/people/2?did=roles", "/tokens", "/notices", "/audit",
	"/audit?from=x", "/welcome/nonsense"}

// The policy forbids inline styles and scripts: no page may need them.
func TestPagesNeedNothingInline(t *testing.T) {
	w := newWorld(t)
	b := newSite(t, Config{Store: w.Store}).signIn("admin")
	inline := regexp.MustCompile(`<style|\sstyle=|\son[a-z]+=|<script(>|[^>]*>[^<])`)
	paths := append([]string{"/", "/?tab=all", "/systems", "/import"}, peoplePaths...)
	for _, id := range stories(t, w) {
		paths = append(paths, itemPath(id))
	}
	for _, path := range paths {
		if found := inline.FindString(b.get(path).body); found != "" {
			t.Errorf("%s has %q", path, found)
		}
	}
}

func TestHostsOfOthersGetNothing(t *testing.T) {
	s := newSite(t, Config{Store: newWorld(t).Store, Hosts: []string{"onefold.example"}})
	for host, want := range map[string]int{"onefold.example": 200, "ONEFOLD.example:8080": 200, "evil.example": 421} {
		r, err := http.NewRequest(http.MethodGet, s.URL+"/login", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Host = host
		if a := s.browser().do(r); a.status != want {
			t.Errorf("%s: %d", host, a.status)
		}
	}
}

// brokenStore fails or panics as a test says.
type brokenStore struct {
	Store
	err   error
	panic string
}

func (b *brokenStore) Now(ctx context.Context) (time.Time, error) {
	if b.panic != "" {
		panic(b.panic)
	}
	if b.err != nil {
		return time.Time{}, b.err
	}
	return b.Store.Now(ctx)
}

func TestErrorsAreToldInPlainWords(t *testing.T) {
	store := &brokenStore{Store: newWorld(t).Store}
	s := newSite(t, Config{Store: store})
	b := s.signIn("admin")
	for _, c := range []struct {
		err   error
		panic string
		want  int
	}{{errors.New("pq: secret detail"), "", 500}, {nil, "secret panic", 500}, {context.DeadlineExceeded, "", 503}} {
		store.err, store.panic = c.err, c.panic
		a := b.get("/systems")
		if a.status != c.want || strings.Contains(a.body, "secret") || strings.Contains(a.body, "goroutine") || !strings.Contains(a.visible(), "name this code") {
			t.Errorf("%d: %s", a.status, a.visible())
		}
		if ready := b.get("/readyz"); ready.status == http.StatusOK || strings.Contains(ready.body, "secret") || c.err != nil && !strings.Contains(ready.body, "the database does not answer") {
			t.Errorf("ready without a database: %d %s", ready.status, ready.body)
		}
		if health := b.get("/healthz"); health.status != http.StatusOK {
			t.Error("a process that lives is to be started anew because the database is away")
		}
	}
	store.err, store.panic = nil, ""
	if a := b.get("/items/1/check"); a.location != "/items/1" {
		t.Errorf("the address of a form: %d %s", a.status, a.location)
	}
	for path, want := range map[string]int{"/items/4711": 404, "/items/x": 404, "/export.csv?tab=nonsense": 400, "/export.xlsx?status=nonsense": 400} {
		if a := b.get(path); a.status != want || !strings.Contains(a.body, "<h1>") {
			t.Errorf("%s: %d %s", path, a.status, a.visible())
		}
	}
}

func TestTooLargeFormsAreRefused(t *testing.T) {
	w := newWorld(t)
	id := w.One("K")
	before := w.Get(id).Version
	b := newSite(t, Config{Store: w.Store}).signIn("ada")
	form := b.get(itemPath(id)).form(itemPath(id, "hold"))
	form.Set("note", strings.Repeat("x", formSize))
	if a := b.post(itemPath(id, "hold"), form); a.status < 400 || w.Get(id).Version != before {
		t.Errorf("%d", a.status)
	}
}

func TestRolesOnPages(t *testing.T) {
	w := newWorld(t)
	id := w.One("K")
	before := w.Get(id).Version
	s := newSite(t, Config{Store: w.Store})
	for _, who := range []string{"vera", "otto"} {
		b := s.signIn(who)
		page := b.get(itemPath(id))
		if !strings.Contains(page.visible(), "Your account may look, but not do this.") || page.form(itemPath(id, "check")) != nil || page.form(itemPath(id, "assign")) != nil {
			t.Errorf("%s sees buttons: %s", who, page.visible())
		}
		form := page.form("/logout") // a good token
		form.Set("version", "1")
		form.Set("seen", w.Clock().Format(time.RFC3339))
		for _, action := range []string{"check", "retry", "hold", "close", "resolve", "assign"} {
			if a := b.post(itemPath(id, action), form); a.status != http.StatusForbidden {
				t.Errorf("%s, %s: %d", who, action, a.status)
			}
		}
		want := map[string]int{"vera": http.StatusForbidden, "otto": http.StatusSeeOther}[who]
		if a := b.post("/systems/books/pause", form); a.status != want {
			t.Errorf("%s pauses: %d", who, a.status)
		}
		if a := b.post("/systems/books/look-first", form); a.status != http.StatusForbidden {
			t.Errorf("%s ends look-first: %d", who, a.status)
		}
	}
	if w.Get(id).Version != before {
		t.Error("the item changed")
	}
}

func TestSystemsPage(t *testing.T) {
	w := newWorld(t)
	w.Claim(w.One("K"))
	b := newSite(t, Config{Store: w.Store}).signIn("admin")
	form := b.get("/systems").form("/systems/books/pause")
	form.Set("note", "month end")
	if a := b.post("/systems/books/pause", form); a.location != "/systems" {
		t.Fatalf("%d", a.status)
	}
	page := b.get("/systems")
	for _, want := range []string{"Paused", "Books has been paused since 10:00 by Admin. Nothing new is sent; still on the way: 1.", "Reason: month end"} {
		if !strings.Contains(page.visible(), want) {
			t.Errorf("%q is missing: %s", want, page.visible())
		}
	}
	if list := b.get("/"); !strings.Contains(list.visible(), "Books has been paused since 10:00 by Admin.") {
		t.Error("other pages do not say so")
	}
	b.post("/systems/books/resume", page.form("/systems/books/resume"))
	if page = b.get("/systems"); !strings.Contains(page.visible(), "Everything goes out as it comes.") {
		t.Error(page.visible())
	}
	if a := b.post("/systems/nothing/pause", form); a.status != http.StatusNotFound {
		t.Errorf("an unknown system: %d", a.status)
	}
	if err := w.StartLookFirst(t.Context(), rt.SystemID, "The database was restored."); err != nil {
		t.Fatal(err)
	}
	page = b.get("/systems")
	if !strings.Contains(page.visible(), "set to look first since 10:00") {
		t.Error(page.visible())
	}
	end := page.form("/systems/books/look-first")
	if a := b.post("/systems/books/look-first", end); a.status != http.StatusUnprocessableEntity {
		t.Errorf("look-first is ended without a note: %d", a.status)
	}
	end.Set("note", "the lost day is recorded again")
	b.post("/systems/books/look-first", end)
	if sys, err := w.System(t.Context(), rt.SystemID); err != nil || !sys.LookFirst.IsZero() {
		t.Errorf("look-first goes on: %v", err)
	}
}

// Words that finance staff must never read.
var forbidden = regexp.MustCompile(`(?i)\b(dead|discarded|orphaned|jobs?|workers?|queued?|queues|payloads?|idempoten\w*|lease[sd]?|dlq)\b`)

func TestForbiddenWordsAreOnNoPage(t *testing.T) {
	w := newWorld(t)
	ids := stories(t, w)
	if err := w.StartLookFirst(t.Context(), rt.SystemID, "by hand"); err != nil {
		t.Fatal(err)
	}
	b := newSite(t, Config{Store: w.Store}).signIn("admin")
	paths := append([]string{"/login", "/", "/?tab=all", "/?tab=waiting", "/?q=zzz", "/systems", "/import", "/items/999"}, peoplePaths...)
	for _, st := range work.Statuses {
		paths = append(paths, "/?status="+string(st))
	}
	for _, id := range ids {
		paths = append(paths, itemPath(id), itemPath(id)+"?did=hold")
	}
	attributes := regexp.MustCompile(`(?:title|placeholder|aria-label|alt)="([^"]*)"`)
	for _, path := range paths {
		a := b.get(path)
		seen := a.visible()
		for _, m := range attributes.FindAllStringSubmatch(a.body, -1) {
			seen += " " + m[1]
		}
		if found := forbidden.FindString(seen); found != "" {
			t.Errorf("%s says %q", path, found)
		}
		if strings.ContainsAny(seen, "{}") {
			t.Errorf("%s shows a pattern that was not filled: %s", path, seen)
		}
	}
}

// Styles and scripts come packed to whoever can unpack them, and pages never do: their length would tell of secrets.
func TestStylesComePackedAndPagesDoNot(t *testing.T) {
	s := newSite(t, Config{Store: newWorld(t).Store})
	address := "/static/" + static.Address("app.css")
	ask := func(path, accepts string) answer {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Accept-Encoding", accepts)
		return s.browser().do(r)
	}
	plain, packed := ask(address, "identity"), ask(address, "br, gzip")
	r, err := gzip.NewReader(strings.NewReader(packed.body))
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(r)
	if err != nil || string(body) != plain.body || packed.header.Get("Content-Encoding") != "gzip" || plain.header.Get("Content-Encoding") != "" {
		t.Errorf("%v %v", err, packed.header)
	}
	if a := ask("/login", "gzip"); a.header.Get("Content-Encoding") != "" || !strings.Contains(a.body, "<html") {
		t.Errorf("the page is packed: %v", a.header)
	}
}
