package web

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"onefold/internal/auth"
	"onefold/internal/store/storetest"
	"onefold/internal/work"
)

// tab is one browser's window in a test.
type tab struct {
	t   *testing.T
	ctx context.Context
}

// css is an element by its selector.
type css = chromedp.CSS

func (b tab) do(steps ...step) { b.t.Helper(); run(b.t, b.ctx, steps...) }

func (b tab) shows(want ...string) {
	b.t.Helper()
	got := strings.ReplaceAll(ask(b.t, b.ctx, chromedp.Text(css("body"))), "\u00a0", " ")
	for _, s := range want {
		if !strings.Contains(got, s) {
			b.t.Fatalf("%q is not on the page:\n%s", s, got)
		}
	}
}

// fill types into the form and sends it; each pair is a field's name and a text.
func fill(form string, fields ...string) step {
	var steps []step
	for i := 0; i < len(fields); i += 2 {
		steps = append(steps, chromedp.SetValue(css(form+" [name="+fields[i]+"]"), fields[i+1]))
	}
	return chromedp.Steps(append(steps, chromedp.Click(css(form+" button:not(.plain)")))...)
}

func goTo(address, wait string) step {
	return chromedp.Steps(chromedp.Navigate(address), chromedp.WaitVisible(css(wait)))
}

// Signing in: a wrong password, the right one, an expired session in the middle of a note, and signing out everywhere.
func TestBrowserSignIn(t *testing.T) {
	t.Parallel()
	w, s := overnight(t)
	id := w.One("INV-2026-11-ACME")
	b := tab{t, chrome(t)}
	b.do(goTo(s.URL+itemPath(id), "input[name=password]"), fill("form[action='/login']", "login", "ada", "password", "wrong password"), chromedp.WaitVisible(css(".problem")))
	b.shows("Name or password is wrong.")
	b.do(fill("form[action='/login']", "password", testPassword), chromedp.WaitVisible(css(".known-now")))
	b.shows("INV-2026-11-ACME", "Ada Brown")

	// The session ends while she types.
	note := "Agreed with the customer on the phone: wait for the new order number."
	b.do(chromedp.Click(css("details:has(#do-hold) summary")), chromedp.WaitVisible(css("#do-hold textarea")), chromedp.SendKeys(css("#do-hold textarea"), note))
	w.Later(3 * time.Hour)
	w.Happen(id, work.Assign{By: work.Actor{Kind: work.Person, ID: "9", Name: "Ben Stone", Roles: []work.Role{work.Operator}}, To: "Ben Stone"})
	b.do(chromedp.Click(css("#do-hold button")), chromedp.WaitVisible(css("input[name=password]")))
	b.shows("Your session has ended. What you typed is kept")
	b.do(fill("form[action='/login']", "login", "ada", "password", testPassword), chromedp.WaitVisible(css("#do-hold textarea")))
	b.shows("Nothing was done, and meanwhile Ben Stone acted 13:00 (assigned it). What you typed is here again.")
	if got := ask(t, b.ctx, chromedp.Value(css("#do-hold textarea"))); got != note {
		t.Fatalf("the note is %q", got)
	}
	b.do(chromedp.Click(css("#do-hold button")), chromedp.WaitVisible(css(".notice.good")))
	b.shows(note, "Needs a person")
	if acts, err := w.Acts(t.Context(), id, 10); err != nil || len(acts) != 2 || acts[0].Note != note {
		t.Errorf("%d acts, %v", len(acts), err)
	}

	// Everywhere: here and on the other machine.
	other := s.signIn("ada")
	b.do(goTo(s.URL+"/profile", ".browsers"))
	b.shows("This one", "Go-http-client", "Sign out everywhere")
	b.do(chromedp.Click(css("form[action='/profile/sessions/everywhere'] button")), chromedp.WaitVisible(css("input[name=password]")))
	if a := other.get("/"); !strings.HasPrefix(a.location, "/login") {
		t.Errorf("the other machine is still signed in: %d", a.status)
	}
	b.do(chromedp.Navigate(s.URL+itemPath(id)), chromedp.WaitVisible(css("input[name=password]")))
}

