// Package authtest gives tests a small but real OpenID Connect provider.
package authtest

import (
	"cmp"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
)

// Provider is a small but real OpenID Connect provider: discovery, keys, authorization, and a token end-point that
// verifies the client, the redirect address, PKCE, and that a code is used once.
type Provider struct {
	*httptest.Server
	t   testing.TB
	now func() time.Time
	key *rsa.PrivateKey

	mu      sync.Mutex
	codes   map[string]grant
	claims  map[string]any // of the person who is signed in at the provider
	trouble Trouble
}

// Trouble is how a provider misbehaves.
type Trouble struct {
	Secret string                      // not empty: the only client secret that it takes
	Bend   func(claims map[string]any) // makes the next proofs bad ones
	Signer *rsa.PrivateKey             // not nil: signs in place of the provider's key
	Down   bool                        // it does not describe itself
}

// grant is what a code stands for.
type grant struct{ challenge, nonce, redirect string }

// What the provider knows its one client by.
const (
	ClientID     = "onefold"
	ClientSecret = "client secret & more"
)

// New starts a provider whose proofs are of the time that now tells. It stops at the end of the test.
func New(t testing.TB, now func() time.Time) *Provider {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	p := &Provider{t: t, now: now, key: key, codes: map[string]grant{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.trouble.Down {
			http.Error(w, "down", http.StatusServiceUnavailable)
			return
		}
		p.send(w, http.StatusOK, map[string]any{"issuer": p.URL, "authorization_endpoint": p.URL + "/authorize", "token_endpoint": p.URL + "/token",
			"jwks_uri": p.URL + "/keys", "id_token_signing_alg_values_supported": []string{"RS256"}, "code_challenge_methods_supported": []string{"S256"}})
	})
	mux.HandleFunc("GET /keys", func(w http.ResponseWriter, _ *http.Request) {
		p.send(w, http.StatusOK, jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: &key.PublicKey, KeyID: "one", Algorithm: "RS256", Use: "sig"}}})
	})
	mux.HandleFunc("GET /authorize", func(w http.ResponseWriter, r *http.Request) { // the person is signed in there already
		answer := p.Authorize(r.URL.String())
		http.Redirect(w, r, r.URL.Query().Get("redirect_uri")+"?"+answer.Encode(), http.StatusFound)
	})
	mux.HandleFunc("POST /token", p.token)
	p.Server = httptest.NewServer(mux)
	t.Cleanup(p.Close)
	return p
}

func (p *Provider) send(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	if err := json.NewEncoder(w).Encode(v); err != nil {
		p.t.Error(err)
	}
}

// Authorize is what the provider does with the address that a browser was sent to: it returns the query of the answer.
func (p *Provider) Authorize(address string) url.Values {
	p.t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		p.t.Fatal(err)
	}
	q := u.Query()
	if u.Path != "/authorize" || q.Get("response_type") != "code" || q.Get("client_id") != ClientID || q.Get("code_challenge_method") != "S256" ||
		q.Get("code_challenge") == "" || q.Get("state") == "" || q.Get("nonce") == "" || q.Get("scope") != "openid email profile" {
		p.t.Errorf("the browser is sent to %s", address)
	}
	code := rand.Text()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.codes[code] = grant{q.Get("code_challenge"), q.Get("nonce"), q.Get("redirect_uri")}
	return url.Values{"code": {code}, "state": {q.Get("state")}}
}

func (p *Provider) token(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	id, secret, basic := r.BasicAuth()
	id, _ = url.QueryUnescape(id)
	secret, _ = url.QueryUnescape(secret)
	if !basic || id != ClientID || secret != cmp.Or(p.trouble.Secret, ClientSecret) {
		p.send(w, http.StatusUnauthorized, map[string]string{"error": "invalid_client"})
		return
	}
	g, known := p.codes[r.FormValue("code")]
	delete(p.codes, r.FormValue("code"))
	sum := sha256.Sum256([]byte(r.FormValue("code_verifier")))
	if !known || r.FormValue("redirect_uri") != g.redirect || base64.RawURLEncoding.EncodeToString(sum[:]) != g.challenge {
		p.send(w, http.StatusBadRequest, map[string]string{"error": "invalid_grant"})
		return
	}
	now := p.now()
	claims := map[string]any{"iss": p.URL, "aud": ClientID, "iat": now.Unix(), "exp": now.Add(5 * time.Minute).Unix(), "nonce": g.nonce}
	maps.Copy(claims, p.claims)
	if p.trouble.Bend != nil {
		p.trouble.Bend(claims)
	}
	key := p.key
	if p.trouble.Signer != nil {
		key = p.trouble.Signer
	}
	raw, err := signed(claims, key)
	if err != nil {
		p.t.Error(err)
	}
	p.send(w, http.StatusOK, map[string]any{"access_token": rand.Text(), "token_type": "Bearer", "id_token": raw})
}

func signed(claims map[string]any, key *rsa.PrivateKey) (string, error) {
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.RS256, Key: jose.JSONWebKey{Key: key, KeyID: "one"}}, nil)
	if err != nil {
		return "", err
	}
	return jwt.Signed(signer).Claims(claims).Serialize()
}

// Is says who is signed in at the provider; trouble ends.
func (p *Provider) Is(claims map[string]any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.claims, p.trouble = claims, Trouble{}
}

// Misbehave begins trouble.
func (p *Provider) Misbehave(t Trouble) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.trouble = t
}
