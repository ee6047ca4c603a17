package stripe

import (
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"onefold/internal/ledger"
	"onefold/internal/work"
)

// Names in the metadata of our invoices.
const (
	metaReference = "work_item"       // our reference
	metaTotal     = "work_item_total" // what the finished invoice must add up to: a draft without lines tells no total
	metaLines     = "work_item_lines" // set together with the lines
)

// Limits of Stripe's fields (API description).
const (
	mostLines       = 250
	mostDescription = 1500 // of an invoice, where the note goes
	mostText        = 5000 // of a line
)

// form keeps the order, so that lines stay as they are.
type form []string

func (f *form) add(name, value string) {
	*f = append(*f, url.QueryEscape(name)+"="+url.QueryEscape(value))
}

func (f form) body() []byte { return []byte(strings.Join(f, "&")) }

// callOf builds the step's request. It depends on nothing but the request and the settings: a repeat under one key must
// be the same request. Errors are in the user's words; what Stripe would refuse in a later step is refused in the first,
// so that no draft is left behind.
func (c *Client) callOf(req ledger.Request) (ledger.Call, error) {
	call := ledger.Call{Method: http.MethodPost, Header: http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}}
	if req.Key != "" {
		call.Header.Set("Idempotency-Key", req.Key)
	}
	lines, err := c.lines(req)
	if err != nil {
		return call, err
	}
	if req.Step != StepCreate && !ledger.UsableID(req.PreviousRecordID) {
		return call, errors.New("the draft of this invoice is not known")
	}
	path := "/v1/invoices/" + url.PathEscape(req.PreviousRecordID)
	switch req.Step {
	case StepCreate:
		f, err := c.draft(req)
		call.Path, call.Body = "/v1/invoices", f.body()
		return call, err
	case StepLines:
		call.Path, call.Body = path+"/add_lines", lines.body()
	case StepFinalize:
		// Without it Stripe would go on by itself: mail the invoice, remind, charge.
		call.Path, call.Body = path+"/finalize", []byte("auto_advance=false")
	default:
		return call, fmt.Errorf("there is no step %q at Stripe", req.Step)
	}
	return call, nil
}

func (c *Client) draft(req ledger.Request) (form, error) {
	v := req.Invoice
	var f form
	f.add("customer", v.CustomerID)
	f.add("currency", strings.ToLower(v.Total.CurrencyCode()))
	f.add("auto_advance", "false") // a draft stays a draft until we issue it
	f.add("collection_method", "send_invoice")
	f.add("pending_invoice_items_behavior", "exclude") // only our lines
	f.add("discounts", "")                             // no discount of the customer's: the total is what was asked
	if v.DueDate == "" {
		f.add("days_until_due", strconv.Itoa(c.set.days))
	} else {
		due, err := c.date(v.DueDate, "due date")
		if err != nil {
			return nil, err
		}
		f.add("due_date", strconv.FormatInt(due.AddDate(0, 0, 1).Unix()-1, 10)) // until its end
	}
	if v.IssueDate != "" {
		issued, err := c.date(v.IssueDate, "issue date")
		if err != nil {
			return nil, err
		}
		f.add("effective_at", strconv.FormatInt(issued.Unix(), 10))
	}
	if n := utf8.RuneCountInString(v.Note); n > mostDescription {
		return nil, fmt.Errorf("the note has %d characters, Stripe takes %d", n, mostDescription)
	}
	if v.Note != "" {
		f.add("description", v.Note)
	}
	if c.set.taxRate != "" {
		f.add("default_tax_rates[0]", c.set.taxRate)
	}
	f.marks("metadata", req)
	return f, nil
}

// marks names our invoice. They go with the lines too: whether new metadata replaces the old is not published for lines.
func (f *form) marks(field string, req ledger.Request) {
	f.add(field+"["+metaReference+"]", req.Reference)
	f.add(field+"["+metaTotal+"]", req.Invoice.Total.Number()+" "+req.Invoice.Total.CurrencyCode())
}

