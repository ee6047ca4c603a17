package auth_test

import (
	"bytes"
	"errors"
	"image/png"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"

	"onefold/internal/auth"
	"onefold/internal/work"
)

func (b *browser) check(code string) (v auth.Visit, err error) {
	b.do(func(w http.ResponseWriter, r *http.Request) { v, err = b.w.CheckCode(w, r, code, office) })
	return v, err
}

func (b *browser) confirm(code string) (codes []string, err error) {
	b.do(func(w http.ResponseWriter, r *http.Request) { codes, err = b.w.ConfirmEnrol(w, r, code, office) })
	return codes, err
}

// code is what the authenticator app shows now.
func (w *world) code(secret string) string {
	w.t.Helper()
	code, err := totp.GenerateCode(secret, w.clock.Now())
	must(w.t, err)
	return code
}

// enrolled is a browser of a person with a second step, with the app's secret and the recovery codes.
func (w *world) enrolled(login string) (*browser, string, []string) {
	w.t.Helper()
	b := w.signedIn(login)
	e, err := w.BeginEnrol(w.t.Context(), b.visit())
	must(w.t, err)
	codes, err := b.confirm(w.code(e.Secret))
	must(w.t, err)
	w.clock.advance(time.Minute)
	return b, e.Secret, codes
}

func TestEnrol(t *testing.T) {
	each(t, auth.Config{Issuer: "Acme Onefold"}, func(t *testing.T, w *world) {
		w.person("ada")
		b, other := w.signedIn("ada"), w.signedIn("ada")
		before := b.copied()
		e, err := w.BeginEnrol(t.Context(), b.visit())
		must(t, err)
		img, err := png.Decode(bytes.NewReader(e.PNG))
		if err != nil || img.Bounds().Dx() < 100 || !strings.HasPrefix(e.URL, "otpauth://totp/Acme%20Onefold:ada?") || len(e.Secret) != 32 {
			t.Fatalf("%v %s", err, e.URL)
		}
		if v, err := w.browser().signIn("ada", password, office); err != nil || !v.Ready() {
			t.Fatalf("an unproven secret counts: %v %v", v.Step, err)
		}
		if _, err := b.confirm("000000"); !errors.Is(err, auth.ErrWrongCode) {
			t.Fatal(err)
		}
		codes, err := b.confirm(w.code(e.Secret))
		must(t, err)
		if len(codes) != 10 || len(codes[0]) != 29 || codes[0] == codes[1] {
			t.Errorf("%v", codes)
		}
		if !b.visit().Ready() || other.visit().Ready() || before.visit().Ready() {
			t.Error("other sessions, or the old id, go on")
		}
		u, err := w.store.UserByLogin(t.Context(), 1, "ada")
		must(t, err)
		if strings.Contains(u.TOTPSecret, e.Secret) || !u.HasSecondStep() || u.TOTPPending != "" {
			t.Errorf("stored as %q", u.TOTPSecret)
		}
		w.noSecret(append(codes, e.Secret)...)

		w.clock.advance(20 * time.Minute)
		b.visit()
		_, err = w.BeginEnrol(t.Context(), b.visit())
		wants(t, auth.ErrNotFresh, err)
	})
}

func TestSecondStep(t *testing.T) {
	each(t, auth.Config{}, func(t *testing.T, w *world) {
		u := w.person("ada", work.Admin)
		_, secret, _ := w.enrolled("ada")
		b := w.browser()
		v, err := b.signIn("ada", password, elsewhere)
		must(t, err)
		if v.Step != auth.NeedsCode || v.Actor.Can(auth.AllRoles...) || b.visit().Ready() {
			t.Fatalf("the password is enough: %+v", v)
		}
		if known, err := w.store.KnownAddress(t.Context(), u.ID, elsewhere.Address); err != nil || known {
			t.Errorf("half a sign-in makes an address known: %v", err)
		}
		if err := b.changePassword(password, "nine loud ganders"); !errors.Is(err, auth.ErrForbidden) {
			t.Errorf("the password is changed without the code: %v", err)
		}
		if _, err := w.BeginEnrol(t.Context(), b.visit()); !errors.Is(err, auth.ErrForbidden) {
			t.Errorf("another app is enrolled without the code: %v", err)
		}
		wants(t, auth.ErrForbidden, w.RemoveSecondStep(t.Context(), b.visit(), office, u.ID))
		half := b.copied()
		code := w.code(secret)
		v, err = b.check(code[:3] + " " + code[3:])
		must(t, err)
		if !v.Ready() || !b.visit().Ready() {
			t.Fatalf("%+v", v)
		}
		if half.visit().Ready() {
			t.Error("the id from before the code is signed in too")
		}
		slow := w.browser()
		_, err = slow.signIn("ada", password, office)
		must(t, err)
		w.clock.advance(15 * time.Minute)
		_, err = slow.check(w.code(secret))
		wants(t, auth.ErrForbidden, err)
	})
}

