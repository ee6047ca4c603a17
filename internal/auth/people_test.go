package auth_test

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"onefold/internal/auth"
	"onefold/internal/store"
	"onefold/internal/store/storetest"
	"onefold/internal/work"
)

// Of several set-ups at the same time, on several servers, one wins.
func TestSetUpRace(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db storetest.DB) {
		var servers []*auth.Auth
		for range 2 {
			st := db.Open(t, store.Config{})
			a, err := auth.New(auth.Config{Store: st})
			must(t, err)
			servers = append(servers, a)
			if db.Name == "sqlite" { // one file has one server
				break
			}
		}
		const tries = 8
		errs := make([]error, tries)
		var wg sync.WaitGroup
		for i := range tries {
			wg.Go(func() {
				_, errs[i] = servers[i%len(servers)].SetUp(t.Context(), "boss"+string(rune('a'+i)), "The Chief", password, office)
			})
		}
		wg.Wait()
		won := 0
		for _, err := range errs {
			switch {
			case err == nil:
				won++
			case !errors.Is(err, auth.ErrSetUpDone):
				t.Error(err)
			}
		}
		users, err := servers[0].Users(t.Context(), boss)
		must(t, err)
		if won != 1 || len(users) != 1 || !users[0].CanAdminister() {
			t.Fatalf("%d won, %d users", won, len(users))
		}
		if _, err := servers[0].SetUp(t.Context(), "late", "Late", password, office); !errors.Is(err, auth.ErrSetUpDone) {
			t.Errorf("set up again: %v", err)
		}
	})
}

func TestOnlyAdminsAdminister(t *testing.T) {
	each(t, auth.Config{}, func(t *testing.T, w *world) {
		u, ctx := w.person("ada", work.Viewer, work.Operator, work.Ops), t.Context()
		by := u.Actor()
		refused := map[string]error{}
		_, refused["add"] = w.AddUser(ctx, by, office, auth.NewUser{Login: "x", Roles: []work.Role{work.Admin}}, password, false)
		_, _, refused["invite"] = w.Invite(ctx, by, office, auth.NewUser{Login: "x", Roles: []work.Role{work.Admin}})
		_, refused["roles"] = w.SetRoles(ctx, by, office, u.ID, auth.AllRoles)
		_, refused["disable"] = w.SetDisabled(ctx, by, office, u.ID, true)
		_, _, refused["link"] = w.MakeLink(ctx, by, office, u.ID)
		_, refused["list"] = w.Users(ctx, by)
		_, refused["by login"] = w.UserByLogin(ctx, by, "ada")
		_, _, refused["token"] = w.CreateToken(ctx, by, office, auth.NewToken{Name: "x", Scopes: auth.Scopes, Lasts: time.Hour})
		_, refused["tokens"] = w.Tokens(ctx, by)
		refused["revoke"] = w.RevokeToken(ctx, by, office, 1)
		refused["settings"] = w.SetSettings(ctx, by, office, auth.SignInSettings{RequireSecondStep: true})
		_, refused["trail"] = w.AuditPage(ctx, by, auth.AuditFilter{})
		_, refused["export"] = w.ExportAudit(ctx, by, office, auth.AuditFilter{})
		other := w.person("ben")
		_, refused["rename other"] = w.Rename(ctx, by, office, other.ID, "x")
		_, refused["other's sessions"] = w.SessionsOf(ctx, by, other.ID)
		_, refused["other"] = w.User(ctx, by, other.ID)
		refused["end other's"] = w.RevokeSession(ctx, by, office, other.ID, 1)
		_, refused["end all of other"] = w.RevokeSessions(ctx, by, office, other.ID, 0)
		for what, err := range refused {
			if !errors.Is(err, auth.ErrForbidden) {
				t.Errorf("%s: %v", what, err)
			}
		}
		if got, err := w.User(ctx, by, u.ID); err != nil || len(got.Roles) != 3 || got.Disabled() || len(w.trail()) != 0 {
			t.Errorf("%+v %v %v", got, err, w.trail())
		}
	})
}

// People change their own name, and it is on the trail.
func TestOwnName(t *testing.T) {
	each(t, auth.Config{}, func(t *testing.T, w *world) {
		u := w.person("ada")
		_, err := w.Rename(t.Context(), u.Actor(), office, u.ID, "Ada Brown-Stone")
		must(t, err)
		if e := w.last(auth.DidRename); e.After != "Ada Brown-Stone" || !e.By.Same(u.Actor()) {
			t.Errorf("%+v", e)
		}
		var bad *auth.BadInput
		if _, err := w.Rename(t.Context(), u.Actor(), office, u.ID, "two\nlines"); !errors.As(err, &bad) {
			t.Errorf("two lines: %v", err)
		}
	})
}

