package web

import (
	"context"
	"fmt"
	"html"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/alexedwards/argon2id"

	"onefold/internal/auth"
	"onefold/internal/automation"
	"onefold/internal/store"
	"onefold/internal/store/storetest"
	"onefold/internal/work"
)

const (
	testPassword = "correct horse battery"
	testToken    = "token-for-tests-0123456789"
)

// passwordHash is of testPassword, made once: hashing is slow on purpose.
var passwordHash = sync.OnceValues(func() (string, error) { return argon2id.CreateHash(testPassword, argon2id.DefaultParams) })

// accounts are the people of the tests, in a database of their own.
func accounts(t testing.TB, set ...func(*auth.Config)) *auth.Auth {
	t.Helper()
	now := time.Now
	c := auth.Config{Store: storetest.SQLite(t).Open(t, store.Config{Clock: func() time.Time { return now() }}), Token: testToken}
	for _, f := range set {
		f(&c)
	}
	if c.Now != nil {
		now = c.Now // one clock: links expire by the database's
	}
	a, err := auth.New(c)
	if err != nil {
		t.Fatal(err)
	}
	hash, err := passwordHash()
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range []auth.User{{Login: "admin", Name: "Admin", Roles: []work.Role{work.Admin}}, {Login: "ada", Name: "Ada Brown", Roles: []work.Role{work.Operator}},
		{Login: "ben", Name: "Ben Stone", Roles: []work.Role{work.Operator}}, {Login: "vera", Name: "Vera Look", Roles: []work.Role{work.Viewer}},
		{Login: "otto", Name: "Otto Ops", Roles: []work.Role{work.Ops}}} {
		u.CompanyID, u.PasswordHash, u.CreatedAt = 1, hash, time.Now()
		if _, err := c.Store.AddUser(t.Context(), u, false, auth.Change{}); err != nil {
			t.Fatal(err)
		}
	}
	return a
}

// site is the pages on a test server.
type site struct {
	*httptest.Server
	t testing.TB
}

func newSite(t testing.TB, c Config) *site {
	t.Helper()
	if c.Auth == nil {
		c.Auth = accounts(t)
	}
	if c.Intake == nil {
		c.Intake = noIntake{}
	}
	if c.Importer == nil {
		c.Importer = noImporter{}
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	h, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	t.Cleanup(srv.CloseClientConnections) // first: an open page's stream never ends by itself
	return &site{srv, t}
}

type noIntake struct{}

func (noIntake) Record(context.Context, []work.New) ([]automation.Recorded, error) { return nil, nil }

type noImporter struct{}

func (noImporter) Import(context.Context, io.Reader, automation.ImportOptions) (automation.ImportReport, error) {
	return automation.ImportReport{}, nil
}

// browser is one person's browser: it keeps cookies and does not follow redirects by itself.
type browser struct {
	site *site
	http *http.Client
}

func (s *site) browser() *browser {
	jar, err := cookiejar.New(nil)
	if err != nil {
		s.t.Fatal(err)
	}
	return &browser{s, &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
}

// answer is what came back.
type answer struct {
	status   int
	location string
	body     string
	header   http.Header
}

func (b *browser) do(r *http.Request) answer {
	b.site.t.Helper()
	resp, err := b.http.Do(r)
	if err != nil {
		b.site.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		b.site.t.Fatal(err)
	}
	return answer{resp.StatusCode, resp.Header.Get("Location"), string(body), resp.Header}
}

func (b *browser) get(path string) answer {
	b.site.t.Helper()
	r, err := http.NewRequest(http.MethodGet, b.site.URL+path, nil)
	if err != nil {
		b.site.t.Fatal(err)
	}
	return b.do(r)
}

func (b *browser) post(path string, form url.Values) answer {
	b.site.t.Helper()
	r, err := http.NewRequest(http.MethodPost, b.site.URL+path, strings.NewReader(form.Encode()))
	if err != nil {
		b.site.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return b.do(r)
}

// signIn signs a person in.
func (s *site) signIn(login string) *browser {
	s.t.Helper()
	b := s.browser()
	form := b.get("/login").form("/login")
	form.Set("login", login)
	form.Set("password", testPassword)
	if a := b.post("/login", form); a.status != http.StatusSeeOther {
		s.t.Fatalf("signing in as %s: %d %s", login, a.status, a.body)
	}
	return b
}

var (
	formPattern  = regexp.MustCompile(`(?s)<form[^>]*action="([^"]*)".*?</form>`)
	inputPattern = regexp.MustCompile(`<input[^>]*name="([^"]*)"[^>]*?value="([^"]*)"`)
	tags         = regexp.MustCompile(`(?s)<(script|style|pre)\b.*?</(script|style|pre)>|<[^>]*>`)
	spaces       = regexp.MustCompile(`\s+`)
)

// form returns the fields of the form that posts to the path; nil if the page has no such form.
func (a answer) form(path string) url.Values {
	for _, m := range formPattern.FindAllStringSubmatch(a.body, -1) {
		if html.UnescapeString(m[1]) != path {
			continue
		}
		v := url.Values{}
		for _, in := range inputPattern.FindAllStringSubmatch(m[0], -1) {
			v.Set(html.UnescapeString(in[1]), html.UnescapeString(in[2]))
		}
		return v
	}
	return nil
}

// visible is the text that people read.
func (a answer) visible() string {
	return strings.TrimSpace(spaces.ReplaceAllString(html.UnescapeString(tags.ReplaceAllString(a.body, "")), " "))
}

func itemPath(id int64, rest ...string) string {
	return strings.Join(append([]string{fmt.Sprintf("/items/%d", id)}, rest...), "/")
}
