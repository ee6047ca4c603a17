package web

import (
	"encoding/csv"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"onefold/internal/auth"
	"onefold/internal/auth/authtest"
	rt "onefold/internal/review/reviewtest"
	"onefold/internal/store/storetest"
	"onefold/internal/work"
)

// Nobody is shown the way to what they may not open.
func TestPagesHideWhatIsNotAllowed(t *testing.T) {
	s := newSite(t, Config{Store: newWorld(t).Store})
	for who, want := range map[string][]string{"vera": {"/", "/periods", "/plans", "/systems", "/automations", "/overview", "/attempts"},
		"otto": {"/", "/periods", "/plans", "/systems", "/automations", "/overview", "/attempts", "/servers"},
		"ada":  {"/", "/periods", "/plans", "/import", "/systems", "/automations", "/overview", "/attempts"},
		"admin": {"/", "/periods", "/plans", "/import", "/systems", "/automations", "/overview", "/attempts", "/servers", "/limits", "/events", "/notices", "/people", "/tokens",
			"/settings/retention", "/audit"}} {
		b := s.signIn(who)
		nav := regexp.MustCompile(`(?s)<nav aria-label="Main">.*?</nav>`).FindString(b.get("/profile").body)
		var got []string
		for _, m := range regexp.MustCompile(`href="([^"]+)"`).FindAllStringSubmatch(nav, -1) {
			got = append(got, m[1])
			a := b.get(m[1])
			if a.status == http.StatusSeeOther { // "/periods" leads to a month
				a = b.get(a.location)
			}
			if a.status != http.StatusOK {
				t.Errorf("%s, %s: %d", who, m[1], a.status)
			}
		}
		if strings.Join(got, " ") != strings.Join(want, " ") {
			t.Errorf("%s is shown %v", who, got)
		}
	}
}

func TestProfile(t *testing.T) {
	w, s := overnight(t)
	b := s.signIn("ada")
	page := b.get("/profile")
	for _, want := range []string{"Ada Brown", "Operator", "Where this account is signed in", "This one"} {
		if !strings.Contains(page.visible(), want) {
			t.Errorf("%q is missing: %s", want, page.visible())
		}
	}
	if a := b.submit(page, "/profile/name", "name", "Ada Stone"); a.location != "/profile?did=name" || !strings.Contains(b.get("/").visible(), "Ada Stone") {
		t.Errorf("%d %s", a.status, a.visible())
	}
	if a := b.submit(page, "/profile/name", "name", strings.Repeat("x", 201)); a.status != http.StatusUnprocessableEntity {
		t.Errorf("%d", a.status)
	}

	// One session by its button, the others at once, all of them.
	second, third := s.signIn("ada"), s.signIn("ada")
	ends := regexp.MustCompile(`action="(/profile/sessions/\d+/end)"`).FindAllStringSubmatch(b.get("/profile").body, -1)
	if len(ends) != 2 {
		t.Fatalf("%d sessions can be ended", len(ends))
	}
	if a := b.submit(b.get("/profile"), ends[0][1]); a.location != "/profile?did=session" {
		t.Fatalf("%d %s", a.status, a.visible())
	}
	out := 0
	for _, other := range []*browser{second, third} {
		if other.get("/").status == http.StatusSeeOther {
			out++
		}
	}
	if out != 1 {
		t.Errorf("%d of two sessions ended", out)
	}
	foreign := s.signIn("ben")
	if a := foreign.post(ends[1][1], url.Values{csrfField: foreign.get("/profile").form("/profile/name")[csrfField]}); a.status != http.StatusNotFound {
		t.Errorf("ben ends ada's session: %d", a.status)
	}
	if a := b.submit(b.get("/profile"), "/profile/sessions/others"); a.location != "/profile?did=others" {
		t.Fatalf("%d", a.status)
	}
	if second.get("/").status != http.StatusSeeOther || third.get("/").status != http.StatusSeeOther || b.get("/").status != http.StatusOK || foreign.get("/").status != http.StatusOK {
		t.Error("not the others, or not only they, were signed out")
	}
	second = s.signIn("ada")
	if a := b.submit(b.get("/profile"), "/profile/sessions/everywhere"); a.location != "/login" || b.get("/").status != http.StatusSeeOther || second.get("/").status != http.StatusSeeOther {
		t.Errorf("%d %s", a.status, a.location)
	}

	// Another password ends the other sessions too.
	b, second = s.signIn("ben"), s.signIn("ben")
	if a := b.submit(b.get("/profile/password"), "/profile/password", "present", testPassword, "password", otherPassword, "repeat", otherPassword); a.location != "/profile?did=password" {
		t.Fatalf("%d %s", a.status, a.visible())
	}
	if b.get("/").status != http.StatusOK || second.get("/").status != http.StatusSeeOther || foreign.get("/").status != http.StatusSeeOther {
		t.Error("the other sessions stay")
	}

	// The second step: new codes, and off again.
	page = b.get("/profile/second-step")
	b.submit(page, "/profile/second-step", "code", codeOf(t, secretOn(t, page), w.Clock()))
	if a := b.submit(b.get("/profile"), "/profile/codes"); len(codesPattern.FindAllString(a.body, -1)) != 10 {
		t.Errorf("%d %s", a.status, a.visible())
	}
	if a := b.submit(b.get("/profile"), "/profile/second-step/remove"); a.location != "/profile?did=step_removed" || b.get("/profile").form("/profile/codes") != nil {
		t.Errorf("%d %s", a.status, a.visible())
	}
}

