package rest

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"

	"onefold/internal/ledger"
	"onefold/internal/work"
)

// Client is the adapter to one system that a definition describes. It is safe for concurrent use.
type Client struct {
	def    *definition
	about  document // the settings; what every expression sees
	drafts bool
	http   *ledger.Transport
	base   string // the system's address
	header string // of the credentials
	login  *ledger.Login
	tokens *tokens

	mu    sync.Mutex
	books string // that the login was last seen to reach
}

var (
	_ ledger.System  = (*Client)(nil)
	_ ledger.Remover = (*Client)(nil)
)

// newClient connects a definition; it does no I/O.
func newClient(c ledger.Connection, def *definition, values map[string]any) (*Client, error) {
	s := &Client{def: def, drafts: c.DraftsOnly, header: "Authorization", base: strings.TrimRight(c.System.Address, "/")}
	s.about = document{input: map[string]any{"settings": values, "drafts": c.DraftsOnly}, settings: values}
	cfg := ledger.Config{BaseURL: c.System.Address, Secrets: secretsOf(c)}
	if def.auth.kind == "oauth2" {
		var err error
		if s.tokens, err = newTokens(c, def.auth, s.about); err != nil {
			return nil, problem("definition", err)
		}
		s.login = &ledger.Login{Tokens: &issued{token: ledger.Token{Refresh: "again"}}, Renew: s.tokens.renew, Now: c.Now}
	} else {
		credentials, err := s.credentials(c)
		if err != nil {
			return nil, problem("definition", err)
		}
		cfg.Authorize = func(h http.Header) {
			if credentials != "" {
				h.Set(s.header, credentials)
			}
		}
		cfg.Secrets = append(cfg.Secrets, credentials)
	}
	var err error
	if s.http, err = c.Transport(cfg); err != nil {
		return nil, problem("address", err)
	}
	return s, nil
}

func (s *Client) credentials(c ledger.Connection) (string, error) {
	a := s.def.auth
	secret := c.Secrets[a.secret]
	switch a.kind {
	case "bearer":
		return "Bearer " + secret, nil
	case "basic":
		user, err := a.user.value(s.about)
		return "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+secret)), err
	case "header":
		s.header = http.CanonicalHeaderKey(a.header)
		return strings.TrimSpace(a.before + " " + secret), nil
	}
	return "", nil
}

// Capabilities implements ledger.System. They are what the admin declared.
func (s *Client) Capabilities() work.Capabilities { return s.def.capabilities() }

// Steps implements ledger.System.
func (s *Client) Steps() []string { return s.def.stepNames(s.drafts) }

// Close drops idle connections.
func (s *Client) Close() {
	s.http.Close()
	if s.tokens != nil {
		s.tokens.http.Close()
	}
}

// authorize adds a live access token where the login is by OAuth 2.0; it may renew it.
func (s *Client) authorize(ctx context.Context, call *ledger.Call) (access string, err error) {
	if s.login == nil {
		return "", nil
	}
	if access, err = s.login.Access(ctx); err != nil {
		return "", err
	}
	call.Header.Set("Authorization", s.def.auth.before+" "+access)
	return access, nil
}

// hide blots out an access token that an answer repeats.
func hide(x work.Exchange, access string) work.Exchange {
	if access != "" {
		x.Request, x.Response = strings.ReplaceAll(x.Request, access, "[hidden]"), strings.ReplaceAll(x.Response, access, "[hidden]")
	}
	return x
}

// refused forgets an access token that was not accepted.
func (s *Client) refused(reply ledger.Reply, access string) {
	if reply.Status == http.StatusUnauthorized && access != "" {
		s.login.Forget(access)
	}
}

// identityOf is whose books an answer comes from, as far as it can be known.
func (s *Client) identityOf(d document) (string, error) {
	id := s.def.identity
	switch {
	case id.told != nil:
		return id.told.text(d)
	case id.fixed != nil:
		return id.fixed.text(s.about)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.books, nil
}

// pointed names the place in the definition that an error is about, for staff.
func pointed(err error) string {
	var at *wrong
	if !errors.As(err, &at) || at.line == 0 {
		return ""
	}
	return fmt.Sprintf(" (line %d of its definition)", at.line)
}

// Remove implements ledger.Remover.
func (s *Client) Remove(ctx context.Context, recordID string) error {
	r := s.def.remove
	if r == nil {
		return errors.New("the definition does not say how a record is removed: it stays")
	}
	d := s.about.with(map[string]any{"id": recordID})
	call, err := r.request.call(d)
	if err != nil {
		return err
	}
	access, err := s.authorize(ctx, &call)
	if err != nil {
		return errors.New("the login was refused: the record stays")
	}
	reply := s.http.Read(ctx, call)
	s.refused(reply, access)
	if reply.Exchange.Error != "" {
		return errors.New(reply.Exchange.Error)
	}
	d, err = answered(reply, "any", d)
	if err != nil {
		return err
	}
	done, err := r.done.truth(d)
	switch {
	case err != nil:
		return err
	case !done || reply.Status >= 400:
		return fmt.Errorf("the accounting system did not remove the record (%d): it stays", reply.Status)
	case r.leaves != "":
		return errors.New(r.leaves)
	}
	return nil
}
