// Package accounttest is an accounting system for tests whose account is connected by OAuth 2.0. It is as strict as the
// strictest vendor: a code works once and needs its PKCE verifier, and so does a refresh token, whose reuse kills the login.
package accounttest

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"onefold/internal/ledger"
)

// Client is who may ask for logins here.
const (
	ClientID     = "client-1"
	ClientSecret = "s3cret-of-the-client"
)

// Vault is the accounting system.
type Vault struct {
	URL string

	mu      sync.Mutex
	books   []ledger.Book
	deny    string // the error that a person's answer becomes
	lasts   time.Duration
	codes   map[string]grant
	refresh map[string]bool // works: true; spent: false
	access  map[string]bool
	made    int
	dead    bool
	down    bool

	exchanges, renewals, sends int
	given                      []string
}

type grant struct{ challenge, redirect string }

// New starts a system with one set of books, "North Ltd". It ends with the test.
func New(t testing.TB) *Vault {
	t.Helper()
	v := &Vault{books: []ledger.Book{{ID: "north", Name: "North Ltd"}}, lasts: time.Hour,
		codes: map[string]grant{}, refresh: map[string]bool{}, access: map[string]bool{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /authorize", v.authorize)
	mux.HandleFunc("POST /token", v.token)
	mux.HandleFunc("GET /books", v.listBooks)
	mux.HandleFunc("GET /books/{book}/identity", v.identity)
	mux.HandleFunc("GET /books/{book}/invoices", v.find)
	mux.HandleFunc("POST /books/{book}/invoices", v.send)
	srv := httptest.NewServer(mux)
	t.Cleanup(srv.Close)
	v.URL = srv.URL
	return v
}

// Set changes how the system behaves: its books, the error it denies with (empty: none), how long an access lasts.
func (v *Vault) Set(f func(s *Behaviour)) {
	v.mu.Lock()
	defer v.mu.Unlock()
	s := Behaviour{v.books, v.deny, v.lasts, v.dead, v.down}
	f(&s)
	v.books, v.deny, v.lasts, v.dead, v.down = s.Books, s.Deny, s.Lasts, s.Dead, s.Down
}

// Behaviour is what tests may change.
type Behaviour struct {
	Books []ledger.Book
	Deny  string        // the error code of the next answers of people; empty: they agree
	Lasts time.Duration // of an access
	Dead  bool          // the login is withdrawn
	Down  bool          // it answers 503
}

// Counts are what was asked for so far.
type Counts struct {
	Exchanges, Renewals, Sends int
	Dead                       bool
	Secrets                    []string // every token that was ever given
}

// Counts returns them.
func (v *Vault) Counts() Counts {
	v.mu.Lock()
	defer v.mu.Unlock()
	return Counts{v.exchanges, v.renewals, v.sends, v.dead, append([]string{}, v.given...)}
}

// authorize is the page on which a person agrees; this one agrees at once.
func (v *Vault) authorize(w http.ResponseWriter, r *http.Request) {
	v.mu.Lock()
	defer v.mu.Unlock()
	q := r.URL.Query()
	to, err := url.Parse(q.Get("redirect_uri"))
	if err != nil || q.Get("client_id") != ClientID || q.Get("code_challenge_method") != "S256" || q.Get("response_type") != "code" {
		http.Error(w, "a wrong request", http.StatusBadRequest)
		return
	}
	answer := url.Values{"state": {q.Get("state")}}
	if v.deny != "" {
		answer.Set("error", v.deny)
	} else {
		v.made++
		code := fmt.Sprintf("s3cret-code-%d", v.made)
		v.codes[code] = grant{q.Get("code_challenge"), q.Get("redirect_uri")}
		v.given = append(v.given, code)
		answer.Set("code", code)
		answer.Set("tenant", "t-1")
	}
	to.RawQuery = answer.Encode()
	http.Redirect(w, r, to.String(), http.StatusFound)
}

func (v *Vault) token(w http.ResponseWriter, r *http.Request) {
	v.mu.Lock()
	defer v.mu.Unlock()
	id, secret, _ := r.BasicAuth()
	if v.down {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	refuse := func(code string) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		_ = json.NewEncoder(w).Encode(map[string]string{"error": code, "error_description": "sent was " + r.PostFormValue("refresh_token") + r.PostFormValue("code")})
	}
	if id != ClientID || secret != ClientSecret {
		refuse("invalid_client")
		return
	}
	switch r.PostFormValue("grant_type") {
	case "authorization_code":
		v.exchanges++
		code := r.PostFormValue("code")
		g, known := v.codes[code]
		delete(v.codes, code)
		sum := sha256.Sum256([]byte(r.PostFormValue("code_verifier")))
		if !known || base64.RawURLEncoding.EncodeToString(sum[:]) != g.challenge || r.PostFormValue("redirect_uri") != g.redirect {
			refuse("invalid_grant")
			return
		}
		v.dead = false
	case "refresh_token":
		v.renewals++
		was := r.PostFormValue("refresh_token")
		if works, known := v.refresh[was]; known && !works {
			v.dead = true
		}
		if v.dead || !v.refresh[was] {
			refuse("invalid_grant")
			return
		}
		v.refresh[was] = false
	default:
		refuse("unsupported_grant_type")
		return
	}
	access, refresh := v.give()
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"access_token": access, "refresh_token": refresh, "token_type": "Bearer",
		"expires_in": int(v.lasts.Seconds()), "scope": "invoices books"})
}

