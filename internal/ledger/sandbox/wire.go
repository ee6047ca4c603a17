package sandbox

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/bojanz/currency"

	"onefold/internal/ledger"
	"onefold/internal/work"
)

// booksHeader names the books on every answer.
const booksHeader = "X-Books"

type newInvoice struct {
	Reference    string      `json:"reference"`
	CustomerID   string      `json:"customer_id"`
	CustomerName string      `json:"customer_name,omitempty"`
	Total        string      `json:"total"` // decimal, with the decimals that the currency has
	Currency     string      `json:"currency"`
	IssueDate    string      `json:"issue_date,omitempty"`
	DueDate      string      `json:"due_date,omitempty"`
	Lines        []work.Line `json:"lines,omitempty"`
	Note         string      `json:"note,omitempty"`
	Post         bool        `json:"post,omitempty"`
}

// invoice is a record as the sandbox tells it. The id is text; a number there is an answer that we cannot trust.
type invoice struct {
	ID         json.RawMessage `json:"id"`
	Number     string          `json:"number"`
	Reference  string          `json:"reference"`
	CustomerID string          `json:"customer_id"`
	Total      string          `json:"total"`
	Currency   string          `json:"currency"`
	State      string          `json:"state"`
	URL        string          `json:"url"`
}

type refusal struct {
	Code   string `json:"error"`
	Reason string `json:"reason"`
	ID     string `json:"id"`
	Final  bool   `json:"final"`
}

func bearer(token string) func(http.Header) {
	return func(h http.Header) {
		if token != "" {
			h.Set("Authorization", "Bearer "+token)
		}
	}
}

// record translates; an id that is no text stays empty.
func (v invoice) record() work.Record {
	r := work.Record{Number: v.Number, Reference: v.Reference, Customer: v.CustomerID, URL: v.URL}
	if len(v.ID) > 0 && v.ID[0] == '"' {
		_ = json.Unmarshal(v.ID, &r.ID)
	}
	if total, err := currency.NewAmount(v.Total, v.Currency); err == nil {
		r.Total = total
	}
	switch v.State {
	case "draft":
		r.State = work.StateDraft
	case "posted":
		r.State = work.StatePosted
	case "void":
		r.State = work.StateVoid
	}
	return r
}

// refusalOf reads the reason of a 4xx. Ok is false if the body is not of the sandbox's making.
func refusalOf(reply ledger.Reply) (r refusal, ok bool) {
	err := reply.Object(&r)
	return r, err == nil && r.Code != ""
}

var errNoInvoice = errors.New("the accounting system's answer holds no invoice")

func invoiceOf(reply ledger.Reply) (work.Record, error) {
	var v struct {
		Invoice json.RawMessage `json:"invoice"`
	}
	if err := reply.Object(&v); err != nil {
		return work.Record{}, err
	}
	body := bytes.TrimSpace(v.Invoice)
	if len(body) == 0 || bytes.Equal(body, []byte("null")) {
		return work.Record{}, errNoInvoice
	}
	if body[0] == '[' {
		return work.Record{}, ledger.ErrList
	}
	var one invoice
	if json.Unmarshal(body, &one) != nil {
		return work.Record{}, ledger.ErrJSON
	}
	return one.record(), nil
}
