package auth_test

import (
	"crypto/rand"
	"crypto/rsa"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"onefold/internal/auth"
	"onefold/internal/auth/authtest"
	"onefold/internal/store/storetest"
	"onefold/internal/work"
)

// eachSSO runs the test with a provider of its own.
func eachSSO(t *testing.T, cfg auth.SSOConfig, test func(t *testing.T, w *world, p *authtest.Provider)) {
	t.Helper()
	each(t, auth.Config{}, func(t *testing.T, w *world) { test(t, w, w.provider(cfg)) })
}

// provider is a new provider, at which people sign in from now on.
func (w *world) provider(cfg auth.SSOConfig) *authtest.Provider {
	w.t.Helper()
	p := authtest.New(w.t, w.clock.Now)
	cfg.Issuer, cfg.ClientID, cfg.ClientSecret, cfg.RedirectURL, cfg.HTTP = p.URL, authtest.ClientID, authtest.ClientSecret, "https://onefold.example/sso/answer", p.Client()
	w.cfg.SSO = &cfg
	w.restart(oldKey)
	return p
}

// leave begins a single sign-on and returns the provider's answer.
func (b *browser) leave(p *authtest.Provider) url.Values {
	b.w.t.Helper()
	var address string
	b.do(func(w http.ResponseWriter, r *http.Request) {
		var err error
		address, err = b.w.BeginSSO(w, r, "/items/7")
		must(b.w.t, err)
	})
	return p.Authorize(address)
}

func (b *browser) arrive(answer url.Values) (v auth.Visit, next string, err error) {
	b.at("/sso/answer?"+answer.Encode(), func(w http.ResponseWriter, r *http.Request) { v, next, err = b.w.FinishSSO(w, r, office) })
	return v, next, err
}

func refusedAs(t *testing.T, err error, want auth.SSOCode) {
	t.Helper()
	var refusal *auth.SSOError
	if !errors.As(err, &refusal) || refusal.Code != want {
		t.Fatalf("%v, want %s", err, want)
	}
}

var adaThere = map[string]any{"sub": "s-1", "email": "ada@example.com", "email_verified": true, "name": "Ada Brown", "groups": []string{"finance", "all"}}

func with(claims map[string]any, more ...any) map[string]any {
	c := map[string]any{}
	for k, v := range claims {
		c[k] = v
	}
	for i := 0; i < len(more); i += 2 {
		c[more[i].(string)] = more[i+1]
	}
	return c
}

var groupRoles = map[string][]work.Role{"finance": {work.Operator}, "it": {work.Ops, work.Admin}}

func TestSSORoundTrip(t *testing.T) {
	eachSSO(t, auth.SSOConfig{Provision: true, GroupRoles: groupRoles}, func(t *testing.T, w *world, p *authtest.Provider) {
		w.person("chief", work.Admin)
		p.Is(adaThere)
		b := w.browser()
		v, next, err := b.arrive(b.leave(p))
		must(t, err)
		if !v.Ready() || next != "/items/7" || v.User.Login != "ada@example.com" || v.User.Name != "Ada Brown" || !slices.Equal(v.User.Roles, []work.Role{work.Operator}) ||
			v.Session.Method != auth.BySSO {
			t.Fatalf("%+v %s", v, next)
		}
		if len(b.cookies) != 1 || !b.visit().Ready() {
			t.Errorf("%v", b.cookies)
		}
		// Again: the same person, by subject, though the address has changed; roles follow the groups, on all browsers.
		p.Is(with(adaThere, "email", "ada.new@example.com", "email_verified", false, "groups", []string{"it", "finance"}))
		other := w.browser()
		again, _, err := other.arrive(other.leave(p))
		must(t, err)
		if again.User.ID != v.User.ID || !again.Actor.Can(work.Admin) || !b.visit().Actor.Can(work.Ops) {
			t.Errorf("%+v", again.User)
		}
		if r := w.last(auth.DidChangeRoles); r.Before != "operator" || r.After != "operator,ops,admin" {
			t.Errorf("%+v", r)
		}
		// Required second steps are the provider's matter for them.
		must(t, w.SetSettings(t.Context(), boss, office, auth.SignInSettings{RequireSecondStep: true}))
		if !b.visit().Ready() {
			t.Error("a second step is asked for")
		}
		if _, err := w.browser().signIn("ada@example.com", "", office); !errors.Is(err, auth.ErrWrong) {
			t.Errorf("by an empty password: %v", err)
		}
		_, err = w.SetDisabled(t.Context(), boss, office, v.User.ID, true)
		must(t, err)
		_, _, err = b.arrive(b.leave(p))
		refusedAs(t, err, auth.SSODisabled)
	})
}

