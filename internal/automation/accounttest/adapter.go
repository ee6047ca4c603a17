package accounttest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"golang.org/x/oauth2"

	"onefold/internal/ledger"
	"onefold/internal/work"
)

// Adapter connects to the system.
func (v *Vault) Adapter() ledger.Adapter {
	return ledger.Adapter{Name: "vault", Title: "Vault", Address: "https://vault.example.com",
		Fields: []ledger.Field{{Name: "client_id", Label: "Client ID", Required: true}, {Name: "client_secret", Label: "Client secret", Secret: true, Required: true},
			{Name: "book", Label: "Books", Help: "Empty: chosen when the account is connected."}, {Name: "tenant", Label: "Tenant"}},
		Connect: connect,
		OAuth: &ledger.OAuth{Config: config, Books: books, Setting: "book",
			Callback: func(q map[string][]string) map[string]string {
				if len(q["tenant"]) != 1 {
					return nil
				}
				return map[string]string{"tenant": q["tenant"][0]}
			}},
	}
}

func config(c ledger.Connection) (oauth2.Config, error) {
	id := c.System.Settings["client_id"]
	if id == "broken" {
		return oauth2.Config{}, &ledger.FieldError{Field: "client_id", Err: errors.New("this client ID cannot be used")}
	}
	return oauth2.Config{ClientID: id, ClientSecret: c.Secrets["client_secret"], Scopes: []string{"invoices"},
		Endpoint: oauth2.Endpoint{AuthURL: c.System.Address + "/authorize", TokenURL: c.System.Address + "/token", AuthStyle: oauth2.AuthStyleInHeader}}, nil
}

// client is one connection.
type client struct {
	http  *ledger.Transport
	book  string
	login ledger.Login
}

func connect(c ledger.Connection) (ledger.System, error) {
	t, err := c.Transport(ledger.Config{BaseURL: c.System.Address, Secrets: []string{c.Secrets["client_secret"]}})
	if err != nil {
		return nil, err
	}
	return &client{http: t, book: c.System.Settings["book"], login: ledger.Login{Tokens: c.Tokens, Now: c.Now, Renew: func(ctx context.Context, was ledger.Token) (ledger.Token, error) {
		cfg, err := config(c)
		if err != nil {
			return ledger.Token{}, err
		}
		is, err := cfg.TokenSource(ctx, &oauth2.Token{RefreshToken: was.Refresh}).Token()
		var said *oauth2.RetrieveError
		if errors.As(err, &said) && said.ErrorCode == "invalid_grant" {
			return ledger.Token{}, fmt.Errorf("%w: %w", ledger.ErrLoginRefused, err)
		}
		if err != nil {
			return ledger.Token{}, errors.New("the login could not be renewed")
		}
		return ledger.Token{Access: is.AccessToken, Refresh: is.RefreshToken, Expires: is.Expiry}, nil
	}}}, nil
}

func books(ctx context.Context, c ledger.Connection) ([]ledger.Book, error) {
	sys, err := connect(c)
	if err != nil {
		return nil, err
	}
	var list []ledger.Book
	err = sys.(*client).read(ctx, "/books", &list)
	return list, err
}

func (c *client) read(ctx context.Context, path string, to any) error {
	for again := true; ; again = false {
		access, err := c.login.Access(ctx)
		if err != nil {
			return err
		}
		reply := c.http.Read(ctx, ledger.Call{Method: http.MethodGet, Path: path, Header: http.Header{"Authorization": {"Bearer " + access}}})
		switch {
		case reply.Status == http.StatusUnauthorized && again:
			c.login.Forget(access)
		case reply.Err != nil || reply.Status != http.StatusOK:
			return fmt.Errorf("it answered %d to %s", reply.Status, access) // careless: whoever shows it must blot the login out
		default:
			return json.Unmarshal(reply.Body, to)
		}
	}
}

// Capabilities implements ledger.System.
func (c *client) Capabilities() work.Capabilities {
	return work.Capabilities{Searchable: true, Misses: 1, MaxReference: 40}
}

// Steps implements ledger.System.
func (c *client) Steps() []string { return []string{"create"} }

// Identity implements ledger.System.
func (c *client) Identity(ctx context.Context) (string, error) {
	var b ledger.Book
	err := c.read(ctx, "/books/"+c.book+"/identity", &b)
	return b.ID, err
}

// Send implements ledger.System.
func (c *client) Send(ctx context.Context, req ledger.Request) work.Answer {
	access, err := c.login.Access(ctx)
	if err != nil {
		return c.login.Refused(err)
	}
	reply := c.http.Write(ctx, ledger.Call{Method: http.MethodPost, Path: "/books/" + c.book + "/invoices", Header: http.Header{"Authorization": {"Bearer " + access}}}, req.SendBy)
	switch {
	case !reply.HandedOver:
		return work.Answer{Outcome: work.NotSent, Exchange: reply.Exchange}
	case reply.Status == http.StatusUnauthorized:
		c.login.Forget(access)
		return work.Answer{Outcome: work.Deferred, Login: true, Exchange: reply.Exchange}
	case reply.Status != http.StatusOK || reply.Err != nil:
		return work.Answer{Outcome: work.Unknown, Exchange: reply.Exchange}
	}
	var made struct{ ID string }
	if json.Unmarshal(reply.Body, &made) != nil || made.ID == "" {
		return work.Answer{Outcome: work.Unknown, Exchange: reply.Exchange}
	}
	x := reply.Exchange
	x.Identity = c.book
	return work.Answer{Outcome: work.Accepted, Record: work.Record{ID: made.ID}, Exchange: x}
}

// Find implements ledger.System.
func (c *client) Find(ctx context.Context, _ ledger.Query) ledger.Found {
	var list []any
	if err := c.read(ctx, "/books/"+c.book+"/invoices", &list); err != nil {
		return ledger.Found{Deferred: errors.Is(err, ledger.ErrLoginRefused), Login: errors.Is(err, ledger.ErrLoginRefused)}
	}
	return ledger.Found{Searched: true, Exchange: work.Exchange{Identity: c.book}}
}
