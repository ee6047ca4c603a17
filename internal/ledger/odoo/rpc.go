package odoo

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"onefold/internal/ledger"
)

// ask is the call of one method of one model.
type ask struct {
	model, method string
	ids           []int          // of the records; nil: a method of the model; empty: a record that is yet to be made
	vals          any            // of create by JSON-RPC, which takes it by position only
	named         map[string]any // the other parameters
}

// context goes with every call. Texts of errors come in English, so that they can be told apart; the company must be
// one that the user may see, or the call fails instead of hiding rows; nothing is left out because it is archived.
func (c *Client) context() map[string]any {
	return map[string]any{"lang": "en_US", "allowed_company_ids": []int{c.company}, "active_test": false}
}

// request writes the call down in the form that this server understands.
func (c *Client) request(a ask, user int) ledger.Call {
	named := map[string]any{"context": c.context()}
	for name, v := range a.named {
		named[name] = v
	}
	if !c.rpc {
		if a.ids != nil {
			named["ids"] = a.ids
		}
		return post("/json/2/"+a.model+"/"+a.method, named)
	}
	args := []any{}
	if a.ids != nil {
		args = append(args, a.ids)
	}
	if a.vals != nil {
		args = append(args, a.vals)
	}
	return c.envelope("object", "execute_kw", c.database, user, c.key, a.model, a.method, args, named)
}

const rpcID = 1 // one call at a time on a connection: the echo only shows that the answer is a JSON-RPC one

func (c *Client) envelope(service, method string, args ...any) ledger.Call {
	return post("/jsonrpc", map[string]any{"jsonrpc": "2.0", "id": rpcID, "method": "call",
		"params": map[string]any{"service": service, "method": method, "args": args}})
}

// post is never called with what JSON cannot write: text, whole numbers and json.Number that was checked.
func post(path string, v any) ledger.Call {
	body, _ := json.Marshal(v)
	return ledger.Call{Method: http.MethodPost, Path: path, Body: body, Header: http.Header{"Content-Type": {"application/json; charset=utf-8"}}}
}

// fault is an exception of Odoo's own, as it tells it.
type fault struct {
	Name    string `json:"name"` // of the Python class, with its module
	Message string `json:"message"`

	status int // of HTTP
}

// login: the key or the password was not taken, nothing was carried out.
func (f *fault) login() bool {
	return f.Name == "odoo.exceptions.AccessDenied" || strings.HasSuffix(f.Name, ".SessionExpiredException")
}

// refused: raised by the method while its transaction was open, which is rolled back then. Every other exception may also
// come from what runs after the commit (post-commit hooks, the signal to other workers, writing the result down), so
// nothing follows from it (accounting-systems.md, T17).
func (f *fault) refused() bool {
	switch f.Name {
	case "odoo.exceptions.UserError", "odoo.exceptions.ValidationError", "odoo.exceptions.AccessError", "odoo.exceptions.MissingError",
		"odoo.exceptions.LockError", "odoo.exceptions.RedirectWarning", "odoo.exceptions.Warning":
		return true
	}
	// The controller's own: no such model or method, parameters that do not fit.
	return strings.HasPrefix(f.Name, "werkzeug.exceptions.") && f.status >= 400 && f.status < 500
}

// final: a record that the request names does not exist (any more), and ids are never used again.
func (f *fault) final() bool { return f.Name == "odoo.exceptions.MissingError" }

// posted: the invoice is no draft (any more). The words are those of account.move's _post, up to version 16 and since.
func (f *fault) posted() bool {
	return f.Name == "odoo.exceptions.UserError" &&
		(strings.Contains(f.Message, "is already posted") || strings.Contains(f.Message, "must be in draft"))
}

func (f *fault) reason() string {
	if strings.TrimSpace(f.Message) == "" {
		return "no reason given"
	}
	return ledger.Short(f.Message, ledger.MaxSentence-20)
}

var errUnknown = errors.New("the accounting system answered in a way that we do not know")

// result reads what the method returned, or the fault. Both nil: neither could be read, and the error says why.
func (c *Client) result(reply ledger.Reply) (json.RawMessage, *fault, error) {
	body := bytes.TrimSpace(bytes.TrimPrefix(reply.Body, []byte("\xef\xbb\xbf")))
	switch {
	case reply.Err != nil:
		return nil, nil, reply.Err
	case reply.Cut:
		return nil, nil, ledger.ErrCut
	case len(body) == 0:
		return nil, nil, ledger.ErrEmpty
	case reply.HTML():
		return nil, nil, ledger.ErrPage
	}
	if c.rpc {
		return rpcResult(reply)
	}
	if reply.Status == http.StatusOK {
		if !json.Valid(body) {
			return nil, nil, ledger.ErrJSON
		}
		return body, nil, nil
	}
	f := &fault{status: reply.Status}
	if reply.Status < 400 || reply.Object(f) != nil || f.Name == "" {
		return nil, nil, errUnknown
	}
	return nil, f, nil
}

// rpcResult: errors come with HTTP 200, and a method that returns nothing has no member "result" at all.
func rpcResult(reply ledger.Reply) (json.RawMessage, *fault, error) {
	var v struct {
		Version string          `json:"jsonrpc"`
		ID      int             `json:"id"`
		Result  json.RawMessage `json:"result"`
		Error   *struct {
			Message string `json:"message"`
			Data    *fault `json:"data"`
		} `json:"error"`
	}
	switch err := reply.Object(&v); {
	case err != nil:
		return nil, nil, err
	case reply.Status != http.StatusOK || v.Version != "2.0":
		return nil, nil, errUnknown
	case v.Error != nil:
		if v.Error.Data == nil || v.Error.Data.Name == "" {
			return nil, nil, errUnknown
		}
		v.Error.Data.status = reply.Status
		return nil, v.Error.Data, nil
	case v.ID != rpcID:
		return nil, nil, errUnknown
	case len(v.Result) == 0:
		return json.RawMessage("null"), nil, nil
	}
	return v.Result, nil, nil
}
