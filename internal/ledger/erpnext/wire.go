package erpnext

import (
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"github.com/bojanz/currency"

	"onefold/internal/ledger"
	"onefold/internal/work"
)

const documents = "/api/resource/Sales%20Invoice"

func document(name string) string { return documents + "/" + url.PathEscape(name) }

// invoice is a Sales Invoice as the API tells it.
type invoice map[string]json.RawMessage

func (v invoice) text(field string) (s string) {
	_ = json.Unmarshal(v[field], &s) // null or a number: not told
	return s
}

// total is in the invoice's currency, taxes included.
func (v invoice) total() currency.Amount {
	a, err := currency.NewAmount(string(v["grand_total"]), v.text("currency"))
	if err != nil {
		return currency.Amount{}
	}
	return a
}

func (c *Client) record(v invoice) work.Record {
	r := work.Record{ID: v.text("name"), Number: v.text("name"), Reference: v.text(c.refField), Customer: v.text("customer"), Total: v.total()}
	switch string(v["docstatus"]) {
	case "0":
		r.State = work.StateDraft
	case "1":
		r.State = work.StatePosted
	case "2":
		r.State = work.StateVoid
	}
	if ledger.UsableID(r.ID) {
		r.URL = c.base + "/app/sales-invoice/" + url.PathEscape(r.ID)
	}
	return r
}

// mark is our reference among the remarks. The bracket at its end keeps INV-1 from being found in INV-10.
func mark(reference string) string { return "Onefold [" + reference + "]" }

var errNoInvoice = errors.New("the accounting system's answer holds no invoice")

// one reads {"data": {…}}.
func one(reply ledger.Reply) (invoice, error) {
	var v struct {
		Data json.RawMessage `json:"data"`
	}
	if err := reply.Object(&v); err != nil {
		return nil, err
	}
	var doc invoice
	switch {
	case len(v.Data) == 0 || string(v.Data) == "null":
		return nil, errNoInvoice
	case v.Data[0] == '[':
		return nil, ledger.ErrList
	case json.Unmarshal(v.Data, &doc) != nil:
		return nil, ledger.ErrJSON
	}
	return doc, nil
}

// fault is an exception as Frappe tells it.
type fault struct {
	Type      string `json:"exc_type"`
	Exception string `json:"exception"`        // class and text, in newer versions
	Messages  string `json:"_server_messages"` // a list of JSON texts, as a JSON text
}

// faultOf reads an error body; nil: it is not of Frappe's making. handle_exception, which writes it, runs when the request's
// method has raised; the answer of a request that went well is written before the commit and never replaced by it.
func faultOf(reply ledger.Reply) *fault {
	f := &fault{}
	if reply.Err != nil || reply.Status < 400 || reply.Object(f) != nil {
		return nil
	}
	if f.Type == "" { // older versions tell only the class with its module
		class, _, _ := strings.Cut(f.Exception, ":")
		f.Type = class[strings.LastIndexByte(class, '.')+1:]
	}
	if f.Type == "" {
		return nil
	}
	return f
}

var tag = regexp.MustCompile(`<[^>]*>`)

// reason is what Frappe tells a user, without its HTML.
func (f *fault) reason() string {
	var list []string
	_ = json.Unmarshal([]byte(f.Messages), &list) // none: the exception's own text
	var said []string
	for _, text := range list {
		var m struct {
			Message string `json:"message"`
		}
		if json.Unmarshal([]byte(text), &m) == nil && m.Message != "" {
			said = append(said, m.Message)
		}
	}
	if len(said) == 0 {
		if _, text, ok := strings.Cut(f.Exception, ":"); ok {
			said = []string{text}
		}
	}
	plain := html.UnescapeString(tag.ReplaceAllString(strings.Join(said, "; "), " "))
	plain = ledger.Short(strings.NewReplacer("<", "", ">", "").Replace(plain), ledger.MaxSentence-20)
	if plain == "" {
		return "no reason given"
	}
	return plain
}

// sales is the Sales Invoice to be made. The error is in the user's words.
func (c *Client) sales(req ledger.Request) (map[string]any, error) {
	v := req.Invoice
	lines := v.Lines
	if len(lines) == 0 {
		lines = []work.Line{{Description: req.Reference, Quantity: "1", UnitPrice: v.Total.Round().Number()}}
	}
	var items []any
	for i, l := range lines {
		quantity, err := number(l.Quantity, "1")
		if err != nil {
			return nil, fmt.Errorf("line %d: the quantity: %w", i+1, err)
		}
		rate, err := number(l.UnitPrice, "")
		if err != nil {
			return nil, fmt.Errorf("line %d: the unit price: %w", i+1, err)
		}
		item := map[string]any{"item_code": c.item, "description": html.EscapeString(l.Description), "qty": quantity, "rate": rate}
		if l.TaxCode != "" {
			item["item_tax_template"] = l.TaxCode
		}
		items = append(items, item)
	}
	doc := map[string]any{"customer": v.CustomerID, "company": c.company, "currency": v.Total.CurrencyCode(), c.refField: req.Reference,
		"items": items, "ignore_pricing_rule": 1, "docstatus": 0, "remarks": strings.TrimSpace(v.Note + "\n" + mark(req.Reference))} // a pricing rule would change the rates
	if c.atOnce && !c.drafts {
		doc["docstatus"] = 1
	}
	if v.IssueDate != "" { // without set_posting_time the date becomes today's
		doc["posting_date"], doc["set_posting_time"] = v.IssueDate, 1
	}
	if v.DueDate != "" { // the customer's payment terms would count another one
		doc["due_date"], doc["ignore_default_payment_terms_template"] = v.DueDate, 1
	}
	if c.taxTemplate != "" {
		doc["taxes_and_charges"] = c.taxTemplate
	}
	return doc, nil
}

// number is a decimal as it goes over the wire, digit by digit.
func number(text, empty string) (json.Number, error) {
	if text = strings.TrimSpace(text); text == "" {
		text = empty
	}
	a, err := currency.NewAmount(text, "EUR") // checks the digits; the currency does not matter
	if err != nil || strings.Trim(a.Number(), "-.0123456789") != "" {
		return "", fmt.Errorf("%q is not a number in plain digits", ledger.Short(text, 40))
	}
	return json.Number(a.Number()), nil
}

// call is never given what JSON cannot write: text, whole numbers and json.Number that was checked.
func call(method, path string, v any) ledger.Call {
	body, _ := json.Marshal(v)
	return ledger.Call{Method: method, Path: path, Body: body, Header: http.Header{"Content-Type": {"application/json"}}}
}