// The code is the same on servers with the same keys, and for those only.
func TestSetUpCode(t *testing.T) {
	each(t, auth.Config{}, func(t *testing.T, w *world) {
		code := w.SetUpCode()
		if len(code) < 24 || !w.CheckSetUpCode(" "+strings.ToUpper(code)+" ") || w.CheckSetUpCode("") || w.CheckSetUpCode(code[1:]) {
			t.Errorf("%q", code)
		}
		w.restart(newKey, oldKey)
		if w.SetUpCode() == code || w.CheckSetUpCode(code) {
			t.Error("another key has the same code")
		}
	})
}

func TestLoginsAreFolded(t *testing.T) {
	each(t, auth.Config{}, func(t *testing.T, w *world) {
		w.person("Zoë@example.com")
		_, err := w.AddUser(t.Context(), boss, office, auth.NewUser{Login: " ZOË@example.COM ", Roles: []work.Role{work.Viewer}}, password, false)
		wants(t, auth.ErrLoginTaken, err)
		if v, err := w.browser().signIn("zoë@EXAMPLE.com", password, office); err != nil || !v.Ready() {
			t.Fatalf("%v %v", v.Step, err)
		}
		for _, bad := range []auth.NewUser{{Login: "", Roles: auth.AllRoles}, {Login: "a\x00b", Roles: auth.AllRoles}, {Login: "x"},
			{Login: "x", Roles: []work.Role{"root"}}, {Login: strings.Repeat("x", 201), Roles: auth.AllRoles}, {Login: "x", Name: "a\nb", Roles: auth.AllRoles}} {
			var input *auth.BadInput
			if _, err := w.AddUser(t.Context(), boss, office, bad, password, false); !errors.As(err, &input) {
				t.Errorf("%+v: %v", bad, err)
			}
		}
	})
}

// Somebody can always administer: not even two admins at the same time can take it from each other.
func TestTheLastAdminStays(t *testing.T) {
	each(t, auth.Config{}, func(t *testing.T, w *world) {
		one, two := w.person("one", work.Admin), w.person("two", work.Admin)
		errs := make([]error, 2)
		var wg sync.WaitGroup
		for i, id := range []int64{one.ID, two.ID} {
			wg.Go(func() { _, errs[i] = w.SetRoles(t.Context(), boss, office, id, []work.Role{work.Viewer}) })
		}
		wg.Wait()
		last := 0
		for _, err := range errs {
			if errors.Is(err, auth.ErrLastAdmin) {
				last++
			} else if err != nil {
				t.Error(err)
			}
		}
		if last != 1 {
			t.Fatalf("%v", errs)
		}
		for _, id := range []int64{one.ID, two.ID} {
			u, err := w.User(t.Context(), boss, id)
			must(t, err)
			if u.CanAdminister() {
				_, err := w.SetDisabled(t.Context(), boss, office, id, true)
				wants(t, auth.ErrLastAdmin, err)
			}
		}
	})
}

func TestPasswords(t *testing.T) {
	u := auth.User{Login: "ada.brown@example.com", Name: "Ada Brown"}
	for given, want := range map[string]auth.PasswordFault{
		"seven quiet herons":         "",
		"correct horse battery":      "",
		"            lamp shelf":     "",
		"пять тихих цапель":          "",
		"8364 2750 9916 4402":        "",
		strings.Repeat("heron ", 50): "",
		"short":                      auth.PasswordTooShort,
		"elevenchars":                auth.PasswordTooShort,
		strings.Repeat("x y", 400):   auth.PasswordTooLong,
		"aaaaaaaaaaaaaaaa":           auth.PasswordCommon,
		"abababababababab":           auth.PasswordCommon,
		"password1234":               auth.PasswordCommon,
		"P@ssw0rd!2026":              auth.PasswordCommon,
		"Passwort123456":             auth.PasswordCommon,
		"qwertyuiop123":              auth.PasswordCommon,
		"1q2w3e4r5t6z":               auth.PasswordCommon,
		"Onefold-2026!":              auth.PasswordCommon,
		"OnefoldInvoice":             auth.PasswordCommon,
		"november2026!":              auth.PasswordCommon,
		"123456789012":               auth.PasswordCommon,
		"Initech-2026-x":             auth.PasswordCommon,
		"my ada.brown key":           auth.PasswordPersonal,
		"quiet BROWN heron":          auth.PasswordPersonal,
	} {
		var weak *auth.WeakPassword
		err := auth.CheckPassword(given, u, []string{"Initech"})
		if want == "" && err != nil || want != "" && (!errors.As(err, &weak) || weak.Why != want) {
			t.Errorf("%q: %v, want %q", given, err, want)
		}
	}
}

