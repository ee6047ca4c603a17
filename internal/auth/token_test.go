package auth_test

import (
	"errors"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"onefold/internal/auth"
	"onefold/internal/work"
)

func (w *world) bearer(header string) (auth.Grant, error) {
	r := httptest.NewRequestWithContext(w.t.Context(), "GET", "/", nil)
	r.Header.Set("Authorization", header)
	return w.Bearer(r, office)
}

func (w *world) token(n auth.NewToken) (auth.Token, string) {
	w.t.Helper()
	t, secret, err := w.CreateToken(w.t.Context(), boss, office, n)
	must(w.t, err)
	return t, secret
}

func TestTokens(t *testing.T) {
	each(t, auth.Config{}, func(t *testing.T, w *world) {
		tok, secret := w.token(auth.NewToken{Name: "shop", Scopes: []auth.Scope{auth.ItemsWrite, auth.ItemsRead, auth.ItemsWrite}, Lasts: 48 * time.Hour})
		if !strings.HasPrefix(secret, "of_") || len(secret) != 43 || !strings.HasPrefix(secret, tok.Prefix) || len(tok.Prefix) > 9 || strings.Contains(tok.Hash, secret[3:]) {
			t.Fatalf("%+v", tok)
		}
		g, err := w.bearer("Bearer " + secret)
		must(t, err)
		if !g.Has(auth.ItemsWrite) || !g.Has(auth.ItemsRead) || g.Has(auth.ImportWrite) || g.Actor.Kind != work.Token || g.Actor.Name != "shop" ||
			!g.Actor.Can(work.Operator) || g.Actor.Can(work.Admin, work.Ops) {
			t.Errorf("%+v", g)
		}
		_, read := w.token(auth.NewToken{Name: "reader", Scopes: []auth.Scope{auth.ItemsRead}, Lasts: time.Hour})
		if g, err := w.bearer("bearer  " + read); err != nil || g.Has(auth.ItemsWrite) || g.Actor.Can(work.Operator) {
			t.Errorf("%+v %v", g, err)
		}
		for _, bad := range []string{"", "Bearer ", "Bearer " + secret + "x", "Bearer " + secret[:42], "Bearer " + tok.Hash, "Basic " + secret, secret,
			"Bearer " + strings.Repeat("x", 10000), "Bearer of_\x00"} {
			_, err := w.bearer(bad)
			wants(t, auth.ErrNoToken, err)
		}
		w.clock.advance(time.Hour)
		_, err = w.bearer("Bearer " + read)
		wants(t, auth.ErrNoToken, err) // expired
		must(t, w.RevokeToken(t.Context(), boss, office, tok.ID))
		_, err = w.bearer("Bearer " + secret)
		wants(t, auth.ErrNoToken, err)
		wants(t, auth.ErrNotFound, w.RevokeToken(t.Context(), boss, office, tok.ID))
		wants(t, auth.ErrNotFound, w.RevokeToken(t.Context(), boss, office, 999))
		if r := w.last(auth.DidRevokeToken); !strings.HasSuffix(r.Object, "shop") {
			t.Errorf("%+v", r)
		}
		if r := w.last(auth.DidCreateToken); !strings.Contains(r.After, "items:read") || !strings.HasSuffix(r.Object, "reader") {
			t.Errorf("%+v", r)
		}
		w.noSecret(secret, read)
	})
}

func TestTokenInput(t *testing.T) {
	each(t, auth.Config{}, func(t *testing.T, w *world) {
		for field, n := range map[string]auth.NewToken{
			"name":       {Name: " ", Scopes: auth.Scopes, Lasts: time.Hour},
			"scopes":     {Name: "x", Scopes: []auth.Scope{"items:write", "all"}, Lasts: time.Hour},
			"expires":    {Name: "x", Scopes: auth.Scopes, Lasts: 3 * 366 * 24 * time.Hour},
			"per_minute": {Name: "x", Scopes: auth.Scopes, Lasts: time.Hour, PerMinute: -1},
		} {
			var bad *auth.BadInput
			if _, _, err := w.CreateToken(t.Context(), boss, office, n); !errors.As(err, &bad) || bad.Field != field {
				t.Errorf("%s: %v", field, err)
			}
		}
		if _, _, err := w.CreateToken(t.Context(), boss, office, auth.NewToken{Name: "x", Scopes: auth.Scopes}); err == nil {
			t.Error("a token without an end is made")
		}
	})
}

