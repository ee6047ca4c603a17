package auth_test

import (
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

// provider is a small but real OpenID Connect provider: discovery, keys, authorization, and a token end-point that
// verifies the client, the redirect address, PKCE, and that a code is used once.
type provider struct {
	*httptest.Server
	t      *testing.T
	clock  *clock
	key    *rsa.PrivateKey
	secret string

	mu     sync.Mutex
	codes  map[string]grant
	claims map[string]any              // of the person who is signed in at the provider
	bend   func(claims map[string]any) // makes the next proof a bad one
	signer *rsa.PrivateKey             // not nil: signs in place of the provider's key
	down   bool
}

// grant is what a code stands for.
type grant struct{ challenge, nonce, redirect string }

const clientID = "onefold"

func newProvider(t *testing.T, c *clock) *provider {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	must(t, err)
	p := &provider{t: t, clock: c, key: key, secret: "client secret & more", codes: map[string]grant{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.down {
			http.Error(w, "down", http.StatusServiceUnavailable)
			return
		}
		p.send(w, http.StatusOK, map[string]any{"issuer": p.URL, "authorization_endpoint": p.URL + "/authorize", "token_endpoint": p.URL + "/token",
			"jwks_uri": p.URL + "/keys", "id_token_signing_alg_values_supported": []string{"RS256"}, "code_challenge_methods_supported": []string{"S256"}})
	})
	mux.HandleFunc("GET /keys", func(w http.ResponseWriter, _ *http.Request) {
		p.send(w, http.StatusOK, jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: &key.PublicKey, KeyID: "one", Algorithm: "RS256", Use: "sig"}}})
	})
	mux.HandleFunc("POST /token", p.token)
	p.Server = httptest.NewServer(mux)
	t.Cleanup(p.Close)
	return p
}

func (p *provider) send(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	if err := json.NewEncoder(w).Encode(v); err != nil {
		p.t.Error(err)
	}
}

// authorize is what the provider does with the address that the browser was sent to: it returns the query of the answer.
func (p *provider) authorize(address string) url.Values {
	p.t.Helper()
	u, err := url.Parse(address)
	must(p.t, err)
	q := u.Query()
	if u.Path != "/authorize" || q.Get("response_type") != "code" || q.Get("client_id") != clientID || q.Get("code_challenge_method") != "S256" ||
		q.Get("code_challenge") == "" || q.Get("state") == "" || q.Get("nonce") == "" || q.Get("scope") != "openid email profile" {
		p.t.Fatalf("the browser is sent to %s", address)
	}
	code := rand.Text()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.codes[code] = grant{q.Get("code_challenge"), q.Get("nonce"), q.Get("redirect_uri")}
	return url.Values{"code": {code}, "state": {q.Get("state")}}
}

func (p *provider) token(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	id, secret, basic := r.BasicAuth()
	id, _ = url.QueryUnescape(id)
	secret, _ = url.QueryUnescape(secret)
	if !basic || id != clientID || secret != p.secret {
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
	now := p.clock.Now()
	claims := map[string]any{"iss": p.URL, "aud": clientID, "iat": now.Unix(), "exp": now.Add(5 * time.Minute).Unix(), "nonce": g.nonce}
	maps.Copy(claims, p.claims)
	if p.bend != nil {
		p.bend(claims)
	}
	key := p.key
	if p.signer != nil {
		key = p.signer
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.RS256, Key: jose.JSONWebKey{Key: key, KeyID: "one"}}, nil)
	must(p.t, err)
	raw, err := jwt.Signed(signer).Claims(claims).Serialize()
	must(p.t, err)
	p.send(w, http.StatusOK, map[string]any{"access_token": rand.Text(), "token_type": "Bearer", "id_token": raw})
}

// is says who is signed in at the provider.
func (p *provider) is(claims map[string]any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.claims, p.bend, p.signer = claims, nil, nil
}
