package stripe

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"

	"github.com/bojanz/currency"

	"onefold/internal/ledger"
	"onefold/internal/work"
)

// invoice is a record as Stripe tells it.
type invoice struct {
	Object   string            `json:"object"`
	ID       json.RawMessage   `json:"id"`
	Deleted  bool              `json:"deleted"`
	Status   string            `json:"status"`
	Number   string            `json:"number"`
	Customer json.RawMessage   `json:"customer"`
	Currency string            `json:"currency"`
	Total    json.Number       `json:"total"`
	Live     *bool             `json:"livemode"`
	Metadata map[string]string `json:"metadata"`
	Lines    struct {
		Data []json.RawMessage `json:"data"`
		More bool              `json:"has_more"`
	} `json:"lines"`
}

// text is a JSON string; anything else is empty: a number for an id is an answer that we cannot trust.
func text(raw json.RawMessage) (s string) {
	if len(raw) > 0 && raw[0] == '"' {
		_ = json.Unmarshal(raw, &s)
	}
	return s
}

func (v invoice) draft() bool { return v.Status == "draft" }

// lined reports whether the lines were added, though somebody may have taken them out again.
func (v invoice) lined() bool {
	return len(v.Lines.Data) > 0 || v.Lines.More || v.Metadata[metaLines] != ""
}

// done reports whether the step took effect. What was issued without lines can get none any more: that is for a person.
func (v invoice) done(step string) bool {
	switch step {
	case StepLines:
		return v.lined() || !v.draft()
	case StepFinalize:
		return !v.draft()
	}
	return true
}

// total is what the invoice adds up to. A draft without lines tells what it was made for instead.
func (v invoice) total() currency.Amount {
	if v.draft() && !v.lined() {
		number, code, _ := strings.Cut(v.Metadata[metaTotal], " ")
		if a, err := currency.NewAmount(number, code); err == nil && strings.EqualFold(code, v.Currency) {
			return a
		}
	}
	a, _ := major(v.Total.String(), v.Currency)
	return a
}

func (c *Client) record(v invoice) work.Record {
	r := work.Record{ID: text(v.ID), Number: v.Number, Reference: v.Metadata[metaReference], Customer: text(v.Customer), Total: v.total()}
	switch {
	case v.Deleted || v.Status == "void":
		r.State = work.StateVoid
	case v.draft():
		r.State = work.StateDraft
	case v.Status == "open", v.Status == "paid", v.Status == "uncollectible":
		r.State = work.StatePosted
	}
	if c.set.account == "" && ledger.UsableID(r.ID) { // whose dashboard a connected account's is differs
		r.URL = "https://dashboard.stripe.com/" + map[bool]string{true: "", false: "test/"}[c.set.live] + "invoices/" + r.ID
	}
	return r
}

var (
	errNoInvoice = errors.New("the accounting system's answer holds no invoice")
	errMode      = errors.New("the accounting system answered for the other mode (live or test)")
)

// invoiceOf reads an answer that is an invoice.
func (c *Client) invoiceOf(reply ledger.Reply) (v invoice, err error) {
	if err := reply.Object(&v); err != nil {
		return v, err
	}
	return v, c.checked(v)
}

func (c *Client) checked(v invoice) error {
	switch {
	case v.Object != "invoice":
		return errNoInvoice
	case v.Live != nil && *v.Live != c.set.live:
		return errMode
	}
	return nil
}

// refusal is Stripe's own word about a request that it did not carry out.
type refusal struct {
	Type    string `json:"type"`
	Code    string `json:"code"`
	Message string `json:"message"`
}

// refusalOf reads it; false: the answer is not of Stripe's making.
func refusalOf(reply ledger.Reply) (refusal, bool) {
	var v struct {
		Error json.RawMessage `json:"error"`
	}
	var r refusal
	if reply.Object(&v) != nil || len(bytes.TrimSpace(v.Error)) == 0 || json.Unmarshal(v.Error, &r) != nil {
		return r, false
	}
	return r, r.Type != ""
}

func (r refusal) reason() string {
	if strings.TrimSpace(r.Message) == "" {
		return "no reason given"
	}
	return ledger.Short(r.Message, ledger.MaxSentence-100)
}

// replayed reports whether Stripe repeated an answer that it had saved under the key instead of doing anything.
func replayed(reply ledger.Reply) bool {
	return strings.EqualFold(reply.Header.Get("Idempotent-Replayed"), "true")
}