func (c *Client) date(text, what string) (time.Time, error) {
	day, err := time.ParseInLocation(time.DateOnly, text, c.set.zone)
	if err != nil {
		return day, fmt.Errorf("the %s %q is no date such as 2026-11-30", what, text)
	}
	return day, nil
}

// lines are all lines in one request. Without tax they must add up to the total to the cent, or nothing is made at all.
func (c *Client) lines(req ledger.Request) (form, error) {
	v := req.Invoice
	total, err := minor(v.Total)
	if err != nil {
		return nil, err
	}
	var f form
	f.marks("invoice_metadata", req)
	f.add("invoice_metadata["+metaLines+"]", req.Reference)
	if len(v.Lines) == 0 {
		f.add("lines[0][amount]", total.String())
		f.add("lines[0][description]", req.Reference)
		return f, nil
	}
	if len(v.Lines) > mostLines {
		return nil, fmt.Errorf("the invoice has %d lines, Stripe takes %d", len(v.Lines), mostLines)
	}
	sum, taxed := new(big.Int), c.set.taxRate != ""
	for i, l := range v.Lines {
		amount, err := c.line(&f, fmt.Sprintf("lines[%d]", i), l, v.Total.CurrencyCode())
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
		sum.Add(sum, amount)
		taxed = taxed || l.TaxCode != ""
	}
	if !taxed && sum.Cmp(total) != 0 { // a tax rate may be on top; the lookup compares then
		decimals, _, _ := unitOf(v.Total.CurrencyCode())
		return nil, fmt.Errorf("the lines add up to %s, the total is %s", point(sum, decimals), v.Total.Number())
	}
	return f, nil
}

func (c *Client) line(f *form, at string, l work.Line, code string) (*big.Int, error) {
	quantity, ok := ratOf(l.Quantity)
	if !ok {
		return nil, fmt.Errorf("the quantity %q is not a plain number", l.Quantity)
	}
	price, ok := ratOf(l.UnitPrice)
	if !ok {
		return nil, fmt.Errorf("the unit price %q is not a plain number", l.UnitPrice)
	}
	amount, err := times(quantity, price, code)
	if err != nil {
		return nil, err
	}
	text := l.Description
	if c.set.product == "" {
		if quantity.Cmp(big.NewRat(1, 1)) != 0 {
			text = strings.TrimSpace(fmt.Sprintf("%s (%s × %s)", text, l.Quantity, l.UnitPrice))
		}
		f.add(at+"[amount]", amount.String())
	} else if err := c.columns(f, at, quantity, price, code); err != nil {
		return nil, err
	}
	if n := utf8.RuneCountInString(text); n > mostText {
		return nil, fmt.Errorf("the description has %d characters, Stripe takes %d", n, mostText)
	}
	f.add(at+"[description]", text)
	if l.TaxCode != "" {
		if !strings.HasPrefix(l.TaxCode, "txr_") {
			return nil, fmt.Errorf("the tax code %q is not the id of a Stripe tax rate (txr_…)", l.TaxCode)
		}
		f.add(at+"[tax_rates][0]", l.TaxCode)
	}
	return amount, nil
}

// columns tells quantity and unit price apart; the price includes tax.
func (c *Client) columns(f *form, at string, quantity, price *big.Rat, code string) error {
	decimals, _, err := unitOf(code)
	if err != nil {
		return err
	}
	unit, ok := exact(new(big.Rat).Mul(price, power10(decimals)))
	count, fits := exact(quantity)
	if !ok || !fits || quantity.Sign() < 0 {
		return errors.New("negative quantities and more than 12 decimals do not fit: Stripe takes neither")
	}
	f.add(at+"[price_data][currency]", strings.ToLower(code))
	f.add(at+"[price_data][product]", c.set.product)
	f.add(at+"[price_data][tax_behavior]", "inclusive")
	f.add(at+"[price_data][unit_amount_decimal]", unit)
	if quantity.IsInt() {
		f.add(at+"[quantity]", count)
	} else {
		f.add(at+"[quantity_decimal]", count)
	}
	return nil
}
