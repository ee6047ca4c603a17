package auth_test

import (
	"errors"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"onefold/internal/auth"
	"onefold/internal/work"
)

func TestCookies(t *testing.T) {
	for _, secure := range []bool{false, true} {
		each(t, auth.Config{Secure: secure}, func(t *testing.T, w *world) {
			w.person("ada")
			b := w.signedIn("ada")
			name := map[bool]string{false: "onefold", true: "__Host-onefold"}[secure]
			c := b.cookies[name]
			if len(b.cookies) != 1 || c == nil {
				t.Fatalf("%v", b.cookies)
			}
			if !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || c.Secure != secure || c.Path != "/" || c.Domain != "" {
				t.Errorf("the cookie is too open: %v", c)
			}
			v := b.visit()
			if strings.Contains(c.Value, v.Session.IDHash) || strings.Contains(c.Value, "ada") {
				t.Error("the cookie tells something")
			}
			forged := b.copied()
			f := *c
			f.Value = c.Value[:len(c.Value)-6] + "AAAAAA"
			forged.cookies[name] = &f
			if forged.visit().Session.ID != 0 {
				t.Error("a forged cookie is read")
			}
			b.do(func(rw http.ResponseWriter, r *http.Request) { must(t, w.SignOut(rw, r, office)) })
			if len(b.cookies) != 0 {
				t.Error("the cookie stays")
			}
		})
	}
}

// The id changes at sign-in, and the session that the browser had is over.
func TestSignInRotates(t *testing.T) {
	each(t, auth.Config{}, func(t *testing.T, w *world) {
		w.person("ada")
		w.person("ben")
		b := w.signedIn("ada")
		planted := b.copied()
		_, err := b.signIn("ben", password, office)
		must(t, err)
		if b.session() == planted.session() || b.visit().User.Login != "ben" {
			t.Error("the id stays")
		}
		if planted.visit().Ready() {
			t.Error("the earlier session goes on")
		}
	})
}

// A change of roles counts with the next request, and gives the session another id. What the browser had sent before it
// learned the new one is still answered.
func TestRoleChange(t *testing.T) {
	each(t, auth.Config{}, func(t *testing.T, w *world) {
		u := w.person("ada", work.Viewer)
		b := w.signedIn("ada")
		stolen := b.copied()
		_, err := w.SetRoles(t.Context(), boss, office, u.ID, []work.Role{work.Viewer, work.Ops})
		must(t, err)
		v := b.visit()
		if !v.Actor.Can(work.Ops) || b.session() == stolen.session() {
			t.Fatalf("%+v, same id: %v", v.Actor, b.session() == stolen.session())
		}
		if !b.visit().Ready() || !stolen.copied().visit().Ready() {
			t.Error("a request on its way is lost")
		}
		w.clock.advance(10 * time.Second)
		if old := stolen.visit(); old.Ready() || old.User.ID != u.ID {
			t.Errorf("the old id: %+v", old)
		}
		if r := w.last(auth.DidChangeRoles); r.Before != "viewer" || r.After != "viewer,ops" || !r.By.Same(boss) {
			t.Errorf("%+v", r)
		}
		_, err = w.SetRoles(t.Context(), boss, office, u.ID, []work.Role{work.Ops, work.Viewer, work.Ops})
		must(t, err)
		if n := len(w.trail()); n != 2 {
			t.Errorf("no change is recorded as one: %v", w.trail())
		}
	})
}

func TestExpiry(t *testing.T) {
	each(t, auth.Config{Idle: time.Hour, Absolute: 5 * time.Hour}, func(t *testing.T, w *world) {
		w.person("ada")
		idle, used, peeked := w.signedIn("ada"), w.signedIn("ada"), w.signedIn("ada")
		for range 5 {
			w.clock.advance(59 * time.Minute)
			if !used.visit().Ready() {
				t.Fatal("it ends though it is used")
			}
			peeked.do(func(_ http.ResponseWriter, r *http.Request) {
				_, err := w.Peek(r)
				must(t, err)
			})
		}
		if v := idle.visit(); v.Ready() || !v.Expired() || v.User.Login != "ada" || v.Actor.Kind != "" {
			t.Errorf("unused: %+v", v)
		}
		if peeked.visit().Ready() {
			t.Error("a page that looks by itself keeps the session alive")
		}
		w.clock.advance(5 * time.Minute)
		if used.visit().Ready() {
			t.Error("it never ends")
		}
	})
}

