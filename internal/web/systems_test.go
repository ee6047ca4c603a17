package web

import (
	"bytes"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"onefold/internal/auth"
	"onefold/internal/automation"
	"onefold/internal/ledger"
	"onefold/internal/ledger/sandbox"
	sandboxserver "onefold/internal/ledger/sandbox/server"
	rt "onefold/internal/review/reviewtest"
	"onefold/internal/seal"
	"onefold/internal/store"
	"onefold/internal/store/storetest"
	"onefold/internal/work"
)

const booksToken = "s3cret-token-of-the-books"

// emptySite is a site without any accounting system, beside a sandbox that asks for a token.
type emptySite struct {
	*site
	store   *store.Store
	con     *automation.Connections
	outside *sandboxserver.Server
	url     string
	log     *bytes.Buffer
}

func newEmptySite(t *testing.T) *emptySite {
	t.Helper()
	e := &emptySite{store: storetest.SQLite(t).Open(t, store.Config{}), log: &bytes.Buffer{}}
	var err error
	if e.outside, err = sandboxserver.New(sandboxserver.Options{Token: booksToken}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.outside.Close() })
	h := httptest.NewUnstartedServer(e.outside)
	h.Config.ConnContext = sandboxserver.ConnContext
	h.Start()
	t.Cleanup(h.Close)
	e.url = h.URL
	log := slog.New(slog.NewTextHandler(e.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	e.con = &automation.Connections{Store: e.store, Adapters: []ledger.Adapter{sandbox.Adapter}, Keys: seal.Random(), Log: log}
	e.site = newSite(t, Config{Store: e.store, Connections: e.con, Log: log, Auth: accounts(t, func(c *auth.Config) { c.Store = e.store })})
	return e
}

// filled is the form of the page as a browser would send it, with these fields.
func (a answer) filled(path string, fields ...string) url.Values {
	f := a.form(path)
	if f == nil {
		f = url.Values{}
	}
	f.Del("forget.token") // a tick that nobody set
	for i := 0; i < len(fields); i += 2 {
		f.Set(fields[i], fields[i+1])
	}
	return f
}

// An admin connects, tests, changes and removes a system. What was typed stays when something is refused, except secrets,
// which no page and no log ever holds.
func TestConnectingAnAccountingSystem(t *testing.T) {
	e := newEmptySite(t)
	b := e.signIn("admin")
	all := &strings.Builder{}
	note := func(a answer) answer { all.WriteString(a.body); return a }
	if page := note(b.get("/systems")); !strings.Contains(page.visible(), "No accounting system is connected yet") || !strings.Contains(page.body, `href="/systems/new"`) {
		t.Fatal(page.visible())
	}
	form := note(b.get("/systems/new"))
	f := form.filled("/systems/new", "name", "Acme's books", "address", "books", "secret.token", booksToken, "set.personality", "search", "set.single_step", "true", "do", "save")
	a := note(b.post("/systems/new", f))
	for _, want := range []string{"Write the whole address", "Entered just now and kept for this form"} {
		if a.status != http.StatusUnprocessableEntity || !strings.Contains(a.visible(), want) {
			t.Fatalf("%d: %q is missing: %s", a.status, want, a.visible())
		}
	}
	for _, kept := range []string{`value="Acme&#39;s books"`, `value="books"`} {
		if !strings.Contains(a.body, kept) {
			t.Errorf("%s is lost", kept)
		}
	}
	// The secret is not on the page, and need not be typed again.
	f = a.filled("/systems/new", "address", e.url+"/search", "set.personality", "search", "set.single_step", "true", "do", "test")
	a = note(b.post("/systems/new", f))
	if a.status != http.StatusOK || !strings.Contains(a.visible(), "It works: books-search answers, and a search finds nothing where nothing is.Nothing was sent.") {
		t.Fatalf("%d %s", a.status, a.visible())
	}
	f = a.filled("/systems/new", "set.personality", "search", "set.single_step", "true", "do", "save")
	if a = note(b.post("/systems/new", f)); a.location != "/systems/acme-s-books?did=added" {
		t.Fatalf("%d %s %s", a.status, a.location, a.visible())
	}
	sys, err := e.store.System(t.Context(), "acme-s-books")
	if err != nil || sys.Identity != "books-search" || sys.Settings["single_step"] != "true" || len(sys.Steps) != 1 {
		t.Fatalf("%+v %v", sys, err)
	}
	page := note(b.get(a.location))
	for _, want := range []string{"Connected. From now on invoices can be sent to it.", "Acme's books", "books-search", "API token: stored encrypted", "Last hournone", "never",
		"Declared by its adapter. It was never proven against these books.", "Connected a system", "Records can be found by our referenceYesnever"} {
		if !strings.Contains(page.visible(), want) {
			t.Errorf("%q is missing: %s", want, page.visible())
		}
	}
	// Test what is stored, and refuse other books.
	if a = note(b.post("/systems/acme-s-books/test", page.form("/systems/acme-s-books/test"))); !strings.Contains(a.visible(), "It works: books-search answers") {
		t.Error(a.visible())
	}
	edit := note(b.get("/systems/acme-s-books/edit"))
	f = edit.filled("/systems/acme-s-books/edit", "set.personality", "unique", "set.single_step", "true", "address", e.url+"/unique", "do", "save")
	if a = note(b.post("/systems/acme-s-books/edit", f)); a.status != http.StatusUnprocessableEntity ||
		!strings.Contains(a.visible(), "The address leads to other books: books-unique instead of books-search.") || !strings.Contains(a.body, e.url+"/unique") {
		t.Fatalf("%d %s", a.status, a.visible())
	}
	// Two admins: the second sees that the first changed it, with what they typed still there.
	f = edit.filled("/systems/acme-s-books/edit", "set.personality", "search", "set.single_step", "true", "name", "Acme UK", "do", "save")
	if a = note(b.post("/systems/acme-s-books/edit", f)); a.location != "/systems/acme-s-books?did=changed" {
		t.Fatalf("%d %s", a.status, a.visible())
	}
	f.Set("name", "Acme London")
	if a = note(b.post("/systems/acme-s-books/edit", f)); a.status != http.StatusConflict || !strings.Contains(a.visible(), "Somebody else changed this connection meanwhile") ||
		!strings.Contains(a.body, `value="Acme London"`) {
		t.Fatalf("%d %s", a.status, a.visible())
	}
	// A wrong token is refused and the good one stays.
	edit = note(b.get("/systems/acme-s-books/edit"))
	f = edit.filled("/systems/acme-s-books/edit", "set.personality", "search", "set.single_step", "true", "secret.token", "wrong-"+booksToken, "do", "save")
	if a = note(b.post("/systems/acme-s-books/edit", f)); a.status != http.StatusUnprocessableEntity || !strings.Contains(a.visible(), "It did not say whose books it keeps") {
		t.Fatalf("%d %s", a.status, a.visible())
	}
	trail := note(b.get("/audit?what=group:systems"))
	for _, want := range []string{"Connected a system", "Changed a connection", "Acme UK"} {
		if !strings.Contains(trail.visible(), want) {
			t.Errorf("%q is not in the trail: %s", want, trail.visible())
		}
	}
	for name, text := range map[string]string{"a page": all.String(), "the log": e.log.String()} {
		if strings.Contains(text, booksToken) {
			t.Errorf("%s holds the secret", name)
		}
	}
	page = note(b.get("/systems/acme-s-books"))
	if a = note(b.post("/systems/acme-s-books/remove", page.form("/systems/acme-s-books/remove"))); a.location != "/systems?did=removed" {
		t.Fatalf("%d %s", a.status, a.visible())
	}
	if a = b.get("/systems/acme-s-books"); a.status != http.StatusNotFound {
		t.Errorf("%d", a.status)
	}
	if trail = b.get("/audit?what=group:systems"); !strings.Contains(trail.visible(), "Removed a system") {
		t.Errorf("what was removed is not in the trail: %s", trail.visible())
	}
}

// A system with invoices stays, and the page says why.
func TestASystemWithInvoicesIsNotRemoved(t *testing.T) {
	w := newWorld(t)
	w.One("INV-1")
	b := newSite(t, Config{Store: w.Store}).signIn("admin")
	a := b.post("/systems/books/remove", b.get("/systems/books").form("/systems/books/remove"))
	if a.status != http.StatusConflict || !strings.Contains(a.visible(), "This accounting system is in use: invoices were recorded for it, and what was recorded is never deleted.") {
		t.Fatalf("%d %s", a.status, a.visible())
	}
	if _, err := w.System(t.Context(), rt.SystemID); err != nil {
		t.Error(err)
	}
}

// The buttons of the system's own page lead back to it; look-first needs a reason and an admin.
func TestWhatCanBeDoneOnASystemsPage(t *testing.T) {
	w := newWorld(t)
	s := newSite(t, Config{Store: w.Store})
	b := s.signIn("admin")
	do := func(path, note, says string) answer {
		t.Helper()
		f := b.get("/systems/books").form(path)
		if f == nil {
			t.Fatalf("there is no form for %s", path)
		}
		f.Set("note", note)
		a := b.post(path, f)
		if a.status == http.StatusSeeOther {
			a = b.get(a.location)
		}
		if !strings.Contains(a.visible(), says) {
			t.Fatalf("%q is missing: %s", says, a.visible())
		}
		return a
	}
	do("/systems/books/pause", "Month end", "Books has been paused since 10:00 by Admin.")
	do("/systems/books/resume", "The books are open again", "Resumed. What waits is sent.")
	do("/systems/books/look-first/begin", " ", "Give a reason")
	do("/systems/books/look-first/begin", "Invoices are keyed in by hand", "set to look first since 10:00")
	page := do("/systems/books/look-first", "All are in", "Invoices are sent again without a look before.")
	for _, reason := range []string{"Month end", "The books are open again", "Invoices are keyed in by hand", "All are in"} {
		if !strings.Contains(page.visible(), reason) {
			t.Errorf("the reason %q is not on the page: %s", reason, page.visible())
		}
	}
	if err := w.AddCalls(t.Context(), rt.SystemID, work.Calls{All: 1240, Unanswered: 12, Refused: 3}); err != nil {
		t.Fatal(err)
	}
	if page = b.get("/systems/books"); !strings.Contains(page.visible(), "Last hour1,240 calls: 12 without a clear answer (1.0 %), 3 refused") {
		t.Error(page.visible())
	}
	if err := w.AddCalls(t.Context(), rt.SystemID, work.Calls{All: 10, NotSent: 7}); err != nil {
		t.Fatal(err)
	}
	if page = b.get("/systems/books"); !strings.Contains(page.visible(), "1,250 calls: 12 without a clear answer (1.0 %), 3 refused, 7 not sent at all because no connection could be made") {
		t.Error(page.visible())
	}
	list := b.get("/systems")
	if at := strings.Index(list.body, `action="/systems/books/pause"`); at < 0 || !strings.HasSuffix(list.body[:strings.LastIndex(list.body[:at], "<summary")], "<details>") {
		t.Errorf("the form to pause lies open: %s", list.body)
	}
	viewer := s.signIn("vera").get("/systems/books")
	for _, path := range []string{"/systems/books/pause", "/systems/books/test", "/systems/books/remove", "/systems/books/look-first/begin"} {
		if viewer.status != http.StatusOK || viewer.form(path) != nil {
			t.Errorf("a viewer is offered %s (%d)", path, viewer.status)
		}
	}
	if found := forbidden.FindString(page.visible()); found != "" {
		t.Errorf("the page says %q", found)
	}
}

// What was typed when the session was over comes back after signing in, but for the secret.
func TestAConnectionTypedWithoutASession(t *testing.T) {
	e := newEmptySite(t)
	b := e.signIn("admin")
	f := b.get("/systems/new").filled("/systems/new", "name", "Acme's books", "address", e.url+"/search", "secret.token", booksToken, "do", "save")
	b.post("/logout", b.get("/").form("/logout"))
	r, err := http.NewRequest(http.MethodPost, e.URL+"/systems/new", strings.NewReader(f.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Referer", e.URL+"/systems/new")
	if a := b.do(r); !strings.HasPrefix(a.location, "/login") {
		t.Fatalf("%d %s", a.status, a.location)
	}
	if all, err := e.store.Systems(t.Context()); err != nil || len(all) != 0 {
		t.Errorf("connected without a session: %v %v", all, err)
	}
}

// No page test waits for a system that hangs for ever.
func TestATestOfASystemThatHangsEnds(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it takes as long as a test may take")
	}
	stop := make(chan struct{})
	hangs := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		select {
		case <-stop:
		case <-r.Context().Done():
		}
	}))
	defer hangs.Close()
	defer close(stop)
	e := newEmptySite(t)
	b := e.signIn("admin")
	begun := time.Now()
	a := b.post("/systems/new", b.get("/systems/new").filled("/systems/new", "name", "Slow", "address", hangs.URL, "do", "test"))
	if a.status != http.StatusUnprocessableEntity || !strings.Contains(a.visible(), "did not answer in time") || time.Since(begun) > 40*time.Second {
		t.Errorf("%d after %s: %s", a.status, time.Since(begun), a.visible())
	}
}
