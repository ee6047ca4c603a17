package xero

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"onefold/internal/ledger"
)

const (
	tokenPath       = "/connect/token" //nolint:gosec // a path
	connectionsPath = "/connections"
)

// login gives out access tokens, which live for 30 minutes, and knows the organisation that they are for.
type login struct {
	ledger.Login
	set  settings
	http *ledger.Transport // the identity server; a proof loses no answer here
	api  *ledger.Transport
	now  func() time.Time

	mu     sync.Mutex
	tenant string // the only one that the login reaches, once it was asked
}

func newLogin(c ledger.Connection, s settings, api *ledger.Transport) (*login, error) {
	t, err := ledger.NewTransport(ledger.Config{BaseURL: s.identity, Secrets: []string{s.secret}, Timeout: c.Timeout(), Now: c.Now, MaxBody: c.MaxBody})
	if err != nil {
		return nil, err
	}
	l := &login{set: s, http: t, api: api, now: time.Now, tenant: s.tenant}
	if c.Now != nil {
		l.now = c.Now
	}
	l.Login = ledger.Login{Tokens: c.Tokens, Renew: l.refresh, Now: l.now}
	if s.custom {
		l.Tokens, l.Renew = &ownTokens{}, l.credentials
	}
	return l, nil
}

// access is what one call travels with.
type access struct {
	token, tenant string
}

func (a access) header() http.Header {
	h := http.Header{"Authorization": {"Bearer " + a.token}}
	if a.tenant != "" {
		h.Set("Xero-Tenant-Id", a.tenant)
	}
	return h
}

// get returns a live access. The error wraps ledger.ErrLoginRefused if a person must act.
func (l *login) get(ctx context.Context) (access, error) {
	token, err := l.Access(ctx)
	if err != nil {
		return access{}, err
	}
	tenant, err := l.organisation(ctx, token)
	return access{token, tenant}, err
}

// organisation is the chosen one, or the only one that the login reaches. It is asked for at most once.
func (l *login) organisation(ctx context.Context, token string) (string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.tenant != "" {
		return l.tenant, nil
	}
	books, err := l.books(ctx, token)
	switch {
	case err != nil:
		return "", err
	case len(books) == 0:
		return "", fmt.Errorf("%w: %w", ledger.ErrLoginRefused, errNoOrganisation)
	case len(books) > 1:
		return "", fmt.Errorf("%w: the login reaches %d organisations: choose one", ledger.ErrLoginRefused, len(books))
	}
	l.tenant = books[0].ID
	return l.tenant, nil
}

func (l *login) books(ctx context.Context, token string) ([]ledger.Book, error) {
	reply := l.api.Read(ctx, ledger.Call{Method: http.MethodGet, Path: connectionsPath, Header: access{token: token}.header()})
	if reply.Status == http.StatusUnauthorized {
		l.Forget(token)
	}
	if reply.Exchange.Error != "" {
		return nil, errors.New(reply.Exchange.Error)
	}
	list, ok := connectionsOf(reply)
	if !ok {
		return nil, errors.New("the answer of Xero does not tell which organisations the login reaches")
	}
	var books []ledger.Book
	for _, c := range list {
		if c.Type == "ORGANISATION" && guid.MatchString(c.ID) {
			books = append(books, ledger.Book{ID: strings.ToLower(c.ID), Name: c.Name})
		}
	}
	slices.SortFunc(books, func(a, b ledger.Book) int { return strings.Compare(a.Name+a.ID, b.Name+b.ID) })
	return books, nil
}

// listBooks are the organisations that a person's login reaches.
func listBooks(ctx context.Context, c ledger.Connection) ([]ledger.Book, error) {
	client, err := connect(c)
	if err != nil {
		return nil, err
	}
	defer client.Close()
	token, err := client.login.Access(ctx)
	if err != nil {
		return nil, err
	}
	return client.login.books(ctx, token)
}

// refresh uses up a refresh token. If the answer is lost the old one works for half an hour more (public guides to
// Xero's OAuth 2.0).
func (l *login) refresh(ctx context.Context, was ledger.Token) (ledger.Token, error) {
	t, err := l.token(ctx, url.Values{"grant_type": {"refresh_token"}, "refresh_token": {was.Refresh}})
	if err == nil && t.Refresh == "" {
		t.Refresh = was.Refresh
	}
	return t, err
}

// credentials logs a custom connection in. It has no refresh token and no offline access.
func (l *login) credentials(ctx context.Context, _ ledger.Token) (ledger.Token, error) {
	scopes := slices.DeleteFunc(slices.Clone(l.set.scopes), func(s string) bool { return s == offline })
	return l.token(ctx, url.Values{"grant_type": {"client_credentials"}, "scope": {strings.Join(scopes, " ")}})
}

// token asks the identity server once, on a connection of its own: a refresh token must not be spent twice unseen.
func (l *login) token(ctx context.Context, form url.Values) (ledger.Token, error) {
	h := http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}
	h.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(url.QueryEscape(l.set.clientID)+":"+url.QueryEscape(l.set.secret))))
	reply := l.http.Write(ctx, ledger.Call{Method: http.MethodPost, Path: tokenPath, Header: h, Body: []byte(form.Encode())}, ledger.Deadline{})
	var v struct {
		Access  string `json:"access_token"`
		Refresh string `json:"refresh_token"`
		Seconds int64  `json:"expires_in"`
		Error   string `json:"error"`
	}
	err := reply.Object(&v)
	switch {
	case (reply.Status == http.StatusBadRequest || reply.Status == http.StatusUnauthorized) && err == nil && v.Error != "":
		return ledger.Token{}, fmt.Errorf("%w: Xero says %s", ledger.ErrLoginRefused, ledger.Short(v.Error, 60))
	case reply.Exchange.Error != "":
		return ledger.Token{}, errors.New(reply.Exchange.Error)
	case reply.Status != http.StatusOK || err != nil || v.Access == "" || v.Seconds <= 0:
		return ledger.Token{}, errors.New("the login server of Xero answered in a way that we do not know")
	}
	return ledger.Token{Access: v.Access, Refresh: v.Refresh, Expires: l.now().Add(time.Duration(v.Seconds) * time.Second)}, nil
}

// ownTokens is the store of a custom connection: each server logs in by itself, nothing rotates and nothing is kept.
type ownTokens struct {
	mu    sync.Mutex
	token ledger.Token
}

// credentialsOnly stands for a token that there never was, so that the first use renews it.
const credentialsOnly = "client credentials"

func (o *ownTokens) Load(context.Context) (ledger.Token, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.token.Access == "" {
		return ledger.Token{Refresh: credentialsOnly}, nil
	}
	return o.token, nil
}

func (o *ownTokens) Renew(ctx context.Context, spent ledger.Token, renew func(context.Context, ledger.Token) (ledger.Token, error)) (ledger.Token, error) {
	t, err := renew(ctx, spent)
	if err != nil {
		return ledger.Token{}, err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.token = t
	return t, nil
}