func TestRevocation(t *testing.T) {
	each(t, auth.Config{}, func(t *testing.T, w *world) {
		u, ctx := w.person("ada"), t.Context()
		one, two, three := w.signedIn("ada"), w.signedIn("ada"), w.signedIn("ada")
		list, err := w.SessionsOf(ctx, u.Actor(), u.ID)
		must(t, err)
		if len(list) != 3 || list[0].Address != office.Address || list[0].UserAgent != "Firefox" {
			t.Fatalf("%+v", list)
		}
		must(t, w.RevokeSession(ctx, u.Actor(), office, u.ID, one.visit().Session.ID))
		if one.visit().Ready() || !two.visit().Ready() {
			t.Error("not the one")
		}
		wants(t, auth.ErrNotFound, w.RevokeSession(ctx, u.Actor(), office, u.ID, one.visit().Session.ID))
		other := w.person("ben")
		wants(t, auth.ErrNotFound, w.RevokeSession(ctx, other.Actor(), office, other.ID, two.visit().Session.ID))
		n, err := w.RevokeSessions(ctx, u.Actor(), office, u.ID, two.visit().Session.ID)
		if err != nil || n != 1 || three.visit().Ready() || !two.visit().Ready() {
			t.Errorf("%d %v", n, err)
		}
		two.do(func(rw http.ResponseWriter, r *http.Request) { must(t, w.SignOutEverywhere(rw, r, office)) })
		if list, err := w.SessionsOf(ctx, boss, u.ID); err != nil || len(list) != 0 {
			t.Errorf("%v %v", list, err)
		}
		four := w.signedIn("ada")
		_, err = w.SetDisabled(ctx, boss, office, u.ID, true)
		must(t, err)
		if four.visit().Ready() {
			t.Error("a disabled person stays in")
		}
	})
}

// A request that was on its way cannot bring a session back that was ended meanwhile.
func TestAnEndedSessionStaysEnded(t *testing.T) {
	each(t, auth.Config{}, func(t *testing.T, w *world) {
		u := w.person("ada")
		b := w.signedIn("ada")
		w.clock.advance(2 * time.Minute)
		b.do(func(rw http.ResponseWriter, r *http.Request) {
			_, err := w.Peek(r) // read before
			must(t, err)
			_, err = w.RevokeSessions(t.Context(), boss, office, u.ID, 0)
			must(t, err)
			_, err = w.Visit(rw, r) // kept alive after
			must(t, err)
		})
		if b.visit().Ready() {
			t.Error("it is back")
		}
	})
}

// Keys change without signing anybody out; a dropped key's cookies are worth nothing.
func TestKeyRotation(t *testing.T) {
	each(t, auth.Config{}, func(t *testing.T, w *world) {
		w.person("ada")
		b, asleep := w.signedIn("ada"), w.signedIn("ada")
		w.restart(newKey, oldKey)
		w.clock.advance(time.Minute)
		if !b.visit().Ready() {
			t.Fatal("the new key signs people out")
		}
		w.restart(newKey)
		if !b.visit().Ready() {
			t.Error("a cookie in use is not signed anew")
		}
		if asleep.visit().Ready() {
			t.Error("a dropped key counts")
		}
	})
}

func TestKeyFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "session.keys")
	var wg sync.WaitGroup
	made := make([]auth.Keys, 8)
	for i := range made {
		wg.Go(func() {
			var err error
			if made[i], err = auth.KeysFromFile(path); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for _, k := range made {
		if len(k) != 1 || k[0] != made[0][0] {
			t.Fatal("two servers that start together have different keys")
		}
	}
	info, err := os.Stat(path)
	must(t, err)
	if info.Mode().Perm() != 0o600 {
		t.Errorf("mode %o", info.Mode().Perm())
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".*")); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
	for _, bad := range []string{"", "short", strings.Repeat("x", 32) + ",short"} {
		if _, err := auth.ParseKeys(bad); err == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
	if keys, err := auth.ParseKeys(strings.Repeat("n", 32) + ", " + strings.Repeat("o", 44) + "\n"); err != nil || len(keys) != 2 || keys[0] == keys[1] {
		t.Errorf("%v %v", keys, err)
	}
}

func TestFormTokens(t *testing.T) {
	each(t, auth.Config{Idle: time.Hour}, func(t *testing.T, w *world) {
		w.person("ada")
		b := w.signedIn("ada")
		token := b.visit().FormToken()
		if other := b.visit().FormToken(); other == token {
			t.Error("it is not masked")
		}
		if w.signedIn("ada").visit().CheckFormToken(token) {
			t.Error("another session's token is accepted")
		}
		for _, bad := range []string{"", "x", token[:len(token)-2]} {
			if b.visit().CheckFormToken(bad) {
				t.Errorf("%q is accepted", bad)
			}
		}
		if (auth.Visit{}).CheckFormToken((auth.Visit{}).FormToken()) {
			t.Error("without a session anything is accepted")
		}
		w.clock.advance(9 * time.Hour) // overnight
		if v := b.visit(); !v.Expired() || !v.CheckFormToken(token) {
			t.Error("what was typed overnight is refused")
		}
		// In another tab it is sent after the person has signed in again; nobody else may send it.
		_, err := b.signIn("ada", password, office)
		must(t, err)
		if v := b.visit(); !v.Ready() || !v.CheckFormToken(token) {
			t.Error("a form of another tab is refused")
		}
		w.person("ben")
		_, err = b.signIn("ben", password, office)
		must(t, err)
		if b.visit().CheckFormToken(token) {
			t.Error("another person may send the form")
		}
		_, err = b.signIn("ada", password, office)
		must(t, err)
		if b.visit().CheckFormToken(token) {
			t.Error("it is good for ever")
		}
	})
}

// Trial 115: what was typed when the session was over comes back for the same person, once, and for nobody else.
func TestTrial115_TypedTextComesBack(t *testing.T) {
	each(t, auth.Config{Idle: time.Hour}, func(t *testing.T, w *world) {
		w.person("ada")
		w.person("ben")
		b := w.signedIn("ada")
		note := strings.Repeat("typed ", 83) + "ü"
		w.clock.advance(12 * time.Hour)
		save := func(b *browser, fields url.Values) (kept bool, err error) {
			b.do(func(rw http.ResponseWriter, r *http.Request) {
				kept, err = w.SaveForm(rw, r, auth.Form{Page: "/items/7", Path: "/items/7/hold", Fields: fields})
			})
			return kept, err
		}
		take := func(b *browser) (f auth.Form, there bool) {
			b.do(func(rw http.ResponseWriter, r *http.Request) {
				var err error
				f, there, err = w.TakeForm(rw, r, "/items/7")
				must(t, err)
			})
			return f, there
		}
		kept, err := save(b, url.Values{"note": {note}, "version": {"3"}, "password": {"x"}, "present_password": {"x"}, "csrf": {"x"}, "code": {"1"}})
		if err != nil || !kept {
			t.Fatal(kept, err)
		}
		if _, there := take(b); there {
			t.Fatal("it is shown to nobody in particular")
		}
		_, err = b.signIn("ben", password, office)
		must(t, err)
		if f, there := take(b); there {
			t.Fatalf("another person sees %v", f)
		}
		_, err = b.signIn("ada", password, office)
		must(t, err)
		b.do(func(rw http.ResponseWriter, r *http.Request) {
			if _, there, err := w.TakeForm(rw, r, "/items/8"); err != nil || there {
				t.Errorf("on another page: %v %v", there, err)
			}
		})
		second := b.copied()
		f, there := take(b)
		if !there || f.Path != "/items/7/hold" || f.Fields.Get("note") != note || f.Fields.Get("version") != "3" || len(f.Fields) != 2 {
			t.Fatalf("%v %+v", there, f)
		}
		if _, again := take(second); again {
			t.Error("it comes twice")
		}

		// Bounds: size, time, and no session at all.
		b = w.signedIn("ada")
		if _, err := save(b, url.Values{"note": {strings.Repeat("x", 65<<10)}}); !errors.Is(err, auth.ErrFormTooLarge) {
			t.Errorf("too large: %v", err)
		}
		kept, err = save(b, url.Values{"note": {note}})
		if err != nil || !kept {
			t.Fatal(kept, err)
		}
		w.clock.advance(time.Hour)
		_, err = b.signIn("ada", password, office)
		must(t, err)
		if _, there := take(b); there {
			t.Error("it is kept for ever")
		}
		if kept, err := save(w.browser(), url.Values{"note": {note}}); err != nil || kept {
			t.Errorf("a stranger's form: %v %v", kept, err)
		}
	})
}

// What is long over is cleared away; what still tells whose typed text it is stays.
func TestSweep(t *testing.T) {
	each(t, auth.Config{Idle: time.Hour}, func(t *testing.T, w *world) {
		w.person("ada")
		b := w.signedIn("ada")
		w.clock.advance(29 * 24 * time.Hour)
		must(t, w.RunOnce(t.Context()))
		if !b.visit().Expired() {
			t.Error("gone too early")
		}
		w.clock.advance(2 * 24 * time.Hour)
		must(t, w.RunOnce(t.Context()))
		if b.visit().Session.ID != 0 {
			t.Error("kept for ever")
		}
	})
}
