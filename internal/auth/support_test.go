package auth_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/alexedwards/argon2id"

	"onefold/internal/auth"
	"onefold/internal/store"
	"onefold/internal/store/storetest"
	"onefold/internal/work"
)

// clock is a clock that tests move by hand.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// world is the accounts on one database.
type world struct {
	*auth.Auth
	t     *testing.T
	store *store.Store
	clock *clock
	cfg   auth.Config
}

var (
	oldKey, newKey = auth.RandomKeys()[0], auth.RandomKeys()[0]
	office         = auth.Origin{Address: "192.0.2.7", UserAgent: "Firefox"}
	elsewhere      = auth.Origin{Address: "203.0.113.9", UserAgent: "curl"}
	boss           = work.Actor{Kind: work.Console, ID: "console", Name: "console", Roles: []work.Role{work.Admin}}
)

const password = "seven quiet herons"

// each runs the test on both databases.
func each(t *testing.T, cfg auth.Config, test func(t *testing.T, w *world)) {
	t.Helper()
	storetest.Each(t, func(t *testing.T, db storetest.DB) { test(t, open(t, db, cfg)) })
}

func open(t *testing.T, db storetest.DB, cfg auth.Config) *world {
	t.Helper()
	c := &clock{now: time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)}
	w := &world{t: t, clock: c, store: db.Open(t, store.Config{Clock: c.Now}), cfg: cfg}
	w.restart(oldKey)
	return w
}

// restart makes new accounts on the same database, with these keys.
func (w *world) restart(keys ...auth.Key) {
	w.t.Helper()
	cfg := w.cfg
	cfg.Store, cfg.Now, cfg.Keys = w.store, w.clock.Now, keys
	var err error
	w.Auth, err = auth.New(cfg)
	must(w.t, err)
}

// hashed is made once: hashing is slow on purpose.
var hashed = sync.OnceValues(func() (string, error) {
	return argon2id.CreateHash(password, &argon2id.Params{Memory: 19 * 1024, Iterations: 2, Parallelism: 1, SaltLength: 16, KeyLength: 32})
})

// person adds a person with the password of the tests.
func (w *world) person(login string, roles ...work.Role) auth.User {
	w.t.Helper()
	hash, err := hashed()
	must(w.t, err)
	if len(roles) == 0 {
		roles = []work.Role{work.Operator}
	}
	u, err := w.store.AddUser(w.t.Context(), auth.User{CompanyID: 1, Login: login, Name: strings.ToUpper(login[:1]) + login[1:] + " Person", Roles: roles,
		PasswordHash: hash, CreatedAt: w.clock.Now()}, false, auth.Change{})
	must(w.t, err)
	return u
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// wants fails unless err is the wanted one.
func wants(t testing.TB, want, err error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("got %v, want %v", err, want)
	}
}

// browser keeps cookies.
type browser struct {
	w       *world
	cookies map[string]*http.Cookie
}

func (w *world) browser() *browser { return &browser{w, map[string]*http.Cookie{}} }

// do makes one request with the browser's cookies and keeps those that come back.
func (b *browser) do(f func(w http.ResponseWriter, r *http.Request)) {
	b.at("/", f)
}

func (b *browser) at(target string, f func(w http.ResponseWriter, r *http.Request)) {
	rec := httptest.NewRecorder()
	r := httptest.NewRequestWithContext(b.w.t.Context(), http.MethodPost, target, nil)
	for _, c := range b.cookies {
		r.AddCookie(c)
	}
	f(rec, r)
	for _, c := range rec.Result().Cookies() {
		if c.MaxAge < 0 {
			delete(b.cookies, c.Name)
			continue
		}
		b.cookies[c.Name] = c
	}
}

func (b *browser) signIn(login, password string, from auth.Origin) (v auth.Visit, err error) {
	b.do(func(w http.ResponseWriter, r *http.Request) { v, err = b.w.SignIn(w, r, login, password, from) })
	return v, err
}

// signedIn is a browser on which the person has signed in.
func (w *world) signedIn(login string) *browser {
	w.t.Helper()
	b := w.browser()
	_, err := b.signIn(login, password, office)
	must(w.t, err)
	return b
}

func (b *browser) visit() (v auth.Visit) {
	b.w.t.Helper()
	b.do(func(w http.ResponseWriter, r *http.Request) {
		var err error
		v, err = b.w.Visit(w, r)
		must(b.w.t, err)
	})
	return v
}

// session is the value of the session's cookie.
func (b *browser) session() string {
	if c := b.cookies["onefold"]; c != nil {
		return c.Value
	}
	return ""
}

// copied is another browser that stole the cookies.
func (b *browser) copied() *browser {
	c := b.w.browser()
	for name, cookie := range b.cookies {
		c.cookies[name] = cookie
	}
	return c
}

// trail are the codes of the audit trail, the oldest first.
func (w *world) trail() (codes []string) {
	w.t.Helper()
	for r, err := range w.store.AuditAll(w.t.Context(), auth.AuditFilter{}) {
		must(w.t, err)
		codes = append(codes, r.What)
	}
	slices.Reverse(codes)
	return codes
}

// last is the newest record of the code.
func (w *world) last(what string) auth.Record {
	w.t.Helper()
	page, err := w.store.AuditPage(w.t.Context(), auth.AuditFilter{What: []string{what}, Limit: 1})
	must(w.t, err)
	if len(page.Records) != 1 {
		w.t.Fatalf("%s is not in the trail: %v", what, w.trail())
	}
	return page.Records[0]
}

// noSecret fails if the trail holds the secret.
func (w *world) noSecret(secrets ...string) {
	w.t.Helper()
	for r, err := range w.store.AuditAll(context.Background(), auth.AuditFilter{}) {
		must(w.t, err)
		for _, s := range secrets {
			if strings.Contains(fmt.Sprintf("%+v", r), s) {
				w.t.Errorf("the trail tells a secret: %+v", r)
			}
		}
	}
}
