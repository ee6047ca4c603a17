package web

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"onefold/internal/auth"
	"onefold/internal/automation"
	rt "onefold/internal/review/reviewtest"
	"onefold/internal/store"
	"onefold/internal/store/storetest"
	"onefold/internal/work"
	"onefold/web/static"
)

var thisMachine = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}

// with sends a request with more headers, given as name and value.
func (b *browser) with(method, path string, form url.Values, headers ...string) answer {
	b.site.t.Helper()
	r, err := http.NewRequest(method, b.site.URL+path, strings.NewReader(form.Encode()))
	if err != nil {
		b.site.t.Fatal(err)
	}
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	return b.do(r)
}

var boss = work.Actor{Kind: work.Console, ID: "console", Roles: []work.Role{work.Admin}}

func TestForwardedAddressCountsOnlyFromTrustedProxies(t *testing.T) {
	for _, c := range []struct {
		trusted        []netip.Prefix
		forwarded, has string
	}{
		{nil, "203.0.113.9", "127.0.0.1"},
		{[]netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}, "203.0.113.9", "127.0.0.1"},
		{thisMachine, "203.0.113.9", "203.0.113.9"},
		{thisMachine, "6.6.6.6, 203.0.113.9", "203.0.113.9"}, // what the client itself sent does not count
		{thisMachine, "6.6.6.6, 203.0.113.9, 127.0.0.2", "203.0.113.9"},
		{thisMachine, "", "127.0.0.1"},
	} {
		a := accounts(t)
		b := newSite(t, Config{Store: newWorld(t).Store, Auth: a, TrustedProxies: c.trusted}).browser()
		form := b.get("/login").form("/login")
		form.Set("login", "ada")
		form.Set("password", "wrong password")
		b.with(http.MethodPost, "/login", form, "X-Forwarded-For", c.forwarded, "X-Real-IP", "7.7.7.7", "Forwarded", "for=8.8.8.8")
		page, err := a.AuditPage(t.Context(), boss, auth.AuditFilter{What: []string{auth.DidSignInFailed}})
		if err != nil || len(page.Records) != 1 || page.Records[0].From.Address != c.has {
			t.Errorf("%v said by %v: %+v %v", c.forwarded, c.trusted, page.Records, err)
		}
	}
}

func TestCookiesAndHSTSBehindATrustedProxy(t *testing.T) {
	signIn := func(trusted []netip.Prefix, proto string) (answer, answer) {
		b := newSite(t, Config{Store: newWorld(t).Store, TrustedProxies: trusted}).browser()
		b.http.Jar = nil // it would keep secure cookies back on this plain connection
		page := b.with(http.MethodGet, "/login", nil, "X-Forwarded-Proto", proto)
		form := page.form("/login")
		form.Set("login", "ada")
		form.Set("password", testPassword)
		cookie, _, _ := strings.Cut(page.header.Get("Set-Cookie"), ";")
		return page, b.with(http.MethodPost, "/login", form, "X-Forwarded-Proto", proto, "Cookie", cookie,
			"Origin", strings.Replace(b.site.URL, "http:", proto+":", 1))
	}
	for _, c := range []struct {
		trusted []netip.Prefix
		proto   string
		secure  bool
	}{{thisMachine, "https", true}, {thisMachine, "http", false}} {
		page, in := signIn(c.trusted, c.proto)
		if in.status != http.StatusSeeOther {
			t.Errorf("signing in over %s: %d %s", c.proto, in.status, in.visible())
		}
		for _, a := range []answer{page, in} {
			if len(a.header["Set-Cookie"]) == 0 {
				t.Error("no cookie")
			}
			for _, cookie := range a.header["Set-Cookie"] {
				if strings.Contains(cookie, "; Secure") != c.secure || !strings.Contains(cookie, "; HttpOnly") || !strings.Contains(cookie, "; SameSite=Lax") || strings.Contains(cookie, "Domain") {
					t.Errorf("over %s: %s", c.proto, cookie)
				}
			}
			if sts := a.header.Get("Strict-Transport-Security"); (sts != "") != c.secure {
				t.Errorf("over %s: %q", c.proto, sts)
			}
		}
	}
	if page, _ := signIn(nil, "https"); page.header.Get("Strict-Transport-Security") != "" || strings.Contains(page.header.Get("Set-Cookie"), "Secure") {
		t.Errorf("anybody's word counts: %v", page.header)
	}
}

