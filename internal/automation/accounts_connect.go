package automation

import (
	"context"
	"crypto/subtle"
	"errors"
	"maps"
	"net/url"

	"golang.org/x/oauth2"

	"onefold/internal/ledger"
	"onefold/internal/work"
)

// AccountRefusal says why an account was not connected. Nothing about the system changed.
type AccountRefusal struct {
	Code     AccountCode
	SystemID string // empty: it is not known
	System   string // its name
	Text     string // what was said, without secrets; may be empty
	Tried    *Tried // of AccountTried
}

// AccountCode names a refusal. It is stable.
type AccountCode string

// Why an account is not connected.
const (
	AccountState       AccountCode = "state"       // the answer belongs to nothing that was begun: unknown, used, or too late
	AccountPerson      AccountCode = "person"      // somebody else began it
	AccountChanged     AccountCode = "changed"     // the connection is another one than when it was begun
	AccountDenied      AccountCode = "denied"      // the person, or the accounting system, said no
	AccountExchange    AccountCode = "exchange"    // the accounting system did not honour its own answer
	AccountUnreachable AccountCode = "unreachable" // it did not answer
	AccountSettings    AccountCode = "settings"    // the connection cannot be used as it is set up
	AccountNoBooks     AccountCode = "no_books"    // the login reaches no books
	AccountOtherBooks  AccountCode = "other_books" // it does not reach the books of before
	AccountTried       AccountCode = "tried"       // the test that follows was not passed
)

func (e *AccountRefusal) Error() string {
	return "the account was not connected: " + string(e.Code) + orPrefix(": ", e.Text)
}

func orPrefix(prefix, text string) string {
	if text == "" {
		return ""
	}
	return prefix + text
}

// Away is where a person goes to connect an account.
type Away struct {
	URL    string
	Host   string // whose pages these are
	System string // the name of the system
}

// BeginAccount begins to connect the account of a system, or to connect it again. Redirect is our own address for the answer,
// as it is registered at the accounting system.
func (c *Connections) BeginAccount(ctx context.Context, by work.Actor, id, redirect string) (Away, error) {
	if !MayConnect(by) || by.ID == "" {
		return Away{}, ErrNotAdmin
	}
	p, err := c.accountOf(ctx, id)
	if err != nil {
		return Away{}, err
	}
	cfg, err := p.config(redirect)
	if err != nil {
		return Away{}, err
	}
	t := trip{State: newSecret(), Verifier: oauth2.GenerateVerifier(), Redirect: redirect, Client: client(cfg, p.sys)}
	if err := c.keepTrip(ctx, by, id, "login", t.State, t); err != nil {
		return Away{}, err
	}
	to := cfg.AuthCodeURL(t.State, oauth2.S256ChallengeOption(t.Verifier))
	u, err := url.Parse(to)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return Away{}, p.refuse(AccountSettings, "the address for logging in is no web address")
	}
	return Away{URL: to, Host: u.Host, System: p.sys.Name}, nil
}

// ConnectedAccount is where connecting an account has come to.
type ConnectedAccount struct {
	SystemID string
	Choose   string // what ChooseBooks needs; empty: the account is connected
}

// FinishAccount takes the answer that the accounting system sent the person back with. It is good once, for ten minutes, and
// for the person who began. What is refused is an *AccountRefusal.
func (c *Connections) FinishAccount(ctx context.Context, by work.Actor, answer url.Values) (ConnectedAccount, error) {
	var t trip
	p, err := c.takeTrip(ctx, by, "login", answer.Get("state"), &t)
	if err != nil {
		return ConnectedAccount{}, err
	}
	if subtle.ConstantTimeCompare([]byte(answer.Get("state")), []byte(t.State)) != 1 {
		return ConnectedAccount{}, p.refuse(AccountState, "")
	}
	if code := answer.Get("error"); code != "" {
		if !plainCode(code) {
			code = ""
		}
		return ConnectedAccount{}, p.refuse(AccountDenied, code)
	}
	cfg, err := p.config(t.Redirect)
	if err != nil {
		return ConnectedAccount{}, err
	}
	if client(cfg, p.sys) != t.Client {
		return ConnectedAccount{}, p.refuse(AccountChanged, "")
	}
	given, err := p.exchange(ctx, cfg, answer.Get("code"), t.Verifier)
	if err != nil {
		return ConnectedAccount{}, err
	}
	n := choice{Secret: newSecret(), Token: ledger.Token{Access: given.AccessToken, Refresh: given.RefreshToken, Expires: given.Expiry}, Client: t.Client, Scopes: scopes(given, cfg)}
	if p.adapter.OAuth.Callback != nil {
		n.Settings = p.adapter.OAuth.Callback(answer)
	}
	for _, v := range n.Settings {
		if unfit(v) {
			return ConnectedAccount{}, p.refuse(AccountExchange, "")
		}
	}
	return c.chooseAlone(ctx, by, p, n)
}