func TestPeoplePage(t *testing.T) {
	w, s := overnight(t)
	admin, ada := s.signIn("admin"), s.signIn("ada")
	page := admin.get("/people")
	for _, want := range []string{"Ada Brown", "Operator", "Vera Look", "Active", "Never"} {
		if !strings.Contains(page.visible(), want) {
			t.Errorf("%q is missing: %s", want, page.visible())
		}
	}
	for _, c := range [][]string{{"login", "ADA", "role", "viewer", "in another spelling"}, {"login", "a,b", "role", "viewer", "without a comma"}} {
		a := admin.submit(page, "/people", append(c[:4:4], "name", "Kept Name")...)
		if a.status != http.StatusUnprocessableEntity || !strings.Contains(a.visible(), c[4]) || !strings.Contains(a.body, `value="Kept Name"`) {
			t.Errorf("%v: %d %s", c, a.status, a.visible())
		}
	}
	form := page.form("/people")
	form.Del("role")
	form.Set("login", "zoe")
	if a := admin.post("/people", form); a.status != http.StatusUnprocessableEntity || !strings.Contains(a.visible(), "at least one role") {
		t.Errorf("%d %s", a.status, a.visible())
	}
	path := func(name string) string {
		m := regexp.MustCompile(`href="(/people/\d+)"><bdi>` + name).FindStringSubmatch(page.body)
		if m == nil {
			t.Fatalf("%s is not on the page", name)
		}
		return m[1]
	}
	one := path("Ada Brown")

	// New roles hold with the next click.
	form = admin.get(one).form(one + "/roles")
	form["role"] = []string{"viewer", "ops"}
	if a := admin.post(one+"/roles", form); a.location != one+"?did=roles" {
		t.Fatalf("%d %s", a.status, a.visible())
	}
	if a := ada.get("/import"); a.status != http.StatusForbidden {
		t.Errorf("ada may still import: %d", a.status)
	}
	if a := admin.submit(admin.get(one), one+"/name", "name", "Ada Stone"); a.location != one+"?did=name" || !strings.Contains(admin.get(one).visible(), "Ada Stone") {
		t.Errorf("%d", a.status)
	}

	// Her sessions are listed and ended; kept out she cannot come back, let in again she can.
	end := regexp.MustCompile(`action="(` + one + `/sessions/\d+/end)"`).FindStringSubmatch(admin.get(one).body)
	if end == nil {
		t.Fatal(admin.get(one).visible())
	}
	if a := admin.submit(admin.get(one), end[1]); a.location != one+"?did=session" || ada.get("/").status != http.StatusSeeOther {
		t.Errorf("%d", a.status)
	}
	ada = s.signIn("ada")
	if a := admin.submit(admin.get(one), one+"/sessions/everywhere"); a.location != one+"?did=everywhere" || ada.get("/").status != http.StatusSeeOther {
		t.Errorf("%d", a.status)
	}
	ada = s.signIn("ada")
	if a := admin.submit(admin.get(one), one+"/disable"); a.location != one+"?did=disable" || ada.get("/").status != http.StatusSeeOther {
		t.Errorf("%d", a.status)
	}
	if a := ada.again("ada", "/"); a.status != http.StatusUnauthorized {
		t.Errorf("kept out, she signs in: %d", a.status)
	}
	if admin.get(one).form(one+"/link") != nil {
		t.Error("a link is offered for somebody who is kept out")
	}
	admin.submit(admin.get(one), one+"/enable")
	if a := s.signIn("ada").get("/"); a.status != http.StatusOK {
		t.Errorf("let in again: %d", a.status)
	}

	// An admin takes the second step off whoever lost their phone.
	ada = s.signIn("ada")
	step := ada.get("/profile/second-step")
	ada.submit(step, "/profile/second-step", "code", codeOf(t, secretOn(t, step), w.Clock()))
	if a := admin.submit(admin.get(one), one+"/second-step/remove"); a.location != one+"?did=step_removed" {
		t.Errorf("%d", a.status)
	}
	if a := ada.again("ada", "/"); a.location != "/" {
		t.Errorf("%d %s", a.status, a.location)
	}

	// Somebody who can administer stays.
	self := path("Admin")
	for _, act := range []string{"/disable", "/roles"} {
		form := admin.get(self).form(self + act)
		if act == "/roles" {
			form["role"] = []string{"viewer"}
		}
		if a := admin.post(self+act, form); a.status != http.StatusUnprocessableEntity || !strings.Contains(a.visible(), "last administrator") {
			t.Errorf("%s: %d %s", act, a.status, a.visible())
		}
	}
	for _, nobody := range []string{"/people/4711", "/people/x", "/people/0"} {
		if a := admin.get(nobody); a.status != http.StatusNotFound {
			t.Errorf("%s: %d", nobody, a.status)
		}
	}
}

