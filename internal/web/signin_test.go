package web

import (
	"bytes"
	"image/png"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"

	"onefold/internal/auth"
	"onefold/internal/store"
	"onefold/internal/store/storetest"
	"onefold/internal/work"
)

const otherPassword = "nine loud ganders"

// submit fills in the page's form and sends it.
func (b *browser) submit(page answer, path string, fields ...string) answer {
	b.site.t.Helper()
	form := page.form(path)
	if form == nil {
		b.site.t.Fatalf("no form for %s on: %s", path, page.visible())
	}
	for i := 0; i < len(fields); i += 2 {
		form.Set(fields[i], fields[i+1])
	}
	return b.post(path, form)
}

// at opens the page to which the answer leads.
func (b *browser) follow(a answer) answer {
	b.site.t.Helper()
	for range 5 {
		if a.location == "" {
			return a
		}
		a = b.get(a.location)
	}
	b.site.t.Fatalf("a loop at %s", a.location)
	return a
}

func codeOf(t *testing.T, secret string, at time.Time) string {
	t.Helper()
	code, err := totp.GenerateCode(strings.ReplaceAll(secret, " ", ""), at)
	if err != nil {
		t.Fatal(err)
	}
	return code
}

var secretPattern = regexp.MustCompile(`<code class="secret">([^<]+)</code>`)

func secretOn(t *testing.T, a answer) string {
	t.Helper()
	m := secretPattern.FindStringSubmatch(a.body)
	if m == nil {
		t.Fatalf("no secret: %s", a.visible())
	}
	return m[1]
}

var codesPattern = regexp.MustCompile(`<li><code>([a-z2-7-]+)</code></li>`)

func TestSecondStep(t *testing.T) {
	w, s := overnight(t)
	b := s.signIn("ada")
	if a := b.get("/profile/second-step/qr.png"); a.status != http.StatusNotFound {
		t.Errorf("a picture of nothing: %d", a.status)
	}
	page := b.get("/profile/second-step")
	secret := secretOn(t, page)
	picture := b.get("/profile/second-step/qr.png")
	if img, err := png.Decode(bytes.NewReader([]byte(picture.body))); err != nil || img.Bounds().Dx() != 240 || picture.header.Get("Cache-Control") != "no-store" {
		t.Errorf("the picture: %v %v", err, picture.header)
	}
	wrong := b.submit(page, "/profile/second-step", "code", "000000")
	if wrong.status != http.StatusUnprocessableEntity || secretOn(t, wrong) != secret || !strings.Contains(wrong.visible(), "not the code of this key") {
		t.Fatalf("%d %s", wrong.status, wrong.visible())
	}
	done := b.submit(wrong, "/profile/second-step", "code", codeOf(t, secret, w.Clock()))
	codes := codesPattern.FindAllStringSubmatch(done.body, -1)
	if done.status != http.StatusOK || len(codes) != 10 {
		t.Fatalf("%d %s", done.status, done.visible())
	}
	if a := b.submit(wrong, "/profile/second-step", "code", codeOf(t, secret, w.Clock())); a.status != http.StatusSeeOther {
		t.Errorf("the form sent twice: %d", a.status)
	}
	if a := b.get("/profile"); !strings.Contains(a.visible(), "10 recovery codes are left") || strings.Contains(a.body, codes[0][1]) {
		t.Error(a.visible())
	}

	// Signing in now asks for a code, wherever one goes.
	w.Later(time.Minute)
	b = s.browser()
	a := b.again("ada", "/systems")
	if a.location != "/login/code?next=%2Fsystems" {
		t.Fatalf("%d %s", a.status, a.location)
	}
	for _, path := range []string{"/", "/login", "/profile", "/login/enrol"} {
		if a := b.follow(b.get(path)); a.status != http.StatusOK || a.form("/login/code") == nil {
			t.Errorf("%s: %d %s", path, a.status, a.visible())
		}
	}
	page = b.get("/login/code?next=%2Fsystems")
	if a := b.submit(page, "/login/code", "code", "000000"); a.status != http.StatusUnauthorized || !strings.Contains(a.visible(), "The code is wrong") {
		t.Fatalf("%d %s", a.status, a.visible())
	}
	if a := b.submit(page, "/login/code", "code", codeOf(t, secret, w.Clock())); a.location != "/systems" {
		t.Fatalf("%d %s", a.status, a.location)
	}
	if a := b.get("/"); a.status != http.StatusOK {
		t.Errorf("%d", a.status)
	}

	// A recovery code does as well, once.
	for i, want := range []int{http.StatusSeeOther, http.StatusUnauthorized} {
		b := s.browser()
		b.again("ada", "/")
		if a := b.submit(b.get("/login/code"), "/login/code", "code", codes[0][1]); a.status != want {
			t.Errorf("time %d: %d %s", i, a.status, a.visible())
		}
	}

	// The page to start as somebody else, and the end after too many wrong codes.
	b = s.browser()
	b.again("ada", "/")
	if a := b.submit(b.get("/login/code"), "/logout"); a.location != "/login" || b.get("/login").form("/login") == nil {
		t.Errorf("%d %s", a.status, a.location)
	}
	b.again("ada", "/")
	page = b.get("/login/code")
	var last answer
	for range auth.MaxWrongCodes {
		w.Later(time.Hour / 60 * 9) // past the wait, before the half session ends
		if last = b.submit(page, "/login/code", "code", "000000"); last.status != http.StatusUnauthorized {
			break
		}
	}
	if !strings.HasPrefix(last.location, "/login") || !strings.Contains(b.follow(last).visible(), "sign in") && !strings.Contains(b.follow(last).visible(), "Sign in") {
		t.Errorf("%d %s", last.status, last.location)
	}
	if a := b.get("/"); !strings.HasPrefix(a.location, "/login?") {
		t.Errorf("%d %s", a.status, a.location)
	}
}

