package automation

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"
	"time"

	"onefold/internal/ledger"
	"onefold/internal/work"
)

// Tried is what a test of a connection showed. A test reads only; nothing is sent.
type Tried struct {
	Problem      TryProblem
	Text         string // what the accounting system or its adapter said, without secrets
	Identity     string // the books that were reached
	Before       string // of TryOtherBooks: the books that were reached so far
	Same         string // of TryTwice: the name of the system that has these books
	Capabilities work.Capabilities
	Steps        []string
	Plain        bool // the address is not encrypted and leads to another machine
	Took         time.Duration
}

// TryProblem is what is wrong with a connection; empty: it works.
type TryProblem string

// What may be wrong.
const (
	TryWorks      TryProblem = ""
	TrySettings   TryProblem = "settings"    // the adapter cannot work with them
	TryBooks      TryProblem = "books"       // it did not say whose books it keeps: not reached, login refused, something else
	TryOtherBooks TryProblem = "other_books" // the address leads to other books than before
	TryTwice      TryProblem = "twice"       // these books are connected already
	TrySearch     TryProblem = "search"      // the search was not carried out
	TryFinds      TryProblem = "finds"       // the search finds what cannot exist
	TryAccount    TryProblem = "account"     // the settings can be used, and a person must connect the account
)

// tryLimit bounds a test: somebody waits for it.
const tryLimit = 20 * time.Second

// try connects and reads: whose books are these, and does a search for what cannot exist find nothing? Tokens are the login of
// an account; nil: there is none, and where one is needed no call is made.
func (c *Connections) try(ctx context.Context, a ledger.Adapter, sys work.System, secrets map[string]string, tokens ledger.TokenStore) (t Tried, err error) {
	made := ledger.Connection{System: sys, Secrets: c.withEnvironment(a, sys.ID, secrets), Tokens: tokens}
	hide := func(why error) string { return hideSecrets(hideTokens(ctx, why.Error(), tokens), made.Secrets) }
	t.Plain = strings.HasPrefix(strings.ToLower(sys.Address), "http://") && !loopback(sys.Address)
	conn, err := a.Connect(made)
	if err == nil && logsIn(a, sys) {
		_, err = a.OAuth.Config(made)
	}
	var field *ledger.FieldError
	switch {
	case errors.As(err, &field):
		return t, BadFields{field.Field: hide(err)}
	case err != nil:
		t.Problem, t.Text = TrySettings, hide(err)
		return t, nil
	}
	defer closeAdapter(conn)
	t.Capabilities, t.Steps = conn.Capabilities(), conn.Steps()
	sys.Capabilities, sys.Steps = t.Capabilities, t.Steps
	if err := sys.Validate(); err != nil {
		t.Problem, t.Text = TrySettings, hide(err)
		return t, nil
	}
	if logsIn(a, sys) && tokens == nil {
		t.Problem = TryAccount
		return t, nil
	}
	ctx, cancel := context.WithTimeout(ctx, min(tryLimit, sys.Policy.RequestTimeout+time.Second))
	defer cancel()
	begun := time.Now()
	defer func() { t.Took = time.Since(begun) }()
	if t.Identity, err = ledger.DoIdentity(ctx, conn); err != nil {
		t.Problem, t.Text = TryBooks, hide(err)
		return t, nil
	}
	if sys.Identity != "" && t.Identity != sys.Identity {
		t.Problem, t.Before = TryOtherBooks, sys.Identity
		return t, nil
	}
	if t.Same, err = c.otherWithBooks(ctx, sys, t.Identity); err != nil || t.Same != "" {
		t.Problem = TryTwice
		return t, err
	}
	if !t.Capabilities.Searchable {
		return t, nil
	}
	nothing := "ONEFOLD-TEST-" + rand.Text()[:12]
	if most := t.Capabilities.MaxReference; most > 0 && len(nothing) > most {
		nothing = nothing[len(nothing)-most:]
	}
	found := ledger.DoFind(ctx, conn, ledger.Query{Step: t.Steps[0], Reference: nothing, Since: begun}, work.Invoice{})
	switch {
	case found.Finding == work.NotFound:
	case found.Finding.Found():
		t.Problem = TryFinds
	default:
		t.Problem, t.Text = TrySearch, hide(errors.New(orText(found.Exchange.Error, "it did not say why")))
	}
	return t, nil
}

// otherWithBooks is the name of another system of the same kind that reaches the same books.
func (c *Connections) otherWithBooks(ctx context.Context, sys work.System, identity string) (string, error) {
	all, err := c.Store.Systems(ctx)
	if err != nil {
		return "", err
	}
	for _, other := range all {
		if other.ID != sys.ID && other.Adapter == sys.Adapter && other.Identity == identity {
			return other.Name, nil
		}
	}
	return "", nil
}

func loopback(address string) bool {
	host := strings.TrimPrefix(origin(address), "http://")
	for _, local := range []string{"127.", "localhost", "[::1]"} {
		if strings.HasPrefix(host, local) {
			return true
		}
	}
	return false
}

// hideSecrets blots every secret out of a text that was made by others.
func hideSecrets(text string, secrets map[string]string) string {
	for _, s := range secrets {
		if s != "" {
			text = strings.ReplaceAll(text, s, "[hidden]")
		}
	}
	return text
}

// hideTokens blots a login out of a text.
func hideTokens(ctx context.Context, text string, tokens ledger.TokenStore) string {
	if tokens == nil {
		return text
	}
	t, err := tokens.Load(context.WithoutCancel(ctx))
	if err != nil {
		return text
	}
	return hideSecrets(text, map[string]string{"access": t.Access, "refresh": t.Refresh})
}