func TestTokensPage(t *testing.T) {
	w, s := overnight(t)
	w.One("K")
	admin := s.signIn("admin")
	page := admin.get("/tokens")
	if !strings.Contains(page.visible(), "No programs use the API") {
		t.Error(page.visible())
	}
	fill := func(name, days, limit string, scopes ...string) answer {
		form := page.form("/tokens")
		form.Set("name", name)
		form.Set("days", days)
		form.Set("per_minute", limit)
		form["scope"] = scopes
		return admin.post("/tokens", form)
	}
	for says, a := range map[string]answer{"needs a name": fill("", "30", "", "items:read"), "Choose what it may do": fill("x", "30", ""),
		"must expire": fill("Kept", "0", "", "items:read"), "a number of requests": fill("x", "30", "many", "items:read")} {
		if a.status != http.StatusUnprocessableEntity || !strings.Contains(a.visible(), says) {
			t.Errorf("%s: %d %s", says, a.status, a.visible())
		}
	}
	a := fill("Web shop", "30", "60", "items:read")
	secret := secretOn(t, a)
	if !strings.HasPrefix(secret, "of_") || !strings.Contains(a.visible(), "Not yet") {
		t.Fatalf("%d %s", a.status, a.visible())
	}
	ask := func() int {
		r, err := http.NewRequest(http.MethodGet, s.URL+"/api/v1/items/K?automation=invoices", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+secret)
		return s.browser().do(r).status
	}
	if got := ask(); got == http.StatusUnauthorized || got == http.StatusForbidden {
		t.Fatalf("the token does not work: %d", got)
	}
	list := admin.get("/tokens")
	if strings.Contains(list.body, secret) || !strings.Contains(list.body, secret[:9]) || !strings.Contains(list.visible(), "127.0.0.1") || !strings.Contains(list.visible(), "Works") {
		t.Errorf("%s", list.visible())
	}
	revoke := regexp.MustCompile(`action="(/tokens/\d+/revoke)"`).FindStringSubmatch(list.body)[1]
	if a := admin.submit(list, revoke); a.location != "/tokens?did=revoked" {
		t.Fatalf("%d", a.status)
	}
	if got := ask(); got != http.StatusUnauthorized {
		t.Errorf("it works on: %d", got)
	}
	if a := admin.post(revoke, list.form(revoke)); a.status != http.StatusNotFound {
		t.Errorf("twice: %d", a.status)
	}
	if list = admin.get("/tokens"); !strings.Contains(list.visible(), "Revoked") || list.form(revoke) != nil {
		t.Error(list.visible())
	}
}

