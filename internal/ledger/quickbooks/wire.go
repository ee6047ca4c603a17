package quickbooks

import (
	"encoding/json"
	"regexp"
	"strings"

	"github.com/bojanz/currency"

	"onefold/internal/ledger"
	"onefold/internal/work"
)

type ref struct {
	Value string `json:"value"`
}

type newInvoice struct {
	DocNumber   string    `json:"DocNumber"`
	CustomerRef ref       `json:"CustomerRef"`
	CurrencyRef ref       `json:"CurrencyRef"`
	TxnDate     string    `json:"TxnDate,omitempty"`
	DueDate     string    `json:"DueDate,omitempty"`
	Tax         string    `json:"GlobalTaxCalculation,omitempty"`
	Line        []newLine `json:"Line"`
	Memo        *ref      `json:"CustomerMemo,omitempty"`
	PrivateNote string    `json:"PrivateNote"`
}

type newLine struct {
	DetailType  string      `json:"DetailType"`
	Amount      json.Number `json:"Amount"`
	Description string      `json:"Description,omitempty"`
	Detail      lineDetail  `json:"SalesItemLineDetail"`
}

type lineDetail struct {
	ItemRef      ref         `json:"ItemRef"`
	Qty          json.Number `json:"Qty,omitempty"`
	UnitPrice    json.Number `json:"UnitPrice,omitempty"`
	TaxInclusive json.Number `json:"TaxInclusiveAmt,omitempty"`
	TaxCodeRef   *ref        `json:"TaxCodeRef,omitempty"`
}

// noteMark stands before our reference in the private note, which customers do not see.
const noteMark = "Onefold reference: "

// invoice writes the invoice down; why is not empty if it cannot be.
func (s *System) invoice(req ledger.Request) (v newInvoice, why string) {
	asked := req.Invoice
	total := asked.Total.Round()
	v = newInvoice{DocNumber: req.Reference, CustomerRef: ref{asked.CustomerID}, CurrencyRef: ref{total.CurrencyCode()},
		TxnDate: asked.IssueDate, DueDate: asked.DueDate, PrivateNote: noteMark + req.Reference}
	switch s.tax {
	case TaxIncluded:
		v.Tax = "TaxInclusive"
	case TaxNone:
		v.Tax = "NotApplicable"
	}
	if asked.Note != "" {
		v.Memo = &ref{asked.Note}
	}
	if len(asked.Lines) == 0 {
		v.Line = []newLine{s.line("", total, "", "", "")}
		return v, ""
	}
	var sum currency.Amount
	for _, l := range asked.Lines {
		if !decimal.MatchString(l.Quantity) || !decimal.MatchString(l.UnitPrice) {
			return v, "a line's quantity or price is not a number in plain digits"
		}
		price, err := currency.NewAmount(l.UnitPrice, total.CurrencyCode())
		if err != nil {
			return v, "a line's price cannot be read"
		}
		amount, err := price.Mul(l.Quantity)
		if err != nil {
			return v, "a line's quantity cannot be read"
		}
		amount = amount.Round()
		v.Line = append(v.Line, s.line(l.Description, amount, l.Quantity, l.UnitPrice, l.TaxCode))
		if sum.CurrencyCode() == "" {
			sum = amount
		} else if sum, err = sum.Add(amount); err != nil {
			return v, "the lines cannot be added up"
		}
	}
	if s.tax != TaxAdded && !sum.Equal(total) {
		return v, "the lines add up to " + sum.Number() + ", the total is " + total.Number()
	}
	return v, ""
}

// decimal is a number that is the same in JSON.
var decimal = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?$`)

// line is one row. With tax included the gross amount is sent as such (vendor: TaxInclusiveAmt) and without a price, which
// QuickBooks would take for a net one.
func (s *System) line(description string, amount currency.Amount, quantity, price, taxCode string) newLine {
	l := newLine{DetailType: "SalesItemLineDetail", Amount: json.Number(amount.Number()), Description: description,
		Detail: lineDetail{ItemRef: ref{s.item}, Qty: json.Number(quantity), UnitPrice: json.Number(price)}}
	if s.tax == TaxIncluded {
		l.Detail.UnitPrice, l.Detail.TaxInclusive = "", l.Amount
	}
	if taxCode == "" {
		taxCode = s.taxCode
	}
	if taxCode != "" {
		l.Detail.TaxCodeRef = &ref{taxCode}
	}
	return l
}

// response is what QuickBooks answers.
type response struct {
	Invoice *invoice     `json:"Invoice"`
	Query   *queryResult `json:"QueryResponse"`
	Fault   *rawFault    `json:"Fault"`
}

type queryResult struct {
	Invoices []invoice `json:"Invoice"`
	Start    int       `json:"startPosition"`
	Count    *int      `json:"maxResults"`
}

// invoice is a record as QuickBooks tells it. The id is text; a number there is an answer that we cannot trust.
type invoice struct {
	ID          json.RawMessage `json:"Id"`
	SyncToken   string          `json:"SyncToken"`
	DocNumber   string          `json:"DocNumber"`
	CustomerRef ref             `json:"CustomerRef"`
	CurrencyRef ref             `json:"CurrencyRef"`
	TotalAmt    *json.Number    `json:"TotalAmt"`
	PrivateNote string          `json:"PrivateNote"`
}

func (v invoice) id() (id string) {
	if len(v.ID) > 0 && v.ID[0] == '"' {
		_ = json.Unmarshal(v.ID, &id)
	}
	return id
}

// notes reports whether the private note carries our reference, on a line of its own.
func (v invoice) notes(reference string) bool {
	for line := range strings.Lines(v.PrivateNote) {
		if _, said, ok := strings.Cut(line, noteMark); ok && strings.TrimRight(said, "\r\n") == reference {
			return true
		}
	}
	return false
}

// record translates. A void keeps its number and has zero amounts (vendor); we never make an invoice of zero. The currency
// is told only by companies with several; otherwise it is the home currency, or, as long as that was not read, asked.
func (s *System) record(v invoice, asked string) work.Record {
	r := work.Record{ID: v.id(), Number: v.DocNumber, Reference: v.DocNumber, Customer: v.CustomerRef.Value, State: work.StatePosted}
	code := v.CurrencyRef.Value
	if home := s.home.Load(); code == "" && home != nil {
		code = *home
	} else if code == "" {
		code = asked
	}
	if v.TotalAmt != nil {
		if total, err := currency.NewAmount(v.TotalAmt.String(), code); err == nil {
			r.Total = total
		}
		digits, _, _ := strings.Cut(strings.ToLower(v.TotalAmt.String()), "e")
		if !strings.ContainsAny(digits, "123456789") {
			r.State = work.StateVoid
		}
	}
	if ledger.UsableID(r.ID) {
		app := "https://app.qbo.intuit.com"
		if s.sandbox {
			app = "https://app.sandbox.qbo.intuit.com"
		}
		r.URL = app + "/app/invoice?txnId=" + r.ID + "&companyId=" + s.company
	}
	return r
}
