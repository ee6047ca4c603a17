package rest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"onefold/internal/ledger"
)

// issued keeps the access token of one server. A login by client credentials, or by a refresh token that stays the same,
// may be made by each server for itself.
type issued struct {
	mu    sync.Mutex
	token ledger.Token
}

// Load implements ledger.TokenStore.
func (i *issued) Load(context.Context) (ledger.Token, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.token, nil
}

// Renew implements ledger.TokenStore.
func (i *issued) Renew(ctx context.Context, spent ledger.Token, renew func(context.Context, ledger.Token) (ledger.Token, error)) (ledger.Token, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.token != spent {
		return i.token, nil
	}
	t, err := renew(ctx, spent)
	if err == nil {
		i.token = t
	}
	return t, err
}

// tokens asks for access tokens.
type tokens struct {
	http *ledger.Transport
	form url.Values
	now  func() time.Time
}

// newTokens makes the client of auth.oauth2, without I/O.
func newTokens(c ledger.Connection, a auth, d document) (*tokens, error) {
	address, err := a.tokens.value(d)
	if err != nil {
		return nil, err
	}
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.RawQuery != "" || u.User != nil || u.Scheme != "https" && u.Hostname() != "127.0.0.1" && u.Hostname() != "localhost" {
		return nil, &wrong{0, "auth.oauth2.token_url", "it must be an address such as https://login.example.com/token"}
	}
	t := &tokens{form: url.Values{"grant_type": {a.grant}, "client_secret": {c.Secrets["client_secret"]}}, now: c.Now}
	if t.now == nil {
		t.now = time.Now
	}
	for name, v := range map[string]*text{"client_id": a.client, "scope": a.scope} {
		if v == nil {
			continue
		}
		value, err := v.value(d)
		if err != nil {
			return nil, err
		}
		t.form.Set(name, value)
	}
	for _, f := range a.further {
		value, err := f.value(d)
		if err != nil {
			return nil, err
		}
		t.form.Set(f.name, value)
	}
	if a.grant == "refresh_token" {
		t.form.Set("refresh_token", c.Secrets["refresh_token"])
	}
	t.http, err = c.Transport(ledger.Config{BaseURL: address, Secrets: secretsOf(c)})
	return t, err
}

// renew gets an access token. A refusal wraps ledger.ErrLoginRefused.
func (t *tokens) renew(ctx context.Context, was ledger.Token) (ledger.Token, error) {
	reply := t.http.Read(ctx, ledger.Call{Method: http.MethodPost, Header: http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}, Body: []byte(t.form.Encode())})
	var v struct {
		Access  string          `json:"access_token"`
		Expires json.RawMessage `json:"expires_in"`
		Error   string          `json:"error"` // RFC 6749, 5.2; some give it with status 200
	}
	err := reply.Object(&v)
	switch {
	case reply.Err != nil || reply.Status == 0 || reply.Status >= 500 || reply.Status == http.StatusTooManyRequests:
		return ledger.Token{}, errors.New("the login could not be renewed now")
	case reply.Status == http.StatusBadRequest || reply.Status == http.StatusUnauthorized || reply.Status == http.StatusForbidden || err == nil && v.Error != "":
		return ledger.Token{}, fmt.Errorf("%w: the accounting system gave no access for this client", ledger.ErrLoginRefused)
	case err != nil || reply.Status != http.StatusOK || v.Access == "":
		return ledger.Token{}, errors.New("the answer to the login could not be read")
	}
	token := ledger.Token{Access: v.Access, Refresh: was.Refresh}
	lifetime, err := strconv.ParseInt(strings.Trim(string(v.Expires), `"`), 10, 64)
	if err != nil || lifetime <= 0 || lifetime > 30*24*3600 {
		lifetime = 5 * 60 // not told: asked for again soon
	}
	token.Expires = t.now().Add(time.Duration(lifetime) * time.Second)
	return token, nil
}

func secretsOf(c ledger.Connection) []string {
	var list []string
	for _, s := range c.Secrets {
		list = append(list, s)
		if escaped := url.QueryEscape(s); escaped != s {
			list = append(list, escaped)
		}
	}
	return list
}