func (v *Vault) give() (access, refresh string) {
	v.made++
	access, refresh = fmt.Sprintf("s3cret-access-%d", v.made), fmt.Sprintf("s3cret-refresh-%d", v.made)
	v.access[access], v.refresh[refresh] = true, true
	v.given = append(v.given, access, refresh)
	return access, refresh
}

// Give returns a login as a person's consent would.
func (v *Vault) Give() ledger.Token {
	v.mu.Lock()
	defer v.mu.Unlock()
	access, refresh := v.give()
	return ledger.Token{Access: access, Refresh: refresh}
}

// Renew spends a refresh token and says which one took its place; it is what an adapter's renewal does, without the network.
func (v *Vault) Renew(_ context.Context, was ledger.Token) (ledger.Token, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.renewals++
	if works, known := v.refresh[was.Refresh]; known && !works {
		v.dead = true
	}
	if v.dead || !v.refresh[was.Refresh] {
		return ledger.Token{}, fmt.Errorf("%w: it was %s", ledger.ErrLoginRefused, was.Refresh)
	}
	v.refresh[was.Refresh] = false
	access, refresh := v.give()
	return ledger.Token{Access: access, Refresh: refresh, Expires: time.Now().Add(v.lasts)}, nil
}

// may reports whether the request carries a login; it answers itself if not.
func (v *Vault) may(w http.ResponseWriter, r *http.Request) bool {
	access, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if v.down {
		w.WriteHeader(http.StatusServiceUnavailable)
		return false
	}
	if v.dead || !v.access[access] {
		w.WriteHeader(http.StatusUnauthorized)
		return false
	}
	return true
}

func (v *Vault) listBooks(w http.ResponseWriter, r *http.Request) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.may(w, r) {
		_ = json.NewEncoder(w).Encode(v.books)
	}
}

func (v *Vault) identity(w http.ResponseWriter, r *http.Request) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if !v.may(w, r) {
		return
	}
	for _, b := range v.books {
		if b.ID == r.PathValue("book") {
			_ = json.NewEncoder(w).Encode(b)
			return
		}
	}
	w.WriteHeader(http.StatusForbidden)
}

func (v *Vault) find(w http.ResponseWriter, r *http.Request) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.may(w, r) {
		_, _ = w.Write([]byte("[]"))
	}
}

func (v *Vault) send(w http.ResponseWriter, r *http.Request) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.may(w, r) {
		v.sends++
		_ = json.NewEncoder(w).Encode(map[string]string{"id": fmt.Sprintf("R-%d", v.sends)})
	}
}
