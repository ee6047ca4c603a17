package tryton

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/bojanz/currency"

	"onefold/internal/ledger"
	"onefold/internal/work"
)

// rpc is one call. Its body has exactly the members id, method and params: with any other (such as jsonrpc) Tryton answers
// errors with a status and a web page, and successes without their envelope (protocols/jsonrpc.py).
func rpc(path, method string, params ...any) ledger.Call {
	body, err := json.Marshal(map[string]any{"id": 1, "method": method, "params": params})
	if err != nil { // cannot happen: text, whole numbers, and decimals that were checked
		body = nil
	}
	return ledger.Call{Method: http.MethodPost, Path: path, Header: http.Header{"Content-Type": {"application/json"}}, Body: body}
}

// failure is an error that Tryton answered inside a 2xx.
type failure struct {
	kind    string // UserError, UserWarning, ConcurrencyException, LoginException; empty: anything that broke inside
	message string
}

func (f *failure) Error() string {
	text := ledger.Short(f.message, ledger.MaxSentence-80)
	if text == "" {
		text = "no reason given"
	}
	return text
}

// refused reports whether the error proves that nothing was done. Tryton raises these kinds only while it carries the
// request out, before the commit, and rolls back (protocols/dispatcher.py); what goes wrong after the commit (queued
// tasks, the session's time) is either swallowed there or of another kind.
func (f *failure) refused() bool {
	return f.kind == "UserError" || f.kind == "UserWarning" || f.kind == "ConcurrencyException"
}

// resultOf unpacks the envelope. The error is a *failure if Tryton told one; a result of null is "null".
func resultOf(reply ledger.Reply) (json.RawMessage, error) {
	var v struct {
		Result json.RawMessage   `json:"result"`
		Error  []json.RawMessage `json:"error"`
	}
	if err := reply.Object(&v); err != nil {
		return nil, err
	}
	switch {
	case (v.Error == nil) == (v.Result == nil):
		return nil, ledger.ErrJSON
	case v.Error != nil:
		return nil, failureOf(v.Error)
	}
	return v.Result, nil
}

// failureOf reads [kind, [message, description, ...]], or [message, traceback] of what broke inside.
func failureOf(parts []json.RawMessage) *failure {
	var kind, message string
	if len(parts) > 0 {
		_ = json.Unmarshal(parts[0], &kind)
	}
	f := &failure{message: kind}
	if len(parts) != 2 {
		return f
	}
	var args []json.RawMessage
	if json.Unmarshal(parts[1], &args) != nil {
		if kind == "ConcurrencyException" && json.Unmarshal(parts[1], &message) == nil {
			return &failure{kind: kind, message: message}
		}
		return f
	}
	if kind == "UserWarning" || kind == "LoginException" {
		args = args[min(1, len(args)):] // its own name comes first
	}
	f.kind, f.message = kind, ""
	for i, arg := range args { // message and description
		var text string
		if i < 2 && json.Unmarshal(arg, &text) == nil && strings.TrimSpace(text) != "" {
			f.message = strings.TrimSpace(f.message + " " + text)
		}
	}
	return f
}

// decimal is a number as Tryton writes it.
type decimal struct{ text string }

func (d decimal) MarshalJSON() ([]byte, error) {
	return json.Marshal(map[string]string{"__class__": "Decimal", "decimal": d.text})
}

func (d *decimal) UnmarshalJSON(b []byte) error {
	var v struct {
		Class   string `json:"__class__"`
		Decimal string `json:"decimal"`
	}
	if err := json.Unmarshal(b, &v); err != nil {
		return err
	}
	if bytes.Equal(b, []byte("null")) {
		return nil
	}
	if v.Class != "Decimal" {
		return errors.New("no decimal")
	}
	d.text = v.Decimal
	return nil
}

// id is a record's number: a whole number above zero. Anything else stays zero.
type id int64

func (n *id) UnmarshalJSON(b []byte) error {
	var v int64
	if json.Unmarshal(b, &v) == nil && v > 0 {
		*n = id(v)
	}
	return nil
}

// invoice is a row of account.invoice as we ask for it.
type invoice struct {
	ID        id      `json:"id"`
	Number    string  `json:"number"`
	Reference string  `json:"reference"`
	State     string  `json:"state"`
	Total     decimal `json:"total_amount"`
	Party     struct {
		Code string `json:"code"`
	} `json:"party."`
	Currency struct {
		Code string `json:"code"`
	} `json:"currency."`
}

var invoiceFields = []string{"number", "reference", "state", "total_amount", "party.code", "currency.code"}

func (v invoice) record() work.Record {
	r := work.Record{Number: v.Number, Reference: v.Reference, Customer: v.Party.Code}
	if v.ID > 0 {
		r.ID = v.ID.text()
	}
	if total, err := currency.NewAmount(v.Total.text, v.Currency.Code); err == nil {
		r.Total = total
	}
	switch v.State {
	case "draft", "validated":
		r.State = work.StateDraft
	case "posted", "paid":
		r.State = work.StatePosted
	case "cancelled":
		r.State = work.StateVoid
	}
	return r
}

func (n id) text() string { return strconv.FormatInt(int64(n), 10) }