func TestRequiredSecondStep(t *testing.T) {
	w, s := overnight(t)
	admin := s.signIn("admin")
	if a := admin.submit(admin.get("/people"), "/people/second-step"); a.location != "/people?did=required" {
		t.Fatalf("%d %s", a.status, a.location)
	}
	w.Later(5 * time.Second) // settings are kept for some seconds
	b := s.browser()
	if a := b.again("ada", "/systems"); a.location != "/login/enrol?next=%2Fsystems" {
		t.Fatalf("%d %s", a.status, a.location)
	}
	for _, path := range []string{"/", "/login", "/profile", "/login/code", "/login/password"} {
		if a := b.follow(b.get(path)); a.status != http.StatusOK || a.form("/login/enrol") == nil {
			t.Errorf("%s: %d %s", path, a.status, a.visible())
		}
	}
	page := b.get("/login/enrol?next=%2Fsystems")
	if a := b.get("/login/enrol/qr.png"); a.header.Get("Content-Type") != "image/png" {
		t.Errorf("%d", a.status)
	}
	done := b.submit(page, "/login/enrol", "code", codeOf(t, secretOn(t, page), w.Clock()))
	if !strings.Contains(done.body, `href="/systems"`) || len(codesPattern.FindAllString(done.body, -1)) != 10 {
		t.Fatalf("%d %s", done.status, done.body)
	}
	if a := b.get("/systems"); a.status != http.StatusOK {
		t.Errorf("%d %s", a.status, a.location)
	}
	// The admin who asked for it has none either, and is asked with the next click.
	if a := admin.get("/people"); a.location != "/login/enrol?next=%2Fpeople" {
		t.Errorf("%d %s", a.status, a.location)
	}
}