// trailSite is a site whose people and items are in one database, as they are in the product, in Berlin.
func trailSite(t *testing.T, db storetest.DB) (*site, *auth.Auth) {
	t.Helper()
	w := rt.New(t, db)
	people := accounts(t, func(c *auth.Config) { c.Now, c.Store = w.Clock, w.Store })
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	id := w.One("INV-7")
	w.Happen(id, work.Hold{By: ada, Note: "=cmd|'/c calc'!A0"})
	if err := w.Pause(t.Context(), "books", ada, "month end"); err != nil {
		t.Fatal(err)
	}
	w.Later(14*time.Hour - time.Minute) // 23:59 UTC is the next day in Berlin
	return newSite(t, Config{Store: w.Store, Auth: people, Zone: berlin}), people
}

func TestTrailPage(t *testing.T) { storetest.Each(t, testTrailPage) }

func testTrailPage(t *testing.T, db storetest.DB) {
	s, people := trailSite(t, db)
	s.browser().again("ada", "/")
	b := s.browser()
	b.submit(b.get("/login"), "/login", "login", "ben", "password", "wrong password")
	admin := s.signIn("admin")
	shows := func(query string, want int, texts ...string) {
		t.Helper()
		a := admin.get("/audit" + query)
		rows := strings.Count(a.body, `<td class="at">`)
		if a.status != http.StatusOK || rows != want {
			t.Errorf("%s: %d, %d rows, not %d: %s", query, a.status, rows, want, a.visible())
		}
		for _, text := range texts {
			if !strings.Contains(a.visible(), text) {
				t.Errorf("%s: %q is missing: %s", query, text, a.visible())
			}
		}
	}
	shows("", 5, "Signed in", "Sign-in refused", "wrong password", "127.0.0.1", "Stopped", "INV-7", "Paused a system", "Ada Brown")
	shows("?what=group:failed", 1, "ben")
	shows("?what=sign_in", 2)
	shows("?what=group:items", 1, "Stopped")
	shows("?who=person:ada", 2)
	shows("?q=MONTH+end", 1)
	shows("?object=item:1", 1, "INV-7")
	shows("?object=item:11", 0, "Nothing like it is on record")
	shows("?from=2026-11-30", 3) // 00:59 in Berlin
	shows("?to=2026-11-29", 2)
	shows("?from=2026-11-29&to=2026-11-29&what=group:items", 1)
	for query, want := range map[string]int{"?from=yesterday": 422, "?after=x": 400, "?after=1.evil.1": 400} {
		if a := admin.get("/audit" + query); a.status != want {
			t.Errorf("%s: %d", query, a.status)
		}
	}
	if a := admin.get("/audit?what=group:items"); !strings.Contains(a.body, `href="/items/1"`) {
		t.Error("no way to the invoice")
	}

	// What programs write is told as people say it, in the zone of the page.
	v := view{zone: time.FixedZone("CET", 3600), now: time.Date(2026, 11, 30, 10, 0, 0, 0, time.UTC)}
	if got := v.plain(`{"expires_at":"2026-11-30T23:59:00Z","name":"ops","scopes":["import:write"],"roles":["ops"]}`); got != "works until: 1 Dec 2026 00:59:00; name: ops; roles: Operations; scopes: Import files" {
		t.Errorf("the trail says %q", got)
	}
	// A long trail comes page by page, each record once.
	for i := range 120 {
		if err := people.Audit(t.Context(), auth.Entry{By: boss, What: auth.DidExport, Object: fmt.Sprintf("number:%d", i)}); err != nil {
			t.Fatal(err)
		}
	}
	seen := map[string]bool{}
	address := "/audit?what=export"
	for pages := 0; address != ""; pages++ {
		if pages > 3 {
			t.Fatal("it does not end")
		}
		a := admin.get(address)
		for _, m := range regexp.MustCompile(`<bdi>number:\d+</bdi>`).FindAllString(a.body, -1) {
			if seen[m] {
				t.Errorf("%s twice", m)
			}
			seen[m] = true
		}
		next := regexp.MustCompile(`href="(/audit\?[^"]*after=[^"]*)"`).FindStringSubmatch(a.body)
		if address = ""; next != nil {
			address = strings.ReplaceAll(next[1], "&amp;", "&")
		}
	}
	if len(seen) != 120 {
		t.Errorf("%d of 120", len(seen))
	}
}