func TestSecureCookies(t *testing.T) {
	a := accounts(t, func(c *auth.Config) { c.Secure = true })
	b := newSite(t, Config{Store: newWorld(t).Store, Auth: a}).browser()
	page := b.get("/login")
	if c := page.header.Get("Set-Cookie"); !strings.HasPrefix(c, "__Host-") || strings.Count(c, "; Secure") != 1 || !strings.Contains(c, "; Path=/;") {
		t.Error(c)
	}
	if sts := page.header.Get("Strict-Transport-Security"); sts != "max-age=31536000; includeSubDomains" {
		t.Error(sts)
	}
}

func TestFormsOfOtherSitesAreRefused(t *testing.T) {
	w := newWorld(t)
	id := w.One("K")
	before := w.Get(id).Version
	b := newSite(t, Config{Store: w.Store}).signIn("ada")
	form := b.get(itemPath(id)).form(itemPath(id, "hold")) // a good token: the origin alone decides
	form.Set("note", "n")
	for _, headers := range [][]string{{"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site"}, {"Origin", "https://evil.example"}, {"Origin", "null"}} {
		if a := b.with(http.MethodPost, itemPath(id, "hold"), form, headers...); a.status != http.StatusForbidden {
			t.Errorf("%v: %d", headers, a.status)
		}
		guest := b.site.browser()
		if a := guest.with(http.MethodPost, "/login", guest.get("/login").form("/login"), headers...); a.status != http.StatusForbidden {
			t.Errorf("/login, %v: %d", headers, a.status)
		}
	}
	if w.Get(id).Version != before {
		t.Error("the item changed")
	}
	if a := b.with(http.MethodPost, itemPath(id, "hold"), form, "Sec-Fetch-Site", "same-origin", "Origin", b.site.URL); a.status != http.StatusSeeOther {
		t.Errorf("our own form: %d", a.status)
	}
}

// A form belongs to the session that its page was made for, not to whoever is signed in on the browser now.
func TestAFormBelongsToItsSession(t *testing.T) {
	w := newWorld(t)
	id := w.One("K")
	s := newSite(t, Config{Store: w.Store})
	b := s.signIn("ada")
	form := b.get(itemPath(id)).form(itemPath(id, "hold"))
	form.Set("note", "n")
	b.post("/logout", form)
	in := b.get("/login").form("/login")
	in.Set("login", "ben")
	in.Set("password", testPassword)
	if a := b.post("/login", in); a.status != http.StatusSeeOther {
		t.Fatalf("%d %s", a.status, a.visible())
	}
	if a := b.post(itemPath(id, "hold"), form); a.status != http.StatusForbidden {
		t.Errorf("Ada's form, sent as Ben: %d", a.status)
	}
	form.Set(csrfField, "")
	for _, place := range []string{"?" + csrfField + "=", ""} { // a token in the address does not count
		good := b.get(itemPath(id)).form(itemPath(id, "hold")).Get(csrfField)
		if place == "" {
			good = ""
		}
		if a := b.post(itemPath(id, "hold")+place+url.QueryEscape(good), form); a.status != http.StatusForbidden {
			t.Errorf("%s: %d", place, a.status)
		}
	}
}