func TestGivenPasswordMustBeChanged(t *testing.T) {
	var accountsOf *auth.Auth
	w := newWorld(t)
	accountsOf = accounts(t, func(c *auth.Config) { c.Now = w.Clock })
	s := newSite(t, Config{Store: w.Store, Auth: accountsOf})
	if _, err := accountsOf.AddUser(t.Context(), boss, auth.Origin{}, auth.NewUser{Login: "zoe", Name: "Zoë", Roles: []work.Role{work.Viewer}}, testPassword, true); err != nil {
		t.Fatal(err)
	}
	b := s.browser()
	if a := b.again("zoe", "/systems"); a.location != "/login/password?next=%2Fsystems" {
		t.Fatalf("%d %s", a.status, a.location)
	}
	for _, path := range []string{"/", "/login", "/profile", "/profile/password"} {
		if a := b.follow(b.get(path)); a.status != http.StatusOK || a.form("/login/password") == nil {
			t.Errorf("%s: %d %s", path, a.status, a.visible())
		}
	}
	page := b.get("/login/password?next=%2Fsystems")
	for _, c := range []struct{ present, password, repeat, says string }{
		{testPassword, otherPassword, "another", "not the same"}, {"wrong password", otherPassword, otherPassword, "present password is wrong"},
		{testPassword, "short", "short", "at least 12"}, {testPassword, testPassword, testPassword, "must differ"}, {testPassword, "passwordpassword", "passwordpassword", "tried first"},
	} {
		a := b.submit(page, "/login/password", "present", c.present, "password", c.password, "repeat", c.repeat)
		if a.status != http.StatusUnprocessableEntity || !strings.Contains(a.visible(), c.says) || strings.Contains(a.body, c.password) {
			t.Errorf("%s: %d %s", c.says, a.status, a.visible())
		}
	}
	if a := b.submit(page, "/login/password", "present", testPassword, "password", otherPassword, "repeat", otherPassword); a.location != "/systems" {
		t.Fatalf("%d %s", a.status, a.visible())
	}
	if a := b.get("/systems"); a.status != http.StatusOK {
		t.Errorf("%d %s", a.status, a.location)
	}
}