// A code works once, also on another browser, and an earlier one does not work after it.
func TestCodesAreNotReplayed(t *testing.T) {
	each(t, auth.Config{}, func(t *testing.T, w *world) {
		w.person("ada")
		_, secret, _ := w.enrolled("ada")
		waiting := func() *browser {
			b := w.browser()
			_, err := b.signIn("ada", password, office)
			must(t, err)
			return b
		}
		earlier := w.code(secret)
		w.clock.advance(30 * time.Second)
		code := w.code(secret)
		const tries = 4
		browsers := make([]*browser, tries)
		errs := make([]error, tries)
		for i := range browsers {
			browsers[i] = waiting()
		}
		var wg sync.WaitGroup
		for i, b := range browsers {
			wg.Go(func() { _, errs[i] = b.check(code) })
		}
		wg.Wait()
		passed := 0
		for _, err := range errs {
			if err == nil {
				passed++
			} else {
				wants(t, auth.ErrWrongCode, err)
			}
		}
		if passed != 1 {
			t.Fatalf("the code worked %d times", passed)
		}
		w.clock.advance(time.Second)
		_, err := waiting().check(earlier)
		wants(t, auth.ErrWrongCode, err)
		w.clock.advance(29 * time.Second)
		if _, err := waiting().check(w.code(secret)); err != nil {
			t.Errorf("the next code: %v", err)
		}
		w.clock.advance(5 * time.Minute)
		_, err = waiting().check(code)
		wants(t, auth.ErrWrongCode, err)
	})
}

func TestWrongCodes(t *testing.T) {
	each(t, auth.Config{}, func(t *testing.T, w *world) {
		w.person("ada")
		_, secret, _ := w.enrolled("ada")
		b := w.browser()
		_, err := b.signIn("ada", password, office)
		must(t, err)
		for i := range 5 {
			if v := b.visit(); v.Step != auth.NeedsCode {
				t.Fatalf("after %d: %q", i, v.Step)
			}
			_, err := b.check("000000")
			wants(t, auth.ErrWrongCode, err)
		}
		if v := b.visit(); v.Step != auth.SignedOut {
			t.Errorf("guessing goes on: %q", v.Step)
		}
		// With the password again, guessing is slow and slower; the right code gets through after the wait.
		_, err = b.signIn("ada", password, office)
		must(t, err)
		var slow *auth.Throttled
		if _, err := b.check(w.code(secret)); !errors.As(err, &slow) {
			t.Fatalf("not slowed down: %v", err)
		}
		w.clock.advance(slow.Wait)
		_, err = b.check(w.code(secret))
		must(t, err)
	})
}

func TestRecoveryCodes(t *testing.T) {
	each(t, auth.Config{}, func(t *testing.T, w *world) {
		u := w.person("ada")
		w.person("ben")
		b, _, codes := w.enrolled("ada")
		_, _, bens := w.enrolled("ben")
		enter := func(code string) (*browser, error) {
			b := w.browser()
			_, err := b.signIn("ada", password, office)
			must(t, err)
			_, err = b.check(code)
			return b, err
		}
		in, err := enter(strings.ToUpper(codes[0]))
		if err != nil || !in.visit().Ready() {
			t.Fatal(err)
		}
		for _, bad := range []string{codes[0], bens[0], "aaaa-bbbb-cccc-dddd", ""} {
			_, err := enter(bad)
			wants(t, auth.ErrWrongCode, err)
		}
		if n, err := w.CodesLeft(t.Context(), u.ID); err != nil || n != 9 {
			t.Errorf("%d left, %v", n, err)
		}
		renewed, err := w.RenewCodes(t.Context(), b.visit(), office)
		must(t, err)
		_, err = enter(codes[1])
		wants(t, auth.ErrWrongCode, err)
		w.clock.advance(time.Hour) // past the wait for wrong codes
		_, err = enter(renewed[1])
		must(t, err)
		w.last(auth.DidUseCode)
		w.noSecret(append(codes, renewed...)...)
	})
}