// The export holds what the filter shows, opens as text in spreadsheets, tells its zone, and is itself on record.
func TestTrailExport(t *testing.T) {
	s, _ := trailSite(t, storetest.SQLite(t))
	admin := s.signIn("admin")
	a := admin.get("/audit.csv?what=group:items")
	if a.status != http.StatusOK || !strings.HasPrefix(a.header.Get("Content-Type"), "text/csv") || !strings.Contains(a.header.Get("Content-Disposition"), "onefold-trail-2026-11-30.csv") {
		t.Fatalf("%d %v", a.status, a.header)
	}
	lines, err := csv.NewReader(strings.NewReader(a.body)).ReadAll()
	if err != nil || len(lines) != 2 {
		t.Fatalf("%d lines, %v", len(lines), err)
	}
	if got := lines[1]; got[0] != "2026-11-29T11:00:00+01:00" || got[1] != "Ada Brown" || got[4] != "item_hold" || got[8] != "'=cmd|'/c calc'!A0" {
		t.Errorf("%q", got)
	}
	if a := admin.get("/audit?what=export"); !strings.Contains(a.visible(), "Took an export") {
		t.Error("it is not on record")
	}
	if a := admin.get("/audit.csv?from=x"); a.status != http.StatusBadRequest {
		t.Errorf("%d", a.status)
	}
	if a := s.signIn("ada").get("/audit.csv"); a.status != http.StatusForbidden {
		t.Errorf("ada: %d", a.status)
	}
}

// withProvider is a site whose people sign in at a provider; passwords are off if so said.
func withProvider(t *testing.T, passwordsOff bool) (*site, *authtest.Provider) {
	t.Helper()
	p := authtest.New(t, time.Now)
	s := newSite(t, Config{Store: newWorld(t).Store}) // its address is needed first
	cfg := auth.SSOConfig{Name: "Acme Login", Issuer: p.URL, ClientID: authtest.ClientID, ClientSecret: authtest.ClientSecret, RedirectURL: s.URL + "/sso/answer",
		GroupRoles: map[string][]work.Role{"finance": {work.Operator}, "it": {work.Admin}}, Provision: true, HTTP: p.Client()}
	people := accounts(t, func(c *auth.Config) { c.SSO, c.NoPasswords = &cfg, passwordsOff })
	s.Config.Handler = newSite(t, Config{Store: newWorld(t).Store, Auth: people}).Config.Handler
	return s, p
}