// The first person sets up, invites a colleague, and both are in.
func TestBrowserSetUpAndInvitation(t *testing.T) {
	t.Parallel()
	people := nobody(t)
	s := newSite(t, Config{Store: newWorld(t).Store, Auth: people})
	b := tab{t, chrome(t)}
	b.do(goTo(s.URL, "form[action='/setup']"))
	b.do(fill("form[action='/setup']", "code", "guess", "login", "ada", "name", "Ada Brown", "password", otherPassword, "repeat", otherPassword), chromedp.WaitVisible(css(".problem")))
	b.shows("That is not the code that the terminal shows.")
	b.do(fill("form[action='/setup']", "code", people.SetUpCode(), "password", otherPassword, "repeat", otherPassword), chromedp.WaitVisible(css("form[action='/login']")))
	b.shows("All is set up.")
	b.do(fill("form[action='/login']", "login", "ada", "password", otherPassword), chromedp.WaitVisible(css("nav.tabs")))
	b.do(goTo(s.URL+"/setup", "nav.tabs")) // it is gone

	b.do(goTo(s.URL+"/people", "#invite"), chromedp.Click(css("#invite [value=operator]")), fill("#invite", "login", "ben@example.com", "name", "Ben Stone"), chromedp.WaitVisible(css(".once")))
	b.shows("Hand this link to Ben Stone", "Invited")
	link := ask(t, b.ctx, chromedp.Text(css(".once .secret")))
	b.do(chromedp.Click(css("form.who button")), chromedp.WaitVisible(css("input[name=password]")))

	b.do(goTo(link, "form[action^='/welcome/']"))
	b.shows("Welcome to Onefold", "Ben Stone, choose the password")
	b.do(fill("form[action^='/welcome/']", "password", testPassword, "repeat", testPassword), chromedp.WaitVisible(css("form[action='/login']")))
	b.do(fill("form[action='/login']", "login", "ben@example.com", "password", testPassword), chromedp.WaitVisible(css("nav.tabs")))
	b.shows("Ben Stone", "Import")
	b.do(chromedp.Navigate(link), chromedp.WaitVisible(css(".card")))
	b.shows("This link does not work any more")
}

// The second step: set up with the key on the page, then asked for.
func TestBrowserSecondStep(t *testing.T) {
	t.Parallel()
	w, s := overnight(t)
	b := tab{t, chrome(t)}
	b.do(signInOn(s.URL, "ada"), goTo(s.URL+"/profile", ".browsers"), chromedp.Click(css("a[href='/profile/second-step']")), chromedp.WaitVisible(css("img.qr")))
	if size := ask(t, b.ctx, chromedp.Evaluate[int](`document.querySelector("img.qr").naturalWidth`)); size != 240 {
		t.Errorf("the picture is %d wide", size)
	}
	secret := ask(t, b.ctx, chromedp.Text(css(".secret")))
	b.do(fill("form[action='/profile/second-step']", "code", codeOf(t, secret, w.Clock())), chromedp.WaitVisible(css(".codes")))
	b.shows("Your recovery codes")
	recovery := strings.Fields(ask(t, b.ctx, chromedp.Text(css(".codes"))))[0]
	b.do(chromedp.Click(css("a.button")), chromedp.WaitVisible(css(".notice.good")))
	b.shows("The second step is on.", "10 recovery codes are left")
	for _, code := range []string{codeOf(t, secret, w.Clock().Add(time.Minute)), recovery} {
		w.Later(time.Minute)
		b.do(chromedp.Click(css("form.who button")), chromedp.WaitVisible(css("input[name=password]")),
			fill("form[action='/login']", "login", "ada", "password", testPassword), chromedp.WaitVisible(css("input[name=code]")),
			fill("form[action='/login/code']", "code", "000 000"), chromedp.WaitVisible(css(".problem")))
		b.shows("The code is wrong or was already used.")
		b.do(fill("form[action='/login/code']", "code", code), chromedp.WaitVisible(css("nav.tabs")))
	}
}

