package auth

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"onefold/internal/work"
)

func newAuth(t *testing.T, now func() time.Time) *Auth {
	t.Helper()
	a, err := New(Config{Accounts: []Account{{Login: "Admin", Password: "correct horse", Roles: []work.Role{work.Admin}}},
		Token: "a-long-token-0123", Now: now})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestSignIn(t *testing.T) {
	a := newAuth(t, nil)
	by, err := a.SignIn(" ADMIN ", "correct horse", "1.2.3.4")
	if err != nil || by.ID != "admin" || by.Kind != work.Person {
		t.Fatalf("%+v, %v", by, err)
	}
	for _, pair := range [][2]string{{"admin", "correct hors"}, {"admin", ""}, {"nobody", "correct horse"}, {"admin", strings.Repeat("x", 5000)}} {
		if _, err := a.SignIn(pair[0], pair[1], "5.6.7.8"); !errors.Is(err, ErrWrong) {
			t.Errorf("%q: %v", pair[0], err)
		}
	}
	for _, acc := range a.accounts {
		if !strings.HasPrefix(acc.hash, "$argon2id$v=19$m=19456,t=2,p=1$") || strings.Contains(acc.hash, "horse") {
			t.Errorf("stored as %q", acc.hash)
		}
	}
}

func TestThrottle(t *testing.T) {
	now := time.Date(2026, 11, 29, 10, 0, 0, 0, time.UTC)
	a := newAuth(t, func() time.Time { return now })
	for range freeTries {
		if _, err := a.SignIn("admin", "wrong", "1.2.3.4"); !errors.Is(err, ErrWrong) {
			t.Fatal(err)
		}
	}
	var slow *Throttled
	if _, err := a.SignIn("admin", "correct horse", "1.2.3.4"); !errors.As(err, &slow) || slow.Wait != firstWait {
		t.Fatalf("not slowed down: %v", err)
	}
	if _, err := a.SignIn("admin", "correct horse", "9.9.9.9"); err != nil {
		t.Fatalf("locked out from elsewhere: %v", err)
	}
	now = now.Add(firstWait)
	if _, err := a.SignIn("admin", "wrong", "1.2.3.4"); !errors.Is(err, ErrWrong) {
		t.Fatal(err)
	}
	if _, err := a.SignIn("admin", "wrong", "1.2.3.4"); !errors.As(err, &slow) || slow.Wait != 2*firstWait {
		t.Fatalf("the wait does not grow: %v", err)
	}
	now = now.Add(2 * firstWait)
	if _, err := a.SignIn("admin", "correct horse", "1.2.3.4"); err != nil {
		t.Fatalf("still locked: %v", err)
	}
}

func TestSession(t *testing.T) {
	now := time.Now()
	a := newAuth(t, func() time.Time { return now })
	by, err := a.SignIn("admin", "correct horse", "x")
	if err != nil {
		t.Fatal(err)
	}
	rec := httptest.NewRecorder()
	if err := a.Begin(rec, httptest.NewRequest("POST", "/login", nil), by); err != nil {
		t.Fatal(err)
	}
	cookie := rec.Result().Cookies()[0]
	if !cookie.HttpOnly || cookie.SameSite != http.SameSiteLaxMode {
		t.Errorf("cookie is too open: %v", cookie)
	}
	with := func(c *http.Cookie) *http.Request {
		r := httptest.NewRequest("GET", "/", nil)
		r.AddCookie(c)
		return r
	}
	if got, ok := a.Person(with(cookie)); !ok || !got.Same(by) {
		t.Fatalf("%v %v", got, ok)
	}
	forged := *cookie
	forged.Value = cookie.Value[:len(cookie.Value)-4] + "AAAA"
	if _, ok := a.Person(with(&forged)); ok {
		t.Error("a forged cookie signs in")
	}
	if _, ok := newAuth(t, nil).Person(with(cookie)); ok {
		t.Error("a cookie of another installation signs in")
	}
	now = now.Add(13 * time.Hour)
	if _, ok := a.Person(with(cookie)); ok {
		t.Error("the session never ends")
	}
}

func TestBearer(t *testing.T) {
	a := newAuth(t, nil)
	for header, want := range map[string]bool{"Bearer a-long-token-0123": true, "bearer  a-long-token-0123": true,
		"Bearer a-long-token-012": false, "Bearer ": false, "": false, "Basic a-long-token-0123": false} {
		r := httptest.NewRequest("GET", "/", nil)
		r.Header.Set("Authorization", header)
		by, ok := a.Bearer(r)
		if ok != want || ok && by.Kind != work.Token {
			t.Errorf("%q: %v %v", header, by, ok)
		}
	}
	a.token = nil
	r := httptest.NewRequest("GET", "/", nil)
	r.Header.Set("Authorization", "Bearer ")
	if _, ok := a.Bearer(r); ok {
		t.Error("without a token anybody is let in")
	}
}

func TestNewRefusesWeakSettings(t *testing.T) {
	ok := Account{Login: "a", Password: "0123456789"}
	for name, c := range map[string]Config{
		"no account":     {},
		"short password": {Accounts: []Account{{Login: "a", Password: "short"}}},
		"twice":          {Accounts: []Account{ok, ok}},
		"short token":    {Accounts: []Account{ok}, Token: "x"},
		"short key":      {Accounts: []Account{ok}, SessionKey: []byte("x")},
	} {
		if _, err := New(c); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
	if a, b := Generate(), Generate(); a == b || len(a) != 28 {
		t.Errorf("%q %q", a, b)
	}
}