func TestLinksOfOtherSitesStartNothing(t *testing.T) {
	a := accounts(t)
	b := newSite(t, Config{Store: newWorld(t).Store, Auth: a}).signIn("admin")
	for path, page := range map[string]string{"/export.csv?tab=all": "/", "/audit.csv": "/audit", "/sso": "/login"} {
		for _, site := range []string{"cross-site", "same-site"} {
			if got := b.with(http.MethodGet, path, nil, "Sec-Fetch-Site", site); got.status != http.StatusSeeOther || got.location != page || len(got.header["Set-Cookie"]) > 0 {
				t.Errorf("%s from %s: %d %s", path, site, got.status, got.location)
			}
		}
	}
	page, err := a.AuditPage(t.Context(), boss, auth.AuditFilter{What: []string{auth.DidExport}})
	if err != nil || len(page.Records) != 0 {
		t.Errorf("%+v %v", page.Records, err)
	}
	if got := b.with(http.MethodGet, "/export.csv?tab=all", nil, "Sec-Fetch-Site", "same-origin"); got.status != http.StatusOK {
		t.Errorf("our own link: %d", got.status)
	}
}

func TestBrowsersKeepOtherSitesOut(t *testing.T) {
	s := newSite(t, Config{Store: newWorld(t).Store})
	for _, path := range []string{"/login", "/", "/nothing", "/static/" + static.Address("app.js"), "/api/v1/items/x", "/healthz"} {
		a := s.browser().with(http.MethodGet, path, nil, "Origin", "https://evil.example")
		for name, want := range map[string]string{"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin", "X-Content-Type-Options": "nosniff",
			"Access-Control-Allow-Origin": "", "Access-Control-Allow-Credentials": ""} {
			if got := a.header.Get(name); got != want {
				t.Errorf("%s: %s is %q", path, name, got)
			}
		}
		for _, part := range []string{"default-src 'none'", "object-src 'none'", "base-uri 'none'", "frame-ancestors 'none'", "form-action 'self'"} {
			if !strings.Contains(a.header.Get("Content-Security-Policy"), part) {
				t.Errorf("%s: the policy does not say %s", path, part)
			}
		}
		for _, method := range []string{http.MethodOptions, http.MethodTrace, http.MethodPut, http.MethodDelete} {
			if a := s.browser().with(method, path, nil, "Origin", "https://evil.example", "Access-Control-Request-Method", "POST"); a.status < 400 && method != http.MethodOptions || a.header.Get("Access-Control-Allow-Origin") != "" {
				t.Errorf("%s %s: %d", method, path, a.status)
			}
		}
	}
}

func TestPasswordFieldsAreMaskedAndHelped(t *testing.T) {
	a := accounts(t)
	_, link, err := a.Invite(t.Context(), boss, auth.Origin{}, auth.NewUser{Login: "new", Name: "New", Roles: []work.Role{work.Viewer}})
	if err != nil {
		t.Fatal(err)
	}
	b := newSite(t, Config{Store: newWorld(t).Store, Auth: a}).signIn("ada")
	field := regexp.MustCompile(`<input[^>]*name="(?:password|present|repeat)"[^>]*>`)
	for path, n := range map[string]int{"/login?again=yes": 1, "/profile/password": 3, "/welcome/" + link: 2} {
		found := field.FindAllString(b.get(path).body, -1)
		if len(found) < n {
			t.Errorf("%s has %d fields for passwords", path, len(found))
		}
		for _, f := range found {
			if !strings.Contains(f, `type="password"`) || !regexp.MustCompile(`autocomplete="(current|new)-password"`).MatchString(f) || strings.Contains(f, "onpaste") {
				t.Errorf("%s: %s", path, f)
			}
		}
	}
}

func TestCachingOfAnswers(t *testing.T) {
	s := newSite(t, Config{Store: newWorld(t).Store})
	b := s.signIn("admin")
	for path, want := range map[string]string{"/": "no-store", "/systems": "no-store", "/login": "no-store", "/nothing": "no-store", "/export.csv": "no-store",
		"/api/v1/items/x": "no-store", "/static/" + static.Address("app.css"): "public, max-age=31536000, immutable"} {
		if got := b.get(path).header.Get("Cache-Control"); got != want {
			t.Errorf("%s: %q", path, got)
		}
	}
}