// The answer must belong to a sign-in that this browser began a short time ago, and counts once.
func TestSSOState(t *testing.T) {
	eachSSO(t, auth.SSOConfig{Provision: true}, func(t *testing.T, w *world, p *authtest.Provider) {
		p.Is(adaThere)
		mine, theirs := w.browser(), w.browser()
		answer := theirs.leave(p)
		refuse := func(b *browser, answer url.Values, want auth.SSOCode) {
			t.Helper()
			_, _, err := b.arrive(answer)
			refusedAs(t, err, want)
			if b.session() != "" {
				t.Fatal("and yet signed in")
			}
		}
		refuse(mine, answer, auth.SSOState) // nothing was begun here
		mine.leave(p)
		refuse(mine, answer, auth.SSOState) // another browser's answer
		forged := mine.leave(p)
		forged.Set("state", "")
		refuse(mine, forged, auth.SSOState)
		late := mine.leave(p)
		w.clock.advance(10 * time.Minute)
		refuse(mine, late, auth.SSOState)
		wrongProvider := mine.leave(p)
		wrongProvider.Set("iss", "https://evil.example")
		refuse(mine, wrongProvider, auth.SSOState)
		denied := mine.leave(p)
		denied.Del("code")
		denied.Set("error", "access_denied")
		refuse(mine, denied, auth.SSODenied)

		good := mine.leave(p)
		_, _, err := mine.arrive(good)
		must(t, err)
		again := mine.copied()
		delete(again.cookies, "onefold")
		refuse(again, good, auth.SSOState)
		if r := w.last(auth.DidSignInFailed); r.Note != string(auth.SSOState) || r.From != office {
			t.Errorf("%+v", r)
		}
	})
}

// A code that was taken from another sign-in does not pass the provider's PKCE check.
func TestSSOPKCE(t *testing.T) {
	eachSSO(t, auth.SSOConfig{Provision: true}, func(t *testing.T, w *world, p *authtest.Provider) {
		p.Is(adaThere)
		victim, thief := w.browser(), w.browser()
		stolen := victim.leave(p)
		injected := thief.leave(p)
		injected.Set("code", stolen.Get("code"))
		_, _, err := thief.arrive(injected)
		refusedAs(t, err, auth.SSOExchange)
		if strings.Contains(err.Error(), stolen.Get("code")) {
			t.Error("the error tells the code")
		}
		wrong := victim.leave(p)
		p.Misbehave(authtest.Trouble{Secret: "another"})
		_, _, err = victim.arrive(wrong)
		refusedAs(t, err, auth.SSOExchange)
	})
}

func TestSSOBadProofs(t *testing.T) {
	eachSSO(t, auth.SSOConfig{Provision: true}, func(t *testing.T, w *world, p *authtest.Provider) {
		stranger, err := rsa.GenerateKey(rand.Reader, 2048)
		must(t, err)
		for name, c := range map[string]struct {
			bend   func(map[string]any)
			signer *rsa.PrivateKey
			want   auth.SSOCode
		}{
			"nonce":          {func(c map[string]any) { c["nonce"] = "another" }, nil, auth.SSONonce},
			"no nonce":       {func(c map[string]any) { delete(c, "nonce") }, nil, auth.SSONonce},
			"wrong audience": {func(c map[string]any) { c["aud"] = "another client" }, nil, auth.SSOToken},
			"expired":        {func(c map[string]any) { c["exp"] = w.clock.Now().Add(-time.Minute).Unix() }, nil, auth.SSOToken},
			"wrong issuer":   {func(c map[string]any) { c["iss"] = "https://evil.example" }, nil, auth.SSOToken},
			"nobody":         {func(c map[string]any) { delete(c, "sub") }, nil, auth.SSOToken},
			"signature":      {nil, stranger, auth.SSOToken},
			"unverified":     {func(c map[string]any) { c["email_verified"] = false }, nil, auth.SSOEmail},
			"not verified":   {func(c map[string]any) { delete(c, "email_verified") }, nil, auth.SSOEmail},
			"no address":     {func(c map[string]any) { delete(c, "email") }, nil, auth.SSOEmail},
		} {
			t.Run(name, func(t *testing.T) {
				p.Is(adaThere)
				b := w.browser()
				answer := b.leave(p)
				p.Misbehave(authtest.Trouble{Bend: c.bend, Signer: c.signer})
				_, _, err := b.arrive(answer)
				refusedAs(t, err, c.want)
				if b.session() != "" {
					t.Error("and yet signed in")
				}
			})
		}
		if there, err := w.AnyUser(t.Context()); err != nil || there {
			t.Errorf("somebody was added: %v", err)
		}
	})
}