// chooseAlone connects if there is nothing to choose, and else asks.
func (c *Connections) chooseAlone(ctx context.Context, by work.Actor, p accountOf, n choice) (ConnectedAccount, error) {
	done := ConnectedAccount{SystemID: p.sys.ID}
	if p.adapter.OAuth.Books == nil {
		return done, c.connectAccount(ctx, by, p, n, "")
	}
	if err := p.books(ctx, &n); err != nil {
		return done, err
	}
	known := p.sys.Settings[p.adapter.OAuth.Setting]
	switch {
	case hasBook(n.Books, known):
		return done, c.connectAccount(ctx, by, p, n, known)
	case known != "" && p.sys.Identity != "":
		return done, p.refuse(AccountOtherBooks, "")
	case len(n.Books) == 1:
		return done, c.connectAccount(ctx, by, p, n, n.Books[0].ID)
	}
	done.Choose = n.Secret
	return done, c.keepTrip(ctx, by, p.sys.ID, "books", n.Secret, n)
}

// BookChoice is what there is to choose from.
type BookChoice struct {
	System string // its name
	Books  []ledger.Book
}

// Books are the books that a login reaches which waits for a choice.
func (c *Connections) Books(ctx context.Context, by work.Actor, id, secret string) (BookChoice, error) {
	p, n, err := c.choice(ctx, by, id, secret)
	return BookChoice{p.sys.Name, n.Books}, err
}

// ChooseBooks connects the account with the chosen books.
func (c *Connections) ChooseBooks(ctx context.Context, by work.Actor, id, secret, book string) error {
	p, n, err := c.choice(ctx, by, id, secret)
	if err != nil {
		return err
	}
	if !hasBook(n.Books, book) {
		return p.refuse(AccountOtherBooks, "")
	}
	if err := c.connectAccount(ctx, by, p, n, book); err != nil {
		return err
	}
	_, _, err = c.Store.TakeTrip(ctx, tripID("books", secret))
	return err
}

func (c *Connections) choice(ctx context.Context, by work.Actor, id, secret string) (p accountOf, n choice, err error) {
	if !MayConnect(by) {
		return p, n, ErrNotAdmin
	}
	kept, found, err := c.Store.Trip(ctx, tripID("books", secret))
	if err != nil {
		return p, n, err
	}
	if p, err = c.openTrip(ctx, by, kept, found && kept.SystemID == id, "books", &n); err != nil {
		return p, n, err
	}
	if subtle.ConstantTimeCompare([]byte(secret), []byte(n.Secret)) != 1 {
		return p, n, p.refuse(AccountState, "")
	}
	cfg, err := p.config("")
	if err == nil && client(cfg, p.sys) != n.Client {
		err = p.refuse(AccountChanged, "")
	}
	return p, n, err
}

// connectAccount tries the login and stores it if it works.
func (c *Connections) connectAccount(ctx context.Context, by work.Actor, p accountOf, n choice, book string) error {
	sys, before := p.sys, p.sys.Settings
	sys.Settings = maps.Clone(before)
	if sys.Settings == nil {
		sys.Settings = map[string]string{}
	}
	maps.Copy(sys.Settings, n.Settings)
	if book != "" {
		sys.Settings[p.adapter.OAuth.Setting] = book
	}
	if len(sys.Settings) == 0 {
		sys.Settings = nil
	}
	held := &heldTokens{token: kept(n.Token)}
	t, err := c.try(ctx, p.adapter, sys, p.secrets, held)
	var bad BadFields
	switch {
	case errors.As(err, &bad):
		return p.refuse(AccountSettings, bad.Error())
	case err != nil:
		return err
	case t.Problem != TryWorks:
		refusal := p.refuse(AccountTried, t.Text)
		refusal.Tried = &t
		return refusal
	}
	token, err := held.Load(ctx) // it may have been renewed meanwhile
	if err != nil {
		return err
	}
	sealed, err := sealToken(c.Keys, token, sys.ID)
	if err != nil {
		return err
	}
	was, err := c.Store.SystemLogin(ctx, sys.ID)
	if err != nil {
		return err
	}
	what := map[bool]string{true: "account connected", false: "account reconnected"}[was.Version == 0]
	_, after := changedSettings(work.System{Name: sys.Name, Address: sys.Address, Settings: before}, sys)
	after["books"] = t.Identity
	err = c.Store.ConnectAccount(ctx, sys.ID, AccountChange{Mark: ConnectionMark(p.sys), By: by, Sealed: sealed, Expires: token.Expires, Scopes: n.Scopes,
		Settings: sys.Settings, Capabilities: t.Capabilities, Steps: t.Steps, Identity: t.Identity, Records: []SettingText{{What: what, After: asText(after)}}})
	switch {
	case errors.Is(err, ErrConnectionChanged):
		return p.refuse(AccountChanged, "")
	case errors.Is(err, ErrOtherBooks):
		return p.refuse(AccountOtherBooks, "")
	}
	return err
}

// DisconnectAccount removes the login of a system. Nothing is sent to it until its account is connected again. The login itself
// ends at the accounting system, where it can be withdrawn.
func (c *Connections) DisconnectAccount(ctx context.Context, by work.Actor, id string) error {
	if !MayConnect(by) {
		return ErrNotAdmin
	}
	if _, err := c.accountOf(ctx, id); err != nil {
		return err
	}
	return c.Store.DisconnectAccount(ctx, id, by, disconnected)
}