var zoe = map[string]any{"sub": "s-1", "email": "zoe@example.com", "email_verified": true, "name": "Zoë Brown", "groups": []string{"finance"}}

func TestSingleSignOn(t *testing.T) {
	s, p := withProvider(t, true)
	p.Is(zoe)
	b := s.browser()
	page := b.get("/login?next=%2Fsystems")
	if page.form("/login") != nil || !strings.Contains(page.body, `href="/sso?next=%2Fsystems"`) || !strings.Contains(page.visible(), "Sign in with Acme Login") {
		t.Fatal(page.visible())
	}
	trip := b.get("/sso?next=%2Fsystems")
	if !strings.HasPrefix(trip.location, p.URL+"/authorize?") {
		t.Fatalf("%d %s", trip.status, trip.location)
	}
	answer := "/sso/answer?" + p.Authorize(trip.location).Encode()
	if a := s.browser().get(answer); a.status != http.StatusForbidden || !strings.Contains(a.visible(), "begun in another browser") {
		t.Errorf("another browser: %d %s", a.status, a.visible())
	}
	if a := b.get(answer); a.location != "/systems" {
		t.Fatalf("%d %s", a.status, a.visible())
	}
	profile := b.get("/profile")
	if !strings.Contains(profile.visible(), "Zoë Brown") || !strings.Contains(profile.visible(), "You sign in at Acme Login") || strings.Contains(profile.body, "/profile/password") {
		t.Error(profile.visible())
	}
	if a := b.get(answer); a.status != http.StatusForbidden {
		t.Errorf("the answer counts twice: %d", a.status)
	}
	for says, begin := range map[string]func(){
		"None of your groups at Acme Login": func() { p.Is(map[string]any{"sub": "s-2", "email": "x@example.com", "email_verified": true}) },
		"does not vouch":                    func() { p.Is(map[string]any{"sub": "s-3", "email": "y@example.com", "groups": []string{"finance"}}) },
		"not valid":                         func() { p.Is(zoe); p.Misbehave(authtest.Trouble{Bend: func(c map[string]any) { c["aud"] = "others" }}) },
		"belongs to another sign-in":        func() { p.Is(zoe); p.Misbehave(authtest.Trouble{Bend: func(c map[string]any) { c["nonce"] = "x" }}) },
	} {
		begin()
		b := s.browser()
		a := b.get("/sso/answer?" + p.Authorize(b.get("/sso").location).Encode())
		if a.status != http.StatusForbidden || !strings.Contains(a.visible(), says) || !strings.Contains(a.visible(), "Sign in with Acme Login") {
			t.Errorf("%s: %d %s", says, a.status, a.visible())
		}
	}
	if a := b.get("/setup"); a.status != http.StatusSeeOther {
		t.Errorf("the set-up is open: %d", a.status)
	}
	// Without passwords people are added without a link.
	p.Is(map[string]any{"sub": "s-4", "email": "boss@example.com", "email_verified": true, "name": "Boss", "groups": []string{"it"}})
	b = s.browser()
	b.get("/sso/answer?" + p.Authorize(b.get("/sso").location).Encode())
	if a := b.submit(b.get("/people"), "/people", "login", "new@example.com", "role", "viewer"); a.location != "/people?did=added" || !strings.Contains(b.follow(a).visible(), "They sign in at the identity provider.") {
		t.Errorf("%d %s", a.status, a.visible())
	}
	// With passwords there are both ways.
	s, _ = withProvider(t, false)
	if page := s.browser().get("/login"); page.form("/login") == nil || !strings.Contains(page.visible(), "Sign in with Acme Login") {
		t.Error(page.visible())
	}
}
