package tryton

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"onefold/internal/ledger"
	"onefold/internal/work"
)

// draft asks Tryton for what an invoice needs beside our own facts: the ids behind codes and names, and what Tryton's own
// client would fill in (address, accounts, taxes). All of it is reading. If ok is false, the answer says why nothing was
// sent.
func (c *Client) draft(ctx context.Context, req ledger.Request) (draft map[string]any, a work.Answer, ok bool) {
	total := req.Invoice.Total.Round()
	party, a, ok := c.one(ctx, "party.party", "customer "+req.Invoice.CustomerID, []any{"code", "=", req.Invoice.CustomerID})
	if !ok {
		return nil, a, false
	}
	money, a, ok := c.one(ctx, "currency.currency", "currency "+total.CurrencyCode(), []any{"code", "=", total.CurrencyCode()})
	if !ok {
		return nil, a, false
	}
	account, a, ok := c.one(ctx, "account.account", "revenue account "+c.revenue, []any{"code", "=", c.revenue}, []any{"company", "=", c.company})
	if !ok {
		return nil, a, false
	}
	draft = map[string]any{"type": "out", "company": c.company, "party": party, "currency": money, "reference": req.Reference,
		"comment": req.Invoice.Note}
	for name, day := range map[string]string{"invoice_date": req.Invoice.IssueDate, "payment_term_date": req.Invoice.DueDate} {
		if day == "" {
			continue
		}
		at, err := time.Parse(time.DateOnly, day)
		if err != nil {
			return nil, notSent(fmt.Sprintf("the date %q is not a day such as 2026-11-30", day)), false
		}
		draft[name] = map[string]any{"__class__": "date", "year": at.Year(), "month": int(at.Month()), "day": at.Day()}
	}
	lines := req.Invoice.Lines
	if len(lines) == 0 {
		lines = []work.Line{{Description: req.Reference, Quantity: "1", UnitPrice: total.Number()}}
	}
	var rows []map[string]any
	for i, l := range lines {
		quantity, price := number(l.Quantity), number(l.UnitPrice)
		if quantity == "" || price == "" {
			return nil, notSent(fmt.Sprintf("line %d needs a quantity and a unit price in plain digits", i+1)), false
		}
		row := map[string]any{"type": "line", "company": c.company, "currency": money, "invoice_type": "out", "party": party,
			"account": account, "description": l.Description, "quantity": json.Number(quantity), "unit_price": decimal{price}, "taxes": []id{}}
		if l.TaxCode != "" {
			tax, a, ok := c.one(ctx, "account.tax", "tax "+l.TaxCode, []any{"name", "=", l.TaxCode}, []any{"company", "=", c.company}, []any{"parent", "=", nil})
			if !ok {
				return nil, a, false
			}
			row["taxes"] = []id{tax}
		}
		rows = append(rows, row)
	}
	draft["lines"] = rows
	if a, ok = c.filledIn(ctx, draft); !ok {
		return nil, a, false
	}
	for _, row := range rows { // from how a form shows it to how it is created
		row["taxes"] = []any{[]any{"add", row["taxes"]}}
	}
	draft["lines"] = []any{[]any{"create", rows}}
	return draft, work.Answer{}, true
}

// taxFields are what a tax line is created with; what else the form shows is computed.
var taxFields = []string{"account", "amount", "base", "description", "legal_notice", "manual", "sequence", "tax"}

