package auth_test

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"onefold/internal/auth"
	"onefold/internal/work"
)

func (b *browser) changePassword(present, next string) (err error) {
	b.do(func(w http.ResponseWriter, r *http.Request) { err = b.w.ChangePassword(w, r, present, next, office) })
	return err
}

func TestSignIn(t *testing.T) {
	each(t, auth.Config{}, func(t *testing.T, w *world) {
		u := w.person("ada", work.Operator, work.Ops)
		b := w.browser()
		if v := b.visit(); v.Step != auth.SignedOut || v.Session.ID != 0 {
			t.Fatalf("%+v", v)
		}
		v, err := b.signIn(" ADA ", password, office)
		must(t, err)
		if !v.Ready() || !v.Actor.Same(u.Actor()) || !v.Actor.Can(work.Ops) || v.Actor.Can(work.Admin) {
			t.Fatalf("%+v", v)
		}
		if again := b.visit(); !again.Ready() || again.Session.ID != v.Session.ID || again.User.LastSignInAt.IsZero() {
			t.Fatalf("%+v", again)
		}
		for _, pair := range [][2]string{{"ada", password + "r"}, {"ada", ""}, {"nobody", password}, {"ada", strings.Repeat("x", 5000)}, {"a\x00da", password}, {"", ""}} {
			other := w.browser()
			_, err := other.signIn(pair[0], pair[1], elsewhere)
			wants(t, auth.ErrWrong, err)
			if other.session() != "" {
				t.Errorf("%q gets a cookie", pair)
			}
		}
		if r := w.last(auth.DidSignInFailed); r.From != elsewhere || r.By.Kind != "" {
			t.Errorf("%+v", r)
		}
		w.noSecret(password, "nobody") // what was typed as an unknown login may be a password
		if got := w.trail(); got[0] != auth.DidSignIn || len(got) != 7 {
			t.Errorf("%v", got)
		}
	})
}

// An unknown, a disabled and an invited person are answered like a wrong password, after as much work: one comparison with a
// hash that costs the same. Not the time is measured, which says nothing on a busy machine.
func TestUnknownLoginsTakeAsLong(t *testing.T) {
	each(t, auth.Config{}, func(t *testing.T, w *world) {
		w.person("ada")
		gone := w.person("gone")
		_, err := w.SetDisabled(t.Context(), boss, office, gone.ID, true)
		must(t, err)
		_, _, err = w.Invite(t.Context(), boss, office, auth.NewUser{Login: "new", Roles: []work.Role{work.Viewer}})
		must(t, err)
		var costs []string
		auth.Compared(w.Auth, func(hash string) {
			costs = append(costs, hash[:strings.LastIndex(hash[:strings.LastIndex(hash, "$")], "$")]) // all but salt and key
		})
		for _, login := range []string{"ada", "nobody", "gone", "new"} {
			costs = nil
			_, err := w.browser().signIn(login, "wrong", elsewhere)
			wants(t, auth.ErrWrong, err)
			if len(costs) != 1 || costs[0] != "$argon2id$v=19$m=19456,t=2,p=1" {
				t.Errorf("%s is compared with %q", login, costs)
			}
		}
	})
}

func TestThrottle(t *testing.T) {
	each(t, auth.Config{}, func(t *testing.T, w *world) {
		w.person("ada")
		w.signedIn("ada") // from the office
		attack := func(from auth.Origin) error {
			_, err := w.browser().signIn("ada", "wrong", from)
			return err
		}
		var slow *auth.Throttled
		var waits []time.Duration
		for len(waits) < 6 {
			err := attack(elsewhere)
			if errors.As(err, &slow) {
				waits = append(waits, slow.Wait)
				w.clock.advance(slow.Wait)
				continue
			}
			wants(t, auth.ErrWrong, err)
		}
		if !slices.IsSorted(waits) || waits[0] == 0 || waits[0] >= waits[2] || waits[5] != 30*time.Second {
			t.Errorf("the waits do not grow up to a bound: %v", waits)
		}
		// From many addresses the login as a whole is slowed down, but not where the person has signed in before.
		for i := range 30 {
			_ = attack(auth.Origin{Address: "198.51.100." + string(rune('a'+i))})
		}
		if err := attack(auth.Origin{Address: "198.51.100.99"}); !errors.As(err, &slow) {
			t.Errorf("from a new address: %v", err)
		}
		if _, err := w.browser().signIn("ada", password, office); err != nil {
			t.Errorf("locked out at the usual place: %v", err)
		}
		if _, err := w.browser().signIn("ada", password, elsewhere); !errors.As(err, &slow) {
			t.Errorf("not slowed down: %v", err)
		}
		// After the wait the right password gets through from anywhere: nobody is locked out for good.
		w.clock.advance(30 * time.Second)
		if _, err := w.browser().signIn("ada", password, auth.Origin{Address: "198.51.100.98"}); err != nil {
			t.Errorf("locked out: %v", err)
		}
	})
}

// Many guesses at the same moment are no way around.
func TestThrottleCountsBeforeItLooks(t *testing.T) {
	each(t, auth.Config{}, func(t *testing.T, w *world) {
		w.person("ada")
		var mu sync.Mutex
		looked := 0
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() {
				_, err := w.browser().signIn("ada", "wrong", elsewhere)
				mu.Lock()
				defer mu.Unlock()
				if errors.Is(err, auth.ErrWrong) {
					looked++
				}
			})
		}
		wg.Wait()
		if looked != 5 {
			t.Errorf("%d of 20 guesses were looked at", looked)
		}
	})
}

// An address that tries many logins is slowed down whatever it tries.
func TestThrottleByAddress(t *testing.T) {
	each(t, auth.Config{}, func(t *testing.T, w *world) {
		var slow *auth.Throttled
		for i := range 40 {
			_, err := w.browser().signIn("user"+string(rune('a'+i)), "wrong", elsewhere)
			if errors.As(err, &slow) {
				if i < 20 {
					t.Errorf("after %d tries already", i)
				}
				return
			}
		}
		t.Error("never")
	})
}

func TestPasswordsCanBeSwitchedOff(t *testing.T) {
	if _, err := auth.New(auth.Config{Store: nil}); err == nil {
		t.Error("no store is accepted")
	}
	each(t, auth.Config{NoPasswords: true, SSO: &auth.SSOConfig{Issuer: "https://login.example.com", ClientID: "x", RedirectURL: "https://x/y"}}, func(t *testing.T, w *world) {
		w.person("ada")
		_, err := w.browser().signIn("ada", password, office)
		wants(t, auth.ErrNoPasswords, err)
		if _, err := auth.New(auth.Config{Store: w.store, NoPasswords: true}); err == nil {
			t.Error("no way in at all is accepted")
		}
	})
}

func TestMustChange(t *testing.T) {
	each(t, auth.Config{}, func(t *testing.T, w *world) {
		_, err := w.AddUser(t.Context(), boss, office, auth.NewUser{Login: "ada", Roles: []work.Role{work.Viewer}}, password, true)
		must(t, err)
		b := w.browser()
		v, err := b.signIn("ada", password, office)
		must(t, err)
		if v.Step != auth.NeedsPassword || v.Actor.Kind != "" || len(v.Actor.Roles) != 0 {
			t.Fatalf("%+v", v)
		}
		must(t, b.changePassword(password, "nine loud ganders"))
		if !b.visit().Ready() {
			t.Error("not ready")
		}
	})
}