func TestAPITakesOnlyJSON(t *testing.T) {
	w := newWorld(t)
	a := newAPI(t, w)
	for _, kind := range []string{"", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "text/json", "application/json;;"} {
		got := a.call(http.MethodPost, "/api/v1/items", kind, strings.NewReader(item("K", "1")))
		if code, says := got.message(t); got.status != http.StatusUnsupportedMediaType || code != "unsupported_media_type" || !strings.Contains(says, "application/json") {
			t.Errorf("%q: %d %s", kind, got.status, got.body)
		}
	}
	if got := a.call(http.MethodPost, "/api/v1/items", "application/json; charset=utf-8", strings.NewReader(item("K", "1"))); got.status != http.StatusCreated {
		t.Errorf("%d %s", got.status, got.body)
	}
}

func TestAPISlowsDownAndSaysHowLong(t *testing.T) {
	a := accounts(t)
	_, secret, err := a.CreateToken(t.Context(), boss, auth.Origin{}, auth.NewToken{Name: "shop", Scopes: auth.Scopes, Lasts: time.Hour, PerMinute: 10})
	if err != nil {
		t.Fatal(err)
	}
	b := newSite(t, Config{Store: newWorld(t).Store, Auth: a}).browser()
	for name, token := range map[string]string{"a token used too often": secret, "guessing": "of_nonsense"} {
		var got answer
		for range 50 {
			if got = b.with(http.MethodGet, "/api/v1/items/K", nil, "Authorization", "Bearer "+token); got.status == http.StatusTooManyRequests {
				break
			}
		}
		if code, says := got.message(t); got.status != http.StatusTooManyRequests || got.header.Get("Retry-After") < "1" || code != "too_many" || !strings.Contains(says, "wait") {
			t.Errorf("%s: %d %v %s", name, got.status, got.header, got.body)
		}
	}
}

// logBook is a log that a test can read.
type logBook struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logBook) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logBook) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// brokenAccounts cannot read one-time links and tokens, if a test says so.
type brokenAccounts struct {
	auth.Store
	err error
}

func (b *brokenAccounts) Link(ctx context.Context, hash string) (auth.Link, error) {
	if b.err != nil {
		return auth.Link{}, b.err
	}
	return b.Store.Link(ctx, hash)
}

func (b *brokenAccounts) TokenByHash(ctx context.Context, hash string) (auth.Token, error) {
	if b.err != nil {
		return auth.Token{}, b.err
	}
	return b.Store.TokenByHash(ctx, hash)
}

