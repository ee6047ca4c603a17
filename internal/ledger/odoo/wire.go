package odoo

import (
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"strconv"
	"strings"

	"github.com/bojanz/currency"

	"onefold/internal/ledger"
	"onefold/internal/work"
)

// row is an account.move as search_read and web_read tell it.
type row struct {
	ID       json.RawMessage `json:"id"`
	Name     text            `json:"name"`
	Ref      text            `json:"ref"`
	Partner  link            `json:"partner_id"`
	Total    json.Number     `json:"amount_total"` // in the invoice's currency, taxes included
	Currency link            `json:"currency_id"`
	Company  link            `json:"company_id"`
	State    text            `json:"state"` // draft, posted or cancel
}

var rowFields = []string{"name", "ref", "partner_id", "amount_total", "currency_id", "company_id", "state"}

// rowSpecification is rowFields for web_save and web_read.
var rowSpecification = map[string]any{"name": none, "ref": none, "partner_id": none, "amount_total": none, "state": none,
	"currency_id": map[string]any{"fields": map[string]any{"name": none}},
	"company_id":  map[string]any{"fields": map[string]any{"create_date": none}}}

var none = map[string]any{}

// text is a text field; false: empty.
type text string

func (t *text) UnmarshalJSON(b []byte) error {
	if string(b) == "false" || string(b) == "null" {
		*t = ""
		return nil
	}
	var s string
	if err := json.Unmarshal(b, &s); err != nil {
		return err
	}
	*t = text(s)
	return nil
}

// link is a field that points to one record: false, an id, [id, name] or an object, as the method has it.
type link struct {
	ID    string
	Name  string
	Since string // create_date, where it was asked for
}

func (l *link) UnmarshalJSON(b []byte) error {
	*l = link{}
	switch {
	case string(b) == "false" || string(b) == "null":
	case b[0] == '[':
		var pair []json.RawMessage
		if err := json.Unmarshal(b, &pair); err != nil || len(pair) != 2 {
			return errors.New("no pair of id and name")
		}
		l.ID = recordID(pair[0])
		return json.Unmarshal(pair[1], &l.Name)
	case b[0] == '{':
		var v struct {
			ID    json.RawMessage `json:"id"`
			Name  text            `json:"name"`
			Since text            `json:"create_date"`
		}
		if err := json.Unmarshal(b, &v); err != nil {
			return err
		}
		l.ID, l.Name, l.Since = recordID(v.ID), string(v.Name), string(v.Since)
	default:
		l.ID = recordID(b)
	}
	return nil
}

// recordID is a record's id; empty if it is none: ids are whole numbers above zero.
func recordID(b json.RawMessage) string {
	n, err := strconv.ParseInt(string(b), 10, 64)
	if err != nil || n <= 0 {
		return ""
	}
	return strconv.FormatInt(n, 10)
}

func (c *Client) record(v row) work.Record {
	r := work.Record{ID: recordID(v.ID), Reference: string(v.Ref), Customer: v.Partner.ID}
	if total, err := currency.NewAmount(v.Total.String(), v.Currency.Name); err == nil {
		r.Total = total
	}
	switch v.State {
	case "draft":
		r.State = work.StateDraft // its name is no number yet, or one that may change
	case "posted":
		r.State, r.Number = work.StatePosted, string(v.Name)
	case "cancel":
		r.State, r.Number = work.StateVoid, string(v.Name)
	}
	if r.ID != "" {
		r.URL = c.page(r.ID)
	}
	return r
}

// move is what account.move is to be made with. The error is in the user's words.
func (c *Client) move(req ledger.Request, currencyID int) (map[string]any, error) {
	v := req.Invoice
	partner, err := strconv.ParseInt(v.CustomerID, 10, 32)
	if err != nil || partner < 1 {
		return nil, fmt.Errorf("the customer %q is no contact of Odoo: use the contact's id, a number", ledger.Short(v.CustomerID, 60))
	}
	lines := v.Lines
	if len(lines) == 0 {
		lines = []work.Line{{Description: req.Reference, Quantity: "1", UnitPrice: v.Total.Round().Number()}}
	}
	var commands []any
	for i, l := range lines {
		line, err := c.line(l)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
		commands = append(commands, []any{0, 0, line})
	}
	vals := map[string]any{"move_type": "out_invoice", "company_id": c.company, "partner_id": partner, "ref": req.Reference,
		"invoice_origin": req.Reference, "currency_id": currencyID, "invoice_line_ids": commands}
	if c.journal > 0 {
		vals["journal_id"] = c.journal
	}
	if v.IssueDate != "" {
		vals["invoice_date"] = v.IssueDate
	}
	if v.DueDate != "" { // the customer's payment term would count another one
		vals["invoice_date_due"], vals["invoice_payment_term_id"] = v.DueDate, false
	}
	if v.Note != "" {
		vals["narration"] = html.EscapeString(v.Note) // the field is HTML
	}
	return vals, nil
}

// line always tells the taxes: Odoo puts the company's usual tax on a line that does not, on top of the price.
func (c *Client) line(l work.Line) (map[string]any, error) {
	taxes := []int{}
	switch code := strings.TrimSpace(l.TaxCode); {
	case code != "":
		n, err := strconv.ParseInt(code, 10, 32)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("the tax %q is no tax of Odoo: use the tax's id, a number", ledger.Short(code, 40))
		}
		taxes = []int{int(n)}
	case c.tax > 0:
		taxes = []int{c.tax}
	}
	quantity, err := number(l.Quantity, "1")
	if err != nil {
		return nil, fmt.Errorf("the quantity: %w", err)
	}
	price, err := number(l.UnitPrice, "")
	if err != nil {
		return nil, fmt.Errorf("the unit price: %w", err)
	}
	line := map[string]any{"name": l.Description, "quantity": quantity, "price_unit": price, "tax_ids": []any{[]any{6, 0, taxes}}}
	if c.product > 0 {
		line["product_id"] = c.product
	}
	if c.account > 0 {
		line["account_id"] = c.account
	}
	return line, nil
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