func TestChangePassword(t *testing.T) {
	each(t, auth.Config{}, func(t *testing.T, w *world) {
		w.person("ada")
		here, there := w.signedIn("ada"), w.signedIn("ada")
		before := here.copied()
		w.clock.advance(time.Hour)
		here.visit() // used within the idle time
		const next = "nine loud ganders"
		for _, c := range []struct {
			present, next string
			want          func(error) bool
		}{
			{"not the present one", next, func(err error) bool { return errors.Is(err, auth.ErrWrong) }},
			{password, "short", isWeak(auth.PasswordTooShort)},
			{password, password, isWeak(auth.PasswordSame)},
			{password, "Ada Person 2026", isWeak(auth.PasswordPersonal)},
		} {
			if err := here.changePassword(c.present, c.next); !c.want(err) {
				t.Errorf("%q → %q: %v", c.present, c.next, err)
			}
		}
		if !here.visit().Ready() || !there.visit().Ready() {
			t.Fatal("a refused change signs somebody out")
		}
		must(t, here.changePassword(password, next))
		if !here.visit().Ready() || there.visit().Ready() || before.visit().Ready() {
			t.Errorf("here %q, elsewhere %q, old id %q", here.visit().Step, there.visit().Step, before.visit().Step)
		}
		_, err := w.browser().signIn("ada", password, office)
		wants(t, auth.ErrWrong, err)
		_, err = w.browser().signIn("ada", next, office)
		must(t, err)
		if r := w.last(auth.DidChangePassword); r.By.Name != "Ada Person" || r.From != office || !strings.HasPrefix(r.Object, "user:") {
			t.Errorf("%+v", r)
		}
		w.noSecret(password, next, "argon2id")
	})
}

func isWeak(want auth.PasswordFault) func(error) bool {
	return func(err error) bool {
		var weak *auth.WeakPassword
		return errors.As(err, &weak) && weak.Why == want
	}
}

func TestInvitation(t *testing.T) {
	each(t, auth.Config{}, func(t *testing.T, w *world) {
		ctx := t.Context()
		invite := func(login string) (auth.User, string) {
			u, token, err := w.Invite(ctx, boss, office, auth.NewUser{Login: login, Roles: []work.Role{work.Viewer}})
			must(t, err)
			return u, token
		}
		u, token := invite("ada")
		if _, err := w.browser().signIn("ada", "", office); !errors.Is(err, auth.ErrWrong) {
			t.Fatalf("without a password: %v", err)
		}
		link, whose, err := w.OpenLink(ctx, token)
		must(t, err)
		if whose.ID != u.ID || link.Kind != auth.Invitation {
			t.Fatalf("%+v of %+v", link, whose)
		}
		_, err = w.UseLink(ctx, token, "short", office)
		if !isWeak(auth.PasswordTooShort)(err) {
			t.Fatal(err)
		}
		_, err = w.UseLink(ctx, token+"x", password, office)
		wants(t, auth.ErrLinkGone, err)

		// Used at the same moment by several, it works once.
		errs := make([]error, 4)
		var wg sync.WaitGroup
		for i := range errs {
			wg.Go(func() { _, errs[i] = w.UseLink(ctx, token, password, office) })
		}
		wg.Wait()
		worked := 0
		for _, err := range errs {
			if err == nil {
				worked++
			} else {
				wants(t, auth.ErrLinkGone, err)
			}
		}
		if worked != 1 {
			t.Fatalf("it worked %d times", worked)
		}
		_, _, err = w.OpenLink(ctx, token)
		wants(t, auth.ErrLinkGone, err)
		if v, err := w.browser().signIn("ada", password, office); err != nil || !v.Ready() {
			t.Fatal(err)
		}

		// It expires, a newer one replaces it, and a disabled person's is worth nothing.
		_, token = invite("ben")
		w.clock.advance(auth.InvitationFor)
		_, err = w.UseLink(ctx, token, password, office)
		wants(t, auth.ErrLinkGone, err)
		ben, err := w.UserByLogin(ctx, boss, "ben")
		must(t, err)
		first, link, err := w.MakeLink(ctx, boss, office, ben.ID)
		must(t, err)
		second, _, err := w.MakeLink(ctx, boss, office, ben.ID)
		must(t, err)
		if link.Kind != auth.Invitation {
			t.Errorf("%s for somebody without a password", link.Kind)
		}
		_, err = w.UseLink(ctx, first, password, office)
		wants(t, auth.ErrLinkGone, err)
		_, err = w.SetDisabled(ctx, boss, office, ben.ID, true)
		must(t, err)
		_, err = w.UseLink(ctx, second, password, office)
		wants(t, auth.ErrLinkGone, err)
		w.noSecret(token, first, second)
	})
}

// A reset by an admin ends all sessions and keeps the second step.
func TestReset(t *testing.T) {
	each(t, auth.Config{}, func(t *testing.T, w *world) {
		u := w.person("ada")
		b := w.signedIn("ada")
		token, link, err := w.MakeLink(t.Context(), boss, office, u.ID)
		must(t, err)
		if link.Kind != auth.Reset || !b.visit().Ready() {
			t.Fatalf("%s, %q", link.Kind, b.visit().Step)
		}
		_, err = w.UseLink(t.Context(), token, "nine loud ganders", office)
		must(t, err)
		if b.visit().Ready() {
			t.Error("still signed in")
		}
		_, err = w.browser().signIn("ada", "nine loud ganders", office)
		must(t, err)
	})
}
