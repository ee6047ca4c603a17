package odoo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"onefold/internal/ledger"
)

// Identity implements ledger.System: the database, the company and when that company was set up. Every user may read
// that, and a database of the same name elsewhere does not have it. (The database's own uuid is for administrators only.)
func (c *Client) Identity(ctx context.Context) (string, error) {
	known, found, ok := c.learn(ctx)
	if !ok {
		if found.Exchange.Error == "" {
			return "", errors.New("the accounting system did not tell whose books it keeps")
		}
		return "", errors.New(found.Exchange.Error)
	}
	return known.identity, nil
}

func (c *Client) identity(company link) string {
	if company.ID == "" || company.Since == "" {
		return ""
	}
	return fmt.Sprintf("%s, company %s of %s", c.database, company.ID, company.Since)
}

func (c *Client) remembered() books {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.books
}

// forget drops what was read: the login was refused, and may be another user's when it works again.
func (c *Client) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.books = books{}
}

// known is what was read once, or is read now.
func (c *Client) known(ctx context.Context) (books, ledger.Found, bool) {
	if b := c.remembered(); b.currencies != nil {
		return b, ledger.Found{}, true
	}
	return c.learn(ctx)
}

// learn reads the company and the active currencies.
func (c *Client) learn(ctx context.Context) (b books, f ledger.Found, ok bool) {
	b.identity, f, ok = c.readIdentity(ctx)
	if !ok {
		return b, f, false
	}
	value, f, ok := c.read(ctx, ask{model: "res.currency", method: "search_read",
		named: map[string]any{"domain": []any{[]any{"active", "=", true}}, "fields": []string{"name"}, "limit": 1000}})
	if !ok {
		return b, f, false
	}
	var rows []row
	if json.Unmarshal(value, &rows) != nil {
		f.Exchange.Error = "the accounting system did not tell its currencies"
		return b, f, false
	}
	b.currencies = map[string]int{}
	for _, r := range rows {
		if n, err := strconv.Atoi(recordID(r.ID)); err == nil {
			b.currencies[string(r.Name)] = n
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	b.user = c.books.user
	c.books = b
	return b, f, true
}

// readIdentity is one read; it also shows that the user may see the company.
func (c *Client) readIdentity(ctx context.Context) (string, ledger.Found, bool) {
	value, f, ok := c.read(ctx, ask{model: "res.company", method: "search_read",
		named: map[string]any{"domain": []any{[]any{"id", "=", c.company}}, "fields": []string{"create_date"}, "limit": 1}})
	if !ok {
		return "", f, false
	}
	var rows []link
	if json.Unmarshal(value, &rows) != nil || len(rows) != 1 || rows[0].ID != strconv.Itoa(c.company) || c.identity(rows[0]) == "" {
		f.Exchange.Error = fmt.Sprintf("Odoo does not show the company %d to this user: check the company's id and the user's companies", c.company)
		return "", f, false
	}
	return c.identity(rows[0]), f, true
}

// read is one reading call. Ok: value is what the method returned.
func (c *Client) read(ctx context.Context, a ask) (json.RawMessage, ledger.Found, bool) {
	user, f, ok := c.user(ctx)
	if !ok {
		return nil, f, false
	}
	return c.judged(c.http.Read(ctx, c.request(a, user)))
}

func (c *Client) judged(reply ledger.Reply) (json.RawMessage, ledger.Found, bool) {
	f, done := reply.Read()
	if done {
		return nil, f, false
	}
	value, exception, err := c.result(reply)
	switch {
	case exception != nil && exception.login():
		c.forget()
		f.Deferred, f.Login = true, true
		f.Exchange.Error = "the accounting system refused our login"
	case exception != nil:
		f.Exchange.Error = "the accounting system did not carry out the search, could not check: " + exception.reason()
	case err != nil:
		f.Exchange.Error = err.Error() + ", could not check"
	default:
		return value, f, true
	}
	return nil, f, false
}

// user is the id that JSON-RPC wants beside the key; JSON-2 knows the user by the key.
func (c *Client) user(ctx context.Context) (int, ledger.Found, bool) {
	if !c.rpc {
		return 0, ledger.Found{}, true
	}
	if b := c.remembered(); b.user != 0 {
		return b.user, ledger.Found{}, true
	}
	value, f, ok := c.judged(c.http.Read(ctx, c.envelope("common", "login", c.database, c.login, c.key)))
	if !ok {
		return 0, f, false
	}
	user, err := strconv.Atoi(recordID(value))
	if err != nil { // false: no such user, or not this key
		f.Deferred, f.Login = true, true
		f.Exchange.Error = "the accounting system refused our login"
		return 0, f, false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.books.user = user
	return user, f, true
}