// The last use is noted, about a minute exact.
func TestTokenUseIsNoted(t *testing.T) {
	each(t, auth.Config{}, func(t *testing.T, w *world) {
		_, secret := w.token(auth.NewToken{Name: "shop", Scopes: auth.Scopes, Lasts: time.Hour})
		used := func() time.Time {
			_, err := w.bearer("Bearer " + secret)
			must(t, err)
			list, err := w.Tokens(t.Context(), boss)
			must(t, err)
			return list[0].LastUsedAt
		}
		first := used()
		w.clock.advance(59 * time.Second)
		if at := used(); !at.Equal(first) || first.IsZero() {
			t.Errorf("written again after %s", at.Sub(first))
		}
		w.clock.advance(time.Second)
		if at := used(); at.Sub(first) != time.Minute {
			t.Errorf("noted %s later", at.Sub(first))
		}
	})
}

func TestTokenLimit(t *testing.T) {
	each(t, auth.Config{}, func(t *testing.T, w *world) {
		_, busy := w.token(auth.NewToken{Name: "busy", Scopes: auth.Scopes, Lasts: time.Hour, PerMinute: 60})
		_, calm := w.token(auth.NewToken{Name: "calm", Scopes: auth.Scopes, Lasts: time.Hour})
		for range 6 {
			_, err := w.bearer("Bearer " + busy)
			must(t, err)
		}
		for range 5 { // a refused request is not counted
			var many *auth.TooMany
			if _, err := w.bearer("Bearer " + busy); !errors.As(err, &many) || many.Wait <= 0 || many.Wait > time.Second {
				t.Fatalf("%v", err)
			}
		}
		if _, err := w.bearer("Bearer " + calm); err != nil {
			t.Errorf("another token pays for it: %v", err)
		}
		w.clock.advance(time.Second)
		_, err := w.bearer("Bearer " + busy)
		must(t, err)
		if _, err := w.bearer("Bearer " + busy); err == nil {
			t.Error("one second gives more than one request")
		}
	})
}

func TestBuiltInToken(t *testing.T) {
	each(t, auth.Config{Token: "a-long-token-0123"}, func(t *testing.T, w *world) {
		g, err := w.bearer("Bearer a-long-token-0123")
		must(t, err)
		if !g.Has(auth.ImportWrite) || g.Actor.ID != "api" {
			t.Errorf("%+v", g)
		}
		_, err = w.bearer("Bearer a-long-token-012")
		wants(t, auth.ErrNoToken, err)
		if _, err := auth.New(auth.Config{Store: w.store, Token: "x"}); err == nil {
			t.Error("a short one is accepted")
		}
	})
}

func TestWrongTokensAreRecordedAndSlowedDown(t *testing.T) {
	each(t, auth.Config{}, func(t *testing.T, w *world) {
		_, good := w.token(auth.NewToken{Name: "shop", Scopes: auth.Scopes, Lasts: time.Hour})
		old, gone := w.token(auth.NewToken{Name: "old shop", Scopes: auth.Scopes, Lasts: time.Hour})
		must(t, w.RevokeToken(t.Context(), boss, office, old.ID))
		_, err := w.bearer("Bearer " + gone)
		wants(t, auth.ErrNoToken, err)
		if r := w.last(auth.DidRefuseToken); r.Object != old.Object() || r.Note != "revoked token" || r.From.Address != office.Address {
			t.Errorf("%+v", r)
		}
		const guess = "of_guess"
		var slow *auth.TooMany
		tries := 0
		for ; !errors.As(err, &slow); tries++ {
			if _, err = w.bearer("Bearer " + guess); tries > 100 {
				t.Fatal("guessing is not slowed down")
			}
		}
		count := func() (n int) {
			for _, code := range w.trail() {
				if code == auth.DidRefuseToken {
					n++
				}
			}
			return n
		}
		entries := count()
		if entries > 12 || slow.Wait <= 0 {
			t.Errorf("%d entries, then a wait of %s", entries, slow.Wait)
		}
		for range 100 {
			_, _ = w.bearer("Bearer " + guess)
		}
		if n := count(); n != entries {
			t.Errorf("%d more entries while waiting", n-entries)
		}
		if _, err := w.bearer("Bearer " + good); err != nil {
			t.Errorf("a good token from the same address: %v", err)
		}
		w.clock.advance(slow.Wait)
		_, err = w.bearer("Bearer " + guess)
		wants(t, auth.ErrNoToken, err)
		w.noSecret(guess, good, gone)
	})
}