// Admins require a second step: who has none sets it up before anything else; single sign-on is the provider's matter.
func TestRequiredSecondStep(t *testing.T) {
	each(t, auth.Config{}, func(t *testing.T, w *world) {
		w.person("ada")
		b := w.signedIn("ada")
		must(t, w.SetSettings(t.Context(), boss, office, auth.SignInSettings{RequireSecondStep: true}))
		v := b.visit()
		if v.Step != auth.NeedsEnrol || v.Actor.Kind != "" {
			t.Fatalf("%+v", v)
		}
		e, err := w.BeginEnrol(t.Context(), v)
		must(t, err)
		_, err = b.confirm(w.code(e.Secret))
		must(t, err)
		if !b.visit().Ready() {
			t.Errorf("%q", b.visit().Step)
		}
		if r := w.last(auth.DidRequireStep); !strings.Contains(r.Before, "false") || !strings.Contains(r.After, "true") {
			t.Errorf("%+v", r)
		}
	})
}

func TestRemoveSecondStep(t *testing.T) {
	each(t, auth.Config{}, func(t *testing.T, w *world) {
		u := w.person("ada")
		w.person("chief", work.Admin)
		b, _, codes := w.enrolled("ada")
		chief := w.signedIn("chief")
		wants(t, auth.ErrForbidden, w.RemoveSecondStep(t.Context(), w.signedIn(w.person("ben").Login).visit(), office, u.ID))
		must(t, w.RemoveSecondStep(t.Context(), chief.visit(), office, u.ID))
		if b.visit().Ready() {
			t.Error("the sessions go on")
		}
		v, err := b.signIn("ada", password, office)
		must(t, err)
		if n, err := w.CodesLeft(t.Context(), u.ID); !v.Ready() || n != 0 || err != nil {
			t.Errorf("%q, %d of %d codes left", v.Step, n, len(codes))
		}
	})
}

// The secret is sealed anew with the newest key, so that the old key can be dropped.
func TestSealedSecretsFollowTheKeys(t *testing.T) {
	each(t, auth.Config{}, func(t *testing.T, w *world) {
		w.person("ada")
		_, secret, codes := w.enrolled("ada")
		enter := func(code string) error {
			b := w.browser()
			_, err := b.signIn("ada", password, office)
			must(t, err)
			_, err = b.check(code)
			return err
		}
		w.restart(newKey, oldKey)
		must(t, w.RunOnce(t.Context()))
		w.restart(newKey)
		must(t, enter(w.code(secret)))
		w.restart(oldKey)
		w.clock.advance(time.Minute)
		if err := enter(w.code(secret)); err == nil || errors.Is(err, auth.ErrWrongCode) {
			t.Errorf("opened without its key: %v", err)
		}
		must(t, enter(codes[0])) // recovery codes need no key
	})
}

// The picture can be asked for again, until a code was seen.
func TestPendingEnrolment(t *testing.T) {
	each(t, auth.Config{}, func(t *testing.T, w *world) {
		w.person("ada")
		b := w.signedIn("ada")
		_, err := w.PendingEnrol(b.visit())
		wants(t, auth.ErrNotFound, err)
		made, err := w.BeginEnrol(t.Context(), b.visit())
		must(t, err)
		again, err := w.PendingEnrol(b.visit())
		must(t, err)
		if again.Secret != made.Secret || again.URL != made.URL || !bytes.Equal(again.PNG, made.PNG) {
			t.Errorf("%s is not %s", again.URL, made.URL)
		}
		_, err = b.confirm(w.code(made.Secret))
		must(t, err)
		_, err = w.PendingEnrol(b.visit())
		wants(t, auth.ErrNotFound, err)
		w.clock.advance(16 * time.Minute)
		_, err = w.PendingEnrol(b.visit())
		wants(t, auth.ErrNotFresh, err)
	})
}
