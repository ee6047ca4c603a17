package automation

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"time"

	"golang.org/x/oauth2"

	"onefold/internal/ledger"
	"onefold/internal/work"
)

// tripFor is how long a person may take at the accounting system, and to choose the books.
const tripFor = 10 * time.Minute

// trip is what is remembered, sealed, while the person is away.
type trip struct {
	State    string `json:"state"`
	Verifier string `json:"verifier"` // of PKCE
	Redirect string `json:"redirect"`
	Client   string `json:"client"` // whose answer it must be
}

// choice is what is remembered, sealed, while the person chooses the books.
type choice struct {
	Secret   string            `json:"secret"` // what the browser holds
	Token    ledger.Token      `json:"token"`
	Scopes   string            `json:"scopes"`
	Client   string            `json:"client"`
	Settings map[string]string `json:"settings"` // of the way back
	Books    []ledger.Book     `json:"books"`
}

// accountOf is a system whose account is being connected.
type accountOf struct {
	adapter ledger.Adapter
	sys     work.System
	secrets map[string]string
}

func (c *Connections) accountOf(ctx context.Context, id string) (p accountOf, err error) {
	if p.sys, err = c.system(ctx, id); err != nil {
		return p, err
	}
	if p.adapter, err = c.adapter(p.sys.Adapter); err != nil || !logsIn(p.adapter, p.sys) {
		return p, ErrNoAccount
	}
	stored, err := c.secrets(ctx, id)
	if err != nil {
		return p, p.refuse(AccountSettings, err.Error())
	}
	p.secrets = c.withEnvironment(p.adapter, id, stored)
	return p, nil
}

func (p accountOf) refuse(code AccountCode, text string) *AccountRefusal {
	return &AccountRefusal{Code: code, SystemID: p.sys.ID, System: p.sys.Name, Text: text}
}

// config is our client at the accounting system.
func (p accountOf) config(redirect string) (oauth2.Config, error) {
	cfg, err := p.adapter.OAuth.Config(ledger.Connection{System: p.sys, Secrets: p.secrets})
	if err != nil {
		return cfg, p.refuse(AccountSettings, hideSecrets(err.Error(), p.secrets))
	}
	cfg.RedirectURL = redirect
	return cfg, nil
}

// exchange gets the login for the code, in one call that follows no redirect.
func (p accountOf) exchange(ctx context.Context, cfg oauth2.Config, code, verifier string) (*oauth2.Token, error) {
	if code == "" || unfit(code) {
		return nil, p.refuse(AccountExchange, "")
	}
	once := http.DefaultTransport.(*http.Transport).Clone()
	once.Proxy, once.DisableKeepAlives, once.MaxResponseHeaderBytes = nil, true, 64<<10
	h := &http.Client{Timeout: tryLimit, Transport: once, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	given, err := cfg.Exchange(context.WithValue(ctx, oauth2.HTTPClient, h), code, oauth2.VerifierOption(verifier))
	var said *oauth2.RetrieveError
	var net *url.Error
	switch {
	case errors.As(err, &said): // its text holds the whole answer
		if plainCode(said.ErrorCode) {
			return nil, p.refuse(AccountExchange, said.ErrorCode)
		}
		return nil, p.refuse(AccountExchange, fmt.Sprintf("status %d", said.Response.StatusCode))
	case errors.As(err, &net):
		return nil, p.refuse(AccountUnreachable, "")
	case err != nil:
		return nil, p.refuse(AccountExchange, "")
	}
	return given, nil
}

// books asks which books the login reaches.
func (p accountOf) books(ctx context.Context, n *choice) error {
	sys := p.sys
	sys.Settings = maps.Clone(sys.Settings)
	if sys.Settings == nil {
		sys.Settings = map[string]string{}
	}
	maps.Copy(sys.Settings, n.Settings)
	ctx, cancel := context.WithTimeout(ctx, tryLimit)
	defer cancel()
	held := &heldTokens{token: kept(n.Token)}
	list, err := p.adapter.OAuth.Books(ctx, ledger.Connection{System: sys, Secrets: p.secrets, Tokens: held})
	if err != nil {
		return p.refuse(AccountNoBooks, hideSecrets(hideTokens(ctx, err.Error(), held), p.secrets))
	}
	for _, b := range list {
		if b.ID == "" || unfit(b.ID) {
			return p.refuse(AccountNoBooks, "")
		}
	}
	if len(list) == 0 {
		return p.refuse(AccountNoBooks, "")
	}
	n.Books = list
	n.Token, err = held.Load(ctx) // it may have been renewed meanwhile
	return err
}

func hasBook(list []ledger.Book, id string) bool {
	for _, b := range list {
		if b.ID == id {
			return true
		}
	}
	return false
}

// scopes is what the login may do, as the system says it, or else as we asked.
func scopes(given *oauth2.Token, cfg oauth2.Config) string {
	if said, ok := given.Extra("scope").(string); ok && said != "" && !unfit(said) {
		return said
	}
	var all string
	for i, s := range cfg.Scopes {
		if i > 0 {
			all += " "
		}
		all += s
	}
	return all
}

// newSecret is 256 random bits.
func newSecret() string {
	var b [32]byte
	_, _ = rand.Read(b[:]) // never fails: the runtime ends the process instead
	return hex.EncodeToString(b[:])
}

// tripID is what a trip is kept under: whoever reads the database cannot make an answer of it.
func tripID(kind, secret string) string {
	sum := sha256.Sum256([]byte(kind + "\x00" + secret))
	return hex.EncodeToString(sum[:])
}

func tripOwner(kind, id string, by work.Actor) string { return kind + ":" + id + ":" + by.ID }

func (c *Connections) keepTrip(ctx context.Context, by work.Actor, id, kind, secret string, what any) error {
	if c.Keys == nil {
		return errors.New("an account cannot be connected: this server has no key to seal its login with")
	}
	text, err := json.Marshal(what)
	if err != nil {
		return errors.New("what was begun cannot be kept")
	}
	sealed, err := c.Keys.Seal(string(text), tripOwner(kind, id, by))
	if err != nil {
		return err
	}
	return c.Store.KeepTrip(ctx, LoginTrip{ID: tripID(kind, secret), SystemID: id, PersonID: by.ID, Sealed: sealed}, tripFor)
}

// takeTrip ends a trip: whoever asks, it is good no second time.
func (c *Connections) takeTrip(ctx context.Context, by work.Actor, kind, secret string, what any) (accountOf, error) {
	if !MayConnect(by) {
		return accountOf{}, ErrNotAdmin
	}
	kept, found, err := c.Store.TakeTrip(ctx, tripID(kind, secret))
	if err != nil {
		return accountOf{}, err
	}
	return c.openTrip(ctx, by, kept, found, kind, what)
}

// openTrip reads what was remembered for the person.
func (c *Connections) openTrip(ctx context.Context, by work.Actor, kept LoginTrip, found bool, kind string, what any) (p accountOf, err error) {
	if !found {
		return p, p.refuse(AccountState, "")
	}
	if kept.PersonID != by.ID {
		return p, p.refuse(AccountPerson, "")
	}
	if p, err = c.accountOf(ctx, kept.SystemID); err != nil {
		return p, err
	}
	if c.Keys == nil {
		return p, p.refuse(AccountState, "")
	}
	text, err := c.Keys.Open(kept.Sealed, tripOwner(kind, kept.SystemID, by))
	if err != nil || json.Unmarshal([]byte(text), what) != nil {
		return p, p.refuse(AccountState, "")
	}
	return p, nil
}