func TestSSOWhoMayComeIn(t *testing.T) {
	type outcome struct {
		cfg    auth.SSOConfig
		claims map[string]any
		want   auth.SSOCode // empty: signed in
		roles  []work.Role
	}
	for name, c := range map[string]outcome{
		"unknown":              {auth.SSOConfig{LinkByEmail: true}, with(adaThere, "email", "new@example.com"), auth.SSOUnknown, nil},
		"known, not linked":    {auth.SSOConfig{Provision: true}, adaThere, auth.SSOUnknown, nil},
		"neither":              {auth.SSOConfig{}, adaThere, auth.SSOUnknown, nil},
		"linked":               {auth.SSOConfig{LinkByEmail: true}, with(adaThere, "email", "ADA@example.com"), "", []work.Role{work.Ops}},
		"linked, not verified": {auth.SSOConfig{LinkByEmail: true}, with(adaThere, "email_verified", "false"), auth.SSOEmail, nil},
		"verified as text":     {auth.SSOConfig{LinkByEmail: true}, with(adaThere, "email_verified", "true"), "", []work.Role{work.Ops}},
		"new, no groups asked": {auth.SSOConfig{Provision: true}, with(adaThere, "email", "new@example.com"), "", []work.Role{work.Viewer}},
		"no group of ours":     {auth.SSOConfig{LinkByEmail: true, GroupRoles: groupRoles}, with(adaThere, "groups", []string{"all"}), auth.SSONoRole, nil},
		"default role": {auth.SSOConfig{LinkByEmail: true, GroupRoles: groupRoles, DefaultRoles: []work.Role{work.Viewer}}, with(adaThere, "groups", nil), "",
			[]work.Role{work.Viewer}},
		"one group as text": {auth.SSOConfig{LinkByEmail: true, GroupRoles: groupRoles}, with(adaThere, "groups", "it"), "", []work.Role{work.Ops, work.Admin}},
	} {
		t.Run(name, func(t *testing.T) {
			w := open(t, storetest.SQLite(t), auth.Config{}) // what differs between databases is tested above
			p := w.provider(c.cfg)
			known := w.person("ada@example.com", work.Ops)
			p.Is(c.claims)
			b := w.browser()
			v, _, err := b.arrive(b.leave(p))
			if c.want != "" {
				refusedAs(t, err, c.want)
				return
			}
			must(t, err)
			if !v.Ready() || !slices.Equal(v.User.Roles, c.roles) || c.cfg.LinkByEmail && v.User.ID != known.ID {
				t.Fatalf("%+v", v.User)
			}
			// Somebody else who has the address now does not become this person.
			p.Is(with(c.claims, "sub", "s-2"))
			_, _, err = b.arrive(b.leave(p))
			refusedAs(t, err, auth.SSOUnknown)
		})
	}
}

// The provider cannot take the last admin away, and being down it is asked again later.
func TestSSOProviderTrouble(t *testing.T) {
	eachSSO(t, auth.SSOConfig{LinkByEmail: true, GroupRoles: groupRoles}, func(t *testing.T, w *world, p *authtest.Provider) {
		w.person("ada@example.com", work.Admin)
		p.Is(adaThere)
		p.Misbehave(authtest.Trouble{Down: true})
		b := w.browser()
		b.do(func(rw http.ResponseWriter, r *http.Request) {
			_, err := w.BeginSSO(rw, r, "/")
			refusedAs(t, err, auth.SSOUnreachable)
		})
		p.Misbehave(authtest.Trouble{Down: false})
		v, _, err := b.arrive(b.leave(p))
		must(t, err)
		if !v.Actor.Can(work.Admin) {
			t.Error("nobody can administer any more")
		}
	})
}

func TestSSOSettings(t *testing.T) {
	each(t, auth.Config{}, func(t *testing.T, w *world) {
		if w.SingleSignOn() || w.SSOName() != "" {
			t.Error("single sign-on without a provider")
		}
		b := w.browser()
		_, _, err := b.arrive(url.Values{})
		wants(t, auth.ErrForbidden, err)
		for _, bad := range []auth.SSOConfig{{}, {Issuer: "login.example.com", ClientID: "x", RedirectURL: "y"}, {Issuer: "https://login.example.com", RedirectURL: "y"},
			{Issuer: "https://login.example.com", ClientID: "x"}} {
			if _, err := auth.New(auth.Config{Store: w.store, SSO: &bad}); err == nil {
				t.Errorf("%+v is accepted", bad)
			}
		}
	})
}