// nobody is accounts without a single user.
func nobody(t *testing.T) *auth.Auth {
	t.Helper()
	a, err := auth.New(auth.Config{Store: storetest.SQLite(t).Open(t, store.Config{})})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestSetUpOnce(t *testing.T) {
	people := nobody(t)
	s := newSite(t, Config{Store: newWorld(t).Store, Auth: people})
	b := s.browser()
	page := b.follow(b.get("/"))
	if page.form("/setup") == nil {
		t.Fatalf("the way to the set-up: %s", page.visible())
	}
	code := people.SetUpCode()
	for _, c := range []struct{ code, login, password, repeat, says string }{
		{"", "ada", otherPassword, otherPassword, "not the code"}, {code + "x", "ada", otherPassword, otherPassword, "not the code"},
		{code, "ada", "tiny", "tiny", "at least 12"}, {code, "ada", otherPassword, otherPassword + "x", "not the same"}, {code, "a,b", otherPassword, otherPassword, "without a comma"},
	} {
		a := b.submit(page, "/setup", "code", c.code, "login", c.login, "name", "Ada Brown", "password", c.password, "repeat", c.repeat)
		if a.status < 400 || !strings.Contains(a.visible(), c.says) || strings.Contains(a.body, code) || strings.Contains(a.body, c.password) || !strings.Contains(a.body, `value="Ada Brown"`) {
			t.Errorf("%s: %d %s", c.says, a.status, a.visible())
		}
	}
	if there, err := people.AnyUser(t.Context()); err != nil || there {
		t.Fatalf("somebody was added: %v", err)
	}
	fields := []string{"code", strings.ToUpper(code), "login", "ada", "name", "Ada Brown", "password", otherPassword, "repeat", otherPassword}
	if a := b.submit(page, "/setup", fields...); a.location != "/login?did=setup" {
		t.Fatalf("%d %s", a.status, a.visible())
	}
	if a := b.get("/setup"); a.location != "/login" {
		t.Errorf("it is still open: %d", a.status)
	}
	fields[3] = "eve"
	if a := b.submit(page, "/setup", fields...); a.location != "/login" {
		t.Errorf("it works twice: %d", a.status)
	}
	users, err := people.Users(t.Context(), boss)
	if err != nil || len(users) != 1 || !users[0].CanAdminister() {
		t.Errorf("%+v %v", users, err)
	}
	form := b.get("/login?did=setup")
	if a := b.submit(form, "/login", "login", "ada", "password", otherPassword); a.location != "/" {
		t.Errorf("%d %s", a.status, a.visible())
	}
}

// The wait is told, by the page and to programs.
func TestTheWaitIsTold(t *testing.T) {
	s := newSite(t, Config{Store: newWorld(t).Store})
	b := s.browser()
	page := b.get("/login")
	var a answer
	for range 6 {
		a = b.submit(page, "/login", "login", "ada", "password", "wrong password")
	}
	if a.status != http.StatusTooManyRequests || a.header.Get("Retry-After") != "5" || !strings.Contains(a.visible(), "Too many wrong tries. Try again in 5 s.") {
		t.Errorf("%d %s %s", a.status, a.header.Get("Retry-After"), a.visible())
	}
}

func TestOneTimeLinks(t *testing.T) {
	w, s := overnight(t)
	admin := s.signIn("admin")
	a := admin.submit(admin.get("/people"), "/people", "login", "zoe@example.com", "name", "Zoë Brown", "role", "operator")
	link, found := strings.CutPrefix(secretOn(t, a), s.URL)
	if a.status != http.StatusOK || !found || !strings.HasPrefix(link, "/welcome/") || !strings.Contains(a.visible(), "Zoë Brown") {
		t.Fatalf("%d %s", a.status, a.visible())
	}
	if again := admin.get("/people"); strings.Contains(again.body, link) || !strings.Contains(again.visible(), "Invited") {
		t.Error("the link is shown twice, or nobody is invited")
	}
	b := s.browser()
	page := b.get(link)
	if page.status != http.StatusOK || !strings.Contains(page.visible(), "Zoë Brown, choose the password") {
		t.Fatalf("%d %s", page.status, page.visible())
	}
	for password, says := range map[string]string{"short": "at least 12", "zoe brown zoe": "must not contain the name"} {
		if a := b.submit(page, link, "password", password, "repeat", password); a.status != http.StatusUnprocessableEntity || !strings.Contains(a.visible(), says) {
			t.Errorf("%s: %d %s", password, a.status, a.visible())
		}
	}
	if a := b.submit(page, link, "password", otherPassword, "repeat", otherPassword); a.location != "/login?did=welcome" {
		t.Fatalf("%d %s", a.status, a.visible())
	}
	if a := b.submit(b.get("/login?did=welcome"), "/login", "login", "zoe@example.com", "password", otherPassword); a.location != "/" {
		t.Fatalf("%d %s", a.status, a.visible())
	}
	stranger := s.browser()
	for _, gone := range []string{link, "/welcome/nonsense"} {
		if a := stranger.get(gone); a.status != http.StatusGone || !strings.Contains(a.visible(), "does not work any more") {
			t.Errorf("%s: %d", gone, a.status)
		}
	}

	// A link for a new password signs the person out, and lasts a day.
	zoe := admin.get("/people")
	path := regexp.MustCompile(`href="(/people/\d+)"><bdi>Zoë`).FindStringSubmatch(zoe.body)[1]
	a = admin.submit(admin.get(path), path+"/link")
	link, _ = strings.CutPrefix(secretOn(t, a), s.URL)
	if a := b.get("/"); a.status != http.StatusOK {
		t.Errorf("signed out already: %d", a.status)
	}
	if a := stranger.submit(stranger.get(link), link, "password", testPassword+"s", "repeat", testPassword+"s"); a.location != "/login?did=welcome" {
		t.Fatalf("%d %s", a.status, a.visible())
	}
	if a := b.get("/"); a.status != http.StatusSeeOther {
		t.Errorf("still signed in: %d", a.status)
	}
	admin = s.signIn("admin")
	a = admin.submit(admin.get(path), path+"/link")
	link, _ = strings.CutPrefix(secretOn(t, a), s.URL)
	w.Later(25 * time.Hour)
	if a := stranger.get(link); a.status != http.StatusGone {
		t.Errorf("it lasts for ever: %d", a.status)
	}
}

// Signing in again is asked for where an act needs a recent proof, and leads back.
func TestAnOldSignInIsConfirmed(t *testing.T) {
	w, s := overnight(t)
	b := s.signIn("ada")
	w.Later(20 * time.Minute)
	a := b.get("/profile/second-step")
	if a.location != "/login?again=yes&next="+url.QueryEscape("/profile") {
		t.Fatalf("%d %s", a.status, a.location)
	}
	page := b.get(a.location)
	if !strings.Contains(page.visible(), "prove once more who you are") || !strings.Contains(page.body, `value="ada"`) {
		t.Fatal(page.visible())
	}
	if a := b.submit(page, "/login", "password", testPassword); a.location != "/profile" {
		t.Fatalf("%d %s", a.status, a.visible())
	}
	if a := b.get("/profile/second-step"); a.status != http.StatusOK {
		t.Errorf("%d", a.status)
	}
	if a := b.get("/login"); a.location != "/" {
		t.Errorf("signed in, and asked again: %d %s", a.status, a.location)
	}
}