// filledIn adds what Tryton's own client gets from the server when a person fills in the form. Without the tax lines a
// draft would have no tax until it is posted, and its total could not be compared.
func (c *Client) filledIn(ctx context.Context, draft map[string]any) (work.Answer, bool) {
	result, f, ok := c.reads.read(ctx, "model.account.invoice.on_change", draft, []string{"party", "type", "lines"}, c.context())
	if !ok {
		return unasked(f), false
	}
	var forms []struct {
		Address id `json:"invoice_address"`
		Journal id `json:"journal"`
		Term    id `json:"payment_term"`
		TaxID   id `json:"party_tax_identifier"`
		Taxes   struct {
			Add [][]json.RawMessage `json:"add"` // position and content
		} `json:"taxes"`
	}
	if json.Unmarshal(result, &forms) != nil || len(forms) != 1 {
		return notSent("Tryton filled the invoice in in a way that we do not know"), false
	}
	form := forms[0]
	result, f, ok = c.reads.read(ctx, "model.account.invoice.on_change_with", draft, []string{"account"}, c.context())
	if !ok {
		return unasked(f), false
	}
	var with struct {
		Account id `json:"account"`
	}
	switch {
	case json.Unmarshal(result, &with) != nil:
		return notSent("Tryton filled the invoice in in a way that we do not know"), false
	case form.Address == 0:
		return notSent("the customer has no address in Tryton: add one there"), false
	case form.Journal == 0:
		return notSent("Tryton has no journal of type revenue: add one there"), false
	case with.Account == 0:
		return notSent("the customer has no receivable account in Tryton: add one there, or a default in the accounting configuration"), false
	}
	draft["invoice_address"], draft["journal"], draft["account"] = form.Address, form.Journal, with.Account
	if form.TaxID > 0 {
		draft["party_tax_identifier"] = form.TaxID
	}
	if form.Term > 0 && draft["payment_term_date"] == nil { // without a term, that date is when the whole amount is due
		draft["payment_term"] = form.Term
	}
	var taxes []map[string]json.RawMessage
	for _, add := range form.Taxes.Add {
		var tax map[string]json.RawMessage
		if len(add) != 2 || json.Unmarshal(add[1], &tax) != nil {
			return notSent("Tryton computed the taxes in a way that we do not know"), false
		}
		maps.DeleteFunc(tax, func(name string, _ json.RawMessage) bool { return !slices.Contains(taxFields, name) })
		taxes = append(taxes, tax)
	}
	if len(taxes) > 0 {
		draft["taxes"] = []any{[]any{"create", taxes}}
	}
	return work.Answer{}, true
}

// one finds the id of the one record of that kind.
func (c *Client) one(ctx context.Context, model, what string, where ...any) (id, work.Answer, bool) {
	result, f, ok := c.search(ctx, model, where, []string{"rec_name"})
	if !ok {
		return 0, unasked(f), false
	}
	var rows []struct {
		ID id `json:"id"`
	}
	switch {
	case json.Unmarshal(result, &rows) != nil || len(rows) > 0 && rows[0].ID == 0:
		return 0, notSent("Tryton answered in a way that we do not know"), false
	case len(rows) == 0:
		return 0, notSent("Tryton does not know the " + what + ", or it is not active there"), false
	case len(rows) > 1:
		return 0, notSent("Tryton has several records for the " + what), false
	}
	return rows[0].ID, work.Answer{}, true
}

var plainNumber = regexp.MustCompile(`^-?[0-9]+(\.[0-9]+)?$`)

// number is the text as a JSON number with the same digits; empty if it is none.
func number(text string) string {
	if !plainNumber.MatchString(text) {
		return ""
	}
	sign := ""
	if strings.HasPrefix(text, "-") {
		sign, text = "-", text[1:]
	}
	whole, fraction, _ := strings.Cut(text, ".")
	if whole = strings.TrimLeft(whole, "0"); whole == "" {
		whole = "0"
	}
	if fraction != "" {
		fraction = "." + fraction
	}
	return sign + whole + fraction
}

// notSent is the answer if the write was not begun. It can be cured in Tryton or by a correction, so it is not final.
func notSent(why string) work.Answer {
	return work.Answer{Outcome: work.NotSent, Exchange: work.Exchange{Error: why + ", nothing was sent"}}
}

// unasked is notSent after a question that Tryton did not answer.
func unasked(f ledger.Found) work.Answer {
	a := notSent(strings.TrimSuffix(f.Exchange.Error, ", could not check"))
	a.Unreached = f.Unreached
	a.Exchange.HTTPStatus = f.Exchange.HTTPStatus
	if f.Deferred {
		a.Outcome, a.RetryAfter, a.Login = work.Deferred, f.RetryAfter, f.Login
	}
	return a
}