// Single sign-on: to the provider and back, to the page that was asked for.
func TestBrowserSingleSignOn(t *testing.T) {
	t.Parallel()
	s, p := withProvider(t, false)
	p.Is(zoe)
	b := tab{t, chrome(t)}
	b.do(goTo(s.URL+"/systems", ".sso a"), chromedp.Click(css(".sso a")), chromedp.WaitVisible(css(".system")))
	b.shows("Accounting systems", "Zoë Brown")
	p.Is(map[string]any{"sub": "s-9", "email": "nobody@example.com", "email_verified": true})
	b.do(chromedp.Click(css("form.who button")), chromedp.WaitVisible(css(".sso a")), chromedp.Click(css(".sso a")), chromedp.WaitVisible(css(".problem")))
	b.shows("None of your groups at Acme Login may come in here.")
}

// The pages about people in every look.
func TestPagesAboutPeopleLookRight(t *testing.T) {
	t.Parallel()
	ctx := chrome(t)
	s, people := trailSite(t, storetest.SQLite(t))
	first := newSite(t, Config{Store: newWorld(t).Store, Auth: nobody(t)})
	shoot(t, ctx, "setup", first.URL+"/setup")
	sso, _ := withProvider(t, false)
	shoot(t, ctx, "login-sso", sso.URL+"/login")
	long := strings.Repeat("Donaudampfschifffahrtselektrizitäten", 5)
	for i, name := range []string{"Zoë Brown", long, "<script>alert(1)</script>"} {
		_, token, err := people.Invite(t.Context(), boss, auth.Origin{Address: "2001:db8:1234:5678:9abc:def0:1234:5678", UserAgent: long}, auth.NewUser{Login: fmt.Sprintf("zoe%d@example.com", i), Name: name, Roles: auth.AllRoles})
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			shoot(t, ctx, "welcome", s.URL+"/welcome/"+token)
		}
		if _, _, err := people.CreateToken(t.Context(), boss, auth.Origin{}, auth.NewToken{Name: name, Scopes: auth.Scopes[i:], Lasts: 24 * time.Hour}); err != nil {
			t.Fatal(err)
		}
	}
	shoot(t, ctx, "welcome-gone", s.URL+"/welcome/nonsense")
	s.signIn("ada")
	run(t, ctx, signInOn(s.URL, "admin"))
	for name, path := range map[string]string{"profile": "/profile?did=name", "profile-password": "/profile/password", "second-step": "/profile/second-step", "people": "/people",
		"person": "/people/2?did=roles", "tokens": "/tokens", "trail": "/audit", "trail-empty": "/audit?q=nothing-like-it"} {
		shoot(t, ctx, name, s.URL+path)
	}
	b := tab{t, ctx}
	shown := func(name string) { // an answer to a form cannot be opened by its address
		t.Helper()
		for _, l := range looks {
			shootThis(t, ctx, name, l)
		}
	}
	b.do(goTo(s.URL+"/people", "#invite"), fill("#invite", "login", "new@example.com", "name", "New Colleague"), chromedp.WaitVisible(css(".once")))
	shown("people-link")
	b.do(goTo(s.URL+"/people", "#invite"), fill("#invite", "login", "NEW@example.com", "name", "New Colleague"), chromedp.WaitVisible(css(".problem")))
	shown("people-problem")
	b.do(goTo(s.URL+"/tokens", "form[action='/tokens']"), chromedp.Click(css("[value='items:write']")), fill("form[action='/tokens']", "name", "Web shop"), chromedp.WaitVisible(css(".once")))
	shown("tokens-secret")
	b.do(goTo(s.URL+"/profile/second-step", "img.qr"))
	secret := ask(t, ctx, chromedp.Text(css(".secret")))
	clock := people.Clock()
	b.do(fill("form[action='/profile/second-step']", "code", codeOf(t, secret, clock)), chromedp.WaitVisible(css(".codes")))
	shown("codes")
	b.do(goTo(s.URL+"/profile", ".browsers"))
	shown("profile-step")
	b.do(chromedp.Click(css("form.who button")), chromedp.WaitVisible(css("input[name=password]")), fill("form[action='/login']", "login", "admin", "password", testPassword), chromedp.WaitVisible(css("input[name=code]")))
	shown("code")
}