// Everything logged at the finest level, through sign-ins and API calls that work, fail and break.
func TestNoSecretsInTheLog(t *testing.T) {
	book := &logBook{}
	log := slog.New(slog.NewTextHandler(book, &slog.HandlerOptions{Level: slog.LevelDebug}))
	was := slog.Default()
	slog.SetDefault(log)
	t.Cleanup(func() { slog.SetDefault(was) })
	people := &brokenAccounts{}
	a := accounts(t, func(c *auth.Config) { people.Store, c.Store, c.Log = c.Store, people, log })
	_, token, err := a.CreateToken(t.Context(), boss, auth.Origin{}, auth.NewToken{Name: "shop", Scopes: auth.Scopes, Lasts: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	_, link, err := a.Invite(t.Context(), boss, auth.Origin{}, auth.NewUser{Login: "new", Name: "New", Roles: []work.Role{work.Viewer}})
	if err != nil {
		t.Fatal(err)
	}
	w := rtWorld(t, log)
	broken := &brokenStore{Store: w}
	intake := automation.Intake{Store: w}
	s := newSite(t, Config{Store: broken, Auth: a, Log: log, Intake: intake, Importer: automation.Importer{Intake: intake, TempDir: t.TempDir()}})

	b := s.browser()
	form := b.get("/login").form("/login")
	secrets := []string{testPassword, "my-wrong-password", token, "of_a-wrong-token", testToken, link, form.Get(csrfField)}
	form.Set("login", "ada")
	form.Set("password", "my-wrong-password")
	b.post("/login", form)
	form.Set(csrfField, "not-the-token-of-a-form")
	b.post("/login", form)
	b = s.signIn("admin")
	page := b.get("/")
	secrets = append(secrets, "not-the-token-of-a-form", page.form("/logout").Get(csrfField))
	here, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	for _, cookie := range b.http.Jar.Cookies(here) {
		secrets = append(secrets, cookie.Value)
	}
	calls := func() {
		b.get("/systems")
		b.post("/systems/books/pause", page.form("/logout"))
		b.get("/welcome/" + link)
		for _, t := range []string{token, "of_a-wrong-token", testToken} {
			b.with(http.MethodPost, "/api/v1/items", nil, "Authorization", "Bearer "+t, "Content-Type", "application/json")
			b.with(http.MethodGet, "/api/v1/items/K?token="+t, nil, "Authorization", "Bearer "+t)
		}
	}
	calls()
	broken.panic = "it broke"
	calls()
	broken.panic, broken.err, people.err = "", http.ErrBodyNotAllowed, http.ErrBodyNotAllowed
	calls()
	broken.err, people.err = nil, nil
	b.post("/logout", page.form("/logout"))

	said := book.String()
	for _, must := range []string{"a sign-in failed", "a form was refused", "a page broke off", "a request failed"} {
		if !strings.Contains(said, must) {
			t.Errorf("the log does not tell that %s", must)
		}
	}
	for _, secret := range secrets {
		if len(secret) < 8 {
			t.Errorf("%q is no secret", secret)
		}
		if i := strings.Index(said, secret); i >= 0 {
			t.Errorf("the log has a secret: %s", said[max(0, i-100):min(len(said), i+len(secret)+20)])
		}
	}
}

func rtWorld(t *testing.T, log *slog.Logger) *store.Store {
	t.Helper()
	return storetest.SQLite(t).Open(t, store.Config{Log: log})
}

func TestErrorPagesAreInThePersonsFrame(t *testing.T) {
	s := newSite(t, Config{Store: newWorld(t).Store})
	b := s.signIn("vera")
	for path, want := range map[string]int{"/nothing": http.StatusNotFound, "/people": http.StatusForbidden, "/items/4711": http.StatusNotFound} {
		a := b.get(path)
		if a.status != want || !strings.Contains(a.visible(), "Vera Look") || a.form("/logout").Get(csrfField) == "" {
			t.Errorf("%s: %d %s", path, a.status, a.visible())
		}
		if strings.Contains(a.body, `href="/import"`) || strings.Contains(a.body, `href="/people"`) {
			t.Errorf("%s leads to what is not allowed", path)
		}
	}
	if a := b.post("/logout", b.get("/nothing").form("/logout")); a.location != "/login" {
		t.Errorf("signing out there: %d", a.status)
	}
	if a := s.browser().get("/nothing"); a.status != http.StatusNotFound || strings.Contains(a.body, `href="/systems"`) || a.form("/logout") != nil {
		t.Errorf("signed out: %d %s", a.status, a.visible())
	}
}

func TestAPISystems(t *testing.T) {
	w := newWorld(t)
	a := newAPI(t, w)
	system := func() map[string]any {
		got := a.call(http.MethodGet, "/api/v1/systems", "", nil).json(t)
		list, _ := got["systems"].([]any)
		if len(list) != 1 {
			t.Fatalf("%v", got)
		}
		return list[0].(map[string]any)
	}
	if sys := system(); sys["id"] != "books" || sys["name"] != "Books" || sys["works"] != true || sys["paused_at"] != nil {
		t.Errorf("%v", sys)
	}
	if err := w.Pause(t.Context(), rt.SystemID, rt.Recorder, "month end"); err != nil {
		t.Fatal(err)
	}
	if sys := system(); sys["works"] != false || sys["pause_reason"] != "month end" || sys["paused_at"] != w.Clock().UTC().Format(time.RFC3339) {
		t.Errorf("%v", sys)
	}
}
